"""The Python package: pip builds a wheel, and a virtual environment with numpy installs and tests it.

The tests are in tests/python/. Those for PyTorch, CuPy and JAX run if these are installed:

    python3 -m pytest tests/python
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import script  # noqa: E402
from project import like_the_build  # noqa: E402

SOURCE_DIR = pathlib.Path(os.environ["CORNERTURN_SOURCE_DIR"])
TESTS = SOURCE_DIR / "tests" / "python"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cornerturn-python-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        run(sys.executable, "-m", "venv", cls.folder / "venv")
        cls.python = cls.folder / "venv" / "bin" / "python"
        pip = [cls.python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        like = [f"--config-settings=cmake.define.{option.removeprefix('-D')}" for option in like_the_build("CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", "CMAKE_CUDA_FLAGS")]
        run(*pip, "wheel", "--no-deps", "--wheel-dir", cls.folder, *like, SOURCE_DIR)
        (cls.wheel,) = cls.folder.glob("*.whl")
        run(*pip, "install", f"{cls.wheel}[test]")

    def test_wheel(self):
        self.assertRegex(self.wheel.name, r"^cornerturn-[0-9.]+-cp310-abi3-linux_[a-z0-9_]+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            (metadata,) = [wheel.read(name).decode() for name in names if name.endswith("/METADATA")]
        needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
        self.assertEqual(len(needed), 1, needed)
        self.assertRegex(needed[0], "nanobind-backend")
        self.assertEqual({name.split("/")[0] for name in names}, {"cornerturn", next(name for name in names if "dist-info" in name).split("/")[0]})
        for name in ("_core.abi3.so", "_core.pyi", "py.typed", "__init__.py"):
            self.assertIn(f"cornerturn/{name}", names)

    def test_pytest(self):
        # Hides GPUs, so that the same tests run on every machine.
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""}
        output = run(self.python, "-m", "pytest", "-p", "no:cacheprovider", "-ra", TESTS / "test_numpy.py", TESTS / "test_package.py",
                     TESTS / "test_convert.py", TESTS / "test_convert_differences.py",
                     cwd=self.folder, env=environment)
        print(output)
        self.assertGreater(int(re.search(r"(\d+) passed", output)[1]), 30)
        self.assertNotIn("skipped", output.splitlines()[-1])


if __name__ == "__main__":
    script.main()
