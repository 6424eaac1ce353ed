"""The package from Python's side: data in every form, errors with their diagnostics, interruption, types."""

import ast
import contextlib
import io
import json
import re
import signal
import tempfile
import threading
import time
import tomllib
import unittest
from pathlib import Path

import numpy
import pandas

import rpu
from rpu import _arguments, _rpu

Q = 0x3001
SCALE = """
.kernel scale
.input  x, 512
.output y, 512
.table  k, 1, sdm
.words  k { 5 }
.modulus m1, 0x3001
.computes y = muls(x), n=512, modulus=0x3001, by=5

sload  s0, k
vload  v0, a0, x
vmuls  v1, v0, s0, m1
vstore v1, a0, y
halt
"""


class Array(list):
    """What NumPy arrays have in common here: `tolist`."""

    def tolist(self):
        return list(self)


class Programs(unittest.TestCase):
    def test_text_and_objects_are_the_same_program(self):
        program = rpu.assemble(SCALE)
        self.assertEqual((program.name, len(program)), ("scale", 5))
        self.assertEqual(program.instructions[1], "vload v0, a0, x")
        self.assertEqual(program.claims, ["y = muls(x), n=512, modulus=0x3001, by=0x5"])
        symbol = program.symbols["y"]
        self.assertEqual((symbol.memory, symbol.start, symbol.words, symbol.role), ("vdm", 512, 512, "output"))
        with tempfile.TemporaryDirectory() as folder:
            for name in ["scale.o", "scale.b512"]:
                path = Path(folder) / name
                program.save(path)
                self.assertEqual(rpu.load(path).blake3, program.blake3)
        self.assertEqual(rpu.assemble(program.intrinsics).instructions, program.instructions)

    def test_a_generated_product_is_the_product(self):
        program = rpu.generate("polymul", 1024, modulus_bits=100)
        q = int(program.claims[0].split("modulus=")[1].split(",")[0], 16)
        a = [(i * i * 12345 + 7) ** 5 % q for i in range(1024)]
        b = [pow(3, i, q) for i in range(1024)]
        found = rpu.run(program, inputs={"a": a, "b": b}, check=True)
        self.assertTrue(found.checked)
        for place in [0, 1, 1000]:
            terms = (a[i] * b[place - i] * (1 if i <= place else -1) for i in range(1024))
            self.assertEqual(found.outputs["c"][place], sum(terms) % q)

    def test_settings_and_moduli_are_given_by_name(self):
        program = rpu.generate("muls", 1024, modulus=[12289, 18433], by=[3, 5])
        outputs = rpu.run(program, inputs={"x0": [2] * 1024, "x1": [2] * 1024}).outputs
        self.assertEqual((outputs["y0"][9], outputs["y1"][9]), (6, 10))
        self.assertIn("ntt", rpu.operations())
        self.assertTrue(program.origin)


class Tools(unittest.TestCase):
    def test_a_schedule_is_faster_and_has_the_same_outputs(self):
        given = rpu.generate("ntt", n=1024, modulus=Q, plan="unoptimised")
        schedule = rpu.schedule(given)
        self.assertTrue(schedule.bound <= schedule.after < schedule.before)
        runs = [rpu.run(program, inputs={"x": range(1024)}) for program in (given, schedule.program)]
        self.assertEqual([run.cycles for run in runs], [schedule.before, schedule.after])
        self.assertEqual(runs[0].outputs, runs[1].outputs)

    def test_claims_are_proven_or_not(self):
        self.assertEqual(rpu.prove(rpu.assemble(SCALE)), ["y = muls(x), n=512, modulus=0x3001, by=0x5"])
        with self.assertRaisesRegex(rpu.CheckError, "word 0"):
            rpu.prove(rpu.assemble(SCALE.replace("by=5", "by=7")))
        with self.assertRaisesRegex(rpu.RpuError, "no `.computes` line"):
            rpu.prove(rpu.assemble("\n".join(line for line in SCALE.splitlines() if "computes" not in line)))
        with self.assertRaisesRegex(TypeError, "expected a Program, found str"):
            rpu.prove(SCALE)

    def test_a_plan_can_be_used_again(self):
        machine = rpu.Machine(set={"hple.count": 64})
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / "cache"
            plans = [rpu.tune("ntt", 1024, machine=machine, effort=1, cache=cache) for _ in range(2)]
            self.assertEqual(len(list(cache.iterdir())), 1)
            self.assertEqual(*(plan.text for plan in plans))
            plan = plans[0]
            self.assertTrue(plan.cycles <= plan.before and plan.tried > 1)
            plan.save(Path(folder) / "plan.toml")
            program = rpu.generate("ntt", 1024, machine=machine, modulus_bits=60, plan=f"{folder}/plan.toml")
        self.assertEqual(program.blake3, plan.program.blake3)
        self.assertEqual(rpu.run(program, machine, execute=False).cycles, plan.cycles)

    def test_a_search_takes_no_choice_of_a_plan(self):
        for choice in ({"plan": "kl"}, {"plan": "pease"}, {"tune": "full"}, {"optimise": "energy"}):
            (name,) = choice
            with self.assertRaisesRegex(rpu.RpuError, f"a search has no `{name}`[^$]*leave it out"):
                rpu.tune("ntt", 1024, effort=1, **choice)
        for make in (rpu.tune, rpu.generate):
            with self.assertRaisesRegex(rpu.RpuError, "unknown setting `stream` of `ntt`"):
                make("ntt", 1024, stream=3)

    def test_runs_are_compared(self):
        program = rpu.assemble(SCALE)
        a, b = (rpu.run(program, rpu.Machine(set={"hple.count": count})) for count in (64, 128))
        diff = rpu.diff(a, b)
        self.assertIn({"key": "hple.count", "from": 64, "to": 128}, diff.report["machine"])
        cycles = diff.report["values"]["cycles"]
        self.assertEqual((cycles["a"], cycles["b"]), (a.cycles, b.cycles))
        self.assertIn("hple.count", str(diff))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "b.json"
            path.write_text(json.dumps(b.report))
            self.assertEqual(rpu.diff(a.report, path).report["values"], diff.report["values"])
        with self.assertRaises(rpu.RpuError):
            rpu.diff(a, {})


class RingPrograms(unittest.TestCase):
    def test_programs_of_heir_are_read(self):
        samples = Path(__file__).parents[2] / "he/programs/tests/heir"
        program = rpu.RingProgram.import_heir(samples / "dot_product.mlir", n=1024)
        self.assertEqual((program.n, program.title), (1024, "dot_product of HEIR, n = 1024, 3 moduli q, 2 special moduli"))
        self.assertTrue(program.run(check=True).report)
        with self.assertRaisesRegex(rpu.RpuError, "unknown argument `w`"):
            rpu.RingProgram.import_heir(samples / "dot_product.mlir", arguments={"w": [[1, 2], [3, 4]]})
        with self.assertWarnsRegex(UserWarning, "1 plaintext is an input"):
            rpu.RingProgram.import_heir(samples / "differences.mlir", n=2048)

    def test_networks_of_orion_are_read(self):
        samples = Path(__file__).parents[2] / "he/programs/tests/orion"
        program = rpu.RingProgram.import_orion(samples / "perceptron.orion")
        self.assertEqual((program.n, program.title), (512, "perceptron of Orion, n = 512, 4 moduli q, 1 special moduli"))
        self.assertEqual([stage["name"] for stage in program.run(execute=False).stages][:2], ["fc1", "act1"])
        with self.assertRaisesRegex(rpu.RpuError, "this is no network of Orion"):
            rpu.RingProgram.import_orion(samples / "perceptron.txt")

    def test_a_product_is_generated_saved_read_and_checked(self):
        product = rpu.ring_program("hmult", "ark", n=1024, level=4, dataflow="ocs")
        self.assertEqual((product.n, len(product.inputs["ct1.0"]), product.outputs["prod.0"]), (1024, 4, 3))
        self.assertIn("ntt", product.text)
        bootstrap = rpu.ring_program("bootstrap", "lattigo-n15qp768", n=512)
        self.assertIn("coeff-to-slot", bootstrap.summary)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "product.fhetch"
            product.save(path)
            again = rpu.RingProgram.load(path)
            self.assertEqual((again.text, again.title), (product.text, product.title))
            page = Path(folder) / "product.html"
            run = again.run(check=True, page=page)
            self.assertIn("</html>", page.read_text())
        self.assertTrue(run.checked)
        self.assertGreater(run.time_us, 0)
        self.assertAlmostEqual(sum(run.binds.values()), 1, places=6)
        timed = product.run(rpu.Machine(set={"hbm.gb_per_s": 64}), execute=False)
        self.assertGreater(timed.time_us, run.time_us)
        self.assertEqual(timed.outputs, {})

    def test_given_limbs_are_the_inputs(self):
        rescale = rpu.ring_program("rescale", "ark", n=1024, level=2)
        [q0, q1] = rescale.inputs["ct.0"]
        # A constant of q1 is 1 after a division by q1.
        given = {name: [Array([q1 % q0] * 1024), [0] * 1024] for name in ("ct.0", "ct.1")}
        run = rescale.run(inputs=given, check=True)
        self.assertEqual(run.outputs, {"rescaled.0": [[1] * 1024], "rescaled.1": [[1] * 1024]})

    def test_errors_say_what_would_be_right(self):
        for call, text in [
            (lambda: rpu.ring_program("hmul", "ark"), "did you mean `hmult`?"),
            (lambda: rpu.ring_program("hmult", "arc"), "did you mean `ark`?"),
            (lambda: rpu.ring_program("hmult", "ark", n=1024, level=99), "levels 1 to"),
            (lambda: rpu.ring_program("hmult", "ark", n=1000), "1000"),
            (lambda: rpu.ring_program("rescale", "ark", n=1024).run(keys="stream"), "did you mean `streamed`?"),
            (lambda: rpu.ring_program("rescale", "ark", n=1024).run(inputs={"ct.2": [[0]]}), "ct.2"),
            (lambda: rpu.RingProgram.load("none.fhetch"), "none.fhetch"),
        ]:
            with self.assertRaises(rpu.RpuError) as caught:
                call()
            self.assertIn(text, str(caught.exception))


class Circuits(unittest.TestCase):
    """Circuits: operations on encrypted slots beside the same in the clear."""

    SET = "lattigo-n16qp1546"

    def test_all_operations_are_those_in_the_clear(self):
        c = rpu.Circuit(self.SET, n=8192, name="all")
        x, y, w = c.input("x"), c.input("y"), c.plaintext("w")
        half = c.plaintext("half", [0.5, -0.5])
        a = (x * w).rescale() + (half * y).rescale()
        b = (a * a).lazy() + (a * y.at(a.level)).lazy()
        b = (b.rescale() * 0.25).rescale() - a.rotate(3) + 1 - 2 * y
        b = b.conjugate() - [1, 2j] + b.rotations([0, -1])[1]
        c.output("b", b)
        c.output("t", a.linear_transform(numpy.arange(16).reshape(4, 4) / 16))
        c.output("p", (x + x.conjugate()).chebyshev([0.5, 0.25, 0, -0.125]))
        random = numpy.random.default_rng(1)
        slots = {name: random.uniform(-0.4, 0.4, 4096) + 1j * random.uniform(-0.4, 0.4, 4096) for name in ("x", "y", "w")}
        program = c.program()
        result = c.test(program, **slots)
        for name in ("b", "t", "p"):
            self.assertLess(result.error_bits[name], -20, (name, result))
            self.assertEqual(len(result.slots[name]), 4096)
        self.assertIn("not secure", repr(result))
        # By hand, for one of them.
        t = slots["x"] * 2
        expected = 0.5 + 0.25 * t.real - 0.125 * (4 * t.real**3 - 3 * t.real)
        self.assertLess(abs(result.slots["p"] - expected).max(), 2**-20)
        # The functional model of a machine has the same words.
        on_machine = c.test(program, machine="rpu-128x128", **slots)
        self.assertTrue((on_machine.slots["b"] == result.slots["b"]).all())

    def test_the_program_is_one_as_any_other(self):
        c = rpu.Circuit("ark", n=8192, name="dot")
        x = c.input("x")
        c.output("y", (x * x).rescale())
        program = c.program()
        self.assertIsInstance(program, rpu.RingProgram)
        run = program.run("rpu-128x128", execute=False)
        self.assertGreater(run.time_us, 0)
        self.assertIsInstance(run.stages, list)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dot.fhetch"
            program.save(path)
            self.assertEqual(rpu.RingProgram.load(path).text, program.text)
            sweep = rpu.sweep({"program": str(path), "grid": {"hple.count": [64, 128]}}, Path(folder) / "out")
            self.assertEqual(len(sweep), 2)

    def test_a_circuit_goes_on_after_a_bootstrap(self):
        c = rpu.Circuit(self.SET, n=512)
        x, w = c.input("x"), c.plaintext("w")
        y = (x * w).rescale()
        s = y + y.rotate(1)
        fresh = (s * s).rescale().bootstrap()
        self.assertEqual(fresh.level, c.level)
        c.output("s", fresh)
        calls = []
        result = c.test(c.program(), x=[0.5, -0.25], w=0.5, progress=lambda done, lines: calls.append((done, lines)))
        self.assertLess(result.error_bits["s"], -12)
        self.assertTrue(calls and all(done <= lines for done, lines in calls), calls)

    def test_a_bootstrap_may_leave_fewer_levels(self):
        c = rpu.Circuit(self.SET, n=512, levels_out=3)
        x = c.input("x")
        self.assertEqual(x.level, 3)
        c.output("y", (x * x).rescale().bootstrap(hoisting="compact"))
        self.assertLess(c.test(c.program(), x=0.5).error_bits["y"], -12)
        with self.assertRaisesRegex(rpu.RpuError, "leaves 1 to 10"):
            rpu.Circuit(self.SET, n=512, levels_out=11)

    def test_errors_name_the_operation_the_remedy_and_the_line(self):
        c = rpu.Circuit(self.SET, n=512, name="wrong")
        x = c.input("x")
        lowest = x.at(1)
        wrong = {
            "the sum of `wrong` has operands of the scales": lambda: x + x * x,
            "call `rescale\\(\\)` on the product first": lambda: x + x * x,
            "scaled_like": lambda: x.at(9) + (x * x).rescale(),
            "the rescale of `wrong` at level 1 has no modulus to drop": lambda: lowest.rescale(),
            "invalid rotation 300: not from 1 to 255": lambda: x.rotate(300),
            "call `rescale\\(\\)` before `bootstrap\\(\\)`": lambda: (x * x).bootstrap(),
            "has 256 slots": lambda: x * [1, 2, 3],
            "of two circuits": lambda: x + rpu.Circuit("ark", n=512).input("x"),
            "a second input or plaintext `x`": lambda: c.input("x"),
            "has no option `colour`": lambda: x.bootstrap(colour="red"),
            "the polynomial of `wrong` needs an operand of level 4, found level 2": lambda: x.at(2).chebyshev([0, 0, 0, 0, 1]),
            "must be square": lambda: x.linear_transform([[1, 2]]),
            "no output": lambda: c.program(),
            "invalid level 99": lambda: x.at(99),
            "unknown parameter set `arc`": lambda: rpu.Circuit("arc"),
            "is of BGV": lambda: rpu.Circuit(self.bgv_set()),
        }
        for text, operation in wrong.items():
            with self.assertRaisesRegex((rpu.RpuError, ValueError), text) as caught:
                operation()
            self.assertIn(f"{__file__}:", str(caught.exception), text)
        with self.assertRaises(TypeError):
            x + "1"
        c.output("y", x)
        for slots, text in (({}, "`x` has no slots"), ({"x": 1, "z": 1}, "named `z`"), ({"x": [1] * 257}, "256 slots")):
            with self.assertRaisesRegex(ValueError, text):
                c.test(c.program(), **slots)

    def bgv_set(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "bgv.toml"
        path.write_text(
            'n = 512\nq = [{ bits = 50, count = 3 }]\np = [{ bits = 51, count = 1 }]\ndigits = 3\nplaintext_modulus = 12289\nsecurity = "none"\n'
        )
        return str(path)

    def test_an_interruption_ends_a_test(self):
        c = rpu.Circuit(self.SET, n=4096)
        c.output("y", c.input("x").at(1).bootstrap())
        program = c.program()
        # A process in the background of a shell ignores the signal.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            c.test(program, x=0.5)
        self.assertLess(time.monotonic() - begin, 5)


class Runs(unittest.TestCase):
    def test_a_run_is_its_document(self):
        run = rpu.run(rpu.assemble(SCALE), inputs={"x": range(512)}, check=True)
        self.assertEqual(run.outputs["y"], [5 * i % Q for i in range(512)])
        self.assertEqual(sum(run.stalls.values()), run.cycles)
        self.assertEqual(run.report["machine"]["hple"]["count"], 128)
        self.assertIn("Where the cycles", str(run))
        frame = run.timeline
        self.assertEqual(list(frame["pipe"]), ["scalar", "load_store", "compute", "load_store", "scalar"])
        self.assertEqual(int(frame["complete"].max()), run.cycles)

    def test_halves_of_an_array_are_words(self):
        text = SCALE.replace("0x3001", hex((1 << 127) - 1)).replace("muls(x), n=512", "muls(x), n=512")
        big = 1 << 100 | 9
        pairs = Array([[big & (2**64 - 1), big >> 64]] * 512)
        run = rpu.run(rpu.assemble(text), inputs={"x": pairs}, timing=False)
        self.assertEqual(run.outputs["y"][3], 5 * big % ((1 << 127) - 1))
        self.assertIsNone(run.report.get("cycles"))
        again = rpu.run(rpu.assemble(text), inputs={"x": run.arrays["y"]}, timing=False)
        self.assertEqual((again.arrays["y"].shape, again.arrays["y"].dtype.str), ((512, 2), "<u8"))
        self.assertEqual(again.outputs["y"][3], 25 * big % ((1 << 127) - 1))

    def test_a_run_without_timing_says_what_it_lacks(self):
        run = rpu.run(rpu.assemble(SCALE), timing=False)
        self.assertIn("not timed", repr(run))
        self.assertTrue(run.outputs["y"] and run.area_mm2 > 0 and "energy_uj" in run.report)
        for name in ("time_us", "energy_uj", "cycles", "stalls", "timeline"):
            with self.assertRaisesRegex(rpu.RpuError, f"no `{name}`, since it was not timed: run with `timing=True`"):
                getattr(run, name)
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(rpu.RpuError, "no `page`"):
            run.save_page(f"{folder}/run.html")

    def test_arrays_of_ring_programs_have_a_row_for_each_limb(self):
        run = rpu.ring_program("hmult", "ark", n=512, level=2).run()
        for name, limbs in run.outputs.items():
            self.assertEqual((run.arrays[name].tolist(), run.arrays[name].shape), (limbs, (len(limbs), 512)))

    def test_machines_have_keys(self):
        machine = rpu.Machine(set={"hple.count": 64, "vdm.mapping": "xor"})
        self.assertEqual((machine["hple.count"], machine["vdm.mapping"]), (64, "xor"))
        self.assertLess(machine.area_mm2, rpu.Machine().area_mm2)
        named = rpu.run(rpu.assemble(SCALE), "rpu-128x128-xor", execute=False)
        self.assertEqual(named.report["machine"]["vdm"]["mapping"], "xor")
        slow = rpu.run(rpu.assemble(SCALE), machine, execute=False)
        self.assertGreater(slow.cycles, rpu.run(rpu.assemble(SCALE), execute=False).cycles)


class Arguments(unittest.TestCase):
    def test_arrays_and_numbers_of_numpy_are_parameters(self):
        lists = rpu.generate("muls", 1024, modulus=[12289, 18433], by=[3, 5])
        arrays = rpu.generate("muls", numpy.int64(1024), modulus=numpy.array([12289, 18433]), by=numpy.array([3, 5]))
        self.assertEqual(arrays.text, lists.text)
        one = rpu.generate("muls", numpy.array(1024), modulus=numpy.uint64(12289), by=numpy.array([3]))
        self.assertEqual(one.text, rpu.generate("muls", 1024, modulus=12289, by=3).text)
        rotations = [
            rpu.ring_program("hoisted-rotations", "ark", n=numpy.int32(1024), level=numpy.int8(2), rotations=rotations).text
            for rotations in (numpy.array([1, -2]), range(1, 3), (1, -2), "1,-2")
        ]
        self.assertEqual(rotations[0], rotations[2])
        self.assertEqual(rotations[0], rotations[3])
        self.assertNotEqual(rotations[0], rotations[1])
        kernel = rpu.assemble(SCALE)
        words = numpy.arange(512, dtype=numpy.uint16)
        outputs = [rpu.run(kernel, inputs={"x": x}, seed=numpy.int64(3)).outputs for x in (words, list(words), range(512))]
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])
        for switch in (False, numpy.bool_(False)):
            self.assertIs(rpu.Machine(set={"vdm.multicast": switch, "hple.count": numpy.int64(64)})["vdm.multicast"], False)
        c = rpu.Circuit("ark", n=numpy.int64(512))
        x = c.input("x", level=numpy.int64(3))
        self.assertEqual((len(x.rotations(numpy.array([1, 2]))), x.at(numpy.int64(2)).level), (2, 2))
        x.chebyshev(numpy.array([0.5, 0.25]))

    def test_a_path_is_a_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.toml"
            plan = rpu.tune("add", 512, effort=1)
            plan.save(path)
            self.assertEqual(rpu.generate("add", 512, modulus_bits=60, plan=path).text, plan.program.text)

    def test_a_wrong_argument_is_named_with_what_it_is_and_should_be(self):
        kernel, product = rpu.assemble(SCALE), rpu.ring_program("rescale", "ark", n=512, level=2)
        x = rpu.Circuit("ark", n=512).input("x")
        run = lambda **arguments: rpu.run(kernel, **arguments)
        for error, message, attempt in [
            (TypeError, "`n` is 512.0: expected a whole number, a text", lambda: rpu.generate("add", 512.0)),
            (TypeError, "`by` is \\[1.5\\]: expected", lambda: rpu.generate("adds", 512, by=[1.5])),
            (TypeError, "`by` is \\[\\[1\\]\\]: expected", lambda: rpu.generate("adds", 512, by=[[1]])),
            (TypeError, "`plan` is b'kl': expected", lambda: rpu.generate("add", 512, plan=b"kl")),
            (TypeError, "`n` is '512': expected a whole number$", lambda: rpu.ring_program("rescale", "ark", n="512")),
            (ValueError, "`-1` of `n`: expected a whole number from 0", lambda: rpu.ring_program("rescale", "ark", n=-1)),
            (TypeError, "`set` is 5: expected a text or a path", lambda: rpu.ring_program("rescale", 5)),
            (TypeError, "`name` is 5: expected a text or a path", lambda: rpu.Machine(5)),
            (TypeError, "`set` is \\['a=1'\\]: expected a dictionary", lambda: rpu.Machine(set=["a=1"])),
            (TypeError, "`hple.count` is \\[64\\]: expected a number", lambda: rpu.Machine(set={"hple.count": [64]})),
            (TypeError, "`path` is 5: expected a text or a path", lambda: rpu.load(5)),
            (TypeError, "`path` is 5: expected a text or a path", lambda: kernel.save(5)),
            (TypeError, "`path` is None", lambda: rpu.read_coefficients(None)),
            (ValueError, "`-1` of `effort`", lambda: rpu.tune("add", 512, effort=-1)),
            (TypeError, "`cache` is 5", lambda: rpu.tune("add", 512, cache=5)),
            (TypeError, "`b` is 5: expected a text or a path", lambda: rpu.diff({}, 5)),
            (ValueError, "`-1` of `seed`", lambda: run(seed=-1)),
            (TypeError, "`seed` is 0.5: expected a whole number", lambda: run(seed=0.5)),
            (ValueError, "`100001` of `stream`: expected a whole number from 1 to 100000", lambda: run(stream=100001)),
            (ValueError, "`0` of `stream`", lambda: run(stream=0)),
            (ValueError, "a stream needs timing", lambda: run(stream=1, timing=False)),
            (TypeError, "`inputs` is \\[1\\]: expected a dictionary", lambda: run(inputs=[1])),
            (TypeError, "coefficient 0 of input `x` is \\[0, 0, .*not an integer or a pair", lambda: run(inputs={"x": numpy.zeros((2, 256), int)})),
            (TypeError, "coefficient 0 of input `x` is \\[0.5, 1\\]", lambda: run(inputs={"x": [[0.5, 1]]})),
            (OverflowError, "halves are 0 to 2\\^64 - 1", lambda: run(inputs={"x": [[1 << 64, 1]]})),
            (TypeError, "`inputs\\['x'\\]` is 'abc': expected a sequence", lambda: run(inputs={"x": "abc"})),
            (TypeError, "`inputs\\['ct.0'\\]` is 1: expected a sequence of limbs", lambda: product.run(inputs={"ct.0": 1})),
            (TypeError, "`page` is 1", lambda: product.run(page=1)),
            (TypeError, "`folder` is 1", lambda: rpu.Sweep(1)),
            (TypeError, "`folder` is 1", lambda: rpu.sweep(SWEEP, 1)),
            (TypeError, "`definition` is 1: expected a dictionary or", lambda: rpu.sweep(1)),
            (TypeError, "`definition` is None: expected a dictionary or", lambda: rpu.explore(None)),
            (TypeError, "`progress` is 1: expected a function", lambda: rpu.sweep(SWEEP, progress=1)),
            (ValueError, "`0` of `threads`: expected a whole number from 1 to 1024", lambda: rpu.sweep(SWEEP, threads=0)),
            (ValueError, "`0` of `evaluations`: .* from 1 to 10000000", lambda: rpu.explore(SWEEP, evaluations=0)),
            (TypeError, "`marks` is 1: expected a sequence of texts", lambda: rpu.plot(".", marks=1)),
            (TypeError, "`limits` is \\[1\\]: expected a text or", lambda: rpu.plot(".", limits=[1])),
            (TypeError, "`results` is 1: expected a text or a path", lambda: rpu.plot(1)),
            (TypeError, "`where` is 1: expected a text", lambda: rpu.plot(".", where=1)),
            (TypeError, "`w` is 'a': expected a number", lambda: rpu.RingProgram.import_heir("x", arguments={"w": [["a"]]})),
            (TypeError, "`level` is '1'", lambda: x.at("1")),
            (TypeError, "`other` needs a ciphertext, found int", lambda: x.scaled_like(1)),
            (KeyError, "unknown key `5`", lambda: rpu.Machine()[5]),
            (ValueError, "`-1` of `level`", lambda: rpu.Circuit("ark", level=-1)),
            (TypeError, "`slots` is 1: expected a sequence of whole numbers", lambda: x.rotations(1)),
            (TypeError, "`slots` is 1.5: expected a whole number", lambda: x.rotate(1.5)),
            (TypeError, "`coefficients` is 'a': expected a number", lambda: x.chebyshev(["a"])),
            (ValueError, "`matrix0` needs numbers in rows of one length", lambda: x.linear_transform([[1, 2], [3]])),
        ]:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                attempt()


class Errors(unittest.TestCase):
    def test_an_error_carries_its_diagnostics(self):
        with self.assertRaises(rpu.RpuError) as caught:
            rpu.assemble("vlaod v0, a0, 0\nvadd v1, v0\nhalt\n", "k.b512")
        first, second = caught.exception.diagnostics
        self.assertEqual((first.code, first.file, first.line, first.column), ("B001", "k.b512", 1, 1))
        self.assertEqual((first.marked, first.help), ("vlaod", "did you mean `vload`?"))
        self.assertEqual(second.line, 2)
        self.assertIn("^^^^^", str(caught.exception))
        self.assertEqual(rpu.RpuError().diagnostics, ())

    def test_a_fault_names_its_line(self):
        text = SCALE.replace("vmuls  v1, v0, s0, m1", "vmuls  v1, v0, s0, m2")
        with self.assertRaises(rpu.RpuError) as caught:
            rpu.run(rpu.assemble(text))
        self.assertEqual(caught.exception.diagnostics[0].line, 12)

    def test_a_wrong_result_is_another_error(self):
        with self.assertRaisesRegex(rpu.CheckError, r"`y` differs from muls\(x\) in 5.. of 512 coefficients"):
            rpu.run(rpu.assemble(SCALE.replace("{ 5 }", "{ 6 }")), check=True)

    def test_invalid_values_are_refused(self):
        for message, attempt in [
            ("unknown operation `nt`; did you mean `ntt`", lambda: rpu.generate("nt", 1024)),
            ("invalid value 1000 for `n`", lambda: rpu.generate("ntt", 1000)),
            ("invalid value 0 for `towers`", lambda: rpu.generate("ntt", 1024, towers=0)),
            ("2 roots for 1 modulus", lambda: rpu.generate("ntt", 1024, root=[3, 5])),
            ("`muls` needs `by`", lambda: rpu.generate("muls", 1024)),
            ("unknown plan", lambda: rpu.generate("ntt", 1024, plan="fastest")),
            ("hple.count", lambda: rpu.Machine(set={"hple.count": 3})),
            ("cannot read `nowhere.o`", lambda: rpu.load("nowhere.o")),
            ("unknown input `z`", lambda: rpu.run(rpu.assemble(SCALE), inputs={"z": [1]})),
            ("takes 512 coefficients", lambda: rpu.run(rpu.assemble(SCALE), inputs={"x": [1]})),
            ("cannot read `nowhere.toml`", lambda: rpu.sweep("nowhere.toml")),
            ("has no results", lambda: rpu.Sweep("nowhere")),
            ("unknown key", lambda: rpu.sweep({"kernl": "ntt"})),
            ("is a folder: `rpu.Sweep`", lambda: rpu.sweep(Path(__file__).parent)),
            ("unknown setting `bye` of `muls`[^$]*did you mean `by`", lambda: rpu.generate("muls", 1024, by=3, bye=4)),
            ("no `.computes` line to check[^$]*help: add a line", lambda: rpu.run(rpu.assemble("halt"), check=True)),
        ]:
            with self.subTest(message), self.assertRaisesRegex(rpu.RpuError, message):
                attempt()
        for error, message, attempt in [
            (OverflowError, "coefficient 0 of input `x` is -1", lambda: rpu.run(rpu.assemble(SCALE), inputs={"x": [-1]})),
            (TypeError, "coefficient 1 of input `x` is 0.5", lambda: rpu.run(rpu.assemble(SCALE), inputs={"x": [1, 0.5]})),
            (TypeError, "`inputs\\['x'\\]` is 1: expected a seq", lambda: rpu.run(rpu.assemble(SCALE), inputs={"x": 1})),
            (TypeError, "expected a Program, found str: `assemble`", lambda: rpu.run(SCALE)),
            (TypeError, "expected a Machine, or the name of one, found int", lambda: rpu.run(rpu.assemble(SCALE), 128)),
            (TypeError, "the definition has a set in `hple.count`", lambda: rpu.sweep({"grid": {"hple.count": {64, 128}}})),
            (KeyError, "unknown key `hple.cont`; did you mean `hple.count`", lambda: rpu.Machine()["hple.cont"]),
        ]:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                attempt()
        with self.assertRaises(ValueError):
            rpu.run(rpu.assemble(SCALE), execute=False, timing=False)

    def test_lint_has_lines(self):
        text = SCALE.replace("vstore v1", "vmuls v2, v0, s0, m1\nvstore v1")
        (warning,) = rpu.assemble(text).lint()
        self.assertEqual((warning.severity, warning.line), ("warning", 13))


SWEEP = {"kernel": "add", "n": 1024, "grid": {"hple.count": [32, 64, 128], "vdm.banks": [32, 64]}}


class Sweeps(unittest.TestCase):
    def test_results_are_frames_and_a_front(self):
        calls = []
        sweep = rpu.sweep(SWEEP, progress=lambda done, total: calls.append((done, total)), threads=2)
        self.assertEqual((len(sweep), calls[-1]), (6, (6, 6)))
        frame = sweep.frame
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertTrue((frame["status"] == "ok").all() and frame["checked"].all())
        front = sweep.front()
        self.assertTrue(front["time_us"].is_monotonic_increasing and front["area_mm2"].is_monotonic_decreasing)
        for _, point in frame.iterrows():
            beaten = (frame["time_us"] < point["time_us"]) & (frame["area_mm2"] < point["area_mm2"])
            self.assertTrue(point["key"] not in set(front["key"]) or not beaten.any())
        self.assertIn("<svg", sweep.chart)
        with self.assertRaisesRegex(rpu.RpuError, "unknown column `times_us`[^$]*did you mean `time_us`"):
            sweep.front("times_us")
        with self.assertRaisesRegex(rpu.RpuError, "no front of the column `hple.count`"):
            sweep.front("hple.count")
        with self.assertRaisesRegex(TypeError, "`x` is 1: expected a text"):
            sweep.front(1)

    def keys(self, frame):
        return list(frame["key"])

    def test_a_front_is_that_of_each_task_with_ties(self):
        # Without a stream, the off-chip memory has no effect.
        grid = {"n": [512, 1024], "hple.count": [32, 64], "hbm.gb_per_s": [100, 200]}
        sweep = rpu.sweep({"kernel": "add", "modulus_bits": 60, "grid": grid})
        frame, front = sweep.frame, sweep.front()
        self.assertEqual(sorted(self.keys(front)), sorted(frame["key"][frame["pareto"]]))
        self.assertEqual(list(front["n"]), sorted(front["n"]))
        self.assertEqual({*front["n"]}, {512, 1024})
        for _, task in front.groupby("n"):
            self.assertTrue(task["time_us"].is_monotonic_increasing)
            self.assertTrue(task.duplicated(["time_us", "area_mm2"]).any())
        self.assertEqual(self.keys(sweep.front("time_us", "area_mm2")), self.keys(front))
        self.assertEqual(self.keys(sweep.front("time", "area")), self.keys(front))
        part = sweep.front(where="n = 1024")
        self.assertEqual(self.keys(part), self.keys(front[front["n"] == 1024]))
        # More of a clock is better.
        fastest = sweep.front("frequency_ghz", "time_us")
        self.assertEqual(fastest["frequency_ghz"].min(), frame["frequency_ghz"].max())

    def test_a_front_keeps_the_constraints_of_an_exploration(self):
        limit = rpu.sweep(SWEEP).frame["area_mm2"].median()
        goals = {"objectives": ["energy_uj", "time_us"], "constraints": [f"area < {limit} mm2"]}
        found = rpu.explore(SWEEP | {"explore": goals}, evaluations=6)
        for front in (found.front(), found.front("time_us", "area_mm2")):
            self.assertTrue(0 < len(front) and front["area_mm2"].max() < limit)
        self.assertTrue(found.front()["energy_uj"].is_monotonic_increasing)
        self.assertEqual({*self.keys(found.front())}, {*found.frame["key"][found.frame["pareto"]]})

    def test_a_point_has_the_cycles_of_its_program(self):
        kernels = [
            {"kernel": "ntt", "n": 1024, "modulus_bits": 60, "plan": "kl"},
            {"kernel": "automorphism", "n": 1024, "modulus_bits": 60, "g": 5, "order": "coefficients"},
            {"kernel": "automorphism", "n": 1024, "modulus_bits": 60, "g": 3, "order": "evaluation"},
        ]
        machines = [{"hple.count": count, "sbar.latency_cycles": latency} for count in (32, 128) for latency in (3, 7)]
        rows = [kernel | machine for kernel in kernels for machine in machines]
        frame = rpu.sweep({"list": rows}).frame
        for row, cycles in zip(rows, frame["cycles"]):
            options = {"modulus_bits": row["modulus_bits"], "plan": row.get("plan", "best")}
            settings = {name: row[name] for name in ("g", "order") if name in row}
            machine = rpu.Machine(set={key: value for key, value in row.items() if "." in key})
            program = rpu.generate(row["kernel"], row["n"], machine=machine, **options, **settings)
            self.assertEqual(rpu.run(program, machine, execute=False).cycles, cycles, row)

    def test_axes_may_be_ranges_and_arrays(self):
        latencies, counts = range(3, 5), Array([64, 128])
        axes = {"vbar.latency_cycles": latencies, "hple.count": counts}
        definition = {"grid": axes, "kernel": "add", "n": 512, "list": [{"title": "ä \" \\"}]}
        with self.assertRaisesRegex(rpu.RpuError, "unknown key `title`"):
            rpu.sweep(definition)
        definition["list"] = [{"vdm.banks": 64}, {"vdm.banks": 128, "vdm.mapping": "xor"}]
        self.assertEqual(list(rpu.sweep(definition).frame["vbar.latency_cycles"]), [3] * 4 + [4] * 4)

    def test_definitions_have_long_numbers_and_any_text(self):
        big = 2**100
        frame = rpu.sweep({"kernel": "adds", "n": 512, "by": big, "grid": {"hple.count": [64]}}).frame
        self.assertEqual(list(frame["by"]), [hex(big)])
        axis = rpu.sweep({"kernel": "adds", "n": 512, "grid": {"by": [3, big]}}).frame
        self.assertEqual([int(str(by), 0) for by in axis["by"]], [3, big])
        set_later = rpu.sweep({"kernel": "adds", "n": 512, "grid": {"hple.count": [64]}}, set={"by": big}).frame
        self.assertEqual(list(set_later["by"]), [hex(big)])
        with self.assertRaisesRegex(rpu.RpuError, "invalid value"):
            rpu.sweep({"kernel": "adds", "n": 512, "by": 2**128})
        for number in (float("nan"), float("inf"), -float("inf"), numpy.float64("nan")):
            with self.assertRaisesRegex(rpu.RpuError, f"invalid value `{number}` for `hbm.gb_per_s`"):
                rpu.sweep({"kernel": "add", "n": 512, "grid": {"hbm.gb_per_s": [number]}})
        text = "".join(map(chr, range(1, 256))) + "\u2028"
        self.assertEqual(tomllib.loads(_arguments.toml_document({"title": text, text: [text]})), {"title": text, text: [text]})

    def test_a_folder_is_resumed_and_shared_with_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.toml"
            path.write_text("kernel = 'add'\nn = 1024\n[grid]\nhple.count = [64, 128]\n")
            out = Path(folder) / "out"
            first = rpu.sweep(path, out, set={"vdm.banks": 64})
            lines = (out / "journal.jsonl").read_text()
            again = rpu.sweep(path, out, set={"vdm.banks": 64})
            self.assertEqual((out / "journal.jsonl").read_text(), lines)
            self.assertTrue(first.frame.equals(again.frame) and again.page.is_file())

    def test_a_failed_point_is_an_error_after_the_results(self):
        with tempfile.TemporaryDirectory() as out:
            definition = {"kernel": "ntt", "n": 1024, "grid": {"vdm.size_mib": [1, 4], "isa.word_bits": [32, 128]}}
            with self.assertRaisesRegex(rpu.RpuError, "2 of 4 points failed; the first: "):
                rpu.sweep(definition, out)
            self.assertEqual(sorted(rpu.Sweep(out).frame["status"]), ["failed", "failed", "ok", "ok"])

    def test_an_interruption_leaves_what_is_done(self):
        latencies = {"vbar.latency_cycles": list(range(1, 200)), "sbar.latency_cycles": list(range(1, 100))}
        definition = {"kernel": "ntt", "n": 1024, "grid": latencies}
        with tempfile.TemporaryDirectory() as out:
            journal = Path(out) / "journal.jsonl"

            def interrupt_after_a_point():
                while not (journal.is_file() and journal.stat().st_size > 0):
                    time.sleep(0.01)
                signal.raise_signal(signal.SIGINT)

            # A job in the background of a shell starts with SIGINT ignored.
            self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Thread(target=interrupt_after_a_point, daemon=True).start()
            with self.assertRaises(KeyboardInterrupt):
                rpu.sweep(definition, out)
            done = [json.loads(line) for line in journal.read_text().splitlines()]
            self.assertTrue(0 < len(done) < 199 * 99)

    def test_an_exploration_is_a_sweep_with_a_front(self):
        space = SWEEP | {"explore": {"objectives": ["time_us", "area_mm2"], "population": 4}}
        calls = []
        with tempfile.TemporaryDirectory() as folder:
            found = rpu.explore(space, folder, evaluations=5, progress=lambda *counts: calls.append(counts))
            self.assertEqual((len(found), calls[-1]), (5, (5, 5)))
            again = rpu.explore(space, folder, evaluations=6)
            self.assertEqual(len(again), 6)
            swept = rpu.sweep(SWEEP)
            columns = ["hple.count", "vdm.banks", "time_us"]
            fronts = [results.front()[columns].to_numpy().tolist() for results in (again, swept)]
            self.assertEqual(*fronts)
        with self.assertRaisesRegex(rpu.RpuError, "tme_us[^$]*did you mean `\"time_us\"`"):
            rpu.explore(SWEEP | {"explore": {"objectives": ["tme_us", "area_mm2"]}})

    def test_the_chart_is_that_of_the_first_task(self):
        sweep = rpu.sweep({"kernel": "add", "modulus_bits": 60, "grid": {"n": [1024, 512], "hple.count": [32, 64]}})
        self.assertIn("512-point", sweep.chart)

    def test_a_sweep_without_a_result_has_no_chart(self):
        definition = {"kernel": "ntt", "n": 1024, "grid": {"isa.word_bits": [32, 64]}}
        with tempfile.TemporaryDirectory() as out:
            with self.assertRaisesRegex(rpu.RpuError, "2 of 2 points failed"):
                rpu.sweep(definition, out)
            sweep = rpu.Sweep(out)
            for _ in range(2):
                with self.assertRaisesRegex(rpu.RpuError, "no point of the sweep succeeded"):
                    sweep.chart
                # As of an earlier run.
                (sweep.folder / "pareto.svg").write_text("<svg/>")
            self.assertEqual(len(sweep.front()), 0)

    def saved(self, chart, path, **arguments):
        chart.save(path, **arguments)
        return path.read_text(encoding="utf-8")

    def test_charts_are_figures_of_any_columns(self):
        sweep = rpu.sweep(SWEEP)
        chart = sweep.plot(x="cycles", y="energy_uj", colour="hple.count", marks=["ours: vdm.banks = 64"])
        self.assertEqual(chart.svg, chart._repr_svg_())
        ours = sweep.plot(x="cycles", y="energy_uj", colour="hple.count", marks="ours: vdm.banks = 64", limits="cycles < 5")
        self.assertIn("ours", ours.svg)
        self.assertTrue(chart.svg.startswith("<svg") and "ours" in chart.svg)
        self.assertTrue(chart.png.startswith(b"\x89PNG"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chart.svg"
            rpu.plot(sweep.folder, sweep.folder / "results.csv", form="parallel").save(path)
            self.assertIn("<svg", path.read_text(encoding="utf-8"))
            with self.assertRaisesRegex(ValueError, "it must end in `.svg`, `.png` or `.pdf`"):
                chart.save("chart.jpg")
            with self.assertRaisesRegex(ValueError, "`font_size` has no effect without `width`"):
                chart.save(path, font_size=20)
            tornado = sweep.plot(form="tornado", y="time_us", front=False)
            with self.assertRaisesRegex(rpu.RpuError, "`legend` has no effect on the form `tornado`"):
                tornado.save(path, legend="none")
            pdf = path.with_suffix(".pdf")
            chart.save(pdf)
            self.assertTrue(pdf.read_bytes().startswith(b"%PDF"))
            self.assertIn(chart.svg, self.saved(chart, path))
            paper = self.saved(chart, path, width="8.5cm", title=False, legend="none")
            self.assertRegex(paper, r'width="85(\.0+)?mm"')
            for message, arguments in [
                ("invalid value `8` of `width`: expected a number and a unit", {"width": "8"}),
                ("invalid value `1` of `font_size`: expected a number from 3 to 72", {"font_size": 1}),
                ("invalid value `below` of `legend`", {"legend": "below"}),
            ]:
                with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                    chart.save(path, **arguments)
        for message, arguments in [
            ("unknown column `are_mm2`[^$]*did you mean `area_mm2`", {"y": "are_mm2"}),
            ("unknown form `pie`[^$]*`tornado`", {"form": "pie"}),
            ("expected `<`", {"where": "cycles"}),
            ("no result meets the conditions", {"where": "cycles < 1"}),
            ("no front of the column `hple.count`", {"x": "hple.count", "front": True}),
            ("`x` has no effect on the form `tornado`", {"form": "tornado", "x": "cycles"}),
            ("`front` has no effect on the form `tornado`", {"form": "tornado", "front": True}),
            ("`colour` has no effect on the form `parallel`", {"form": "parallel", "colour": "vdm.banks"}),
            ("`marks` has no effect on the form `parallel`", {"form": "parallel", "marks": "vdm.banks = 64"}),
            ("`limits` has no effect on the form `tornado`", {"form": "tornado", "limits": "area < 25 mm2"}),
        ]:
            with self.subTest(message), self.assertRaisesRegex(rpu.RpuError, message):
                sweep.plot(**arguments)

    def test_every_long_call_ends_at_an_interrupt(self):
        program = rpu.generate("ntt", 65536, modulus_bits=120)
        product = rpu.ring_program("hmult", "ark", n=4096)
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for call in [
            lambda: rpu.run(program, check=True),
            lambda: product.run(check=True),
            lambda: rpu.generate("ntt", 65536, modulus_bits=61, machine=rpu.Machine(set={"hple.count": 32})),
            lambda: rpu.explore(SWEEP | {"grid": {"vbar.latency_cycles": list(range(1, 300))}}, evaluations=299),
        ]:
            threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
            with self.assertRaises(KeyboardInterrupt):
                call()
                time.sleep(1)

    def test_an_exception_of_progress_ends_the_sweep(self):
        def progress(done, total):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            rpu.sweep(SWEEP, progress=progress)


class Documents(unittest.TestCase):
    def test_the_examples_run(self):
        root = Path(__file__).parents[2]
        chapters = [f"docs/book/src/{name}.md" for name in ("python", "circuits", "bring-your-program")]
        for path in ["README.md", "python/README.md", *chapters]:
            blocks = re.findall("^```python\n(.*?)^```", (root / path).read_text(encoding="utf-8"), re.M | re.S)
            self.assertTrue(blocks, path)
            names = {}
            with self.subTest(path), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                with contextlib.redirect_stdout(io.StringIO()):
                    for block in blocks:
                        exec(compile(block, path, "exec"), names)


class Types(unittest.TestCase):
    def test_the_stub_names_everything_in_the_extension(self):
        stub = ast.parse((Path(rpu.__file__).parent / "_rpu.pyi").read_text())
        public = lambda names: {name for name in names if not name.startswith("_") or name == "__version__"}

        def named(body):
            names = set()
            for node in body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    names.add(node.name)
                elif isinstance(node, ast.AnnAssign):
                    names.add(node.target.id)
            return public(names)

        self.assertEqual(named(stub.body), public(dir(_rpu)))
        for node in stub.body:
            if isinstance(node, ast.ClassDef) and not issubclass(getattr(_rpu, node.name), Exception):
                self.assertEqual(named(node.body), public(dir(getattr(_rpu, node.name))), node.name)


if __name__ == "__main__":
    unittest.main()
