#!/usr/bin/env python3
"""Compares the emulator's counters with a GPU's, for the kernels of random programs (tests/random_kernels/).

    scripts/random_counters.py build --binaries DIR [--seed 1] [--programs 12] [--kernels 8] [--nvcc nvcc] [--only NUMBER]
    scripts/random_counters.py read --binaries DIR --out FILE [--commit ID] [--ncu ncu] [--seconds 480]
    scripts/random_counters.py compare FILE [--program build/cpu/bin/cornerturn] [--out results/emulate/random_SEED.json]

`build` draws the programs and compiles them for the GPU. `read` runs on a machine with the GPU. It runs each program, which
checks its own results, and then runs it again under Nsight Compute. `compare` draws the same programs, runs them in the
emulator, and interprets their source in Python, which counts the accesses. It stores the differences and the number of equal
readings, in total and for each feature of the kernels. The same seed draws the same programs.
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import foreign_counters
import stored_json

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import random_kernels  # noqa: E402
from random_kernels import emulate  # noqa: E402

FLAGS = ["-arch=sm_90", "-std=c++17", "-O3", "-lineinfo"]


def build(given):
    binaries = pathlib.Path(given.binaries)
    binaries.mkdir(parents=True, exist_ok=True)
    plan = {"seed": given.seed, "kernels": given.kernels, "flags": FLAGS, "programs": []}
    for number in range(given.programs) if given.only is None else [given.only]:
        _, _, text = random_kernels.program(given.seed, number, given.kernels)
        name = f"random_{given.seed}_{number}"
        (binaries / f"{name}.cu").write_text(text)
        built = subprocess.run([given.nvcc, *FLAGS, f"{name}.cu", "-o", name], cwd=binaries)
        if built.returncode != 0:
            sys.exit(f"{name}.cu does not compile, but every drawn program must")
        plan["programs"].append({"number": number, "name": name, "sha256": hashlib.sha256(text.encode()).hexdigest()})
    (binaries / "plan.json").write_text(json.dumps(plan))


def read(given):
    binaries, begun = pathlib.Path(given.binaries).resolve(), time.monotonic()
    plan = json.loads((binaries / "plan.json").read_text())
    for program in plan["programs"]:
        if time.monotonic() - begun > given.seconds:
            print("no time is left for", program["name"])
            continue
        command = [str(binaries / program["name"])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            program |= {"exit": done.returncode, "printed": done.stdout.splitlines()}
            program["counters"] = foreign_counters.profile(given.ncu, command, 200)
        except subprocess.TimeoutExpired:
            program["exit"] = "timeout"
        print(program["name"], program["exit"], len(program.get("counters", ())), "kernels", flush=True)
    stored_json.store(pathlib.Path(given.out), foreign_counters.machine(given) | {"command": "scripts/random_counters.py read"} | plan)


class Share:
    """Counts the readings that are nonzero on at least one side, and how many of them are equal."""

    def __init__(self):
        self.readings = self.equal = 0

    def add(self, a, b):
        if a != 0 or b != 0:
            self.readings += 1
            self.equal += a == b

    def stored(self):
        return {"readings": self.readings, "equal": self.equal}


def compare(given):
    stored = json.loads(pathlib.Path(given.file).read_text())
    emulator, python, features = Share(), Share(), collections.defaultdict(Share)
    kernels, wrong, not_compared, different = 0, [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for program in stored["programs"]:
            drawn, executions, text = random_kernels.program(stored["seed"], program["number"], stored["kernels"])
            if hashlib.sha256(text.encode()).hexdigest() != program["sha256"]:
                sys.exit(f"{program['name']} was drawn by another version of tests/random_kernels/: check out {stored['commit'] or 'that version'}")
            done, kernels_here = emulate.run(given.program, pathlib.Path(folder), program["name"], text)
            ours, status = {kernel["symbol"]: kernel for kernel in kernels_here.values()}, done.returncode
            wrong += [f"{program['name']} on the GPU: {line}" for line in program.get("printed", []) if " wrong" in line]
            if "counters" not in program or status != 0 or program["exit"] != 0:
                not_compared.append(f"{program['name']}: exit {program.get('exit')} on the GPU, {status} in the emulator")
            for symbol, theirs in program.get("counters", {}).items():
                if symbol not in ours:
                    not_compared.append(f"{program['name']}: {symbol} ran on the GPU only")
                    continue
                kernels += 1
                name = ours[symbol]["kernel"].split("<")[0]
                execution = executions[name]
                for metric in foreign_counters.METRICS:
                    a, b, c = theirs.get(metric, 0), ours[symbol]["metrics"][metric], execution.counts[metric]
                    known = metric not in execution.approximate
                    emulator.add(a, b)
                    if known:
                        python.add(a, c)
                    for feature in execution.k.features or {"none"}:
                        features[feature].add(a, b)
                    if a != b:
                        different.append({"program": program["number"], "kernel": name, "features": sorted(execution.k.features), "metric": metric, "gpu": a, "emulator": b}
                                         | ({"source": c} if known else {}))
    print(f"{emulator.equal} of {emulator.readings} nonzero readings are equal ({emulator.equal / max(emulator.readings, 1):.1%}), of {kernels} kernels")
    print(f"the source's accesses: {python.equal} of {python.readings} ({python.equal / max(python.readings, 1):.1%})")
    for line in wrong + not_compared:
        print(line)
    if given.out:
        stored_json.store(pathlib.Path(given.out), {key: stored[key] for key in ("device", "driver", "ncu", "commit", "date", "seed", "flags")} | {
            "emulator": foreign_counters.foreign.revision(), "command": "scripts/random_counters.py compare", "programs": len(stored["programs"]), "kernels": kernels, "wrong": wrong, "not_compared": not_compared,
            **emulator.stored(), "source": python.stored(), "features": {feature: share.stored() for feature, share in sorted(features.items())},
            "different": different})


if __name__ == "__main__":
    foreign_counters.run_step(__doc__, {
        build: [("--seed", {"default": "1"}), ("--programs", {"type": int, "default": 12}), ("--kernels", {"type": int, "default": 8}),
                ("--only", {"type": int, "help": "build only the program with this number"})],
        read: [], compare: []})
