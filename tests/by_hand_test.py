"""What README builds by hand needs no package that ./demo.sh does not install: here those that only the tests need are
hidden from CMake, and every command of README and of its translation that configures a build is run."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import script

SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
# How CMake calls what these packages bring. The others hold programs and libraries that CMake does not look for.
PACKAGES = {"libgtest-dev": "GTest", "python3": "Python3", "pkgconf": "PkgConfig", "libeigen3-dev": "Eigen3"}


def configuring(document):
    """The commands in its blocks of shell that configure a build."""
    for block in re.findall(r"^```sh\n(.*?)^```", (SOURCE_DIR / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for command in re.split(r"\n|&&", re.sub(r"#.*", "", block)):
            words = command.split()
            if words[:2] == ["cmake", "--preset"] or words[:2] == ["cmake", "-S"]:
                yield words


class ByHand(unittest.TestCase):
    def test_it_needs_what_demo_installs(self):
        text = (SOURCE_DIR / "scripts/install.sh").read_text()
        demo, tests = text.split("test_packages=(")
        for package in PACKAGES:
            self.assertRegex(tests, rf"\b{package}\b")
            self.assertNotRegex(demo, rf"\b{package}\b")
        hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in PACKAGES.values()]
        for document in ("README.md", "README.zh-CN.md"):
            commands = list(configuring(document))
            self.assertGreaterEqual(len(commands), 2, document)
            for words in commands:
                with self.subTest(document=document, command=" ".join(words)), tempfile.TemporaryDirectory() as folder:
                    if "-B" in words:
                        del words[words.index("-B"):words.index("-B") + 2]
                    ran = subprocess.run([*words, "-B", folder, *hidden], cwd=SOURCE_DIR, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                    self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    script.main()
