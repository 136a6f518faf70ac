"""Programs of several results that are computed from the same values, drawn at random: every executor gives what NumPy gives.
Arguments change on the way, and what was stored is read again. `shared_results.py BUILD [FIRST COUNT]`."""
import pathlib
import random
import sys
import tempfile

import numpy as np
from harness import Case, Tools, run_cases
from run_arrays import run_on_arrays

EXECUTORS = (["--target", "cpu"], *(["--target", chip, "--sim"] for chip in ("a3", "a5")))
CHANGED = "de"  # arguments that are `inout`
LARGEST = 1e5  # Halves of whole numbers up to it are exact.


class Drawn:
    """A program, its arguments and its results. All values are exact, so that every difference counts."""

    def __init__(self, seed: int):
        self.random, numbers = random.Random(seed), np.random.default_rng(seed)
        columns, rows = self.random.choice([1, 7, 33, 300, 1100]), self.random.choice([1, 5, 64, 130, 700])
        self.rank = self.random.choice([1, 2, 2])
        self.dims, shape = ("N", (columns,)) if self.rank == 1 else ("M, N", (rows, columns))
        self.given = {name: numbers.integers(-9, 10, shape).astype("f4") for name in "abcde"}
        self.values = dict(self.given)
        if self.rank == 2:
            self.given["v"] = numbers.integers(-9, 10, columns).astype("f4")
            self.given["w"] = numbers.integers(-9, 10, rows).astype("f4")
        self.lines, self.results = [], {}
        for _ in range(self.random.randrange(3, 12)):
            self.random.choice([self.step, self.step, self.step, self.change])()
        for number in range(self.random.randrange(2, 5)):
            self.result(f"o{number}")
            if self.random.random() < 0.4:
                self.random.choice([self.step, self.change])()
        for name in CHANGED:
            self.results[name] = self.values[name]
        self.text = self.written()

    def pick(self):
        names = list(self.values)
        return self.random.choice(names[-6:] if self.random.random() < 0.8 else names)

    def forms(self, a, b, c):
        """What a step may compute of three values: as text, and by NumPy."""
        x, y, z = (self.values[name] for name in (a, b, c))
        last = self.rank - 1
        forms = [
            (f"{a} + {b}", lambda: x + y),
            (f"{a} - {b}", lambda: x - y),
            (f"min({a}, {b})", lambda: np.minimum(x, y)),
            (f"max({a}, {b})", lambda: np.maximum(x, y)),
            (f"select({a} <= {b}, {c}, {a})", lambda: np.where(x <= y, z, x)),
            (f"abs({a}) - 3.0", lambda: np.abs(x) - 3),
            (f"clamp({a} * {b}, -50.0, 50.0)", lambda: np.clip(x * y, -50, 50)),
            (f"{a} * 0.5 + {b}", lambda: x * np.float32(0.5) + y),
            (self.sorted_text(0, "sort", (a, b, c), "[1, ..]"), lambda: np.sort(np.stack([x, y, z]), 0)[1]),
            (
                f"f32({self.sorted_text(self.rank, 'argsort', (a, b, c), '[.., 0]', ', descending: true')})",
                lambda: np.argsort(-np.stack([x, y, z], -1), -1, kind="stable")[..., 0],
            ),
        ]
        if x.shape[last] > 1:
            first, others = ("0:1", "1:") if self.rank == 1 else (":, 0:1", ":, 1:")
            forms.append((f"concat({a}[{others}], {a}[{first}], axis: {last})", lambda: np.roll(x, -1, last)))
        if self.rank == 2:
            forms += [
                (f"{a} + v[new, :]", lambda: x + self.given["v"]),
                (f"{a} - w[:, new]", lambda: x - self.given["w"][:, None]),
                (f"clamp({a} - max({b}, axis: 1), -60.0, 60.0)", lambda: np.clip(x - y.max(1, keepdims=True), -60, 60)),
                (
                    f"clamp(sum(clamp({a}, -1.0, 1.0), axis: 0) - {b}, -60.0, 60.0)",
                    lambda: np.clip(np.clip(x, -1, 1).sum(0, keepdims=True) - y, -60, 60),
                ),
            ]
        return forms

    def sorted_text(self, axis, name, operands, taken, more=""):
        new = "[new, ..]" if axis == 0 else "[.., new]"
        return f"{name}(concat({', '.join(each + new for each in operands)}, axis: {axis}), axis: {axis}{more}){taken}"

    def step(self):
        text, compute = self.random.choice(self.forms(self.pick(), self.pick(), self.pick()))
        value = compute().astype("f4")
        if np.abs(value).max(initial=0) <= LARGEST:
            name = f"t{len(self.lines)}"
            self.lines.append(f"    let {name} = {text}")
            self.values[name] = value

    def change(self):
        """Another value for an argument, or for its first element or column."""
        name, (text, compute) = self.random.choice(CHANGED), self.random.choice(self.forms(self.pick(), self.pick(), self.pick()))
        value = compute().astype("f4")
        if np.abs(value).max(initial=0) > LARGEST:
            return
        part = self.random.choice(["", "", "[0:1]" if self.rank == 1 else "[:, 0:1]"])
        if part:
            self.lines.append(f"    let t{len(self.lines)} = {text}")
            text, value = f"t{len(self.lines) - 1}{part}", np.concatenate([value[..., :1], self.values[name][..., 1:]], -1)
        self.lines.append(f"    {name}{part} = {text}")
        self.values[name] = value

    def result(self, name):
        a, b = self.pick(), self.pick()
        x, y = self.values[a], self.values[b]
        text, value = self.random.choice([(a, x), (f"{a} + {b}", x + y), (f"{a} * 2.0", x * 2)])
        self.lines.append(f"    {name} = {text}")
        self.results[name] = self.values[name] = value

    def written(self):
        of = f"f32[{self.dims}]"
        parameters = [f"{name}: {of}" for name in "abc"] + [f"{name}: inout {of}" for name in CHANGED]
        parameters += ["v: f32[N]", "w: f32[M]"] if self.rank == 2 else []
        results = [f"{name}: {of}" for name in self.results if name not in CHANGED]
        body = "\n".join(self.lines)
        return f"program drawn[{self.dims}]({', '.join(parameters)}) -> ({', '.join(results)})\n{{\n{body}\n}}\n"


def run(tools, seed):
    drawn = Drawn(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "drawn.ptl"
        file.write_text(drawn.text)
        for how in EXECUTORS:
            got = run_on_arrays(tools, file, "drawn", drawn.given, list(drawn.results), how)
            if not isinstance(got, dict):
                return f"{' '.join(how)} ended with {got.code}: {got.stderr}\n{drawn.text}"
            for name, expected in drawn.results.items():
                if not np.array_equal(got[name], expected):
                    return f"{' '.join(how)} gives another `{name}` at {np.argwhere(got[name] != expected)[:3].tolist()}\n{drawn.text}"
    return None


def main():
    build, first, count = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:] or (0, 25))
    tools = Tools(build)
    cases = [Case(f"shared_results/{seed}", lambda s=seed: run(tools, s)) for seed in range(first, first + count)]
    return run_cases("shared_results", cases)


if __name__ == "__main__":
    sys.exit(main())
