// A modular adder: a + b mod q, for a and b below q, with STAGES registers behind it.
module adder #(parameter W = 128, STAGES = 1) (
    input clk, input [W-1:0] a, input [W-1:0] b, input [W-1:0] q, output [W-1:0] y
);
    wire [W:0] sum = a + b;
    wire [W+1:0] less = {1'b0, sum} - {2'b00, q};
    reg [W-1:0] stage [0:STAGES];
    always @* stage[0] = less[W+1] ? sum[W-1:0] : less[W-1:0];
    genvar i;
    generate for (i = 0; i < STAGES; i = i + 1) begin : stages
        always @(posedge clk) stage[i+1] <= stage[i];
    end endgenerate
    assign y = stage[STAGES];
endmodule
