"""The library's examples after `ptlc tune`, beside what was published of kernels that experts wrote: `experts.py BUILD [--write]`.

Both columns of ours are predicted, for the device of the publication; with --write the table goes into docs/models.md.
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/models.md"
BEGIN, END = "<!-- begin: ./dev bench experts --write -->", "<!-- end: experts -->"
MATMUL = ("04_matmul.ptl", "matmul_f16", {})
ATTENTION = ("07_flash_attention.ptl", "flash_attention", {"H": 1, "D": 128})
ROWS = {
    "GEMM 3072": MATMUL,
    "GEMM 6144": MATMUL,
    "attention 2048 x 4096": ATTENTION,
    "attention 2048": ATTENTION,
    "attention 8192": ATTENTION,
}


def row(ptlc: pathlib.Path, published: dict) -> str:
    file, entry, fixed = ROWS[published["name"]]
    sizes = fixed | dict(word.split("=") for word in published["args"])
    words = [f"-D{name}={value}" for name, value in sizes.items()]
    path = ROOT / "examples" / file
    command = [ptlc, "tune", path, "--entry", entry, "--target", published["machine"], "--json", "--no-cache", *words]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    before, after = found["confirmed"]["default_us"], found["confirmed"]["best_us"]
    schedule = found["schedule"].split("{")[1].rstrip(" }").strip()
    lengths = " ".join(f"{name}={value}" for name, value in sizes.items())
    times = f"{before:,.1f} µs | {after:,.1f} µs | {published['us']:,.1f} µs | {after / published['us']:.2f}"
    return f"| [`{entry}`](../examples/{file}) | `{lengths}` | {published['machine']} | {times} | `{schedule}` |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    known = json.loads((pathlib.Path(__file__).parent / "published.json").read_text())["rows"]
    lines = ["| program | lengths | device | as written | tuned | expert's | tuned / expert's | schedule |", "|---|---|---|---|---|---|---|---|"]
    lines += [row(arguments.build.resolve() / "bin/ptlc", each) for each in known if each["name"] in ROWS]
    print("\n".join(lines))
    if arguments.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
