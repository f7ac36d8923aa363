#!/usr/bin/env python3
"""What README.md and HACKING.md say holds: their commands run and print what is pasted below them, the kernels that
they name exist, links in all documents lead somewhere, and README's tables are the stored measurements.

    tests/docs_test.py             checks, with the program at $CORNERTURN
    tests/docs_test.py --update    rewrites README's tables from results/
"""

import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CORNERTURN_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[1]))
COMMANDED = ["README.md", "HACKING.md"]
# HACKING.md's example is no kernel of this program: drop_in_test.py runs the commands that name it.
EXAMPLE = "transpose/turned_write"
# Who stands in the bench's table and chart: the key in a stored cell, and the name there.
CONTESTANTS = {"subject": "cornerturn", "geam": "cuBLAS geam", "torch": "PyTorch", "torch_compile": "PyTorch compiled", "jax": "JAX",
               "copy@streamed": "streamed copy", "openblas": "OpenBLAS", "eigen": "Eigen", "numpy": "numpy", "torch_host": "PyTorch"}
FRAMEWORKS = {"torch": "PyTorch", "jax": "JAX", "host": "PyTorch"}


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


def plain(line):
    """Columns are as wide as their widest entry, which another rung may change: spaces and rulers count as one."""
    return re.sub(r"-{3,}", "---", " ".join(line.split()))


def run(program, command):
    # Without a GPU, as the documents say: on one, times would stand in the tables.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    arguments = [program, *shlex.split(command)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        # The files that the documents speak of.
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 200), }\n".encode()
        elements = bytes(300 * 200 * 4)
        pathlib.Path(folder, "matrix.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + elements)
        pathlib.Path(folder, "matrix.bin").write_bytes(elements)
        return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=300, cwd=folder)


def check_command(program, command, pasted):
    """Yields what is wrong with a command and the lines pasted below it."""
    done = run(program, command)
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
        why = ("needs a GPU" if "--on cuda" in command else
               "has a placeholder" if re.search(r"<[^>]*>", command) else
               "names the example, which drop_in_test.py builds" if EXAMPLE in command + "".join(pasted) else None)
        if why:
            print(f"{name}: not run, {why}: {command}")
            continue
        print(f"{name}: {command} ({len(pasted)} lines)")
        yield from check_command(program, command, pasted)


def check_ids(program, name):
    kernels = json.loads(run(program, "cornerturn list --format json").stdout)["kernels"]
    known = {k["id"] for k in kernels} | {k["id"].split("@")[0] for k in kernels}
    families = "|".join(sorted({k["id"].split("/")[0] for k in kernels} | {"gemm"}))
    for spoken in re.findall(rf"`((?:{families})/\w+(?:@\w+)?)`", (ROOT / name).read_text()):
        if spoken not in known and not spoken.startswith(EXAMPLE):
            yield f"names the kernel {spoken}, which there is not"


def documents():
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if parts[0] != "build" and not any(part.startswith(".") for part in parts):
            yield path


def check_links(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for target in re.findall(r"\]\(([^)\s]+)", prose):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        if not (path.parent / target.split("#")[0]).exists():
            yield f"links to {target}, which there is not"


def measured_where(stored, device, yardsticks, yardstick="memcpy", unit="GB/s"):
    made = stored["provenance"]
    with_what = f"{device['cores']} cores" if device["kind"] == "host" else f"driver {device['driver']}, CUDA {device['cuda']}"
    return ["", f"{device['name']}, {with_what}, {made['date']}, commit {made['commit']}; "
                f"{yardstick} {min(yardsticks):,.0f} to {max(yardsticks):,.0f} {unit}."]


def ladder_table(stored):
    """One row a rung, then where it was measured."""
    lines = ["| id | median us | GB/s | of memcpy |", "|---|---:|---:|---:|"]
    yardsticks = []
    for r in stored["results"]:
        if r["status"] == "skipped":
            continue
        if r["verified"] is not True:
            sys.exit(f"docs_test.py: {r['kernel']} did not run, or was not verified")
        lines.append(f"| `{r['kernel']}` | {r['time']['median_s'] * 1e6:,.1f} | {r['bandwidth_gbps']:,.0f} | {r['ratio']:.3f} |")
        yardsticks.append(r["yardstick"]["bandwidth_gbps"])
    return lines + measured_where(stored, stored["results"][0]["device"], yardsticks)


def gemm_ladder_table(stored):
    """One row a rung, with note 002's figures, then where it was measured."""
    lines = ["| id | median us | GFLOP/s | of cublasSgemm | of peak | note 002: GFLOP/s | of its cublasSgemm |", "|---|---:|---:|---:|---:|---:|---:|"]
    ran = [r for r in stored["results"] if r["status"] == "ran"]
    noted = max(r.get("noted", {}).get("gflops", 0) for r in ran)
    for r in ran:
        if r["verified"] is not True:
            sys.exit(f"docs_test.py: {r['kernel']} was not verified")
        figure = r.get("noted", {}).get("gflops")
        there = f"{figure:,.0f} | {figure / noted:.2f}" if figure else "- | -"
        lines.append(f"| `{r['kernel']}` | {r['time']['median_s'] * 1e6:,.0f} | {r['gflops']:,.0f} | {r['ratio']:.3f} | {r['of_peak']:.2f} | {there} |")
    return lines + measured_where(stored, ran[0]["device"], [r["yardstick"]["gflops"] for r in ran], "cublasSgemm", "GFLOP/s")


def gemm_bench_table(stored):
    """One row a cell, then where it was measured."""
    lines = ["| m x n x k | TFLOP/s | of peak | cublasSgemm | ratio | error, of cuBLAS's |", "|---|---:|---:|---:|---:|---:|"]
    yardsticks = []
    for cell in stored["cells"]:
        if cell["status"] != "ran" or not all(cell[who].get("verified") for who in ("subject", "yardstick")):
            sys.exit(f"docs_test.py: {cell['shape']} did not run, or was not verified")
        ours, theirs = cell["subject"], cell["yardstick"]
        yardsticks.append(theirs["gflops"])
        lines.append(f"| {cell['shape']} | {ours['gflops'] / 1e3:.1f} | {ours['gflops'] / stored['peak_gflops']:.2f} | {theirs['gflops'] / 1e3:.1f} | "
                     f"{cell['ratio']:.3f} | {ours['error']['frobenius'] / theirs['error']['frobenius']:.2f} |")
    return lines + measured_where(stored, stored["device"], yardsticks, "cublasSgemm", "GFLOP/s")


def ratio_of(cell, contestant):
    """To memcpy in the same run; None where it did not run."""
    if cell["status"] != "ran":
        return None
    entry = cell["subject"] if contestant == "subject" else cell["peers"].get(contestant, {"status": "absent"})
    if entry["status"] == "ran" and entry["verified"] is not True:
        sys.exit(f"docs_test.py: {contestant} was wrong at {cell['shape']} of {cell['element_size']}")
    return entry.get("ratio")


def host_bench_table(stored):
    """Matrices of 64 MiB and more, about: smaller ones stay in the caches."""
    return bench_table(stored | {"cells": [cell for cell in stored["cells"] if cell["bytes"] >= 2 * 64e6]})


def bench_table(stored):
    """One row a group of shapes and element size: worst and median ratio of everyone, then where it was measured."""
    present = [c for c in CONTESTANTS if any(ratio_of(cell, c) is not None for cell in stored["cells"])]
    lines = ["| shapes | bytes | " + " | ".join(CONTESTANTS[c] for c in present) + " |", "|---|---:|" + "---:|" * len(present)]
    keys = dict.fromkeys((cell["group"], cell["element_size"]) for cell in stored["cells"])
    groups = list(dict.fromkeys(group for group, _ in keys))
    for group, size in sorted(keys, key=lambda key: (groups.index(key[0]), key[1])):
        cells = [cell for cell in stored["cells"] if (cell["group"], cell["element_size"]) == (group, size)]
        columns = []
        for contestant in present:
            ratios = [ratio for cell in cells if (ratio := ratio_of(cell, contestant)) is not None]
            columns.append(f"{min(ratios):.2f} / {statistics.median(ratios):.2f}" if ratios else "-")
        lines.append(f"| {group} | {size} | " + " | ".join(columns) + " |")
    yardsticks = [cell["yardstick"]["bandwidth_gbps"] for cell in stored["cells"] if cell["status"] == "ran"]
    where = measured_where(stored, stored["device"], yardsticks)
    for name, runs in stored.get("frameworks", {}).items():
        dates = sorted({run["date"] for run in runs})
        where[-1] += f" {FRAMEWORKS[name]} {', '.join(sorted({run['version'] for run in runs}))}: {', '.join(dates)}."
    return lines + where


# README's tables: the file in results/, what makes the lines of it, and the line of README that they follow.
TABLES = [("ladder_transpose_16384x16384_f32.json", ladder_table, "<!-- ladder:16384x16384:f32 -->"),
          ("bench_transpose.json", bench_table, "<!-- bench:transpose -->"),
          ("bench_transpose_host.json", host_bench_table, "<!-- bench:transpose:host -->"),
          ("ladder_gemm_4096x4096x4096.json", gemm_ladder_table, "<!-- ladder:gemm:4096x4096x4096 -->"),
          ("bench_gemm.json", gemm_bench_table, "<!-- bench:gemm -->")]


def replace_table(text, marker, lines):
    before, found, after = text.partition(marker + "\n")
    if not found:
        sys.exit(f"docs_test.py: README.md has no line {marker}")
    # What stands there: rows, an empty line, the line on where it was measured.
    return before + found + "\n".join(lines) + "\n" + re.sub(r"\A(\|.*\n)*(\n.* commit .*\n)?", "", after)


def with_tables(text):
    for name, table_of, marker in TABLES:
        stored = ROOT / "results" / name
        if stored.exists():
            text = replace_table(text, marker, table_of(json.loads(stored.read_text())))
        else:
            print(f"README.md: no table: there is no results/{name}")
    return text


def check_tables():
    text = (ROOT / "README.md").read_text()
    if with_tables(text) != text:
        yield "its tables are not those of results/: run tests/docs_test.py --update"


def main():
    if sys.argv[1:] == ["--update"]:
        readme = ROOT / "README.md"
        readme.write_text(with_tables(readme.read_text()))
        return
    if sys.argv[1:]:
        sys.exit("usage: docs_test.py [--update]")
    program = os.environ["CORNERTURN"]
    wrong = []
    for name in COMMANDED:
        wrong += [f"{name} {fault}" for fault in check_commands(program, name)]
        wrong += [f"{name} {fault}" for fault in check_ids(program, name)]
    for path in documents():
        wrong += [f"{path.relative_to(ROOT)} {fault}" for fault in check_links(path)]
    wrong += [f"README.md: {fault}" for fault in check_tables()]
    for fault in wrong:
        print(f"FAILED: {fault}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
