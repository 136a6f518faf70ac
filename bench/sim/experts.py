"""Plain source, as it stands and after `ptlc tune`, beside what was published of kernels that experts wrote: `experts.py BUILD [--write]`.

Both columns of ours are predicted, for the device of the publication; with --write the table goes into docs/models.md. Of two rows no kernel's
time was published: what is expected of them follows from what was, as `EXPECTED` says.
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
BEGIN, END = "<!-- begin: ./dev bench experts --write -->", "<!-- end: experts -->"
MATMUL = [("examples/04_matmul.ptl", "matmul_f16", {}), ("bench/sim/plain.ptl", "product", {})]
ATTENTION = [("examples/07_flash_attention.ptl", "flash_attention_f16", {"H": 1, "D": 128}), ("bench/sim/plain.ptl", "attention", {"D": 128})]
ROWS = {
    "GEMM 3072": MATMUL,
    "GEMM 6144": MATMUL,
    "attention 2048 x 4096": ATTENTION,
    "attention 2048": ATTENTION,
    "attention 8192": ATTENTION,
}
# A bias and an activation hide behind the product, and hand-written convolutions reach 300 TFLOP/s.
GELU = ("bench/sim/plain.ptl", "product_gelu", {})
CONVOLUTION = ("bench/sim/plain.ptl", "convolution", {})
PIXELS, CHANNELS, RESULTS, TERAFLOPS = 4 * 12 * 64, 256, 3072, 300
EXPECTED = [
    (GELU, {"args": ["M=6144", "N=6144", "K=6144"], "machine": "a2:910b1", "us": 1506.0}),
    (CONVOLUTION, {"args": ["B=4", "H=12", "W=64", f"C={CHANNELS}", f"M={RESULTS}"], "machine": "a2:910b1",
                   "us": 2 * 9 * PIXELS * CHANNELS * RESULTS / TERAFLOPS / 1e6}),
]


def asked(ptlc: pathlib.Path, command: str, *words: object) -> dict:
    done = subprocess.run([ptlc, command, *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def row(ptlc: pathlib.Path, program: tuple, published: dict) -> str:
    file, entry, fixed = program
    sizes = fixed | dict(word.split("=") for word in published["args"])
    words = [ROOT / file, "--entry", entry, "--target", published["machine"], *(f"-D{name}={value}" for name, value in sizes.items())]
    found = asked(ptlc, "tune", *words, "--no-cache")
    # What nothing is faster than was not simulated whole.
    before = found["confirmed"]["default_us"] if "confirmed" in found else asked(ptlc, "sim", *words)["us"]
    after = found["confirmed"]["best_us"] if "confirmed" in found else before
    schedule = found["schedule"].split("{")[1].rstrip(" }").strip()
    lengths = " ".join(f"{name}={value}" for name, value in sizes.items())
    least = published["us"]
    times = f"{before:,.1f} µs, {before / least:.2f} | {after:,.1f} µs, {after / least:.2f} | {least:,.1f} µs"
    return f"| [`{entry}`](../{file}) | `{lengths}` | {published['machine']} | {times} | {f'`{schedule}`' if schedule else 'as it is'} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    known = json.loads((pathlib.Path(__file__).parent / "published.json").read_text())["rows"]
    ptlc = arguments.build.resolve() / "bin/ptlc"
    lines = ["| program | lengths | device | as written | tuned | expert's | schedule |", "|---|---|---|---|---|---|---|"]
    lines += [row(ptlc, program, each) for each in known for program in ROWS.get(each["name"], [])]
    lines += [row(ptlc, program, expected) for program, expected in EXPECTED]
    print("\n".join(lines))
    if arguments.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
