#!/usr/bin/env python3
"""A new kernel needs one new file. The test adds the example of HACKING.md to a copy of the sources: it must be listed, ordered,
verified and counted correctly, and its race must be reported if its barrier is removed. nvcc compiles it, too, if installed.

A new operation needs one new folder. The test adds tests/toy/reverse: every command must work with it, and its bugs must be
reported.

A file that registers no rung, or a rung without a ladder, is refused.

Two files may define kernels of the same name: a copy of a rung with another id and another padding is another kernel.

The copy has the build options of the original, so ccache serves almost all object files. If ctest runs in a folder of build/,
the copy is beside that folder and is updated, not created again. It is not inside, where other tests read every object file.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import docs_test
import document_tables
from project import SOURCE, copy_sources, failures, in_ccache, like_the_build, must_run, require, setting, write_if_changed
from script import names

EXAMPLE_FILE = "src/ops/transpose/ladder/75_example.cu"
EXAMPLE_ID = "transpose/column_write@32x8"
TOY, TOY_FOLDER = SOURCE / "tests/toy/reverse", "src/ops/reverse"
PADDED_FILE, TWIN_FILE = "src/ops/transpose/ladder/80_padded.cu", "src/ops/transpose/ladder/81_twin.cu"
BARRIER = "__syncthreads();"

DTYPES = {"u8": 1, "u16": 2, "f32": 4, "f64": 8, "c128": 16}
# Empty, tiny, ragged on one side and on both, and more than one tile in each direction.
SHAPES = [(0, 5), (1, 1), (1, 1000), (1000, 1), (31, 33), (32, 32), (64, 96), (257, 129)]
COUNTED = [(1024, 1024), (64, 96), (31, 33), (257, 129)]


def example():
    """The only cpp block of HACKING.md."""
    blocks = [lines for language, lines, _ in docs_test.fenced_blocks((SOURCE / "HACKING.md").read_text()) if language == "cpp"]
    if len(blocks) != 1:
        sys.exit(f"FAILED: HACKING.md has {len(blocks)} cpp blocks: one was expected")
    return "\n".join(blocks[0]) + "\n"


def configure(tree, build):
    command = ["cmake", "-S", tree, "-B", build, "-DCORNERTURN_TESTS=OFF"]
    if setting("CMAKE_GENERATOR"):
        command += ["-G", setting("CMAKE_GENERATOR")]
    settings = ["CMAKE_MAKE_PROGRAM"]
    if in_ccache():
        settings += ["CORNERTURN_CUDA", "CORNERTURN_STATIC", "CORNERTURN_BOOST_FIBERS"]
        command += like_the_build()
    else:  # these compile fastest
        command += [*like_the_build("CMAKE_BUILD_TYPE"), "-DCMAKE_BUILD_TYPE=Debug", "-DCORNERTURN_CUDA=OFF"]
    must_run(command + [f"-D{name}={setting(name)}" for name in settings if setting(name)])


def build_program(build):
    must_run(["cmake", "--build", build, "--target", "cornerturn", "--parallel"])
    return build / "bin" / "cornerturn"


def ids(program):
    return [k["id"] for k in json.loads(document_tables.run(program, "cornerturn list --format json").stdout)["kernels"]]


def profile(program, rows, cols, dtype, id=EXAMPLE_ID):
    done = document_tables.run(program, f"cornerturn profile {id} --rows {rows} --cols {cols} --dtype {dtype} --on emulator --format json")
    return json.loads(done.stdout) if done.returncode == 0 else {"fault": done.stderr}


def is_dropped_in(id):
    return id == EXAMPLE_ID or id.startswith("transpose/twin@") or "reverse" in id


def wavefronts(first, stride, lanes, size):
    """Of `lanes` lanes, `stride` bytes apart. The hardware serves 128 bytes of lanes at a time. Each such group takes as many
    wavefronts as the most loaded of the 4-byte banks has distinct words."""
    group = 32 if size <= 4 else 128 // size
    total = 0
    for begin in range(0, lanes, group):
        banks = {}
        for lane in range(begin, min(begin + group, lanes)):
            for word in range((first + lane * stride) // 4, (first + lane * stride + size - 1) // 4 + 1):
                banks.setdefault(word % 32, set()).add(word)
        total += max(map(len, banks.values()))
    return total


def expected(rows, cols, size):
    """The example's counters, computed from its source. A block has 32 x 8 threads, so a warp is one line of the tile."""
    requests, sectors, waves = [0, 0], [0, 0], [0, 0]
    memo = {}
    for direction, (high, wide) in enumerate([(rows, cols), (cols, rows)]):  # the lines that are loaded, then those that are stored
        for line in range(high):
            for left in range(0, wide, 32):
                lanes, begin = min(32, wide - left), (line * wide + left) * size
                requests[direction] += 1
                sectors[direction] += (begin + lanes * size - 1) // 32 - begin // 32 + 1
                # The load writes a column of shared memory, and the store reads a row.
                first, stride = (line % 32 * size, 32 * size) if direction == 0 else (line % 32 * 32 * size, size)
                if (key := (first, stride, lanes)) not in memo:
                    memo[key] = wavefronts(*key, size)
                waves[1 - direction] += memo[key]
    metrics = ["l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
               "smsp__sass_inst_executed_op_shared_{}.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"]
    return {name.format(op): values[i] for name, values in zip(metrics, [requests, sectors, requests[::-1], waves])
            for i, op in enumerate(["ld", "st"])}


def check_good(program, before):
    after = ids(program)
    require(EXAMPLE_ID not in before, "list does not show the example before its file is added")
    require(EXAMPLE_ID in after and [k for k in after if not is_dropped_in(k)] == before, "list shows it, and the other kernels as before")

    # Its neighbours are the rungs in the files 70_ and 80_.
    done = document_tables.run(program, "cornerturn ladder transpose --on emulator --format json")
    require(done.returncode == 0, f"the ladder runs {done.stderr}")
    results = json.loads(done.stdout)["results"]
    order = [r["kernel"].split("@")[0] for r in results]
    at = order.index("transpose/column_write")
    require((order[at - 1], order[at + 1]) == ("transpose/shared", "transpose/padded"), "its place is that of its file's number")
    require(results[at]["status"] == "ran" and results[at]["verified"] is True, "the ladder verifies it")

    for dtype in DTYPES:
        wrong = []
        for rows, cols in SHAPES:
            r = profile(program, rows, cols, dtype)
            if r.get("verified") is not True or r["checked"] != {"elements": rows * cols, "of": rows * cols}:
                wrong.append(f"{rows} x {cols}: {r.get('fault') or r}")
        require(not wrong, f"verified at {len(SHAPES)} shapes of {dtype} {'; '.join(wrong)}")

    require(expected(1024, 1024, 4) == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 32768, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 32768,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 131072, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 131072,
        "smsp__sass_inst_executed_op_shared_ld.sum": 32768, "smsp__sass_inst_executed_op_shared_st.sum": 32768,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 32768,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 32 * 32768}, "this test's model agrees with counts by hand")
    for dtype, size in DTYPES.items():
        for rows, cols in COUNTED:
            counted, model = profile(program, rows, cols, dtype).get("metrics"), expected(rows, cols, size)
            require(counted == model, f"counted as computed from the source: {rows} x {cols} {dtype}" + ("" if counted == model else f": {counted}, not {model}"))

    for command, pasted in docs_test.commands((SOURCE / "HACKING.md").read_text()):
        if "--on cuda" not in command:
            wrong = list(docs_test.check_command(command, document_tables.run(program, command), pasted))
            require(not wrong, "; ".join(wrong) or f"HACKING.md: {command}")


def check_broken(program, text):
    done = document_tables.run(program, f"cornerturn profile {EXAMPLE_ID} --on emulator")
    message = done.stderr.strip()
    print(message)
    line = next(i for i, code in enumerate(text.splitlines(), 1) if "= tile[threadIdx.y + i]" in code)
    require(done.returncode == 1, f"without its barrier it fails (exit code {done.returncode})")
    for name, pattern in [("kernel", r"transpose_column_write<.*32, 8>"), ("block and the thread", r"\(\d+, \d+, \d+\).*\(\d+, \d+, \d+\)"),
                          ("line", rf"75_example\.cu:{line}\b")]:
        require(re.search(pattern, message) is not None, f"the message names the {name}")
    require(message in (SOURCE / "HACKING.md").read_text().splitlines(), "HACKING.md shows this message")
    ladder = document_tables.run(program, "cornerturn ladder transpose --on emulator --format json")
    failed = [r["kernel"] for r in json.loads(ladder.stdout)["results"] if r.get("verified") is False]
    require(ladder.returncode == 1 and failed == [EXAMPLE_ID], f"the ladder fails, too, for this rung only: {failed}")


def cuda_objects(build, file):
    return list(build.glob(f"src/CMakeFiles/cornerturn_ladder_cuda.dir/**/{pathlib.Path(file).name}.o"))


def check_cuda(build):
    """If the copy has CUDA: nvcc compiled the files, too, and gave the twins' kernels different symbols."""
    if setting("CORNERTURN_CUDA") != "ON" or not in_ccache():
        print("not compiled for the GPU: this build has no CUDA")
        return
    for file in (EXAMPLE_FILE, TWIN_FILE, *(f"{TOY_FOLDER}/{f.relative_to(TOY)}" for f in TOY.rglob("*.cu"))):
        require(cuda_objects(build, file), f"nvcc compiles {file}")
    if shutil.which("nm"):
        symbols = [set(re.findall(r"\S*transpose_padded\S*", subprocess.run(["nm", *cuda_objects(build, file)], capture_output=True, text=True).stdout))
                   for file in (PADDED_FILE, TWIN_FILE)]
        require(symbols[0] and symbols[1] and not symbols[0] & symbols[1], "the twins' kernels have different symbols for the GPU")


def twin(text):
    """A copy of the rung transpose/padded with another id and two columns of padding. Its kernel has the same name."""
    altered = text.replace('.id = "transpose/padded"', '.id = "transpose/twin"').replace("tile[kTile][kTile + 1]", "tile[kTile][kTile + 2]")
    require(len([1 for a, b in zip(text.splitlines(), altered.splitlines()) if a != b]) == 2, "the twin differs in its id and its padding")
    return altered


def check_twins(program, original):
    """The twin's rows have 34 words, so each bank serves two of the 32 lanes that read a column."""
    waves = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    for rows, cols in [(1024, 1024), (96, 64)]:
        for variant in ("32x32", "32x8"):
            padded, other = (profile(program, rows, cols, "f32", f"transpose/{name}@{variant}") for name in ("padded", "twin"))
            before = profile(original, rows, cols, "f32", f"transpose/padded@{variant}")
            require(padded == before, f"{rows} x {cols} @{variant}: the rung's counters are the same without its twin")
            require(other.get("verified") is True, f"{rows} x {cols} @{variant}: the twin is verified")
            require(other["metrics"][waves] == 2 * padded["metrics"][waves] == rows * cols // 16, f"{rows} x {cols} @{variant}: and has the bank conflicts of its padding")


def check_toy(program, folder):
    """Every command works with the toy operation."""
    def run(command, code=0):
        done = document_tables.run(program, f"cornerturn {command}")
        require(done.returncode == code, f"{command}{'' if done.returncode == code else f': {done.returncode}, {done.stderr}'}")
        return done

    listed = [k for k in ids(program) if "reverse" in k]
    rungs = ["reverse/plain@32x8", "reverse/shared@32x8", "reverse/production"]
    require(listed == ["host/reverse", *rungs], "list shows the toy's kernels")

    wrong = []
    for dtype in DTYPES:
        for rows, cols in SHAPES + [(5000, 700)]:
            results = json.loads(document_tables.run(program, f"cornerturn ladder reverse --height {rows} --width {cols} --dtype {dtype} --on emulator --format json").stdout)["results"]
            for r in results:
                if r.get("verified") is not True or r["checked"] != {"elements": rows * cols, "of": rows * cols}:
                    wrong.append(f"{r['kernel']}, {rows} x {cols} of {dtype}")
                if (r["height"], r["width"]) != (rows, cols):
                    wrong.append(f"{r['kernel']} reports other sizes")
            if [r["kernel"] for r in results if not r["kernel"].startswith("copy/")] != rungs or len(results) != 5:
                wrong.append(f"its ladder has {[r['kernel'] for r in results]}")
    require(not wrong, f"the toy's ladder verifies its rungs and the copies, and nothing else: {wrong}")
    require(any(names(line, 5, 5, 0, 0) for line in run("ladder reverse --on emulator").stdout.splitlines()[-2:]), "and the table counts them")
    require(json.loads(run("profile host/reverse --format json").stdout)["verified"] is True, "the host kernel is verified")

    blocks = {}
    for kernel in rungs:
        ran = json.loads(run(f"profile {kernel} --height 1024 --width 512 --on emulator --format json").stdout)
        counted, blocks[kernel] = ran["metrics"], ran["launch"]["block"]
        require(counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 1024 * 512 // 8,
                f"{kernel} is counted: all sectors are full")
    require(blocks["reverse/plain@32x8"] == [32, 8, 1] and blocks["reverse/production"] == [32, 2, 1], "two kernels of the same name stay two")
    require(names(run("profile reverse/plain@32x8 --on emulator --height 100 --lines").stdout, "12_reverse_plain.cu"), "profile names its lines")
    change = re.search(r'\.change = "From plain: (.*)\."', (TOY / "ladder/13_reverse_shared.cu").read_text())[1]
    require(change in " ".join(run("diff reverse/plain@32x8 reverse/shared@32x8 --on emulator").stdout.split()), "diff shows the rung's change")
    refused = run("diff reverse/plain@32x8 transpose/shared@32x8 --on emulator", 2).stderr
    require(names(refused, "reverse/plain@32x8", "transpose/shared@32x8"), "diff refuses to compare it with a transpose")
    require(names(run("diff copy/global@32x8 reverse/plain@32x8 --on emulator --height 64").stdout, "copy/global@32x8"), "diff compares it with a copy")
    shown = run("explain reverse/shared@32x8 --height 100 --dtype f64").stdout
    banks = r"\s+".join(map(str, range(32)))
    require(names(shown, "100 x 100", "f64") and re.search(rf"\b{banks}\b", shown), "explain shows a warp's accesses to the banks")
    require(names(run("explain reverse", 2).stderr, "reverse"), "explain refuses an operation without a choice of kernels")
    for command in ("ladder reverse --m 5", "explain reverse/plain@32x8 --m 5", "explain transpose --height 5"):
        require(command.split()[2] in run(command, 2).stderr, "sizes of another operation are refused")

    bench, ladder = folder / "bench.json", folder / "ladder.json"
    run(f"bench reverse --on host --shapes odd --sizes 1 --seconds 0.01 --format json --output {bench}")
    cells = json.loads(bench.read_text())["cells"]
    require([c["subject"]["kernel"] for c in cells] == ["host/reverse"] * 2 and all(c["subject"]["verified"] and c["ratio"] > 0 for c in cells),
            "its bench measures the host's kernel beside memcpy")
    require(names(run("bench reverse --on host --shapes bogus", 2).stderr, "bogus", "squares"), "and lists the shapes if one is unknown")
    run(f"ladder reverse --on emulator --format json --output {ladder}")
    host = folder / "host.json"
    run(f"profile host/reverse --height 30 --format json --output {host}")
    page = run(f"report {bench} {ladder} {host} --format markdown").stdout
    require(all(names(page, value) for value in ("memcpy", "reverse/plain", "reverse/shared", "host/reverse", "30 x 30")), "report shows all three files")


# Bugs for the toy: its file, the old and the new code, the kernel, and a pattern of the report. A race is reported with its array
# and line; a wrong element with its value and the expected value.
TOY_FAULTS = [("ladder/13_reverse_shared.cu", "__syncthreads();", "", "reverse/shared@32x8",
               r"\btile\b.*\b13_reverse_shared\.cu:\d+"),
              ("ladder/12_reverse_plain.cu", "(source.rows - 1 - row) * destination.ld", "row * destination.ld", "reverse/plain@32x8", r"\b0x[0-9a-f]+\b.*\b0x[0-9a-f]+\b"),
              ("ladder/05_host_reverse.cpp", "(work.rows - 1 - row) * work.source_ld", "row * work.source_ld", "host/reverse", r"\b0x[0-9a-f]+\b.*\b0x[0-9a-f]+\b")]


def break_toy(tree):
    for file, old, new, _, _ in TOY_FAULTS:
        text = (TOY / file).read_text()
        require(text.count(old) == 1, f"{file} has the line in which the bug is planted")
        write_if_changed(tree / TOY_FOLDER / file, text.replace(old, new).encode())


def check_broken_toy(program):
    for _, _, _, kernel, pattern in TOY_FAULTS:
        done = document_tables.run(program, f"cornerturn profile {kernel}" + ("" if kernel.startswith("host/") else " --on emulator"))
        reported = done.returncode == 1 and names(done.stderr, kernel) and re.search(pattern, done.stderr)
        require(reported, f"a bug in {kernel} is reported: {done.stderr.strip()}")


# Wrong registrations of the example: a pattern, its replacement, and the values that the refusal must name after the file.
REFUSED_FILE = "src/ops/transpose/ladder/76_refused.cu"
REFUSED = [(r' *\.limit = .*\n', "", [".limit"]),
           (r'\.source = ".*"', '.source = ""', [".source"]),
           (r'\.id = ".*"', '.id = "column_write"', ["column_write", "transpose/", "copy/"]),
           (r'\.id = ".*"', '.id = "transposes/column_write"', ["transposes/column_write", "transpose/", "copy/"])]


def check_refused(tree, build, text):
    """A rung that would be in no ladder, or lacks a note, is refused in one line that names the file."""
    file = tree / REFUSED_FILE
    for pattern, new, values in REFUSED:
        altered, times = re.subn(pattern, new, text)
        require(times == 1, f"the example has one line of the pattern {pattern}")
        write_if_changed(file, altered.encode())
        built = subprocess.run(["cmake", "--build", build, "--target", "cornerturn"], capture_output=True, text=True)
        if built.returncode != 0:  # nvcc's host compiler sees that a note is missing
            require(names(built.stdout, REFUSED_FILE) and names(built.stdout, values[0].strip(".")), f"{values}: the compiler names the file")
            continue
        done = document_tables.run(build / "bin" / "cornerturn", "cornerturn list")
        lines = done.stderr.strip().splitlines()
        require(done.returncode == 1 and len(lines) == 1 and names(lines[0], REFUSED_FILE, *values),
                f"refused with {values} (exit code {done.returncode}): {done.stderr.strip()}")
    write_if_changed(file, re.sub(r"CORNERTURN_RUNG\(.*\n", "", text).encode())
    done = subprocess.run(["cmake", "--build", build, "--target", "cornerturn"], capture_output=True, text=True)
    named = any(names(line, REFUSED_FILE, "CORNERTURN_RUNG") for line in done.stdout.splitlines())
    require(done.returncode != 0 and named, "a file that registers nothing does not compile")
    file.unlink()


def check_formatting(text):
    formatter, style = shutil.which("clang-format-14"), SOURCE / ".clang-format"
    if formatter is None:
        print("formatting not checked: clang-format-14 is not installed")
        return
    done = subprocess.run([formatter, f"--style=file:{style}", "--assume-filename=example.cu"], input=text, capture_output=True, text=True)
    require(done.stdout == text, "the example follows .clang-format")


def run_in(tree):
    build = tree / "build" / pathlib.Path(os.environ.get("CORNERTURN_BUILD_DIR", "program")).name
    text = example()
    check_formatting(text)
    copy_sources(tree)
    configure(tree, build)
    for file in (EXAMPLE_FILE, TWIN_FILE):
        for old in cuda_objects(build, file):  # of an earlier run
            old.unlink()
    before = ids(os.environ["CORNERTURN"])

    # CMake is not run again by hand: the build finds the new files.
    write_if_changed(tree / EXAMPLE_FILE, text.encode())
    write_if_changed(tree / TWIN_FILE, twin((SOURCE / PADDED_FILE).read_text()).encode())
    for file in [f for f in TOY.rglob("*") if f.is_file()]:
        write_if_changed(tree / TOY_FOLDER / file.relative_to(TOY), file.read_bytes())
    program = build_program(build)
    check_good(program, before)
    check_twins(program, os.environ["CORNERTURN"])
    check_toy(program, build)
    check_cuda(build)

    broken = "".join(line for line in text.splitlines(keepends=True) if BARRIER not in line)
    require(broken.count("\n") == text.count("\n") - 1, "the example has one barrier to remove")
    write_if_changed(tree / EXAMPLE_FILE, broken.encode())
    break_toy(tree)
    program = build_program(build)
    check_broken(program, broken)
    check_broken_toy(program)
    check_refused(tree, build, text)


def main():
    build = pathlib.Path(os.environ.get("CORNERTURN_BUILD_DIR", "/"))
    if build.parent == SOURCE / "build":
        run_in(build.parent / f"drop_in-{build.name}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            run_in(pathlib.Path(folder))
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
