//! Independent checkers: proofs that generated code computes what it claims.
//!
//! They follow identities of elements instead of data, so that one run stands for all data, and
//! they trust nothing of the passes that they check: neither plans nor layouts, neither the
//! scheduler's bookkeeping nor its order of memory. Two proofs make a chain:
//!
//! 1. [`lowering`]: the vector code computes its claims, from the mathematics of the transform;
//! 2. [`schedule`]: the program, its tables and its memory map compute what the vector code does.
//!
//! Passes that rewrite vector code have a proof of their own: [`forwarding`], that the code after
//! it computes what the code before it does. The two above hold for the code after it as well.
//!
//! Where both succeed, the program computes its equations for every input. A checker that fails
//! names the instruction at which the proof breaks down and what it found there. It may refuse
//! code that is right for a reason that it does not know; it never accepts code that is wrong.
//!
//! # What `lowering` proves
//!
//! Every element of every vector and of memory is, at any time, a *known multiple of a known
//! coefficient of a known residue* of a polynomial:
//!
//! ```text
//! (P, h, e, j, w, s)  stands for  2^s psi^w [X^j] (P mod (X^h - psi^e))      h = 2^k, 0 <= j < h
//! ```
//!
//! with exponents of psi modulo 2n. Only these rules make new elements; where none applies, the
//! proof fails. With `u = (P, h, e, j, w, s)` on the left:
//!
//! ```text
//! multiply  u psi^g             = (P, h, e, j, w + g, s)
//!           u / n               = (P, h, e, j, w, s - log2 n)
//! split     u, v = (P, h, e, j + h/2, w + a, s) with 2a = e:
//!           u + v               = (P, h/2, a, j, w, s)
//!           u - v               = (P, h/2, a + n, j, w, s)
//! join      u, v = (P, h, e + n, j, w, s) with h < n:
//!           u + v               = (P, 2h, 2e, j, w, s + 1)
//!           u - v               = (P, 2h, 2e, j + h, w + e, s + 1)
//! linear    u, v = (Q, h, e, j, w, s) with P other than Q:
//!           u + v, u - v        = (P + Q, ..), (P - Q, ..)
//! product   u, v = (Q, h, e, j, w', s') with h = 1:
//!           u v                 = (P Q, 1, e, 0, w + w', s + s')
//! pointwise the same with h = n: u v is the product of two coefficients
//! ```
//!
//! *Split* and *join* are the Chinese remainder theorem for
//! `X^h - psi^2a = (X^(h/2) - psi^a)(X^(h/2) - psi^(a + n))`, as psi^n = -1, which is checked.
//! Inputs of a forward transform start as `(x, n, n, i, 0, 0)`; those of an inverse one as
//! `(x, 1, 2 bitrev(i) + 1, 0, 0, 0)`; and a transform is proved when its output words are the
//! other of the two. All butterfly networks are covered: Cooley-Tukey, Gentleman-Sande and
//! twisted ones, in any order and layout.
//!
//! # What `schedule` proves
//!
//! The vector code is evaluated to *terms*, which are equal only where the same operation has
//! been applied to equal operands:
//!
//! ```text
//! word   =  word i of input buffer b  |  a number  |  lane i of a term
//! term   =  gather(512 words)  |  result r of op(terms, scalar) mod q
//! ```
//!
//! A gather of all lanes of one term, in order, is that term; a lane of a gather is the word that was
//! gathered there; operands of sums and products are sorted. A load gathers words of memory and a store writes lanes of a term. Constants are
//! gathers of numbers, computed from the powers of psi.
//!
//! The program is evaluated to the same terms from its own instructions, registers and initial
//! memory. The proof fails at the first instruction whose result is no term of the vector code,
//! at the first store to a word that is no output or scratch, and where an output word differs in
//! the end. Spills, reloads, copies and any order of loads and stores need no rules of their own:
//! they are right exactly where the words that are read are the right ones.
//!
//! # What `forwarding` proves
//!
//! Both pieces of code are evaluated to the same terms, and the words of the outputs compared.

mod forwarding;
mod lowering;
mod schedule;
mod terms;

pub use forwarding::{ForwardingFault, forwarding};
pub use lowering::{LoweringFault, lowering};
pub use schedule::{ScheduleFault, schedule};
pub use terms::CodeFault;
