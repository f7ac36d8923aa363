"""Random CUDA programs in the emulator: answers, counters and hazards are those that Python finds by executing the same.

Each run draws new programs. CORNERTURN_SEED=N draws the same again, CORNERTURN_PROGRAMS=N says how many. HACKING.md says
how to make one smaller that fails.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

import random_kernels
import script
from random_kernels import faults, interpret

CORNERTURN = os.environ["CORNERTURN"]
SEED = os.environ.get("CORNERTURN_SEED") or str(random.SystemRandom().randrange(1 << 32))
PROGRAMS, KERNELS = int(os.environ.get("CORNERTURN_PROGRAMS") or 5), 6
# Where lanes may part for longer in the emulator: docs/emulate.md. Their answers count, but not their counters.
UNCOUNTED = {"mask of some lanes"}


class Drawn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def emulate(self, name, text, *words):
        """What came of the program: the process, and its kernels by the name without template arguments."""
        source, report = self.folder / f"{name}.cu", self.folder / f"{name}.json"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([CORNERTURN, "emulate", source, "--format", "json", "--output", report, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=500, env=os.environ | {"CORNERTURN_CACHE": str(self.folder / "cache")})
        kernels = json.loads(report.read_text())["kernels"] if report.exists() else []
        return done, {k["kernel"].split("<")[0]: k for k in kernels}

    def keep(self, name):
        """Where the program stays, so that a failure can be looked at."""
        kept = pathlib.Path(tempfile.gettempdir()) / f"random_kernels_{SEED}_{type(self).__name__.lower()}_{name}.cu"
        shutil.copy(self.folder / f"{name}.cu", kept)
        return f"CORNERTURN_SEED={SEED}: {kept}"


class Answers(Drawn):
    def first_difference(self, name, executions):
        """The first element of an array that differs from Python's."""
        done, _ = self.emulate(name, (self.folder / f"{name}.cu").read_text(), "--", "dump")
        found = dict(re.findall(r"^(k\d+ \w+\[\d+\]) (\d+)$", done.stdout, re.M))
        for kernel, execution in executions.items():
            for array in (a for a in execution.k.arrays if a.role != "in"):
                for i, value in enumerate(execution.memory[array.name]):
                    element = f"{kernel} {array.name}[{i}]"
                    if found.get(element) != str(value):
                        return f"{element} is {found.get(element)}, not {value}"
        return "all elements are equal"

    def test_programs(self):
        def check(number):
            program, executions, text = random_kernels.program(SEED, number, KERNELS)
            return program, executions, [self.emulate(str(number), text, "--workers", workers) for workers in ("1", "2")]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, (program, executions, runs) in enumerate(pool.map(check, range(PROGRAMS))):
                with self.subTest(seed=SEED, program=number):
                    self.assertFalse([name for name, e in executions.items() if e.races])
                    for done, kernels in runs:
                        right = "".join(f"{k.name} right\n" for k in program.kernels)
                        if (done.stdout, done.stderr, done.returncode) != (right, "", 0):
                            self.fail(f"{self.keep(str(number))}\n{done.stdout}{done.stderr[-3000:]}\n{self.first_difference(str(number), executions)}")
                        self.compare_counters(number, program, executions, kernels)
                    self.assertEqual(*[{name: k["metrics"] for name, k in kernels.items()} for _, kernels in runs], self.keep(str(number)))

    def compare_counters(self, number, program, executions, kernels):
        for k in program.kernels:
            self.assertEqual((kernels[k.name]["launches"], kernels[k.name]["hazards"]), (k.launches, []))
            if k.features & UNCOUNTED:
                continue
            for metric, value in kernels[k.name]["metrics"].items():
                if not metric.startswith("shared_conflicts") and metric not in executions[k.name].approximate:
                    self.assertEqual(value, executions[k.name].counts[metric], f"{k.name}: {metric}, {self.keep(str(number))}")


class Faults(Drawn):
    def faulty(self, plant, wanted):
        """Programs with one fault in each kernel that has a place for it; `wanted` faults at least. In the order of seeds."""
        found, number = 0, 0
        while found < wanted:
            program = random_kernels.draw.program(f"{SEED}:{plant.__name__}:{number}", KERNELS)
            program.kernels = [k for k in map(plant, [program] * KERNELS, program.kernels) if k is not None]
            if program.kernels:
                found += len(program.kernels)
                yield number, program
            number += 1
            self.assertLess(number, 50, "no kernel has a place for a fault")

    def test_a_missing_barrier_is_a_race(self):
        for number, program in self.faulty(faults.without_barrier, 4):
            done, kernels = self.emulate(str(number), random_kernels.source.of(program, {k.name: 0 for k in program.kernels}))
            for k in program.kernels:
                with self.subTest(seed=SEED, program=number, kernel=k.name):
                    kinds = {hazard["kind"] for hazard in kernels[k.name]["hazards"]}
                    self.assertIn("race", kinds, f"{self.keep(str(number))}\n{done.stderr[-2000:]}")

    def test_an_index_out_of_bounds_is_told(self):
        for number, program in self.faulty(faults.out_of_bounds, 3):
            for k in program.kernels[:2]:  # nothing runs after such an error
                alone = copy.copy(program)
                alone.kernels = [k]
                done, _ = self.emulate(f"{number}_{k.name}", random_kernels.source.of(alone, {k.name: 0}))
                with self.subTest(seed=SEED, program=number, kernel=k.name):
                    self.assertIn("cudaErrorIllegalAddress", done.stdout, self.keep(f"{number}_{k.name}"))
                    self.assertRegex(done.stderr, rf"out_of_bounds: {k.name}\b", self.keep(f"{number}_{k.name}"))
                    self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    print(f"CORNERTURN_SEED={SEED}", flush=True)
    script.main()
