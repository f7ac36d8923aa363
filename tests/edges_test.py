"""The program in unusual environments: streams that are closed or full, names that are not UTF-8, limits on files, threads
and memory, signals."""

import contextlib
import errno
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import script

PROGRAM = os.environ["CORNERTURN"]
SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
MiB = 1 << 20
BENCH = ["bench", "permute", "--on", "host", "--random", "1", "--seed", "3", "--seconds", "1e-6"]
ONE_LINE = r"\Acornerturn: [^\n]+\n\Z"
FULL = os.strerror(errno.ENOSPC)
# Text of libraries' messages, which must not reach the user.
RAW = ["std::", "terminate", "exception", "basic_", "pthread", "filesystem error"]


def npy(rows, cols, descr=b"'|u1'", data=None):
    """A .npy file of bytes: row r has the elements r, r + 1, ..."""
    header = b"{'descr': %b, 'fortran_order': False, 'shape': (%d, %d), }\n" % (descr, rows, cols)
    if data is None:
        data = bytes((row + col) % 251 for row in range(rows) for col in range(cols))
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def elements(path, size):
    return Path(path).read_bytes()[-size:]


class Case(script.NamesValues, unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_it(self, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [argument if isinstance(argument, bytes) else str(argument) for argument in arguments]
        return subprocess.run([PROGRAM, *command], timeout=300, **options)

    def refuse(self, status, values, *arguments, **options):
        """The command ends with `status`, and its one line on stderr names all these values, in any order."""
        ran = self.run_it(*arguments, **options)
        said = ran.stderr.decode()
        with self.subTest(command=arguments, said=said):
            self.assertEqual(ran.returncode, status)
            self.assertRegex(said, ONE_LINE)
            for value in values:
                self.assert_names(said, value)
            for raw in RAW:
                self.assertNotIn(raw, said)
        return said

    def succeed(self, *arguments, **options):
        ran = self.run_it(*arguments, **options)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""), arguments)
        return ran.stdout

    def save(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def full(self):
        """A device that is full."""
        if not os.path.exists("/dev/full"):
            self.skipTest("this system has no /dev/full")
        return self.enterContext(open("/dev/full", "wb"))


def closing(*numbers):
    """Options of a process that starts with these descriptors closed."""
    return {"preexec_fn": lambda: [os.close(number) for number in numbers]}


def limiting(what, limit):
    return {"preexec_fn": lambda: resource.setrlimit(what, (limit, limit))}


class Streams(Case):
    def test_an_error_that_cannot_be_printed(self):
        absent = self.folder / "absent.npy"
        for wanted, arguments in [(2, ["bogus"]), (2, ["show", "4"]), (1, ["transpose", absent, absent])]:
            for how in (closing(2), {"stderr": self.full()}):
                self.assertEqual(self.run_it(*arguments, **how).returncode, wanted, arguments)

    def test_no_file_becomes_a_closed_stream(self):
        """The next file gets the lowest free descriptor. Messages must not go into that file."""
        path, out = self.save("in.npy", npy(30, 20)), self.folder / "out.npy"
        self.assertEqual(self.run_it("transpose", path, out, **closing(0, 2)).returncode, 0)
        self.assertEqual(self.run_it("transpose", out, out, "--output", self.folder / "said", **closing(0, 1, 2)).returncode, 0)
        self.assertEqual(elements(out, 600), elements(path, 600))
        self.assertIn("(20, 30)", (self.folder / "said").read_text())

    def test_a_closed_output_is_found_before_the_work(self):
        path = self.save("in.npy", npy(30, 20))
        for arguments in [("transpose", path, path), ("list",), ("--help",)]:
            self.refuse(1, ["standard output", os.strerror(errno.EBADF)], *arguments, **closing(1))
        self.assertEqual(path.read_bytes(), npy(30, 20))
        self.succeed("transpose", path, path, "--output", self.folder / "said", **closing(1))

    def test_a_full_output(self):
        for arguments in [("--help",), ("--version",), ("list", "--help"), ("list",), ("show", "4x8"),
                          ("profile", "copy/global@32x8", "--on", "emulator", "--rows", 64)]:
            self.refuse(1, ["standard output", FULL], *arguments, stdout=self.full())
        path, out = self.save("in.npy", npy(30, 20)), self.folder / "out.npy"
        self.refuse(1, [out, "standard output", FULL], "transpose", path, out, stdout=self.full())
        self.assertTrue(out.exists())
        self.refuse(1, ["/dev/full", FULL], "list", "--output", "/dev/full")

    def test_a_pipe_that_is_closed(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        ran = self.run_it("list", stdout=writing)
        self.assertEqual((ran.returncode, ran.stderr), (-signal.SIGPIPE, b""))
        self.refuse(1, ["standard output", os.strerror(errno.EPIPE)], "list", stdout=writing, restore_signals=False)


class Names(Case):
    def test_bytes_that_are_not_utf8(self):
        path = os.fsencode(self.folder) + b"/\xff.npy"
        Path(os.fsdecode(path)).write_bytes(npy(30, 20, b"[('gr\xf6\xdfe', '|u1')]"))
        before = elements(os.fsdecode(path), 600)
        said = json.loads(self.succeed("transpose", path, path, "--format", "json"))
        self.assertTrue(said["source"].endswith("/\ufffd.npy"), said)
        self.assertIn("gr\ufffd\ufffde", said["from"])
        transposed = bytes(before[row * 20 + col] for col in range(20) for row in range(30))
        self.assertEqual(elements(os.fsdecode(path), 600), transposed)

    def test_a_command_line_that_is_not_utf8(self):
        said = json.loads(self.succeed(*BENCH, "--commit", b"\xff", "--format", "json"))
        self.assertEqual(said["provenance"]["commit"], "\ufffd")
        self.assertIn("--commit \ufffd", said["provenance"]["command"])

    def test_a_message_is_one_line(self):
        self.refuse(1, ["a?b?[31m"], "transpose", "a\nb\x1b[31m", self.folder / "out.npy")
        self.refuse(2, ["'?'"], "list", "--format", "\n")


class Options(Case):
    def test_help_ignores_mistakes_after_it(self):
        for option in ("--help", "-h"):
            self.assert_names(self.succeed(option, "ladder", "--rows").decode(), "list", "ladder", "transpose", "cc")
        self.assertRegex(self.succeed("--version", "ladder", "--rows"), br"\A\d+\.\d+\.\d+\n\Z")

    def test_the_option_at_fault_is_named(self):
        for what in ("transpose", "transpose/padded@32x8"):
            self.refuse(2, ["--cols", "'abc'"], "explain", what, "--cols", "abc")
        self.refuse(2, ["WHAT", "transpose", "cornerturn explain --help"], "explain", "--cols", "abc")
        self.refuse(2, ["--cols", "cornerturn explain --help"], "explain", "transpose", "--cols")
        self.refuse(2, ["--cols", "cornerturn explain --help"], "explain", "transpose", "--cols", 1, "--cols", 2)
        commands = ["list", "ladder", "transpose", "cc", "cornerturn --help"]
        self.refuse(2, ["'--bogus'", *commands], "--bogus")
        self.refuse(2, commands)

    def test_a_seed_is_a_number_everywhere(self):
        path = self.save("in.npy", npy(3, 4))
        for command in [("explain", "transpose"), ("explain", "permute"), ("explain", "gemm"), ("list",), ("transpose", path, path)]:
            self.refuse(2, ["--seed", "'abc'"], *command, "--seed", "abc")
        self.assertEqual(path.read_bytes(), npy(3, 4))


class Limits(Case):
    def test_the_size_of_files(self):
        path = self.save("in.npy", npy(100, 200))
        before = path.read_bytes()
        limit, too_large = limiting(resource.RLIMIT_FSIZE, 1024), os.strerror(errno.EFBIG)
        self.refuse(1, ["in.npy", too_large], "transpose", path, path, **limit)
        self.refuse(1, ["list.txt", too_large], "list", "--output", self.folder / "list.txt", **limit)
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir()}, {"in.npy": before})
        with open(self.folder / "list.txt", "wb") as file:
            self.refuse(1, ["standard output", too_large], "list", stdout=file, **limit)

    def without_threads(self):
        """Options of a process that may start no thread. root has no such limit, so for root they also set another user."""
        limit = limiting(resource.RLIMIT_NPROC, 1)
        if os.geteuid() != 0:
            return limit
        user = (1 << 20) + os.getpid()
        os.chown(self.folder, user, user)
        other = limit | {"user": user, "group": user, "extra_groups": []}
        with contextlib.suppress(PermissionError):
            if self.run_it("--version", **other).returncode == 0:
                return other
        self.skipTest(f"other users may not run {PROGRAM}")

    def test_no_threads(self):
        few = self.without_threads()
        rows, cols = 3000, 2000
        data = os.urandom(rows * cols)
        path, out = self.save("in.npy", npy(rows, cols, data=data)), self.folder / "out.npy"
        self.succeed("transpose", path, out, **few)
        self.assertEqual(elements(out, rows * cols), b"".join(data[col::cols] for col in range(cols)))
        self.succeed("profile", "host/production", "--rows", rows, "--cols", cols, **few)
        self.succeed("profile", "transpose/padded@32x8", "--on", "emulator", **few)
        self.succeed(*BENCH, **few)

    def test_memory(self):
        def limit(bytes):
            return limiting(resource.RLIMIT_AS, bytes)

        least, enough = 0, 4 << 30  # bytes that the program needs to start: with less, the loader or the C library fails
        while enough - least > MiB // 4:
            middle = (least + enough) // 2
            if self.run_it("--version", **limit(middle)).returncode == 0:
                enough = middle
            else:
                least = middle
        path, out = self.save("in.npy", npy(1, 1)), self.folder / "out.npy"
        rows = 8192
        with open(path, "r+b") as file:
            header = npy(rows, rows, data=b"")
            file.write(header)
            file.truncate(len(header) + rows * rows)
        results = [file for file in sorted((SOURCE_DIR / "results").glob("bench_*.json"))[:20]]
        said = {}
        for more in (0, 1, 2, 4, 8, 16, 32):
            for arguments in (["list"], ["show", "1000x1000"], ["report", *results], ["profile", "host/production", "--rows", 8192],
                              ["ladder", "transpose", "--on", "emulator", "--rows", 100], ["transpose", path, out]):
                ran = self.run_it(*arguments, **limit(enough + more * MiB))
                if ran.returncode == 0:
                    continue
                *warnings, text = ran.stderr.decode().splitlines(keepends=True)
                if arguments[0] != "ladder":  # the emulator warns if it has no memory to search a kernel for races
                    self.assertEqual(warnings, [])
                self.assertEqual(ran.returncode, 1, (arguments, text))
                self.assertRegex(text, ONE_LINE)
                self.assertRegex(text, r"\d+ (bytes|MiB)\b", arguments)
                for raw in RAW:
                    self.assertNotIn(raw, text)
                said.setdefault(arguments[0], []).append(text)
        self.assertRegex(said["transpose"][-1], r"\b\d+ bytes\b.* --memory\b")
        self.assert_names(said["report"][0], "ulimit -v")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["in.npy"])


class Signals(Case):
    def begin(self, **options):
        """Starts a transpose that takes seconds, and waits until it writes its new file. Returns the process and its target."""
        path, out = self.folder / "in.npy", self.save("out.npy", b"old")
        rows = 12000
        header = npy(rows, rows, data=b"")
        with open(path, "wb") as file:  # a sparse file
            file.write(header)
            file.truncate(len(header) + rows * rows)
        process = subprocess.Popen([PROGRAM, "transpose", path, out, "--memory", "32MiB", "--threads", "1"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        files = Path("/proc", str(process.pid), "fd")
        names = [f"{self.folder}/.cornerturn-", f"{self.folder}/#"]  # the second: a file without a name, if the system supports it
        while process.poll() is None:
            with contextlib.suppress(OSError):
                if any(os.readlink(file).startswith(name) for file in files.iterdir() for name in names):
                    return process, out
            time.sleep(0.001)
        self.fail("it ended before it wrote")

    def test_it_ends_by_the_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, out = self.begin()
            process.send_signal(number)
            printed, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, printed), (-number, b""))
            self.assertRegex(said.decode(), ONE_LINE)
            self.assertEqual(out.read_bytes(), b"old")
            self.assertEqual({p.name for p in self.folder.iterdir()}, {"in.npy", "out.npy"})

    def test_a_signal_that_is_ignored(self):
        process, out = self.begin(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=300)[1], b"")
        self.assertEqual(process.returncode, 0)
        self.assertNotEqual(out.read_bytes(), b"old")


class Elsewhere(Case):
    def test_a_folder_that_is_gone(self):
        result = self.save("list.json", self.succeed("ladder", "transpose", "--on", "emulator", "--rows", 16, "--format", "json"))
        gone = self.folder / "gone"
        gone.mkdir()

        def enter():
            os.chdir(gone)
            os.rmdir(gone)

        self.refuse(1, [os.strerror(errno.ENOENT)], "report", result, "--format", "markdown", "--plots", self.folder / "plots", preexec_fn=enter)


if __name__ == "__main__":
    script.main()
