"""What NumPy makes of the programs of images.ptl, arrays of three and more axes."""

import numpy as np


def normed(x, axes):
    away = x - x.mean(axes, keepdims=True)
    return away / np.sqrt((away * away).mean(axes, keepdims=True) + 0.001)


def group_norm(draw, n, c, h, w):
    x, weight, bias = draw(n, c, h, w), draw(c), draw(c)
    y = normed(x.reshape(n, 4, -1), 2).reshape(x.shape) * weight[:, None, None] + bias[:, None, None]
    return {"x": x, "w": weight, "b": bias}, {"y": y}


def batch_norm(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"y": normed(x, (0, 2, 3))}


def pooled(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"top": x.max((2, 3)), "sums": x.sum((2, 3)), "last": x.sum((1, 2))}


def to_one(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"all": x.sum(), "most": x.max().reshape(1), "y": x / (x * x).sum()}


def group_norm_last(draw, n, p, c):
    x, weight, bias = draw(n, p, c), draw(c), draw(c)
    return {"x": x, "w": weight, "b": bias}, {"y": normed(x.reshape(n, p, 4, c // 4), (1, 3)).reshape(x.shape) * weight + bias}


def folds_apart(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"sums": x.sum((0, 2)), "top": x.max((1, 3)), "least": x.min((0, 2, 3))}


def mixed(draw, a, b, c):
    x, row, plane, column = draw(a, b, c), draw(c), draw(b, c), draw(a, 1, 1)
    made = x * row + plane
    wanted = {"y": made + column, "z": (made * column).transpose(2, 1, 0), "s": made.sum((1, 2), keepdims=True) * column}
    return {"x": x, "row": row, "plane": plane, "column": column}, wanted


def of_bytes(draw, *shape):
    x, mask = (draw(*shape) * 20).astype(np.int8), draw(*shape) > 1
    return {"x": x, "mask": mask}, {"y": np.where(mask, x, 0).astype(np.int8), "any_of": mask.any((1, 2)), "many": np.sum(x, dtype=np.int32)}


def depthwise(draw, c, h, w):
    x, k = draw(c, h + 4, w + 4), draw(5, 5, c)
    parts = [x[:, i : i + h, j : j + w] * k[i, j][:, None, None] for i in range(5) for j in range(5)]
    return {"x": x, "k": k}, {"y": sum(parts)}


def in_place(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"x": x - x.mean((1, 2), keepdims=True)}


CASES = {
    "group_norm": (group_norm, [(2, 8, 5, 7), (1, 4, 1, 1), (3, 12, 9, 33), (1, 4, 97, 97)]),
    "batch_norm": (batch_norm, [(3, 5, 4, 7), (1, 1, 1, 1), (5, 3, 17, 31), (17, 3, 5, 7), (50, 2, 3, 5), (3, 2, 57, 59)]),
    "pooled": (pooled, [(3, 5, 7, 7), (1, 1, 1, 1), (2, 9, 1, 129), (2, 3, 65, 1)]),
    "to_one": (to_one, [(3, 5, 7, 7), (1, 1, 1, 1), (2, 9, 33, 65)]),
    "group_norm_last": (group_norm_last, [(2, 35, 8), (1, 1, 4), (3, 301, 132)]),
    "folds_apart": (folds_apart, [(3, 5, 7, 9), (1, 1, 1, 1), (17, 2, 65, 4), (2, 33, 3, 130)]),
    "mixed": (mixed, [(3, 5, 7), (1, 1, 1), (2, 1, 130), (9, 33, 1)]),
    "of_bytes": (of_bytes, [(3, 5, 7), (1, 1, 1), (4, 33, 66)]),
    "depthwise": (depthwise, [(3, 7, 9), (1, 1, 1), (2, 33, 65)]),
    "in_place": (in_place, [(3, 5, 7), (1, 1, 1), (2, 33, 130)]),
}  # fmt: skip
