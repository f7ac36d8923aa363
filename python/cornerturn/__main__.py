"""python -m cornerturn prints the version, what was built, and the libraries and GPUs of this machine."""

import importlib.util
import os

from . import __version__, _core, _libraries


def gpus():
    if importlib.util.find_spec("cornerturn._cuda") is None:
        return "not built"
    try:
        return f"built; {_core._gpus()} found"
    except RuntimeError as error:
        return f"built; none found: {error}"


print(f"cornerturn {__version__}")
print(f"host memory: {len(os.sched_getaffinity(0))} cores")
print(f"CUDA: {gpus()}")
print("libraries: " + (", ".join(f"{name} {version}" for name, version in _libraries.found().items()) or "none"))
