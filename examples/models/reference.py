"""What the programs of this folder compute, in NumPy: for each its inputs and its results at given lengths.

Numbers that a program takes as `bf16` or `f16` are rounded to that type here, so that both sides start from the same; all else is computed
in double precision.
"""

import numpy as np

MODELS = {}


def model(small, tolerance=0.03):
    """Files a function `f(random, **lengths)` that gives inputs and results; `small` are lengths for tests. The error of a result
    is judged relative to its root mean square, because intermediate values are rounded to short types."""

    def file(function):
        MODELS[function.__name__] = (function, small, tolerance)
        return function

    return file


def bf16(x):
    """Rounded to the nearest `bf16`, ties to even, as `f32`."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def normal(random, *shape, scale=1.0):
    return bf16(random.standard_normal(shape) * scale)


def weights(random, *shape):
    """Scaled so that a product with them keeps the variance."""
    return normal(random, *shape, scale=shape[-2] ** -0.5)


def gammas(random, n):
    return bf16(1 + 0.1 * random.standard_normal(n))


def angles(random, tokens, half):
    angle = random.uniform(0, 6, (tokens, half))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rms_norm(x, gamma):
    x = np.asarray(x, np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gamma


def turn(x, cosine, sine):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gated(x, gate, up, down):
    g = x @ np.asarray(gate, np.float64)
    return (g * sigmoid(g) * (x @ up)) @ down


def attend(q, k, v, seen, scale):
    """The last two axes are tokens and features; leading axes broadcast."""
    scores = np.where(seen, np.asarray(q, np.float64) @ np.swapaxes(k, -1, -2) * scale, -np.inf)
    return softmax(scores) @ v


def qwen3_weights(random, D, G, R, E, F):
    return dict(norm1=gammas(random, D), wq=weights(random, D, G * R * E), wk=weights(random, D, G * E), wv=weights(random, D, G * E),
                norm_q=gammas(random, E), norm_k=gammas(random, E), wo=weights(random, G * R * E, D), norm2=gammas(random, D),
                gate=weights(random, D, F), up=weights(random, D, F), down=weights(random, F, D))  # fmt: skip


@model(dict(S=20, D=32, G=2, R=2, E=16, F=48))
def qwen3_prefill(random, S, D, G, R, E, F):
    cosine, sine = angles(random, S, E // 2)
    w = qwen3_weights(random, D, G, R, E, F)
    x = normal(random, S, D)
    h = rms_norm(x, w["norm1"])
    q = (h @ w["wq"]).reshape(S, G, R, E).transpose(1, 2, 0, 3)
    k = (h @ w["wk"]).reshape(S, G, E).transpose(1, 0, 2)
    v = (h @ w["wv"]).reshape(S, G, E).transpose(1, 0, 2)
    k = turn(rms_norm(k, w["norm_k"]), cosine, sine)
    q = turn(rms_norm(q, w["norm_q"]), cosine, sine)
    o = attend(q, k[:, None], v[:, None], np.tri(S, dtype=bool), E**-0.5)
    middle = x + o.transpose(2, 0, 1, 3).reshape(S, -1) @ w["wo"]
    y = middle + gated(rms_norm(middle, w["norm2"]), w["gate"], w["up"], w["down"])
    return dict(x=x, cosine=cosine, sine=sine, **w), dict(y=y, keys=k, values=v)


@model(dict(B=3, D=32, G=2, R=2, E=16, F=48, P=8, J=2, W=16))
def qwen3_decode(random, B, D, G, R, E, F, P, J, W):
    cosine, sine = angles(random, B, E // 2)
    w = qwen3_weights(random, D, G, R, E, F)
    x = normal(random, B, D)
    pages = random.permutation(P)[: B * J].reshape(B, J).astype(np.int32)
    length = random.integers(1, J * W + 1, B).astype(np.int32)
    row = np.array([pages[b, (n - 1) // W] * W + (n - 1) % W for b, n in enumerate(length)], np.int32)
    keys, values = normal(random, P * W, G, E), normal(random, P * W, G, E)
    given = dict(x=x, cosine=cosine, sine=sine, **w, pages=pages, length=length, row=row, keys=keys.copy(), values=values.copy())
    h = rms_norm(x, w["norm1"])
    q = turn(rms_norm((h @ w["wq"]).reshape(B, G * R, E), w["norm_q"]), cosine[:, None], sine[:, None])
    keys[row] = turn(rms_norm((h @ w["wk"]).reshape(B, G, E), w["norm_k"]), cosine[:, None], sine[:, None])
    values[row] = (h @ w["wv"]).reshape(B, G, E)
    o = np.zeros((B, G, R, E))
    for b in range(B):
        at = (pages[b][:, None] * W + np.arange(W)).reshape(-1)[: length[b]]
        k, v = keys[at].transpose(1, 0, 2), values[at].transpose(1, 0, 2)
        o[b] = attend(q[b].reshape(G, R, E), k, v, True, E**-0.5)
    middle = x + o.reshape(B, -1) @ w["wo"]
    y = middle + gated(rms_norm(middle, w["norm2"]), w["gate"], w["up"], w["down"])
    return given, dict(y=y, keys=keys, values=values)


def latent_weights(random, D, L, H, N, R):
    return dict(w_qa=weights(random, D, L), norm_q=gammas(random, L), w_qb=weights(random, L, H * (N + R)))


@model(dict(S=20, D=32, L=24, C=32, H=3, N=16, R=8, V=16))
def mla_prefill(random, S, D, L, C, H, N, R, V):
    cosine, sine = angles(random, S, R // 2)
    given = dict(x=normal(random, S, D), cosine=cosine, sine=sine, **latent_weights(random, D, L, H, N, R),
                 w_kva=weights(random, D, C + R), norm_kv=gammas(random, C), w_uk=weights(random, C, H * N),
                 w_uv=weights(random, C, H * V), wo=weights(random, H * V, D))  # fmt: skip
    g = given
    q = (rms_norm(g["x"] @ g["w_qa"].astype(float), g["norm_q"]) @ g["w_qb"]).reshape(S, H, N + R).transpose(1, 0, 2)
    q = np.concatenate([q[..., :N], turn(q[..., N:], cosine, sine)], -1)
    kv = g["x"] @ g["w_kva"].astype(float)
    c, k_rope = rms_norm(kv[:, :C], g["norm_kv"]), turn(kv[:, C:], cosine, sine)
    k = (c @ g["w_uk"]).reshape(S, H, N).transpose(1, 0, 2)
    k = np.concatenate([k, np.broadcast_to(k_rope, (H, S, R))], -1)
    v = (c @ g["w_uv"]).reshape(S, H, V).transpose(1, 0, 2)
    o = attend(q, k, v, np.tri(S, dtype=bool), (N + R) ** -0.5)
    return given, dict(y=o.transpose(1, 0, 2).reshape(S, -1) @ g["wo"], latent=c, k_rope=k_rope)


@model(dict(B=3, T=40, D=32, L=24, C=32, H=4, N=16, R=8, V=16))
def mla_decode(random, B, T, D, L, C, H, N, R, V):
    cosine, sine = angles(random, B, R // 2)
    given = dict(x=normal(random, B, D), cosine=cosine, sine=sine, **latent_weights(random, D, L, H, N, R),
                 w_uk=weights(random, H, N, C), w_uv=weights(random, H, C, V), wo=weights(random, H * V, D),
                 latent=normal(random, B, T, C), k_rope=normal(random, B, T, R),
                 length=random.integers(1, T + 1, B).astype(np.int32))  # fmt: skip
    g = given
    q = (rms_norm(g["x"] @ g["w_qa"].astype(float), g["norm_q"]) @ g["w_qb"]).reshape(B, H, N + R)
    # Heads with keys and values of their own, as before the weights were absorbed.
    k = np.einsum("btc,hnc->bhtn", g["latent"], g["w_uk"])
    v = np.einsum("btc,hcv->bhtv", g["latent"], g["w_uv"])
    k = np.concatenate([k, np.broadcast_to(g["k_rope"][:, None], (B, H, T, R))], -1)
    q = np.concatenate([q[..., :N], turn(q[..., N:], cosine[:, None], sine[:, None])], -1)[:, :, None]
    o = attend(q, k, v, (np.arange(T) < g["length"][:, None])[:, None, None], (N + R) ** -0.5)
    return given, dict(y=o.reshape(B, -1) @ g["wo"])


@model(dict(Q=9, T=80, H=4, E=16, K=6), tolerance=1e-4)
def lightning_indexer(random, Q, T, H, E, K):
    given = dict(q=normal(random, Q, H, E), weight=random.standard_normal((Q, H)).astype(np.float32), k=normal(random, T, E))
    s = np.maximum(np.einsum("qhe,te->qht", given["q"], given["k"], dtype=float), 0)
    scores = np.einsum("qht,qh->qt", s, given["weight"])
    scores = np.where(np.arange(Q)[:, None] + T - Q >= np.arange(T), scores, -np.inf)
    chosen = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    return given, dict(chosen=chosen, score=np.take_along_axis(scores, chosen, 1))


@model(dict(Q=5, H=16, T=50, K=12, E=40, C=32))
def sparse_attention(random, Q, H, T, K, E, C):
    chosen = np.stack([random.permutation(T)[:K] for _ in range(Q)]).astype(np.int32)
    given = dict(q=normal(random, Q, H, E), latent=normal(random, T, E), chosen=chosen, scale=E**-0.5)
    kv = given["latent"][chosen]
    return given, dict(o=attend(given["q"], kv, kv[..., :C], True, E**-0.5))


def gated_experts(random, X, D, F):
    """A router, its bias, the weights of `X` experts, and those of the shared one."""
    return dict(router=random.standard_normal((D, X)).astype(np.float32) / 2, bias=(random.standard_normal(X) / 10).astype(np.float32),
                gate=weights(random, X, D, F), up=weights(random, X, D, F), down=weights(random, X, F, D),
                shared_gate=weights(random, D, F), shared_up=weights(random, D, F), shared_down=weights(random, F, D))  # fmt: skip


def mixture(x, g, G, M, K, KEPT):
    affinity = sigmoid(np.asarray(x, np.float64) @ g["router"])
    biased = (affinity + g["bias"]).reshape(-1, G, M)
    groups = np.argsort(-np.sort(biased, -1)[..., -2:].sum(-1), axis=1, kind="stable")[:, :KEPT]
    kept = (groups[:, :, None] == np.arange(G)).any(1)
    choice = np.argsort(-np.where(kept[..., None], biased, -np.inf).reshape(-1, G * M), axis=1, kind="stable")[:, :K]
    weight = np.take_along_axis(affinity, choice, 1)
    share = 2.5 * weight / weight.sum(1, keepdims=True)
    y = gated(x, g["shared_gate"], g["shared_up"], g["shared_down"])
    for t in range(len(x)):
        for k, e in enumerate(choice[t]):
            y[t] += share[t, k] * gated(x[t], g["gate"][e], g["up"][e], g["down"][e])
    return y


@model(dict(T=11, D=24, F=16, G=4, M=3, K=3, KEPT=2))
def deepseek_moe(random, T, D, F, G, M, K, KEPT):
    given = dict(x=normal(random, T, D), **gated_experts(random, G * M, D, F))
    return given, dict(y=mixture(given["x"], given, G, M, K, KEPT))


@model(dict(G=3, C=8, H=2, N=5, P=7), tolerance=1e-4)
def mamba2(random, G, C, H, N, P):
    T = G * C
    given = dict(x=random.standard_normal((T, H, P)), a=-random.uniform(0, 0.5, (T, H)), b=random.standard_normal((T, N)),
                 c=random.standard_normal((T, N)))  # fmt: skip
    given = {name: value.astype(np.float32) for name, value in given.items()}
    state, y = np.zeros((H, N, P)), np.zeros((T, H, P))
    for t in range(T):
        state = state * np.exp(given["a"][t].astype(float))[:, None, None] + given["b"][t][:, None] * given["x"][t][:, None, :]
        y[t] = np.einsum("n,hnp->hp", given["c"][t], state)
    return given, dict(y=y, last=state)


@model(dict(H=7, W=9, C=5, M=6), tolerance=1e-4)
def convolutions(random, H, W, C, M):
    shapes = dict(x=(C, H, W), full=(3, 3, M, C), depthwise=(3, 3, M), point=(C, M), bias=(M,))
    given = {name: (random.standard_normal(shape) / 2).astype(np.float32) for name, shape in shapes.items()}

    def around(image):
        p = np.pad(image.astype(float), ((0, 0), (1, 1), (1, 1)))
        return {(i, j): p[:, i : i + H, j : j + W] for i in range(3) for j in range(3)}

    a = sum(np.einsum("mc,chw->mhw", given["full"][at], part) for at, part in around(given["x"]).items())
    d = sum(given["depthwise"][at][:, None, None] * part for at, part in around(np.maximum(a + given["bias"][:, None, None], 0)).items())
    return given, dict(y=given["x"] + np.einsum("cm,mhw->chw", given["point"], np.maximum(d, 0)))


@model(dict(B=4, V=50))
def top_p(random, B, V):
    given = dict(logits=(2 * random.standard_normal((B, V))).astype(np.float32), u=random.uniform(0.05, 0.95, B).astype(np.float32),
                 temperature=0.8, p=0.75)  # fmt: skip
    token = np.zeros(B, np.int32)
    for b, q in enumerate(softmax(given["logits"].astype(float) / 0.8)):
        order = np.argsort(-q, kind="stable")
        count = np.searchsorted(np.cumsum(q[order]), 0.75) + 1
        kept = np.cumsum(q[order[:count]])
        token[b] = order[np.searchsorted(kept, given["u"][b] * kept[-1], side="right")]
    return given, dict(token=token)


@model(dict(N=1003), tolerance=1e-4)
def adam(random, N):
    w, m, g = (random.standard_normal(N).astype(np.float32) for _ in range(3))
    v = (random.standard_normal(N) ** 2).astype(np.float32)
    given = dict(w=w, m=m, v=v, gradient=g, rate=0.01, decay=0.1, step=3.0)
    m = 0.9 * m.astype(float) + 0.1 * g
    v = 0.999 * v.astype(float) + 0.001 * g.astype(float) ** 2
    new = w - 0.01 * (m / (1 - 0.9**3) / (np.sqrt(v / (1 - 0.999**3)) + 1e-8) + 0.1 * w)
    return given, dict(w=new, m=m, v=v)


def layer_norm(x, gamma, beta):
    d = x - np.mean(x, -1, keepdims=True, dtype=float)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * gamma + beta


@model(dict(S=19, D=32, H=3, E=16, F=40))
def vit_block(random, S, D, H, E, F):
    from math import erf

    g = dict(x=normal(random, S, D), gamma1=gammas(random, D), beta1=normal(random, D, scale=0.1), qkv=weights(random, D, 3 * H * E),
             qkv_bias=normal(random, 3 * H * E, scale=0.1), wo=weights(random, H * E, D), wo_bias=normal(random, D, scale=0.1),
             gamma2=gammas(random, D), beta2=normal(random, D, scale=0.1), up=weights(random, D, F),
             up_bias=normal(random, F, scale=0.1), down=weights(random, F, D), down_bias=normal(random, D, scale=0.1))  # fmt: skip
    q, k, v = (layer_norm(g["x"], g["gamma1"], g["beta1"]) @ g["qkv"] + g["qkv_bias"]).reshape(S, 3, H, E).transpose(1, 2, 0, 3)
    o = attend(q, k, v, True, E**-0.5).transpose(1, 0, 2).reshape(S, H * E)
    middle = g["x"] + o @ g["wo"] + g["wo_bias"]
    u = layer_norm(middle, g["gamma2"], g["beta2"]) @ g["up"] + g["up_bias"]
    return g, dict(y=middle + 0.5 * u * (1 + np.vectorize(erf)(u * 0.5**0.5)) @ g["down"] + g["down_bias"])


@model(dict(T=7, D=40, F=72))
def llama_i8(random, T, D, F):
    given = dict(x=normal(random, T, D), gamma=gammas(random, D))
    real = {}
    for name, shape in dict(gate=(D, F), up=(D, F), down=(F, D)).items():
        w = random.standard_normal(shape) / shape[0] ** 0.5
        scale = (np.abs(w).max(0) / 127).astype(np.float32)
        given[name], given[f"{name}_scale"] = np.rint(w / scale).astype(np.int8), scale
        real[name] = given[name] * scale.astype(float)
    y = given["x"] + gated(rms_norm(given["x"], given["gamma"]), real["gate"], real["up"], real["down"])
    return given, dict(y=y)


def by_8_bits(x, w):
    """The product with rows that are quantised to 8 bits."""
    scale = np.abs(x).max(-1, keepdims=True) / 127
    return np.rint(x / scale) * scale @ w


@model(dict(T=7, D=20, F=36))
def llama_i4(random, T, D, F):
    given = dict(x=normal(random, T, 2 * D), gamma=gammas(random, 2 * D))
    real = {}
    for name, (rows, columns) in dict(gate=(D, 2 * F), up=(D, 2 * F), down=(F, 2 * D)).items():
        w = random.standard_normal((2 * rows, columns)) / (2 * rows) ** 0.5
        scale = (np.abs(w).max(0) / 7).astype(np.float32)
        q = np.rint(w / scale).astype(np.int8)
        given[name], given[f"{name}_scale"] = (q[:rows] & 15) | (q[rows:] << 4), scale
        real[name] = q * scale.astype(float)
    h = rms_norm(given["x"], given["gamma"])
    gate, up = by_8_bits(h, real["gate"]), by_8_bits(h, real["up"])
    y = given["x"] + by_8_bits(gate * sigmoid(gate) * up, real["down"])
    return given, dict(y=y)


FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def four_bits(w):
    """Rows in blocks of 32: codes, two to a byte, those of scales, and the numbers that they stand for."""
    blocks = w.reshape(len(w), -1, 32)
    power = np.floor(np.log2(np.abs(blocks).max(-1))) - 2
    size = np.abs(blocks / 2.0 ** power[..., None])
    code = np.abs(size[..., None] - FOUR_BITS).argmin(-1)
    number = np.sign(blocks) * FOUR_BITS[code] * 2.0 ** power[..., None]
    code = (code + 8 * (blocks < 0)).reshape(w.shape).astype(np.uint8)
    return code[:, ::2] | code[:, 1::2] << 4, (power + 127).astype(np.uint8), number.reshape(w.shape)


@model(dict(T=7, D=2, F=3))
def llama_mxfp4(random, T, D, F):
    given = dict(x=normal(random, T, 32 * D), gamma=gammas(random, 32 * D))
    real = {}
    for name, (rows, columns) in dict(gate=(F, D), up=(F, D), down=(D, F)).items():
        w = random.standard_normal((32 * rows, 32 * columns)) / (32 * columns) ** 0.5
        given[name], given[f"{name}_scale"], real[name] = four_bits(w)
    h = rms_norm(given["x"], given["gamma"])
    gate, up = h @ real["gate"].T, h @ real["up"].T
    return given, dict(y=given["x"] + (gate * sigmoid(gate) * up) @ real["down"].T)
