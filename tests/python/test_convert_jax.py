"""Compares cornerturn.jax.convert with exact arithmetic, and its gradients with JAX's."""

import os
import subprocess
import sys

import numpy
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("ml_dtypes")
jnp = jax.numpy

import cornerturn.jax
from conftest import SEED
from conversions import DTYPES, NEAR, check
from refusals import raises, refused
from views import filled

convert = cornerturn.jax.convert
# JAX has no types of 64 bits by default. test_64_bits tests these.
NAMES = [name for name, dtype in DTYPES.items() if dtype.itemsize < 8]


def drawn(draw, of):
    """An array of random bytes, or of values near which conversions go wrong."""
    shape = tuple(map(int, draw.integers(0 if draw.integers(10) == 0 else 1, 7, draw.integers(0, 5))))
    if draw.integers(2):
        return filled(DTYPES[of], shape, int(draw.integers(2**32)))
    with numpy.errstate(all="ignore"):
        return (draw.choice(NEAR, shape) * draw.choice([1, -1], shape)).astype(DTYPES[of])


@pytest.mark.parametrize("of", NAMES)
def test_values(of):
    draw = numpy.random.default_rng([SEED, NAMES.index(of)])
    for _ in range(20):
        x, to, saturate = drawn(draw, of), str(draw.choice(NAMES)), bool(draw.integers(2))
        axes = tuple(map(int, draw.permutation(x.ndim)))
        axis = int(draw.integers(x.ndim)) if x.ndim else None
        count = x.shape[axes[axis]] if x.ndim and draw.integers(2) else 1
        factors = [None, None]
        for i in range(2):
            values = draw.normal(0, 10, count).astype("f4")
            factors[i] = (None, float(draw.normal(0, 10)), values.tolist(), values, jnp.asarray(values))[draw.integers(5)]
        options = {"scale": factors[0], "bias": factors[1], "axis": axis, "saturate": saturate}
        known = [factor if factor is None or isinstance(factor, float) else numpy.asarray(factor).tolist() for factor in factors]
        given = tuple(each - x.ndim if draw.integers(2) else each for each in axes)
        result = convert(jnp.asarray(x), to, given, **options)  # which is jitted
        assert isinstance(result, jax.Array) and result.dtype == DTYPES[to]
        check(numpy.asarray(result), x, axes, *known, axis, saturate)


def test_64_bits():
    code = """
import jax
jax.config.update("jax_enable_x64", True)
import numpy, cornerturn.jax
from conversions import DTYPES, check
from views import filled
for of in ("i64", "u64", "f64", "f32"):
    for to in ("i64", "u64", "f64", "bf16", "i8"):
        x = filled(DTYPES[of], (5, 7), 3)
        check(numpy.asarray(cornerturn.jax.convert(x, to, (1, 0))), x, (1, 0))
        scale = [1 / 3, 2.5, 1e-9, -4, 5, 1, 0]
        for given in (scale, numpy.array(scale), jax.numpy.asarray(scale)):
            result = cornerturn.jax.convert(x, to, (1, 0), scale=given, bias=1 / 7, axis=0)
            check(numpy.asarray(result), x, (1, 0), scale, 1 / 7, 0)
z = filled(numpy.dtype("c16"), (3, 4), 1)
check(numpy.asarray(cornerturn.jax.convert(z, "c64", (1, 0), scale=2.0)), z, (1, 0), 2.0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=os.path.dirname(__file__))


@pytest.mark.parametrize("without_jit", [False, True])
def test_transformations(without_jit):
    with jax.disable_jit(without_jit):
        check_transformations()


def check_transformations():
    x, scale = jnp.arange(24.0).reshape(2, 3, 4) / 24, jnp.array([0.5, 1, 2, 3])

    def ours(x):
        return jnp.sin(convert(x, "f32", (2, 0, 1), scale=scale, bias=1.0, axis=0)).sum()

    def its(x):
        return jnp.sin(jnp.transpose(x, (2, 0, 1)) * scale[:, None, None] + 1).sum()

    for transformed in (jax.grad, lambda f: jax.jit(jax.grad(f)), jax.hessian):
        assert jnp.allclose(transformed(ours)(x), transformed(its)(x), atol=1e-5)
    assert jnp.allclose(jax.jvp(ours, (x,), (x,))[1], jax.jvp(its, (x,), (x,))[1], atol=1e-5)
    assert jnp.allclose(jax.grad(lambda x: (convert(x, "f32", scale=3.0, bias=scale, axis=-1) ** 2).sum())(x), 6 * (3 * x + scale), atol=1e-4)
    # Through a narrower type, the gradient has the source's type.
    gradient = jax.grad(lambda x: convert(x, "bf16", (2, 1, 0), scale=scale, axis=0).sum().astype("f4"))(x)
    assert gradient.dtype == jnp.float32 and (gradient == jnp.broadcast_to(scale, x.shape)).all()
    for dtype in ("e4m3fn", "e5m2", "i32", "bool"):
        assert not jax.grad(lambda x: convert(x, dtype).astype("f4").sum())(x).any()
    z = x.astype("c8")
    assert (jax.grad(lambda z: convert(z, "c64", (2, 1, 0), scale=3.0).real.sum())(z) == 3).all()
    for axis in range(3):
        row = jnp.arange(1.0, x.shape[2 if axis < 2 else 1] + 1)
        batched = jax.vmap(lambda x: convert(x, "i16", (1, 0), scale=row, axis=0), in_axes=axis)(x * 10)
        expected = jnp.round(jnp.moveaxis(x * 10, axis, 0) * row).astype("i2").swapaxes(1, 2)
        assert (batched == expected).all()
    per_sample = jax.vmap(jax.grad(lambda x: convert(x, "f16", (1, 0), scale=2.0).sum().astype("f4")))(x)
    assert (per_sample == 2).all()
    with raises(ValueError, "scale", "batched"):
        jax.vmap(lambda s: convert(x, "f32", scale=s))(scale)
    with raises(ValueError, "scale", "x"):
        jax.grad(lambda s: convert(x, "f32", scale=s, axis=2).sum())(scale)
    stopped = jax.grad(lambda s: convert(x, "f32", scale=jax.lax.stop_gradient(s), axis=2).sum() + s.sum())(scale)
    assert (stopped == 1).all()
    traced = jax.jit(lambda x, s, b: convert(x, "f16", (2, 0, 1), scale=s, bias=b, axis=0))(x, scale, scale[0])
    check(numpy.asarray(traced), numpy.asarray(x), (2, 0, 1), scale.tolist(), 0.5, 0)


def test_an_eager_call_compiles_once():
    x = jnp.zeros((7, 11))
    convert(x, "bf16", scale=0.5)
    before = cornerturn.jax._jitted_convert._cache_size()
    for _ in range(5):
        convert(x, "bf16", scale=0.5)
    assert cornerturn.jax._jitted_convert._cache_size() == before


def test_shard_map():
    mesh = jax.make_mesh((1,), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    x = jax.device_put(jnp.arange(8.0).reshape(2, 4), jax.sharding.NamedSharding(mesh, spec))
    mapped = jax.shard_map(lambda x: jnp.sin(convert(x, "f32", (1, 0), scale=2.0)).sum()[None], mesh=mesh, in_specs=spec, out_specs=spec)
    assert jnp.allclose(jax.grad(lambda x: mapped(x).sum())(x), 2 * jnp.cos(2 * x), atol=1e-5)


def test_refusals():
    x = jnp.zeros((3, 4))
    for wrong in ((0,), (0, 0), (0, 2)):
        refused(ValueError, ["axes", wrong, "x", 2], convert, x, "f16", wrong)
    for wrong in ("f4", None, 3, [], jnp.int4, jnp.float8_e4m3fnuz):
        refused(TypeError, ["dtype", "e4m3fn"], convert, x, wrong)
    refused(TypeError, ["dtype", "float64", "jax_enable_x64"], convert, x, "f64")
    refused(TypeError, ["dtype", "complex64", "x", "float32"], convert, x, "c64")
    refused(TypeError, ["dtype", "float32", "x", "complex64"], convert, x.astype("c8"), jnp.float32)
    refused(TypeError, ["x", "int4"], convert, x.astype(jnp.int4), "f32")
    refused(TypeError, ["x", "jax.random.key_data(x)"], convert, jax.random.key(0), "f32")
    for name in ("scale", "bias"):
        refused(ValueError, ["axis", "None", 3, name], convert, x, "f16", **{name: [1, 2, 3]})
        refused(ValueError, [name, 3, 4], convert, x, "f16", **{name: jnp.ones(3)}, axis=1)
        refused(ValueError, [name, 0, 4], convert, x, "f16", **{name: jnp.ones(0)}, axis=1)
        refused(ValueError, [name, 2], convert, x, "f16", **{name: jnp.ones((3, 1))}, axis=1)
        for wrong in (jnp.ones(3, "f2"), jnp.ones(3, "i4"), jnp.ones(3, jnp.bfloat16)):
            refused(TypeError, [name, "float32", "float64"], convert, x, "f16", **{name: wrong}, axis=0)
        for wrong in (1j, object()):
            refused(TypeError, [], convert, x, "f16", **{name: wrong})
    refused(ValueError, ["bias", "x"], convert, x.astype("c8"), "c64", bias=1.0)
    for wrong in (2, -3):
        refused(ValueError, ["axis", wrong, 2, -2, 1], convert, x, "f16", axis=wrong)
    refused(TypeError, ["cornerturn.jax.convert"], cornerturn.convert, x, "f16")
