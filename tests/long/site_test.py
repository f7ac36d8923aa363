"""The site that scripts/site.sh makes: its first page leads to the report and to the reference."""

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

SITE = Path(os.environ["CORNERTURN_SOURCE_DIR"], "scripts/site.sh")


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Site(unittest.TestCase):
    def test_its_pages(self):
        with TemporaryDirectory() as folder:
            done = subprocess.run([SITE, folder, os.environ["CORNERTURN_BUILD_DIR"]], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            pages = re.findall(r'href="([^"]+)"', Path(folder, "index.html").read_text())
            self.assertEqual(pages, ["report.html", "reference/index.html"])
            for page in pages:
                self.assertIn("</html>", Path(folder, page).read_text())
            self.assertIn("<svg", Path(folder, "report.html").read_text())
            self.assertGreater(len(list(Path(folder, "plots").glob("*.svg"))), 4)

    def test_wrong_use(self):
        done = subprocess.run([SITE], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(script.names(done.stderr, "scripts/site.sh", "FOLDER"))


if __name__ == "__main__":
    script.main()
