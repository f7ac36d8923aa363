"""The reference of the public headers. The target `reference` makes it with Doxygen, without warnings. It has all headers and no
detail namespaces. Doxygen refuses an undocumented declaration: the test plants some in a copy of the headers."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import script  # noqa: E402

SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
# A project with only this target.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(cornerturn VERSION 9.8.7 LANGUAGES NONE DESCRIPTION "Test")
include(cmake/Reference.cmake)
"""
# (header, text in it, declaration to plant before that text, Doxygen's message).
PLANTED = [
    ("transpose.hpp", "/// Transposes a matrix.\n", "void planted();\n", "planted.* is not documented"),
    ("cornerturn.h", "/** @} */\n\n#ifdef", "void planted(void);\n", "planted.* is not documented"),
    ("cuda/gemm.hpp", "/// Options of a product.\n", "struct planted {\n    int member;\n};\n", "planted is not documented"),
    ("host_options.hpp", "};\n", "    int planted = 0;\n", "planted .* is not documented"),
    ("tensor_view.hpp", "    /// @return The number of axes.\n", "    /// A comment without its parameter.\n    void planted(int number) const;\n", "parameters of member .*planted are not documented"),
    ("emulator/session.hpp", "/// Options of a session.\n", "/// A comment without its result.\nint planted();\n", "return type of .*planted is not documented"),
    ("copy.hpp", "/// Permutes the axes", "/// @param absent A parameter of no function.\n", "absent"),
]


def copied(folder):
    """The project with a copy of the headers."""
    shutil.copytree(SOURCE_DIR / "include", folder / "include")
    for name in ("cmake/Doxyfile.in", "docs/reference.md", "cmake/Reference.cmake"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(SOURCE_DIR / name, folder / name)
    (folder / "CMakeLists.txt").write_text(PROJECT)
    return folder


def made(project):
    """Makes the reference. Returns the exit code and the output."""
    build = project / "build"
    printed = ""
    for command in (["cmake", "-S", project, "-B", build], ["cmake", "--build", build, "--target", "reference"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed += done.stdout
        if done.returncode != 0:
            break
    return done.returncode, printed


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Reference(unittest.TestCase):
    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = copied(Path(folder.name))

    def test_it_is_made_without_a_warning(self):
        code, printed = made(self.project)
        self.assertEqual(code, 0, printed)
        self.assertNotRegex(printed, "(?i)warning|error:")
        html = self.project / "build/reference/html"
        index = (html / "index.html").read_text()
        self.assertIn("9.8.7", index)
        headers = [path.relative_to(SOURCE_DIR / "include").as_posix() for path in (SOURCE_DIR / "include").rglob("*.h*")]
        self.assertGreater(len(headers), 15)
        pages = {page.name: page.read_text() for page in html.glob("*.html")}
        for header in headers:
            own = [name for name, text in pages.items() if re.search(rf"<title>[^<]*{re.escape(header)} File Reference", text)]
            self.assertEqual(len(own), 1, f"pages of {header}")
        # The main page links to the headers that it names.
        named = re.findall(r"cornerturn/[\w/]+\.h(?:pp)?", (SOURCE_DIR / "docs/reference.md").read_text())
        self.assertGreater(len(named), 9)
        for header in named:
            self.assertRegex(index, rf'<a class="el" [^>]*>{re.escape(header)}</a>', header)
        self.assertFalse([name for name in pages if "detail" in name])

    def test_undocumented_declarations_are_refused(self):
        for header, before, planted, message in PLANTED:
            with self.subTest(header=header):
                file = self.project / "include/cornerturn" / header
                text = file.read_text()
                self.assertEqual(text.count(before), 1, f"{before!r} in {header}")
                file.write_text(text.replace(before, planted + before))
                code, printed = made(self.project)
                file.write_text(text)
                self.assertNotEqual(code, 0, printed)
                self.assertRegex(printed, rf":\d+: (?:warning|error): .*{message}")


if __name__ == "__main__":
    script.main()
