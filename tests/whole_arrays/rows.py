"""What NumPy makes of the programs of rows.ptl, rows of a few columns."""

import numpy as np


def named_alike(draw, m, n):
    x, s = draw(m, n), draw(m)
    return {"x": x, "s": s}, {"y": x * s[:, None] * 2}


def framed(draw, r, c):
    x = draw(r, c)
    return {"x": x}, {"y": np.pad(x, (1, 2), constant_values=7)}


def beside(draw, r, c):
    x, b = draw(r, c), (draw(r, c) * 50).clip(-128, 127).astype(np.int8)
    wanted = {"y": np.concatenate([x, x * 2], 1), "rolled": np.roll(x, -1, 1), "twice": np.concatenate([b, b], 1)}
    return {"x": x, "b": b}, wanted


def differences(draw, r, c):
    x = draw(r, c)
    return {"x": x}, {"across": np.diff(x, axis=1), "down": np.diff(x, axis=0)}


def running(draw, r, c):
    x, h, k = draw(r, c), draw(r, c).astype(np.float16), (draw(r, c) * 1e7).astype(np.int32)
    wanted = {"sums": np.cumsum(x, 1), "most": np.maximum.accumulate(h, 1), "counts": np.cumsum(k, 1, dtype=np.int32)}
    return {"x": x, "h": h, "k": k}, wanted


def wide(draw, r, c):
    edges = np.array([0, 1, -1, 2**31, -(2**31), 2**32, 2**32 - 1, -(2**32), 2**62, 2**63 - 1, -(2**63), 0x80000000, 0x7FFFFFFF80000000], np.int64)
    x, y, k = (edges[(np.abs(draw(*shape)) * 1000).astype(int) % len(edges)] for shape in [(r, c), (r, c), (c,)])
    counts = x.view(np.uint64) + k.view(np.uint64)
    return {"x": x, "y": y, "k": k.view(np.uint64)}, {"sums": x + y, "differences": x - y, "counts": counts}


CASES = {
    "named_alike": (named_alike, [(13, 150), (1, 1), (65, 64)]),
    "framed": (framed, [(3101, 5), (3100, 33), (801, 126), (2, 1), (800, 300)]),
    "beside": (beside, [(3101, 32), (3201, 5), (771, 128), (800, 129), (1, 1)]),
    "differences": (differences, [(3101, 5), (3073, 34), (770, 129), (2, 2)]),
    "running": (running, [(1, 700), (9, 513), (3, 130), (17, 1300), (1, 1), (3101, 33)]),
    "wide": (wide, [(37, 130), (1, 1), (3, 1), (300, 9)]),
}  # fmt: skip
