"""Draws copies for bench/fit_moves.py: as users have them, and at the borders of the kernel families.

A copy is a cell for `cornerturn bench permute --cells`. Its axes are in the destination's order, the slowest first. Strides and
offsets count elements.
"""
import math

SIZES = (1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 3, 6, 12)


def cell(group, size, axes, source_offset=0, destination_offset=0):
    """axes: (extent, source stride, destination stride), the destination's slowest first."""
    return {"group": group, "element_size": size, "extents": [a[0] for a in axes], "source_strides": [a[1] for a in axes],
            "destination_strides": [a[2] for a in axes], "source_offset": source_offset, "destination_offset": destination_offset}


def packed(extents):
    strides, next_stride = [], 1
    for extent in reversed(extents):
        strides.insert(0, next_stride)
        next_stride *= extent
    return strides


def permuted(group, size, extents, axes, source_strides=None):
    """numpy.transpose of a packed tensor, or of a view of one, to a packed tensor."""
    strides = source_strides or packed(extents)
    to = [extents[a] for a in axes]
    return cell(group, size, list(zip(to, [strides[a] for a in axes], packed(to))))


def log_uniform(random, least, most):
    return int(round(math.exp(random.uniform(math.log(least), math.log(most)))))


def users(random, least, most):
    """A layout of a kind that users hold. Bytes in all: about least to most."""
    def batch(size, *extents):
        """How many of these fit."""
        return max(1, log_uniform(random, least, most) // (size * math.prod(extents)))

    kind = random.choice(("channels", "heads", "keys", "qkv", "windows", "shuffle", "structures", "fields", "pencils", "images",
                          "cache", "columns", "tensor"))
    half = random.choice((2, 2, 4))
    if kind == "channels":
        c, side = random.choice((3, 32, 64, 96, 256, 320, 512, 1280)), random.choice((7, 14, 28, 56, 112, 224, 80, 333))
        n = batch(half, c, side * side)
        return permuted(kind, half, *random.choice((((n, c, side, side), (0, 2, 3, 1)), ((n, side, side, c), (0, 3, 1, 2)))))
    if kind in ("heads", "keys"):
        s, h, d = random.choice((197, 512, 1024, 2048, 4096)), random.choice((8, 12, 16, 32)), random.choice((64, 80, 128))
        n = batch(half, s, h, d)
        if kind == "keys":
            return permuted(kind, half, (n, h, s, d), (0, 1, 3, 2))
        return permuted(kind, half, *random.choice((((n, s, h, d), (0, 2, 1, 3)), ((n, h, s, d), (0, 2, 1, 3)),
                                                    ((n, s, h, d), (0, 2, 3, 1)))))
    if kind == "qkv":
        s, h, d = random.choice((197, 1024, 2048)), random.choice((8, 12, 16)), random.choice((64, 128))
        n = batch(half, s, 3, h, d)
        return permuted(kind, half, (n, s, 3, h, d), (2, 0, 3, 1, 4))
    if kind == "windows":
        w, g, c = random.choice((7, 8, 12, 14)), random.choice((4, 8, 16)), random.choice((96, 128, 192, 384))
        n = batch(half, g * w * g * w, c)
        return permuted(kind, half, (n, g, w, g, w, c), (0, 1, 3, 2, 4, 5))
    if kind == "shuffle":
        size, r = random.choice((1, 2, 4)), random.choice((2, 3, 4, 8))
        c, side = random.choice((1, 3, 4, 16, 64)), random.choice((64, 128, 256, 540, 1080))
        n = batch(size, c, r * r, side, side)
        return permuted(kind, size, *random.choice((((n, c, r, r, side, side), (0, 1, 4, 2, 5, 3)),
                                                    ((n, c, side, r, side, r), (0, 1, 3, 5, 2, 4)))))
    if kind in ("structures", "fields"):
        size, members = random.choice((1, 2, 4, 4, 8)), random.choice((2, 3, 4, 5, 6, 7, 8, 12, 16))
        n = batch(size, members)
        return permuted(kind, size, (n, members) if kind == "structures" else (members, n), (1, 0))
    if kind == "pencils":
        size = random.choice((8, 16))
        x, y = random.choice((64, 128, 160, 256, 384, 640)), random.choice((64, 128, 160, 256, 384, 512))
        z = batch(size, x, y)
        return permuted(kind, size, (z, y, x), random.choice(((2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0))))
    if kind == "images":
        h, w, c = random.choice(((224, 224, 3), (1080, 1920, 3), (2160, 3840, 3), (512, 512, 4), (480, 640, 3), (256, 256, 1)))
        n = batch(1, h, w, c)
        return permuted(kind, 1, *random.choice((((n, h, w, c), (0, 3, 1, 2)), ((n, c, h, w), (0, 2, 3, 1)))))
    if kind == "cache":
        h, s, d = random.choice((8, 16, 32)), random.choice((1024, 2048, 4096)), random.choice((64, 128))
        used = random.randrange(s // 8, s)
        n = batch(half, h, used, d)
        return permuted(kind, half, (n, h, used, d), random.choice(((0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2))),
                        (h * s * d, s * d, d, 1))
    if kind == "columns":
        size, wide = random.choice((1, 2, 4, 8)), random.choice((16, 24, 32, 50, 64, 100, 128, 256, 1000))
        cols = random.randrange(1, max(2, wide // 2))
        n = batch(size, cols)
        first = random.randrange(0, wide - cols)
        if random.random() < 0.3:
            return cell(kind, size, [(cols, 1, n), (n, wide, 1)], source_offset=first)
        return cell(kind, size, [(n, wide, cols), (cols, 1, 1)], source_offset=first)
    rank, size = random.randrange(4, 9), random.choice((1, 2, 4, 8, 16))
    extents = spread(random, rank, log_uniform(random, least, most) // size)
    axes = list(range(rank))
    random.shuffle(axes)
    return permuted(kind, size, extents, axes)


def spread(random, rank, elements):
    """Extents that multiply to about this number."""
    cuts = sorted(random.uniform(0, math.log(max(2, elements))) for _ in range(rank - 1))
    parts = [b - a for a, b in zip([0] + cuts, cuts + [math.log(max(2, elements))])]
    return [max(1, int(round(math.exp(p)))) for p in parts]


def matrix(random, least, most):
    """A transpose, as the bench draws it, or at a border: few rows or columns, aligned padding, odd elements, small matrices."""
    size = random.choice(SIZES)
    elements = max(16, log_uniform(random, least, most) // size)
    border = random.choice(("any", "any", "few", "narrow", "low batch", "aligned", "batch", "stacked", "square"))
    count = log_uniform(random, 2, max(2, elements // 16)) if border in ("batch", "stacked") or random.random() < 0.2 else 1
    if border == "narrow":
        count = 1
    elements = max(4, elements // count)
    few = random.randrange(2, 33) if border in ("few", "narrow", "low batch") else log_uniform(random, 1, elements)
    if border == "square":
        few = int(elements ** 0.5)
    if border == "low batch":
        elements = few * log_uniform(random, 8, 20000)
    rows, cols = (few, max(1, elements // few)) if random.random() < 0.5 else (max(1, elements // few), few)
    vector = max(1, 16 // size) if 16 % size == 0 else 1

    def up(x, to):
        return -(-x // to) * to

    if border in ("aligned", "stacked", "square") and random.random() < 0.7:
        to = vector * random.choice((1, 2, 4, 8))
        rows, cols = up(rows, to if border != "aligned" else 1), up(cols, to if border != "aligned" else 1)
    source_ld, destination_ld = cols, rows
    pad = random.choice(("none", "none", "some", "aligned")) if border != "aligned" else "aligned"
    if pad == "some":
        source_ld, destination_ld = cols + random.randrange(8), rows + random.randrange(8)
    if pad == "aligned":
        to = random.choice((16, 32, 64, 128)) // size or 1
        source_ld, destination_ld = up(cols, to), up(rows, to)
        if random.random() < 0.3:
            source_ld, destination_ld = random.choice(((source_ld, rows), (cols, destination_ld), (source_ld + to, destination_ld)))
    offset = random.choice((0, 0, 0, 1)) * random.randrange(1, 6)
    other = random.choice((0, 0, 0, 1)) * random.randrange(1, 6)
    axes = [(cols, 1, destination_ld), (rows, source_ld, 1)]
    if border == "low batch":
        count = max(2, log_uniform(random, least, most) // (size * rows * cols))
    if count > 1:
        gap = random.choice((0, 0, 0, random.randrange(1, 40)))
        axes.insert(0, (count, rows * source_ld + (gap if border != "stacked" else 0), cols * destination_ld + gap))
    return cell("matrix " + border, size, axes, offset, other)


def slices(random, least, most):
    """Some columns of a wider table, or of several."""
    size = random.choice(SIZES)
    columns = log_uniform(random, 1, max(1, 320 // size))
    step = columns + random.choice((1, 2, 3, 5, 8, 16, columns, log_uniform(random, 1, 1000)))
    rows = max(1, log_uniform(random, least, most) // (size * columns))
    count = log_uniform(random, 2, 2000) if random.random() < 0.3 else 1
    rows = max(1, rows // count)
    step = step if random.random() < 0.9 else -step
    axes = [(rows, step, columns), (columns, 1, 1)]
    if count > 1:
        axes.insert(0, (count, rows * abs(step) + random.choice((0, 0, 5)), rows * columns + random.choice((0, 0, 0, 8, 3))))
    return cell("slices", size, axes, random.choice((0, 0, 1, 5)), random.choice((0, 0, 0, 1)))


def tensor(random, least, most):
    """Any axes, with gaps, reversed or repeated ones."""
    size, rank = random.choice(SIZES), random.randrange(2, 7)
    extents = spread(random, rank, max(16, log_uniform(random, least, most) // size))
    if random.random() < 0.4:
        extents = [1 << max(0, round(math.log2(e))) for e in extents]
    axes = list(range(rank))
    random.shuffle(axes)
    kind = random.choice(("plain", "gaps", "gaps", "reversed", "repeated", "repeated"))

    def strides(gaps):
        found, next_stride = [0] * rank, 1
        for i in reversed(range(rank)):
            found[i] = next_stride
            next_stride *= extents[i]
            if gaps and random.random() < 0.4:
                next_stride += random.choice((1, 2, 3, 5, 8, 16, 32, next_stride))
        return found

    source, to = strides(kind == "gaps"), [extents[a] for a in axes]
    source = [source[a] for a in axes]
    if kind == "reversed":
        i = random.randrange(rank)
        source[i] = -source[i]
    if kind == "repeated":
        for i in random.sample(range(rank), 1 if rank < 4 else random.randrange(1, 3)):
            source[i] = 0
    destination = packed(to)
    if kind == "gaps" and random.random() < 0.4:
        next_stride = 1
        for i in reversed(range(rank)):
            destination[i] = next_stride
            next_stride *= to[i]
            if random.random() < 0.4:
                next_stride += random.choice((1, 2, 3, 8, 16, next_stride))
    return cell("tensor " + kind, size, list(zip(to, source, destination)), random.choice((0, 0, 0, 1, 3)), random.choice((0, 0, 0, 1, 3)))


def draw(random, count, least, most):
    kinds = (users, users, matrix, matrix, matrix, matrix, tensor, tensor, slices)
    cells = []
    while len(cells) < count:
        one = random.choice(kinds)(random, least, most)
        bytes_moved = one["element_size"] * math.prod(one["extents"])
        reach = [one["element_size"] * sum((e - 1) * abs(s) for e, s in zip(one["extents"], one[side]))
                 for side in ("source_strides", "destination_strides")]
        if bytes_moved < least / 2 or bytes_moved > 2 * most or max(reach) > 16 * most:
            continue
        cells.append(one)
    return cells
