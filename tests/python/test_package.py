"""The package as a whole: its imports, its version text and its documentation."""

import ast
import copy
import doctest
import importlib.metadata
import importlib.util
import inspect
import multiprocessing
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

import cornerturn
from refusals import script

TOP = pathlib.Path(__file__).parents[2]
FUNCTIONS = ["transpose", "matrix_transpose", "contiguous", "convert", "copyto", "explain", "tune"]


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
    assert "list" in str(error) and "__dlpack__" in str(error), error
print([name for name in sys.modules if name.startswith("cornerturn._cuda")])
""")
    assert imported == "[]\n"


def test_functions_are_pickled_by_name():
    for name in FUNCTIONS:
        function = getattr(cornerturn, name)
        assert pickle.loads(pickle.dumps(function)) is function and copy.deepcopy(function) is function
    numpy = pytest.importorskip("numpy")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (result,) = pool.map(cornerturn.transpose, [numpy.arange(6).reshape(2, 3)])
    assert (result == numpy.arange(6).reshape(2, 3).T).all()


# A daemon thread repeats this work while the interpreter ends. Python 3.14 and later handle that without our help.
@pytest.mark.parametrize("work", ["transpose(x)", "transpose(small, (axis for axis in (1, 0)))", "transpose(small.astype(object))",
                                  "transpose(None)", "transpose(small, [axis(1), axis(0)])", "transpose(described(small), out=out)",
                                  "transpose(axis(0))"])
def test_the_interpreter_ends_while_threads_run(work):
    pytest.importorskip("numpy")
    code = f"""
import threading, time
import numpy
from cornerturn import transpose
class described:
    def __init__(self, x): self.x = x
    def __dlpack_device__(self): return self.x.__dlpack_device__()
    def __dlpack__(self, **options):
        sum(range(100))
        return self.x.__dlpack__(**options)
class axis:
    def __init__(self, number): self.number = number
    def __index__(self):
        sum(range(100))
        return self.number
    def __getattr__(self, name):
        sum(range(100))
        raise AttributeError(name)
x, small, out = numpy.zeros((1000, 1000)), numpy.zeros((10, 10)), numpy.zeros((10, 10))
def work(works):
    while True:
        try: {work}
        except TypeError: pass
        works.set()
all_work = [threading.Event() for _ in range(3)]
for works in all_work: threading.Thread(target=work, args=[works], daemon=True).start()
for works in all_work: works.wait()
time.sleep(0.05)
print("done")
"""
    for _ in range(3):
        assert python(code) == "done\n"


def test_version_text():
    done = subprocess.run([sys.executable, "-m", "cornerturn"], capture_output=True, text=True, check=True)
    assert script.names(done.stdout, "cornerturn", cornerturn.__version__, "CUDA"), done.stdout
    assert script.names(done.stdout, "numpy", importlib.metadata.version("numpy")), done.stdout
    header = (TOP / "include/cornerturn/version.h").read_text()
    assert cornerturn.__version__ == ".".join(re.findall(r"#define CORNERTURN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def test_arrays_on_a_missing_gpu():
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
    """The Python blocks of a page. Each block continues the one before it."""
    return re.findall(r"^```python\n(.*?)^```", (TOP / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page, least", [("README.md", 1), ("docs/python.md", 2), ("docs/convert.md", 1), ("docs/image_batches.md", 1)])
def test_the_pages_code_runs(page, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, ran, omitted = {}, 0, []
    for block in blocks(page):
        needed = set(re.findall(r"\b(torch|jax|cupy)\b", re.sub("#.*", "", block)))
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        if ("cuda" in block or "cupy" in block) and not gpu_is_here():
            missing.append("a GPU")
        if missing:
            omitted.append(f"without {', '.join(missing)}: {block.splitlines()[0]}")
            continue
        exec(compile(block, page, "exec"), names)
        ran += 1
    print(f"{page}: {ran} blocks ran; omitted:", *omitted, sep="\n  ")
    assert ran >= least


def gpu_is_here():
    done = subprocess.run([sys.executable, "-c", "from cornerturn import _core; assert _core._gpus() > 0"], capture_output=True)
    return done.returncode == 0
