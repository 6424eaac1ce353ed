// A queue of DEPTH entries of W bits between dispatch and issue.
module queue #(parameter W = 80, DEPTH = 8) (
    input clk, input reset, input push, input pop, input [W-1:0] in, output [W-1:0] head, output empty, output full
);
    localparam A = DEPTH > 1 ? $clog2(DEPTH) : 1;
    reg [W-1:0] entries [0:DEPTH-1];
    reg [A-1:0] first, last; reg [A:0] count;
    integer i;
    always @(posedge clk) begin
        for (i = 0; i < DEPTH; i = i + 1) if (push && (DEPTH == 1 || last == i)) entries[i] <= in;
        first <= reset ? 0 : first + pop; last <= reset ? 0 : last + push;
        count <= reset ? 0 : count + push - pop;
    end
    assign head = DEPTH == 1 ? entries[0] : entries[first];
    assign empty = count == 0;
    assign full = count == DEPTH;
endmodule
