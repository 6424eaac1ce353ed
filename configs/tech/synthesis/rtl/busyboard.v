// The busyboard: a bit for each of 64 vector registers. In a cycle it checks WIDTH instructions with five
// registers each, and three pipes release up to five registers each. With SHARED = 1 it counts the readers of a
// register with COUNT bits, and a reader waits for writers only. The release of sources is separate with EARLY = 1.
module busyboard #(parameter WIDTH = 1, SHARED = 0, EARLY = 1, COUNT = 5) (
    input clk, input reset,
    input [WIDTH*30-1:0] registers, input [WIDTH*5-1:0] used,
    input [3*12-1:0] written, input [5:0] written_valid,
    input [3*18-1:0] read, input [8:0] read_valid,
    output [WIDTH-1:0] ready
);
    reg [63:0] busy;
    reg [COUNT-1:0] readers [0:63];
    reg [63:0] reading;
    reg [63:0] writes [0:WIDTH]; reg [63:0] reads [0:WIDTH];
    reg [63:0] released, finished;
    reg [WIDTH-1:0] go;
    integer k, o, r;
    reg [63:0] mine_w, mine_r, set_w, set_r;
    always @* begin
        released = 0; finished = 0;
        for (k = 0; k < 6; k = k + 1) if (written_valid[k]) released[written[6*k +: 6]] = 1;
        for (k = 0; k < 9; k = k + 1) if (read_valid[k]) finished[read[6*k +: 6]] = 1;
        writes[0] = 0; reads[0] = 0; set_w = 0; set_r = 0;
        for (k = 0; k < WIDTH; k = k + 1) begin
            mine_w = 0; mine_r = 0;
            for (o = 0; o < 2; o = o + 1) if (used[5*k+o]) mine_w[registers[30*k+6*o +: 6]] = 1;
            for (o = 2; o < 5; o = o + 1) if (used[5*k+o]) mine_r[registers[30*k+6*o +: 6]] = 1;
            if (SHARED) go[k] = !(|(mine_w & (busy | reading | writes[k] | reads[k])) | |(mine_r & (busy | writes[k])));
            else go[k] = !(|((mine_w | mine_r) & (busy | writes[k] | reads[k])));
            // An instruction waits for all before it, so those may count as dispatched in its check.
            if (k > 0) go[k] = go[k] & go[k > 0 ? k-1 : 0];
            writes[k+1] = writes[k] | mine_w; reads[k+1] = reads[k] | mine_r;
            set_w = set_w | (mine_w & {64{go[k]}}); set_r = set_r | (mine_r & {64{go[k]}});
        end
    end
    always @* for (r = 0; r < 64; r = r + 1) reading[r] = |readers[r];
    always @(posedge clk) begin
        if (SHARED) begin
            busy <= reset ? 0 : (busy & ~released) | set_w;
            for (r = 0; r < 64; r = r + 1)
                readers[r] <= reset ? 0 : readers[r] + set_r[r] - finished[r];
        end else begin
            busy <= reset ? 0 : (busy & ~released & ~(EARLY ? finished : 64'b0)) | set_w | set_r;
            for (r = 0; r < 64; r = r + 1) readers[r] <= 0;
        end
    end
    assign ready = go;
endmodule
