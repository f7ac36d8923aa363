"""Output for a terminal: tables and --help that fit 100 columns."""

import re

import script
from cli_test import Case


class Terminal(Case):
    def assert_fits(self, text):
        """No line is longer than a terminal of 100 columns."""
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100, line)

    def test_list(self):
        self.assert_fits(self.succeed("list"))

    def test_ladders(self):
        for arguments in (("transpose",), ("transpose", "--dtype", "u8"), ("transpose", "--dtype", "c128"), ("gemm", "--m", 256), ("permute",),
                          ("permute", "--dtype", "u8")):
            with self.subTest(arguments=arguments):
                self.assert_fits(self.succeed("ladder", *arguments, "--on", "emulator"))

    def test_single_kernels(self):
        id = "transpose/reindexed@3x4"
        for command in (("profile", id, "--lines"), ("diff", id, "transpose/swizzled@64x64"), ("explain", "permute"), ("explain", "gemm"), ("explain", "transpose")):
            with self.subTest(command=command):
                self.assert_fits(self.succeed(*command))

    def test_help_shows_what_a_value_looks_like(self):
        commands = re.findall(r"^  ([a-z]+) ", self.succeed("--help"), re.MULTILINE)
        self.assertLessEqual({"list", "show", "ladder", "profile", "diff", "explain", "transpose", "bench", "report", "emulate", "cc"}, set(commands))
        for command in ([], *([command] for command in commands)):
            with self.subTest(command=command):
                text = self.succeed(*command, "--help")
                self.assertNotRegex(text, r"\b(TEXT|U?INT|FLOAT|REQUIRED)\b")
                self.assert_fits(text)
                self.assert_names(text.splitlines()[0], "cornerturn", *command)
                self.assertEqual(re.search(r"(?m)^  cornerturn ", text) is not None, bool(command), "examples")
        text = self.succeed("ladder", "--help")
        for option in ("--rows N ", "--dtype u8|u16|f32|f64|c128...\n", "--on emulator|cuda ", "--axes 0,2,3,1 ", "--output FILE ", "--seed N ",
                       "--format table|markdown|csv|json\n", "--full "):
            self.assertIn("  " + option, text)
        self.assertIn("--memory 1GiB ", self.succeed("transpose", "--help"))


if __name__ == "__main__":
    script.main()
