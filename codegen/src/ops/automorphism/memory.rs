//! The automorphism of values, by loads and stores only.
//!
//! With L lanes, a polynomial of n values has C = n / L classes ([`super`]), and L / C polynomials have L
//! classes together. In memory, the lanes are the columns of a matrix, whose L rows are classes. A strided
//! access moves a column, and a linear one moves a row or a cyclic shift of it. Class `b` has
//! its values at `t = Z + C h`, with `Z` the reversed bits of `b`, and `h` the reversed bits of the lane. The
//! target of `t` is `g t + (g - 1) / 2`. So three passes suffice, with 7 accesses for each vector:
//!
//! 1. column to column: from the order of the lanes to that of `h`, twice side by side (3);
//! 2. row to row: a load from word `d` shifts cyclically by `d`, and a store goes to the class's target (2);
//! 3. column to column: a multiplication by `g`, back to the order of the lanes (2).
//!
//! The second copy of a column that no shift reaches is not stored. Without arithmetic and shuffles, the
//! moduli do not matter. The banks must serve strided accesses: with interleaved banks, all words of a
//! column lie in one.

use super::{EVALUATION, Map, reversed};
use crate::code::{BufferId, BufferWord, Claim, MemRef, Tower, TowerId};
use crate::ops::{Builder, Workspace};
use crate::parameters::Parameters;
use crate::request::Request;
use b512_asm::{AddressMode, Log2, Role, Setting};

/// The reason why the method does not suit a request for vectors of so many lanes.
pub(super) fn obstacle(request: &Request, lanes: u32) -> Option<String> {
    let (n, towers) = (request.n(), request.towers());
    let Some(group) = group(n, lanes) else {
        return Some(format!("n = {n} exceeds {}, the square of the vector length", lanes * lanes));
    };
    if !towers.is_multiple_of(group) {
        return Some(format!(
            "with n = {n}, it works on {group} polynomials together, and {towers} is no multiple of {group}"
        ));
    }
    let parameters: Vec<_> = (0..towers).map(|ring| parameters(request, ring)).collect();
    if parameters.iter().any(|parameters| parameters.word("order") != Some(EVALUATION)) {
        return Some(format!("it needs the order `{EVALUATION}`"));
    }
    let exponents: Vec<_> = parameters.iter().map(|parameters| parameters.get("g")).collect();
    let differ = |exponents: &[Option<&Setting>]| exponents.iter().any(|exponent| *exponent != exponents[0]);
    exponents
        .chunks(group)
        .any(differ)
        .then(|| format!("{group} polynomials that are moved together must have one exponent g"))
}

/// The polynomials that have as many classes as a vector has lanes.
fn group(n: u32, lanes: u32) -> Option<usize> {
    (n <= lanes * lanes).then(|| (lanes / (n / lanes)) as usize)
}

fn parameters(request: &Request, ring: usize) -> Parameters {
    Parameters::new(request.parameters.in_ring(request.operation, ring))
}

/// Appends the code for all rings of the request, which the method suits.
pub(super) fn lower(builder: &mut Builder<'_>) {
    let Builder { code, request, workspace, .. } = builder;
    let (n, lanes) = (request.n(), code.isa.vector_length());
    let group = group(n, lanes).expect("the method suits the request");
    let rings = &request.rings;
    let towers: Vec<TowerId> = rings.iter().map(|ring| code.tower(Tower::of(ring))).collect();
    let matrix = lanes * lanes;
    let mut moves = Vec::new();
    for first in (0..rings.len()).step_by(group) {
        let mut named = |name: &str, role| {
            let whole = code.buffer(format!("{name}{first}.."), matrix, role, towers[first]);
            let part = |offset: usize| {
                let ring = first + offset;
                let suffix = if rings.len() > 1 { ring.to_string() } else { String::new() };
                let start = BufferWord { buffer: whole, word: offset as u32 * n };
                code.part(format!("{name}{suffix}"), start, n, towers[ring])
            };
            let parts: Vec<BufferId> = (0..group).map(part).collect();
            (whole, parts)
        };
        let (x, inputs) = named("x", Role::Input);
        let (y, outputs) = named("y", Role::Output);
        for (offset, (input, output)) in inputs.into_iter().zip(outputs).enumerate() {
            let parameters = parameters(request, first + offset);
            let (outputs, inputs) = (vec![output], vec![input]);
            code.claims.push(Claim::of(request.operation, outputs, inputs, parameters));
        }
        let g = parameters(request, first).number("g").expect("the request has been checked") as u32;
        moves.push((x, y, Map { g, n, lanes, classes: n / lanes }, towers[first]));
    }
    let columns = code.buffer("columns", 2 * matrix, Role::Scratch, towers[0]);
    let separate =
        (*workspace == Workspace::Separate).then(|| code.buffer("rows", matrix, Role::Scratch, towers[0]));
    for (x, y, map, tower) in moves {
        permute(builder, map, [x, columns, separate.unwrap_or(x), y], tower);
        builder.code.first_pass();
    }
}

/// Appends the code for one matrix, with its operand, both intermediate results and its result.
fn permute(builder: &mut Builder<'_>, map: Map, [x, columns, rows, y]: [BufferId; 4], tower: TowerId) {
    let Map { g, lanes, classes, .. } = map;
    let code = &mut *builder.code;
    let mode = |words: u32| AddressMode::Strided(Log2::new(words.ilog2() as u8).expect("below a million"));
    let column = |buffer, word, width| MemRef { buffer, word, mode: mode(width) };
    let row = |buffer, word| MemRef { buffer, word, mode: AddressMode::Linear };

    let sources: Vec<(u32, u32)> = (0..classes).map(|class| map.source(class)).collect();
    let beyond = sources.iter().map(|&(_, shift)| shift).max().unwrap_or(0);
    for lane in 0..lanes {
        let (value, h) = (code.load(column(x, lane, lanes), tower), reversed(lane, lanes));
        code.store(value, column(columns, h, 2 * lanes), tower);
        if h < beyond {
            code.store(value, column(columns, h + lanes, 2 * lanes), tower);
        }
    }
    code.end_pass();
    for first in (0..lanes).step_by(classes as usize) {
        for (class, &(source, shift)) in (0..).zip(&sources) {
            let value = code.load(row(columns, (first + source) * 2 * lanes + shift), tower);
            code.store(value, row(rows, (first + class) * lanes), tower);
        }
    }
    code.end_pass();
    for lane in 0..lanes {
        let h = g.wrapping_mul(reversed(lane, lanes)) % lanes;
        let value = code.load(column(rows, h, lanes), tower);
        code.store(value, column(y, lane, lanes), tower);
    }
}
