#!/usr/bin/env python3
"""Runs CUDA programs of other projects in the emulator, and stores the results.

    scripts/foreign.py SUITE... --sources DIR [--program build/cpu/bin/cornerturn] [--only NAME] [--workers N] [--out results/emulate/]

SUITE: sgemm, llm or samples. DIR has clones of the repositories below, in folders of their names. Only names, commits and
results of these repositories are stored here. The patches below change only sizes, repeat counts and paths of a program, and
are stored with the results. A run may take five minutes. Needs Python and git.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import stored_json

SECONDS = 300

REPOSITORIES = {
    "sgemm": ("siboehm/SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8"),
    "llm": ("karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a"),
    "samples": ("NVIDIA/cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420"),
}

# ---- llm.c dev/cuda ----

SMALLER = [(r"\bint B = \d+;", "int B = 1;"), (r"\bint64_t B = \d+;", "int64_t B = 1;"),
           (r"\brepeat_times = \d+;", "repeat_times = 1;"), (r"\bint V = 50257;", "int V = 5003;"),
           (r"\bint64_t V = 50257;", "int64_t V = 5003;")]
SHORTER = [(r"\bint T = 1024;", "int T = 128;"), (r"\bint64_t T = 1024;", "int64_t T = 128;")]
NARROWER = [(r"\bint C = \d+;", "int C = 192;"), (r"\bint NH = 12;", "int NH = 3;")]
# Programs, the kernel numbers of each, and further patches.
LLM = {
    "adamw": (range(1, 3), []),
    "attention_backward": (range(1, 9), SHORTER + NARROWER),
    "attention_forward": (range(1, 7), SHORTER + NARROWER),
    "classifier_fused": (range(1, 6), SHORTER),
    "crossentropy_forward": ([1], SHORTER),
    "crossentropy_softmax_backward": ([1], SHORTER),
    "encoder_backward": (range(1, 3), []),
    "encoder_forward": (range(1, 4), []),
    "fused_residual_forward": (range(1, 7), []),
    "gelu_backward": (range(1, 3), []),
    "gelu_forward": (range(1, 3), []),
    "global_norm": (range(1, 4), [(r"\bint L = 12;", "int L = 1;"), (r"\bint C = 768;", "int C = 192;")]),
    "layernorm_backward": (range(2, 11), [(r"\bint C = 1600;", "int C = 768;")]),
    "layernorm_forward": (range(1, 7), []),
    "matmul_backward": ([1], SHORTER + NARROWER),
    "matmul_backward_bias": ([1, 2, 3, 4, 7, 8, 9], SHORTER),
    "matmul_forward": (range(1, 5), SHORTER + NARROWER),
    "permute": ([None], []),
    "residual_forward": (range(1, 3), []),
    "softmax_forward": (range(1, 9), SHORTER),
    "trimat_forward": (range(0, 5), SHORTER + NARROWER),
}

# ---- SGEMM_CUDA ----

SGEMM_PATCHES = [(r"std::vector<int> SIZE = \{[^}]*\};", "std::vector<int> SIZE = {128, 256};"),
                 (r"int repeat_times = \d+;", "int repeat_times = 1;")]


class Program:
    def __init__(self, name, files, flags=(), patches=(), runs=((),), headers=(), folder=""):
        self.name, self.files, self.flags, self.patches, self.runs = name, files, list(flags), list(patches), list(runs)
        self.headers = list(headers)  # these are patched, too
        self.folder = folder  # the working directory, relative to the repository


def llm_programs(tree):
    for name, (kernels, more) in LLM.items():
        runs = [() if k is None else (str(k),) for k in kernels]
        yield Program(name, [f"dev/cuda/{name}.cu"], ["-O3", "--use_fast_math", "-Xcompiler", "-fopenmp", "-lcublas", "-lcublasLt"],
                      SMALLER + more, runs, folder="dev/cuda")


def sgemm_programs(tree):
    yield Program("sgemm", ["sgemm.cu", "src/runner.cu"], ["-O3", "-Isrc", "-lcublas"], SGEMM_PATCHES,
                  [(str(k),) for k in range(1, 11)])


# Samples with one of these are skipped: graphics, textures and surfaces, CUDA's libraries, NVRTC, the driver API, several
# GPUs or peer access, other processes, other systems.
NOT_HERE = re.compile(r"cuda(CreateTextureObject|BindTexture|CreateSurfaceObject|Graphics|GL|MallocArray|Malloc3DArray|Ipc\w+|DeviceEnablePeerAccess"
                      r"|D3D|ImportExternal)|\btex[123]D|texture<|#include\s*[<\"](GL/|helper_gl|d3d|nvrtc|cuda\.h|cudaEGL|cufft|curand|cusolver|cusparse|npp|"
                      r"nvjpeg|cublas|thrust|cub/|mpi\.h|vulkan|nvJitLink|FreeImage|cuda_d3d|nvscibuf|cufftXt|cusolverDn|nvrtc_helper)|\bcu[A-Z]\w+\s*\(")
SAMPLE_PATCHES = {
    "BlackScholes": [(r"NUM_ITERATIONS = 512", "NUM_ITERATIONS = 1")],
    "LargeKernelParameter": [(r"TEST_ITERATIONS     \(1000\)", "TEST_ITERATIONS (10)")],
    "alignedTypes": [(r"MEM_SIZE       = 50000000", "MEM_SIZE = 1000000"), (r"NUM_ITERATIONS = 32", "NUM_ITERATIONS = 1")],
    "binomialOptions": [(r"MAX_OPTIONS 1024", "MAX_OPTIONS 32")],
    "convolutionSeparable": [(r"const int iterations = 16;", "const int iterations = 1;"), (r"= 3072;", "= 768;")],
    "dxtc": [(r"int numIterations = 1;", "int numIterations = 0;")],  # the first run is not counted
    "eigenvalues": [(r"iters_timing = 100\b", "iters_timing = 1")],
    "fastWalshTransform": [(r"log2Data   = 23;", "log2Data = 20;")],
    "globalToShmemAsyncCopy": [(r"int nIter = 100;", "int nIter = 1;"), (r"10 \* 4 \* matrixBlock", "4 * matrixBlock")],
    "graphMemoryFootprint": [(r"bytes  = 64 \* 1024 \* 1024", "bytes = 256 * 1024")],
    "histogram": [(r"numRuns    = 16", "numRuns = 1"), (r"64 \* 1048576", "4 * 1048576")],
    "interval": [(r"NUM_RUNS \(100\)", "NUM_RUNS (1)"), (r"GRID_SIZE    = 1024", "GRID_SIZE = 16")],
    "matrixMul": [(r"int nIter = 300;", "int nIter = 1;")],
    "mergeSort": [(r"4 \* 1048576", "524288")],
    "quasirandomGenerator": [(r"const int N = 1048576;", "const int N = 131072;")],
    "reduction": [(r"= 1 << 24;", "= 1 << 20;"), (r"testIterations = 100;", "testIterations = 1;")],
    "reductionMultiBlockCG": [(r"= 1 << 25;", "= 1 << 22;"), (r"testIterations = 100;", "testIterations = 1;")],
    "scan": [(r"13 \* 1048576 / 2", "1048576 / 2"), (r"iCycles = 100\b", "iCycles = 1")],
    "simpleAttributes": [(r"0xAFFFF", "0xFFF"), (r"deviceProp\.maxGridSize\[1\]", "1024")],
    "simpleStreams": [(r"nreps = 100;", "nreps = 1;"), (r"niterations = 5;", "niterations = 1;")],
    "sortingNetworks": [(r"= 1048576;", "= 65536;")],
    "threadFenceReduction": [(r"testIterations = 100;", "testIterations = 1;")],
    "transpose": [(r"NUM_REPS 100", "NUM_REPS 1")],
    "warpAggregatedAtomicsCG": [(r"NUM_ELEMS             10000000", "NUM_ELEMS 1000000")],
}
SAMPLE_FLAGS = {"cudaOpenMP": ["-Xcompiler", "-fopenmp"]}
SAMPLE_RUNS = {}


def sample_programs(tree):
    for folder in sorted(p.parent for p in tree.glob("Samples/[0-6]_*/*/CMakeLists.txt")):
        if any(word in folder.name for word in ("nvrtc", "Drv", "GL", "D3D", "Vulkan", "vulkan", "MPI", "IPC", "P2P", "EGL", "NvSci")):
            continue
        sources = sorted(p for p in folder.iterdir() if p.suffix in (".cu", ".cpp", ".cc"))
        texts = "\n".join(p.read_text(encoding="utf-8", errors="replace") for p in folder.rglob("*") if p.suffix in (".cu", ".cuh", ".cpp", ".h", ".hpp", ".cc"))
        if not any(p.suffix == ".cu" for p in sources) or NOT_HERE.search(texts):
            continue
        name = folder.name
        headers = [str(p.relative_to(tree)) for p in sorted(folder.iterdir()) if p.suffix in (".h", ".hpp", ".cuh")]
        yield Program(name, [str(p.relative_to(tree)) for p in sources], ["-O2", "-ICommon", *(["-rdc=true"] if "cdp" in name else []), *SAMPLE_FLAGS.get(name, [])],
                      SAMPLE_PATCHES.get(name, []), SAMPLE_RUNS.get(name, [()]), headers, folder=str(folder.relative_to(tree)))


SUITES = {"sgemm": sgemm_programs, "llm": llm_programs, "samples": sample_programs}


def checked_out(sources, suite, where):
    name, commit = REPOSITORIES[suite]
    clone = pathlib.Path(sources) / name.split("/")[1]
    tree = where / suite
    tree.mkdir()
    listing = subprocess.run(["git", "-C", clone, "ls-tree", "-r", "--name-only", commit], check=True, capture_output=True, text=True).stdout
    for path in listing.splitlines():
        if suite == "samples" and not re.match(r"(Common|Samples/[0-6]_)", path):
            continue
        blob = subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], capture_output=True)
        if blob.returncode == 0 and len(blob.stdout) < 4_000_000:
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(blob.stdout)
    return tree


def patched(tree, program):
    """Changes the files of the program, and returns a list of the changes."""
    done = []
    for file in program.files + program.headers:
        path = tree / file
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        for pattern, replacement in program.patches:
            text, count = re.subn(pattern, replacement, text)
            if count:
                done.append(f"{file}: {pattern} -> {replacement} ({count})")
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return done


def revision():
    """The commit of this project, whose emulator runs."""
    return subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()


def last_lines(text, where, count=6):
    return [line[:300] for line in text.replace(f"{where}/", "").strip().splitlines()[-count:]]


def run_one(program, tree, cornerturn, where, seconds, workers):
    result = {"program": program.name, "files": program.files, "flags": program.flags, "patches": patched(tree, program), "runs": []}
    binary = where / (program.name + ".out")
    begun = time.monotonic()
    compiled = subprocess.run([cornerturn, "cc", *program.flags, *program.files, "-o", binary], cwd=tree, capture_output=True, text=True, errors="replace", timeout=900)
    result["compile_seconds"] = round(time.monotonic() - begun, 1)
    if compiled.returncode != 0:
        errors = [line for line in compiled.stderr.splitlines() if "error:" in line or "undefined" in line or line.startswith("cornerturn")]
        result["compile_errors"] = [line[:300] for line in errors[:5]]
        return result
    left = seconds
    for arguments in program.runs:
        report = where / "report.json"
        report.unlink(missing_ok=True)
        begun = time.monotonic()
        run = {"arguments": list(arguments)}
        try:
            done = subprocess.run([binary, *arguments], cwd=tree / program.folder, capture_output=True, text=True, errors="replace", timeout=max(left, 1), stdin=subprocess.DEVNULL,
                                  env=os.environ | {"CORNERTURN_EMULATE": f"report={report},workers={workers}"})
            run["exit"] = done.returncode
            run["output"] = last_lines(done.stdout, where)
            run["errors"] = last_lines(done.stderr, where)
        except subprocess.TimeoutExpired:
            run["exit"] = "timeout"
        run["seconds"] = round(time.monotonic() - begun, 1)
        left -= run["seconds"]
        if report.exists():
            kernels = json.loads(report.read_text())["kernels"]
            run["kernels"] = len(kernels)
            run["accesses"] = sum(k["accesses"] for k in kernels)
            run["kernel_seconds"] = round(sum(k["seconds"] for k in kernels), 3)
            run["hazards"] = [f"{h['kind']}: {h['message']}" for k in kernels for h in k["hazards"]]
        result["runs"].append(run)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", choices=SUITES, metavar="SUITE")
    parser.add_argument("--sources", required=True)
    parser.add_argument("--program", default="build/cpu/bin/cornerturn")
    parser.add_argument("--only")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--workers", type=int, default=0, help="number of CPU threads (0: one for each core)")
    parser.add_argument("--out")
    given = parser.parse_args()
    cornerturn = pathlib.Path(given.program).resolve()
    for suite in given.suites:
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            tree = checked_out(given.sources, suite, where)
            results = []
            for program in SUITES[suite](tree):
                if given.only and not re.fullmatch(given.only, program.name):
                    continue
                result = run_one(program, tree, cornerturn, where, given.seconds, given.workers)
                results.append(result)
                for run in result["runs"] or [{"exit": "does not compile", "errors": result.get("compile_errors", [])}]:
                    passed = run["exit"] == 0
                    print(program.name, *run.get("arguments", []), "ok" if passed else f"FAILED ({run['exit']})", f"{run.get('seconds', 0)} s", f"{run.get('accesses', 0) / 1e6:.1f} M", flush=True)
                    for line in [] if passed and not run.get("hazards") else run.get("hazards", [])[:3] + ([] if passed else run.get("errors", []) + run.get("output", [])):
                        print("   ", line, flush=True)
            good = sum(all(run["exit"] == 0 for run in r["runs"]) and bool(r["runs"]) for r in results)
            runs = [run for result in results for run in result["runs"] if "kernels" in run]
            accesses, kernel_seconds = (sum(run[what] for run in runs) for what in ("accesses", "kernel_seconds"))
            print(f"{suite}: {good} of {len(results)} programs; {accesses / 1e6 / max(kernel_seconds, 1e-9):.0f} million accesses a second in kernels", flush=True)
            if given.out:
                name, commit = REPOSITORIES[suite]
                path = pathlib.Path(given.out) / f"{suite}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                stored_json.store(path, {"repository": name, "commit": commit, "emulator": revision(), "date": datetime.date.today().isoformat(), "seconds_a_program": given.seconds, "workers": given.workers,
                                            "accesses": accesses, "kernel_seconds": round(kernel_seconds, 1), "programs": results})


if __name__ == "__main__":
    main()
