"""Files of other users, which only root can make: what the program does to them."""

import errno
import os
import stat
import sys

import script
from targets_test import TargetCase


class Others(TargetCase):
    def test_another_users_file(self):
        target = self.save("out.npy", b"old")
        target.chmod(0o644)
        self.refuse_target(target, os.strerror(errno.EACCES))
        # Here cp would write into it. It cannot be replaced, which is known before the work.
        target.chmod(0o666)
        self.folder.chmod(0o1777)
        ran = self.as_user("transpose", self.source, target)
        self.assertEqual(ran.returncode, 1)
        self.assert_names(ran.stderr, target, self.folder)
        self.assertEqual(target.read_bytes(), b"old")

    def test_an_owner_that_cannot_be_kept(self):
        """Nobody gets a program that runs as another user."""
        self.source.chmod(0o6777)
        ran = self.as_user("transpose", self.source, self.source)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual((self.source.stat().st_uid, stat.S_IMODE(self.source.stat().st_mode)), (1 << 20, 0o777))


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root has files of others")
        sys.exit(77)
    script.main()
