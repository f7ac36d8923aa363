"""Mutants of the library's code: random edits of its kernels, of the choice among them, of the host's engine and of the
parser of .npy headers. The tests of the edited file must catch each mutant.

    library_mutants_test.py           draws CORNERTURN_MUTANTS edits by CORNERTURN_SEED
    library_mutants_test.py FILE      runs the edits in FILE, which has the form of tests/mutants/equivalent_edits.txt

The test edits a copy of a file. It compiles the sources that include the file as the build does, and links them with the
other objects of the build. An edit does not count if it does not compile, or changes no object file. A test catches a mutant
if it fails, crashes or does not end. A mutant that survives two runs fails this test, unless
tests/mutants/equivalent_edits.txt lists it or a rule below excuses it.

The seed and the lines of an edit give it a rank, and the edits with the lowest ranks are drawn. So a change of one line does
not change whether other lines are drawn.

Code for GPUs is not edited: code that only a build with CUDA compiles (CORNERTURN_WITH_CUDA, not CORNERTURN_EMULATED), and
the files of kernels/ that allocate, plan and launch on a GPU. Files that register the kernels with the lab (rung_*) are not
edited either.
"""

import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(os.environ["CORNERTURN_SOURCE_DIR"]).resolve()
BUILD = Path(os.environ["CORNERTURN_BUILD_DIR"]).resolve()
sys.path.insert(0, str(SOURCE / "tests/mutants"))
import library_edits as edits  # noqa: E402

SEED = int(os.environ.get("CORNERTURN_SEED", "202"))
COUNT = int(os.environ.get("CORNERTURN_MUTANTS", "8"))
LIST = SOURCE / "tests/mutants/equivalent_edits.txt"
PROCESSOR_SECONDS, SECONDS = 180, 400  # limits of a test: processor time of all threads, and time by the clock
SKIPPED = 77  # the exit code of a skipped test

# The end of a file's path: further flags. Some instruction sets are left out, as in the build with sanitizers, because all
# of them take half a minute to compile. Kernels in the emulator trap if they leave their arrays.
FLAGS = [(r"src/host/(kernels|targets/\w+)\.cpp", ["-DCORNERTURN_FEW_TARGETS"]),
         ("cornerturn_production_emulated/.*", ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"])]

# The beginning of a path, as a regular expression: the tests of that code, the fastest first. Scripts run a newly linked
# program.
NEAREST = [
    ("src/files/npy.cpp", ["npy_test", "files_test.py"]),
    (r"src/host/(kernels\.cpp|.*-inl\.hpp)", ["host_transpose_test", "host_copy_test", "host_large_test"]),
    ("src/host/", ["host_choice_test", "host_transpose_test", "host_copy_test"]),
    ("src/move/policy_measured.cpp", ["measured_choices_test"]),
    ("src/move/", ["transposes_memory_test", "strided_test", "transposes_test", "permute_test", "measured_choices_test"]),
    ("src/ops/gemm/kernels/", ["gemm_policy_test", "products_test"]),
]

# The end of a path: the kernels that are enough to test that file, as names of rows in tunings.hpp. With all kernels,
# products_test takes a minute and a half of processor time.
TUNINGS = [
    ("narrow.cu", "dots of 4, sliced|columns of 1|columns of 2"),
    ("outer.cu", "outer of 8|outer of 16, small"),
    ("tiles.hpp", "small|tiny, sliced|tall|thin"),
    ("tunings.hpp", ""),
    ("", "large|thin|dots of 4|columns of 1|outer of 8"),
]

COST = "a predicted cost, which decides between plans that are all right; tests run each plan, whatever the prediction"
TEXT = "a text for users"
PREFETCH = "an address to prefetch; nothing is read from it"

# (file, scope as library_edits.scope_of() returns it, reason). File and scope are regular expressions. Only code that cannot
# hide a wrong result: functions that just return a prediction, a text, or an address to prefetch, and tables that choose
# between methods that both take any work.
EXCUSED = [
    ("src/move/policy_tile_cost.cpp", ".*", COST),
    ("src/move/(cost.hpp|policy_cost.cpp)", ".*", COST),
    ("src/move/(rows|units|packed)_cut.hpp", r"\w+::count", COST),
    ("src/move/packed_cut.hpp", "packed_cut::(by_words|bytes_of_block|is_worthwhile)|resident_threads_of_packed",
     "how much a block or a multiprocessor takes, and what is offered: all are right"),
    ("src/move/cuts.hpp", "counts_of_memory|fetched_bytes|repeats_of|bytes_cut_by_gaps|k(Far|Near)Window|kMostBytesOfWindow", COST),
    ("src/move/policy_matrices.cpp", "cost_of|count(_tiles|s_of_matrices)?|cover(::\\w+)?|touched|rows_collide", COST),
    ("src/move/policy.cpp", "is_cheaper", COST),
    ("src/move/tile_cut.hpp", "tile_cut::(conflicts_at|count_conflicts|place_of)", COST),
    ("src/move/tile_cut.hpp", "kTargets", "targets for the shape of tiles: all possible tiles are right, and strided_test runs each"),
    ("src/move/tile_cut.hpp", "reach_of|tile_cut::(ends_span|ends_well|fetches_lines)",
     "where a tile should end: all possible tiles are right, and strided_test runs each"),
    ("src/ops/gemm/kernels/policy.cpp", "blocks_us|memory_bytes|chooser::(pack_us|slower_by)|kRounds|kFew|kLongK", COST),
    ("src/move/matrices.hpp", "k(Vector|VectorApart|Direct|Ragged)", "a row of a table: transposes_memory_test runs each"),
    ("src/host/(choice|tiling).cpp", r"k[A-Z]\w+", "a threshold between methods, or an amount that is moved at a time: all are right"),
    ("src/host/job.hpp", "kTaskBytes", "how much work a thread takes at a time"),
    ("src/host/job.hpp", "job::packed_source", "the choice of a method, and what is prefetched: all methods take a source with gaps"),
    ("src/host/tiling.cpp", "root|together", COST),
    ("src/host/tiling.cpp", "longest_window", PREFETCH),
    ("src/host/tiling_plane.cpp", r"gathered|left_over|far_lines|k[A-Z]\w+", COST),
    ("src/host/cost.hpp", ".*", COST),
    ("src/host/choice.cpp", r"cost_of|ways(::\w+)?|ways_of|explain(::\w+)?", COST),
    ("src/host/shuffle_order.cpp", "cycles_of_shuffle", COST),
    ("src/host/job.hpp", "fetch_tile|own_tile", PREFETCH),
    ("src/host/strips.cpp", "ahead|strip_stream::(fetch|strips_are_contiguous)", PREFETCH),
    ("src/(move|ops/.*)/policy.*.cpp", r"explain\w*(::\w+)?|name|name_of|operand_text|microseconds|predicted_text|text_of\w*", TEXT),
    ("src/host/tiling.cpp", "text", TEXT),
]


class build:
    """The commands and dependencies of the object files and programs of the build."""

    def __init__(self):
        ask = lambda tool: subprocess.run(["ninja", "-C", BUILD, "-t", tool], check=True, capture_output=True, text=True).stdout
        database = ask("compdb")
        self.commands = {entry["output"]: entry for entry in json.loads(database[database.index("["):])}
        self.lock, self.codes, self.dependents = threading.Lock(), {}, {}
        for line in ask("deps").split("\n"):
            if line.startswith(" "):
                path = os.path.normpath(BUILD / line.strip())
                if for_processor:
                    self.dependents.setdefault(path, []).append(output)
            else:
                output = line.split(":")[0]
                for_processor = not self.commands.get(output, {"file": ".cu"})["file"].endswith(".cu")

    def link_of(self, program):
        """The arguments of the command that links the program."""
        return [argument for argument in shlex.split(self.commands[program]["command"]) if argument not in (":", "&&")]

    def objects_of(self, program):
        """The object files of the program, and those in its static libraries."""
        found = []
        for file in self.link_of(program):
            if file.endswith(".a") and file in self.commands:
                found += [part for part in shlex.split(self.commands[file]["command"]) if part.endswith(".o")]
            elif file.endswith(".o"):
                found.append(file)
        return frozenset(found)

    def compile(self, output, edited, changed, to):
        """Compiles the object file. The changed copy of a file hides the original. Returns whether it compiled."""
        arguments = shlex.split(self.commands[output]["command"])
        while not Path(arguments[0]).name.endswith(("++", "cc", "clang")):
            arguments.pop(0)  # without ccache: no mutant is compiled twice
        result = [arguments[0], "-I", changed, "-I", changed / "src", f"-ffile-prefix-map={changed}=.", "-w", "-fmax-errors=1"]
        skipped = 0
        for argument in arguments[1:]:
            if argument in ("-MT", "-MF", "-o"):
                skipped = 1
            elif skipped:
                skipped = 0
            elif argument != "-MD":
                result.append(changed / edited if Path(argument) == SOURCE / edited else argument)
        result += self.flags_for(output)
        return subprocess.run([*result, "-o", to], cwd=BUILD, capture_output=True).returncode == 0

    def flags_for(self, output):
        return next((flags for path, flags in FLAGS if re.search(f"/{path}$", self.commands[output]["file"])), [])

    def original_code(self, output):
        """The code of the object file in the build, or compiled again if mutants get other flags."""
        with self.lock:
            if output not in self.codes:
                flags = self.flags_for(output)
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    if flags and not self.compile(output, "", folder, folder / "original.o"):
                        sys.exit(f"FAILED: {output} does not compile")
                    self.codes[output] = code_of(folder / "original.o" if flags else BUILD / output, folder / "code")
        return self.codes[output]

    def link(self, program, altered, to):
        """Links the program with altered object files: {object file of the build: its substitute}."""
        arguments, mine = self.link_of(program), set(altered) & self.objects_of(program)
        result, direct = [], set(arguments)
        for argument in arguments:
            if argument.endswith(".a") and mine:
                # The linker takes only missing symbols from libraries, so substitutes come before all libraries.
                result += [altered[name] for name in sorted(mine - direct)]
                mine = set()
            result.append(altered.get(argument, argument))
        result[result.index(program)] = to
        subprocess.run(result, cwd=BUILD, check=True, capture_output=True)


def code_of(object_file, scratch):
    """The bytes of an object file without debug information."""
    subprocess.run(["objcopy", "--strip-debug", object_file, scratch], check=True)
    return scratch.read_bytes()


def run_test(command, folder, environment):
    """How the test failed, or None if it passed."""
    def prepare():
        Path("/proc/self/oom_score_adj").write_text("1000")  # a mutant may take all memory: end it first
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))

    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=prepare) as running:
        try:
            status = running.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return "did not end" if status is None else f"ended with {status}" if status not in (0, SKIPPED) else None


class mutant:
    def __init__(self, edit):
        self.edit = edit
        self.tests = next(tests for path, tests in NEAREST if re.match(path, edit.path))

    def run(self, built, folder):
        """(verdict, what happened)"""
        folder.mkdir()
        try:
            return self.run_in(built, folder)
        finally:
            shutil.rmtree(folder)

    def run_in(self, built, folder):
        edit, changed = self.edit, folder / "changed"
        text = (SOURCE / edit.path).read_text()
        (changed / edit.path).parent.mkdir(parents=True)
        (changed / edit.path).write_text(text[:edit.position] + edit.new + text[edit.position + len(edit.old):])
        programs = {test: "bin/cornerturn" if test.endswith(".py") else f"tests/{test}" for test in self.tests}
        needed = set().union(*map(built.objects_of, programs.values()))
        of_file = [name for name in built.dependents.get(str(SOURCE / edit.path), []) if name in needed]
        altered = {}
        # The library first: most edits that do not compile already fail there.
        for number, name in enumerate(sorted(of_file, key=lambda name: (name.startswith("tests"), name))):
            to = folder / f"{number}.o"
            if not built.compile(name, edit.path, changed, to):
                return "not compiled", ""
            if code_of(to, folder / "code") != built.original_code(name):
                altered[name] = to
        if not altered:
            return "the same", ""
        for test, program in programs.items():
            linked = folder / test.removesuffix(".py")
            built.link(program, altered, linked)
            command = [linked, "--gtest_fail_fast", "--gtest_brief=1"]
            if test.endswith(".py"):
                command = [sys.executable, SOURCE / "tests" / test, "--failfast"]
            tunings = next(names for name, names in TUNINGS if edit.path.endswith(name))
            failure = run_test(command, folder, {**os.environ, "CORNERTURN": str(linked), "CORNERTURN_TUNINGS": tunings})
            if failure:
                return "caught", f"{test} {failure}"
            linked.unlink()
        return "survived", ", ".join(self.tests)


def excuse_for(edit, listed):
    text = (SOURCE / edit.path).read_text()
    scope = edits.scope_of(text, edit.position)
    for key, wanted, reason in listed:
        if key == edits.key_of(edit) and wanted in ("", scope):
            return reason
    return next((reason for path, name, reason in EXCUSED if re.fullmatch(path, edit.path) and re.fullmatch(name, scope)), None)


def drawn(all_edits):
    def rank(numbered):
        edit, number = numbered
        return hashlib.sha256(repr((SEED, edits.key_of(edit), number)).encode()).digest()

    return [edit for edit, _ in sorted(edits.numbered(all_edits), key=rank)[:COUNT]]


def check_build(built, folder):
    """Compiles some files without an edit. The object files must equal those of the build, or edits cannot be recognized."""
    for name in ("src/move/kernels/small.cu", "src/host/squares.cpp", "src/files/npy.cpp"):
        (folder / "changed" / name).parent.mkdir(parents=True)
        shutil.copy(SOURCE / name, folder / "changed" / name)
        mine = built.objects_of("bin/cornerturn")
        for output in [output for output in built.dependents[str(SOURCE / name)] if output in mine]:
            assert built.compile(output, name, folder / "changed", folder / "again.o"), f"{output} does not compile"
            if code_of(folder / "again.o", folder / "code") != built.original_code(output):
                sys.exit(f"FAILED: {output} is out of date: build again, then run this test")
        shutil.rmtree(folder / "changed")


def main():
    if not (BUILD / "build.ninja").exists():
        print("skipped: the build does not use Ninja, and this test needs the commands of Ninja")
        sys.exit(SKIPPED)
    everything = edits.all_edits(SOURCE)
    by_key = {}
    for edit in everything:
        by_key.setdefault(edits.key_of(edit), []).append(edit)
    listed = edits.read_list(LIST.read_text())
    for key, _, _ in listed:
        if key not in by_key:
            sys.exit(f"FAILED: this edit is no longer possible; remove it from {LIST.name}:\n" + "\n".join(key))
    if sys.argv[1:]:
        chosen = [edit for key, _, _ in edits.read_list(Path(sys.argv[1]).read_text()) for edit in by_key[key]]
    else:
        chosen = drawn(everything)
        print(f"seed {SEED}: {len(chosen)} of {len(everything)} edits (CORNERTURN_SEED and CORNERTURN_MUTANTS draw others)")
    counts, survivors, lock = Counter(), [], threading.Lock()
    with tempfile.TemporaryDirectory() as name:
        folder, built = Path(name), build()
        check_build(built, folder)

        def look_at(numbered):
            number, edit = numbered
            begin = time.monotonic()
            verdict, what = mutant(edit).run(built, folder / str(number))
            if verdict == "survived":
                excuse = excuse_for(edit, listed)
                if excuse:
                    verdict, what = "excused", excuse
                else:  # many tests draw at random, so they run twice
                    verdict, what = mutant(edit).run(built, folder / str(number))
            with lock:
                counts[verdict] += 1
                if verdict == "survived":
                    survivors.append(edit)
                print(f"{number:4} {verdict} ({time.monotonic() - begin:.0f} s) {what}\n{edits.shown(edit)}", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(look_at, enumerate(chosen, 1)))
    different = counts["caught"] + counts["excused"] + counts["survived"]
    print(f"{len(chosen)} edits: {counts['not compiled']} do not compile, {counts['the same']} change no object file, {different} count: "
          f"{counts['caught']} caught, {counts['excused']} excused, {counts['survived']} survived")
    if survivors:
        print(f"FAILED (seed {SEED}): no test catches these edits. Write one that does, or list them in {LIST.name} with the reason:")
        print("\n".join(map(edits.shown, survivors)))
        sys.exit(1)


if __name__ == "__main__":
    main()
