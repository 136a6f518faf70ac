"""Rows of `plain.ptl`: programs as people write them, each beside NumPy and PyTorch as people write that."""

import os

import limits
import numpy as np

RNG = np.random.default_rng(2)


def floats(*shape):
    return RNG.standard_normal(shape, np.float32)


def numbers(below, *shape):
    return RNG.integers(0, below, shape).astype(np.int32)


class Maker:
    """Makes rows of what a program gives: its result is compared with the first peer's."""

    def __init__(self, row, peers):
        import ptl

        self.row, self.peers = row, peers
        self.programs = ptl.load(os.path.join(limits.HERE, "plain.ptl"))

    def tensors(self, *arrays):
        """As PyTorch takes them: positions have 64 bits there."""
        return [self.peers.tensor(array if array.dtype == np.float32 else array.astype(np.int64)) for array in arrays]

    def __call__(self, name, program, arguments, numpy_call=None, torch_call=None, tolerance=1e-3, options=()):
        ours = getattr(self.programs, program)
        first = lambda results: results[0] if isinstance(results, tuple) else results  # noqa: E731
        calls = {"ptl": lambda: first(ours(*arguments, **dict(options)))}
        if numpy_call:
            calls["numpy"] = numpy_call
        if torch_call and self.peers.torch:
            calls["torch"] = torch_call
        other = numpy_call or (lambda: torch_call().numpy())
        check = None if len(calls) == 1 else lambda: (calls["ptl"](), np.asarray(other()), tolerance)
        return self.row(name, 1.0, None, 0, calls, check)


def plain_rows(make):
    torch = make.peers.torch
    v, x, y, table = floats(1000), floats(1000, 1000), floats(1000, 1000), floats(1000, 256)
    ids, long, other = numbers(1000, 4096), floats(1 << 20), floats(1 << 20)
    g, bag = floats(4096, 256), ids.reshape(256, 16)
    tx, ttable, tids, tbag, tg, tt = make.tensors(x, table, ids, bag, g, ids[:1000]) if torch else [None] * 6
    yield make("sums of all pairs, 1000^2", "outer_sum", (v, v), lambda: v[:, None] + v[None, :])
    others = floats(1000, 256)
    squares = lambda a: (a * a).sum(1)  # noqa: E731
    yield make("distances of 1000 in 256 dimensions", "distances", (table, others),
               lambda: np.sqrt(np.maximum(squares(table)[:, None] + squares(others) - 2 * (table @ others.T), 0)),
               lambda: torch.cdist(ttable, make.tensors(others)[0]))  # fmt: skip
    norms = lambda a: a / np.linalg.norm(a, axis=1, keepdims=True)  # noqa: E731
    yield make("cosines of 1000 in 256 dimensions", "cosines", (table, table), lambda: norms(table) @ norms(table).T)
    yield make("embedding 4096 x 256", "embedding", (ids, table), lambda: table[ids], lambda: ttable[tids])
    yield make("sums of 16 rows, 256 x 256", "bags", (bag, table), lambda: table[bag].sum(1),
               lambda: torch.nn.functional.embedding_bag(tbag, ttable, mode="sum"))  # fmt: skip
    yield make("4096 rows added to 1000", "add_rows", (ids, g), None,
               lambda: torch.zeros(1000, 256).index_add_(0, tids, tg), options={"V": 1000}.items())  # fmt: skip
    bytes_ = numbers(256, 100000)
    yield make("histogram of 100,000", "histogram", (bytes_,), lambda: np.bincount(bytes_, minlength=256),
               tolerance=0, options={"B": 256}.items())  # fmt: skip
    yield make("dot product of 1 M", "dot", (long, other), lambda: np.dot(long, other).reshape(1), tolerance=1)
    yield make("dot products of rows 1000^2", "row_dots", (x, y), lambda: np.einsum("ij,ij->i", x, y))
    yield make("mean squared error of 1 M", "error", (x, y), lambda: ((x - y) ** 2).mean().reshape(1))
    yield make("deviations of rows 1000^2", "deviations", (x,), lambda: x.std(1), lambda: tx.std(1, unbiased=False))
    yield make("cross entropy 1000^2", "cross_entropy", (x, ids[:1000]), None,
               lambda: torch.nn.functional.cross_entropy(tx, tt, reduction="none"))  # fmt: skip
    z, w = floats(500000, 2), floats(500000, 2)
    yield make("product of 500,000 complex numbers", "complex_product", (z, w),
               lambda: (z.view(np.complex64) * w.view(np.complex64)).view(np.float32))  # fmt: skip
    colours, weights = floats(500000, 3), floats(3)
    yield make("grey of 500,000 colours", "grey", (colours, weights), lambda: colours @ weights)
    yield make("rows rolled, 1000^2", "rolled", (x, 137), lambda: np.roll(x, -137, 1))
    none, drawn = np.zeros(1 << 20, np.float32), np.empty(1 << 20, np.float32)
    # Other generators give other numbers, which lie in the same range.
    yield make("1 M random numbers", "uniform", (none, 7), lambda: RNG.random(out=drawn, dtype=np.float32),
               lambda: torch.rand(1 << 20), tolerance=1)  # fmt: skip
    places = (RNG.random(50000) * 9998).astype(np.float32)
    signal, whole = floats(10000), np.arange(10000)
    yield make("50,000 interpolated", "interpolated", (signal, places), lambda: np.interp(places, whole, signal), tolerance=1e-2)


def image_rows(make):
    torch = make.peers.torch
    images, w, g, b = floats(8, 64, 64, 64), floats(64, 3, 3), floats(64), floats(64)
    ti, tw, tg, tb = make.tensors(images, w, g, b) if torch else [None] * 4
    torch_call = torch.nn.functional if torch else None
    yield make("maximum of 2x2, 8 x 64 x 64^2", "max_pool", (images,), None, lambda: torch_call.max_pool2d(ti, 2))
    yield make("depthwise 3x3, 8 x 64 x 64^2", "depthwise", (images, w), None,
               lambda: torch_call.conv2d(ti, tw[:, None], groups=64))  # fmt: skip
    yield make("batch norm, 8 x 64 x 64^2", "batch_norm", (images, g, b), None,
               lambda: torch_call.batch_norm(ti, None, None, tg, tb, True))  # fmt: skip
    yield make("pixel shuffle, 8 x 64 x 64^2", "pixel_shuffle", (images,), None, lambda: torch_call.pixel_shuffle(ti, 2))
    yield make("channels last, 8 x 64 x 64^2", "channels_last", (images,),
               lambda: np.ascontiguousarray(images.transpose(0, 2, 3, 1)))  # fmt: skip


def kalman(z):
    """The filter of `plain.ptl` with matrices of each track."""
    tracks, times = z.shape
    x, move, noise = np.zeros((tracks, 2), np.float32), np.array([[1, 1], [0, 1]], np.float32), np.eye(2, dtype=np.float32) * np.float32(0.01)
    p = np.tile(np.eye(2, dtype=np.float32) * 10, (tracks, 1, 1))
    for t in range(times):
        x, p = x @ move.T, move @ p @ move.T + noise
        k = p[:, :, 0] / (p[:, 0, 0] + 1)[:, None]
        x = x + k * (z[:, t] - x[:, 0])[:, None]
        p = p - k[:, :, None] * p[:, 0, None, :]
    return x


def life(x):
    n = sum(np.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return ((n == 3) | ((x == 1) & (n == 2))).astype(np.int32)


def smoothed(x):
    y = x.copy()
    for t in range(1, x.shape[1]):
        y[:, t] = 0.25 * x[:, t] + 0.75 * y[:, t - 1]
    return y


def step_rows(make):
    """Steps of algorithms."""
    torch = make.peers.torch
    w, g, m, v = floats(1 << 20), floats(1 << 20), floats(1 << 20), np.abs(floats(1 << 20))

    def adam():
        a, b = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 1e-3 * a / (np.sqrt(b) + 1e-8)

    yield make("Adam, 1 M", "adam", (w, g, m, v), adam)
    z = floats(2000, 50)
    yield make("Kalman filter, 2000 x 50", "kalman", (z,), lambda: kalman(z), tolerance=1e-2)
    image, grid = floats(1000, 1000), numbers(2, 1000, 1000)
    kernel = torch.tensor([1.0, 4, 6, 4, 1]) / 16 if torch else None
    timage = make.tensors(image)[0] if torch else None
    torch_call = torch.nn.functional if torch else None
    yield make("blur 5x5, 1000^2", "blur", (image,), None,
               lambda: torch_call.conv2d(timage[None, None], (kernel[:, None] * kernel)[None, None], padding=2)[0, 0])  # fmt: skip
    yield make("game of life, 1000^2", "life", (grid,), lambda: life(grid), tolerance=0)
    yield make("twice as large, 1000^2", "enlarged", (image,), None,
               lambda: torch_call.interpolate(timage[None, None], scale_factor=2, mode="bilinear")[0, 0])  # fmt: skip
    yield make("exponential smoothing, 1000^2", "smoothed", (image,), lambda: smoothed(image))
    a = floats(128, 128)
    a = a @ a.T / 128 + np.eye(128, dtype=np.float32)
    yield make("Cholesky, 128^2", "cholesky", (a,), lambda: np.linalg.cholesky(a))
    signal, taps = floats(8, 64, 1000), floats(64, 64, 5)
    tsignal, ttaps = make.tensors(signal, taps) if torch else [None] * 2
    yield make("convolution of 5, 8 x 64 x 1000", "conv1d", (signal, taps), None, lambda: torch_call.conv1d(tsignal, ttaps))


def averages(x):
    y, s = np.empty_like(x), x[0]
    for t, row in enumerate(x):
        s = 0.9 * s + 0.1 * row
        y[t] = s
    return y


def waves(start, t):
    u = np.zeros((len(t), len(start)), np.float32)
    u[0] = u[1] = start
    for k in range(2, len(t)):
        a = u[k - 1]
        u[k, 1:-1] = 2 * a[1:-1] - u[k - 2, 1:-1] + t[k] * (a[2:] - 2 * a[1:-1] + a[:-2])
    return u


def triangles(a):
    m = a.copy()
    for k in range(len(m) - 1):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return m


def primes(x, top):
    p = x.copy()
    for k in range(2, top):
        if p[k]:
            p[k * k :: k] = 0
    return p


def bag(weights, values, start):
    best = start
    for weight, value in zip(weights, values):
        more = best.copy()
        more[weight:] = np.maximum(best[weight:], best[: len(best) - weight] + value)
        best = more
    return best


def loop_rows(make):
    """Loops that replace a part of an array in each round."""
    series, string, speeds = RNG.standard_normal((1000, 500)), floats(4000), np.full(500, 0.25, np.float32)
    yield make("averages of 500 series, 1000 rows", "averages", (series,), lambda: averages(series))
    yield make("a string of 4000, 500 steps", "waves", (string, speeds), lambda: waves(string, speeds))
    matrix, ones = RNG.standard_normal((300, 300)) + 300 * np.eye(300), np.ones(1000000, np.int32)
    yield make("elimination, 300^2", "triangles", (matrix,), lambda: triangles(matrix))
    yield make("primes below 1 M", "primes", (ones, 1001), lambda: primes(ones, 1001), tolerance=0)
    weights, values, empty = numbers(5000, 200), np.abs(floats(200)), np.zeros(20000, np.float32)
    yield make("200 goods, bags of 20,000 sizes", "bag", (weights, values, empty), lambda: bag(weights, values, empty))
    image = numbers(256, 1000, 1000, 3).astype(np.uint8)
    yield make("value of 1 M colours", "colours", (image,), lambda: image.max(2) / np.float32(255))


def number_rows(make):
    """Functions of numbers, and little work of each of many."""
    torch = make.peers.torch
    x, y, wide = np.abs(floats(1 << 20)) + np.float32(0.1), floats(1 << 20), RNG.standard_normal(1 << 20)
    rows, turns = floats(1000, 1000), floats(20000, 3, 3)
    tx, ty, trows, tturns = make.tensors(x, y, rows, turns) if torch else [None] * 4
    yield make("angles of 1 M points", "angles", (y, x), lambda: np.arctan2(y, x), lambda: torch.atan2(ty, tx))
    yield make("powers, 1 M", "powers", (x, y), lambda: x**y, lambda: tx**ty)
    yield make("remainders, 1 M", "remainders", (y, x), lambda: np.fmod(y, x), lambda: torch.fmod(ty, tx))
    yield make("logistic function of f64, 1 M", "logistic", (wide,), lambda: 1 / (1 + np.exp(-wide)))
    yield make("20,000 products 3x3", "turned", (turns, turns), lambda: turns @ turns, lambda: tturns @ tturns)
    yield make("20,000 products NxN, N = 3", "turned_any", (turns, turns), lambda: turns @ turns, lambda: tturns @ tturns)
    points, turn = floats(300000, 3), floats(3, 3)
    yield make("300,000 points turned", "points_turned", (points, turn), lambda: points @ turn.T)
    yield make("first 5 of rows 1000^2", "first_5", (rows,), lambda: -np.sort(-rows)[:, :5], lambda: torch.topk(trows, 5)[0], tolerance=0)
    yield make("log2 of 1 M", "logarithms", (x,), lambda: np.log2(x), lambda: torch.log2(tx))
    wx, twide = np.abs(wide) + 0.1, torch.from_numpy(wide) if torch else None
    yield make("powers of f64, 1 M", "wide_powers", (wx, wide), lambda: wx**wide)
    yield make("tangents of f64, 1 M", "wide_tangents", (wide,), lambda: np.tan(wide))
    yield make("erfc of f64, 1 M", "normal_tails", (wide,), None, lambda: torch.erfc(twide))


def narrow_rows(make):
    """Many short rows, beside few long ones: elements that are taken from them."""
    torch = make.peers.torch
    for m, n in ((1 << 16, 16), (1024, 1024)):
        x, at, columns = floats(m, n), numbers(n, m, n), numbers(n, n)
        tx, tat, tcolumns = make.tensors(x, at, columns) if torch else [None] * 3
        shape = f"{m} x {n}"
        yield make(f"gathered along rows, {shape}", "gathered", (x, at), lambda x=x, at=at: np.take_along_axis(x, at, 1),
                   lambda tx=tx, tat=tat: torch.gather(tx, 1, tat), tolerance=0)  # fmt: skip
        yield make(f"columns chosen, {shape}", "chosen_columns", (x, columns), lambda x=x, c=columns: np.take(x, c, 1),
                   lambda tx=tx, tc=tcolumns: torch.index_select(tx, 1, tc), tolerance=0)  # fmt: skip
        yield make(f"every fourth column, {shape}", "every_fourth", (x,), lambda x=x: x[:, 1::4].copy(),
                   lambda tx=tx: tx[:, 1::4].contiguous(), tolerance=0)  # fmt: skip
        yield make(f"rows sorted, {shape}", "sorted_rows", (x,), lambda x=x: np.sort(x, 1), tolerance=0)
        g, b = floats(n), floats(n)
        tg, tb = make.tensors(g, b) if torch else [None] * 2
        yield make(f"rows normalised, and how, {shape}", "normalised", (x, g, b), None,
                   lambda tx=tx, tg=tg, tb=tb: torch.native_layer_norm(tx, tg.shape, tg, tb, 1e-5)[0])  # fmt: skip
        if torch:
            _, middle, scale = torch.native_layer_norm(tx, tg.shape, tg, tb, 1e-5)
            kept = [each.numpy().reshape(-1) for each in (middle, scale)]
            yield make(f"rows normalised, back, {shape}", "normalised_back", (x, g, x, *kept), None,
                       lambda tx=tx, tg=tg, tb=tb, m=middle, s=scale: torch.ops.aten.native_layer_norm_backward(
                           tx, tx, tg.shape, m, s, tg, tb, [True] * 3)[0])  # fmt: skip
        yield make(f"best of rows, {shape}", "best_of_rows", (x,), lambda x=x: x.argmax(1), lambda tx=tx: tx.argmax(1), tolerance=0)
