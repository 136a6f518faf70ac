"""What NumPy makes of the programs of edges.ptl, loads beyond the edges of arrays."""

import numpy as np


def beyond(x, outside, *places):
    """Elements of `x` at these positions along each axis; one value beyond the edges."""
    places = np.ix_(*places)
    inside = np.logical_and.reduce(np.broadcast_arrays(*[(at >= 0) & (at < n) for at, n in zip(places, x.shape, strict=True)]))
    return np.where(inside, x[tuple(at.clip(0, n - 1) for at, n in zip(places, x.shape, strict=True))], np.asarray(outside, x.dtype))


def blurred(draw, h, w):
    x, i, j = draw(h, w), np.arange(h), np.arange(w)
    return {"x": x}, {"y": sum(beyond(x, 0, i + dy - 1, j + dx - 1) for dy in range(3) for dx in range(3))}


def dilated(draw, h, w):
    x, i, j = draw(h, w).astype(np.float16), np.arange(h), np.arange(w)
    return {"x": x}, {"y": beyond(x, 1, i - 5, j - 20) + beyond(x, -1, i + 3, j + 35)}


def halved(draw, h, w):
    x, i, j = draw(2 * h, 2 * w), np.arange(h), np.arange(w)
    return {"x": x}, {"y": sum(beyond(x, 0.5, 2 * i - 1, 2 * j + dx - 1) for dx in range(3))}


def volume(draw, *shape):
    x = draw(*shape)
    d, i, j = map(np.arange, shape)
    return {"x": x}, {"y": sum(beyond(x, 2, d + k - 1, i + 1, j - k) for k in range(3))}


def sharpened(draw, h, w):
    x, b = draw(h, w), (draw(h, w) * 50).clip(-128, 127).astype(np.int8)
    y = 9 * x[1:-1, 1:-1] - sum(x[i : i + h - 2, j : j + w - 2] for i in range(3) for j in range(3))
    return {"x": x, "b": b}, {"y": y, "c": b[:-2] ^ b[1:-1] ^ b[2:]}


def convolved(draw, h, w):
    x, k, i, j = draw(h, w), draw(3, 3), np.arange(h), np.arange(w)
    return {"x": x, "w": k}, {"y": sum(beyond(x, 1, i + dy - 1, j + dx - 1) * k[dy, dx] for dy in range(3) for dx in range(3))}


def of_few_bits(draw, h, w):
    x, b, i, j = draw(h, w) > 0, (draw(h, w) * 50).clip(-128, 127).astype(np.int8), np.arange(h), np.arange(w)
    return {"x": x, "b": b}, {"y": beyond(x, True, i - 1, j - 3).astype(np.int32), "c": beyond(b, 7, i + 1, j - 2)}


def upwards(draw, h):
    x, k, i = draw(h, 8), (draw(h, 8) * 1e12).astype(np.int64), np.arange(h)
    return {"x": x, "k": k}, {"y": beyond(x, 3, i - 1, [2])[:, 0] + 1, "z": beyond(k, 9, i - 2, np.arange(8))}


def windows(x, size):
    """Those of this size that lie inside of `x`, one beside the other."""
    h, w = (n - size + 1 for n in x.shape)
    return np.stack([x[i : i + h, j : j + w] for i in range(size) for j in range(size)])


def largest_of_three(draw, h, w):
    x = draw(h + 2, w + 2)
    return {"x": x}, {"y": windows(x, 3).max(axis=0)}


def of_five(draw, h, w):
    x, few = draw(h + 4, w + 4), draw(h, w).astype(np.float16)
    return {"x": x, "h": few}, {"y": windows(x, 5).sum(axis=0), "z": windows(np.pad(few, 2, constant_values=-1), 5).max(axis=0)}


CASES = {
    "blurred": (blurred, [(37, 130), (16, 64), (5, 3), (1, 1), (70, 65)]),
    "dilated": (dilated, [(19, 150), (3, 30), (1, 1), (9, 64)]),
    "halved": (halved, [(19, 70), (2, 3), (1, 1), (16, 64)]),
    "volume": (volume, [(3, 9, 70), (2, 17, 5), (1, 1, 1)]),
    "sharpened": (sharpened, [(37, 130), (3, 3), (200, 33), (9, 700), (1000, 20)]),
    "convolved": (convolved, [(37, 130), (1, 1), (16, 64), (70, 65)]),
    "largest_of_three": (largest_of_three, [(35, 1030), (16, 512), (1, 1)]),
    "of_five": (of_five, [(19, 530), (8, 256), (1, 1)]),
    "of_few_bits": (of_few_bits, [(19, 70), (3, 200), (1, 1)]),
    "upwards": (upwards, [(150,), (1,), (64,)]),
}  # fmt: skip
