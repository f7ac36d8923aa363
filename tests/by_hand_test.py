"""The build by hand of README needs only packages that ./demo.sh installs. This test hides from CMake the packages that only
tests need. Then it runs each command of README and its translation that configures a build."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import script

SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
# Package: its name in CMake. CMake does not look for the other packages.
PACKAGES = {"libgtest-dev": "GTest", "python3": "Python3", "pkgconf": "PkgConfig", "libeigen3-dev": "Eigen3"}


def configuring(document):
    """The commands in the document's shell blocks that configure a build, each as a list of its arguments."""
    for block in re.findall(r"^```sh\n(.*?)^```", (SOURCE_DIR / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for command in re.split(r"\n|&&", re.sub(r"#.*", "", block)):
            arguments = command.split()
            if arguments[:2] == ["cmake", "--preset"] or arguments[:2] == ["cmake", "-S"]:
                yield arguments


class ByHand(unittest.TestCase):
    def test_the_packages_of_the_demo_are_enough(self):
        text = (SOURCE_DIR / "scripts/install.sh").read_text()
        demo, tests = text.split("test_packages=(")
        for package in PACKAGES:
            self.assertRegex(tests, rf"\b{package}\b")
            self.assertNotRegex(demo, rf"\b{package}\b")
        hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in PACKAGES.values()]
        for document in ("README.md", "README.zh-CN.md"):
            commands = list(configuring(document))
            self.assertGreaterEqual(len(commands), 2, document)
            for arguments in commands:
                with self.subTest(document=document, command=" ".join(arguments)), tempfile.TemporaryDirectory() as folder:
                    if "-B" in arguments:
                        del arguments[arguments.index("-B"):arguments.index("-B") + 2]
                    ran = subprocess.run([*arguments, "-B", folder, *hidden], cwd=SOURCE_DIR, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                    self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    script.main()
