"""How long the models of examples/models take: `run.py BUILD_FOLDER [--write] [--no-cpu] [MODEL ...]`, also `./dev bench models`.

Per program and stated lengths: predicted times on the chips, as `ptlc sim --estimate` gives them, beside the least that the memory or
the units of the chip allow, and the median time on this processor. `--write` puts the table into docs/models.md, between its markers;
with `--no-cpu` the times on the CPU stay those of the page.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "examples" / "models"
PAGE = ROOT / "docs" / "models.md"
MARKERS = ("<!-- begin: ./dev bench models --write -->", "<!-- end -->")
CHIPS = ("a2", "a3", "a5")
TOO_FAR = 5.0  # times the least: a row that says so is a poor one

# A title, lengths on chips (those of the models), lengths on the CPU (which has two cores in a small computer), and what data decide.
ROWS = {
    "qwen3_prefill": ("Qwen3-8B layer, prompt", "S=1024 D=4096 G=8 R=4 E=128 F=12288", "S=128 D=1024 G=2 R=4 E=128 F=3072", {}),
    "qwen3_decode": ("Qwen3-8B layer, 16 sequences of 4,096 tokens", "B=16 D=4096 G=8 R=4 E=128 F=12288 P=512 J=32 W=128",
                     "B=4 D=1024 G=2 R=4 E=128 F=3072 P=32 J=8 W=128", {}),
    "mla_prefill": ("latent attention, prompt, 16 of the heads", "S=1024 D=7168 L=1536 C=512 H=16 N=128 R=64 V=128",
                    "S=128 D=1024 L=384 C=512 H=4 N=128 R=64 V=128", {}),
    "mla_decode": ("latent attention, absorbed, 16 sequences of 4,096 tokens", "B=16 T=4096 D=7168 L=1536 C=512 H=128 N=128 R=64 V=128",
                   "B=4 T=1024 D=1024 L=384 C=512 H=16 N=128 R=64 V=128", {}),
    "lightning_indexer": ("scores of 64 heads, best 2,048 of 8,192", "Q=64 T=8192 H=64 E=128 K=2048", "Q=4 T=8192 H=64 E=128 K=2048", {}),
    "sparse_attention": ("128 heads, 2,048 chosen of 8,192", "Q=16 H=128 T=8192 K=2048 E=576 C=512", "Q=2 H=128 T=8192 K=2048 E=576 C=512", {}),
    "deepseek_moe": ("32 experts, 64 tokens, 8 experts each, 16 tokens to each expert", "T=64 D=7168 F=2048 G=8 M=4 K=8 KEPT=4",
                     "T=16 D=1024 F=512 G=8 M=4 K=8 KEPT=4", {"first": 0, "last": 16}),
    "llama_i8": ("gated layer of Llama-3-8B, 8-bit weights", "T=64 D=4096 F=14336", "T=16 D=1024 F=3584", {}),
    "llama_i4": ("the same, 4-bit weights", "T=64 D=2048 F=7168", "T=16 D=512 F=1792", {}),
    "llama_mxfp4": ("the same, block-scaled weights of 4 bits", "T=64 D=128 F=448", "T=16 D=32 F=112", {}),
    "vit_block": ("ViT-L, 4 images of 256 patches as one", "S=1024 D=1024 H=16 E=64 F=4096", "S=256 D=1024 H=16 E=64 F=4096", {}),
    "convolutions": ("64 and 256 channels, 56 x 56", "H=56 W=56 C=64 M=256", "H=56 W=56 C=64 M=256", {}),
    "mamba2": ("2,048 steps in chunks of 128, 64 heads of 64, state of 128", "G=16 C=128 H=64 N=128 P=64", "G=4 C=128 H=16 N=128 P=64", {}),
    "top_p": ("16 sequences, 32,000 tokens to choose from", "B=16 V=32000", "B=16 V=32000", {}),
    "adam": ("16 million weights", "N=16777216", "N=4194304", {}),
}  # fmt: skip
# Arguments of whole numbers on the CPU, as expressions of the lengths.
WHOLE = {
    ("qwen3_decode", "pages"): "index(0..B * J)",
    ("qwen3_decode", "length"): "full(i32[B], J * W)",
    ("qwen3_decode", "row"): "(index(0..B) + 1) * (J * W) - 1",
    ("mla_decode", "length"): "full(i32[B], T)",
    ("sparse_attention", "chosen"): "(index(0..Q * K) * 7) % T",
}


def predict(ptlc, name, chip):
    """Time and least in microseconds, or the reason for no time."""
    _, words, _, values = ROWS[name]
    given = [text for key, value in values.items() for text in ("-D", f"{key}={value}")]
    done = subprocess.run([ptlc, "sim", FOLDER / f"{name}.ptl", "--entry", name, "--target", chip, "--estimate", "--json", *given,
                           *words.split()], capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        return next((line for line in done.stderr.splitlines() if "error" in line), "error: no time")
    (cost,) = json.loads(done.stdout)["costs"]
    return cost["us"], cost["roofline"]["us"], cost["roofline"]["by"]


def bench_block(name):
    """A call with random numbers, and with the whole numbers of `WHOLE`, all lengths put in as numbers."""
    source = (FOLDER / f"{name}.ptl").read_text()
    lengths = dict(word.split("=") for word in ROWS[name][2].split())
    put = lambda text: re.sub(r"\b[A-Z]+\b", lambda word: lengths.get(word[0], word[0]), text)  # noqa: E731
    head = re.search(rf"program {name}\[.*?\]\((.*?)\)\s*(->|where|\{{)", source, re.S)
    gives, head = head[2] == "->", head[1]
    lines, words, named = [], [], set()
    for key, inout, kind, shape in re.findall(r"(\w+): (inout )?(\w+)(\[[^\]]*\])?", head):
        named |= set(re.findall(r"\b[A-Z]+\b", re.sub(r"[A-Z]+(?: [*+/] \w+)+", "", shape)))
        value = WHOLE.get((name, key), f"random({kind}{shape}, seed: {len(words) + 1}, low: -0.05, high: 0.05)")
        if kind in ("i8", "u8"):
            low = -100.0 if kind == "i8" else 0.0
            value = f"{kind}(random(f32{shape}, seed: {len(words) + 1}, low: {low}, high: 100.0), round: .even)"
        if kind == "f8e8m0":
            value = f"f8e8m0(random(f32{shape}, seed: {len(words) + 1}, low: 0.01, high: 0.05))"
        if (name, key) in WHOLE:
            value = f"reshape({value}, {shape})"
        lines.append(f"    {'var' if inout else 'let'} {key} = {put(value) if shape else '0.1'}\n")
        words.append(f"{'inout ' if inout else ''}{key}")
    words += [f"{key}: {value}" for key, value in lengths.items() if key not in named]
    return source + f'\nbench "cpu" {{\n{"".join(lines)}    {"let _ = " if gives else ""}{name}({", ".join(words)})\n}}\n'


def measure(ptlc, name):
    """The median on this processor in microseconds, or the reason for none."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{name}.ptl"
        path.write_text(bench_block(name))
        done = subprocess.run([ptlc, "bench", "--json", path], capture_output=True, text=True)
    if done.returncode:
        return next((line for line in done.stderr.splitlines() if "error" in line), "error: no time")
    return json.loads(done.stdout)[0]["median_ns"] / 1000


def shown(result):
    if isinstance(result, str):
        return re.match(r"error(?:\[(\w+)\])?", result)[1] or "none"
    if isinstance(result, float):
        return f"{result / 1000:,.1f} ms"
    us, least, by = result
    far = us / least
    return f"{us:,.0f} µs, " + (f"**{far:.1f}**" if far > TOO_FAR else f"{far:.1f}") + f" × {by}"


def table(ptlc, names, with_cpu):
    lines = ["| program | lengths on chips | " + " | ".join(CHIPS) + (" | lengths on the CPU | CPU |" if with_cpu else " |"),
             "|---|---|" + "---|" * (len(CHIPS) + 2 * with_cpu)]  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        predicted = {name: [pool.submit(predict, ptlc, name, chip) for chip in CHIPS] for name in names}
    for name in names:
        title, words, on_cpu, values = ROWS[name]
        results = [each.result() for each in predicted[name]]
        for chip, result in zip(CHIPS, results):
            if isinstance(result, str):
                print(f"{name} on {chip}: {result}", file=sys.stderr)
        given = "".join(f" {key}={value}" for key, value in values.items())
        cells = [f"[`{name}`](../examples/models/{name}.ptl): {title}", f"`{words}{given}`", *map(shown, results)]
        if with_cpu:
            time = measure(ptlc, name)
            if isinstance(time, str):
                print(f"{name} on the CPU: {time}", file=sys.stderr)
            cells += [f"`{on_cpu}`", shown(time)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_times_of(page, text):
    """The table with the last two cells of the rows of the page, which are about the CPU."""
    kept = {row.split("|")[1]: row.rsplit("|", 3)[1:3] for row in page.splitlines() if row.startswith("|")}
    lines = []
    for row in text.splitlines():
        lines.append(row + "|".join(kept[row.split("|")[1]]) + "|")
    return "\n".join(lines)


def main():
    words = sys.argv[1:]
    ptlc = str(pathlib.Path(words.pop(0)).resolve() / "bin" / "ptlc")
    names = [name for name in ROWS if name in words] or list(ROWS)
    text = table(ptlc, names, "--no-cpu" not in words)
    print(text)
    if "--write" in words:
        page = PAGE.read_text()
        begin, end = page.index(MARKERS[0]) + len(MARKERS[0]), page.index(MARKERS[1])
        if "--no-cpu" in words:
            text = with_times_of(page[begin:end], text)
        PAGE.write_text(f"{page[:begin]}\n{text}\n{page[end:]}")


if __name__ == "__main__":
    main()
