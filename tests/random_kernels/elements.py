"""The element types of random programs: conversions between numbers and elements, in C++ and in Python.

A program writes an element as make<T>(x) and reads it as number(element). Both numbers have 64 bits. Python never needs
the element itself: kept(T, x) is number(make<T>(x)). All conversions are exact.
"""

MASK = (1 << 64) - 1

# Scalars: the size in bytes, and the conversion from a number.
SCALARS = {
    "unsigned char": (1, "unsigned"), "signed char": (1, "signed"), "unsigned short": (2, "unsigned"), "short": (2, "signed"),
    "unsigned": (4, "unsigned"), "int": (4, "signed"), "unsigned long long": (8, "unsigned"), "long long": (8, "signed"),
    "float": (4, "float"), "double": (8, "double"),
}
FLOAT_BITS, DOUBLE_BITS = 22, 50  # of the integer in a float (times 0.25) or a double (times 0.125)

VECTORS = {
    "uchar4": ("unsigned char", 4), "short2": ("short", 2), "ushort4": ("unsigned short", 4), "uint2": ("unsigned", 2),
    "int3": ("int", 3), "int4": ("int", 4), "uint4": ("unsigned", 4), "ulonglong2": ("unsigned long long", 2),
    "float2": ("float", 2), "float3": ("float", 3), "float4": ("float", 4), "double2": ("double", 2),
}
ALL = [*SCALARS, *VECTORS]
OF_ATOMICS = ["unsigned", "int", "unsigned long long"]


def size(name):
    part, count = VECTORS.get(name, (name, 1))
    return SCALARS[part][0] * count


def accesses(name):
    """(offset, bytes) of each access to an element. A vector of three takes three, since it is aligned like one part."""
    part, count = VECTORS.get(name, (name, 1))
    return [(i * SCALARS[part][0], SCALARS[part][0]) for i in range(3)] if count == 3 else [(0, size(name))]


def as_signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def kept(name, x):
    if name in VECTORS:
        part, count = VECTORS[name]
        y = x ^ x >> 17
        return sum((2 * j + 1) * kept(part, y * (2 * j + 1) + 77 * j & MASK) for j in range(count)) & MASK
    width, kind = SCALARS[name]
    if kind == "unsigned":
        return x & (1 << 8 * width) - 1
    if kind == "signed":
        return as_signed(x, 8 * width) & MASK
    return x & (1 << (FLOAT_BITS if kind == "float" else DOUBLE_BITS)) - 1


def filled(name, salt, i):
    """The number that the host stores in element i."""
    x = (i + salt) * 0x9E3779B97F4A7C15 & MASK
    return kept(name, x ^ x >> 29)


def checksum(values):
    found = 0
    for value in values:
        found = (found ^ value) * 0x100000001B3 & MASK
    return found


def source(names):
    """Returns make() and number() of these types in C++."""
    parts = [part for part in SCALARS if part in names or any(VECTORS.get(name, ("",))[0] == part for name in names)]
    lines = ["template <class T> __host__ __device__ T make(u64 x);"]
    for name in parts + [name for name in VECTORS if name in names]:
        if name in VECTORS:
            part, count = VECTORS[name]
            made = "const u64 y = x ^ x >> 17; return make_%s(%s);" % (name, ", ".join(f"make<{part}>(y * {2 * j + 1} + {77 * j})" for j in range(count)))
            read = " + ".join(f"{2 * j + 1} * number(v.{'xyzw'[j]})" for j in range(count))
        elif name == "float":
            made, read = f"return float(unsigned(x & {(1 << FLOAT_BITS) - 1})) * 0.25f;", "u64(v * 4.0f)"
        elif name == "double":
            made, read = f"return double(x & {(1 << DOUBLE_BITS) - 1}ull) * 0.125;", "u64(v * 8.0)"
        else:
            made, read = f"return ({name})x;", "u64((long long)v)" if SCALARS[name][1] == "signed" else "v"
        lines.append(f"template <> __host__ __device__ inline {name} make<{name}>(u64 x) {{ {made} }}")
        lines.append(f"__host__ __device__ inline u64 number({name} v) {{ return {read}; }}")
    return "\n".join(lines)
