"""The progress line of long commands: a terminal shows it, and pipes and files do not get it. Each run takes a few
seconds."""

import contextlib
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import script  # noqa: E402
from edges_test import PROGRAM, Case  # noqa: E402


def on_one_core():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def blocks(rows):
    """The number of blocks of 32 x 32 elements, as the program prints it."""
    return f"{(rows // 32) ** 2:,}".encode()


class Terminal(Case):
    NAIVE = ("profile", "transpose/naive_read@32x32", "--on", "emulator")
    more_rows = [4096, 6144, 8192, 12288, 16384, 24576]  # shown_while_long() removes the sizes that were too quick

    def shown(self, terminal, *arguments, output=subprocess.DEVNULL):
        """The text that a terminal of this kind gets in addition to `output`."""
        controller, end = pty.openpty()
        environment = os.environ | {"TERM": terminal or ""}
        if terminal is None:
            del environment["TERM"]
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=end if output is None else output,
                                   stderr=end, env=environment, preexec_fn=on_one_core)
        os.close(end)
        text = b""
        with contextlib.suppress(OSError):  # the error at the end of the terminal
            while piece := os.read(controller, 4096):
                text += piece
        os.close(controller)
        self.assertEqual(process.wait(timeout=300), 0)
        return text

    def shown_while_long(self, terminal, *arguments, output=subprocess.DEVNULL):
        """Like shown(), with enough rows for a run that is longer than the two seconds until progress appears. Also returns
        the number of rows."""
        while True:
            rows = self.more_rows[0]
            begin = time.monotonic()
            text = self.shown(terminal, *arguments, "--rows", rows, "--full", output=output)
            if time.monotonic() - begin > 2.5:
                return text, rows
            self.more_rows.pop(0)

    def test_progress(self):
        text, rows = self.shown_while_long("xterm", *self.NAIVE, output=None)
        self.assertRegex(text, rb"\A\r\x1b\[Ktranspose/naive_read@32x32, [\d,]+[^\d\r]+%b[^\d\r]*\r\x1b\[K" % blocks(rows))
        shape = b"%d x %d" % (rows, rows)
        self.assertRegex(text, rb"\r\x1b\[Ktranspose/naive_read@32x32  %b f32[^\r]*\r\n" % shape, "erased before the results")
        self.assertNotIn(b"\x1b", text[text.index(shape):])

    def test_a_terminal_that_cannot_erase_lines_gets_none(self):
        text, rows = self.shown_while_long("dumb", *self.NAIVE)
        self.assertEqual(text, b"")
        self.assertEqual(self.shown(None, "ladder", "transpose", "--on", "emulator", "--rows", 64), b"")
        self.assertNotIn(b"\r", self.succeed(*self.NAIVE, "--rows", rows, "--full", preexec_fn=on_one_core), "a pipe")

    def test_a_ladder_counts_its_rungs(self):
        text, rows = self.shown_while_long("xterm", "ladder", "transpose", "--on", "emulator", "--rungs", "naive_read@32x32,padded@32x8,naive_read@32x8")
        self.assertRegex(text, rb"\r\x1b\[K\[[123]/3\] transpose/[a-z_]+@\d+x\d+, [\d,]+[^\d\r]+%b\b" % blocks(rows))
        self.assertTrue(text.endswith(b"\r\x1b[K"))

    def test_a_bench_counts_its_cells(self):
        text = self.shown("xterm", "bench", "transpose", "--on", "host", "--random", 2, "--seconds", 1)
        self.assertRegex(text, rb"\r\x1b\[K\[[12]/2\] [^\r]*\d[^\r]*")
        self.assertTrue(text.endswith(b"\r\x1b[K"))

    def test_a_quick_command_shows_nothing(self):
        self.assertEqual(self.shown("xterm", "ladder", "transpose", "--on", "emulator", "--rows", 64), b"")


if __name__ == "__main__":
    script.main()
