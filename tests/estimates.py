"""Estimated times beside simulated ones: every kernel and program of the examples and of tests/chips that runs on a chip, for lengths
that leave something to be estimated. `estimates.py BUILD [--print] [PATTERN]`; a difference of more than a tenth is a failure."""

import concurrent.futures
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import ROOT, Case, Tools, run_cases  # noqa: E402

CHIPS = ("a3", "a5")
MOST = 0.10  # of the simulated time
# Beyond these, lengths that nothing fixes take long to simulate and show nothing more; by the number of open lengths.
ASSUMED = {1: 1 << 18, 2: 1024, 3: 256}


def costs_of(tools, path, chip):
    """What `ptlc check` says of the entries of a file: it knows which there are, and their lengths."""
    done = tools.run("check", path, "--target", chip, "--cost", "--budget", "0", "--json")
    return json.loads(done.stdout)["costs"] if done.stdout.startswith("{") else []


def costs_on_chips(tools, path):
    """The same for all chips. The lengths are those of the source whatever the chip, and finding them means to estimate: the other chips are
    asked only where the first has no time for an entry, which then may run there alone."""
    first = costs_of(tools, path, CHIPS[0])
    is_whole = bool(first) and all("us" in cost for cost in first)
    return {chip: first if is_whole else costs_of(tools, path, chip) for chip in CHIPS[1:]} | {CHIPS[0]: first}


def words_of(cost):
    """Arguments of `ptlc sim`; nothing for what it cannot be told."""
    sizes = cost["sizes"]
    if any(size["name"] == ".." for size in sizes):
        return None
    assumed = [size for size in sizes if size["why"] == "assumed"]
    most = ASSUMED.get(len(assumed), 128)
    return [f"{size['name']}={min(size['value'], most) if size in assumed else size['value']}" for size in sizes]


def compare(tools, path, chip, cost, show):
    def run():
        call = ["sim", path, "--entry", cost["entry"], "--target", chip, "--json", *words_of(cost)]
        whole, part = tools.run(*call), tools.run(*call, "--estimate")
        if whole.code or part.code:
            # What stops, stops both ways: data decides, or lengths do not suit.
            return None if whole.code == part.code else f"exit codes {whole.code}, {part.code}\n{whole.stderr}{part.stderr}"
        simulated, (estimated,) = json.loads(whole.stdout)["us"], json.loads(part.stdout)["costs"]
        error = estimated["us"] / simulated - 1
        if show:
            print(f"{path.stem:24} {cost['entry']:28} {chip}  simulated {simulated:10.2f} us  estimated {estimated['us']:10.2f} us  "
                  f"{100 * error:+6.2f} %  {'whole' if estimated['exact'] else 'part'}", flush=True)
        if estimated["exact"] and abs(error) > 1e-3:
            return f"said to be exact: {estimated['us']} us, simulated {simulated} us"
        return None if abs(error) <= MOST else f"{estimated['us']} us, simulated {simulated} us: {100 * error:+.1f} %"

    return Case(f"estimates/{path.stem}.{cost['entry']}.{chip}", run)


def estimate(tools, file, entry, words):
    path = ROOT / "examples" / file
    done = tools.run("sim", path, "--entry", entry, "--target", "a3", "--json", "--estimate", *words)
    if done.code:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["costs"][0]


def growth(tools):
    """Rounds that differ: what is left out does not add up to more than was there."""
    words = ("D=16", "S=1024", "T=1024")
    few, many = (estimate(tools, "07_flash_attention.ptl", "flash_attention_causal", [*words, f"H={h}"])["us"] for h in (256, 1024))
    return None if 3.9 < many / few < 4.1 else f"{few} us for 256 heads, {many} us for 1024"


def elements(tools):
    """Data that decides is taken to be what requirements allow, on both ways to a time."""
    path = ROOT / "examples" / "11_paged_attention.ptl"
    (cost,) = costs_of(tools, path, "a3")
    wanted = {"pages": "0, 1, 2 ...", "length": "4096"}
    told = {each["name"]: each["text"] for each in cost.get("elements", ())}
    if told != wanted:
        return f"check --cost: {told}"
    words = [f"{size['name']}={size['value']}" for size in cost["sizes"]]
    told = json.loads(tools.run("sim", path, "--target", "a3", "--json", *words).stdout)["elements"]
    return None if told == wanted else f"sim: {told}"


def examples(tools):
    """What data decides, for an example of it: not far from what random data take, which route evenly."""
    call = ["sim", ROOT / "examples" / "10_mixture_of_experts.ptl", "--target", "a3", "--json", "T=256", "D=256", "F=256", "E=8"]
    told = tools.run(*call, "--estimate", "-D", "first=0", "-D", "last=64")
    if told.code:
        return told.stderr
    (cost,) = json.loads(told.stdout)["costs"]
    if not {("first", 0), ("last", 64)} <= {(size["name"], size["value"]) for size in cost["sizes"]}:
        return f"sizes: {cost['sizes']}"
    arrays = ("x", "router", "gate", "up", "down")
    real = json.loads(tools.run(*call, "--values", *(f"{name}=random" for name in arrays)).stdout)["us"]
    if abs(cost["us"] / real - 1) > MOST:
        return f"{cost['us']} us, with data {real} us"
    outside = tools.run(*call, "-D", "mixture_of_experts.first=-5", "-D", "mixture_of_experts.last=2")
    if "positions -5..2 are outside of 0..512" not in outside.stderr:
        return f"of examples that cannot be: {outside.stderr}"
    lacking = tools.run(*call, "-D", "first=0")
    return None if lacking.code and "-D last=...`" in lacking.stderr else f"says what it lacks: {lacking.stderr}"


# Sizes of layers, by file, entry, and arguments.
LARGE = (
    ("examples/07_flash_attention.ptl", "flash_attention", "D=128 H=8 S=4096 T=4096"),
    ("examples/07_flash_attention.ptl", "flash_attention_causal", "D=128 H=8 S=2048 T=2048"),
    ("tests/sizes/layers.ptl", "ln_gelu", "R=16384 C=512"),
    ("tests/sizes/layers.ptl", "ln_gelu", "R=8192 C=2048"),
    *(("tests/sizes/layers.ptl", "gemm_bias", f"M=2048 N=4096 K=4096 -D gemm_bias.BK={bk} -D gemm_bias.BN={bn}")
      for bk, bn in ((64, 256), (128, 256), (256, 128), (256, 256))),
    ("examples/08_transformer.ptl", "transformer", "S=128 D=256 F=512 H=4 L=12"),
    ("examples/08_transformer.ptl", "transformer", "S=17 D=32 F=48 H=4 L=40"),
    # Weights of each expert are read from memory, by several launches at the same time.
    ("examples/models/deepseek_moe.ptl", "deepseek_moe", "T=64 D=7168 F=2048 G=2 M=4 K=8 KEPT=1 -D first=0 -D last=16", "a5"),
    # Launches whose cores come to them one after another, beside those of others.
    ("examples/models/deepseek_moe.ptl", "deepseek_moe", "T=64 D=7168 F=2048 G=4 M=4 K=8 KEPT=2 -D first=0 -D last=16"),
    # Rows that data choose are in L2 when later rounds choose them again.
    ("examples/models/sparse_attention.ptl", "sparse_attention", "Q=16 H=128 T=8192 K=2048 E=576 C=512"),
    ("examples/models/sparse_attention.ptl", "sparse_attention", "Q=16 H=128 T=8192 K=2048 E=576 C=512", "a5"),
)  # fmt: skip


def large(tools, file, entry, words, chip="a3"):
    def run():
        call = ["sim", ROOT / file, "--entry", entry, "--target", chip, "--json", *words.split()]
        whole, part = tools.run(*call), tools.run(*call, "--estimate")
        if whole.code or part.code:
            return whole.stderr + part.stderr
        simulated, estimated = json.loads(whole.stdout)["us"], json.loads(part.stdout)["costs"][0]["us"]
        return None if abs(estimated / simulated - 1) <= MOST else f"{estimated} us, simulated {simulated} us"

    return Case(f"estimates/{entry} {words}", run)


# Loops of the scalar unit alone, for lengths that are still simulated soon.
ELEMENTS = {"shifted": "N=500000", "in_two_parts": "N=60000", "sums_so_far": "N=3000", "in_turn": "N=20000", "nested": "N=3000 M=300"}


def elements_alone(tools):
    """What takes counted time is known exactly from a part of it, and for lengths whose elements nobody could go through one by one."""
    path, wrong = ROOT / "tests/sizes/elements.ptl", []
    costs = {cost["entry"]: cost for cost in costs_of(tools, path, "a3")}
    for entry, words in ELEMENTS.items():
        if "us" not in costs[entry]:
            wrong.append(f"{entry}: no time is known: {costs[entry]}")
        call = ["sim", path, "--entry", entry, "--target", "a3", "--json", *words.split()]
        whole, part = (tools.run(*call, *more) for more in ((), ("--estimate",)))
        simulated, (estimated,) = json.loads(whole.stdout)["us"], json.loads(part.stdout)["costs"]
        if estimated["exact"] or abs(estimated["us"] / simulated - 1) > 1e-3:
            wrong.append(f"{entry}: {estimated['us']} us, exact: {estimated['exact']}, simulated {simulated} us")
    return "\n".join(wrong)


# A kernel, its tunables, sizes whose formula is asked for, and sizes for which it has to hold.
FORMULAS = (
    ("04_matmul.ptl", "matmul_f16", {"BM": 128, "BN": 256, "BK": 256}, {"M": 3072, "N": 4096, "K": 4096}, {"M": 6144, "N": 3072, "K": 6144}),
    ("07_flash_attention.ptl", "flash_attention", {"BQ": 64, "BK": 128}, {"H": 24, "S": 1024, "T": 2048, "D": 64}, {"H": 24, "S": 2048, "T": 4096, "D": 64}),
    ("07_flash_attention.ptl", "flash_attention", {"BQ": 64, "BK": 128}, {"H": 24, "S": 1024, "T": 1024, "D": 64}, {"H": 24, "S": 1024, "T": 4096, "D": 64}),
    ("02_softmax.ptl", "softmax_rows", {"ROWS": 8}, {"R": 6144, "C": 512}, {"R": 24576, "C": 512}),
)  # fmt: skip


def formula(tools, file, entry, tunables, asked, other):
    def run():
        words = [f"{name}={value}" for name, value in asked.items()]
        cost = estimate(tools, file, entry, words)
        cdiv = lambda a, b: -(-a // b)
        told = eval(cost["formula"], {"cdiv": cdiv, "min": min, "max": max}, {**asked, **tunables})
        if abs(told / cost["us"] - 1) > 0.02:
            return f"{cost['formula']} is {told}, not {cost['us']}"
        told = eval(cost["formula"], {"cdiv": cdiv, "min": min, "max": max}, {**other, **tunables})
        us = estimate(tools, file, entry, [f"{name}={value}" for name, value in other.items()])["us"]
        return None if abs(told / us - 1) <= MOST else f"{cost['formula']} is {told:.1f} us for {other}, the estimate {us} us"

    return Case(f"estimates/formula of {entry} for {asked}", run)


def main() -> int:
    arguments = sys.argv[1:]
    tools, show = Tools(pathlib.Path(arguments[0])), "--print" in arguments
    patterns = [text for text in arguments[1:] if text != "--print"]
    files = [path for folder in (ROOT / "examples", ROOT / "tests" / "chips") for path in sorted(folder.glob("*.ptl"))]
    asked = [path for path in files if not patterns or any(text in path.stem for text in patterns)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda path: costs_on_chips(tools, path), asked)
        cases = [compare(tools, path, chip, cost, show) for path, answer in zip(asked, answers) for chip in CHIPS for cost in answer[chip]
                 if "us" in cost and words_of(cost) is not None]
    if not patterns:
        cases.append(Case("estimates/growth", lambda: growth(tools)))
        cases.append(Case("estimates/elements", lambda: elements(tools)))
        cases.append(Case("estimates/examples", lambda: examples(tools)))
        cases.append(Case("estimates/elements_alone", lambda: elements_alone(tools)))
        cases += [formula(tools, *each) for each in FORMULAS]
        cases += [large(tools, *each) for each in LARGE]
    if not patterns and len(cases) < 40:
        print(f"only {len(cases)} kernels have a time")
        return 1
    return run_cases("estimates", cases)


if __name__ == "__main__":
    sys.exit(main())
