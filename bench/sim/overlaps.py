"""How near estimates come to whole runs where launches overlap: `overlaps.py BUILD_FOLDER [--count N] [--seed S] [--keep FILE] [--most US]`.

Random programs of several launches on a3 and a5: each reads what the program was given, what one before it made, or rows of an array that
others store to, and makes an array of its own or such rows; some are in a loop. Sizes reach from a few tiles to many. Programs whose
estimate is more than a tenth from the whole run are printed as text.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

CHIPS = ("a3", "a5")
FAR = 0.10
ROWS = (64, 256, 1024, 4096)
COLUMNS = (128, 512, 2048, 4096)

# What a launch makes of one array with rows and columns, by name; `{x}` is the array, `{w}` a square factor of its columns.
KINDS = {
    "product": "f16({x} @ {w})",
    "activated": "f16(gelu(f32({x} @ {w})))",
    "elements": "f16(tanh(f32({x})) * 0.5)",
    "rows": "f16(softmax(f32({x})))",
    "sums": "f16(f32({x}) - sum(f32({x}), axis: 0) * 0.001)",
}


class Program:
    """A random program; `text` is its source."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.given, self.lines, self.arrays = [], [], []
        for _ in range(self.random.randint(1, 3)):
            self.add_given(self.random.choice(ROWS), self.random.choice(COLUMNS))
        for _ in range(self.random.randint(2, 6)):
            self.random.choice((self.add_launch, self.add_launch, self.add_parts, self.add_loop))()
        ends = [name for name, _, _ in self.arrays if name.startswith("v")]
        shapes = {name: (rows, columns) for name, rows, columns in self.arrays}
        results = ", ".join(f"out_{name}: f16[{shapes[name][0]}, {shapes[name][1]}]" for name in ends)
        body = "\n".join(self.lines + [f"    out_{name} = {name}" for name in ends])
        self.text = ("import std.nn: gelu, softmax\n\n"
                     f"program overlapping({', '.join(self.given)}) -> ({results})\n{{\n{body}\n}}\n")  # fmt: skip

    def add_given(self, rows, columns):
        name = f"x{len(self.given)}"
        self.given.append(f"{name}: f16[{rows}, {columns}]")
        self.arrays.append((name, rows, columns))
        return self.arrays[-1]

    def factor(self, columns, count=None):
        name = f"w{len(self.given)}"
        self.given.append(f"{name}: f16[{f'{count}, ' if count else ''}{columns}, {columns}]")
        return name if count is None else f"{name}[e, :, :]"

    def value(self, x, columns, count=None):
        kind = self.random.choice(list(KINDS))
        return KINDS[kind].format(x=x, w=self.factor(columns, count) if "{w}" in KINDS[kind] else "")

    def add_launch(self):
        x, rows, columns = self.random.choice(self.arrays)
        name = f"v{len(self.lines)}"
        self.lines.append(f"    let {name} = {self.value(x, columns)}")
        self.arrays.append((name, rows, columns))

    def add_parts(self):
        """Halves of an array that two launches store to, and one reads both."""
        x, rows, columns = self.random.choice(self.arrays)
        name, half = f"v{len(self.lines)}", rows // 2
        self.lines.append(f"    var {name} = zeros(f16[{rows}, {columns}])")
        for begin, end in ((0, half), (half, rows)):
            self.lines.append(f"    {name}[{begin}:{end}, :] = {self.value(f'{x}[{begin}:{end}, :]', columns)}")
        self.arrays.append((name, rows, columns))

    def add_loop(self):
        """Rows that each round computes of other ones."""
        x, rows, columns = self.random.choice(self.arrays)
        count = self.random.choice((4, 8, 16))
        name, part = f"v{len(self.lines)}", rows // count
        self.lines.append(f"    var {name} = zeros(f16[{rows}, {columns}])")
        self.lines.append(f"    for e in 0..{count} {{")
        self.lines.append(f"        {name}[e * {part}:(e + 1) * {part}, :] = {self.value(f'{x}[e * {part}:(e + 1) * {part}, :]', columns, count)}")
        self.lines.append("    }")
        self.arrays.append((name, rows, columns))


def simulate(ptlc, path, chip, *more):
    done = subprocess.run([ptlc, "sim", path, "--entry", "overlapping", "--target", chip, "--json", *more], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def compare(ptlc, seed, chip, kept, most):
    """Time of the whole run and of the estimate; text: why there is none."""
    program, key = Program(seed), f"{seed} {chip}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "overlapping.ptl"
        path.write_text(program.text)
        part = simulate(ptlc, path, chip, "--estimate")
        if isinstance(part, str):
            return part
        estimated = part["costs"][0]["us"]
        if estimated > most:
            return f"estimated at {estimated:.0f} us, too long for a whole run"
        if key not in kept:
            whole = simulate(ptlc, path, chip)
            if isinstance(whole, str):
                return whole
            kept[key] = whole["us"]
    return kept[key], estimated


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="a file that keeps the times of whole runs of one version")
    parser.add_argument("--most", type=float, default=2000, help="no whole run of programs that take longer, in us")
    given = parser.parse_args()
    kept = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    ptlc, errors = given.build.resolve() / "bin" / "ptlc", []
    for seed in range(given.seed, given.seed + given.count):
        for chip in CHIPS:
            found = compare(ptlc, seed, chip, kept, given.most)
            if isinstance(found, str):
                print(f"{seed:5} {chip}: {next((line for line in found.splitlines() if 'error' in line), found)}", flush=True)
                continue
            whole, estimated = found
            errors.append(abs(estimated / whole - 1))
            print(f"{seed:5} {chip} simulated {whole:9.2f} us, estimated {estimated:9.2f} us, {100 * (estimated / whole - 1):+6.1f} %", flush=True)
            if errors[-1] > FAR:
                print(Program(seed).text)
        if given.keep:
            given.keep.write_text(json.dumps(kept))
    errors.sort()
    if errors:
        print(f"{len(errors)} rows: median {100 * errors[len(errors) // 2]:.1f} %, most {100 * errors[-1]:.1f} %, {sum(error > FAR for error in errors)} beyond a tenth")
    return any(error > FAR for error in errors)


if __name__ == "__main__":
    sys.exit(main())
