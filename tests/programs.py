"""Programs of the examples against NumPy, on every executor that computes values, with 1, 2 and 8 threads."""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

from harness import ROOT, Case, Outcome, Tools, run_cases
from run_arrays import run_on_arrays

EXECUTORS = (["--target", "reference"], ["-j", "1"], ["-j", "2"], ["-j", "8"])
SHAPES = {"indexer prolog": (8, 7168, 1536, 64, 128, 64, 512), "indexer prolog, small": (5, 96, 64, 4, 32, 16, 256)}


def bf16(x):
    """Rounded to the nearest `bf16`, ties to even; kept in `f32`."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


class Program:
    """One example, run as its users run it: arrays in files."""

    def __init__(self, tools, file, entry):
        self.tools, self.file, self.entry = tools, ROOT / "examples" / file, entry

    def __call__(self, executor, outputs, inputs, **dims):
        results = run_on_arrays(self.tools, self.file, self.entry, {**dims, **inputs}, outputs, executor)
        if isinstance(results, Outcome):
            raise AssertionError(results.stderr)
        return list(results.values())


def expect_close(what, actual, expected, atol, rtol=0.0, misses=0.0):
    """`misses`: the share of elements that may be further away."""
    away = np.abs(actual.astype(np.float64) - expected) > atol + rtol * np.abs(expected)
    if actual.shape != expected.shape or away.mean() > misses:
        raise AssertionError(f"{what}: {away.sum()} of {away.size} differ")


def transformer(tools, executor):
    s, d, f, h, layers = 21, 32, 48, 4, 2
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    x, angle = draw(s, d), draw(s, d // h // 2)
    weights = {
        "w_qkv": draw(layers, d, 3 * d) / 6, "w_out": draw(layers, d, d) / 6, "w_gate": draw(layers, d, f) / 6,
        "w_up": draw(layers, d, f) / 6, "w_down": draw(layers, f, d) / 6, "gamma": draw(layers, 2, d),
    }  # fmt: skip
    cosine, sine = np.cos(angle), np.sin(angle)
    (y,) = Program(tools, "08_transformer.ptl", "transformer")(
        executor, ["y"], {"tokens": x, **weights, "cosine": cosine, "sine": sine}, H=h
    )
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    heads = lambda v: v.reshape(s, h, d // h).transpose(1, 0, 2)
    norm = lambda v, g: v / np.sqrt((v * v).mean(axis=-1, keepdims=True) + 1e-6) * g

    def rope(v):
        a, b = np.split(v, 2, axis=-1)
        return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)

    value = x.astype(np.float64)
    for i in range(layers):
        q, k, v = np.split(norm(value, w["gamma"][i, 0]) @ w["w_qkv"][i], 3, axis=1)
        scores = rope(heads(q)) @ rope(heads(k)).transpose(0, 2, 1) / np.sqrt(d // h)
        p = softmax(np.where(np.tri(s, dtype=bool), scores, -np.inf))
        value = value + (p @ heads(v)).transpose(1, 0, 2).reshape(s, d) @ w["w_out"][i]
        m = norm(value, w["gamma"][i, 1])
        value = value + silu(m @ w["w_gate"][i]) * (m @ w["w_up"][i]) @ w["w_down"][i]
    expect_close("y", y, value, 2e-4, 2e-4)


def split_k(tools, executor):
    rng = np.random.default_rng(2)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((33, 4096), (4096, 70)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    for entry in ("split_k", "split_k_atomic"):
        (c,) = Program(tools, "09_split_k.ptl", entry)(executor, ["c"], {"a": a, "b": b})
        expect_close(entry, c, exact, 5e-4)


def mixture_of_experts(tools, executor):
    t, d, f, e = 37, 16, 24, 5
    rng = np.random.default_rng(3)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    x, router, gate, up, down = draw(t, d), draw(d, e), draw(e, d, f), draw(e, d, f), draw(e, f, d)
    router[:, 2] = -100 * np.abs(x).max() * np.sign(x.sum(axis=0) + 0.5)  # hardly a token goes there
    (y,) = Program(tools, "10_mixture_of_experts.ptl", "mixture_of_experts")(
        executor, ["y"], {"x": x, "router": router, "gate": gate, "up": up, "down": down}
    )
    x, router, gate, up, down = (v.astype(np.float64) for v in (x, router, gate, up, down))
    p = softmax(x @ router)
    choice = np.argsort(-p, axis=1, kind="stable")[:, :2]
    weight = np.take_along_axis(p, choice, axis=1)
    weight = weight / weight.sum(axis=1, keepdims=True)
    expected = np.zeros_like(x)
    for token in range(t):
        for slot, each in enumerate(choice[token]):
            h = silu(x[token] @ gate[each]) * (x[token] @ up[each])
            expected[token] += weight[token, slot] * (h @ down[each])
    expect_close("y", y, expected, 2e-3, 1e-4)


def paged_attention(tools, executor):
    b, h, parts, size, d = 3, 20, 4, 16, 32
    rng = np.random.default_rng(4)
    q, keys, values = (
        rng.uniform(-1, 1, s).astype(np.float16) for s in ((b, h, d), (b * parts, size, d), (b * parts, size, d))
    )
    pages = rng.permutation(b * parts).reshape(b, parts).astype(np.int32)
    length = np.array([1, 17, size * parts], dtype=np.int32)
    (o,) = Program(tools, "11_paged_attention.ptl", "paged_attention")(
        executor, ["o"], {"q": q, "keys": keys, "values": values, "pages": pages, "length": length, "scale": 0.3}
    )
    for i in range(b):
        k, v = (each[pages[i]].reshape(-1, d)[: length[i]].astype(np.float64) for each in (keys, values))
        expect_close("o", o[i], softmax(q[i].astype(np.float64) @ k.T * 0.3) @ v, 2e-3)


def rounded_to_8_bits(v):
    scale = np.float32(127.0) / np.abs(v).max(axis=-1, keepdims=True)
    return np.trunc(np.rint(v * scale).astype(np.float16)).clip(-128, 127), np.float32(1.0) / scale


def turned(v, cosine, sine):
    """The first half of the last axis or less, `[T, N, R]` by `[T, R]`."""
    r = cosine.shape[-1]
    first, second = v[..., : r // 2], v[..., r // 2 : r]
    crossed = np.concatenate([-second, first], axis=-1)
    return np.concatenate([bf16(v[..., :r] * cosine[:, None, :] + crossed * sine[:, None, :]), v[..., r:]], axis=-1)


def indexer_prolog(tools, executor, shape):
    t, h, low, n, d, r, rows = shape
    rng = np.random.default_rng(5)
    draw = lambda *s: bf16(rng.standard_normal(s))
    small = lambda *s: rng.integers(-128, 128, s).astype(np.int8)
    angle = rng.uniform(0, 6, (t, r))
    a = {
        "x": draw(t, h), "q_norm": small(t, low), "q_norm_scale": rng.uniform(1e-3, 1e-2, (t, 1)).astype(np.float32),
        "w_qb": small(low, n * d), "w_qb_scale": rng.uniform(1e-3, 1e-2, (n * d, 1)).astype(np.float32),
        "wk": bf16(draw(h, d) / 32), "w_proj": bf16(draw(h, n) / 32), "gamma": draw(d), "beta": draw(d),
        "cosine": bf16(np.cos(angle)), "sine": bf16(np.sin(angle)), "hadamard_q": bf16(draw(d, d) / 8),
        "hadamard_k": bf16(draw(d, d) / 8), "row": rng.permutation(rows)[:t].astype(np.int64),
        "k_cache": small(rows, d), "k_cache_scale": rng.uniform(0, 1, (rows, 1)).astype(np.float16),
    }  # fmt: skip
    names = ["q", "q_scale", "weights", "k_cache", "k_cache_scale"]
    q, q_scale, weights, k_cache, k_scale = Program(tools, "12_indexer_prolog.ptl", "indexer_prolog")(
        executor, names, a
    )
    product = a["q_norm"].astype(np.int32) @ a["w_qb"].astype(np.int32)
    queries = bf16(product.astype(np.float32) * a["q_norm_scale"] * a["w_qb_scale"].T).reshape(t, n, d)
    q_exact, qs = rounded_to_8_bits(bf16(turned(queries, a["cosine"], a["sine"]) @ a["hadamard_q"]))
    keys = (a["x"].astype(np.float64) @ a["wk"]).astype(np.float32)
    away = keys - keys.mean(axis=-1, keepdims=True)
    keys = bf16(away / np.sqrt((away**2).mean(axis=-1, keepdims=True) + 1e-6) * a["gamma"] + a["beta"])
    k_exact, ks = rounded_to_8_bits(bf16(turned(keys[:, None], a["cosine"], a["sine"])[:, 0] @ a["hadamard_k"]))
    w_exact = bf16(a["x"].astype(np.float64) @ a["w_proj"]) / np.float32(np.sqrt(n) * np.sqrt(d))
    # A product that rounds to the other `bf16` neighbour moves the scale of its row.
    expect_close("q", q, q_exact, 1, misses=0.001)
    expect_close("q_scale", q_scale, qs.astype(np.float16), 2.5e-5, 1e-3, misses=0.005)
    expect_close("weights", weights, w_exact.astype(np.float16), 2.5e-5, 1e-3, misses=0.005)
    cache, scale = a["k_cache"].copy(), a["k_cache_scale"].copy()
    cache[a["row"]], scale[a["row"]] = k_exact, ks.astype(np.float16)
    expect_close("k_cache", k_cache, cache, 1, misses=0.001)
    expect_close("k_cache_scale", k_scale, scale, 2.5e-5, 1e-3, misses=0.005)


MASKED = """import std.nn

pub program causal[H, S, L, D, T: float](q: T[H, S, D], k: T[H, L, D], v: T[H, L, D], scale: f32) -> (o: T[H, S, D])
where S <= L
{
    o = nn.causal_attention(q, k, v, scale)
}

pub program shifted[S, L, D](q: f32[S, D], k: f32[L, D], v: f32[L, D], shift: i32) -> (o: f32[S, D]) {
    let m = select(index(0..L) < index(0..S)[:, new] + shift, q @ k.T, -inf)
    let e = exp(m - max(m, axis: 1))
    o = (e @ v) / sum(e, axis: 1)
}

pub program biased[S, L, D](q: f64[S, D], k: f64[L, D], v: f64[L, D], bias: f64[S, L]) -> (o: f64[S, D], p: f64[S, L]) {
    let m = select(index(0..S)[:, new] >= index(0..L), q @ k.T * 0.25 + bias, -inf)
    o = nn.softmax(m) @ v
    p = nn.softmax(m) * 2.0
}
"""


def attended(scores, seen, v):
    """Softmax over the columns that are seen, times `v`: rows without any are NaN, and 0 times infinity is, too."""
    with np.errstate(all="ignore"):
        s = np.where(seen, scores, -np.inf)
        e = np.exp(s - np.fmax.reduce(s, axis=-1, keepdims=True, initial=-np.inf))
        return e @ v / e.sum(axis=-1, keepdims=True)


def expect_same(what, actual, expected, tolerance):
    """Close, with NaN at the same places."""
    if actual.shape != expected.shape or not np.allclose(actual, expected, tolerance, tolerance, equal_nan=True):
        raise AssertionError(f"{what}: {actual} is not {expected}")


def masked(tools, executor):
    """Columns that a mask hides from a whole tile are left out on the CPU; no value shows it."""
    rng = np.random.default_rng(6)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "masked.ptl"
        file.write_text(MASKED)
        causal, shifted, biased = (Program(tools, file, entry) for entry in ("causal", "shifted", "biased"))
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        for s, length, d, poison in ((1, 1, 8, None), (97, 97, 16, None), (97, 170, 1, "v"), (200, 201, 9, "inf"), (130, 130, 8, "q")):
            q, k, v = draw(2, s, d), draw(2, length, d), draw(2, length, d)
            if poison == "q":
                q[1, s // 2, 0] = np.nan
            elif poison:
                v[0, length // 2, 0] = np.inf if poison == "inf" else np.nan
            seen = np.arange(s)[:, None] + (length - s) >= np.arange(length)
            for elem, tolerance in ((np.float32, 2e-5), (np.float16, 1e-2)):
                a = [x.astype(elem) for x in (q, k, v)]
                exact = [x.astype(np.float64) for x in a]
                (o,) = causal(executor, ["o"], dict(zip("qkv", a), scale=0.3))
                expected = attended(exact[0] @ exact[1].transpose(0, 2, 1) * 0.3, seen, exact[2])
                expect_same(f"causal {s} {length} {d} {poison} {elem}", o.astype(np.float64), expected, tolerance)
        q, k, v = draw(130, 4), draw(170, 4), draw(170, 4)
        for shift in (-500, -60, 0, 1, 70, 2**31 - 100):
            rows = (np.arange(130) + shift + 2**31) % 2**32 - 2**31
            (o,) = shifted(executor, ["o"], {"q": q, "k": k, "v": v, "shift": shift})
            expect_same(f"shifted by {shift}", o, attended(q @ k.T, np.arange(170) < rows[:, None], v), 2e-5)
        q, k, v, bias = (x.astype(np.float64) for x in (draw(130, 4), draw(100, 4), draw(100, 4), draw(130, 100)))
        v[99] = -np.inf
        o, p = biased(executor, ["o", "p"], {"q": q, "k": k, "v": v, "bias": bias})
        seen = np.arange(130)[:, None] >= np.arange(100)
        expect_same("biased", o, attended(q @ k.T * 0.25 + bias, seen, v), 1e-12)
        expect_same("its weights", p, 2 * attended(q @ k.T * 0.25 + bias, seen, np.eye(100)), 1e-12)


LONG_ROWS = """import std.nn

pub program heads[H, S, L, D, T: float](q: T[H, S, D], k: T[H, L, D], v: T[H, L, D], scale: f32) -> (o: T[H, S, D]) {
    o = nn.attention(q, k, v, scale)
}

pub program causal[H, S, L, D](q: f32[H, S, D], k: f32[H, L, D], v: f32[H, L, D], scale: f32) -> (o: f32[H, S, D])
where S <= L
{
    o = nn.causal_attention(q, k, v, scale)
}

pub program biased[S, L, D](q: f32[S, D], k: f32[L, D], v: f32[L, D], bias: f32[S, L]) -> (o: f32[S, D]) {
    o = nn.softmax(q @ k.T + bias) @ v
}

pub program divided_later[S, L, D](q: f32[S, D], k: f32[L, D], v: f32[L, D], bias: f32[S, L]) -> (o: f32[S, D], p: f32[S, D]) {
    let s = q @ k.T + bias
    let e = exp2(s - max(s, axis: 1))
    let l = sum(e, axis: 1)
    o = (e @ v) / l + l
    p = exp2(s) @ v
}
"""


def long_rows(tools, executor):
    """Attention with rows that the CPU goes along by blocks; no value shows it, whatever is infinite, NaN or hidden."""
    rng = np.random.default_rng(8)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    everything = np.bool_(True)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "long_rows.ptl"
        file.write_text(LONG_ROWS)
        heads, causal, biased, later = (Program(tools, file, entry) for entry in ("heads", "causal", "biased", "divided_later"))
        for s, length, d in ((1, 513, 8), (97, 769, 1), (3, 1030, 17)):
            q, k, v = draw(2, s, d), draw(2, length, d), draw(2, length, d)
            for elem, tolerance in ((np.float32, 2e-5), (np.float16, 1e-2), (np.float64, 1e-12)):
                if elem == np.float64 and s > 1:
                    continue
                a = [x.astype(elem) for x in (q, k, v)]
                exact = [x.astype(np.float64) for x in a]
                (o,) = heads(executor, ["o"], dict(zip("qkv", a), scale=0.25))
                # `nn.attention` has weights in `f32`.
                expected = attended(exact[0] @ exact[1].transpose(0, 2, 1) * 0.25, everything, exact[2])
                expect_same(f"heads {s} {length} {d} {elem}", o.astype(np.float64), expected, max(tolerance, 1e-6))
        q, k, v = draw(1, 600, 4), draw(1, 900, 4), draw(1, 900, 4)
        v[0, 200, 1], v[0, 800, 2] = np.nan, np.inf
        (o,) = causal(executor, ["o"], {"q": q, "k": k, "v": v, "scale": 0.5})
        seen = np.arange(600)[:, None] + 300 >= np.arange(900)
        expect_same("causal", o, attended(q @ k.transpose(0, 2, 1) * 0.5, seen, v), 2e-5)

        s, length, d = 100, 700, 5
        q, k, v = draw(s, d), draw(length, d), draw(length, d)
        hidden = np.zeros((s, length), np.float32)
        hidden[0], hidden[1, :512], hidden[2, 1:], hidden[3, :699], hidden[4] = [-np.inf] * 5
        lowest = np.where(hidden == 0, hidden, np.finfo(np.float32).min)
        odd = np.zeros((s, length), np.float32)
        odd[5, 3], odd[6, 600], odd[7, 699], odd[7, :600] = np.nan, np.inf, np.nan, -np.inf
        odd[8, 0], odd[9, 0], odd[9, 699] = 1e30, -1e30, 1e30
        for what, bias in (("hidden", hidden), ("lowest", lowest), ("odd", odd)):
            scores = q.astype(np.float64) @ k.T.astype(np.float64) + bias
            for values in ("numbers", "inf", "nan"):
                w = v.copy()
                if values != "numbers":
                    w[300, 2] = float(values)
                    w[20, 3] = -np.inf
                (o,) = biased(executor, ["o"], {"q": q, "k": k, "v": w, "bias": bias})
                expect_same(f"{what} {values}", o, attended(scores, everything, w), 2e-5)
                with np.errstate(all="ignore"):
                    total = np.exp2(scores - np.fmax.reduce(scores, axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
                    expected = attended(scores * np.log(2), everything, w) + total
                o, _ = later(executor, ["o", "p"], {"q": q, "k": k, "v": w, "bias": bias})
                expect_same(f"divided later {what} {values}", o, expected, 5e-5)
        # The weight of an infinite value underflows only in one step, and sums overflow only before they are divided.
        zero, steps, w = np.zeros((s, d), np.float32), np.zeros((s, length), np.float32), v.copy()
        steps[:, 256:512], steps[:, 512:], w[10, 0] = 60, 120, np.inf
        (o,) = biased(executor, ["o"], {"q": zero, "k": k, "v": w, "bias": steps})
        expected = attended(steps.astype(np.float64), everything, v)
        expected[:, 0] = np.nan
        expect_same("underflow", o, expected, 2e-5)
        (o,) = biased(executor, ["o"], {"q": zero, "k": k, "v": np.full((length, d), 3e38, np.float32), "bias": 0 * steps})
        expect_same("overflow", o, np.full((s, d), 3e38), 3e33)


def cases(tools):
    checks = {
        "long rows": long_rows,
        "masked": masked,
        "transformer": transformer,
        "split_k": split_k,
        "mixture_of_experts": mixture_of_experts,
        "paged_attention": paged_attention,
    }
    for name, shape in SHAPES.items():
        checks[name] = lambda tools, executor, shape=shape: indexer_prolog(tools, executor, shape)
    for name, check in checks.items():
        for executor in EXECUTORS:
            if name == "indexer prolog" and "reference" in executor:
                continue  # the interpreter takes minutes for this size
            yield Case(f"{name} {' '.join(executor)}", lambda check=check, executor=executor: run(check, tools, executor))


def run(check, tools, executor):
    # An entry is compiled once for each number of threads, and then called with many arrays.
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(tools.keeping(folder), executor)
        except AssertionError as error:
            return str(error)
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    return run_cases("programs", list(cases(Tools(parser.parse_args().build))))


if __name__ == "__main__":
    sys.exit(main())
