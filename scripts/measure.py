#!/usr/bin/env python3
"""Measures the ladder on a GPU and stores what it gave, with where it came from.

    scripts/measure.py times    --program build/device/bin/cornerturn --commit ID --out results/
    scripts/measure.py counters --program build/device/bin/cornerturn --commit ID --out results/ [--ncu ncu]
    scripts/measure.py products --program build/device/bin/cornerturn --commit ID --out results/ [--ncu ncu]

`times` runs `cornerturn ladder transpose` over sizes and dtypes. `counters` reads every variant's counters with
Nsight Compute over the shapes that tests/hardware_counters_test.cpp compares the emulator with. `products` does both for
`cornerturn ladder gemm`, with what tells why one multiplication beats another. Needs Python alone.
"""

import argparse
import csv
import datetime
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMED_SHAPES = [(4096, 4096), (16384, 16384), (32768, 32768), (10007, 10009)]
TIMED_DTYPES = ["f32", "f64", "u8"]

COUNTED = [(4096, 4096, "f32"), (4096, 4096, "f64"), (1021, 2000, "f32"), (700, 333, "f64"),
           (2048, 1024, "u16"), (2048, 1024, "u8"), (1000, 515, "c128")]

# What the emulator knows ...
MODELLED = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
]
# ... and what only hardware can tell: instructions as compiled, and counters that include lost arbitration.
HARDWARE_ONLY = [
    "smsp__inst_executed.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
]
# Of multiplications: what they execute, and what their warps wait for.
PRODUCTS_TIMED, PRODUCTS_COUNTED = [1024, 4096], 4096
STALLS = ["barrier", "dispatch_stall", "long_scoreboard", "math_pipe_throttle", "mio_throttle", "not_selected",
          "short_scoreboard", "wait"]
EXECUTION = ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "sm__cycles_elapsed.max",
             "smsp__issue_active.avg.pct_of_peak_sustained_active", "launch__registers_per_thread"]
EXECUTION += [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in STALLS]
LIBRARY = "transpose/production"  # one of many kernels, by shape: no rung of its own
RUNG_KERNELS = r"^(copy|transpose)_"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"measure.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout


def ladder_command(program, rows, cols, dtype, *more):
    return [program, "ladder", "transpose", "--rows", str(rows), "--cols", str(cols), "--dtype", dtype,
            "--on", "cuda", "--format", "json", *more]


def provenance(args, command, cuda):
    return {
        "commit": args.commit,
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["cornerturn"] + command[1:]),
        "cuda": cuda,
    }


def store(path, document):
    """One result a line: small, and readable in a diff."""
    head = {key: value for key, value in document.items() if key != "results"}
    lines = ",\n".join("  " + json.dumps(result) for result in document["results"])
    text = json.dumps(head)[:-1] + ', "results": [\n' + lines + "\n]}\n"
    json.loads(text)
    path.write_text(text)
    print(path)


def times(args):
    for rows, cols in TIMED_SHAPES:
        for dtype in TIMED_DTYPES:
            command = ladder_command(args.program, rows, cols, dtype)
            document = json.loads(run(command))
            cuda = next(r["device"]["cuda"] for r in document["results"])
            document["provenance"] = provenance(args, command, cuda)
            store(args.out / f"ladder_transpose_{rows}x{cols}_{dtype}.json", document)


def read_ncu(text, metrics=(*MODELLED, *HARDWARE_ONLY), number=lambda text: int(float(text))):
    """Yields (kernel name, {metric: number}) for each kernel of `ncu --csv --page raw`."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = csv.DictReader(io.StringIO("\n".join(lines[first:])))
    next(rows)  # units
    for row in rows:
        name = row["Kernel Name"].removeprefix("void ").split("::")[-1]
        yield name, {m: number(row[m].replace(",", "")) for m in metrics}


def counters(args):
    version = re.search(r"Version (\S+)", run([args.ncu, "--version"])).group(1)
    for rows, cols, dtype in COUNTED:
        with tempfile.TemporaryDirectory() as scratch:
            output = os.path.join(scratch, "ladder.json")
            command = [args.ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
                       "--kernel-name", "regex:" + RUNG_KERNELS, "--metrics", ",".join(MODELLED + HARDWARE_ONLY),
                       *ladder_command(args.program, rows, cols, dtype, "--untimed")]
            command += ["--output", output]
            profiled = list(read_ncu(run(command)))
            ladder = json.loads(pathlib.Path(output).read_text())["results"]
        results = []
        for result in ladder:
            if result["status"] != "ran":
                continue
            if result["verified"] is not True:
                sys.exit(f"measure.py: {result['kernel']} was not verified")
            launches = 1 if result["kernel"] == LIBRARY else result["launch"].get("launches", 1)
            mine, profiled = profiled[:launches], profiled[launches:]
            if result["kernel"] == LIBRARY:
                continue
            stem = result["kernel"].split("@")[0].replace("/", "_")
            if any(not name.startswith(stem) for name, _ in mine):
                sys.exit(f"measure.py: expected kernels of {result['kernel']}, profiled {[name for name, _ in mine]}")
            total = {m: sum(metrics[m] for _, metrics in mine) for m in MODELLED + HARDWARE_ONLY}
            results.append({"kernel": result["kernel"], "rows": rows, "cols": cols, "dtype": dtype,
                            "device": result["device"], "launch": result["launch"],
                            "metrics": {m: total[m] for m in MODELLED},
                            "hardware_only": {m: total[m] for m in HARDWARE_ONLY}})
        if profiled:
            sys.exit(f"measure.py: kernels that belong to no rung: {[name for name, _ in profiled]}")
        store(args.out / f"counters_transpose_{rows}x{cols}_{dtype}.json",
              {"provenance": {**provenance(args, command[command.index(args.program):-2], results[0]["device"]["cuda"]),
                              "ncu": version}, "results": results})


def products(args):
    def ladder(size, *more):
        return [args.program, "ladder", "gemm", "--m", str(size), "--on", "cuda", "--format", "json", *more]

    for size in PRODUCTS_TIMED:
        document = json.loads(run(ladder(size)))
        cuda = next(r["device"]["cuda"] for r in document["results"])
        document["provenance"] = provenance(args, ladder(size), cuda)
        store(args.out / f"ladder_gemm_{size}x{size}x{size}.json", document)
    # The production kernels are the library's affair, and cuBLAS's cuBLAS's.
    rungs = {r["kernel"]: r for r in document["results"] if r["status"] == "ran" and r["kernel"].split("/")[1] not in ("production", "cublas")}
    metrics = MODELLED + HARDWARE_ONLY + EXECUTION
    kernels = sorted({id.split("@")[0].replace("/", "_") for id in rungs})
    command = [args.ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
               "--kernel-name", "regex:^(" + "|".join(kernels) + ")", "--metrics", ",".join(metrics)]
    command += ladder(PRODUCTS_COUNTED, "--untimed", "--output", os.devnull)
    profiled = list(read_ncu(run(command), metrics, lambda text: float(text) if "." in text else int(text)))
    if len(profiled) != len(rungs):
        sys.exit(f"measure.py: {len(rungs)} rungs, profiled {[name for name, _ in profiled]}")
    results = []
    for id, (name, found) in zip(rungs, profiled):
        if not name.startswith(id.split("@")[0].replace("/", "_")):
            sys.exit(f"measure.py: expected a kernel of {id}, profiled {name}")
        results.append({"kernel": id, "m": PRODUCTS_COUNTED, "n": PRODUCTS_COUNTED, "k": PRODUCTS_COUNTED,
                        "device": rungs[id]["device"], "metrics": {m: found[m] for m in MODELLED},
                        "hardware_only": {m: found[m] for m in HARDWARE_ONLY + EXECUTION}})
    version = re.search(r"Version (\S+)", run([args.ncu, "--version"])).group(1)
    store(args.out / f"counters_gemm_{PRODUCTS_COUNTED}x{PRODUCTS_COUNTED}x{PRODUCTS_COUNTED}.json",
          {"provenance": {**provenance(args, command[command.index(args.program):-2], cuda), "ncu": version}, "results": results})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["times", "counters", "products"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--commit", required=True, help="of the source that the program was built from")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--ncu", default="ncu")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    {"times": times, "counters": counters, "products": products}[args.what](args)


if __name__ == "__main__":
    main()
