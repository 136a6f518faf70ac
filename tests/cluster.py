"""Programs over levels beside NumPy, on as many parts as there may be: in one process, and what they mean as a whole on
`cpu` and `reference`. `cluster.py BUILD`. On whole numbers all agree bit by bit."""
import pathlib
import sys

import numpy as np

from harness import ROOT, Tools, in_folders, run_cases
from ranks import expect, has_mpi

EXAMPLES = ROOT / "examples/cluster"
# Headers that the grammar of editors does not know yet.
NEW_HEADERS = ROOT / "codegen/parts/testdata"
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


def check(tools, folder, file, entry, arrays, expected, shapes, exact=True, ranks=None):
    """On all shapes and on the executors that ignore them; with `ranks`, on that shape as ranks of MPI, where there are any.
    `expected`: results by name."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    words = [f"{name}=@{name}.npy" for name in arrays]
    outputs = [word for name in expected for word in ("-o", f"{name}=out_{name}.npy")]
    ways = [["--target", "cpu"], ["--target", "reference"], *[["--shape", shape, "--in-process", "--seed", str(at)] for at, shape in enumerate(shapes)]]
    if ranks and has_mpi(tools.build):
        ways.append(["--shape", ranks])
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


def sums_over_two_levels(tools, folder):
    for rows in (1, 16, 21):
        arrays = {"x": whole(1, rows, 5), "t": whole(2, rows, 3)}
        for entry in ("level_by_level", "two_levels"):
            check(tools, folder, NEW_HEADERS / "reduce.ptl", entry, arrays, {"y": arrays["x"].T @ arrays["t"]}, HOSTS, ranks="host=2,chip=3")


def stages_on_chips(tools, folder):
    x, first, second, third = whole(1, 5, 4), whole(2, 4, 6), whole(3, 6, 6), whole(4, 6, 3)
    relu = lambda array: np.maximum(array, 0)
    check(tools, folder, NEW_HEADERS / "stages.ptl", "stages", {"x": x, "first": first, "second": second, "third": third},
          {"y": relu(relu(x @ first) @ second) @ third}, chips((3, 4, 5, 8, 16)), ranks="chip=3")
    arrays = {"x0": x, "x1": whole(5, 5, 4), "first": first, "second": whole(6, 6, 2)}
    check(tools, folder, NEW_HEADERS / "stages.ptl", "two_batches", arrays,
          {"y0": relu(x @ first) @ arrays["second"], "y1": relu(arrays["x1"] @ first) @ arrays["second"]}, chips((2, 3, 4, 5, 8, 16)), ranks="chip=2")


def layers_cut_in_three_ways(tools, folder):
    silu = lambda array: array / (1 + np.exp(-array))
    arrays = {"x": whole(1, 6, 4), "w_gate": whole(2, 4, 7), "w_up": whole(3, 4, 7), "w_down": whole(4, 7, 4)}
    y = (silu(arrays["x"] @ arrays["w_gate"]) * (arrays["x"] @ arrays["w_up"])) @ arrays["w_down"]
    for entry in ("data_parallel", "tensor_parallel", "sequence_parallel"):
        check(tools, folder, EXAMPLES / "mlp.ptl", entry, arrays, {"y": y}, chips(), exact=False)


if __name__ == "__main__":
    tools = Tools(pathlib.Path(sys.argv[1]))
    tests = [attention_where_sequences_are_cut, mixture_of_experts, sums_over_two_levels, stages_on_chips, layers_cut_in_three_ways]
    sys.exit(run_cases("cluster", in_folders("cluster", tests, lambda test, folder: test(tools, folder))))
