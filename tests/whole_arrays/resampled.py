"""What NumPy makes of the programs of resampled.ptl, images of another size or in another order."""

import numpy as np


def twice(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"y": x.repeat(2, 2).repeat(2, 3)}


def thrice(draw, h, w):
    x = draw(h, w).astype(np.float16)
    return {"x": x}, {"y": x.repeat(3, 1)}


def repeated(draw, h, w):
    x = (draw(h, w) * 100).astype(np.int32)
    return {"x": x}, {"y": x.repeat(2, 1), "z": np.stack([x + 1, x + 1], 2)}


def bilinear(draw, n, c, h, w):
    x = draw(n, c, h, w)
    p = np.maximum((np.arange(2 * h) + 0.5) * 0.5 - 0.5, 0)
    low = p.astype(int)
    part = (p - low)[:, None].astype(np.float32)
    return {"x": x}, {"y": x[:, :, low] * (1 - part) + x[:, :, np.minimum(low + 1, h - 1)] * part}


def rows_of_images(draw, n, c, h, w, k):
    x, rows = draw(n, c, h, w).astype(np.float16), np.arange(k, dtype=np.int32) * 7 % h
    return {"x": x, "rows": rows}, {"y": x[:, :, rows]}


def in_groups(x):
    n, c, h, w = x.shape
    return x.reshape(n, 3, c // 3, h, w).swapaxes(1, 2)


def shuffled(draw, n, c, h, w):
    x = draw(n, 3 * c, h, w)
    return {"x": x}, {"y": in_groups(x).reshape(x.shape)}


def shuffled_twice(draw, n, c, h, w):
    x = draw(n, 3 * c, h, w)
    return {"x": x}, {"y": in_groups(x).reshape(x.shape), "z": in_groups(x).reshape(n, c, -1)}


def windows(draw, n, c, h, w):
    x = draw(n, c, 2 * h, 3 * w)
    z = x.reshape(n, c, h, 2, w, 3)
    return {"x": x}, {"middle": z.mean((3, 5)), "most": z.max((3, 5), keepdims=True), "sums": z.sum((3, 5))}


def windows_of_halves(draw, c, h, w):
    x = draw(c, 2 * h, 2 * w).astype(np.float16)
    z = x.astype(np.float32).reshape(c, h, 2, w, 2)
    middle = z.mean((2, 4)).astype(np.float16)
    return {"x": x}, {"middle": middle, "least": (z.min((2, 4)) * 2).astype(np.float16), "exact": middle.astype(np.float32)}


def every_second(draw, c, h, w):
    x = draw(c, 2 * h, 2 * w).astype(np.float16)
    return {"x": x}, {"y": x.reshape(c, h, 2, w, 2).max((2, 4))}


def overlapping(draw, c, h, w):
    x = draw(c, 2 * h + 1, 2 * w + 1)
    parts = [x[:, i : i + 2 * h : 2, j : j + 2 * w : 2] for i in range(3) for j in range(3)]
    return {"x": x}, {"y": np.max(parts, 0)}


def windows_last(draw, n, h, w, c):
    x = draw(n, 2 * h, 2 * w, c).astype(np.float16)
    z = x.reshape(n, h, 2, w, 2, c)
    return {"x": x}, {"most": z.max((2, 4)), "middle": z.astype(np.float32).mean((2, 4), keepdims=True)}


def colours(draw, n, h, w):
    x = draw(n, 3, h, w)
    return {"x": x}, {"grey": x.mean(1), "product": x.prod(1, keepdims=True)}


CASES = {
    "twice": (twice, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 9, 65)]),
    "thrice": (thrice, [(5, 7), (1, 1), (33, 130)]),
    "repeated": (repeated, [(5, 7), (1, 1), (9, 65)]),
    "nearest": (twice, [(2, 3, 5, 7), (1, 1, 1, 1), (3, 11, 3, 33)]),
    "bilinear": (bilinear, [(2, 3, 5, 7), (1, 1, 1, 1), (3, 11, 4, 130), (1, 2, 3, 600)]),
    "rows_of_images": (rows_of_images, [(2, 3, 5, 7, 4), (1, 1, 1, 1, 3), (3, 11, 4, 130, 9)]),
    "windows": (windows, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 9, 65)]),
    "windows_of_halves": (windows_of_halves, [(3, 5, 7), (1, 1, 1), (5, 130, 28), (2, 9, 130)]),
    "every_second": (every_second, [(3, 5, 7), (1, 1, 1), (5, 130, 28), (2, 9, 130), (1, 2, 600)]),
    "overlapping": (overlapping, [(3, 5, 7), (1, 1, 1), (2, 33, 28), (1, 9, 130)]),
    "windows_last": (windows_last, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 9, 33, 3), (1, 2, 3, 130)]),
    "colours": (colours, [(2, 5, 7), (1, 1, 1), (3, 33, 65)]),
    "shuffled": (shuffled, [(2, 3, 5, 7), (1, 1, 1, 1), (2, 5, 9, 33)]),
    "shuffled_twice": (shuffled_twice, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 5, 9, 33)]),
}
