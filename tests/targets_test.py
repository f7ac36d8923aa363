"""Which files the program replaces, which of their attributes it keeps, and which files it refuses to replace."""

import errno
import os
import stat
import struct
import subprocess

import script
from edges_test import PROGRAM, Case, elements, npy

ACL, DEFAULT_ACL = "system.posix_acl_access", "system.posix_acl_default"


def acl(group):
    """An ACL in Linux's format: the owner may read and write, user 12345 may read, the group has `group`, others have nothing."""
    everyone = 0xffffffff
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in [
        (0x01, 6, everyone), (0x02, 4, 12345), (0x04, group, everyone), (0x10, 6, everyone), (0x20, 0, everyone)])


class TargetCase(Case):
    def setUp(self):
        super().setUp()
        self.source = self.save("in.npy", npy(30, 20))
        self.source.chmod(0o644)

    def as_user(self, *arguments, command=PROGRAM):
        """Runs the command as a user who is not root."""
        options = {}
        if os.geteuid() == 0:
            self.folder.chmod(self.folder.stat().st_mode | 0o777)
            options = {"user": 1 << 20, "group": 1 << 20, "extra_groups": []}
        try:
            return subprocess.run([command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)
        except PermissionError:
            self.skipTest(f"other users may not run {PROGRAM}")

    def refuse_target(self, target, *values):
        """The program refuses the target, as cp does."""
        self.assertNotEqual(self.as_user(self.source, target, command="cp").returncode, 0)
        before = {p.name: p.lstat() for p in self.folder.iterdir()}
        for arguments in (["transpose", self.source, target], ["list", "--output", target]):
            ran = self.as_user(*arguments)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""), arguments)
            self.assertRegex(ran.stderr, r"\Acornerturn: [^\n]+\n\Z")
            self.assert_names(ran.stderr, target.name, *values)
        self.assertEqual({p.name: (s.st_ino, s.st_mtime_ns) for p in self.folder.iterdir() for s in [p.lstat()]},
                         {name: (s.st_ino, s.st_mtime_ns) for name, s in before.items()})


class Targets(TargetCase):
    def test_a_file_that_may_not_be_written(self):
        target = self.save("out.npy", b"old")
        if os.geteuid() == 0:
            os.chown(target, 1 << 20, 1 << 20)
        target.chmod(0o444)
        self.refuse_target(target, os.strerror(errno.EACCES))
        link = self.folder / "link.npy"
        link.symlink_to("out.npy")
        self.refuse_target(link, os.strerror(errno.EACCES))

    def test_a_folder_that_may_not_be_written(self):
        closed = self.folder / "closed"
        closed.mkdir()
        there = closed / "there.npy"
        there.write_bytes(b"old")
        there.chmod(0o666)
        closed.chmod(0o555)
        self.addCleanup(closed.chmod, 0o755)
        self.refuse_target(closed / "out.npy", os.strerror(errno.EACCES))
        # cp would write into this file. The program has to replace it, and refuses that before the work.
        ran = self.as_user("transpose", self.source, there)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assert_names(ran.stderr, "there.npy", os.strerror(errno.EACCES))
        self.assertEqual([p.name for p in closed.iterdir()], ["there.npy"])

    def test_links_that_lead_nowhere(self):
        dangling, loop = self.folder / "dangling.npy", self.folder / "loop.npy"
        dangling.symlink_to("absent.npy")
        loop.symlink_to("loop.npy")
        self.refuse_target(dangling)
        self.refuse_target(loop, os.strerror(errno.ELOOP))
        self.assertTrue(dangling.is_symlink() and loop.is_symlink())
        for link in (dangling, loop):
            self.refuse(1, [link.name], "transpose", link, self.folder / "out.npy")

    def test_other_hard_links_keep_the_old_content(self):
        """The manual promises this."""
        other = self.folder / "other.npy"
        os.link(self.source, other)
        self.succeed("transpose", self.source, self.source)
        self.assertEqual(other.read_bytes(), npy(30, 20))
        self.assertNotEqual(elements(self.source, 600), elements(other, 600))
        self.assertEqual((self.source.stat().st_nlink, other.stat().st_nlink), (1, 1))

    def test_owner_and_mode(self):
        if os.geteuid() == 0:
            os.chown(self.source, 12345, 23456)
        self.source.chmod(0o751)
        before = self.source.stat()
        self.succeed("transpose", self.source, self.source)
        after = self.source.stat()
        self.assertNotEqual(before.st_ino, after.st_ino)
        self.assertEqual((after.st_uid, after.st_gid, after.st_mode), (before.st_uid, before.st_gid, before.st_mode))

    def attributes(self):
        return {name: os.getxattr(self.source, name) for name in os.listxattr(self.source)}

    def set_attribute(self, path, name, value):
        try:
            os.setxattr(path, name, value)
        except OSError as failure:
            self.skipTest(f"no {name} on this file system: {failure}")

    def test_extended_attributes(self):
        for name, value in [("user.note", b"from the survey\0of May"), ("user.empty", b""), ("user.long", bytes(3000))]:
            self.set_attribute(self.source, name, value)
        before = self.attributes()
        self.assertGreaterEqual(len(before), 3)
        self.succeed("transpose", self.source, self.source)
        self.assertEqual(self.attributes(), before)

    def test_access_control_lists(self):
        self.set_attribute(self.source, ACL, acl(4))
        before = self.source.stat()
        self.succeed("transpose", self.source, self.source)
        self.assertEqual(os.getxattr(self.source, ACL), acl(4))
        self.assertEqual(self.source.stat().st_mode, before.st_mode)

    def test_no_access_control_list_comes_from_the_folder(self):
        self.set_attribute(self.folder, DEFAULT_ACL, acl(6))
        self.source.chmod(0o640)
        self.succeed("transpose", self.source, self.source)
        self.assertNotIn(ACL, os.listxattr(self.source))
        self.assertEqual(stat.S_IMODE(self.source.stat().st_mode), 0o640)


if __name__ == "__main__":
    script.main()
