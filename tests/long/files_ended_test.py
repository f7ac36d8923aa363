"""cornerturn transpose, ended at random moments: its target is either the old file or the finished one, and no other file
remains. There are 40 runs. To transpose the files on a GPU, run this script with CORNERTURN_ON=cuda."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import files_test
import script
from edges_test import ONE_LINE


class Ended(files_test.Case):
    def setUp(self):
        super().setUp()
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        self.draw = random.Random(seed)

    def end_it(self, how, array, axes=None):
        """Ends a run at a random moment. Returns its exit status, and whether the target was replaced."""
        source, target = self.folder / "in.npy", self.folder / "out.npy"
        more = [] if axes is None else ["--axes", ",".join(map(str, axes))]
        if not source.exists():
            self.save("in.npy", array)
            self.memory = self.within(32 * files_test.MiB)
            begun = time.monotonic()
            self.succeed(source, target, "--memory", self.memory, *more)
            self.seconds = time.monotonic() - begun
        old = self.save("out.npy", files_test.array_of("u1", (3, 3))).read_bytes()
        process = subprocess.Popen([*files_test.TRANSPOSE, str(source), str(target), "--memory", str(self.memory), *more],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(self.draw.uniform(0, 1.1 * self.seconds))
        process.send_signal(how)
        said = process.communicate()[1]
        replaced = target.read_bytes() != old
        if replaced:
            self.expect_transposed(target, array, axes=axes)
        # A file with such a name can remain if the file system has no unnamed files, or at the moment of renaming.
        litter = {p for p in self.folder.iterdir() if p.name not in ("in.npy", "out.npy")}
        if how == signal.SIGKILL:
            self.assertTrue(all(p.name.startswith(".cornerturn-") for p in litter), litter)
            for p in litter:
                p.unlink()
        else:
            self.assertEqual(litter, set())
        self.litter = getattr(self, "litter", 0) + len(litter)
        return process.returncode, replaced, said

    def test_killed_at_random_moments(self):
        array = files_test.array_of("<f4", (5000, 3001))
        ended = [self.end_it(signal.SIGKILL, array) for _ in range(25)]
        self.assertTrue(any(status == -signal.SIGKILL and not replaced for status, replaced, _ in ended))
        print(f"{self.litter} of {len(ended)} left litter")
        if self.unnamed_files():
            self.assertLess(self.litter, len(ended) // 4)

    def unnamed_files(self):
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
            return True
        except OSError:
            return False

    def test_interrupted(self):
        array = files_test.array_of("<f4", (500, 10, 3001))
        ended = [self.end_it(signal.SIGINT, array, (2, 0, 1)) for _ in range(15)]
        # A signal before the program handles signals, or after it has replaced the target, ends it without a message.
        messages = [said for status, _, said in ended if status == -signal.SIGINT and said]
        self.assertTrue(messages)
        for message in messages:
            self.assertRegex(message, ONE_LINE)
        for status, replaced, said in ended:
            self.assertIn(status, (0, -signal.SIGINT), said)
            if status == 0 or said:
                self.assertEqual(replaced, status == 0, said)


if __name__ == "__main__":
    script.main()
