"""Random CUDA programs in the emulator. Python executes the same programs, and both must find the same results, counts
and hazards.

Each run generates new programs. CORNERTURN_SEED=N generates the same programs again. CORNERTURN_PROGRAMS=N sets their
number. HACKING.md explains how to reduce a program that fails.
"""

import concurrent.futures
import copy
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import random_kernels
import script
from random_kernels import emulate, faults

CORNERTURN = os.environ["CORNERTURN"]
SEED = script.seed()
PROGRAMS, KERNELS = int(os.environ.get("CORNERTURN_PROGRAMS") or 3), 6
# In kernels with such a mask, lanes may stay diverged for longer in the emulator (docs/emulator.md). Then it counts more
# accesses than the source has. This happened in 4 of 49 such kernels. The test allows a fifth of them and two more,
# because a run generates only few.
DIVERGING = "mask of some lanes"


class Drawn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def emulate(self, name, text, *arguments):
        return emulate.run(CORNERTURN, self.folder, name, text, *arguments)

    def check(self, right, name, *messages):
        """If not `right`, keeps the program and fails."""
        if not right:
            kept = pathlib.Path(tempfile.gettempdir()) / f"random_kernels_{SEED}_{type(self).__name__.lower()}_{name}.cu"
            shutil.copy(self.folder / f"{name}.cu", kept)
            self.fail("\n".join([f"CORNERTURN_SEED={SEED}: {kept}", *messages]))


class Answers(Drawn):
    def first_difference(self, name, executions):
        """Describes the first array element that differs from Python's result."""
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
        def run(number):
            program, executions, text = random_kernels.program(SEED, number, KERNELS)
            return program, executions, self.emulate(str(number), text)

        diverging, different = 0, []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, (program, executions, (done, kernels)) in enumerate(pool.map(run, range(PROGRAMS))):
                name = str(number)
                with self.subTest(seed=SEED, program=number):
                    self.assertFalse([kernel for kernel, e in executions.items() if e.races])
                    if (done.stdout, done.stderr, done.returncode) != ("".join(f"{k.name} right\n" for k in program.kernels), "", 0):
                        self.check(False, name, done.stdout + done.stderr[-3000:], self.first_difference(name, executions))
                    for k in program.kernels:
                        self.check((kernels[k.name]["launches"], kernels[k.name]["hazards"]) == (k.launches, []), name, k.name)
                        execution, diverges = executions[k.name], DIVERGING in k.features
                        wrong = [(metric, value, execution.counts[metric]) for metric, value in kernels[k.name]["metrics"].items()
                                 if not metric.startswith("shared_conflicts") and metric not in execution.approximate and value != execution.counts[metric]]
                        self.check(not wrong or diverges and all(ours > source for _, ours, source in wrong), name, f"{k.name}: {wrong}")
                        diverging += diverges
                        different += [f"program {number}, {k.name}: {wrong}"] if wrong else []
        print(f"{len(different)} of {diverging} kernels with a {DIVERGING} count more than their source", *different, sep="\n", file=sys.stderr)
        self.assertLessEqual(len(different), 2 + diverging // 5)


class Faults(Drawn):
    def faulty(self, plant, wanted):
        """Yields programs with one fault in each kernel, until there were `wanted` faults. Leaves out kernels without a
        place for the fault."""
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
                    self.check("race" in kinds, str(number), f"{kinds}", done.stderr[-2000:])

    def test_an_index_out_of_bounds_is_reported(self):
        for number, program in self.faulty(faults.out_of_bounds, 3):
            for k in program.kernels[:2]:  # nothing runs after such an error
                alone = copy.copy(program)
                alone.kernels = [k]
                done, _ = self.emulate(f"{number}_{k.name}", random_kernels.source.of(alone, {k.name: 0}))
                with self.subTest(seed=SEED, program=number, kernel=k.name):
                    reported = script.names(done.stderr, "out_of_bounds", k.name) and "cudaErrorIllegalAddress" in done.stdout
                    self.check(reported and done.returncode == 1, f"{number}_{k.name}", done.stdout, done.stderr[-2000:])


if __name__ == "__main__":
    script.main()
