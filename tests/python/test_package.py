"""The package as a whole: what it imports, what it says of itself, its documentation."""

import ast
import doctest
import importlib.metadata
import importlib.util
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import cornerturn

TOP = pathlib.Path(__file__).parents[2]
FUNCTIONS = ["transpose", "matrix_transpose", "contiguous", "copyto", "explain"]


def python(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_else_is_imported():
    imported = python("""
import sys
for name in ("numpy", "torch", "cupy", "jax"):
    sys.modules[name] = None  # an import of it fails
import cornerturn
try:
    cornerturn.transpose([1, 2])
except TypeError as error:
    assert "it must be a numpy array" in str(error), error
print([name for name in sys.modules if name.startswith("cornerturn._cuda")])
""")
    assert imported == "[]\n"


def test_what_it_says_of_itself():
    done = subprocess.run([sys.executable, "-m", "cornerturn"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"cornerturn {cornerturn.__version__}\nhost memory: ") and "\nCUDA: " in done.stdout
    assert f"numpy {importlib.metadata.version('numpy')}" in done.stdout
    header = (TOP / "include/cornerturn/version.h").read_text()
    assert cornerturn.__version__ == ".".join(re.findall(r"#define CORNERTURN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def test_arrays_on_a_gpu_that_is_not_there():
    if gpu_is_here():
        pytest.skip("there is a GPU")

    class on_gpu:
        __cuda_array_interface__ = {"shape": (3, 4), "typestr": "<f4", "data": (4096, False), "version": 3, "stream": None}

    with pytest.raises(RuntimeError, match="CUDA|nvcc"):
        cornerturn.transpose(on_gpu(), out=on_gpu())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_in_docstrings(name):
    text = inspect.getdoc(getattr(cornerturn, name))
    for section in ("Parameters", "Returns", "Examples"):
        assert f"{section}\n---" in text
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


def test_stub():
    spec = importlib.util.find_spec("cornerturn._core")
    tree = ast.parse((pathlib.Path(spec.origin).parent / "_core.pyi").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(functions) >= set(FUNCTIONS)
    assert [each.arg for each in functions["transpose"].args.kwonlyargs] == ["out", "stream", "threads"]
    assert all(ast.get_docstring(functions[name]) for name in FUNCTIONS)


def blocks(page):
    """The Python of a page, block by block; each goes on where the last one ended."""
    return re.findall(r"^```python\n(.*?)^```", (TOP / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page, least", [("README.md", 1), ("docs/python.md", 2)])
def test_the_pages_code_runs(page, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, ran, left_out = {}, 0, []
    for block in blocks(page):
        needed = set(re.findall(r"\b(torch|jax|cupy)\b", re.sub("#.*", "", block)))
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        if ("cuda" in block or "cupy" in block) and not gpu_is_here():
            missing.append("a GPU")
        if missing:
            left_out.append(f"without {', '.join(missing)}: {block.splitlines()[0]}")
            continue
        exec(compile(block, page, "exec"), names)
        ran += 1
    print(f"{page}: {ran} blocks ran; left out:", *left_out, sep="\n  ")
    assert ran >= least


def gpu_is_here():
    done = subprocess.run([sys.executable, "-c", "from cornerturn import _core; assert _core._gpus() > 0"], capture_output=True)
    return done.returncode == 0
