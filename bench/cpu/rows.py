"""The rows of the table: what is computed, by PTL and by each peer, on the same arrays, and what would limit it."""

import ctypes
import os
import tempfile

import limits
import numpy as np
from plain import Maker, image_rows, loop_rows, narrow_rows, number_rows, plain_rows, step_rows

RNG = np.random.default_rng(1)


def floats(*shape):
    return RNG.standard_normal(shape, np.float32)


def bf16_bits(array):
    """The upper halves of floats: what PTL takes as `bf16` where NumPy has no such type."""
    return (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16)


class Row:
    """One line of the table. `calls` maps `ptl` and names of peers to functions without arguments; `amount` counts the
    operations of a product, or the bytes that must be moved; `limit` is `fma`, `read` or `copy`."""

    def __init__(self, name, goal, limit, amount, calls, check=None):
        self.name, self.goal, self.limit, self.amount, self.calls, self.check = name, goal, limit, amount, calls, check


def product_check(peers, a, b, c, other):
    """What compares a product with that of the peers, which is in `other`; without any, both sides times one vector."""
    if peers.blas:
        return lambda: (c, other, 1e-3)
    x = RNG.standard_normal(b.shape[1])
    return lambda: (c @ x, a @ (b @ x), 1e-3)


def products(ptl, peers):
    """Products of floats."""
    shapes = [(n, n, n) for n in (128, 256, 512, 1024, 2048)] + [(1000, 777, 513), (4096, 4096, 64), (4096, 64, 4096)]
    shapes += [(m, 4096, 1024) for m in (1, 8, 32)]
    for m, n, k in shapes:
        a, b = floats(m, k), floats(k, n)
        c, other = np.empty((m, n), np.float32), np.empty((m, n), np.float32)
        calls = {"ptl": lambda a=a, b=b, c=c: ptl.product(a, b, c=c), **peers.products(a, b, other)}
        yield Row(f"product f32 {m} x {n} x {k}", 1.0, "fma", 2 * m * n * k, calls, product_check(peers, a, b, c, other))
    n = 1024
    a, b, c, other = floats(n, n), floats(n, n), np.empty((n, n), np.float32), np.empty((n, n), np.float32)
    calls = {"ptl": lambda: ptl.product_transposed(a, b, c=c), **peers.products(a, b, other, True)}
    yield Row(f"product f32 {n}^3, a @ b.T", 1.0, "fma", 2 * n**3, calls, product_check(peers, a, b.T, c, other))
    if peers.torch:
        small = [floats(64, 64, 64) for _ in range(2)]
        out = np.empty((64, 64, 64), np.float32)
        tensors, target = [peers.tensor(x) for x in small], peers.tensor(np.empty_like(out))
        calls = {"ptl": lambda: ptl.products(*small, c=out), "torch": lambda: peers.torch.bmm(*tensors, out=target)}
        yield Row("products f32, 64 of 64^3", 1.0, "fma", 2 * 64**4, calls, lambda: (out, target.numpy(), 1e-3))


def short_products(ptl, peers):
    """Products of short types."""
    n = 1024
    a, b = floats(n, n), floats(n, n)
    torch = peers.torch
    bits = bf16_bits(a), bf16_bits(b), np.empty((n, n), np.uint16)
    calls = {"ptl": lambda: ptl.product_bf16(bits[0], bits[1], c=bits[2])}
    if torch:
        ta, tb = peers.tensor(a).to(torch.bfloat16), peers.tensor(b).to(torch.bfloat16)
        calls["torch"] = lambda: torch.mm(ta, tb)
    yield Row(f"product bf16 {n}^3", 1.0, "fma", 2 * n**3, calls)
    ia, ib = (RNG.integers(-128, 128, (n, n), np.int8) for _ in range(2))
    ic, f = np.empty((n, n), np.int32), (floats(n, n), np.empty((n, n), np.float32))
    calls = {"ptl": lambda: ptl.product_i8(ia, ib, c=ic)}
    for name, call in peers.products(a, b, f[1]).items():
        calls[name + " f32"] = call
    yield Row(f"product i8 {n}^3", 1.0, "fma", 2 * n**3, calls, lambda: (ic, ia.astype(np.int32) @ ib.astype(np.int32), 0))
    x, w, scale, y = floats(512, n), RNG.integers(-128, 128, (n, n), np.int8), floats(n), np.empty((512, n), np.float32)
    calls = {"ptl": lambda: ptl.linear_i8(x, w, scale, y=y)}
    if torch:
        tx, tw, tb = peers.tensor(x), peers.tensor(w.astype(np.float32)), peers.tensor(scale)
        calls["torch f32"] = lambda: torch.mm(tx, tw) * tb
    yield Row("linear i8, dynamic, 512 x 1024 x 1024", 1.2, "fma", 2 * 512 * n * n, calls)
    if torch:
        g, u, xb = floats(n, n), floats(n, n), floats(512, n)
        ours = bf16_bits(xb), bf16_bits(g), bf16_bits(u), np.empty((512, n), np.uint16)
        theirs = [peers.tensor(v).to(torch.bfloat16) for v in (xb, g, u)]
        calls = {"ptl": lambda: ptl.swiglu_bf16(*ours[:3], y=ours[3]),
                 "torch": lambda: torch.nn.functional.silu(theirs[0] @ theirs[1]) * (theirs[0] @ theirs[2])}  # fmt: skip
        yield Row("swiglu bf16 512 x 1024 x 1024", 1.2, "fma", 4 * 512 * n * n, calls)


def vectors(ptl, peers):
    """A matrix and a vector."""
    n = 4096
    a, x, y, other = floats(n, n), floats(n), np.empty(n, np.float32), np.empty(n, np.float32)
    calls = {"ptl": lambda: ptl.matrix_vector(a, x, y=y)}
    for name, library in peers.blas.items():
        calls[name] = library.gemv(a, x, other)
    yield Row("matrix times vector 4096^2", 1.0, "read", 4 * n * n, calls, lambda: (y, a @ x, 1e-2))
    z = np.empty(n, np.float32)
    calls = {"ptl": lambda: ptl.vector_matrix(x, a, y=z), "numpy": lambda: np.matmul(x, a, out=other)}
    yield Row("vector times matrix 4096^2", 1.0, "read", 4 * n * n, calls, lambda: (z, x @ a, 1e-2))


def fused(ptl, peers):
    """What follows a product."""
    torch, f = peers.torch, peers.torch.nn.functional
    m, n = 512, 1024
    x, w, b, y = floats(m, n), floats(n, n), floats(n), np.empty((m, n), np.float32)
    tx, tw, tb = peers.tensor(x), peers.tensor(w.T), peers.tensor(b)
    calls = {"ptl": lambda: ptl.linear_gelu(x, w, b, y=y), "torch": lambda: f.gelu(f.linear(tx, tw, tb))}
    yield Row("linear + gelu 512 x 1024 x 1024", 1.2, "fma", 2 * m * n * n, calls,
              lambda: (y, f.gelu(f.linear(tx, tw, tb)).numpy(), 1e-3))  # fmt: skip
    for heads, length in ((8, 1024), (8, 4096)):
        q, k, v = (floats(heads, length, 64) for _ in range(3))
        o, ts = np.empty_like(q), [peers.tensor(t) for t in (q, k, v)]

        def dense(ts=ts):
            return torch.softmax(ts[0] @ ts[1].transpose(1, 2) * 0.125, -1) @ ts[2]

        work = 4 * heads * length * length * 64
        for name, entry in (("", ptl.attention), (", tile kernel", ptl.attention_tile)):
            calls = {"ptl": lambda q=q, k=k, v=v, o=o, entry=entry: entry(q, k, v, 0.125, o=o), "torch": dense}
            yield Row(f"attention{name} 8 x {length}^2 x 64", 1.5, "fma", work, calls,
                      lambda o=o, d=dense: (o, d().numpy(), 1e-3))  # fmt: skip
        seen = torch.full((length, length), float("-inf")).triu(1)

        def causal(ts=ts, seen=seen):
            return torch.softmax(ts[0] @ ts[1].transpose(1, 2) * 0.125 + seen, -1) @ ts[2]

        for name, entry in (("", ptl.causal_attention), (", tile kernel", ptl.causal_attention_tile)):
            calls = {"ptl": lambda q=q, k=k, v=v, o=o, entry=entry: entry(q, k, v, 0.125, o=o), "torch": causal}
            yield Row(f"attention{name} 8 x {length}^2 x 64, causal", 2.5, "fma", work / 2, calls,
                      lambda o=o, d=causal: (o, d().numpy(), 1e-3))  # fmt: skip


def models(ptl, peers):
    """Whole networks, and convolutions."""
    torch, f = peers.torch, peers.torch.nn.functional
    for channels, side in ((64, 56), (256, 14)):
        x, w = floats(channels, side, side), floats(channels, channels, 3, 3)
        y, tx, tw = np.empty_like(x), peers.tensor(x[None]), peers.tensor(w)
        ours, taps = (np.ascontiguousarray(w.transpose(2, 3, *axes)) for axes in ((0, 1), (1, 0)))
        work = 18 * channels * channels * side * side

        def theirs(tx=tx, tw=tw):
            return f.conv2d(tx, tw, padding=1)

        for name, entry, filters in (("", ptl.convolution, ours), (", Winograd", ptl.convolution_winograd_first, taps)):
            yield Row(f"convolution 3x3, {channels} channels{name}, {side}^2", 1.3, "fma", work,
                      {"ptl": lambda e=entry, x=x, w=filters, y=y: e(x, w, y=y), "torch": theirs},
                      lambda y=y, t=theirs: (y, t()[0].numpy(), 1e-3))  # fmt: skip
        # The same with channels last, which PyTorch is given in that order, too.
        last = np.ascontiguousarray(x.transpose(1, 2, 0))
        padded = np.pad(last, ((1, 1), (1, 1), (0, 0)))
        z, tl = np.empty((side, side, channels), np.float32), tx.to(memory_format=torch.channels_last)

        def theirs_last(tx=tl, tw=tw.to(memory_format=torch.channels_last)):
            return f.conv2d(tx, tw, padding=1)

        for name, entry, image in (("", ptl.convolution_last, last), (", tile kernel", ptl.convolution_tile, padded),
                                   (", Winograd", ptl.convolution_winograd, last)):  # fmt: skip
            yield Row(f"convolution 3x3, {channels} channels last{name}, {side}^2", 1.3, "fma", work,
                      {"ptl": lambda e=entry, x=image, w=taps, y=z: e(x, w, y=y), "torch": theirs_last},
                      lambda y=z, t=theirs_last: (y, t()[0].permute(1, 2, 0).numpy(), 1e-3))  # fmt: skip
    layers, s, d, h, hidden = 2, 512, 512, 8, 2048
    x, y, gamma, beta = floats(s, d), np.empty((s, d), np.float32), floats(layers, 2, d), floats(layers, 2, d)
    weights = [floats(layers, *shape) * np.float32(0.02) for shape in ((d, 3 * d), (d, d), (d, hidden), (hidden, d))]
    tx, tg, tb = (peers.tensor(v) for v in (x, gamma, beta))
    transposed = [peers.tensor(w.transpose(0, 2, 1)) for w in weights]

    def network():
        v = tx
        for layer in range(layers):
            qkv, wo, up, down = (w[layer] for w in transposed)
            parts = f.linear(f.layer_norm(v, (d,), tg[layer, 0], tb[layer, 0]), qkv).view(s, 3, h, d // h).permute(1, 2, 0, 3)
            o = torch.softmax(parts[0] @ parts[1].transpose(1, 2) * (d // h) ** -0.5, -1) @ parts[2]
            middle = v + f.linear(o.transpose(0, 1).reshape(s, d), wo)
            v = middle + f.linear(f.gelu(f.linear(f.layer_norm(middle, (d,), tg[layer, 1], tb[layer, 1]), up)), down)
        return v

    work = layers * 2 * (s * d * (4 * d + 2 * hidden) + 2 * s * s * d)
    yield Row("transformer, two layers, 512 x 512", 1.3, "fma", work,
              {"ptl": lambda: ptl.transformer(x, gamma, beta, *weights, E=d // h, H=h, y=y), "torch": network},
              lambda: (y, network().numpy(), 1e-2))  # fmt: skip


def rows_of(ptl, peers):
    """Row by row."""
    n = 4096
    x, y, gamma, beta = floats(n, n), np.empty((n, n), np.float32), floats(n), floats(n)
    torch = peers.torch
    t = peers.tensor(x) if torch else None
    f = torch.nn.functional if torch else None
    table = {
        "softmax": (lambda: ptl.softmax(x, y=y), lambda: torch.softmax(t, 1)),
        "softmax, tile kernel": (lambda: ptl.softmax_tile(x, y=y), lambda: torch.softmax(t, 1)),
        "log_softmax": (lambda: ptl.log_softmax(x, y=y), lambda: torch.log_softmax(t, 1)),
        "layer_norm": (lambda: ptl.layer_norm(x, gamma, beta, y=y),
                       lambda: f.layer_norm(t, (n,), peers.tensor(gamma), peers.tensor(beta))),
        "rms_norm": (lambda: ptl.rms_norm(x, gamma, y=y),
                     lambda: t * torch.rsqrt((t * t).mean(1, keepdim=True) + 1e-6) * peers.tensor(gamma)),
        "cumulative sum of rows": (lambda: ptl.scan_rows(x, y=y), lambda: torch.cumsum(t, 1)),
        "cumulative sum of columns": (lambda: ptl.scan_columns(x, y=y), lambda: torch.cumsum(t, 0)),
    }  # fmt: skip
    for name, (ours, theirs) in table.items():
        calls = {"ptl": ours, **({"torch": theirs} if torch else {})}
        check = (lambda theirs=theirs: (y, theirs().numpy(), 1e-2)) if torch else None
        yield Row(f"{name} 4096^2", 1.0, "copy", 8 * n * n, calls, check)


def elements(ptl, peers):
    """Element by element."""
    n = 1 << 24
    x, b, y, spare = floats(n), floats(n), np.empty(n, np.float32), np.empty(n, np.float32)
    torch = peers.torch
    t, out = (peers.tensor(x), peers.tensor(np.empty(n, np.float32))) if torch else (None, None)
    table = {
        "exp": (lambda: ptl.exponential(x, y=y), lambda: torch.exp(t, out=out), lambda: np.exp(x, out=spare), 1.2),
        "tanh": (lambda: ptl.hyperbolic_tangent(x, y=y), lambda: torch.tanh(t, out=out), lambda: np.tanh(x, out=spare), 1.2),
        "gelu": (lambda: ptl.gelu(x, y=y), lambda: torch.nn.functional.gelu(t), None, 1.2),
    }
    for name, (ours, torch_call, numpy_call, goal) in table.items():
        calls = {"ptl": ours}
        if torch:
            calls["torch"] = torch_call
        if numpy_call:
            calls["numpy"] = numpy_call
        check = (lambda call=torch_call: (y, call().numpy(), 1e-4)) if torch else None
        yield Row(f"{name} of 16 M", goal, "copy", 8 * n, calls, check)
    calls = {"ptl": lambda: ptl.added(x, b, c=y), "numpy": lambda: np.add(x, b, out=spare)}
    if torch:
        tb = peers.tensor(b)
        calls["torch"] = lambda: torch.add(t, tb, out=out)
    yield Row("a + b of 16 M", 1.0, "copy", 12 * n, calls, lambda: (y, x + b, 0))


def columns(ptl, peers):
    """Reductions."""
    n = 4096
    x, y = floats(n, n), np.empty(n, np.float32)
    torch = peers.torch
    t = peers.tensor(x) if torch else None
    where = np.empty(n, np.int32)
    table = {
        "sum of rows": (lambda: ptl.sum_rows(x, y=y), lambda: t.sum(1), lambda: x.sum(1)),
        "sum of columns": (lambda: ptl.sum_columns(x, y=y), lambda: t.sum(0), lambda: x.sum(0)),
        "max of columns": (lambda: ptl.max_columns(x, y=y), lambda: t.amax(0), lambda: x.max(0)),
        "argmax of rows": (lambda: ptl.argmax_rows(x, y=where), lambda: t.argmax(1), lambda: x.argmax(1)),
        "argmax of columns": (lambda: ptl.argmax_columns(x, y=where), lambda: t.argmax(0), lambda: x.argmax(0)),
    }
    for name, (ours, torch_call, numpy_call) in table.items():
        calls = {"ptl": ours, "numpy": numpy_call, **({"torch": torch_call} if torch else {})}
        result = where if name.startswith("arg") else y
        yield Row(f"{name} 4096^2", 1.0, "read", 4 * n * n, calls, lambda r=result, c=numpy_call: (r, c(), 1e-2))
    out, target = np.empty((n, n), np.float32), np.empty((n, n), np.float32)
    calls = {"ptl": lambda: ptl.transposed(x, y=out), "numpy": lambda: np.copyto(target, x.T)}
    if torch:
        calls["torch"] = lambda: t.t().contiguous()
    yield Row("transpose 4096^2", 1.2, "copy", 8 * n * n, calls, lambda: (out, x.T, 0))


def orders(ptl, peers):
    """Orderings."""
    torch = peers.torch

    def row(name, ours, numpy_call, torch_call, amount, check):
        calls = {"ptl": ours, **({"numpy": numpy_call} if numpy_call else {}), **({"torch": torch_call} if torch else {})}
        return Row(name, 1.0, "read", amount, calls, check)

    x = floats(64, 32000)
    top, at, t = np.empty((64, 40), np.float32), np.empty((64, 40), np.int32), peers.tensor(x) if torch else None
    yield row("top 40 of 64 x 32000", lambda: ptl.top_40(x, y=top, at=at), None, lambda: torch.topk(t, 40), x.nbytes,
              lambda: (top, -np.sort(-x)[:, :40], 0))  # fmt: skip
    rows, out = floats(256, 4096), np.empty((256, 4096), np.float32)
    tr = peers.tensor(rows) if torch else None
    yield row("sort 256 x 4096", lambda: ptl.sorted_rows(rows, y=out), lambda: np.sort(rows), lambda: torch.sort(tr)[0],
              rows.nbytes, lambda: (out, np.sort(rows), 0))  # fmt: skip
    long = floats(1, 1 << 20)
    sorted_long, tl = np.empty_like(long), peers.tensor(long) if torch else None
    yield row("sort of 1 M", lambda: ptl.sorted_rows(long, y=sorted_long), lambda: np.sort(long),
              lambda: torch.sort(tl)[0], long.nbytes, lambda: (sorted_long, np.sort(long), 0))  # fmt: skip
    flat, order = long[0], np.empty(1 << 20, np.int32)
    tf = peers.tensor(flat) if torch else None
    yield row("argsort of 1 M", lambda: ptl.order(flat, y=order), lambda: np.argsort(flat, kind="stable"),
              lambda: torch.argsort(tf), flat.nbytes, lambda: (order, np.argsort(flat, kind="stable"), 0))  # fmt: skip


def calls(ptl, peers):
    """The cost of a call."""
    a, b, c, d = floats(16), floats(16), np.empty(16, np.float32), np.empty(16, np.float32)
    table = {"ptl": lambda: ptl.small(a, b, c=c), "numpy": lambda: np.multiply(a, b, out=d)}
    if peers.torch:
        ta, tb = peers.tensor(a), peers.tensor(b)
        table["torch"] = lambda: peers.torch.mul(ta, tb)
    yield Row("a call from Python, 16 elements", 1.0, None, 0, table, lambda: (c, a * b, 0))
    yield Row("a call from Python, result made", 1.0, None, 0, {"ptl": lambda: ptl.small(a, b), "numpy": lambda: np.multiply(a, b)},
              lambda: (ptl.small(a, b), a * b, 0))  # fmt: skip
    if peers.torch:
        import importlib

        ops = importlib.import_module("ptl.torch").load(os.path.join(limits.HERE, "programs.ptl"))
        ops.small(ta, tb)
        yield Row("an operator of PyTorch, 16 elements", 0.33, None, 0,
                  {"ptl": lambda: ops.small(ta, tb), "torch": lambda: peers.torch.mul(ta, tb)},
                  lambda: (ops.small(ta, tb).numpy(), a * b, 0))  # fmt: skip
        yield Row("the same, as PyTorch dispatches it", 0.1, None, 0,
                  {"ptl": lambda: peers.torch.ops.programs.small(ta, tb), "torch": lambda: peers.torch.mul(ta, tb)},
                  lambda: (ops.small(ta, tb).numpy(), a * b, 0))  # fmt: skip
    yield Row("1000 calls from C, 16 elements", 1.0, None, 0, {"ptl": calls_from_c(ptl, a, b, c, 1000), "numpy": times_of(table["numpy"], 1000)},
              lambda: (c, a * b, 0))  # fmt: skip


def times_of(call, count):
    def repeated():
        for _ in range(count):
            call()

    return repeated


def calls_from_c(library, a, b, c, count):
    """`count` calls of `small` by a loop in C."""
    code = limits.compiled(tempfile.mkdtemp(dir=os.environ["PTL_CACHE"]), "calls", "-I" + os.path.join(limits.HERE, "../../runtime/include"))
    call = ctypes.cast(library._runtime.ptl_call, ctypes.c_void_p)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
    size = ctypes.c_int64(a.size)

    def repeated():
        if code.ptl_bench_calls(call, ctypes.c_void_p(library.small._pointer), *pointers, size, ctypes.c_int64(count)):
            raise RuntimeError("a call failed")

    return repeated


def plain(_, peers):
    """Programs as people write them."""
    make = Maker(Row, peers)
    yield from plain_rows(make)
    yield from image_rows(make)
    yield from step_rows(make)
    yield from loop_rows(make)
    yield from number_rows(make)
    yield from narrow_rows(make)


GROUPS = {group.__name__: group for group in
          (products, short_products, vectors, fused, models, rows_of, elements, columns, orders, plain, calls)}  # fmt: skip
# Groups whose rows are compared with PyTorch alone.
NEED_TORCH = (fused.__name__, models.__name__)
