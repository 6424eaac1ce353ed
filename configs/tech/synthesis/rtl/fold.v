// The bank of a word with XOR-folded banks: groups of BITS address bits, folded together.
module fold #(parameter ADDRESS = 18, BITS = 7) (input [ADDRESS-1:0] word, output reg [BITS-1:0] bank);
    integer i;
    always @* begin
        bank = 0;
        for (i = 0; i < ADDRESS; i = i + 1) bank[i % BITS] = bank[i % BITS] ^ word[i];
    end
endmodule
