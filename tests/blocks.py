"""Block-scaled arrays against NumPy: conversions of every code, products of any numbers, and weights of four bits, on all executors
that have the types; `blocks.py BUILD`."""

import functools
import pathlib
import sys
import tempfile

import numpy as np

from harness import Case, Tools, run_cases

SOURCE = """
import std.mx
fn scale[N](x: f32[N]) -> f8e8m0[N] { return f8e8m0(x) }
fn scale_below[N](x: f32[N]) -> f8e8m0[N] { return f8e8m0(x, round: .down) }
fn power[N](x: f8e8m0[N]) -> f32[N] { return f32(x) }
fn four[N](x: f32[N]) -> f32[N] { return f32(f4e2m1(x)) }
fn whole[M, N, K](a: f8e4m3[M, K], s: f8e8m0[M, K / 32], b: ELEM[N, K], t: f8e8m0[N, K / 32]) -> f32[M, N]
where K % 32 == 0
{
    return scaled_dot(a, s, b, t)
}
pub kernel tiled[M, N, K](a: f8e4m3[M, K], s: f8e8m0[M, K / 32], b: ELEM[N, K], t: f8e8m0[N, K / 32]) -> (c: f32[M, N])
where K % 64 == 0
{
    parallel i in tiles(M, ROWS), j in tiles(N, COLUMNS) {
        var acc = zeros(f32[i, j])
        for k in tiles(K / 64, STEP) {
            let from = 64 * k.start
            acc += scaled_dot(a[i, from:from + 64 * k.len], s[i, 2 * k.start:2 * k.end],
                b[j, from:from + 64 * k.len], t[j, 2 * k.start:2 * k.end])
        }
        c[i, j] = acc
    }
}
fn packed[M, N, B](x: bf16[M, 32 * B], w: u8[N, 16 * B], t: f8e8m0[N, B]) -> f32[M, N] { return mx.linear_w4a16(x, w, t) }
fn quantised[M, B](x: f32[M, 32 * B]) -> (u8[M, 16 * B], f8e8m0[M, B]) { return mx.quantize_mxfp4(x) }
"""
FOUR_BITS = """
fn wraps[N](x: i32[N]) -> i8[N] { return i8(i4(x)) }
fn saturates[N](x: i32[N]) -> i8[N] { return i8(i4(x, saturate: true)) }
fn rounds[N](x: f32[N]) -> i8[N] { return i8(i4(x, round: .even)) }
fn floors[N](x: f32[N]) -> i8[N] { return i8(i4(x, round: .down)) }
fn plus[N](x: i8[N], y: i8[N]) -> i8[N] { return i8(i4(x) + i4(y)) }
fn minus[N](x: i8[N], y: i8[N]) -> i8[N] { return i8(i4(x) - i4(y)) }
fn times[N](x: i8[N], y: i8[N]) -> i8[N] { return i8(i4(x) * i4(y) + 3) }
fn opposite[N](x: i8[N]) -> i8[N] { return i8(-i4(x)) }
fn magnitude[N](x: i8[N]) -> i8[N] { return i8(abs(i4(x))) }
fn shifted[N](x: i8[N]) -> i8[N] { return i8(i4(x) << 1) }
fn larger[N](x: i8[N], y: i8[N]) -> i8[N] { return i8(max(i4(x), i4(y))) }
fn product[M, K, N](x: i8[M, K], w: i8[K, N]) -> i32[M, N] { return i4(x) @ i4(w) }
fn weights[M, K, N](x: f16[M, K], w: i8[K, N]) -> f32[M, N] { return x @ f16(i4(w)) }
kernel tiles_of[N](x: i8[N]) -> (y: i8[N]) {
    parallel i in tiles(N, 96) { y[i] = i8(i4(x[i]) * 3 - 5) }
}
"""
SIZES = [(1, 1, 64), (5, 7, 128), (33, 129, 192), (130, 70, 320)]
POWERS = np.array([2.0 ** (code - 127) for code in range(255)] + [np.nan]).astype(np.float32)
FOUR = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def written(elem: str, rows: int, columns: int, step: int) -> str:
    """The source with elements of `b`, and tiles of the kernel."""
    words = {"ELEM": elem, "ROWS": rows, "COLUMNS": columns, "STEP": step}
    return functools.reduce(lambda text, word: text.replace(word, str(words[word])), words, SOURCE)


def numbers(exponent: int, mantissa: int) -> np.ndarray:
    """All numbers of a type of 8 bits, by their codes."""
    codes = np.arange(256)
    power, part = codes >> mantissa & (1 << exponent) - 1, codes & (1 << mantissa) - 1
    bias = (1 << exponent - 1) - 1
    value = np.where(power == 0, part * 2.0 ** (1 - bias - mantissa), (1 + part / 2**mantissa) * 2.0 ** (power - bias))
    top, last = (1 << exponent) - 1, (1 << mantissa) - 1
    if exponent == 5:  # as IEEE
        value = np.where(power == top, np.where(part == 0, np.inf, np.nan), value)
    else:
        value = np.where((power == top) & (part == last), np.nan, value)
    return np.where(codes >= 128, -value, value).astype(np.float32)


ELEMENTS = {"f8e4m3": numbers(4, 3), "f8e5m2": numbers(5, 2)}


def dequantised(codes, scales, elem: str):
    blocks = ELEMENTS[elem][codes].reshape(len(codes), -1, 32) * POWERS[scales][:, :, None]
    return blocks.reshape(codes.shape).astype(np.float64)


def call(tools: Tools, folder: pathlib.Path, source: str, entry: str, target: str, arrays: dict, results=("result",)):
    """The results, or what went wrong."""
    path = folder / "blocks.ptl"
    path.write_text(source)
    words = ["--sim"] if target.startswith("a") else []
    for name, array in arrays.items():
        if isinstance(array, int):
            words.append(f"{name}={array}")
            continue
        np.save(folder / f"{name}.npy", array)
        words.append(f"{name}=@{folder}/{name}.npy")
    for name in results:
        words += ["-o", f"{name}={folder}/{name}.npy"]
    outcome = tools.run("run", path, "--entry", entry, "--target", target, *words)
    if outcome.code:
        return outcome.stdout + outcome.stderr
    return [np.load(folder / f"{name}.npy") for name in results]


def differs(got, want, magnitude=None):
    """Where values are not those of NumPy, within what sums of that magnitude may be off in another order."""
    if isinstance(got, str):
        return got
    limit = 0 if magnitude is None else 1e-35 + 1e-5 * magnitude
    with np.errstate(invalid="ignore"):
        same = (got[0] == want) | ((got[0] != got[0]) & (want != want)) | (np.abs(got[0] - want) <= limit)
    return None if same.all() else f"{(~same).sum()} of {same.size} differ, first at {np.argwhere(~same)[0]}"


def conversions(tools: Tools, target: str):
    with tempfile.TemporaryDirectory() as name:
        folder, source = pathlib.Path(name), written("f8e4m3", 64, 64, 2)
        codes = np.arange(256, dtype=np.uint8)
        finite = POWERS[:255]
        middle = finite * np.float32(1.5)
        even = np.minimum(codes[:255] + codes[:255] % 2, 254)
        special = np.array([0.0, -0.0, -1.0, np.nan, np.inf, 1e-45], np.float32)
        x = np.concatenate([finite, middle, np.nextafter(middle, np.float32(np.inf)), special])
        nearest = np.concatenate([codes[:255], even, np.minimum(codes[1:256], 254), [0, 0, 255, 255, 254, 0]]).astype(np.uint8)
        below = np.concatenate([codes[:255], codes[:255], codes[:255], [0, 0, 255, 255, 254, 0]]).astype(np.uint8)
        cases = [("power", codes, POWERS), ("scale", x, nearest), ("scale_below", x, below)]
        if target not in ("a2", "a3"):
            y = np.arange(-57, 58, dtype=np.float32) / 8
            at = np.abs(y)
            step = np.where(at < 2, 0.5, np.where(at < 4, 1, 2))
            cases.append(("four", y, np.clip(np.round(y / step) * step, -6, 6).astype(np.float32)))
        for entry, given, want in cases:
            if wrong := differs(call(tools, folder, source, entry, target, {"x": given}), want):
                return f"{entry}: {wrong}"
    return None


def lowered(tools: Tools):
    """The tiles that the compiler prints are the same kernel: with products of blocks, and to the bit."""
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as name:
        folder, source = pathlib.Path(name), written("f8e5m2", 64, 48, 2)
        (folder / "blocks.ptl").write_text(source)
        text = tools.run("lower", folder / "blocks.ptl", "--entry", "tiled", "--target", "a5", "--to", "tile")
        if text.code or "scaled_dot(" not in text.stdout:
            return text.stdout + text.stderr
        given = {name: rng.integers(0, 0x70, (lines, 192), dtype=np.uint8) for name, lines in (("a", 70), ("b", 100))}
        given |= {name: rng.integers(120, 134, (lines, 6), dtype=np.uint8) for name, lines in (("s", 70), ("t", 100))}
        first = call(tools, folder, source, "tiled", "a5", given, ("c",))
        return differs(call(tools, folder, text.stdout, "tiled", "a5", given, ("c",)), first[0])


def lower_four(x):
    return (x.astype(np.int64) + 8) % 16 - 8


def four_bits(tools: Tools, target: str):
    rng = np.random.default_rng(11)
    x, y = (rng.integers(-128, 128, 300, dtype=np.int8) for _ in range(2))
    a, b = lower_four(x), lower_four(y)
    wide = np.concatenate([rng.integers(-(2**31), 2**31, 200), np.arange(-20, 20)]).astype(np.int32)
    real = np.concatenate([np.arange(-44, 44) / 4, [np.nan, np.inf, -np.inf, 1e20, -200.0]]).astype(np.float32)
    finite = np.nan_to_num(real, nan=0.0, posinf=9, neginf=-9)
    u, w = rng.integers(-128, 128, (37, 70), dtype=np.int8), rng.integers(-128, 128, (70, 45), dtype=np.int8)
    h = (rng.integers(-8, 9, (37, 70)) / 4).astype(np.float16)
    cases = [
        ("wraps", (wide,), lower_four(wide)), ("saturates", (wide,), np.clip(wide, -8, 7)),
        ("rounds", (real,), np.clip(np.round(finite), -8, 7)), ("floors", (real,), np.clip(np.floor(finite), -8, 7)),
        ("plus", (x, y), lower_four(a + b)), ("minus", (x, y), lower_four(a - b)), ("times", (x, y), lower_four(a * b + 3)),
        ("opposite", (x,), lower_four(-a)), ("magnitude", (x,), lower_four(np.abs(a))), ("shifted", (x,), lower_four(a * 2)),
        ("larger", (x, y), np.maximum(a, b)), ("product", (u, w), lower_four(u) @ lower_four(w)),
        ("weights", (h, w), h.astype(np.float64) @ lower_four(w)), ("tiles_of", (x,), lower_four(a * 3 - 5)),
    ]
    with tempfile.TemporaryDirectory() as name:
        for entry, given, want in cases:
            names = ("x", "w") if entry in ("product", "weights") else ("x", "y")
            result = "y" if entry == "tiles_of" else "result"
            got = call(tools, pathlib.Path(name), FOUR_BITS, entry, target, dict(zip(names, given)), (result,))
            if wrong := differs(got, want):
                return f"{entry}: {wrong}"
    return None


def products(tools: Tools, target: str, elem: str, seed: int):
    rng = np.random.default_rng(seed)
    rows, columns, step = rng.choice([16, 48, 64, 128]), rng.choice([32, 80, 128]), rng.choice([1, 2, 3])
    source = written(elem, rows, columns, step)
    with tempfile.TemporaryDirectory() as name:
        for m, n, k in SIZES:
            a, b = (rng.integers(0, 256, (lines, k), dtype=np.uint8) for lines in (m, n))
            s, t = (rng.integers(110, 145, (lines, k // 32), dtype=np.uint8) for lines in (m, n))
            a[(a & 0x7F) == 0x7F], b[(b & 0x7F) >= 0x7C] = 8, 9  # no NaN or infinity but where they are asked for
            if m > 1:
                a[0, 1], s[1, 0] = 0x7F, 255
            left, right = dequantised(a, s, "f8e4m3"), dequantised(b, t, elem)
            want, magnitude = left @ right.T, np.abs(np.nan_to_num(left)) @ np.abs(np.nan_to_num(right)).T
            for entry, result in (("whole", "result"), ("tiled", "c")):
                got = call(tools, pathlib.Path(name), source, entry, target, {"a": a, "s": s, "b": b, "t": t}, (result,))
                if wrong := differs(got, want, magnitude):
                    return f"{entry} of {m} x {n} x {k}, tiles of {rows} x {columns} x {step}: {wrong}"
    return None


def weights(tools: Tools, target: str):
    rng = np.random.default_rng(5)
    source = written("f8e4m3", 64, 64, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for m, n, k in ((1, 3, 32), (9, 40, 160)):
            x = (rng.integers(-8, 9, (m, k)) / 4).astype(np.float32)
            w, t = rng.integers(0, 256, (n, k // 2), dtype=np.uint8), rng.integers(120, 134, (n, k // 32), dtype=np.uint8)
            codes = np.stack([w & 15, w >> 4], axis=-1).reshape(n, k)
            matrix = (FOUR[codes].reshape(n, -1, 32) * POWERS[t][:, :, None]).reshape(n, k)
            half = (x.view(np.uint32) >> 16).astype(np.uint16)
            got = call(tools, folder, source, "packed", target, {"x": half, "w": w, "t": t})
            if wrong := differs(got, x.astype(np.float64) @ matrix.T, np.abs(x) @ np.abs(matrix).T):
                return f"packed: {wrong}"
            y = rng.standard_normal((m, k)).astype(np.float32)
            blocks = y.reshape(m, -1, 32)
            scale = 2.0 ** (np.floor(np.log2(np.abs(blocks).max(-1))) - 2)
            near = np.abs(blocks / scale[:, :, None])[..., None] - FOUR[:8]
            got = call(tools, folder, source, "quantised", target, {"x": y}, ("result0", "result1"))
            if isinstance(got, str):
                return got
            back = np.stack([got[0] & 15, got[0] >> 4], axis=-1).reshape(m, -1, 32)
            if (POWERS[got[1]] != scale).any() or (np.abs(np.abs(blocks / scale[:, :, None]) - np.abs(FOUR[back])) > np.abs(near).min(-1) + 1e-6).any():
                return "quantised: not the nearest numbers"
    return None


def cases(tools: Tools):
    yield Case("lowered.a5", lambda: lowered(tools))
    for target in ("reference", "cpu", "a2", "a3", "a5"):
        yield Case(f"conversions.{target}", lambda target=target: conversions(tools, target))
        yield Case(f"weights.{target}", lambda target=target: weights(tools, target))
        yield Case(f"four_bits.{target}", lambda target=target: four_bits(tools, target))
        if target in ("a2", "a3"):  # which have no `f8`
            continue
        for seed, elem in enumerate(ELEMENTS):
            yield Case(f"products.{elem}.{target}", lambda target=target, elem=elem, seed=seed: products(tools, target, elem, seed))


if __name__ == "__main__":
    sys.exit(run_cases("blocks", list(cases(Tools(pathlib.Path(sys.argv[1]))))))
