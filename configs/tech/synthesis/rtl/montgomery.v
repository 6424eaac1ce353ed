// A Montgomery multiplier: a * b / 2^W mod q, for q odd and qi = -1 / q mod 2^W.
//
// With INTERVAL = 1 it starts a product in each cycle. Each of its three multiplications takes DIGITS stages,
// each of which adds the product by one digit of W / DIGITS bits; the subtraction takes one more. With a larger
// interval, each multiplication has one digit multiplier, which works on INTERVAL digits sequentially, and
// DIGITS = INTERVAL. Values are resolved at the end of a stage.
module montgomery #(parameter W = 128, DIGITS = 1, INTERVAL = 1) (
    input clk, input first, input [W-1:0] a, input [W-1:0] b, input [W-1:0] q, input [W-1:0] qi,
    output reg [W-1:0] y
);
    localparam D = W / DIGITS;
    wire [2*W-1:0] t;
    wire [W-1:0] m;
    wire [2*W:0] u;
    wire [W-1:0] q_last;

    generate if (INTERVAL == 1) begin : pipelined
        // The product a * b: stage i adds digit i.
        reg [2*W-1:0] pt [0:DIGITS]; reg [W-1:0] pa [0:DIGITS], pb [0:DIGITS], pq [0:3*DIGITS], pi [0:2*DIGITS];
        always @* begin pt[0] = 0; pa[0] = a; pb[0] = b; pq[0] = q; pi[0] = qi; end
        genvar i;
        for (i = 0; i < DIGITS; i = i + 1) begin : product
            always @(posedge clk) begin
                pt[i+1] <= pt[i] + ({{W{1'b0}}, pa[i]} * pb[i][D-1:0] << i*D);
                pa[i+1] <= pa[i]; pb[i+1] <= pb[i] >> D;
            end
        end
        for (i = 0; i < 3*DIGITS; i = i + 1) begin : modulus
            always @(posedge clk) pq[i+1] <= pq[i];
        end
        for (i = 0; i < 2*DIGITS; i = i + 1) begin : inverse
            always @(posedge clk) pi[i+1] <= pi[i];
        end
        // The low half of t * qi.
        reg [2*W-1:0] mt [0:DIGITS]; reg [W-1:0] mm [0:DIGITS], ml [0:DIGITS];
        always @* begin mt[0] = pt[DIGITS]; mm[0] = 0; ml[0] = pt[DIGITS][W-1:0]; end
        for (i = 0; i < DIGITS; i = i + 1) begin : quotient
            always @(posedge clk) begin
                mm[i+1] <= mm[i] + (pi[DIGITS+i] * ml[i][D-1:0] << i*D);
                ml[i+1] <= ml[i] >> D; mt[i+1] <= mt[i];
            end
        end
        // t + m * q, whose low half is zero.
        reg [2*W:0] ut [0:DIGITS]; reg [W-1:0] um [0:DIGITS];
        always @* begin ut[0] = mt[DIGITS]; um[0] = mm[DIGITS]; end
        for (i = 0; i < DIGITS; i = i + 1) begin : reduction
            always @(posedge clk) begin
                ut[i+1] <= ut[i] + ({{W{1'b0}}, pq[2*DIGITS+i]} * um[i][D-1:0] << i*D);
                um[i+1] <= um[i] >> D;
            end
        end
        assign u = ut[DIGITS];
        assign q_last = pq[3*DIGITS];
    end else begin : iterated
        // Three digit multipliers with accumulators. `first` marks the cycle in which operands arrive; a unit hands its
        // result on in the next one. Sums are shifted right by a digit a cycle, so that products add at their upper end.
        reg [2*W-1:0] t1, t2, t3, u3; reg [W-1:0] a1, b1, q1, i1, q2, i2, l2, m2, q3, m3;
        wire [W+D-1:0] p1 = {{D{1'b0}}, first ? a : a1} * (first ? b[D-1:0] : b1[D-1:0]);
        wire [W-1:0] p2 = m2 + i2 * l2[D-1:0];
        wire [W+D-1:0] p3 = {{D{1'b0}}, q3} * m3[D-1:0];
        wire [2*W-1:0] s3 = (u3 >> D) + ({{W-D{1'b0}}, p3} << (W - D));
        always @(posedge clk) begin
            t1 <= (first ? 0 : t1 >> D) + ({{W-D{1'b0}}, p1} << (W - D));
            if (first) begin a1 <= a; b1 <= b >> D; q1 <= q; i1 <= qi; end else b1 <= b1 >> D;
            if (first) begin t2 <= t1; l2 <= t1[W-1:0]; q2 <= q1; i2 <= i1; m2 <= 0; end
            else begin l2 <= l2 >> D; i2 <= i2 << D; m2 <= p2; end
            if (first) begin t3 <= t2; m3 <= p2; q3 <= q2; u3 <= 0; end
            else begin u3 <= s3; m3 <= m3 >> D; end
        end
        // The low halves of t and m * q add to zero and a carry.
        assign u = {{1'b0, t3[2*W-1:W]} + s3[2*W-1:W] + |t3[W-1:0], {W{1'b0}}};
        assign q_last = q3;
    end endgenerate

    // The subtraction.
    wire [W:0] high = u[2*W:W];
    wire [W:0] less = high - {1'b0, q_last};
    always @(posedge clk) if (INTERVAL == 1 || first) y <= less[W] ? high[W-1:0] : less[W-1:0];
endmodule
