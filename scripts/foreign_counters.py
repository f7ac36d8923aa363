#!/usr/bin/env python3
"""Compares the emulator's counters with a GPU's, for kernels of other projects (see foreign.py).

    scripts/foreign_counters.py build SUITE... --sources DIR --binaries DIR [--nvcc nvcc]
    scripts/foreign_counters.py read --binaries DIR --out FILE [--commit ID] [--ncu ncu] [--seconds 480]
    scripts/foreign_counters.py compare FILE --sources DIR [--program build/cpu/bin/cornerturn] [--out FILE]

`build` compiles the programs for the GPU, with the patches of foreign.py. `read` runs on a machine with the GPU. It runs each
program for its exit code, and then runs it again under Nsight Compute. For each kernel it adds up the counters, and the
executions of each memory instruction in its SASS, over all launches. `compare` runs the same programs in the emulator. For
each counter that differs it lists the instructions that the GPU executed. Needs Python and git.
"""

import argparse
import collections
import csv
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import foreign
import stored_json

METRICS = [f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors") for op in ("ld", "st", "red", "atom")]
METRICS += [f"smsp__sass_{what}_{op}.sum" for what in ("inst_executed_op_shared", "l1tex_data_pipe_lsu_wavefronts_mem_shared_op") for op in ("ld", "st", "atom")]



def instructions_of(metric, sass):
    """The instructions that the metric counts."""
    op = re.search(r"_(ld|st|red|atom)\.sum", metric)[1]
    word = {"ld": "LD", "st": "ST", "red": "RED", "atom": "ATOM"}[op] + ("S" if "shared" in metric else "" if op == "red" else "G")
    return {name: times for name, times in sass.items() if name.startswith(word)}


def build(given):
    binaries = pathlib.Path(given.binaries)
    binaries.mkdir(parents=True, exist_ok=True)
    plan = []
    for suite in given.suites:
        with tempfile.TemporaryDirectory() as folder:
            tree = foreign.checked_out(given.sources, suite, pathlib.Path(folder))
            for program in foreign.SUITES[suite](tree):
                foreign.patched(tree, program)
                binary = binaries / f"{suite}.{program.name}"
                built = subprocess.run([given.nvcc, "-arch=sm_90", "-std=c++17", "-w", *program.flags, *program.files, "-o", binary.resolve()], cwd=tree)
                if built.returncode == 0:
                    plan.append({"suite": suite, "program": program.name, "runs": [list(run) for run in program.runs]})
    (binaries / "plan.json").write_text(json.dumps(plan))


def sass_of(rows):
    """For each kernel, how often warps executed each instruction that accesses global or shared memory, over all launches."""
    starts = [i for i, row in enumerate(rows) if row[:1] == ["Kernel Name"]] + [len(rows)]
    launches = [rows[a:b] for a, b in zip(starts, starts[1:])]
    if launches[::2] == launches[1::2]:  # some versions of ncu print each launch twice
        launches = launches[::2]
    kernels = collections.defaultdict(collections.Counter)
    for name, titles, *instructions in launches:
        source, executed = titles.index("Source"), titles.index("Instructions Executed")
        for row in (row for row in instructions if len(row) > executed):
            word = next(word for word in row[source].split() if not word.startswith("@"))
            if re.match(r"(LDG|STG|RED|ATOMG?|LDGSTS|LDS|STS|ATOMS)\b", word):
                kernels[name[1]][word] += int(row[executed])
    return kernels


def profile(ncu, command, seconds):
    """For each kernel, by mangled name: its counters, added up over its launches, and its instructions under "sass"."""
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        subprocess.run([ncu, "--export", report, "--section", "SourceCounters", "--clock-control", "none", "--cache-control", "none",
                        "--metrics", ",".join(METRICS), *command], capture_output=True, timeout=seconds)
        if not os.path.exists(report):
            sys.exit(f"ncu has no report of {' '.join(command)}")

        def page(name):
            text = subprocess.run([ncu, "--import", report, "--csv", "--page", name, "--print-kernel-base", "mangled"], check=True, capture_output=True, text=True,
                                  errors="replace").stdout
            return list(csv.reader(text.splitlines()))
        titles, _, *launches = page("raw")  # the second row has the units
        kernels = collections.OrderedDict()
        for row in (dict(zip(titles, values)) for values in launches):
            kernel = kernels.setdefault(row["Kernel Name"], collections.Counter())
            kernel["launches"] += 1
            for metric in METRICS:
                kernel[metric] += int(float(row[metric].replace(",", "")))
        sass = sass_of(page("source"))
        return {name: {**counters, "sass": dict(sass[name])} for name, counters in kernels.items()}


def machine(given):
    """The GPU, the versions of the driver and of ncu, the commit and the date."""
    query = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    name, _, driver = query.partition(", ")
    version = subprocess.run([given.ncu, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1:]
    return {"device": name, "driver": driver, "ncu": " ".join(version), "commit": given.commit, "date": datetime.date.today().isoformat()}


def read(given):
    binaries, begun, runs = pathlib.Path(given.binaries).resolve(), time.monotonic(), []
    for program in json.loads((binaries / "plan.json").read_text()):
        for arguments in program["runs"]:
            command = [str(binaries / f"{program['suite']}.{program['program']}"), *arguments]
            run = {"suite": program["suite"], "program": program["program"], "arguments": arguments}
            runs.append(run)
            if time.monotonic() - begun > given.seconds:
                run["exit"] = "no time was left"
                continue
            try:
                run["exit"] = subprocess.run(command, capture_output=True, timeout=60).returncode
                run["kernels"] = profile(given.ncu, command, 100)
            except subprocess.TimeoutExpired:
                run["exit"] = "timeout"
            print(program["program"], *arguments, run["exit"], flush=True)
    stored_json.store(pathlib.Path(given.out), machine(given) | {
        "command": "scripts/foreign_counters.py read", "repositories": foreign.REPOSITORIES, "runs": runs})


def compare(given):
    stored = json.loads(pathlib.Path(given.file).read_text())
    equal, different, skipped, kernels = 0, [], [], set()
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        for suite in dict.fromkeys(run["suite"] for run in stored["runs"]):
            tree = foreign.checked_out(given.sources, suite, where)
            programs = {program.name: program for program in foreign.SUITES[suite](tree)}
            built = {}
            for run in (r for r in stored["runs"] if r["suite"] == suite and r["program"] in programs):
                program = programs[run["program"]]
                binary, report = where / (program.name + ".out"), where / "report.json"
                if program.name not in built:
                    foreign.patched(tree, program)
                    built[program.name] = subprocess.run([given.program, "cc", *program.flags, *program.files, "-o", binary], cwd=tree, capture_output=True).returncode
                report.unlink(missing_ok=True)
                label = " ".join([program.name, *run["arguments"]])
                try:
                    status = subprocess.run([binary, *run["arguments"]], cwd=tree / program.folder, capture_output=True, timeout=foreign.SECONDS, stdin=subprocess.DEVNULL,
                                            env=os.environ | {"CORNERTURN_EMULATE": f"report={report}"}).returncode if built[program.name] == 0 else "does not compile"
                except subprocess.TimeoutExpired:
                    status = "timeout"
                if (run["exit"], status) != (0, 0):
                    skipped.append(f"{label}: exit {run['exit']} on the GPU, {status} in the emulator")
                if run["exit"] != 0 or status != 0 or not report.exists():
                    continue
                ours = {kernel["symbol"]: kernel for kernel in json.loads(report.read_text())["kernels"]}
                for symbol, theirs in run.get("kernels", {}).items():
                    if symbol not in ours:  # a kernel of cuBLAS
                        continue
                    kernels.add(symbol)
                    for metric in METRICS:
                        a, b = theirs.get(metric, 0), ours[symbol]["metrics"][metric]
                        if a == b:
                            equal += a != 0
                        else:
                            different.append({"run": label, "kernel": ours[symbol]["kernel"], "metric": metric, "gpu": a, "emulator": b,
                                              "sass": instructions_of(metric, theirs.get("sass", {}))})
    readings = equal + len(different)
    print(f"{equal} of {readings} nonzero readings are equal ({equal / max(readings, 1):.1%}), of {len(kernels)} kernels")
    for line in skipped:
        print("not compared:", line)
    if given.out:
        stored_json.store(pathlib.Path(given.out), {
            "device": stored["device"], "driver": stored["driver"], "commit": stored["commit"], "date": datetime.date.today().isoformat(),
            "emulator": foreign.revision(), "command": "scripts/foreign_counters.py compare", "kernels": len(kernels), "readings": readings, "equal": equal,
            "not_compared": skipped, "different": different})


def run_step(doc, steps):
    """The command line of a comparison. The keys of `steps` are functions called build, read and compare; each value lists the
    arguments of that step in addition to the common ones."""
    always = {"build": [("--binaries", {"required": True}), ("--nvcc", {"default": "nvcc"})],
              "read": [("--binaries", {"required": True}), ("--out", {"required": True}), ("--commit", {"default": ""}),
                       ("--ncu", {"default": "ncu"}), ("--seconds", {"type": float, "default": 480})],
              "compare": [("file", {}), ("--program", {"default": "build/cpu/bin/cornerturn"}), ("--out", {})]}
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for step, own in steps.items():
        add = commands.add_parser(step.__name__)
        add.set_defaults(run=step)
        for name, how in own + always[step.__name__]:
            add.add_argument(name, **how)
    given = parser.parse_args()
    if "program" in given:
        given.program = str(pathlib.Path(given.program).resolve())
    given.run(given)


if __name__ == "__main__":
    sources = ("--sources", {"required": True})
    run_step(__doc__, {build: [("suites", {"nargs": "+", "choices": foreign.SUITES}), sources], read: [], compare: [sources]})
