#!/usr/bin/env python3
"""Measures the ladders on a GPU and stores their results with their provenance.

    scripts/measure.py WHAT... --program build/device/bin/cornerturn --commit ID --out results/ [--ncu ncu] [--seed 1]

WHAT is one of:
  times      times of transposes, over sizes and dtypes
  counters   the hardware's counters, for the shapes with which tests/hardware_counters_test.cpp checks the emulator
  products   times and counters of products
  conversions  times of conversions, for docs/convert_steps.md
  why        the measurements behind docs/why.md
  all        all of these
  random     counters of transposes that are drawn from the seed, in one file
  shared     wavefronts of loads from shared memory. PROGRAM is bench/shared_loads, which draws the loads.
Except for `random` and `shared`, each file is the output of one `cornerturn ladder`. Needs only Python.
"""

import argparse
import csv
import datetime
import io
import json
import math
import pathlib
import random
import re
import subprocess
import sys

TIMED_SHAPES = [(4096, 4096), (16384, 16384), (32768, 32768), (10007, 10009)]
TIMED_DTYPES = ["f32", "f64", "u8"]

COUNTED = [(4096, 4096, "f32"), (4096, 4096, "f64"), (1021, 2000, "f32"), (700, 333, "f64"),
           (2048, 1024, "u16"), (2048, 1024, "u8"), (1000, 515, "c128")]

PRODUCTS_TIMED, PRODUCTS_COUNTED = [1024, 4096], 4096
MULTIPLY_ADDS = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"

# The drawn transposes: how many, the range of their sides, and their dtypes.
DRAWN, SIDES = 42, (1, 3000)
DTYPES = ["u8", "i8", "u16", "i16", "f16", "bf16", "u32", "i32", "f32", "u64", "i64", "f64", "c64", "c128"]

# The drawn loads from shared memory: how many, and their metric.
LOADS = 1500
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"

# The rungs that answer the questions of docs/why.md.
CONFLICTS = "shared@16x16,padded@16x16,shared@32x32,padded@32x32"
COARSENING = "padded@16x16,padded@16x4,padded@32x32,padded@32x8,padded@32x4,rolled@32x8"
VECTORS = "padded@32x32,padded@32x8,vectorized@8x32"
LAYOUTS = "strided@padded,strided@plain,blocked@plain,blocked@padded"
CAMPING = "copy/global@32x8,padded@32x8,diagonal@32x8,swizzled@64x64,kept@64x64,production"
# Multiples of 8192, and sizes that are 1/32 larger. All consist of whole tiles. Each is measured at several places in memory.
CAMPING_SIZES, PLACEMENTS = [8192, 8448, 16384, 16896, 24576, 25344, 32768, 33792], 4


def transposes(rows, cols, dtype, *more):
    return ["ladder", "transpose", "--rows", str(rows), "--cols", str(cols), "--dtype", dtype, *more]


# The conversions of docs/convert_steps.md, at the size of a GPU.
CONVERSIONS = {"16384x16384_f32_bf16": ["--shape", "16384,16384"],
               "16384x12288_bf16_e4m3fn": ["--shape", "16384,12288", "--dtype", "bf16", "--to", "e4m3fn", "--factors", "one"],
               "64x224x224x3_u8_f16": ["--shape", "64,224,224,3", "--axes", "0,3,1,2", "--dtype", "u8", "--to", "f16", "--factors", "each"]}


def multiplications(size, *more):
    return ["ladder", "gemm", "--m", str(size), *more]


def measurements(what):
    """Yields (file name, arguments)."""
    if what == "times":
        for rows, cols in TIMED_SHAPES:
            for dtype in TIMED_DTYPES:
                yield f"ladder_transpose_{rows}x{cols}_{dtype}", transposes(rows, cols, dtype)
    elif what == "counters":
        for rows, cols, dtype in COUNTED:
            yield f"counters_transpose_{rows}x{cols}_{dtype}", transposes(rows, cols, dtype, "--untimed", "--counters")
    elif what == "conversions":
        for name, options in CONVERSIONS.items():
            yield f"ladder_convert_{name}", ["ladder", "convert", *options]
    elif what == "products":
        for size in PRODUCTS_TIMED:
            yield f"ladder_gemm_{size}x{size}x{size}", multiplications(size)
        size = PRODUCTS_COUNTED
        yield f"counters_gemm_{size}x{size}x{size}", multiplications(size, "--untimed", "--counters", "--metrics", MULTIPLY_ADDS)
    else:
        for name, rungs in [("conflicts", CONFLICTS), ("coarsening", COARSENING), ("vectors", VECTORS)]:
            yield f"why_{name}", transposes(16384, 16384, "f32", "--rungs", rungs, "--counters")
        yield "why_layouts", multiplications(4096, "--rungs", LAYOUTS, "--counters")
        for size in CAMPING_SIZES:
            for placement in range(PLACEMENTS):
                where = ["--placement", str(placement)] if placement > 0 else ["--counters"]
                yield f"why_camping_{size}_{placement}", transposes(size, size, "f32", "--rungs", CAMPING, *where)


def measure(args, arguments):
    command = [args.program, *arguments, "--on", "cuda", "--format", "json"]
    named = ["--ncu", args.ncu] if args.ncu and "--counters" in arguments else []
    done = subprocess.run(command + named, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"measure.py: {' '.join(command)} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    document = json.loads(done.stdout)
    for result in document["results"]:
        if result["status"] == "ran" and result["verified"] is not True:
            sys.exit(f"measure.py: {result['kernel']} was not verified")
    return {"provenance": {"commit": args.commit, "date": datetime.date.today().isoformat(),
                           "command": " ".join(["cornerturn", *command[1:]]),
                           "cuda": document["results"][0]["device"]["cuda"]}, **document}


def store(path, document):
    """Writes one result per line, so that files are small and diffs are readable."""
    head = {key: value for key, value in document.items() if key != "results"}
    lines = ",\n".join("  " + json.dumps(result) for result in document["results"])
    path.write_text(json.dumps(head)[:-1] + ', "results": [\n' + lines + "\n]}\n")
    print(path, flush=True)


def draw(random, dtype):
    """Options of a transpose with random sides and at most 2^21 elements. Half have gaps after rows; half have offsets."""
    while True:
        rows, cols = (round(math.exp(random.uniform(math.log(SIDES[0]), math.log(SIDES[1])))) for _ in range(2))
        if 256 <= rows * cols <= 1 << 21:
            break
    work = {"rows": rows, "cols": cols, "dtype": dtype}
    if random.random() < 0.5:
        work |= {"source-ld": cols + random.randint(0, 9), "destination-ld": rows + random.randint(0, 9)}
    if random.random() < 0.5:
        work |= {"source-offset": random.randint(0, 5), "destination-offset": random.randint(0, 5)}
    return [word for name, value in work.items() for word in (f"--{name}", str(value))]


def measure_drawn(args):
    """Stores the options of each drawn transpose, and the readings of each kernel in the order of `metrics`."""
    drawn = random.Random(args.seed)
    document = {}
    for i in range(DRAWN):
        options = draw(drawn, DTYPES[i % len(DTYPES)])
        one = measure(args, ["ladder", "transpose", *options, "--untimed", "--counters"])
        ran = [result for result in one["results"] if "metrics" in result]
        metrics = list(ran[0]["metrics"])
        document = document or {"provenance": one["provenance"], "seed": args.seed, "metrics": metrics, "results": []}
        document["results"].append({
            "options": options,
            "readings": {result["kernel"]: [result["hardware"]["metrics"][metric] for metric in metrics] for result in ran}})
    document["provenance"]["command"] = f"scripts/measure.py random --seed {args.seed}"
    store(args.out / f"random_transpose_{args.seed}.json", document)


def measure_shared(args):
    """Stores each load as [bytes per lane, mask of active lanes, addresses, wavefronts]."""
    command = [args.ncu or "ncu", "--csv", "--metrics", WAVEFRONTS, args.program, str(args.seed), str(LOADS)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loads = [[int(word) for word in line.split()] for line in printed.splitlines() if re.fullmatch(r"[\d ]+", line)]
    readings = csv.DictReader(io.StringIO(printed[printed.index('"ID"'):]))
    read = [int(row["Metric Value"].replace(",", "")) for row in readings if row["Metric Name"] == WAVEFRONTS]
    if len(loads) != len(read) or len(read) != LOADS:
        sys.exit(f"measure.py: found {len(loads)} loads and {len(read)} readings: there must be {LOADS} of each")
    version = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    store(args.out / f"loads_{args.seed}.json", {
        "provenance": {"commit": args.commit, "date": datetime.date.today().isoformat(), "device": version.stdout.strip(),
                       "command": f"scripts/measure.py shared --program build/device/bench/shared_loads --seed {args.seed}"},
        "metric": WAVEFRONTS, "results": [[load[0], load[1], load[2:], cost] for load, cost in zip(loads, read)]})


def main():
    kinds = ["times", "counters", "products", "conversions", "why"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=[*kinds, "random", "shared", "all"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--commit", required=True, help="the commit from which the program was built")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--ncu", help="path of Nsight Compute's ncu, if the program does not find it")
    parser.add_argument("--seed", type=int, default=1, help="the seed for `random` and `shared`")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for what in kinds:
        if what in args.what or "all" in args.what:
            for name, arguments in measurements(what):
                store(args.out / f"{name}.json", measure(args, arguments))
    if "random" in args.what:
        measure_drawn(args)
    if "shared" in args.what:
        measure_shared(args)


if __name__ == "__main__":
    main()
