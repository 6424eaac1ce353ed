// A slice of a crossbar: one output of W bits that selects one of N inputs, with STAGES registers.
module crossbar #(parameter W = 128, N = 128, STAGES = 4) (
    input clk, input [N*W-1:0] x, input [$clog2(N)-1:0] select, output [W-1:0] y
);
    reg [W-1:0] stage [0:STAGES];
    always @* stage[0] = x[select*W +: W];
    genvar i;
    generate for (i = 0; i < STAGES; i = i + 1) begin : stages
        always @(posedge clk) stage[i+1] <= stage[i];
    end endgenerate
    assign y = stage[STAGES];
endmodule
