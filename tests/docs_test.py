#!/usr/bin/env python3
"""What README.md and HACKING.md say holds: their commands run and print what is pasted below them, the kernels that
they name exist, links in all documents lead somewhere, and README's tables and its chart are the stored measurements.

    tests/docs_test.py             checks, with the program at $CORNERTURN
    tests/docs_test.py --update    rewrites README's tables and docs/bench_transpose.svg, as it reports on results/
"""

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
COMMANDED = ["README.md", "HACKING.md"]
# HACKING.md's example is no kernel of this program: drop_in_test.py runs the commands that name it.
EXAMPLE = "transpose/turned_write"
CHART = ROOT / "docs/bench_transpose.svg"


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
        shutil.copy(ROOT / "results" / TABLES[0][0], pathlib.Path(folder, "ladder.json"))
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


def compact(row):
    """A row of a table as narrow as it can be: columns that grow with their widest entry make long differences."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    if set(row) <= set("|-: "):
        return "|" + "|".join("---:" if cell.endswith(":") else "---" for cell in cells) + "|"
    return f"| {' | '.join(cells)} |"


def reported_table(program, name, heading):
    """The table below a heading of the report on a stored result, then the line on where it was measured."""
    done = run(program, f"cornerturn report {shlex.quote(str(ROOT / 'results' / name))} --format markdown")
    if done.returncode != 0:
        sys.exit(f"docs_test.py: results/{name}: {done.stderr.strip()}")
    if any(word in done.stdout for word in ("FAILED", "WRONG", "sampled")):
        sys.exit(f"docs_test.py: results/{name} holds what failed or was not verified")
    lines = done.stdout.partition(f"\n### {heading}\n")[2].splitlines()
    from_table = itertools.dropwhile(lambda line: not line.startswith("|"), lines)
    rows = itertools.takewhile(lambda line: line.startswith("|"), from_table)
    where = next(line for line in lines if " commit " in line)
    return [*map(compact, rows), "", where]


# README's tables: the file in results/, the heading in its report, and the line of README that they follow.
TABLES = [("ladder_transpose_16384x16384_f32.json", "Times", "<!-- ladder:16384x16384:f32 -->"),
          ("bench_transpose.json", "Worst and median", "<!-- bench:transpose -->"),
          ("bench_transpose_host.json", "Worst and median", "<!-- bench:transpose:host -->"),
          ("ladder_gemm_4096x4096x4096.json", "Times", "<!-- ladder:gemm:4096x4096x4096 -->"),
          ("bench_gemm.json", "Beside cuBLAS", "<!-- bench:gemm -->")]


def replace_table(text, marker, lines):
    before, found, after = text.partition(marker + "\n")
    if not found:
        sys.exit(f"docs_test.py: README.md has no line {marker}")
    # What stands there: rows, an empty line, the line on where it was measured.
    return before + found + "\n".join(lines) + "\n" + re.sub(r"\A(\|.*\n)*(\n.* commit .*\n)?", "", after)


def with_tables(program, text):
    for name, heading, marker in TABLES:
        if (ROOT / "results" / name).exists():
            text = replace_table(text, marker, reported_table(program, name, heading))
        else:
            print(f"README.md: no table: there is no results/{name}")
    return text


def chart(program):
    """README's chart, as the report draws it."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(program, f"cornerturn report {shlex.quote(str(ROOT / 'results/bench_transpose.json'))} --plots {folder} --output {folder}/page.html")
        if done.returncode != 0:
            sys.exit(f"docs_test.py: results/bench_transpose.json: {done.stderr.strip()}")
        return pathlib.Path(folder, CHART.name).read_text()


def check_results(program):
    text = (ROOT / "README.md").read_text()
    if with_tables(program, text) != text:
        yield "its tables are not those of results/: run tests/docs_test.py --update"
    if chart(program) != CHART.read_text():
        yield "its chart is not that of results/: run tests/docs_test.py --update"


def main():
    program = os.environ["CORNERTURN"]
    if sys.argv[1:] == ["--update"]:
        readme = ROOT / "README.md"
        readme.write_text(with_tables(program, readme.read_text()))
        CHART.write_text(chart(program))
        return
    if sys.argv[1:]:
        sys.exit("usage: docs_test.py [--update]")
    wrong = []
    for name in COMMANDED:
        wrong += [f"{name} {fault}" for fault in check_commands(program, name)]
        wrong += [f"{name} {fault}" for fault in check_ids(program, name)]
    for path in documents():
        wrong += [f"{path.relative_to(ROOT)} {fault}" for fault in check_links(path)]
    wrong += [f"README.md: {fault}" for fault in check_results(program)]
    for fault in wrong:
        print(f"FAILED: {fault}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
