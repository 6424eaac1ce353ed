//! Method `streams` of transforms: the stages within a vector work on each vector by itself.
//!
//! A butterfly of two vectors leaves sums in one and differences in the other, and the next stage has to
//! wait for both. Here a vector's halves are spread over two registers with each word twice, and the factors
//! alternate in sign: one multiplication and one addition then make sums and differences, side by side in one
//! vector. Each vector of the polynomial becomes a stream of its own, and the latencies of one stream hide
//! those of the others. This takes as many multiplications as there are sums and differences, twice those of
//! butterflies, and longer tables: it suits polynomials of few vectors, which wait for latencies.
//!
//! Forward, a stage pairs the words whose lanes differ in the highest bit, and the bit of the result becomes
//! the lowest. Back, it pairs neighbours, and the bit of the result becomes the highest. Either way the last
//! stage leaves the words in order.
//!
//! ```text
//! low  = unpklo(v, v)             lanes  b(k-1) .. b0  done bits  copy      of the words with bk = 0
//! high = unpkhi(v, v)             lanes  b(k-1) .. b0  done bits  copy      of the words with bk = 1
//! v    = low + factors * high     lanes  b(k-1) .. b0  done bits  new bit
//! ```

use crate::code::{BufferId, ConstantId, MemRef, ValueId};
use crate::lower::root_of_block;
use crate::number::Number;
use crate::ops::builder::RingBuilder;
use crate::request::Request;
use b512_asm::{AddressMode, Op};

/// The most vectors of all polynomials together. With more, the pipes and not the latencies take the time.
const MOST_VECTORS: u32 = 4;

/// The reason why the method does not suit a request.
pub(super) fn obstacle(request: &Request, lanes: u32) -> Option<String> {
    let (n, towers) = (request.n(), request.towers() as u32);
    if n < lanes {
        Some(format!("it needs a whole vector, {lanes} coefficients"))
    } else if n / lanes > MOST_VECTORS / towers {
        Some(format!("it takes up to {MOST_VECTORS} vectors, {} coefficients in all", MOST_VECTORS * lanes))
    } else {
        None
    }
}

/// Appends a forward transform.
pub(super) fn forward(ring: &mut RingBuilder<'_>, [x, y]: [BufferId; 2]) {
    let n = ring.n();
    let mut streams = load_all(ring, x);
    let between = streams.len().ilog2();
    for stage in 0..between {
        stage_between_vectors(ring, stage, &mut streams);
    }
    for stage in between..n.ilog2() {
        stage_within_vectors(ring, stage, stage - between, &mut streams);
    }
    store_all(ring, y, &streams);
}

/// Appends an inverse transform. The last stage multiplies by the twist as well.
pub(super) fn inverse(ring: &mut RingBuilder<'_>, [x, y]: [BufferId; 2]) {
    let n = ring.n();
    let mut streams = load_all(ring, x);
    let (between, within) = (streams.len().ilog2(), ring.code.isa.vector_length().ilog2());
    for stage in 0..within {
        stage_of_neighbours(ring, stage, &mut streams);
    }
    for stage in within..n.ilog2() {
        inverse_stage_between_vectors(ring, stage, &mut streams);
    }
    if between == 0 {
        let twist = lane_factors(ring, |lane| inverse_root(n, lane, true));
        streams[0] = ring.code.apply(Op::Vmul, [streams[0]], Some(twist), ring.tower());
    }
    store_all(ring, y, &streams);
}

fn load_all(ring: &mut RingBuilder<'_>, from: BufferId) -> Vec<ValueId> {
    let lanes = ring.code.isa.vector_length();
    let count = ring.n() / lanes;
    let mut streams = vec![ValueId(0); count as usize];
    // Each pair's second vector comes first: it is multiplied, and the first waits for the product.
    for stream in (0..count).map(|turn| turn / 2 + (turn + 1) % 2 * (count / 2)) {
        let memory = MemRef { buffer: from, word: stream * lanes, mode: AddressMode::Linear };
        streams[stream as usize] = ring.code.load(memory, ring.tower());
    }
    streams
}

fn store_all(ring: &mut RingBuilder<'_>, to: BufferId, streams: &[ValueId]) {
    let lanes = ring.code.isa.vector_length();
    for (stream, &value) in (0..).zip(streams) {
        let memory = MemRef { buffer: to, word: stream * lanes, mode: AddressMode::Linear };
        ring.code.store(value, memory, ring.tower());
    }
}

/// A vector with a factor for each lane.
fn lane_factors(ring: &mut RingBuilder<'_>, factor: impl Fn(u32) -> Number) -> ConstantId {
    let lanes = ring.code.isa.vector_length();
    ring.vector((0..lanes).map(factor).collect())
}

/// psi^-`exponent`, divided by n if `scaled`.
fn inverse_root(n: u32, exponent: u32, scaled: bool) -> Number {
    Number::Root { exponent: exponent.wrapping_neg() & (2 * n - 1), scaled }
}

/// A stage that pairs vectors. All lanes of a vector have the same factor.
fn stage_between_vectors(ring: &mut RingBuilder<'_>, stage: u32, streams: &mut [ValueId]) {
    let (n, tower) = (ring.n(), ring.tower());
    let pairs = streams.len() >> (stage + 1);
    for (block, vectors) in (0..).zip(streams.chunks_exact_mut(2 * pairs)) {
        let factor = Number::Root { exponent: root_of_block(n.ilog2(), stage, block), scaled: false };
        let (low, high) = vectors.split_at_mut(pairs);
        for (low, high) in low.iter_mut().zip(high) {
            let product = ring.code.with_scalar(Op::Vmuls, *high, factor, tower);
            [*low, *high] = [Op::Vadd, Op::Vsub].map(|op| ring.code.apply(op, [*low, product], None, tower));
        }
    }
}

/// A stage that pairs the words of each vector; `done` such stages came before it.
fn stage_within_vectors(ring: &mut RingBuilder<'_>, stage: u32, done: u32, streams: &mut [ValueId]) {
    let (n, tower) = (ring.n(), ring.tower());
    let highs: Vec<ValueId> =
        streams.iter().map(|&stream| ring.code.apply(Op::Unpkhi, [stream, stream], None, tower)).collect();
    let mut products = Vec::with_capacity(streams.len());
    for (stream, high) in (0..).zip(highs) {
        let factors = lane_factors(ring, |lane| factor(n, stage, done, stream, lane));
        products.push(ring.code.apply(Op::Vmul, [high], Some(factors), tower));
    }
    for (stream, product) in streams.iter_mut().zip(products) {
        let low = ring.code.apply(Op::Unpklo, [*stream, *stream], None, tower);
        *stream = ring.code.apply(Op::Vadd, [low, product], None, tower);
    }
}

/// The factor of a lane of a stream. The lane's low bits are the copy, with the factor negated in the second
/// one, and the `done` bits of the block.
fn factor(n: u32, stage: u32, done: u32, stream: u32, lane: u32) -> Number {
    let block = stream << done | lane >> 1 & ((1 << done) - 1);
    let negated = if lane & 1 == 1 { n } else { 0 };
    Number::Root { exponent: root_of_block(n.ilog2(), stage, block) + negated, scaled: false }
}

/// A stage of the inverse transform that pairs neighbours. A lane's high bits are the copy, with the factor
/// negated in the second one, and the index of the element in its block.
fn stage_of_neighbours(ring: &mut RingBuilder<'_>, stage: u32, streams: &mut [ValueId]) {
    let (n, tower, lane_bits) = (ring.n(), ring.tower(), ring.code.isa.vector_length().ilog2());
    let factors = lane_factors(ring, |lane| {
        let index = lane >> (lane_bits - 1 - stage) & ((1 << stage) - 1);
        let negated = (lane >> (lane_bits - 1)) * n;
        inverse_root(n, (index << (n.ilog2() - stage)) + negated, false)
    });
    let odd: Vec<ValueId> =
        streams.iter().map(|&stream| ring.code.apply(Op::Pkhi, [stream, stream], None, tower)).collect();
    let products: Vec<ValueId> =
        odd.into_iter().map(|odd| ring.code.apply(Op::Vmul, [odd], Some(factors), tower)).collect();
    for (stream, product) in streams.iter_mut().zip(products) {
        let even = ring.code.apply(Op::Pklo, [*stream, *stream], None, tower);
        *stream = ring.code.apply(Op::Vadd, [even, product], None, tower);
    }
}

/// A stage of the inverse transform that pairs vectors. The last one multiplies its results by the twist:
/// four products, which do not wait for each other.
fn inverse_stage_between_vectors(ring: &mut RingBuilder<'_>, stage: u32, streams: &mut [ValueId]) {
    let (n, tower, lanes) = (ring.n(), ring.tower(), ring.code.isa.vector_length());
    let is_last = stage + 1 == n.ilog2();
    let distance = (1 << stage) / lanes as usize;
    for pairs in streams.chunks_exact_mut(2 * distance) {
        let (low, high) = pairs.split_at_mut(distance);
        for (first, (low, high)) in (0..).step_by(lanes as usize).zip(low.iter_mut().zip(high)) {
            let root = move |lane: u32| (first + lane) << (n.ilog2() - stage);
            if !is_last {
                let factors = lane_factors(ring, |lane| inverse_root(n, root(lane), false));
                [*low, *high] = ring.code.butterfly(Op::Bfly, [*low, *high], factors, tower);
                continue;
            }
            let results = [(Op::Vadd, 0), (Op::Vsub, n / 2)].map(|(op, half)| {
                let twist = move |lane: u32| first + lane + half;
                let of_low = lane_factors(ring, |lane| inverse_root(n, twist(lane), true));
                let of_high = lane_factors(ring, |lane| inverse_root(n, root(lane) + twist(lane), true));
                let products = [(*low, of_low), (*high, of_high)]
                    .map(|(value, factors)| ring.code.apply(Op::Vmul, [value], Some(factors), tower));
                ring.code.apply(op, products, None, tower)
            });
            [*low, *high] = results;
        }
    }
}
