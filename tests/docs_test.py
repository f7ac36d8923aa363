#!/usr/bin/env python3
"""What the documents say holds: their commands run and print what is pasted below them, the kernels that they name exist,
links lead somewhere, and their tables and plots are those of the stored measurements.

    tests/docs_test.py             checks, with the program at $CORNERTURN
    tests/docs_test.py --update    rewrites the tables, the plots in docs/plots and docs/report.html, as it reports on results/
"""

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
COMMANDED = ["README.md", "README.zh-CN.md", "HACKING.md", "docs/permute.md", "docs/why.md", "docs/why.zh-CN.md"]
# HACKING.md's example is no kernel of this program: drop_in_test.py runs the commands that name it.
EXAMPLE = "transpose/column_write"


def fenced_blocks(text):
    """Yields (language, lines, directly) for each fenced block; directly: nothing stands between it and the last."""
    language, lines, directly = None, [], False
    for line in text.splitlines():
        if language is None and line.startswith("```"):
            language, lines = line[3:].strip(), []
        elif language is not None and line == "```":
            yield language, lines, directly
            language, directly = None, True
        elif language is not None:
            lines.append(line)
        elif line.strip():
            directly = False


def commands(text):
    """Yields (command, pasted lines) for each line of a sh block that runs cornerturn."""
    found = []
    for language, lines, directly in fenced_blocks(text):
        if language == "sh":
            found.append([])
            found[-1].extend([line.split("  #")[0].strip(), []] for line in lines if line.startswith("cornerturn "))
        elif language == "text" and directly and found and found[-1]:
            found[-1][-1][1] = [line for line in lines if line.strip() not in ("", "...")]
    return [tuple(command) for block in found for command in block]


def section(document, heading):
    return (ROOT / document).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def documented_files(heading):
    """The files of an example in docs/emulator.md: blocks that begin with a comment that names one."""
    named = [(re.fullmatch(r"(?://|#) (\S+\.\w+)", lines[0]), lines) for _, lines, _ in fenced_blocks(section("docs/emulator.md", heading)) if lines]
    return {name[1]: "\n".join(lines) + "\n" for name, lines in named if name}


def plain(line):
    """Columns are as wide as their widest entry, which another rung may change: spaces and rulers count as one."""
    return re.sub(r"-{3,}", "---", " ".join(line.split()))


def run(program, command, where=None):
    # Without a GPU, as the documents say: on one, times would stand in the tables.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    arguments = [program, *shlex.split(command)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        # The files that the documents speak of.
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 200), }\n".encode()
        elements = bytes(300 * 200 * 4)
        pathlib.Path(folder, "matrix.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + elements)
        pathlib.Path(folder, "matrix.bin").write_bytes(elements)
        pathlib.Path(folder, "results").symlink_to(ROOT / "results")
        shutil.copy(ROOT / "results/ladder_transpose_16384x16384_f32.json", pathlib.Path(folder, "ladder.json"))
        return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=300, cwd=where or folder)


# Runs a command once, though several documents show it. Not for commands that write files.
run_once = functools.cache(run)


def check_command(command, done, pasted):
    """Yields what is wrong with a command that has been run, or with the lines pasted below it."""
    if done.returncode != 0:
        yield f"`{command}` ended with {done.returncode}: {done.stderr.strip()}"
        return
    printed = {plain(line) for line in done.stdout.splitlines()}
    for line in pasted:
        if plain(line) not in printed:
            yield f"`{command}` does not print: {line}"


def check_commands(program, name):
    found = commands((ROOT / name).read_text())
    if not found:
        yield "shows no command at all"
    for command, pasted in found:
        if "--on cuda" in command:
            done = run_once(program, command)
            print(f"{name}: refused for want of a GPU alone: {command}")
            if done.returncode == 0 or "no GPU to run on" not in done.stderr:
                yield f"`{command}` is refused for something else than a GPU: {done.stderr.strip()}"
            continue
        why = ("has a placeholder" if re.search(r"<[^>]*>", command) else
               "names the example, which drop_in_test.py builds" if EXAMPLE in command + "".join(pasted) else None)
        if why:
            print(f"{name}: not run, {why}: {command}")
            continue
        print(f"{name}: {command} ({len(pasted)} lines)")
        yield from check_command(command, run_once(program, command), pasted)


def check_ids(program, name):
    kernels = json.loads(run(program, "cornerturn list --format json").stdout)["kernels"]
    known = {k["id"] for k in kernels} | {k["id"].split("@")[0] for k in kernels}
    families = "|".join(sorted({k["id"].split("/")[0] for k in kernels} | {"gemm"}))
    for spoken in re.findall(rf"`((?:{families})/[\w-]+(?:@\w+)?)`", (ROOT / name).read_text()):
        if spoken not in known and not spoken.startswith(EXAMPLE):
            yield f"names the kernel {spoken}, which there is not"


def documents():
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if parts[0] not in ("build", "venv") and not any(part.startswith(".") for part in parts):
            yield path


def check_links(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for target in re.findall(r"\]\(([^)\s]+)", prose):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        if not (path.parent / target.split("#")[0]).exists():
            yield f"links to {target}, which there is not"


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
    lines = ["| call | us | relative to the first row |", "|---|---:|---:|"]
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


PEERS = {"copy@streamed": "streamed copy", "openblas": "OpenBLAS", "eigen": "Eigen", "hptt": "HPTT", "permute_hptt": "HPTT", "loop": "loop",
         "numpy": "numpy", "torch_host": "PyTorch"}


def spread(program, names):
    """Ratios to memcpy over all cells of some benches: the library's, and each peer's."""
    cells = [cell for name in names for cell in stored(name)["cells"]]
    ratios = {"cornerturn": [(cell["ratio"], cell["ratio"]) for cell in cells]}
    for cell in cells:
        for peer, entry in cell["peers"].items():
            if entry["status"] == "ran":
                if not entry["verified"]:
                    sys.exit(f"docs_test.py: {peer} was wrong in {names}")
                ratios.setdefault(PEERS[peer], []).append((entry["ratio"], cell["ratio"]))
    lines = ["| | cells | least | 1 % | 5 % | median | faster than cornerturn |", "|---|" + "---:|" * 6]
    for who, found in ratios.items():
        its = sorted(ratio for ratio, _ in found)
        numbers = [f"{its[int(at * len(its))]:.2f}" for at in (0, 0.01, 0.05, 0.5)]
        ahead = sum(ratio > ours for ratio, ours in found)
        lines.append(f"| {who} | {len(its)} | {' | '.join(numbers)} | {'' if who == 'cornerturn' else ahead} |")
    return lines, where_of(program, names[0])


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
           (ALONE, "shared loads", "shared loads"), (ALONE, "their wavefronts", "their wavefronts"),
           (ALONE, "warp instructions", "instructions"), (ALONE, "longest wait", "longest wait, cycles an instruction")]
CAMPING = {str(n): [f"why_camping_{n}_{place}" for place in range(4)]
           for size in (8192, 16384, 24576, 32768) for n in (size, size + size // 32)}

# The documents' tables: the marker that they follow, and what makes them. Chinese documents have the same.
README_TABLES = {
    "ladder:16384x16384:f32": lambda program: reported(program, "ladder_transpose_16384x16384_f32", TIMES),
    "bench:transpose": lambda program: reported(program, "bench_transpose", "Worst and median"),
    "bench:transpose:host": lambda program: reported(program, "bench_transpose_host", "Worst and median"),
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
TABLES = {"docs/host.md": HOST_TABLES, "docs/products.md": PRODUCT_TABLES, "docs/python.md": PYTHON_TABLES, "README.md": README_TABLES, "README.zh-CN.md": README_TABLES, "docs/why.md": WHY_TABLES, "docs/why.zh-CN.md": WHY_TABLES}

# The plots in docs/plots, by the results that they are drawn from and their name among that report's plots.
PLOTS = {
    "bench_transpose": (["bench_transpose"], "bench_transpose"),
    "bench_transpose_heat": (["bench_transpose"], "bench_transpose_heat"),
    "bench_python_permute": (["bench_python_permute"], "bench_python_permute"),
    "ladder_transpose": (["ladder_transpose_16384x16384_f32"], "ladder_transpose_16384x16384_f32"),
    "bench_gemm_roofline": (["bench_gemm", "bench_transpose"], "bench_gemm_roofline"),
    **{f"why_{name}": ([f"why_{name}"], f"why_{name}") for name in ("conflicts", "coarsening", "vectors", "layouts")},
    "headline": (["bench_transpose", "bench_permute", "bench_host_16_cores_random_transpose_9202", "bench_host_16_cores_random_permute_9202"], "headline"),
    "why_camping": ([name for names in CAMPING.values() for name in names], "ladder_transpose_f32_sizes"),
}
# One that is drawn of the emulator's own trace.
PICTURE, PICTURED = "warp_shared_16x16", "cornerturn explain transpose/shared@16x16 --rows 64"
# The page of them all.
PAGE = "docs/report.html"
PAGE_RESULTS = ["ladder_transpose_16384x16384_f32", "counters_transpose_4096x4096_f32", "bench_transpose", "bench_transpose_host",
                "ladder_gemm_4096x4096x4096", "bench_gemm"]


def measured(name):
    """Of a stored ladder: time in us, and hardware counters, by kernel."""
    results = json.loads((ROOT / f"results/{name}.json").read_text())["results"]
    return {r["kernel"].split("/")[1]: (r["time"]["median_s"] * 1e6, r.get("hardware", {}).get("metrics", {})) for r in results if r["status"] == "ran"}


def figures():
    """What docs/why.md's sentences say, as the stored results have it."""
    shared_loads, wavefronts = "smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    times = {name: {k: time for k, (time, _) in measured(f"why_{name}").items()} for name in ("conflicts", "coarsening", "vectors", "layouts")}
    v2, v3 = times["coarsening"]["padded@16x16"], times["coarsening"]["padded@32x8"]
    yield f"v3 is {v2 / v3:.2f} times as fast as v2"
    yield f"{times['coarsening']['padded@32x32'] / v2 - 1:.0%}".replace("%", " % *slower* than v2")
    yield f"four elements each: it is {v2 / times['coarsening']['padded@16x4']:.2f} times as fast as v2"
    yield f"It is {v2 / times['coarsening']['rolled@32x8']:.2f} times as fast as v2"
    yield f"It gives the other {times['coarsening']['rolled@32x8'] / v3:.2f}."
    yield f"(`padded@32x4`) gain another {v3 / times['coarsening']['padded@32x4'] - 1:.0%}".replace("%", " %")
    yield f"on an H200 K2 is {times['vectors']['padded@32x32'] / times['vectors']['vectorized@8x32']:.1f} times as fast as K1"
    layouts = measured("why_layouts")
    yield f"{layouts['strided@plain'][1][shared_loads] / 1e6:,.0f} million loads of 4 bytes"
    yield f"{layouts['blocked@plain'][1][shared_loads] / 1e6:,.0f} million loads of 16 bytes, 3 wavefronts each, {layouts['blocked@plain'][1][wavefronts] / 1e6:,.0f} million in all"
    yield f"{layouts['blocked@padded'][1][shared_loads] / 1e6:,.0f} million loads are left"
    yield f"wavefronts each: {layouts['blocked@padded'][1][wavefronts] / 1e6:,.0f} million"
    yield f"On the H200 it is {times['layouts']['strided@padded'] / times['layouts']['blocked@plain']:.2f}"
    counted = measured_counters("counters_transpose_4096x4096_f32", "smsp__inst_executed.sum")
    yield f"`naive_read@32x32` executes {counted['naive_read@32x32'] / 1e6:.1f} million instructions and `padded@32x32` {counted['padded@32x32'] / 1e6:.1f} million"


    for size in (32768, 33792):
        dram = measured_counters(f"why_camping_{size}_0", "dram__throughput.avg.pct_of_peak_sustained_elapsed")
        yield f"{dram['kept@64x64']:.1f} %"
        yield f"{dram['padded@32x8']:.1f} %"
        yield f"{dram['production']:.1f} %"


def measured_counters(name, metric):
    results = json.loads((ROOT / f"results/{name}.json").read_text())["results"]
    return {r["kernel"].split("/")[1]: r["hardware"]["metrics"][metric] for r in results if r["status"] == "ran"}


def check_figures():
    text = " ".join((ROOT / "docs/why.md").read_text().split())
    for figure in figures():
        if figure not in text:
            yield f"does not say, as results/ have it: {figure}"


def with_tables(program, name, text):
    for marker, make in TABLES[name].items():
        before, found, after = text.partition(f"<!-- {marker} -->\n")
        if not found:
            sys.exit(f"docs_test.py: {name} has no line <!-- {marker} -->")
        rows, where = make(program)
        # What stands there: rows, an empty line, the line on where it was measured.
        text = before + found + "\n".join([*rows, "", where]) + "\n" + re.sub(r"\A(\|.*\n)*(\n.* commit .*\n)?", "", after)
    return text


def drawn(program):
    """Yields (path, text) of every generated file in docs/."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (results, plot) in PLOTS.items():
            report(program, results, "--plots", folder, "--output", f"{folder}/page.html")
            yield f"docs/plots/{name}.svg", pathlib.Path(folder, f"{plot}.svg").read_text()
        run(program, f"{PICTURED} --svg {folder}/{PICTURE}.svg")
        yield f"docs/plots/{PICTURE}.svg", pathlib.Path(folder, f"{PICTURE}.svg").read_text()
    yield PAGE, report(program, PAGE_RESULTS)


def generated(program):
    """Yields (path, text) of all that is made of results/."""
    for name in TABLES:
        yield name, with_tables(program, name, (ROOT / name).read_text())
    yield from drawn(program)


def main():
    program = os.environ["CORNERTURN"]
    if sys.argv[1:] == ["--update"]:
        (ROOT / "docs/plots").mkdir(exist_ok=True)
        for path, text in generated(program):
            (ROOT / path).write_text(text)
        return
    if sys.argv[1:]:
        sys.exit("usage: docs_test.py [--update]")
    wrong = []
    for name in COMMANDED:
        wrong += [f"{name} {fault}" for fault in check_commands(program, name)]
        wrong += [f"{name} {fault}" for fault in check_ids(program, name)]
    for path in documents():
        wrong += [f"{path.relative_to(ROOT)} {fault}" for fault in check_links(path)]
    wrong += [f"docs/why.md {fault}" for fault in check_figures()]
    for path, text in generated(program):
        if not (ROOT / path).exists() or (ROOT / path).read_text() != text:
            wrong.append(f"{path} is not what results/ and the program make of it: run tests/docs_test.py --update")
    for fault in wrong:
        print(f"FAILED: {fault}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
