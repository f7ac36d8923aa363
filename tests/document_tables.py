"""The tables of the documents: each stands below a line <!-- marker -->, and is made of the stored measurements in results/."""

import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CORNERTURN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[1]))


# A program of the reader's own.
KERNEL = """
#include <cuda_runtime.h>
__global__ void add_one(float* x) { x[threadIdx.x] += 1; }
int main() {
    float* x;
    cudaMalloc(&x, 32 * sizeof(float));
    add_one<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
"""


def run(program, command, where=None):
    arguments = [program, *shlex.split(command, comments=True)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        # Without a GPU, as the documents say: on one, times would stand in the tables.
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "CORNERTURN_CACHE": f"{folder}/cache"}
        # The files that the documents speak of.
        elements = bytes(300 * 200 * 4)
        for name, descr, shape in (("matrix", "<f4", (300, 200)), ("images", "|u1", (4, 100, 200, 3))):
            header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
            pathlib.Path(folder, f"{name}.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + elements)
        pathlib.Path(folder, "matrix.bin").write_bytes(elements)
        pathlib.Path(folder, "results").symlink_to(ROOT / "results")
        shutil.copy(ROOT / "results/ladder_transpose_16384x16384_f32.json", pathlib.Path(folder, "ladder.json"))
        pathlib.Path(folder, "my_kernel.cu").write_text(KERNEL)
        return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=300, cwd=where or folder)


# Runs a command once, though several documents show it. Not for commands that write files.
run_once = functools.cache(run)


def compact(row):
    """A row of a table as narrow as it can be: columns that grow with their widest entry make long differences."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    if set(row) <= set("|-: "):
        return "|" + "|".join("---:" if cell.endswith(":") else "---" for cell in cells) + "|"
    return f"| {' | '.join(cells)} |"


def report(program, files, *more):
    """What the program reports on stored results."""
    command = shlex.join(["cornerturn", "report", *(f"results/{name}.json" for name in files), *more])
    done = (run if "--output" in more else run_once)(program, command, ROOT)
    if done.returncode != 0:
        sys.exit(f"docs_test.py: {files}: {done.stderr.strip()}")
    return done.stdout


def reported(program, name, heading):
    """The rows of the table below a heading of the report on a stored result, then the line on where it was measured."""
    text = report(program, [name], "--format", "markdown")
    if any(word in text for word in ("FAILED", "WRONG", "sampled")):
        sys.exit(f"docs_test.py: results/{name}.json holds what failed or was not verified")
    lines = text.partition(f"\n### {heading}\n")[2].splitlines()
    from_table = itertools.dropwhile(lambda line: not line.startswith("|"), lines)
    rows = [compact(row) for row in itertools.takewhile(lambda line: line.startswith("|"), from_table)]
    if len(rows) < 3:
        sys.exit(f"docs_test.py: the report on results/{name}.json has no table below '{heading}'")
    where = next(line for line in text.splitlines() if " commit " in line)
    return rows, where


def cells_of(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


def beside_cublas(program, *groups):
    """The rows of some groups of shapes, of the bench of products; each shape once."""
    rows, where = reported(program, "bench_gemm", "Beside cublasSgemm")
    cells = stored("bench_gemm")["cells"]
    if len(rows) != len(cells) + 2:
        sys.exit("docs_test.py: not every cell of results/bench_gemm.json has a row")
    found = {cells_of(row)[0]: row for row, cell in zip(rows[2:], cells) if cell["group"] in groups}
    return rows[:2] + list(found.values()), where


def joined(program, name, columns):
    """One table of some columns of a report's tables: (heading, column, name here)."""
    table, where = {}, ""
    for heading, column, _ in columns:
        rows, where = reported(program, name, heading)
        at = cells_of(rows[0]).index(column)
        for row in rows[2:]:
            table.setdefault(cells_of(row)[0], []).append(cells_of(row)[at])
    lines = ["| id | " + " | ".join(shown for _, _, shown in columns) + " |", "|---|" + "---:|" * len(columns)]
    return lines + [f"| {id} | " + " | ".join(cells) + " |" for id, cells in table.items()], where


def by_size(program, sizes, column, heading="Times"):
    """A column of a table of several ladders, a column each size: from the least to the most of its files."""
    columns = []
    for size, names in sizes.items():
        tables = [reported(program, name, heading) for name in names]
        at = cells_of(tables[0][0][0]).index(column)
        kernels = [cells_of(row)[0] for row in tables[0][0][2:]]
        found = [[cells_of(row)[at] for row in rows[2:]] for rows, _ in tables]
        columns.append((size, [min(each) if min(each) == max(each) else f"{min(each)}-{max(each)}" for each in zip(*found)]))
    lines = ["| kernel | " + " | ".join(head for head, _ in columns) + " |", "|---|" + "---:|" * len(columns)]
    lines += ["| " + " | ".join(cells) + " |" for cells in zip(kernels, *(column for _, column in columns))]
    return lines, re.sub(r"; memcpy.*", ".", tables[0][1])


def stored(name):
    return json.loads((ROOT / f"results/{name}.json").read_text())


def where_of(program, name):
    return next(line for line in report(program, [name], "--format", "markdown").splitlines() if " commit " in line)


def calls(program, name, groups):
    """How long small calls take, and each as a multiple of the first of its group."""
    document = stored(name)
    rows = [row for group in groups for row in document["rows"] if row["group"] == group]
    lines = ["| call | us | relative to the same library's first row |", "|---|---:|---:|"]
    lines += [f"| `{row['call']}` | {row['median_us']:.2f} | {row['ratio']:.2f} |" for row in rows]
    versions = ", ".join(f"{library} {version}" for library, version in document["versions"].items() if library in groups)
    return lines, f"{document['device']}, {versions}, commit {document['commit']}, {document['date']}; medians."


def from_python(program, names):
    """Ratios to memcpy over all cells of some benches: of the library, of the package, and of what people use."""
    cells = [cell for name in names for cell in stored(name)["cells"]]
    found = {"the library, from C++": [(cell["ratio"], cell["ratio"]) for cell in cells]}
    for peer, who in {"python": "this package", "torch_compile": "PyTorch compiled", "jax": "JAX", "torch": "PyTorch", "cupy": "CuPy"}.items():
        for cell in cells:
            entry = cell["peers"].get(peer, {"status": "none"})
            if entry["status"] == "ran":
                if not entry["verified"]:
                    sys.exit(f"docs_test.py: {peer} was wrong in {names}")
                found.setdefault(who, []).append((entry["ratio"], cell["ratio"]))
    lines = ["| | cells | least | median | most | of the library's speed, median |", "|---|" + "---:|" * 5]
    for who, ratios in found.items():
        its, relative = sorted(ratio for ratio, _ in ratios), sorted(ratio / ours for ratio, ours in ratios)
        middle = len(its) // 2
        lines.append(f"| {who} | {len(its)} | {its[0]:.2f} | {its[middle]:.2f} | {its[-1]:.2f} | {relative[middle]:.2f} |")
    return lines, where_of(program, names[0])


# Benches of shapes drawn at random: beside PyTorch, JAX and cuTENSOR; on a host of 16 cores beside numpy and PyTorch.
FRAMEWORKS = ["bench_random_transpose_3427", "bench_random_permute_3427"]
CORES = ["bench_host_16_cores_random_transpose_9202", "bench_host_16_cores_random_permute_9202"]
PEERS = {"copy@streamed": "streamed copy", "openblas": "OpenBLAS", "eigen": "Eigen", "hptt": "HPTT", "permute_hptt": "HPTT", "loop": "loop",
         "numpy": "numpy", "torch_host": "PyTorch", "copy": "copy kernel", "geam": "cuBLAS geam", "cutensor": "cuTENSOR",
         "torch": "PyTorch", "torch_compile": "PyTorch compiled", "jax": "JAX"}


def low(ratios, part):
    """Of sorted ratios the one below which such a part of them is."""
    found = ratios[int(part * len(ratios))]
    return f"{found:.2f}" if found >= 0.005 else f"{found:.1g}"


def beside_peers(names):
    """Yields (peer, cell, its ratio to memcpy) for each peer that ran in a cell of some benches."""
    for cell in (cell for name in names for cell in stored(name)["cells"]):
        for peer, entry in cell["peers"].items():
            if entry["status"] == "ran":
                if not entry["verified"]:
                    sys.exit(f"docs_test.py: {peer} was wrong in {names}")
                yield peer, cell, entry["ratio"]


def spread(program, names):
    """Ratios to the yardstick over all cells of some benches: the library's, and each peer's."""
    cells = [cell for name in names for cell in stored(name)["cells"]]
    figures = [cell.get("figure", cell["ratio"]) for cell in cells]
    ratios = {"cornerturn": list(zip(figures, figures))}
    for peer, cell, ratio in beside_peers(names):
        figure = cell.get("figure", cell["ratio"])  # to the ordered copy where the cell is compared with that
        ratios.setdefault(PEERS[peer], []).append((ratio * figure / cell["ratio"], figure))
    lines = ["| | cells | least | 1 % | 5 % | median | faster than cornerturn |", "|---|" + "---:|" * 6]
    for who, found in ratios.items():
        its = sorted(ratio for ratio, _ in found)
        numbers = [low(its, at) if at in (0, 0.5) or len(its) * at >= 1 else "-" for at in (0, 0.01, 0.05, 0.5)]
        ahead = sum(ratio > ours for ratio, ours in found)
        lines.append(f"| {who} | {len(its)} | {' | '.join(numbers)} | {'' if who == 'cornerturn' else ahead} |")
    return lines, where_of(program, names[0])


# Who is compared with in the README: a name, the peer, and the benches of shapes at random.
HEADLINE = [("PyTorch, `x.permute(axes).contiguous()`", "torch", "GPU", FRAMEWORKS), ("PyTorch compiled, the same", "torch_compile", "GPU", FRAMEWORKS),
            ("JAX, `jax.jit` of `jnp.transpose`", "jax", "GPU", FRAMEWORKS), ("cuTENSOR, permutations", "cutensor", "GPU", FRAMEWORKS),
            ("PyTorch on the CPU", "torch_host", "16 cores", CORES),
            ("numpy, `ascontiguousarray(x.transpose(axes))`, on one core", "numpy", "16 cores", CORES)]


def headline(program):
    """How many times as fast as others, over all cells of shapes drawn at random in which they ran."""
    lines = ["| compared with | on | cornerturn is, in the median | 5th to 95th percentile | shapes |", "|---|---|---:|---:|---:|"]
    for name, peer, where, benches in HEADLINE:
        times = sorted(cell["ratio"] / ratio for who, cell, ratio in beside_peers(benches) if who == peer)
        at = [times[int(part * (len(times) - 1))] for part in (0.05, 0.5, 0.95)]
        lines.append(f"| {name} | {where} | **{at[1]:.1f} times as fast** | {at[0]:.1f} to {at[2]:.1f} | {len(times)} |")
    # memcpy's own speed is in the tables of docs/performance.md.
    return lines, " ".join(re.sub("; memcpy [^.]*", "", where_of(program, benches[0])) for benches in (FRAMEWORKS, CORES))


RANDOM = {operation: [f"bench_random_{operation}_{seed}" for seed in (471, 472, 473)] for operation in ("transpose", "permute")}


def slow(program):
    """Of shapes drawn at random the slowest twentieth and the median, by kind and by size of the elements."""
    def shown(figures):
        return f"{low(sorted(figures), 0.05)} | {low(sorted(figures), 0.5)}" if len(figures) >= 20 else "- | -"

    cells = {operation: [cell for name in names for cell in stored(name)["cells"]] for operation, names in RANDOM.items()}
    kinds = sorted({cell["group"] for its in cells.values() for cell in its})
    sizes = sorted({cell["element_size"] for its in cells.values() for cell in its})
    rows = [(f"{size}-byte elements", "element_size", size) for size in sizes] + [(kind, "group", kind) for kind in kinds]
    lines = ["| shapes | transposes: 5 % | median | permutations: 5 % | median |", "|---|" + "---:|" * 4]
    for name, key, value in rows:
        its = [shown([cell["figure"] for cell in cells[operation] if cell[key] == value]) for operation in RANDOM]
        lines.append(f"| {name} | {' | '.join(its)} |")
    return lines, where_of(program, RANDOM["transpose"][0])


def random_products(program, names):
    """Ratios to cublasSgemm over all cells of some benches, by way of calling and by class of shape."""
    cells = [cell for name in names for cell in stored(name)["cells"]]
    classes = {"all": lambda cell: True, "narrow": lambda cell: min(cell["m"], cell["n"]) <= 64, "short k": lambda cell: cell["k"] <= 64,
               "neither": lambda cell: min(cell["m"], cell["n"], cell["k"]) > 64}
    lines = ["| way of calling | shapes | cells | least | 1 % | 5 % | 25 % | median |", "|---|---|" + "---:|" * 6]
    for way in ("one call", "twenty in a row", "workspace given"):
        for of, belongs in classes.items():
            its = sorted(next((w["ratio"] for w in cell["ways"] if w["way"] == way), cell["ratio"]) for cell in cells if belongs(cell))
            numbers = [f"{its[int(at * len(its))]:.2f}" for at in (0, 0.01, 0.05, 0.25, 0.5)]
            lines.append(f"| {way} | {of} | {len(its)} | {' | '.join(numbers)} |")
    return lines, where_of(program, names[0])


def caches(program, name):
    """Of each shape and element size the time, and that of the fastest peer as a multiple of it."""
    def shown(seconds):
        unit, scale = next((u, s) for u, s in (("ms", 1e3), ("us", 1e6), ("ns", 1e9)) if seconds * s >= 1)
        return f"{seconds * scale:.3g} {unit}"

    rows, sizes = {}, sorted({cell["element_size"] for cell in stored(name)["cells"]})
    for cell in stored(name)["cells"]:
        ours = cell["subject"]["time"]["median_s"]
        others = {PEERS[peer]: entry["time"]["median_s"] / ours for peer, entry in cell["peers"].items()
                  if entry["status"] == "ran" and peer != "copy@streamed"}
        fastest = min(others, key=others.get)
        rows.setdefault(cell["shape"], []).append(f"{shown(ours)}, {fastest} {others[fastest]:.2g}")
    lines = ["| shape | " + " | ".join(f"{size} B" for size in sizes) + " |", "|---|" + "---|" * len(sizes)]
    return lines + [f"| {shape} | " + " | ".join(found) + " |" for shape, found in rows.items()], where_of(program, name)


TIMES, COUNTS, ALONE = "Times", "Sectors and wavefronts", "Counted by the hardware only"
WHY = [(TIMES, "median us", "median us"), (TIMES, "of memcpy", "of memcpy"), (COUNTS, "wavefronts/request ld", "wavefronts a shared load"),
       (ALONE, "warp instructions", "instructions"), (ALONE, "occupancy %", "occupancy %"), (ALONE, "DRAM, % of peak", "DRAM %"),
       (ALONE, "longest wait", "longest wait, cycles an instruction")]
LAYOUTS = [(TIMES, "median us", "median us"), (TIMES, "of cublasSgemm", "of cublasSgemm"),
           (ALONE, "shared loads", "shared loads"), (ALONE, "wavefronts of shared loads", "wavefronts of shared loads"),
           (ALONE, "warp instructions", "instructions"), (ALONE, "longest wait", "longest wait, cycles an instruction")]
CAMPING = {str(n): [f"why_camping_{n}_{place}" for place in range(4)]
           for size in (8192, 16384, 24576, 32768) for n in (size, size + size // 32)}

# The documents' tables: the marker that they follow, and what makes them. Chinese documents have the same.
README_TABLES = {"headline": headline}
PERFORMANCE_TABLES = {
    "random:transpose": lambda program: spread(program, RANDOM["transpose"]),
    "random:permute": lambda program: spread(program, RANDOM["permute"]),
    "random:slow": slow,
    "random:frameworks:transpose": lambda program: spread(program, FRAMEWORKS[:1]),
    "random:frameworks:permute": lambda program: spread(program, FRAMEWORKS[1:]),
    "random:host:transpose": lambda program: spread(program, CORES[:1]),
    "random:host:permute": lambda program: spread(program, CORES[1:]),
    "bench:permute": lambda program: reported(program, "bench_permute", "Worst and median"),
    "bench:transpose": lambda program: reported(program, "bench_transpose", "Worst and median"),
    "bench:transpose:host": lambda program: reported(program, "bench_transpose_host", "Worst and median"),
    "ladder:16384x16384:f32": lambda program: reported(program, "ladder_transpose_16384x16384_f32", TIMES),
    "ladder:gemm:4096x4096x4096": lambda program: reported(program, "ladder_gemm_4096x4096x4096", TIMES),
    "bench:gemm": lambda program: beside_cublas(program, "squares"),
}
WHY_TABLES = {
    "why:conflicts": lambda program: joined(program, "why_conflicts", WHY),
    "why:coarsening": lambda program: joined(program, "why_coarsening", WHY),
    "why:vectors": lambda program: joined(program, "why_vectors", WHY),
    "why:layouts": lambda program: joined(program, "why_layouts", LAYOUTS),
    "why:camping": lambda program: by_size(program, CAMPING, "of memcpy"),
    "why:camping:counters": lambda program: by_size(program, {size: names[:1] for size, names in CAMPING.items()}, "DRAM, % of peak", ALONE),
}
SEEDS = (9101, 9102, 9103)
HOST_TABLES = {
    "host:transposes": lambda program: spread(program, [f"bench_host_random_transpose_{seed}" for seed in SEEDS]),
    "host:permutations": lambda program: spread(program, [f"bench_host_random_permute_{seed}" for seed in SEEDS]),
    "host:one:transposes": lambda program: spread(program, ["bench_host_random_transpose_1_thread_9104"]),
    "host:one:permutations": lambda program: spread(program, ["bench_host_random_permute_1_thread_9104"]),
    "host:published": lambda program: spread(program, ["bench_host_published"]),
    "host:caches": lambda program: caches(program, "bench_host_caches_1_thread"),
    "host:caches:all": lambda program: caches(program, "bench_host_caches"),
}
PRODUCT_TABLES = {
    "products:random": lambda program: random_products(program, [f"bench_random_gemm_{seed}" for seed in (8401, 8402, 8403)]),
    "products:squares": lambda program: beside_cublas(program, "small", "squares"),
    "products:others": lambda program: beside_cublas(program, "ragged", "oblong", "transposes", "padded"),
    "products:narrow": lambda program: beside_cublas(program, "narrow"),
    "products:batches": lambda program: beside_cublas(program, "batches"),
}
PYTHON_TABLES = {
    "python:permutations": lambda program: from_python(program, ["bench_python_permute"]),
    "python:transposes": lambda program: from_python(program, ["bench_python_transpose"]),
    "python:calls:torch": lambda program: calls(program, "calls/cuda", ["torch"]),
    "python:calls:others": lambda program: calls(program, "calls/cuda", ["cupy", "jax"]),
    "python:calls:numpy": lambda program: calls(program, "calls/host", ["numpy"]),
    "python:calls:torch:host": lambda program: calls(program, "calls/host", ["torch"]),
}
TABLES = {"README.md": README_TABLES, "README.zh-CN.md": README_TABLES, "docs/performance.md": PERFORMANCE_TABLES,
          "docs/host.md": HOST_TABLES, "docs/products.md": PRODUCT_TABLES, "docs/python.md": PYTHON_TABLES,
          "docs/why.md": WHY_TABLES, "docs/why.zh-CN.md": WHY_TABLES}


def with_tables(program, name, text):
    for marker, make in TABLES[name].items():
        before, found, after = text.partition(f"<!-- {marker} -->\n")
        if not found:
            sys.exit(f"docs_test.py: {name} has no line <!-- {marker} -->")
        rows, where = make(program)
        # What stands there: rows, an empty line, the line on where it was measured.
        text = before + found + "\n".join([*rows, "", where]) + "\n" + re.sub(r"\A(\|.*\n)*(\n.* commit .*\n)?", "", after)
    return text
