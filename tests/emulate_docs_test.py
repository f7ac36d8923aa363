"""The examples of docs/emulator.md do what it says: their files, commands and outputs are taken from there."""

import re
import shlex

import docs_test
import script
from emulate_test import Emulate


class Examples(Emulate):
    def example(self, heading):
        """Writes the files of the example, and returns its text and its blocks of each language."""
        files = docs_test.documented_files(heading)
        self.assertEqual(len(files), 1, files.keys())
        self.write(*list(files.items())[0])
        section = docs_test.section("docs/emulator.md", heading)
        blocks = {}
        for language, lines, _ in docs_test.fenced_blocks(section):
            blocks.setdefault(language, []).append("\n".join(lines) + "\n")
        return section, blocks

    def run_documented(self, command, *more):
        words = shlex.split(command)
        self.assertEqual(words[:2], ["cornerturn", "emulate"])
        return self.run_program(*words[1:], *more)

    def edit(self, name, old, new):
        text = (self.folder / name).read_text()
        self.assertEqual(text.count(old), 1)
        (self.folder / name).write_text(text.replace(old, new))

    def test_the_first_try(self):
        _, blocks = self.example("Try it")
        _, command = blocks["sh"]
        found = self.run_documented(command)
        self.assertEqual((found.stdout, found.stderr, found.returncode), (blocks["text"][0], "", 0))

    def test_a_bank_conflict(self):
        section, blocks = self.example("Example: a bank conflict")
        command, = blocks["sh"]
        found = self.run_documented(command)
        self.assertEqual((found.stdout, found.stderr, found.returncode), (blocks["text"][0], "", 0))
        line = re.search(r"`--lines` names the line: `(\S+)`", section)[1]
        found = self.run_documented(command, "--lines", "--format", "csv")
        rows = [row.split(",") for row in found.stdout.splitlines() if row.startswith("transpose<0>,")]
        conflicts = rows and next(r for r in found.stdout.splitlines() if r.startswith("kernel,")).split(",").index("conflicts")
        self.assertEqual([row[1] for row in rows if row[conflicts] != "0"], [line], found.stdout)

    def test_a_race(self):
        section, blocks = self.example("Example: a race")
        right = re.search(r"may print the right sum, (\d+)", section)[1]
        command, wrong = re.search(r"`(cornerturn emulate .*)` prints (\d+) and reports:", section).groups()
        found = self.run_documented(command)
        self.assertEqual((found.stdout.splitlines()[0], found.stderr, found.returncode), (wrong, blocks["text"][0], 0))
        self.edit("race.cu", "// __syncthreads() is missing here.", "__syncthreads();")
        found = self.run_documented(command)
        self.assertEqual((found.stdout.splitlines()[0], found.stderr, found.returncode), (right, "", 0))

    def test_a_budget(self):
        section, blocks = self.example("Example: a budget in CI")
        command, = re.findall(r"^ *(cornerturn emulate .*)$", blocks["yaml"][0], re.M)
        code = int(re.search(r"fails with exit code (\d+)", section)[1])
        found = self.run_documented(command)
        self.assertEqual((found.stderr, found.returncode), (blocks["text"][0], code))
        better, sectors = re.search(r"stored by columns: `(.*)` takes (\d+) sectors a request", section).groups()
        self.edit("rows.cu", "matrix[row * kCols + col]", better)
        found = self.run_documented(command, "--budget", f"sum_rows: load.sectors_per_request == {sectors}")
        self.assertEqual((found.stderr, found.returncode), ("", 0))


if __name__ == "__main__":
    script.main()
