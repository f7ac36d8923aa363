#!/usr/bin/env python3
"""What the documents say holds: their commands run and print what is pasted below them, the kernels that they name exist,
links lead somewhere, and their tables and their picture are those of the stored measurements.

    tests/docs_test.py             checks, with the program at $CORNERTURN
    tests/docs_test.py --update    rewrites the tables and docs/plots/headline.svg, as it reports on results/
"""

import itertools
import json
import os
import pathlib
import re
import sys
import tempfile

from document_tables import CORES, FRAMEWORKS, ROOT, TABLES, cells_of, report, run_once, with_tables

# docs/emulator.md's commands are run by emulate_docs_test.py.
RUN_ELSEWHERE = {"docs/emulator.md"}
LEAST_COMMANDED = {"README.md", "README.zh-CN.md", "HACKING.md", "docs/guide.md", "docs/measuring.md", "docs/permute.md", "docs/convert_steps.md",
                   "docs/why.md", "docs/why.zh-CN.md"}
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
    for command, pasted in commands((ROOT / name).read_text(encoding="utf-8")):
        if "--on cuda" in command or (command.startswith("cornerturn bench ") and "--on " not in command):
            done = run_once(program, command)
            print(f"{name}: refused for want of a GPU alone: {command}")
            if done.returncode == 0 or "no GPU to run on" not in done.stderr:
                yield f"`{command}` is refused for something else than a GPU: {done.stderr.strip()}"
            continue
        why = ("has a placeholder" if re.search(r"<[^>]*>", command) else
               "names the example, which drop_in_test.py builds" if EXAMPLE in command + "".join(pasted) else
               "takes minutes" if command.startswith("cornerturn bench ") else None)
        if why:
            print(f"{name}: not run, {why}: {command}")
            continue
        print(f"{name}: {command} ({len(pasted)} lines)")
        yield from check_command(command, run_once(program, command), pasted)


def check_ids(program, name):
    kernels = json.loads(run_once(program, "cornerturn list --format json").stdout)["kernels"]
    known = {k["id"] for k in kernels} | {k["id"].split("@")[0] for k in kernels}
    families = "|".join(sorted({k["id"].split("/")[0] for k in kernels} | {"gemm"}))
    for spoken in re.findall(rf"`((?:{families})/[\w-]+(?:@\w+)?)`", (ROOT / name).read_text(encoding="utf-8")):
        if spoken not in known and not spoken.startswith(EXAMPLE):
            yield f"names the kernel {spoken}, which there is not"


def documents():
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if parts[0] not in ("build", "venv") and not any(part.startswith(".") for part in parts):
            yield path


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = set()
    for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = base = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        for number in itertools.count(1):
            if name not in found:
                break
            name = f"{base}-{number}"
        found.add(name)
    return found


def check_links(path):
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for target in re.findall(r"\]\(([^)\s]+)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        page = path.parent / file if file else path
        if not page.exists():
            yield f"links to {target}, which there is not"
        elif anchor and page.suffix == ".md" and anchor not in anchors(page):
            yield f"links to {target}, and {page.name} has no such heading"


# The only picture that is stored.
PICTURE, PICTURE_RESULTS = "headline", [*FRAMEWORKS, *CORES]


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
    yield f"each with four elements. It is {v2 / times['coarsening']['padded@16x4']:.2f} times as fast as v2"
    yield f"It is {v2 / times['coarsening']['rolled@32x8']:.2f} times as fast as v2"
    yield f"overlap and fewer instructions give the other {times['coarsening']['rolled@32x8'] / v3:.2f}."
    yield f"(`padded@32x4`) gain another {v3 / times['coarsening']['padded@32x4'] - 1:.0%}".replace("%", " %")
    yield f"On an H200 the float4 kernel (K2) is {times['vectors']['padded@32x32'] / times['vectors']['vectorized@8x32']:.1f} times as fast as the scalar one (K1)"
    layouts = measured("why_layouts")
    yield f"{layouts['strided@plain'][1][shared_loads] / 1e6:,.0f} million loads of 4 bytes"
    yield f"{layouts['blocked@plain'][1][shared_loads] / 1e6:,.0f} million loads of 16 bytes, 3 wavefronts each, {layouts['blocked@plain'][1][wavefronts] / 1e6:,.0f} million in all"
    yield f"{layouts['blocked@padded'][1][shared_loads] / 1e6:,.0f} million loads remain"
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


def check_random_figures(program):
    """What README and docs/performance.md say of shapes at random, as the tables have it."""
    def row(table):  # cornerturn's: least, 1 %, 5 %, median
        return cells_of(TABLES["docs/performance.md"][f"random:{table}"](program)[0][2])[2:6]

    (_, _, slow, median), (_, _, slow_permuted, median_permuted) = row("transpose"), row("permute")
    hosts = [row(f"host:{operation}")[3] for operation in ("transpose", "permute")]
    for page, sentence in (
            ("README.md", f"one in twenty random transposes is below {slow} of memcpy's speed, and one in twenty "
                          f"permutations below {slow_permuted}"),
            ("docs/performance.md", f"transposes run at {median} of memcpy's speed in the median, and one in twenty is below {slow}. "
                                    f"Permutations: {median_permuted} and {slow_permuted}. "
                                    f"On a host of 16 cores the medians are {hosts[0]} and {hosts[1]}.")):
        if sentence not in " ".join((ROOT / page).read_text(encoding="utf-8").split()):
            yield f"{page} does not say, as results/ have it: {sentence}"


def check_figures():
    text = " ".join((ROOT / "docs/why.md").read_text().split())
    for figure in figures():
        if figure not in text:
            yield f"does not say, as results/ have it: {figure}"


def generated(program):
    """Yields (path, text) of all that is made of results/."""
    for name in TABLES:
        yield name, with_tables(program, name, (ROOT / name).read_text())
    with tempfile.TemporaryDirectory() as folder:
        report(program, PICTURE_RESULTS, "--plots", folder, "--output", f"{folder}/page.html")
        yield f"docs/plots/{PICTURE}.svg", pathlib.Path(folder, f"{PICTURE}.svg").read_text()


def main():
    program = os.environ["CORNERTURN"]
    if sys.argv[1:] == ["--update"]:
        for path, text in generated(program):
            (ROOT / path).write_text(text)
        return
    if sys.argv[1:]:
        sys.exit("usage: docs_test.py [--update]")
    wrong = []
    commanded = set()
    for path in documents():
        name = str(path.relative_to(ROOT))
        if commands(path.read_text(encoding="utf-8")) and name not in RUN_ELSEWHERE:
            commanded.add(name)
            wrong += [f"{name} {fault}" for fault in check_commands(program, name)]
        if not name.startswith("docs/experiments/"):  # which speak of kernels of their time
            wrong += [f"{name} {fault}" for fault in check_ids(program, name)]
        wrong += [f"{name} {fault}" for fault in check_links(path)]
    wrong += [f"{name} shows no command at all" for name in LEAST_COMMANDED - commanded]
    wrong += [f"docs/why.md {fault}" for fault in check_figures()]
    wrong += check_random_figures(program)
    for path, text in generated(program):
        if not (ROOT / path).exists() or (ROOT / path).read_text() != text:
            wrong.append(f"{path} is not what results/ and the program make of it: run tests/docs_test.py --update")
    for fault in wrong:
        print(f"FAILED: {fault}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
