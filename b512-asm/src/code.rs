//! Kinds of error in a program's text. Every kind has a [`Code`] such as `B001` with a longer
//! explanation.

diagnostic::codes! {
    /// Every line of a program is an instruction, a directive (which begins with a dot) or a
    /// comment. The first word of this line is not an instruction. There are no labels and no branches;
    /// `.repeat i, 8` repeats the instructions up to `.end`.
    UnknownMnemonic = "B001", "unknown instruction";

    /// An instruction takes the operands of its row in the ISA table, in that order, separated by
    /// commas. Only the addressing mode of `vload` and `vstore` may be omitted; the default is
    /// linear.
    ///
    /// ```text
    /// vload v3, a1, 512, strided 2^1
    /// bfly v1, v2, v3, v4, v5, m1
    /// ```
    OperandCount = "B002", "wrong number of operands";

    /// A letter says which register file a register belongs to: `v` for the vector registers, `s`
    /// for scalars, `a` for addresses, `m` for moduli. Each operand of an instruction takes
    /// registers of one file only.
    OperandKind = "B003", "wrong kind of operand";

    /// Each of the four register files has 64 registers, numbered 0 to 63.
    RegisterRange = "B004", "register out of range";

    /// The instruction word has 20 bits for an offset in words, so 1048575 is the largest. A vector
    /// load or store adds the offset to an address register, which reaches all of the VDM: set the
    /// register to the symbol's address before the start, and write offsets from there.
    ///
    /// ```text
    /// .address a1, x
    /// vload v3, a1, 512
    /// ```
    OffsetRange = "B005", "offset does not fit";

    /// A vector load or store has one of four addressing modes. Lane i accesses the effective
    /// address plus
    ///
    /// ```text
    /// linear (or nothing)   i
    /// strided 2^k           i * 2^k
    /// skip 2^k              (i >> k) * 2^(k+1) + i mod 2^k
    /// repeated 2^k          i mod 2^k
    /// ```
    ///
    /// where k is 0 to 20.
    Mode = "B006", "invalid addressing mode";

    /// The directives are `.kernel`, `.isa`, `.const`, `.input`, `.output`, `.table`, `.scratch`, `.words`,
    /// `.modulus`, `.address`, `.computes`, `.repeat` and `.end`.
    UnknownDirective = "B007", "unknown directive";

    /// The text does not follow the grammar. The directives are
    ///
    /// ```text
    /// .kernel NAME
    /// .const NAME = NUMBER
    /// .isa vector_length=NUMBER, word_bits=NUMBER
    /// .input NAME, WORDS [, vdm|sdm] [, at ADDRESS]     also .output, .table, .scratch
    /// .words ADDRESS [, vdm|sdm] { NUMBER ... }
    /// .modulus m1, NUMBER
    /// .address a1, ADDRESS
    /// .computes y = ntt(x) * k + 1, n=1024, modulus=NUMBER, root=NUMBER
    /// .repeat COUNTER, NUMBER
    /// .end
    /// ```
    ///
    /// An address is a number of words, a symbol, or a symbol plus or minus a number. A number may be an
    /// expression such as `2^60 - 93` or `512 * (i + 1)`, and `v[2 * i]` is a register. Blanks, commas and
    /// lines separate the numbers of `.words`. Comments extend from `//` or `#` to the end of the line.
    Syntax = "B008", "syntax error";

    /// Numbers are decimal, or hexadecimal after `0x`; digits may be separated by `_`. They have at most 128
    /// bits, or fewer where a field is narrower.
    Number = "B009", "invalid number";

    /// A name that no `.input`, `.output`, `.table`, `.scratch` or `.const` declares. The `at` address of a
    /// symbol, a constant and the count of a repetition may only name what an earlier line declares. A name
    /// is reported once, and not at all if the line that may declare it has an error.
    UnknownSymbol = "B010", "unknown symbol";

    /// A name, a register's launch value, the kernel's name or an output's claim occurs twice.
    Duplicate = "B011", "defined twice";

    /// A symbol has at least one word and lies inside its memory. The ISA can address 2^28 words
    /// of VDM and 2^20 words of SDM; a machine may have less.
    SymbolRange = "B012", "symbol outside the memory";

    /// Initial contents lie inside their memory, no word is initialised twice, and each fits the
    /// word width of the program's ISA: 128 bits unless `.isa` sets another.
    Image = "B013", "invalid memory image";

    /// The machine's arithmetic is defined only for values below the modulus. If a program has a
    /// single modulus (the same in all `.modulus` lines, and no `mload`), the initial contents of
    /// tables and inputs in the VDM are checked against it. An input in a `.computes` line is
    /// checked against the modulus of the claim.
    ///
    /// No instruction may get a larger operand either, whatever the data: inputs are as large as the claims
    /// about them allow, or below all moduli of the program; results are below their own modulus. A
    /// multiplication by one reduces a word of another modulus, on machines with `law.operands = "word"`.
    NotReduced = "B014", "value not below the modulus";

    /// A modulus is odd and at least 3, because the multipliers reduce by Montgomery's or Barrett's
    /// method with an odd modulus. It fits a word of the program's ISA: 128 bits unless `.isa` sets
    /// another width. In a program with claims, `mload` reads no input, as no claim says what that is.
    Modulus = "B015", "invalid modulus";

    /// `.computes outputs = expressions, settings` claims results: an expression for each output, over inputs
    /// and numbers. Outputs are symbols of the VDM with the role output, inputs have the role input. `+`, `-`
    /// and `*` stand for `add`, `sub` and `mul`; other operations are written as calls. The operations
    /// determine the settings, which are numbers or words. Settings at the end hold for all operations, those
    /// in parentheses for one. The degree n is a power of two. The transforms need a primitive 2n-th root of
    /// unity, so their modulus is 1 mod 2n.
    ///
    /// ```text
    /// .computes y = ntt(x), n=1024, modulus=0x..., root=0x...
    /// .computes y, z = a * b + 1, muls(a, by=3), n=1024, modulus=0x...
    /// ```
    Claim = "B016", "invalid claim";

    /// A program ends with one `halt`, its last instruction: there are no branches, so nothing
    /// after it could execute.
    Halt = "B017", "program does not end with halt";

    /// The intrinsics front end knows the calls in the paper's listing and their plain variants.
    UnknownIntrinsic = "B018", "unknown intrinsic";

    /// The offsets of `_vload_512x128i` and its variants count bytes; a word has 16.
    ByteOffset = "B019", "byte offset inside a word";

    /// The value of an address register is a word address of the VDM, below 2^28. In a program with claims,
    /// `aload` reads no input, as no claim says what that is.
    Address = "B020", "address outside the VDM";

    /// The vector length is a power of two from 8 to 4096, and a word has 28 to 128 bits.
    /// Without the directive, a program is for B512: 512 lanes of 128 bits. `vaff` has maps of at most 1024
    /// lanes: no machine has it with longer vectors.
    ///
    /// ```text
    /// .isa vector_length=1024, word_bits=64
    /// ```
    Isa = "B021", "invalid instruction set parameters";

    /// The instruction reads a register or a word of memory that no instruction before it writes, and that is
    /// neither an input nor an initial value. Real memories and registers hold anything at the start, so the
    /// result would be a matter of chance. Address registers are an exception: without a launch value they
    /// hold 0.
    Undefined = "B022", "read before written";

    /// A load or store reaches words beyond the machine's memory. `vdm.size_mib` and `sdm.size_kib` set the
    /// sizes of the memories.
    OutsideMemory = "B023", "access outside the memory";

    /// A compute instruction uses a modulus register that holds no modulus. A `.modulus` line sets one before
    /// the start, `mload` during the run.
    UnsetModulus = "B024", "modulus register without a modulus";

    /// Two symbols share words that both must keep: two inputs, two outputs, or an input and an output. An
    /// operation may work in place, if a claim says so: the output has exactly the words of one of the inputs
    /// in its `.computes` line.
    Overlap = "B025", "symbols overlap";

    /// No instruction writes these words of an output, and they have no initial value.
    Unwritten = "B026", "output never written";

    /// A claim says that an output is a function of inputs, but no value that the program computes from these
    /// inputs reaches the output. The result is a constant, or depends on other inputs only.
    Independent = "B027", "output independent of its inputs";

    /// Nothing reads the result: another instruction overwrites it, or the program ends, and it is not part
    /// of an output. The instruction costs time for nothing. `rpu lint` reports it; programs run all the
    /// same.
    Unused = "B028", "result never used";

    /// The lanes of a load or store need the same banks of the VDM more often than lanes that are spread
    /// evenly. Each additional round of accesses holds the VBAR. Another stride, `vdm.mapping = "xor"` or
    /// shuffles avoid it. `rpu lint` reports it; programs run all the same.
    BankConflict = "B029", "bank conflicts";
    /// With `vbar.paths = "split"`, a load does not wait for an earlier store, nor a store for an earlier
    /// load. Here the later access reaches a word before the earlier one, or in the same cycle, so that the
    /// results would differ from execution in program order. Place other instructions between them, or load
    /// into a register that the store reads: it is busy until the store completes.
    Overtaking = "B030", "access that overtakes an earlier one";
}
