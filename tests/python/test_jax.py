"""Compares cornerturn in JAX with JAX, and cornerturn's structs for XLA's interface with XLA's header."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

import cornerturn
import cornerturn.jax
from refusals import raises

DTYPES = ["?", "u1", "i2", "i4", "f2", "f4", "c8", jnp.bfloat16, jnp.float8_e4m3fn]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(6))
def test_against_jax(dtype, seed):
    draw = numpy.random.default_rng(seed)
    shape = tuple(map(int, draw.integers(0 if seed == 3 else 1, 20, draw.integers(0, 6))))
    x = jnp.asarray(draw.integers(0, 2 if dtype == "?" else 100, shape)).astype(dtype)
    axes = tuple(int(axis) - (x.ndim if draw.integers(2) else 0) for axis in draw.permutation(x.ndim))
    for call in (cornerturn.jax.transpose, jax.jit(cornerturn.jax.transpose, static_argnums=1)):
        result = call(x, axes)
        assert result.dtype == x.dtype and (result == jnp.transpose(x, axes)).all() and result.shape == jnp.transpose(x, axes).shape
    assert (cornerturn.jax.transpose(x) == x.T).all()


def test_large():
    x = jnp.arange(3 * 1000 * 2000, dtype="f4").reshape(3, 1000, 2000)
    assert (jax.jit(lambda x: cornerturn.jax.transpose(x, (2, 0, 1)))(x) == x.transpose(2, 0, 1)).all()


@pytest.mark.parametrize("without_jit", [False, True])
def test_transformations(without_jit):
    with jax.disable_jit(without_jit):
        check_transformations()


def check_transformations():
    x = jnp.arange(24.0).reshape(2, 3, 4)
    assert (cornerturn.jax.transpose(x, (2, 0, 1)) == jnp.transpose(x, (2, 0, 1))).all()

    def ours(x):
        return jnp.sin(cornerturn.jax.transpose(x, (2, 0, 1))).sum()

    def its(x):
        return jnp.sin(jnp.transpose(x, (2, 0, 1))).sum()

    for transformed in (jax.grad, lambda f: jax.jit(jax.grad(f)), jax.hessian):
        assert jnp.allclose(transformed(ours)(x), transformed(its)(x))
    assert jnp.allclose(jax.jvp(ours, (x,), (x,))[1], jax.jvp(its, (x,), (x,))[1])
    for axis in range(3):
        batched = jax.vmap(lambda x: cornerturn.jax.transpose(x, (1, 0)), in_axes=axis)(x)
        assert (batched == jax.vmap(lambda x: x.T, in_axes=axis)(x)).all()
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: cornerturn.jax.transpose(x, (1, 2, 0)).reshape(2, 3, 4) + i, x))
    expected = x
    for i in range(5):
        expected = jnp.transpose(expected, (1, 2, 0)).reshape(2, 3, 4) + i
    assert (loop(x) == expected).all()


def test_an_eager_call_compiles_once():
    x = jnp.zeros((7, 11))
    cornerturn.jax.transpose(x)
    before = cornerturn.jax._jitted._cache_size()
    for _ in range(5):
        cornerturn.jax.transpose(x)
    assert cornerturn.jax._jitted._cache_size() == before


def test_matrix_transpose():
    x = jnp.arange(24.0).reshape(2, 3, 4)
    assert (cornerturn.jax.matrix_transpose(x) == x.mT).all()
    assert (cornerturn.jax.matrix_transpose([[1, 2]]) == jnp.array([[1], [2]])).all()
    with raises(ValueError, "x", 1, 2):
        cornerturn.jax.matrix_transpose(jnp.zeros(3))


def test_shard_map():
    mesh = jax.make_mesh((1,), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    x = jax.device_put(jnp.arange(8.0).reshape(2, 4), jax.sharding.NamedSharding(mesh, spec))
    for call in (cornerturn.jax.transpose, jnp.transpose):
        mapped = jax.shard_map(lambda x: jnp.sin(call(x)).sum()[None], mesh=mesh, in_specs=spec, out_specs=spec)
        gradient = jax.grad(lambda x: mapped(x).sum())(x)
        assert jnp.allclose(gradient, jnp.cos(x))


def test_refusals():
    x = jnp.zeros((3, 4))
    for wrong in ((0,), (0, 0), (0, 2)):
        with raises(ValueError, "axes", wrong, "x", 2):
            cornerturn.jax.transpose(x, wrong)
    for wrong in ((0.9, 1.2), "10"):
        with pytest.raises(TypeError):
            cornerturn.jax.transpose(x, wrong)
    with raises(ValueError, "axes", (0, 0), "x", 2):
        cornerturn.jax.transpose(x, (axis for axis in (0, 0)))
    with raises(TypeError, "x", "jax.random.key_data(x)"):
        cornerturn.jax.transpose(jax.random.split(jax.random.key(0), 4).reshape(2, 2))
    with raises(TypeError, "x", "int4"):
        cornerturn.jax.transpose(jnp.zeros((3, 4), jnp.int4))
    for call in (cornerturn.transpose, cornerturn.contiguous):
        with raises(TypeError, "cornerturn.jax.transpose"):
            call(x)


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="no GPU")
def test_command_buffers():
    """XLA's log shows that it records the calls into a CUDA graph."""
    code = """
import jax, numpy
from cornerturn.jax import transpose
x = jax.numpy.asarray(numpy.random.rand(30, 40, 50).astype("f4"))
def work(x):
    for _ in range(6):
        x = transpose(x, (1, 2, 0)) + 1
    return x
jitted, expected = jax.jit(work), numpy.asarray(x)
for _ in range(6):
    expected = expected.transpose(1, 2, 0) + 1
for _ in range(5):
    assert numpy.allclose(numpy.asarray(jitted(x)), expected)
"""
    flags = {"XLA_FLAGS": "--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1",
             "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "command_buffer_conversion_pass=3"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **flags})
    assert done.returncode == 0, done.stderr
    assert re.search(r"command buffer thunk.*cornerturn_permute", done.stderr), done.stderr


def test_xla_interface():
    """cornerturn's structs have the layout of the structs in XLA's header."""
    sources = pathlib.Path(__file__).parents[2] / "python" / "src"
    if shutil.which("g++") is None or not sources.exists():
        pytest.skip("no g++, or no sources")
    header = pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text()
    extension = next(name for name in ("XLA_FFI_InternalExtension", "XLA_FFI_Extension_Base") if name in header)  # since 0.4; before
    pairs = {
        "extension": (extension, {"size": "struct_size", "type": "type", "next": "next"}),
        "api_version": ("XLA_FFI_Api_Version", {"major": "major_version", "minor": "minor_version"}),
        "metadata": ("XLA_FFI_Metadata", {"api_version": "api_version", "traits": "traits"}),
        "metadata_extension": ("XLA_FFI_Metadata_Extension", {"base": "extension_base", "metadata": "metadata"}),
        "error_arguments": ("XLA_FFI_Error_Create_Args", {"message": "message", "code": "errc"}),
        "stream_arguments": ("XLA_FFI_Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
        "api": ("XLA_FFI_Api", {"create_error": "XLA_FFI_Error_Create", "get_stream": "XLA_FFI_Stream_Get"}),
        "buffer": ("XLA_FFI_Buffer", {"type": "dtype", "data": "data", "rank": "rank", "extents": "dims"}),
        "name": ("XLA_FFI_ByteSpan", {"data": "ptr", "size": "len"}),
        "scalar": ("XLA_FFI_Scalar", {"type": "dtype", "value": "value"}),
        "array": ("XLA_FFI_Array", {"type": "dtype", "size": "size", "data": "data"}),
        "buffers": ("XLA_FFI_Args", {"count": "size", "types": "types", "each": "args"}),
        "attributes": ("XLA_FFI_Attrs", {"count": "size", "types": "types", "names": "names", "each": "attrs"}),
        "call_frame": ("XLA_FFI_CallFrame", {"extensions": "extension_start", "api": "api", "context": "ctx", "stage": "stage",
                                             "arguments": "args", "results": "rets", "attributes": "attrs"}),
    }
    lines = ["#include <cstddef>", '#include "xla/ffi/api/c_api.h"', '#include "xla.hpp"', "using namespace cornerturn::python;"]
    for ours, (its, members) in pairs.items():
        lines += [f"static_assert(offsetof(xla::{ours}, {a}) == offsetof({its}, {b}));" for a, b in members.items()]
    for ours, its in {"kMetadata": "XLA_FFI_Extension_Metadata", "kExecute": "XLA_FFI_ExecutionStage_EXECUTE",
                      "kArray": "XLA_FFI_AttrType_ARRAY", "kScalar": "XLA_FFI_AttrType_SCALAR",
                      "kInvalidArgument": "XLA_FFI_Error_Code_INVALID_ARGUMENT", "kInternal": "XLA_FFI_Error_Code_INTERNAL",
                      "kResourceExhausted": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
                      "kCommandBufferCompatible": "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE",
                      "kMajor": "XLA_FFI_API_MAJOR"}.items():
        lines.append(f"static_assert(int(xla::{ours}) == int({its}));")
    lines.append("static_assert(sizeof(xla::buffers) == sizeof(XLA_FFI_Args) && sizeof(xla::buffers) == sizeof(XLA_FFI_Rets));")
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-", f"-I{jax.ffi.include_dir()}", f"-I{sources}"],
                   input="\n".join(lines) + "\n", text=True, check=True)
