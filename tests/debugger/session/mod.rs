//! Positions of a session, and words as text.

use b512_asm::{MReg, Space, VReg};
use rpu::debugger::{Format, Listing, Session, Stop, Target, rows};
use sim::Machine;
use std::collections::BTreeMap;

/// A program of more than 4,000 instructions: its sums grow, it overwrites its table, and it stores each sum.
fn long_session() -> Session {
    let mut text = String::from(
        ".kernel sums\n.input x, 512\n.output y, 512\n.table t, 512\n.modulus m1, 0x3001\n\
         vload v0, a0, x\nvload v1, a0, t\n",
    );
    text += &format!(".words t {{ {}}}\n", "3 ".repeat(512));
    for round in 0..1400 {
        text += if round == 700 { "vstore v0, a0, t\nvload v1, a0, t\n" } else { "" };
        text += "vmul v2, v0, v1, m1\nvadd v0, v2, v0, m1\nvstore v0, a0, y\n";
    }
    let program = b512_asm::assemble(&(text + "halt\n")).unwrap_or_else(|errors| panic!("{errors}"));
    let inputs = BTreeMap::from([("x".to_owned(), (0..512).collect())]);
    Session::new(Listing::new(program, None), &Machine::rpu_128x128(), inputs).unwrap()
}

/// All values of a session.
fn values(session: &mut Session) -> (usize, Vec<Vec<u128>>, Option<(MReg, u128)>) {
    let registers = [0, 1, 2].map(|index| Target::Vector(VReg::new(index).unwrap()));
    let memory = Target::Words { name: "all".into(), space: Space::Vdm, words: 0..1536 };
    let all = registers.iter().chain([&memory]).map(|target| session.value(target)).collect();
    (session.position(), all, session.ring(VReg::new(0).unwrap()))
}

#[test]
fn saved_states_lead_where_execution_leads() {
    let mut session = long_session();
    assert!(session.end() > 4000);
    assert_eq!(session.go_to(usize::MAX), Stop::Done);
    for position in [4100, 1025, 1024, 1023, 2104, 2101, 4100, 0, 3072, 3] {
        session.go_to(position);
        let mut fresh = long_session();
        for _ in 0..position {
            assert_eq!(fresh.step(), Stop::Done);
        }
        assert_eq!(values(&mut session), values(&mut fresh), "position {position}");
        assert_eq!(session.cycle(), fresh.cycle());
    }
}

#[test]
fn going_back_finds_the_last_stop_across_saved_states() {
    let mut session = long_session();
    let table = Target::parse("t", &session.source().program).unwrap();
    session.watches().extend(table);
    session.go_to(usize::MAX);
    let Stop::Changed(_) = session.reverse() else { panic!("the table changes") };
    assert_eq!(session.position(), 2 + 3 * 700 + 1);
    assert_eq!(session.reverse(), Stop::Start);
    session.watches().clear();
    session.breakpoints().extend([0, 1, 1500]);
    session.go_to(4000);
    let stops: Vec<_> = (0..4).map(|_| (session.reverse(), session.position())).collect();
    let breakpoint = |position| (Stop::Breakpoint, position);
    assert_eq!(stops, [breakpoint(1500), breakpoint(1), (Stop::Start, 0), (Stop::Start, 0)]);
}

#[test]
fn residues_are_centred() {
    assert_eq!(Format::Centred.text(96, Some(97)), "-1");
    assert_eq!(Format::Centred.text(48, Some(97)), "48");
    assert_eq!(Format::Centred.text(49, Some(97)), "-48");
    assert_eq!(Format::Centred.text(97, Some(97)), "97");
    assert_eq!(Format::Decimal.text(96, Some(97)), "96");
    assert_eq!(Format::Hex.text(96, Some(97)), "0x60");
}

#[test]
fn lines_have_as_many_words_as_fit() {
    let words: Vec<u128> = (0..10).collect();
    assert_eq!(rows(&words, None, Format::Decimal, 12), ["0: 0 1 2 3", "4: 4 5 6 7", "8: 8 9"]);
    assert_eq!(rows(&[1 << 100], None, Format::Hex, 5), ["0: 0x10000000000000000000000000"]);
    assert_eq!(rows(&[], None, Format::Hex, 5), [""; 0]);
}

/// A product whose second half is wrong from its second store on; the output is working memory before.
const WRONG: &str = "\
.kernel products
.input  x, 1024
.output y, 1024
.modulus m1, 0x3001

vload  v0, a0, x
vload  v1, a0, x+512
vstore v1, a0, y
vstore v0, a0, y+512
vmul   v2, v0, v0, m1
vadd   v3, v1, v1, m1
vstore v2, a0, y
vstore v3, a0, y+512
halt
";

#[test]
fn a_session_stops_at_the_first_wrong_coefficient() {
    let program = b512_asm::assemble(WRONG).unwrap();
    let x: Vec<u128> = (0..1024).collect();
    let squares: Vec<u128> = x.iter().map(|x| x * x % 0x3001).collect();
    let inputs = BTreeMap::from([("x".to_owned(), x)]);
    let session = |expected: Vec<u128>| {
        let source = Listing::new(program.clone(), None);
        let mut session = Session::new(source, &Machine::rpu_128x128(), inputs.clone()).unwrap();
        session.expect(&BTreeMap::from([("y".to_owned(), expected)]));
        session
    };
    let mut wrong = session(squares.clone());
    assert_eq!(wrong.position(), 0);
    let Stop::Wrong(first) = wrong.resume() else { panic!("y is wrong") };
    assert_eq!(first.to_string(), "y+512 is 0x400 and should be 0xfeb");
    assert_eq!((wrong.position(), first.position), (8, 8));
    assert_eq!(wrong.resume(), Stop::End);
    assert_eq!(wrong.reverse(), Stop::Wrong(first));
    assert_eq!(wrong.reverse(), Stop::Start);
    // What is stored first is right, and overwritten.
    let mut right = squares;
    right[512..].iter_mut().zip(512..).for_each(|(y, x)| *y = 2 * x % 0x3001);
    let mut right = session(right);
    assert!(right.has_compared() && right.wrong().is_none());
    assert_eq!(right.resume(), Stop::End);
}
