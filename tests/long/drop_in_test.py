#!/usr/bin/env python3
"""Adding a kernel is adding one file: the example of HACKING.md, dropped into a copy of the sources, is listed, ordered,
verified and counted as it should be; without its barrier it is caught; and nvcc compiles it, where there is one.

Adding an operation is adding one folder: tests/toy/reverse is served by every command, and what is wrong in it is caught.

A file that registers no rung, or one that no ladder would have, is refused.

Two kernels of one name in two files stay two: a copy of a rung with another id and another padding is another kernel.

The copy is built as the original was, so ccache serves what that compiled: little more than the example is compiled. The
copy lies beside the build folder that ctest runs in, where that is one of build/, and is brought up to date, not made anew.
It does not lie within, where other tests look at every object file.
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
from project import SOURCE, copy_sources, failures, in_ccache, like_the_build, must_run, require, setting, write_if_changed

EXAMPLE_FILE = "src/ops/transpose/ladder/75_example.cu"
EXAMPLE_ID = "transpose/column_write@32x8"
TOY, TOY_FOLDER = SOURCE / "tests/toy/reverse", "src/ops/reverse"
PADDED_FILE, TWIN_FILE = "src/ops/transpose/ladder/80_padded.cu", "src/ops/transpose/ladder/81_twin.cu"
BARRIER = "__syncthreads();"

DTYPES = {"u8": 1, "u16": 2, "f32": 4, "f64": 8, "c128": 16}
# Empty, tiny, ragged on one side and on both, and more than one tile either way.
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
    names = ["CMAKE_MAKE_PROGRAM"]
    if in_ccache():
        names += ["CORNERTURN_CUDA", "CORNERTURN_STATIC", "CORNERTURN_BOOST_FIBERS"]
        command += like_the_build()
    else:  # what compiles soonest
        command += [*like_the_build("CMAKE_BUILD_TYPE"), "-DCMAKE_BUILD_TYPE=Debug", "-DCORNERTURN_CUDA=OFF"]
    must_run(command + [f"-D{name}={setting(name)}" for name in names if setting(name)])


def build_program(build):
    must_run(["cmake", "--build", build, "--target", "cornerturn", "--parallel"])
    return build / "bin" / "cornerturn"


def ids(program):
    return [k["id"] for k in json.loads(docs_test.run(program, "cornerturn list --format json").stdout)["kernels"]]


def profile(program, rows, cols, dtype, id=EXAMPLE_ID):
    done = docs_test.run(program, f"cornerturn profile {id} --rows {rows} --cols {cols} --dtype {dtype} --on emulator --format json")
    return json.loads(done.stdout) if done.returncode == 0 else {"fault": done.stderr}


def is_dropped_in(id):
    return id == EXAMPLE_ID or id.startswith("transpose/twin@") or "reverse" in id


def wavefronts(first, stride, lanes, size):
    """Of `lanes` lanes, `stride` bytes apart: the hardware serves 128 bytes' worth of lanes at a time, and each of these
    groups costs the most distinct words that any bank of 4 bytes must give."""
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
    """The example's counters, from its source: 32 x 8 threads, so that a warp is one line of the tile."""
    requests, sectors, waves = [0, 0], [0, 0], [0, 0]
    memo = {}
    for direction, (high, wide) in enumerate([(rows, cols), (cols, rows)]):  # the load's lines, then the store's
        for line in range(high):
            for left in range(0, wide, 32):
                lanes, begin = min(32, wide - left), (line * wide + left) * size
                requests[direction] += 1
                sectors[direction] += (begin + lanes * size - 1) // 32 - begin // 32 + 1
                # Shared memory is stored to down a column while loading, and loaded from along a row while storing.
                first, stride = (line % 32 * size, 32 * size) if direction == 0 else (line % 32 * 32 * size, size)
                if (key := (first, stride, lanes)) not in memo:
                    memo[key] = wavefronts(*key, size)
                waves[1 - direction] += memo[key]
    names = ["l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
             "smsp__sass_inst_executed_op_shared_{}.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"]
    return {name.format(op): values[i] for name, values in zip(names, [requests, sectors, requests[::-1], waves])
            for i, op in enumerate(["ld", "st"])}


def check_good(program, before):
    after = ids(program)
    require(EXAMPLE_ID not in before, "list does not show the example before the file is there")
    require(EXAMPLE_ID in after and [k for k in after if not is_dropped_in(k)] == before, "list shows it, and all else as before")

    # The neighbours are those of the files 70 and 80.
    done = docs_test.run(program, "cornerturn ladder transpose --on emulator --format json")
    require(done.returncode == 0, f"the ladder runs {done.stderr}")
    results = json.loads(done.stdout)["results"]
    order = [r["kernel"].split("@")[0] for r in results]
    at = order.index("transpose/column_write")
    require((order[at - 1], order[at + 1]) == ("transpose/shared", "transpose/padded"), "it stands where its file's number says")
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
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 32 * 32768}, "this test's own model is right by hand")
    for dtype, size in DTYPES.items():
        for rows, cols in COUNTED:
            counted, model = profile(program, rows, cols, dtype).get("metrics"), expected(rows, cols, size)
            require(counted == model, f"counted as the source says: {rows} x {cols} {dtype}" + ("" if counted == model else f": {counted}, not {model}"))

    for command, pasted in docs_test.commands((SOURCE / "HACKING.md").read_text()):
        if "--on cuda" not in command:
            wrong = list(docs_test.check_command(command, docs_test.run(program, command), pasted))
            require(not wrong, "; ".join(wrong) or f"HACKING.md: {command}")


def check_broken(program, text):
    done = docs_test.run(program, f"cornerturn profile {EXAMPLE_ID} --on emulator")
    message = done.stderr.strip()
    print(message)
    line = next(i for i, code in enumerate(text.splitlines(), 1) if "= tile[threadIdx.y + i]" in code)
    require(done.returncode == 1, f"without its barrier it fails (exit code {done.returncode})")
    for name, pattern in [("kernel", r"transpose_column_write<.*32, 8>"), ("block", r"block \(\d+, \d+, \d+\)"),
                          ("thread", r"thread \(\d+, \d+, \d+\)"), ("line", rf"75_example\.cu:{line}\b")]:
        require(re.search(pattern, message) is not None, f"the message names the {name}")
    require(message in (SOURCE / "HACKING.md").read_text().splitlines(), "it is the message that HACKING.md shows")
    ladder = docs_test.run(program, "cornerturn ladder transpose --on emulator")
    require(ladder.returncode == 1 and " 1 failed" in ladder.stdout, "the ladder fails too, for this rung alone")


def cuda_objects(build, file):
    return list(build.glob(f"src/CMakeFiles/cornerturn_ladder_cuda.dir/**/{pathlib.Path(file).name}.o"))


def check_cuda(build):
    """nvcc compiled them as well, where the copy is for the GPU, too, and names the twins' kernels differently."""
    if setting("CORNERTURN_CUDA") != "ON" or not in_ccache():
        print("not compiled for the GPU: this build is not for one")
        return
    for file in (EXAMPLE_FILE, TWIN_FILE, *(f"{TOY_FOLDER}/{f.relative_to(TOY)}" for f in TOY.rglob("*.cu"))):
        require(cuda_objects(build, file), f"nvcc compiles {file}")
    if shutil.which("nm"):
        names = [set(re.findall(r"\S*transpose_padded\S*", subprocess.run(["nm", *cuda_objects(build, file)], capture_output=True, text=True).stdout))
                 for file in (PADDED_FILE, TWIN_FILE)]
        require(names[0] and names[1] and not names[0] & names[1], "the twins' kernels have names of their own for the GPU")


def twin(text):
    """A copy of the rung transpose/padded with another id and two columns of padding; its kernel is called the same."""
    altered = text.replace('.id = "transpose/padded"', '.id = "transpose/twin"').replace("tile[kTile][kTile + 1]", "tile[kTile][kTile + 2]")
    require(len([1 for a, b in zip(text.splitlines(), altered.splitlines()) if a != b]) == 2, "the twin differs in its id and in its padding")
    return altered


def check_twins(program, original):
    """Rows of 34 words: the 32 lanes that read down a column meet in pairs."""
    waves = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    for rows, cols in [(1024, 1024), (96, 64)]:
        for variant in ("32x32", "32x8"):
            padded, other = (profile(program, rows, cols, "f32", f"transpose/{name}@{variant}") for name in ("padded", "twin"))
            before = profile(original, rows, cols, "f32", f"transpose/padded@{variant}")
            require(padded == before, f"{rows} x {cols} @{variant}: the rung counts as it does without its twin")
            require(other.get("verified") is True, f"{rows} x {cols} @{variant}: the twin is verified")
            require(other["metrics"][waves] == 2 * padded["metrics"][waves] == rows * cols // 16, f"{rows} x {cols} @{variant}: and counts its own bank conflicts")


def check_toy(program, folder):
    """An operation of one folder, through every command."""
    def run(command, code=0):
        done = docs_test.run(program, f"cornerturn {command}")
        require(done.returncode == code, f"{command}{'' if done.returncode == code else f': {done.returncode}, {done.stderr}'}")
        return done

    listed = [k for k in ids(program) if "reverse" in k]
    rungs = ["reverse/plain@32x8", "reverse/shared@32x8", "reverse/production"]
    require(listed == ["host/reverse", *rungs], "list shows the toy's kernels")

    wrong = []
    for dtype in DTYPES:
        for rows, cols in SHAPES + [(5000, 700)]:
            results = json.loads(docs_test.run(program, f"cornerturn ladder reverse --height {rows} --width {cols} --dtype {dtype} --on emulator --format json").stdout)["results"]
            for r in results:
                if r.get("verified") is not True or r["checked"] != {"elements": rows * cols, "of": rows * cols}:
                    wrong.append(f"{r['kernel']}, {rows} x {cols} of {dtype}")
                if (r["height"], r["width"]) != (rows, cols):
                    wrong.append(f"{r['kernel']} tells other sizes")
            if [r["kernel"] for r in results if not r["kernel"].startswith("copy/")] != rungs or len(results) != 5:
                wrong.append(f"its ladder has {[r['kernel'] for r in results]}")
    require(not wrong, f"the toy's ladder verifies its rungs and the copies, and nothing else: {wrong}")
    require("5 ran, 5 verified, 0 failed" in run("ladder reverse --on emulator").stdout, "and says so in a table")
    require(run("profile host/reverse").stdout.count("verified: yes") == 1, "the host's kernel is verified")

    blocks = {}
    for kernel in rungs:
        ran = json.loads(run(f"profile {kernel} --height 1024 --width 512 --on emulator --format json").stdout)
        counted, blocks[kernel] = ran["metrics"], ran["launch"]["block"]
        require(counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 1024 * 512 // 8,
                f"{kernel} is counted: all sectors are full")
    require(blocks["reverse/plain@32x8"] == [32, 8, 1] and blocks["reverse/production"] == [32, 2, 1], "two kernels of one name stay two")
    require("12_reverse_plain.cu" in run("profile reverse/plain@32x8 --on emulator --height 100 --lines").stdout, "profile tells its lines")
    require("a warp writes another row than it read" in run("diff reverse/plain@32x8 reverse/shared@32x8 --on emulator").stdout, "diff says what changed")
    require("different work" in run("diff reverse/plain@32x8 transpose/shared@32x8 --on emulator", 2).stderr, "and that a transpose is other work")
    require("copy/global@32x8" in run("diff copy/global@32x8 reverse/plain@32x8 --on emulator --height 64").stdout, "a copy is compared with it")
    shown = run("explain reverse/shared@32x8 --height 100 --dtype f64").stdout
    require("Warp 0 of the first tile" in shown and "100 x 100 f64" in shown, "explain shows what a warp does")
    require("no choice" in run("explain reverse", 2).stderr, "and that there is no choice of kernels")
    for command in ("ladder reverse --m 5", "explain reverse/plain@32x8 --m 5", "explain transpose --height 5"):
        require(command.split()[2] in run(command, 2).stderr, "another operation's sizes are refused")

    bench, ladder = folder / "bench.json", folder / "ladder.json"
    run(f"bench reverse --on host --shapes odd --sizes 1 --seconds 0.01 --format json --output {bench}")
    cells = json.loads(bench.read_text())["cells"]
    require([c["subject"]["kernel"] for c in cells] == ["host/reverse"] * 2 and all(c["subject"]["verified"] and c["ratio"] > 0 for c in cells),
            "its bench measures the host's kernel beside memcpy")
    require("squares" in run("bench reverse --on host --shapes bogus", 2).stderr, "and knows which shapes there are")
    run(f"ladder reverse --on emulator --format json --output {ladder}")
    host = folder / "host.json"
    run(f"profile host/reverse --height 30 --format json --output {host}")
    page = run(f"report {bench} {ladder} {host} --format markdown").stdout
    require("Ladder of reverse" in page and "Reverse on the host: cornerturn beside memcpy" in page and "reverse/shared" in page and "host/reverse, 30 x 30" in page,
            "report shows them all")


# Of the toy: what is altered in which of its files, and what must be said of it.
TOY_FAULTS = [("ladder/13_reverse_shared.cu", "    __syncthreads();  // from here on a thread reads what others have loaded\n", "\n", "reverse/shared@32x8", "no barrier between them"),
              ("ladder/12_reverse_plain.cu", "(source.rows - 1 - row) * destination.ld", "row * destination.ld", "reverse/plain@32x8", "it must hold"),
              ("ladder/05_host_reverse.cpp", "(work.rows - 1 - row) * work.source_ld", "row * work.source_ld", "host/reverse", "it must hold")]


def break_toy(tree):
    for file, old, new, _, _ in TOY_FAULTS:
        text = (TOY / file).read_text()
        require(text.count(old) == 1, f"{file} can be broken")
        write_if_changed(tree / TOY_FOLDER / file, text.replace(old, new).encode())


def check_broken_toy(program):
    for _, _, _, kernel, said in TOY_FAULTS:
        done = docs_test.run(program, f"cornerturn profile {kernel}" + ("" if kernel.startswith("host/") else " --on emulator"))
        require(done.returncode == 1 and kernel in done.stderr and said in done.stderr, f"a fault in {kernel} is caught: {done.stderr.strip()}")


# Of the example: what is altered in it, and what the program must then say, but for the file, at its start.
REFUSED_FILE = "src/ops/transpose/ladder/76_refused.cu"
REFUSED = [(r' *\.limit = .*\n', "", "its notes lack .limit"),
           (r'\.source = ".*"', '.source = ""', "its notes lack .source"),
           (r'\.id = ".*"', '.id = "column_write"', "its id is 'column_write': it must be transpose/NAME or copy/NAME"),
           (r'\.id = ".*"', '.id = "transposes/column_write"', "its id is 'transposes/column_write': it must be transpose/NAME or copy/NAME")]


def check_refused(tree, build, text):
    """What would be in no ladder, or lacks a note, is refused in one line that names the file."""
    file = tree / REFUSED_FILE
    for pattern, new, said in REFUSED:
        altered, times = re.subn(pattern, new, text)
        require(times == 1, f"the example can be altered: {pattern}")
        write_if_changed(file, altered.encode())
        built = subprocess.run(["cmake", "--build", build, "--target", "cornerturn"], capture_output=True, text=True)
        if built.returncode != 0:  # nvcc's host compiler sees that a note is missing
            require(REFUSED_FILE in built.stdout and said.split(".")[-1].split()[0] in built.stdout, f"{said}: the compiler names the file")
            continue
        done = docs_test.run(build / "bin" / "cornerturn", "cornerturn list")
        lines = done.stderr.strip().splitlines()
        require(done.returncode == 1 and len(lines) == 1 and REFUSED_FILE in lines[0] and said in lines[0],
                f"{said} (exit code {done.returncode}): {done.stderr.strip()}")
    write_if_changed(file, re.sub(r"CORNERTURN_RUNG\(.*\n", "", text).encode())
    done = subprocess.run(["cmake", "--build", build, "--target", "cornerturn"], capture_output=True, text=True)
    require(done.returncode != 0 and f"{REFUSED_FILE} is in a ladder, but has no CORNERTURN_RUNG" in done.stdout, "a file that registers nothing does not compile")
    file.unlink()


def check_formatting(text):
    formatter, style = shutil.which("clang-format-14"), SOURCE / ".clang-format"
    if formatter is None:
        print("formatting not checked: there is no clang-format-14")
        return
    done = subprocess.run([formatter, f"--style=file:{style}", "--assume-filename=example.cu"], input=text, capture_output=True, text=True)
    require(done.stdout == text, "it is formatted as .clang-format has it")


def run_in(tree):
    build = tree / "build" / pathlib.Path(os.environ.get("CORNERTURN_BUILD_DIR", "program")).name
    text = example()
    check_formatting(text)
    copy_sources(tree)
    configure(tree, build)
    for file in (EXAMPLE_FILE, TWIN_FILE):
        for left in cuda_objects(build, file):  # by an earlier run
            left.unlink()
    before = ids(os.environ["CORNERTURN"])

    # From here on nothing is told to CMake: it finds the files.
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
    require(broken.count("\n") == text.count("\n") - 1, "the example has one barrier to lose")
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
