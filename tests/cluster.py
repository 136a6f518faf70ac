"""Programs over levels beside NumPy, on as many parts as there may be: in one process, and what they mean as a whole on
`cpu` and `reference`. `cluster.py BUILD [--long]`. On whole numbers all agree bit by bit."""
import json
import pathlib
import sys

import numpy as np

from harness import ROOT, Tools, in_folders, run_cases
from ranks import expect, has_mpi

EXAMPLES = ROOT / "examples/cluster"
# Headers that the grammar of editors does not know yet.
PROGRAMS = ROOT / "codegen/parts/testdata"
COUNTS = (1, 2, 3, 4, 5, 8, 16)
HOSTS = ("host=1,chip=1", "host=2,chip=1", "host=1,chip=5", "host=2,chip=2", "host=3,chip=1", "host=2,chip=4", "host=4,chip=4")


def whole(seed, *shape):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def attention(q, k, v):
    score = q @ k.transpose(0, 2, 1)
    weight = np.exp(score - score.max(2, keepdims=True))
    return weight @ v / weight.sum(2, keepdims=True)


def experts(x, scores, up, down, capacity):
    """Token by token, as a person would deal them."""
    y = np.zeros_like(x)
    for group in range(x.shape[0]):
        taken = [0] * up.shape[0]
        for token, choice in enumerate(scores[group].argmax(1)):
            if taken[choice] < capacity:
                y[group, token] = np.maximum(x[group, token] @ up[choice], 0) @ down[choice]
            taken[choice] += 1
    return y


on_ranks, on_chips = set(), set()  # the entries that have run on ranks, and on simulated chips


def check(tools, folder, file, entry, arrays, expected, shapes, exact=True, ranks=None):
    """On all shapes and on the executors that ignore them; with `ranks`, on that shape as ranks of MPI, where there are any:
    once for each entry, and with `--long` for all sizes. `expected`: results by name."""
    for name, array in arrays.items():
        if not isinstance(array, int):
            np.save(folder / f"{name}.npy", array)
    words = [f"{name}={array}" if isinstance(array, int) else f"{name}=@{name}.npy" for name, array in arrays.items()]
    outputs = [word for name in expected for word in ("-o", f"{name}=out_{name}.npy")]
    ways = [["--target", "cpu"], ["--target", "reference"], *[["--shape", shape, "--in-process", "--seed", str(at)] for at, shape in enumerate(shapes)]]
    # So small, parts are compiled only if that is asked for: on uneven blocks, of which some may be empty.
    ways.append(["--shape", shapes[2 % len(shapes)], "--in-process", "--target", "cpu"])
    if ranks and has_mpi(tools.build) and ("--long" in sys.argv or (file, entry) not in on_ranks):
        on_ranks.add((file, entry))
        ways += [["--shape", ranks], ["--shape", ranks, "--target", "cpu"]]
    if exact and ("--long" in sys.argv or (file, entry) not in on_chips):
        on_chips.add((file, entry))
        ways.append(["--shape", shapes[1 % len(shapes)], "--in-process", "--target", "a3", "--sim"])
    for way in ways:
        done = tools.run("run", file, "--entry", entry, *way, *words, *outputs, cwd=folder)
        expect(done.code == 0, entry, way, done)
        for name, array in expected.items():
            found = np.load(folder / f"out_{name}.npy")
            agree = np.array_equal(found, array) if exact else np.allclose(found, array, rtol=1e-5, atol=1e-5)
            expect(found.shape == array.shape and agree, entry, way, name, found, array)
            (folder / f"out_{name}.npy").unlink()


def chips(counts=COUNTS):
    return [f"chip={count}" for count in counts]


def attention_where_sequences_are_cut(tools, folder):
    for heads, positions, keys in ((4, 7, 7), (2, 16, 16), (1, 3, 19)):
        q, k, v = whole(1, heads, positions, 3), whole(2, heads, keys, 3), whole(3, heads, keys, 3)
        expected = {"y": attention(q, k, v)}
        entries = ["gathered_keys"] + (["by_heads"] if positions == keys else [])
        for entry in entries:
            check(tools, folder, EXAMPLES / "attention.ptl", entry, {"q": q, "k": k, "v": v}, expected, chips(), exact=False)
        # Parts without keys have the least number as the greatest score, and no weights.
        check(tools, folder, EXAMPLES / "attention.ptl", "where_keys_lie", {"q": q, "k": k, "v": v}, expected, chips(), exact=False, ranks="chip=2")


def mixture_of_experts(tools, folder):
    for groups, count, capacity in ((4, 4, 3), (5, 3, 2), (16, 16, 1), (2, 6, 9)):
        arrays = {"x": whole(1, groups, 9, 4), "scores": np.random.default_rng(2).random((groups, 9, count), np.float32),
                  "expert": np.arange(count, dtype=np.int32), "slot": np.arange(capacity, dtype=np.float32),
                  "up": whole(3, count, 4, 5), "down": whole(4, count, 5, 4)}
        y = experts(arrays["x"], arrays["scores"], arrays["up"], arrays["down"], capacity)
        check(tools, folder, EXAMPLES / "moe.ptl", "expert_parallel", arrays, {"y": y}, chips(), ranks="chip=4")


def rows_that_are_dispatched(tools, folder):
    for rows, choices, count in ((7, 2, 5), (3, 1, 9), (16, 4, 1)):
        to = np.random.default_rng(5).integers(-1, count, (rows, choices)).astype(np.int32)
        arrays = {"x": whole(1, rows, 4), "experts": to, "weights": whole(2, rows, choices), "up": whole(3, count, 4, 5),
                  "down": whole(4, count, 5, 4), "cap": rows * choices}
        y = np.zeros_like(arrays["x"])
        for row, choice in zip(*np.nonzero(to >= 0)):
            expert = to[row, choice]
            y[row] += arrays["weights"][row, choice] * (np.maximum(arrays["x"][row] @ arrays["up"][expert], 0) @ arrays["down"][expert])
        check(tools, folder, EXAMPLES / "moe.ptl", "dispatched", arrays, {"y": y}, chips(), ranks="chip=5")


def decode_layer(tools, folder):
    tokens, length, width, rank, latent, heads, count, hidden = 11, 6, 8, 4, 5, 3, 19, 6
    drawn = lambda seed, *shape: np.random.default_rng(seed).standard_normal(shape).astype(np.float32) / 2
    arrays = {"x": drawn(1, tokens, width), "cache": drawn(2, tokens, length, latent), "norm": drawn(3, width), "q_down": drawn(4, width, rank),
              "q_up": drawn(5, rank, heads, latent), "out": drawn(6, heads, latent, width), "router": drawn(7, width, count),
              "expert": np.arange(count, dtype=np.int32), "choice": np.arange(8, dtype=np.int32), "up": drawn(8, count, width, hidden),
              "down": drawn(9, count, hidden, width), "shared_up": drawn(10, width, hidden), "shared_down": drawn(11, hidden, width), "cap": tokens * 8}
    a = {name: array.astype(np.float64) for name, array in arrays.items() if name != "cap"}
    scaled = lambda x: x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-6) * a["norm"]
    silu = lambda x: x / (1 + np.exp(-x))
    q = np.einsum("bd,dq,qhl->bhl", scaled(a["x"]), a["q_down"], a["q_up"])
    weight = np.exp(q @ a["cache"].transpose(0, 2, 1))
    attended = a["x"] + np.einsum("bhl,hld->bd", weight @ a["cache"] / weight.sum(-1, keepdims=True), a["out"])
    token = scaled(attended)
    scores = 1 / (1 + np.exp(-(token @ a["router"])))
    y = attended + silu(token @ a["shared_up"]) @ a["shared_down"]
    for row in range(tokens):
        best = np.argsort(-scores[row])[:8]
        for expert in best:
            y[row] += scores[row, expert] / scores[row, best].sum() * (silu(token[row] @ a["up"][expert]) @ a["down"][expert])
    check(tools, folder, EXAMPLES / "decode_layer.ptl", "decode_layer", arrays, {"y": y}, HOSTS, exact=False, ranks="host=2,chip=3")


ALGORITHMS = EXAMPLES / "algorithms.ptl"
FEW = [f"chip={count}" for count in (1, 2, 3, 5, 8)]


def round_the_ring(tools, folder):
    """Keys and values that go round meet all queries, on fewer parts than blocks and on more."""
    for blocks, heads, positions in ((1, 2, 3), (4, 1, 2), (5, 2, 3)):
        q, k, v = (whole(seed, blocks, heads, positions, 3) for seed in (1, 2, 3))
        rows = [each.transpose(1, 0, 2, 3).reshape(heads, blocks * positions, 3) for each in (q, k, v)]
        y = attention(*rows).reshape(heads, blocks, positions, 3).transpose(1, 0, 2, 3)
        check(tools, folder, EXAMPLES / "attention.ptl", "round_the_ring", {"q": q, "k": k, "v": v}, {"y": y}, FEW, exact=False, ranks="chip=4")


def products_on_grids(tools, folder):
    """Square matrices over both axes of a mesh, gathered by panels and going round by blocks."""
    grids = chips((2, 4, 8))
    for size in (1, 5, 8):
        a, b = whole(1, size, size), whole(2, size, size)
        check(tools, folder, ALGORITHMS, "square_product", {"a": a, "b": b}, {"c": a @ b}, grids, ranks="chip=4")
    for blocks, size in ((1, 3), (2, 2), (3, 2), (5, 1)):
        a, b = whole(1, blocks * size, blocks * size), whole(2, blocks * size, blocks * size)
        cut = [each.reshape(blocks, size, blocks, size).transpose(0, 2, 1, 3) for each in (a, b, a @ b)]
        check(tools, folder, ALGORITHMS, "cannon", {"a": cut[0], "b": cut[1]}, {"c": cut[2]}, grids, ranks="chip=4")


def transforms_of_rows_and_columns(tools, folder):
    for rows, columns in ((4, 6), (7, 3)):
        x, left, right = whole(1, rows, columns), whole(2, columns, columns), whole(3, rows, rows)
        check(tools, folder, ALGORITHMS, "both_ways", {"x": x, "along_rows": left, "along_columns": right}, {"y": right @ (x @ left)}, FEW, ranks="chip=3")


def conjugate_gradients(tools, folder):
    for size in (3, 13):
        a = np.random.default_rng(1).random((size, size), np.float32)
        a = (a @ a.T + size * np.eye(size)).astype(np.float32)
        b = whole(2, size)
        solution = np.linalg.solve(a.astype(np.float64), b).astype(np.float32)
        check(tools, folder, ALGORITHMS, "solved", {"a": a, "b": b, "rounds": size + 2}, {"x": solution}, FEW, exact=False, ranks="chip=2")


def points_and_their_centres(tools, folder):
    x = whole(1, 17, 2)
    start = x[:3].copy()
    means = start.astype(np.float64)

    def nearest():
        return ((x[:, None] - means[None]) ** 2).sum(2).argmin(1)

    for _ in range(4):
        chosen = nearest()
        means = np.array([x[chosen == k].mean(0) if (chosen == k).any() else means[k] for k in range(3)])
    check(tools, folder, ALGORITHMS, "clustered", {"x": x, "start": start, "rounds": 4},
          {"centres": means.astype(np.float32), "nearest": nearest().astype(np.int32)}, FEW, exact=False, ranks="chip=2")


def counts_and_places(tools, folder):
    """Histograms, tables of words, numbers that go to the part of their range, sums up to each number."""
    for count in (3, 20):
        x = np.random.default_rng(count).integers(0, 6, count).astype(np.int32)
        all_of = np.bincount(x, minlength=6).astype(np.float32)
        check(tools, folder, ALGORITHMS, "counted", {"x": x, "box": np.arange(6, dtype=np.int32)}, {"count": all_of, "upto": np.cumsum(all_of)}, FEW,
              ranks="chip=3")
    for words in (2, 11):
        table, chosen = whole(1, words, 3), np.random.default_rng(2).integers(0, words, 7).astype(np.int32)
        check(tools, folder, ALGORITHMS, "embedded", {"words": chosen, "table": table}, {"x": table[chosen]}, FEW, ranks="chip=3")
    for count in (5, 24):
        x = np.random.default_rng(3).permutation(count).astype(np.float32)
        limits = np.array([0, count // 4, count // 2, 3 * count // 4], np.float32)
        part = (x[:, None] >= limits).sum(1) - 1
        y = np.full((4, count), np.float32(1e30))
        for each in range(4):
            y[each, :(part == each).sum()] = np.sort(x[part == each])
        check(tools, folder, ALGORITHMS, "by_limits", {"x": x, "limits": limits, "cap": count}, {"y": y}, FEW, ranks="chip=2")
    x = whole(4, 6, 4)
    check(tools, folder, ALGORITHMS, "summed_up", {"x": x}, {"y": np.cumsum(x).reshape(6, 4)}, FEW, ranks="chip=3")


def norms_where_positions_are_cut(tools, folder):
    x, gain, bias = whole(1, 9, 5), whole(2, 5), whole(3, 5)
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gain + bias
    check(tools, folder, ALGORITHMS, "normed", {"x": x, "gain": gain, "bias": bias}, {"y": y, "mean_of_columns": y.mean(0, keepdims=True)}, FEW,
          exact=False, ranks="chip=2")


def heat_in_a_plate(tools, folder):
    """Parts of one row and of many get a row of each neighbour; quarters of multiples of 64 are exact for three steps."""
    for rows in (3, 4, 9):
        x = whole(1, rows, 5) * 64
        y = x.copy()
        for _ in range(3):
            before = y.copy()
            y[1:-1, 1:-1] = (before[:-2, 1:-1] + before[2:, 1:-1] + before[1:-1, :-2] + before[1:-1, 2:]) / 4
        check(tools, folder, ALGORITHMS, "heated", {"x": x, "steps": 3}, {"y": y}, FEW, ranks="chip=3")


def experts_with_a_capacity(tools, folder):
    """Tokens come to their two best experts in order, and are dropped where one is full."""
    for tokens, count, capacity in ((7, 4, 3), (16, 3, 20), (5, 5, 1)):
        x, router = whole(1, tokens, 4), np.random.default_rng(2).random((4, count), np.float32)
        up, down = whole(3, count, 4, 3), whole(4, count, 3, 4)
        scores = np.exp(x @ router - (x @ router).max(1, keepdims=True))
        scores /= scores.sum(1, keepdims=True)
        y, taken = np.zeros_like(x), [0] * count
        for token, best in enumerate(np.argsort(-scores, axis=1, kind="stable")[:, :2]):
            for expert in best:
                if taken[expert] < capacity:
                    y[token] += scores[token, expert] * (np.maximum(x[token] @ up[expert], 0) @ down[expert])
                taken[expert] += 1
        check(tools, folder, ALGORITHMS, "with_capacity", {"x": x, "router": router, "up": up, "down": down, "cap": capacity}, {"y": y}, FEW,
              exact=False, ranks="chip=3")


def layers_on_hosts(tools, folder):
    for layers in (1, 3, 4):
        x, w = whole(1, 3, 2, 3), whole(2, layers, 3, 3)
        y = np.zeros((2, 3), np.float32)
        for piece in x:
            for each in w:
                piece = np.maximum(piece @ each, 0)
            y += piece
        check(tools, folder, ALGORITHMS, "on_hosts", {"x": x, "w": w}, {"y": y}, [f"host={count}" for count in (1, 2, 3, 5)], ranks="host=3")


def folds_and_places_of_data(tools, folder):
    """`scan` and `reduce` along axes whose lengths are known when the program starts; rows whose position data name."""
    for columns in (1, 7, 16):
        x = whole(columns, 5, columns)
        check(tools, folder, ALGORITHMS, "risen", {"x": x}, {"y": np.maximum.accumulate(x, 1), "most": x.max(1, keepdims=True)}, FEW, ranks="chip=2")
    x = whole(1, 6, 5)
    check(tools, folder, ALGORITHMS, "from_place", {"x": x, "at": np.array([0, 1, 3, 2, 1, 0], np.int32)}, {"y": x[3:5]}, FEW, ranks="chip=2")


def sums_over_two_levels(tools, folder):
    for rows in (1, 16, 21):
        arrays = {"x": whole(1, rows, 5), "t": whole(2, rows, 3)}
        for entry in ("level_by_level", "two_levels"):
            check(tools, folder, PROGRAMS / "reduce.ptl", entry, arrays, {"y": arrays["x"].T @ arrays["t"]}, HOSTS, ranks="host=2,chip=3")


def stages_on_chips(tools, folder):
    x, first, second, third = whole(1, 5, 4), whole(2, 4, 6), whole(3, 6, 6), whole(4, 6, 3)
    relu = lambda array: np.maximum(array, 0)
    check(tools, folder, PROGRAMS / "stages.ptl", "stages", {"x": x, "first": first, "second": second, "third": third},
          {"y": relu(relu(x @ first) @ second) @ third}, chips((3, 4, 5, 8, 16)), ranks="chip=3")
    arrays = {"x0": x, "x1": whole(5, 5, 4), "first": first, "second": whole(6, 6, 2)}
    check(tools, folder, PROGRAMS / "stages.ptl", "two_batches", arrays,
          {"y0": relu(x @ first) @ arrays["second"], "y1": relu(arrays["x1"] @ first) @ arrays["second"]}, chips((2, 3, 4, 5, 8, 16)), ranks="chip=2")


def pipeline_over_hosts(tools, folder):
    for pieces in (1, 4):
        arrays = {"x": whole(1, pieces, 5, 4), "up": whole(2, 4, 6), "down": whole(3, 6, 4), "second": whole(4, 4, 3),
                  "turn": np.arange(pieces, dtype=np.int32)}
        y = np.maximum(arrays["x"] @ arrays["up"], 0) @ arrays["down"] @ arrays["second"]
        check(tools, folder, PROGRAMS / "stages.ptl", "pipeline", arrays, {"y": y},
              ("host=2,chip=1", "host=2,chip=2", "host=3,chip=3", "host=2,chip=4"), ranks="host=2,chip=2")


def layers_as_stages(tools, folder):
    relu = lambda array: np.maximum(array, 0)
    for stages in (1, 3, 5):
        arrays = {"x": whole(1, 3, 2, 4), "up": whole(2, stages, 4, 3), "down": whole(3, stages, 3, 4), "turn": np.arange(3, dtype=np.int32)}
        y = arrays["x"]
        for up, down in zip(arrays["up"], arrays["down"]):
            y = y + relu(y @ up) @ down
        check(tools, folder, EXAMPLES / "pipeline.ptl", "layers", arrays, {"y": y}, chips((1, 2, 3, 4, 5, 8)), ranks=f"chip={stages + 1 - stages // 5}")


def gradients_of_stages(tools, folder):
    for stages in (1, 3, 5):
        arrays = {"x": whole(1, 3, 2, 4), "want": whole(2, 3, 2, 4), "w": np.sign(whole(3, stages, 4, 4))}
        kept, gradients = [arrays["x"]], np.zeros((stages, 4, 4), np.float32)
        for weights in arrays["w"]:
            kept.append(np.maximum(kept[-1], 0) @ weights)
        error = kept[-1] - arrays["want"]
        for stage in reversed(range(stages)):
            gradients[stage] = np.einsum("nbd,nbe->de", np.maximum(kept[stage], 0), error)
            error = np.where(kept[stage] > 0, error @ arrays["w"][stage].T, 0)
        check(tools, folder, EXAMPLES / "pipeline.ptl", "gradients", arrays, {"g": gradients, "off": error.sum(0)},
              chips((1, 2, 3, 4, 5, 8)), ranks=f"chip={stages + 1 - stages // 5}")
        if stages <= 3:
            check(tools, folder, EXAMPLES / "pipeline.ptl", "gradients_in_turn", arrays, {"g": gradients}, chips((1, 2, 3, 4)), ranks="chip=3")


def programs_of_two_hosts(tools, folder):
    for rounds in (1, 4):
        arrays = {"x": whole(1, rounds, 2, 4), "want": whole(2, rounds, 2, 4), "up": whole(3, 4, 5), "down": whole(4, 5, 4)}
        error = arrays["x"] + np.maximum(arrays["x"] @ arrays["up"], 0) @ arrays["down"] - arrays["want"]
        check(tools, folder, EXAMPLES / "pipeline.ptl", "layer_and_loss", arrays, {"off": error.sum((0, 1)), "loss": (error ** 2).sum((0, 1))},
              ("host=2,chip=1", "host=2,chip=2", "host=3,chip=3", "host=2,chip=4"), ranks="host=2,chip=2")


SCENARIOS = PROGRAMS / "scenarios.ptl"


def small_collectives(tools, folder):
    """Sums, gathers and exchanges on two and four chips, and on as many as know their number only when they run."""
    x = np.arange(256, dtype=np.float32)
    check(tools, folder, SCENARIOS, "all_reduced", {"x": x}, {"y": x, "z": x}, chips((2, 3, 4, 16)), ranks="chip=4")
    check(tools, folder, SCENARIOS, "twice", {"x": x[:64]}, {"y": x[:64], "z": x[:64] * 3}, chips((2, 4)), ranks="chip=2")
    for count in (2, 4):
        arrays = {"x": whole(1, count, 64), "one": whole(2, count, 64)}
        expected = {"whole": arrays["x"], "turned": arrays["x"], "all": arrays["one"], "owed": arrays["x"].sum(0, keepdims=True)}
        check(tools, folder, SCENARIOS, "moved", arrays, expected, chips((count,)), ranks=f"chip={count}")


def neighbours_exchange(tools, folder):
    """Elements move by one position, both ways at once: parts exchange what crosses from block to block."""
    for count in (1, 2, 3, 5, 11):
        x = whole(3, count)
        check(tools, folder, SCENARIOS, "exchanged", {"x": x}, {"right": np.roll(x, 1), "left": np.roll(x, -1)}, chips(), ranks="chip=3")


def swaps_of_two_pairs(tools, folder):
    """A chip that is in both pairs gets both, whichever comes first."""
    a0, a1, b1, b2 = (whole(seed, 64) for seed in (1, 2, 3, 4))
    check(tools, folder, SCENARIOS, "two_pairs", {"a0": a0, "a1": a1, "b1": b1, "b2": b2},
          {"y0": a1 + a0, "y1": a0 - b2, "y2": b1 * b2}, chips((3, 3, 3, 4)), ranks="chip=3")


def answers_in_another_order(tools, folder):
    r = [whole(seed, 9) for seed in range(4)]
    known = whole(9, 9)
    arrays = {**{f"r{i}": array for i, array in enumerate(r)}, "known": known}
    expected = {"y0": r[0] + known, "y1": np.maximum(r[1], known), "y2": r[2] * known, "y3": known - r[3]}
    check(tools, folder, SCENARIOS, "answered", arrays, expected, chips((2, 2, 2, 2)), ranks="chip=2")


def local_and_remote_reads(tools, folder):
    for length in (64, 7):
        x, scale = whole(1, length), whole(2, length)
        made = x * 2 + 1
        check(tools, folder, SCENARIOS, "computed_then_read", {"x": x, "scale": scale}, {"y": made + scale * made.sum(), "all": made},
              ("host=2,chip=2", "host=2,chip=1", "host=3,chip=2"), ranks="host=2,chip=2")
        check(tools, folder, SCENARIOS, "added", {"a": x, "b": scale}, {"c": x + scale}, ("host=2,chip=2", "host=1,chip=4"), ranks="host=2,chip=2")


def many_wait_for_one(tools, folder):
    """Three epochs: a movement that took a value of the epoch before would show."""
    x, w = whole(1, 48, 5), np.eye(5, dtype=np.float32)[:, [1, 0, 3, 4, 2]] * 2
    state, y = x, np.zeros_like(x)
    for _ in range(3):
        late = np.maximum(state @ w, -100)
        y += late
        state = late - 1
    check(tools, folder, SCENARIOS, "waited_for", {"x": x, "w": w, "turn": np.arange(48, dtype=np.int32), "epochs": 3}, {"y": y}, chips((2, 2, 3)),
          ranks="chip=2")


def experts_on_two_chips(tools, folder):
    tokens, choices, width, count, cap = 128, 6, 256, 32, 192
    dice = np.random.default_rng(8)
    to = np.stack([dice.permutation(count)[:choices] for _ in range(tokens)]).astype(np.int32)
    arrays = {"x": whole(1, tokens, width), "to": to, "weights": whole(2, tokens, choices), "experts": count, "cap": cap}
    y = 2 * arrays["x"] * arrays["weights"].sum(1, keepdims=True)
    check(tools, folder, SCENARIOS, "to_experts", arrays, {"y": y}, chips((2,)), ranks="chip=2")


def products_on_chips(tools, folder):
    x, up, down = whole(1, 64, 64), whole(2, 64, 64), whole(3, 64, 64)
    check(tools, folder, SCENARIOS, "feed_forward", {"x": x, "up": up, "down": down}, {"y": x @ up @ down}, chips((2, 4)), ranks="chip=2")
    check(tools, folder, SCENARIOS, "product_by_rows", {"a": x, "b": up}, {"c": x @ up}, chips((2, 3)), ranks="chip=2")


def sums_from_hosts_to_all(tools, folder):
    x = np.random.default_rng(4).integers(-1000, 1000, 1024 * 64).astype(np.int32)
    check(tools, folder, SCENARIOS, "hierarchical", {"x": x}, {"total": x.sum(keepdims=True).astype(np.int32), "largest": x.max(keepdims=True)},
          ("cluster=1,superpod=1,pod=2,host=2", "cluster=1,superpod=16,pod=4,host=16"), ranks="cluster=1,superpod=2,pod=2,host=2")
    a = np.array([0, 1, 5, -3, 7], dtype=np.int32)
    b = np.array([0, 2, -4, 8, 7], dtype=np.int32)
    f = (a + b + 1) * (a + b + 2) + (a + b)
    expect(f[0] == 2 and f[1] == 23, f)
    check(tools, folder, SCENARIOS, "diamond", {"a": a, "b": b}, {"f": f}, chips((1, 2, 3)), ranks="chip=3")


def transformer_layer(x, gain1, gain2, wq, wk, wv, wo, up, down):
    normed = lambda array, gain: array / np.sqrt((array * array).mean(1, keepdims=True) + 1e-5) * gain
    a = normed(x, gain1)
    added = x + (attention(a @ wq, a @ wk, a @ wv) @ wo).sum(0)
    return added + np.maximum(normed(added, gain2) @ up, 0) @ down


def layers_of_a_transformer(tools, folder):
    for positions, heads, hidden in ((5, 4, 7), (8, 3, 16)):
        draw = lambda seed, *shape: np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
        arrays = {"x": draw(1, positions, 6), "gain1": draw(2, 6), "gain2": draw(3, 6), "wq": draw(4, heads, 6, 2), "wk": draw(5, heads, 6, 2),
                  "wv": draw(6, heads, 6, 2), "wo": draw(7, heads, 2, 6), "up": draw(8, 6, hidden), "down": draw(9, hidden, 6)}
        y = transformer_layer(**arrays)
        for entry in ("layer", "layer_by_positions"):
            check(tools, folder, EXAMPLES / "transformer.ptl", entry, arrays, {"y": y}, chips((1, 2, 3, 8)), exact=False, ranks="chip=3")


def training_of_a_transformer(tools, folder):
    x, t, up, down = whole(1, 5, 4), whole(2, 5, 4), whole(3, 4, 6), whole(4, 6, 4)
    hidden = np.maximum(x @ up, 0)
    error = hidden @ down - t
    # `rate` is a whole number, so that all stays exact.
    expected = {"new_up": up - x.T @ np.where(hidden > 0, error @ down.T, 0) * 2, "new_down": down - hidden.T @ error * 2,
                "loss": (error * error).sum(keepdims=True) / 2}
    for name, array in (("x", x), ("t", t), ("up", up), ("down", down)):
        np.save(folder / f"{name}.npy", array)
    for way in (["--target", "reference"], *[["--shape", shape, "--in-process", "--seed", "3"] for shape in HOSTS],
                *([["--shape", "host=2,chip=2"]] if has_mpi(tools.build) else [])):
        done = tools.run("run", EXAMPLES / "transformer.ptl", "--entry", "training_step", *way, *[f"{name}=@{name}.npy" for name in ("x", "t", "up", "down")], "rate=2",
                         *[word for name in expected for word in ("-o", f"{name}={name}_out.npy")], cwd=folder)
        expect(done.code == 0, way, done)
        for name, array in expected.items():
            expect(np.array_equal(np.load(folder / f"{name}_out.npy"), array), way, name)
            (folder / f"{name}_out.npy").unlink()


def layouts_of_weights(tools, folder):
    for rows, columns in ((13, 7), (16, 8), (1, 3)):
        w = whole(1, rows, columns)
        for entry in ("to_serving", "to_grid"):
            check(tools, folder, PROGRAMS / "reshard.ptl", entry, {"w": w}, {"v": w}, HOSTS, ranks="host=2,chip=3")


def safetensors(path, arrays):
    """As the description of the format says."""
    header, data = {"__metadata__": {"format": "np"}}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": {"float32": "F32", "int32": "I32"}[array.dtype.name], "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def ranks_read_and_write_their_boxes(tools, folder):
    """Of every format; the file of a result is written by all of them."""
    w = whole(1, 13, 7)
    safetensors(folder / "a.safetensors", {"other": whole(2, 3), "layers.0.w": w})
    safetensors(folder / "b.safetensors", {"layers.1.w": w + 1})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"layers.0.w": "a.safetensors", "layers.1.w": "b.safetensors"}}))
    np.save(folder / "w.npy", w)
    np.save(folder / "turned.npy", np.asfortranarray(w))
    np.savez(folder / "plain.npz", w=w, v=w[:2])
    np.savez_compressed(folder / "packed.npz", w=w, v=w[:2])
    ways = [["--target", "reference"], ["--target", "cpu"], ["--shape", "host=2,chip=2", "--in-process"]]
    if has_mpi(tools.build):
        ways += [["--shape", "host=2,chip=3"], ["--shape", "host=1,chip=1"], ["--shape", "host=2,chip=8"]]
    for way in ways:
        for word, plus in (("a.safetensors:layers.0.w", 0), ("model.safetensors.index.json:layers.1.w", 1), ("w.npy", 0), ("turned.npy", 0),
                           ("plain.npz:w", 0), ("packed.npz:w", 0))[:6 if way[-1] != "host=2,chip=8" else 2]:
            done = tools.run("run", PROGRAMS / "reshard.ptl", "--entry", "to_grid", *way, f"w=@{word}", "-o", "v=v.npy", cwd=folder)
            expect(done.code == 0 and not done.stdout, way, word, done)
            expect(np.array_equal(np.load(folder / "v.npy"), w + plus), way, word)
            (folder / "v.npy").unlink()
    done = tools.run("run", PROGRAMS / "reshard.ptl", "--entry", "to_grid", *ways[-1], "w=@a.safetensors:layers.9.w", "-o", "v=v.npy", cwd=folder)
    expect(done.code == 1 and "the file has no array `layers.9.w`; it has: other, layers.0.w" in done.stderr, done)
    expect(not list(folder.glob("*.part")) and not (folder / "v.npy").exists(), "nothing is left")


def layers_cut_in_three_ways(tools, folder):
    silu = lambda array: array / (1 + np.exp(-array))
    arrays = {"x": whole(1, 6, 4), "w_gate": whole(2, 4, 7), "w_up": whole(3, 4, 7), "w_down": whole(4, 7, 4)}
    y = (silu(arrays["x"] @ arrays["w_gate"]) * (arrays["x"] @ arrays["w_up"])) @ arrays["w_down"]
    for entry in ("data_parallel", "tensor_parallel", "sequence_parallel"):
        check(tools, folder, EXAMPLES / "mlp.ptl", entry, arrays, {"y": y}, chips(), exact=False)


def kernels_that_parts_call(tools, folder):
    """What a kernel computes may depend on how many rows its part has, so each number of parts has a result of its own."""
    file, rows, width = PROGRAMS / "kernels.ptl", 7, 5
    x, w, pieces, factor = whole(1, rows, width), whole(2, rows, width), whole(3, 4, rows, width), whole(4, width, width)
    for count in (1, 2, 3, 5, 8):
        block = -(-rows // count)
        y, u, own_rows = np.zeros_like(x), np.zeros_like(x), np.zeros(rows, np.int32)
        scaled = np.zeros_like(x)
        for first in range(0, rows, block):
            own = x[first:first + block]
            length = len(own)
            scaled[first:first + block], own_rows[first:first + block] = own * 3 + length, length
            own = (own * 2 + length + 1) * np.float32(0.5)
            both = (own + 1) * (own - 3)
            y[first:first + block] = (both * 2 + length) @ (both.T @ both)
            u[first:first + block] = (own + np.arange(width, dtype=np.float32) * 2) * 3
        expected = {"y": y, "z": w * 3 + rows, "u": u, "t": w * 12 + rows * 4}
        check(tools, folder, file, "on_ranges", {"x": x, "w": w, "chips": count}, expected, [f"chip={count}"] * 2, ranks=f"chip={count}" if count > 1 else None)
        shapes = {1: "host=1,chip=1", 2: "host=1,chip=2", 3: "host=3,chip=1", 5: "host=1,chip=5", 8: "host=1,chip=8"}
        hosts, chips_of = (int(word.split("=")[1]) for word in shapes[count].split(","))
        check(tools, folder, file, "on_two_levels", {"x": x, "hosts": hosts, "chips": chips_of}, {"y": scaled, "rows": own_rows}, [shapes[count]], ranks=shapes[count] if count == 3 else None)
        sums = np.zeros((rows, width), np.float32)
        for piece in pieces:
            sums = (sums + (piece * 2 + rows) @ factor) * np.float32(0.5)
        check(tools, folder, file, "over_rounds", {"x": x, "w": w, "N": 3, "chips": count}, {"y": x * 8, "z": w * 4}, [f"chip={count}"])
        if count > 1:
            check(tools, folder, file, "in_sections", {"x": pieces, "w": factor}, {"y": sums}, [f"chip={count}"] * 2, ranks="chip=3")


def manual_kernels_on_chips(tools, folder):
    """Parts that are simulated chips run them; others say what would."""
    file = PROGRAMS / "manual.ptl"
    arrays = {"a": whole(1, 3 * 4096), "b": whole(2, 3 * 4096)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    words = ["--entry", "added", "a=@a.npy", "b=@b.npy", "-o", "y=y.npy"]
    ways = [["--shape", f"chip={count}", "--in-process"] for count in (1, 2, 3)] + ([["--shape", "chip=2"]] if has_mpi(tools.build) else [])
    for way in ways:
        done = tools.run("run", file, *way, *words, "--target", "a3", "--sim", cwd=folder)
        expect(done.code == 0, way, done)
        expect(np.array_equal(np.load(folder / "y.npy"), (arrays["a"] + arrays["b"]) * 2 + 1), way)
    done = tools.run("run", file, "--shape", "chip=2", "--in-process", *words, cwd=folder)
    expect(done.code == 5 and "`added_by_hand` is a manual kernel" in done.stderr and "--target a3 --sim" in done.stderr, done)


def kernels_and_movements(tools, folder):
    """Sums that kernels make on each part, rows of neighbours, stages, and rounds that data end."""
    file = PROGRAMS / "kernels.ptl"
    for count in (1, 3, 8):
        shape, ranks = [f"chip={count}"] * 2, f"chip={count}" if count > 1 else None
        for rows in (1, 7):
            block = -(-rows // count)
            x = np.random.default_rng(rows).integers(0, 4, rows).astype(np.int32)
            check(tools, folder, file, "by_kernels", {"x": x, "b": np.zeros(4, np.float32), "chips": count}, {"h": np.bincount(x, minlength=4).astype(np.int32)},
                  shape, ranks=ranks)
            x = y = whole(1, rows, 3)
            for _ in range(3):
                y = (np.roll(y, 1, 0) + np.roll(y, -1, 0)) * np.float32(0.5)
            check(tools, folder, file, "smoothed", {"x": x, "steps": 3, "chips": count}, {"y": y}, shape, ranks=ranks)
            x, w = whole(2, rows, 3) * 4, whole(3, 3, 3) / 2
            y, rounds = x.copy(), 0
            while np.abs(y).max() > 1 and rounds < 9:
                for first in range(0, rows, block):
                    own = y[first:first + block]
                    y[first:first + block] = own @ w if first > 1 else own * np.float32(0.5)
                rounds += 1
            check(tools, folder, file, "until", {"x": x, "w": w, "limit": 1, "chips": count}, {"y": y, "n": np.int32(rounds)}, shape, exact=False, ranks=ranks)
        x, w = whole(4, 3, 2, 3), whole(5, 4, 3, 3)
        check(tools, folder, file, "staged", {"x": x, "w": w}, {"y": x @ w[0] @ w[1] @ w[2] @ w[3]}, shape, ranks=ranks)


def stages_whose_chips_have_ranges(tools, folder):
    file, pieces, width = PROGRAMS / "stage_parts.ptl", 3, 2
    for hosts, count, stages, rows in ((1, 1, 2, 5), (2, 3, 2, 4), (3, 2, 7, 5), (4, 1, 2, 3)):
        block = -(-rows // count)
        start = np.array([row // block * block for row in range(rows)], np.float32)[:, None]
        length = np.minimum(start + block, rows) - start
        x, w = whole(1, pieces, rows, width), whole(2, stages, rows, width)
        y, z, one = x, np.zeros_like(w), whole(3, rows, width)
        for stage in range(stages):
            y = y + w[stage] * length
            z[stage] = y[-1]
        shape = f"host={hosts},chip={count}"
        check(tools, folder, file, "stages_of_hosts", {"x": x, "w": w, "chips": count}, {"y": y, "z": z}, [shape] * 2, ranks=shape if hosts > 1 else None)
        if hosts > 1:
            check(tools, folder, file, "others", {"x": one, "hosts": hosts, "chips": count},
                  {"y": np.stack([one * 0] + [one * host + start for host in range(1, hosts)])}, [shape], ranks=shape)
        x, w = whole(4, pieces, rows, width), whole(5, stages, width, width) / 2
        g = np.zeros_like(w)
        for piece in x:
            kept = [piece]
            for factor in w:
                kept.append(kept[-1] @ factor)
            error = kept[-1]
            for stage in reversed(range(stages)):
                g[stage] += kept[stage].T @ error
                error = error @ w[stage].T
        check(tools, folder, file, "one_by_one", {"x": x, "w": w}, {"g": g}, [f"chip={hosts * count}"] * 2, exact=False, ranks=f"chip={hosts * count}")


if __name__ == "__main__":
    tools = Tools(pathlib.Path(sys.argv[1]))
    tests = [kernels_that_parts_call, manual_kernels_on_chips, kernels_and_movements, stages_whose_chips_have_ranges, layers_of_a_transformer, training_of_a_transformer, layouts_of_weights, ranks_read_and_write_their_boxes, attention_where_sequences_are_cut, mixture_of_experts, rows_that_are_dispatched, decode_layer, sums_over_two_levels, stages_on_chips, layers_as_stages, gradients_of_stages, programs_of_two_hosts, layers_cut_in_three_ways, pipeline_over_hosts,
             small_collectives, neighbours_exchange,
             round_the_ring, products_on_grids, transforms_of_rows_and_columns, conjugate_gradients, points_and_their_centres, counts_and_places,
             norms_where_positions_are_cut, heat_in_a_plate, experts_with_a_capacity, layers_on_hosts, folds_and_places_of_data,
             swaps_of_two_pairs, answers_in_another_order, local_and_remote_reads, many_wait_for_one, experts_on_two_chips, products_on_chips, sums_from_hosts_to_all]
    sys.exit(run_cases("cluster", in_folders("cluster", tests, lambda test, folder: test(tools, folder))))
