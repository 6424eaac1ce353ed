// The lane permuter: element j of a vector of 2**LANE_BITS goes to lane g j + d, for g odd, N lanes at a time. The lanes of a
// beat pass an omega network with STAGES registers, which such maps pass without collisions. An element carries the number of
// its target: the low bits are its output, and each layer selects by one of them, the most significant one first. The high bits
// are the row of the register file that the output writes.
module permuter #(parameter W = 128, N = 128, LANE_BITS = 9, STAGES = 4) (
    input clk, input first, input [LANE_BITS-1:0] g, input [LANE_BITS-1:0] d,
    input [N*W-1:0] x, output [N*W-1:0] y, output [N*(LANE_BITS-$clog2(N))-1:0] rows
);
    localparam M = $clog2(N);
    localparam R = LANE_BITS - M;
    localparam T = W + LANE_BITS;
    genvar lane, layer;
    wire [N*T-1:0] before [0:M-1];
    wire [N*T-1:0] behind [0:M];
    // The number of each lane's element in the vector; the beats follow each other.
    generate for (lane = 0; lane < N; lane = lane + 1) begin : numbers
        reg [LANE_BITS-1:0] number;
        always @(posedge clk) number <= first ? lane : number + N;
        wire [LANE_BITS-1:0] target = g * number + d;
        assign behind[0][lane*T +: T] = {target, x[lane*W +: W]};
    end endgenerate
    generate for (layer = 0; layer < M; layer = layer + 1) begin : layers
        // A perfect shuffle, then switches of two.
        for (lane = 0; lane < N; lane = lane + 1) begin : shuffle
            localparam FROM = lane / 2 + (lane % 2) * (N / 2);
            assign before[layer][lane*T +: T] = behind[layer][FROM*T +: T];
        end
        wire [N*T-1:0] switched;
        for (lane = 0; lane < N; lane = lane + 2) begin : switches
            wire [T-1:0] low = before[layer][lane*T +: T];
            wire [T-1:0] high = before[layer][(lane+1)*T +: T];
            wire crossed = low[W+M-1-layer];
            assign switched[lane*T +: T] = crossed ? high : low;
            assign switched[(lane+1)*T +: T] = crossed ? low : high;
        end
        // The registers behind this layer: as many as the stages that end here.
        localparam FIRST = layer * STAGES / M;
        localparam COUNT = (layer + 1) * STAGES / M - FIRST;
        reg [N*T-1:0] stage [0:COUNT];
        always @* stage[0] = switched;
        for (lane = 0; lane < COUNT; lane = lane + 1) begin : stages
            always @(posedge clk) stage[lane+1] <= stage[lane];
        end
        assign behind[layer+1] = stage[COUNT];
    end endgenerate
    generate for (lane = 0; lane < N; lane = lane + 1) begin : results
        assign y[lane*W +: W] = behind[M][lane*T +: W];
        assign rows[lane*R +: R] = behind[M][lane*T + W + M +: R];
    end endgenerate
endmodule
