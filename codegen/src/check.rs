//! Independent checkers: proofs that generated code computes what it claims.
//!
//! They interpret code over abstract values instead of data, so one run covers all data. They trust
//! none of the passes that they check: no plan, no layout, and neither the scheduler's bookkeeping
//! nor its order of memory accesses. Two proofs make a chain:
//!
//! 1. [`lowering`]: the vector code computes its claims, by the mathematics of the transform;
//! 2. [`schedule`]: the program, its tables and its memory map compute the same as the vector code.
//!
//! Passes that rewrite vector code have their own proof: [`forwarding`], which shows that the code
//! computes the same before and after the pass. The two proofs above then apply to the rewritten
//! code.
//!
//! If both succeed, the program computes its claims for every input. A checker that fails names the
//! instruction at which the proof breaks down, and its operands. A checker may reject correct code
//! that its rules do not cover; it never accepts wrong code.
//!
//! # Lowering: abstract interpretation over residues of polynomials
//!
//! The abstract value of every element of a vector and of memory is a *known multiple of a known
//! coefficient of a known residue* of a polynomial:
//!
//! ```text
//! (P, h, e, j, w, s)  stands for  2^s psi^w [X^j] (P mod (X^h - psi^e))      h = 2^k, 0 <= j < h
//! ```
//!
//! with exponents of psi modulo 2n. It is a flat lattice: an element has one such value, or the
//! proof fails. The transfer rules, with `u = (P, h, e, j, w, s)` on the left:
//!
//! ```text
//! multiply  u psi^g             = (P, h, e, j, w + g, s)
//!           u / n               = (P, h, e, j, w, s - log2 n)
//!           u c                 = (c P, h, e, j, w, s) with any other known number c
//! split     u, v = (P, h, e, j + h/2, w + a, s) with 2a = e:
//!           u + v               = (P, h/2, a, j, w, s)
//!           u - v               = (P, h/2, a + n, j, w, s)
//! join      u, v = (P, h, e + n, j, w, s) with h < n:
//!           u + v               = (P, 2h, 2e, j, w, s + 1)
//!           u - v               = (P, 2h, 2e, j + h, w + e, s + 1)
//!           and the other way round with w + n in v, which is -v
//! linear    u, v = (Q, h, e, j, w, s):
//!           u + v, u - v        = (P + Q, ..), (P - Q, ..)
//! offset    u = (P, n, n, j, 0, 0):
//!           u + c, u - c        = (P + c J, ..), (P - c J, ..) with any known number c
//! product   u, v = (Q, h, e, j, w', s') with h = 1:
//!           u v                 = (P Q, 1, e, 0, w + w', s + s')
//! pointwise the same with h = n: u v is the product of two coefficients
//! reduce    u of tower A with h = n, w = s = 0, as the multiplicand in tower B:
//!           u c, u v            = those of (P reduced, n, n, j, 0, 0) in tower B
//! mix       u, v, elements at several positions or sums of such:
//!           u + v, u - v        = the sums, position by position; an element if only one position is left
//! cross     u, v, sums of coefficients at several positions:
//!           u v                 = the sum of the products of their terms
//! ```
//!
//! *Split* and *join* are the Chinese remainder theorem for `X^h - psi^2a = (X^(h/2) - psi^a)(X^(h/2) -
//! psi^(a + n))`, as psi^n = -1, which is checked. *Linear* keeps linear combinations in a normal form, so
//! that their order does not matter. *Reduce* is the rule of the multiplier, whose multiplicand may be any
//! word: `P reduced` has the coefficients of P as integers from 0 to A's modulus less one. An operand that
//! may have any words is such a P in its own tower: no other rule applies to it. In *offset*, all
//! coefficients of J are one. *Mix* follows elements through exchanges of lanes, which are
//! computed as `((a + b) + e (a - b))/2` with e = 1 or -1, and *cross* multiplies what rotations move. They
//! replace *split* and *join* if an operation of the claims permutes coefficients or values, and apply in no
//! other case.
//!
//! The operations of a claim give the abstract values of its operands and results. Products and sums have a
//! normal form, so that the grouping of operations does not matter either. For a forward transform, the
//! operand has `(x, n, n, i, 0, 0)` in word i, and the result must have `(x, 1, 2 bitrev(i) + 1, 0, 0, 0)`;
//! for an inverse transform, the reverse. The rules cover all butterfly networks: Cooley-Tukey,
//! Gentleman-Sande and twisted ones, in any order and layout.
//!
//! # Schedule: value numbering
//!
//! The vector code is evaluated to *terms*. Two terms are equal only if the same operation is
//! applied to equal operands:
//!
//! ```text
//! word   =  word i of input buffer b  |  a number  |  lane i of a term
//! term   =  gather(words)  |  result r of op(terms, scalar) mod q
//! ```
//!
//! A gather of all lanes of one term, in order, is that term; a lane of a gather is the word at
//! that lane; operands of sums are sorted. A load gathers words of memory, and a store writes lanes
//! of a term. Constants are gathers of numbers, computed from the powers of psi and from the
//! towers.
//!
//! The program is evaluated to the same terms from its own instructions, registers and initial
//! memory. The proof fails at the first instruction whose result is not a term of the vector code,
//! at the first store to a word outside of outputs and scratch memory, and if an output word
//! differs at the end. Spills, reloads, copies and any order of loads and stores need no rules of
//! their own: they are correct exactly if they read the right words.
//!
//! # Forwarding: value numbering
//!
//! Both versions of the code are evaluated to the same terms, and the words of the outputs are
//! compared.

mod contract;
mod domain;
mod fault;
mod forwarding;
mod lowering;
mod proof;
mod rules;
mod schedule;
mod terms;
mod text;

pub(crate) use domain::{Basis, Domain, PolynomialId, Words};
pub use fault::LoweringFault;
pub use forwarding::{ForwardingFault, forwarding};
pub use lowering::lowering;
pub use schedule::{ScheduleFault, schedule};
pub use terms::CodeFault;
