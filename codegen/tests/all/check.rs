//! The checkers accept generated kernels.

use b512_asm::{AReg, Code, Expression, Instr, Isa, Offset, Op, Program, Role, VReg};
use codegen::library::{BUILT_IN, Task};
use codegen::plan::derive::derive;
use codegen::plan::{Algorithm, Plan, Shape};
use codegen::schedule::Tuning;
use codegen::{Kernel, Order, Parameters, PlanChoice, Recipe, Request, check, compile, generate};
use golden::Operation;
use rayon::prelude::*;
use ring::Degree;
use sim::machine::BankMapping;
use sim::{Machine, lint};

fn request(function: Operation, n: u32) -> Request {
    let request = Request::with_primes(function, Degree::try_from(n).unwrap(), 60, 1).unwrap();
    request.with(Parameters::new(function.examples()))
}

fn prove(code: &codegen::code::Code, program: &Program, case: &str) {
    check::lowering(code).unwrap_or_else(|fault| panic!("{case}: {fault}"));
    check::schedule(code, program).unwrap_or_else(|fault| panic!("{case}: {fault}"));
}

fn with_plan(plan: &Plan, tuning: Tuning, machine: &Machine) -> Kernel {
    in_order(Order::ByStep, plan, tuning, machine)
}

fn in_order(order: Order, plan: &Plan, tuning: Tuning, machine: &Machine) -> Kernel {
    let function = if plan.algorithm == Algorithm::Forward { golden::NTT } else { golden::INTT };
    let recipe =
        Recipe { tuning, order, stagger: None, forwarding: None, method: None, plans: vec![plan.clone()] };
    compile(&request(function, 1 << plan.log_n), &recipe, machine)
        .unwrap_or_else(|error| panic!("{}: {error}", plan.name))
}

/// The kernel of a plan without and with forwarding.
fn forwarded(function: Operation, n: u32, plans: &[Plan], registers: u32, order: Order) -> [Kernel; 2] {
    [None, Some(registers)].map(|forwarding| {
        let (tuning, plans) = (Tuning::default(), plans.to_vec());
        let recipe = Recipe { tuning, order, stagger: None, forwarding, method: None, plans };
        compile(&request(function, n), &recipe, &large()).unwrap()
    })
}

fn large() -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.vdm.size_mib = 32;
            values.frontend.instruction_memory_kib = 4096;
        })
        .unwrap();
    machine
}

#[test]
fn classical_kernels_of_every_size_are_proved() {
    for gs_butterfly in [false, true] {
        let mut machine = large();
        machine.edit(|values| values.isa.gs_butterfly = gs_butterfly).unwrap();
        for n in (10..=16).map(|log_n| 1 << log_n) {
            for function in [golden::NTT, golden::INTT] {
                for plan in [PlanChoice::Classical, PlanChoice::Paper, PlanChoice::Unoptimised] {
                    let case = format!("{function}{n} {plan:?}");
                    let kernel = generate(&request(function, n), &machine, &plan).unwrap();
                    prove(&kernel.code, &kernel.program, &case);
                }
            }
        }
    }
}

#[test]
fn every_function_is_proved() {
    for function in golden::OPERATIONS.iter().copied() {
        let kernel = generate(&request(function, 2048), &large(), &PlanChoice::Classical).unwrap();
        prove(&kernel.code, &kernel.program, function.name());
    }
}

#[test]
fn other_plans_are_proved_both_ways() {
    let mut folded = large();
    folded.edit(|values| values.vdm.mapping = BankMapping::Xor).unwrap();
    let derived = |(log_n, machine): (u32, &Machine)| {
        // Plans with one, two and three passes if there are some.
        let mut plans = derive(Shape::b512(log_n), machine, 16);
        plans.sort_by_key(|plan| plan.passes.len());
        plans.dedup_by_key(|plan| plan.passes.len());
        plans
    };
    let machines =
        [(12, &large()), (13, &folded), (14, &large()), (15, &folded), (16, &large()), (16, &folded)];
    let plans: Vec<Plan> = machines.into_iter().flat_map(derived).collect();
    assert!(
        plans.iter().any(|plan| plan.passes.len() == 1) && plans.iter().any(|plan| plan.passes.len() > 2)
    );
    for plan in &plans {
        if let Err(error) = plan.trace() {
            panic!("{}: {error}", plan.name);
        }
        for algorithm in [Algorithm::Inverse, Algorithm::InverseTwisted] {
            let back = plan.reversed("back", algorithm).unwrap();
            let kernel = with_plan(&back, Tuning::default(), &large());
            prove(&kernel.code, &kernel.program, &format!("{algorithm:?} {}", plan.name));
        }
        for order in [Order::ByStep, Order::ByLevel, Order::ByDemand] {
            let kernel = in_order(order, plan, Tuning::default(), &large());
            prove(&kernel.code, &kernel.program, &format!("{order:?} {}", plan.name));
        }
    }
}

/// Kernels of up to 16,384 points; all of them if `RPU_EVERY_SIZE` is set, as in `.ci/long`.
#[test]
fn the_library_is_proved_and_computes_nothing_in_vain() {
    let all = std::env::var_os("RPU_EVERY_SIZE").is_some();
    let tasks = BUILT_IN.tasks().filter(|task| all || task.n <= 16384);
    let entries = |task: &'static Task| task.entries.iter().map(move |entry| (task, entry));
    let programs: Vec<_> = tasks.flat_map(entries).collect();
    programs.par_iter().for_each(|(task, entry)| {
        let machine = entry.targets[0].machine.machine();
        let kernel = compile(&task.request().unwrap(), &entry.recipe, &machine).unwrap();
        prove(&kernel.code, &kernel.program, &task.file_name());
        let warnings = lint::warnings(&kernel.program, &machine);
        let unused = warnings.iter().find(|warning| warning.code == Code::Unused);
        assert!(unused.is_none(), "{} on {machine:?}: {unused:?}", task.file_name());
    });
}

#[test]
fn forwarded_code_is_proved() {
    let cases = [(11, 1, 8), (11, 1, 40), (12, 2, 40), (13, 2, 24), (16, 4, 44)];
    for (log_n, depth, registers) in cases {
        let forward = Plan::korn_lambiotte(Shape::b512(log_n), depth);
        let back = forward.reversed("back", Algorithm::InverseTwisted).unwrap();
        let product = [forward.clone(), back.clone()];
        for order in [Order::ByStep, Order::ByLevel, Order::ByDemand] {
            let kernels: [(Operation, &[Plan]); 3] =
                [(golden::NTT, &product[..1]), (golden::INTT, &product[1..]), (golden::POLYMUL, &product)];
            for (function, plans) in kernels {
                let case = format!("{function}{} {order:?} {registers}", 1 << log_n);
                let [without, with] = forwarded(function, 1 << log_n, plans, registers, order);
                check::forwarding(&without.code, &with.code)
                    .unwrap_or_else(|fault| panic!("{case}: {fault}"));
                prove(&with.code, &with.program, &case);
                assert!(with.removed.loads > 0 && with.removed.stores > 0, "{case}");
                assert!(with.program.instructions.len() < without.program.instructions.len(), "{case}");
            }
        }
    }
}

/// A one-pass transform loads and stores each word once. A product of three one-pass transforms only
/// loads its operands and stores its result.
#[test]
fn forwarding_removes_what_it_can_and_nothing_else() {
    let forward = Plan::korn_lambiotte(Shape::b512(11), 2);
    let [without, with] = forwarded(golden::NTT, 2048, std::slice::from_ref(&forward), 56, Order::ByStep);
    assert_eq!((with.removed.loads, with.removed.stores), (0, 0));
    assert!(without.program == with.program);
    let machine = large();
    assert_eq!(without.bounds(&machine), with.bounds(&machine));

    let plans = [forward.clone(), forward.reversed("back", Algorithm::InverseTwisted).unwrap()];
    let [product, with] = forwarded(golden::POLYMUL, 2048, &plans, 56, Order::ByStep);
    let data = |op| with.code.insts.iter().filter(|inst| inst.op == op).count();
    assert_eq!((data(Op::Vload), data(Op::Vstore)), (2 * 2048 / 512, 2048 / 512));
    let names: Vec<&str> = with.program.symbols.iter().map(|symbol| &*symbol.name).collect();
    assert_eq!(names, ["a", "b", "c", "factors"]);
    // Values that a pass inherits in registers are available at its start, like values in memory.
    for (without, with) in product.bounds(&machine).iter().zip(with.bounds(&machine)) {
        assert!(with.dependence < without.dependence && with.resource <= without.resource);
    }
}

/// Data in 64 vectors leaves no registers for constants and results, so every tuning has to spill.
#[test]
fn spills_are_proved() {
    let plan = Plan::korn_lambiotte(Shape::b512(15), 6);
    for order in [Order::ByStep, Order::ByDemand] {
        for reserve in [0, 10, 63] {
            for constants_ahead in [1, 100] {
                let tuning = Tuning { reserve, constants_ahead, ..Tuning::default() };
                let case = format!("{order:?} {tuning:?}");
                let Kernel { code, program, scheduled, .. } = in_order(order, &plan, tuning, &large());
                assert!(scheduled.spill_words > 0, "{case}");
                prove(&code, &program, &case);
            }
        }
    }
    let Kernel { code, program, scheduled, .. } = with_plan(&plan, Tuning::textbook(), &large());
    assert!(scheduled.spill_words > 0);
    prove(&code, &program, "a kernel with spills");

    // Make the last reload read the neighbouring slot.
    let spills = program.symbol("spills").unwrap().start;
    let base = program.addresses.iter().find(|&&(_, address)| address == spills).unwrap().0;
    let mut broken = program.clone();
    let reloads = broken.instructions.iter_mut().rev();
    let mut offsets = reloads.filter_map(|instr| match instr {
        Instr::Vload { base: reg, offset, .. } if *reg == base => Some(offset),
        _ => None,
    });
    let offset = offsets.next().unwrap();
    *offset = Offset::new(offset.words() ^ 512).unwrap();
    assert!(check::schedule(&code, &broken).is_err());
}

/// The claims of a program equal the claims of its proved code: no other operation, setting or symbol.
#[test]
fn other_claims_are_refused() {
    let kernel = generate(&request(golden::NTT, 1024), &large(), &PlanChoice::Classical).unwrap();
    let check = |change: &dyn Fn(&mut Program)| {
        let mut program = kernel.program.clone();
        change(&mut program);
        check::schedule(&kernel.code, &program)
    };
    assert_eq!(check(&|_| {}), Ok(()));
    let changes: [&dyn Fn(&mut Program); 3] = [
        &|program| program.claims.clear(),
        &|program| program.claims[0].expressions = vec![Expression::of_inputs("intt", 1)],
        &|program| program.claims[0].settings.retain(|(name, _)| name != "root"),
    ];
    for change in changes {
        assert_eq!(check(change), Err(check::ScheduleFault::Claims));
    }
}

/// The program has the interface and the instruction set of its proved code, and is a valid program.
#[test]
fn other_interfaces_are_refused() {
    let kernel = generate(&request(golden::POLYMUL, 1024), &large(), &PlanChoice::Classical).unwrap();
    let check = |change: &dyn Fn(&mut Program)| {
        let mut program = kernel.program.clone();
        change(&mut program);
        check::schedule(&kernel.code, &program)
    };
    let of = |program: &mut Program, role: Role| -> usize {
        program.symbols.iter().position(|symbol| symbol.role == role).unwrap()
    };
    assert_eq!(check(&|_| {}), Ok(()));
    let other = |program: &mut Program| program.isa = Isa::new(512, 64).unwrap();
    assert!(matches!(check(&other), Err(check::ScheduleFault::Isa { .. })));
    let twice = |program: &mut Program| program.symbols.push(program.symbols[0].clone());
    assert!(matches!(check(&twice), Err(check::ScheduleFault::Invalid(_))));
    for role in [Role::Input, Role::Output, Role::Scratch] {
        let renamed = |program: &mut Program| {
            let at = of(program, role);
            program.symbols[at].name = "other".into();
            program.claims.clear();
        };
        assert!(check(&renamed).is_err(), "{role:?}");
    }
    let scratch = |program: &mut Program| {
        let at = of(program, Role::Scratch);
        program.symbols[at].role = Role::Output;
    };
    assert!(matches!(check(&scratch), Err(check::ScheduleFault::Symbol(_))));
    let short = |program: &mut Program| {
        let at = of(program, Role::Scratch);
        program.symbols[at].words -= 1;
    };
    assert!(matches!(check(&short), Err(check::ScheduleFault::Symbol(_))));
}

/// The fault of a difference of two vectors after a change of one instruction.
fn fault(at: usize, change: impl FnOnce(&mut Instr)) -> String {
    let Kernel { code, mut program, .. } =
        generate(&request(golden::SUB, 1024), &large(), &PlanChoice::Classical).unwrap();
    prove(&code, &program, "unchanged");
    change(&mut program.instructions[at]);
    check::schedule(&code, &program).unwrap_err().to_string()
}

/// The program is: loads of a, b, a + 512 and b + 512; two differences; two stores.
#[test]
fn faults_of_programs_name_words_and_lanes() {
    let load = |base: u8, word: u32| {
        move |instr: &mut Instr| {
            let Instr::Vload { vd, mode, .. } = *instr else { unreachable!("{instr}") };
            let (base, offset) = (AReg::new(base).unwrap(), Offset::new(word).unwrap());
            *instr = Instr::Vload { vd, base, offset, mode };
        }
    };
    let store = |register: u8| {
        move |instr: &mut Instr| {
            let Instr::Vstore { vs, .. } = instr else { unreachable!("{instr}") };
            *vs = VReg::new(register).unwrap();
        }
    };
    let swap = |instr: &mut Instr| {
        let Instr::Vsub { vs, vt, .. } = instr else { unreachable!("{instr}") };
        std::mem::swap(vs, vt);
    };
    assert_eq!(
        fault(0, load(0, 1)),
        "instruction 0 `vload v0, a0, 1` matches no load of the code: lane 0 is word 1 of `a`, the last lane is \
         word 512 of `a`"
    );
    assert_eq!(
        fault(3, load(1, 513)),
        "instruction 3 `vload v3, a1, 513` loads an undefined word into lane 511"
    );
    assert_eq!(
        fault(3, load(2, 513)),
        "instruction 3 `vload v3, a2, 513` reaches word 3072 of the memory, which belongs to no symbol"
    );
    assert_eq!(
        fault(4, swap),
        "instruction 4 `vsub v4, v1, v0, m0` computes no value of the code; its sources are the result of the \
         code's instruction 1 (vload), the result of the code's instruction 0 (vload)"
    );
    assert_eq!(
        fault(7, store(4)),
        "word 512 of `c` ends as lane 0 of the result of the code's instruction 2 (vsub) instead of lane 0 of the \
         result of the code's instruction 6 (vsub)"
    );
    assert_eq!(
        fault(7, store(2)),
        "word 512 of `c` ends as word 512 of `a` instead of lane 0 of the result of the code's instruction 6 \
         (vsub)"
    );
}

/// A sum commutes.
#[test]
fn the_operands_of_a_sum_may_be_exchanged() {
    let Kernel { code, mut program, .. } =
        generate(&request(golden::ADD, 1024), &large(), &PlanChoice::Classical).unwrap();
    let Instr::Vadd { vs, vt, .. } = &mut program.instructions[4] else { unreachable!("{program}") };
    std::mem::swap(vs, vt);
    prove(&code, &program, "exchanged");
}

#[test]
fn vector_code_stays_within_its_buffers() {
    let Kernel { mut code, program, .. } =
        generate(&request(golden::ADD, 1024), &large(), &PlanChoice::Classical).unwrap();
    code.insts[0].memory.as_mut().unwrap().word = 513;
    let fault = check::schedule(&code, &program).unwrap_err().to_string();
    assert_eq!(fault, "instruction 0 of the vector code loads or stores beyond its buffer");
}

/// A pass changes neither the claims nor the rings.
#[test]
fn forwarded_code_has_the_same_claims() {
    let code = generate(&request(golden::ADD, 1024), &large(), &PlanChoice::Classical).unwrap().code;
    let check = |change: &dyn Fn(&mut codegen::code::Code)| {
        let mut changed = code.clone();
        change(&mut changed);
        check::forwarding(&code, &changed)
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert_eq!(check(&|code| code.claims.clear()), Err(check::ForwardingFault::Claims));
    assert_eq!(check(&|code| code.towers[0].modulus += 2), Err(check::ForwardingFault::Claims));
    assert_eq!(check(&|code| code.isa = Isa::new(512, 64).unwrap()), Err(check::ForwardingFault::Claims));
}
