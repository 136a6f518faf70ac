"""Functions, kernels and programs of nested loops and branches that nobody wrote, beside Python: `control_flow.py BUILD_FOLDER [FIRST COUNT]`.

Scalars of `int` are changed by arithmetic that means the same in both languages, by `for`s, `while`s and `if`s up to three deep, which `break`,
`continue` and `return` leave. In every second case arrays are changed, too, where no `return` may stand.
"""

import pathlib
import random
import sys
import tempfile

import numpy as np

from harness import Case, Tools, run_cases
from run_arrays import run_on_arrays

EXECUTORS = (("--target", "cpu"), ("--target", "cpu", "-O0"), ("--target", "reference"), ("--target", "a3", "--sim"), ("--target", "a5", "--sim"))
DEEPEST = 3
# What is done with an array: in the language, and with NumPy.
ON_ARRAYS = (
    ("z + i32({})", "z + ({})"),
    ("max(z, i32({})) - 1", "np.maximum(z, {}) - 1"),
    ("z * 2 - i32({})", "z * 2 - ({})"),
    ("cumsum(z, axis: 0) % 50 + i32({})", "np.fmod(np.cumsum(z, dtype=np.int32), 50) + ({})"),
    ("z - sum(z, axis: 0) % 7 + i32({})", "z - np.fmod(z.sum(dtype=np.int32), 7) + ({})"),
)


class Drawn:
    """Statements as pairs of lines, of the language and of Python; a brace that closes a block has no line there."""

    def __init__(self, seed: int):
        self.dice, self.count = random.Random(seed), 0
        self.on_arrays = seed % 2 == 1
        self.lines = [line for _ in range(3) for line in self.block(["u", "v", "w", "n"], 0, 0)]

    def number(self, names, depth=0) -> str:
        form = self.dice.choice(("leaf", "+", "-", "*", "%", "min", "max"))
        if depth > 2 or form == "leaf":
            return str(self.dice.randrange(-3, 9)) if self.dice.random() < 0.4 else self.dice.choice(names)
        a, b = self.number(names, depth + 1), self.number(names, depth + 1)
        if form == "%":
            return f"({a} % {self.dice.randrange(2, 6)})"
        return f"{form}({a}, {b})" if form in ("min", "max") else f"({a} {form} {b})"

    def condition(self, names) -> str:
        first = f"{self.number(names, 1)} {self.dice.choice(('<', '<=', '>', '>=', '==', '!='))} {self.number(names, 1)}"
        if self.dice.random() < 0.7:
            return first
        return f"({first}) {self.dice.choice(('and', 'or'))} not ({self.number(names, 1)} < {self.number(names, 1)})"

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"_{letter}{self.count}"

    def block(self, names, loops: int, depth: int):
        lines = []
        nested = {"if": self.if_lines, "for": self.for_lines, "while": self.while_lines}
        for _ in range(self.dice.randrange(1, 4)):
            form = self.dice.choice(("assign", "assign", "assign", "if", "for", "while", "leave", "last"))
            if form in nested and depth < DEEPEST:
                lines += nested[form](names, loops, depth)
            elif form == "leave" and loops:
                condition, how = self.condition(names), self.dice.choice(("break", "continue"))
                lines.append((f"if {condition} {{ {how} }}", f"if {condition}: {how}"))
            elif form == "last":
                lines.append(self.last(names))
            else:
                target, value = self.dice.choice("uvw"), self.number(names)
                lines.append((f"{target} = {value} % 1000", f"{target} = {value} % 1000"))
        return lines

    def last(self, names):
        value = self.number(names)
        if not self.on_arrays:
            condition = self.condition(names)
            return f"if {condition} {{ return ({value}) % 97 }}", f"if {condition}: return ({value}) % 97"
        ours, theirs = self.dice.choice(ON_ARRAYS)
        return f"z = ({ours.format(value)}) % 1000", f"z = np.fmod({theirs.format(value)}, 1000).astype(np.int32)"

    def within(self, names, loops, depth):
        return [("    " + a, "    " + b if b else None) for a, b in self.block(names, loops, depth + 1)]

    def if_lines(self, names, loops, depth):
        condition = self.condition(names)
        lines = [(f"if {condition} {{", f"if {condition}:"), *self.within(names, loops, depth)]
        if self.dice.random() < 0.5:
            lines += [("} else {", "else:"), *self.within(names, loops, depth)]
        return [*lines, ("}", None)]

    def for_lines(self, names, loops, depth):
        name, low, step = self.fresh("i"), self.dice.randrange(3), self.dice.choice((1, 1, 2))
        high = self.dice.choice(("4", "n", "5"))
        head = (f"for {name} in {low}..{high} step {step} {{", f"for {name} in range({low}, {high}, {step}):")
        return [head, *self.within([*names, name], loops + 1, depth), ("}", None)]

    def while_lines(self, names, loops, depth):
        name, condition = self.fresh("t"), self.condition(names)
        head = [(f"var {name} = 0", f"{name} = 0"), (f"while {name} < 4 and ({condition}) {{", f"while {name} < 4 and ({condition}):")]
        return [*head, (f"    {name} += 1", f"    {name} += 1"), *self.within([*names, name], loops + 1, depth), ("}", None)]

    def texts(self):
        """The file, and the function in Python."""
        ours = "\n".join("    " + a for a, _ in self.lines)
        theirs = "\n".join("    " + b for _, b in self.lines if b)
        result = "(u + 3 * v + 7 * w) % 1009"
        begin, begin_there = "    var u = a\n    var v = 2\n    var w = 0\n", "    u, v, w = a, 2, 0\n"
        if not self.on_arrays:
            body = self.dice.choice(("parallel", "for"))
            kind = "kernel" if body == "parallel" else "program"
            text = f"fn drawn(a: int, n: int) -> int {{\n{begin}{ours}\n    return {result}\n}}\n\n"
            text += f"{kind} entry[N](x: i32[N], n: int) -> (y: i32[N])\n{{\n    {body} i in 0..N {{ y[i] = i32(drawn(int(x[i]), n)) }}\n}}\n"
            return text, f"def drawn(a, n):\n{begin_there}{theirs}\n    return {result}\n"
        header = "(x: i32[N], a: int, n: int) -> (y: i32[N], s: i32[1])"
        text = f"program entry[N]{header}\n{{\n{begin}    var z = x\n{ours}\n    y = z\n    s[0] = i32({result})\n}}\n"
        return text, f"def drawn(z, a, n):\n{begin_there}{theirs}\n    return z, {result}\n"


def run(tools: Tools, seed: int):
    drawn = Drawn(seed)
    text, python = drawn.texts()
    known = {"np": np}
    exec(python, known)
    x = np.array([drawn.dice.randrange(-9, 30) for _ in range(drawn.dice.randrange(1, 8))], np.int32)
    given, n = {"x": x}, drawn.dice.randrange(6)
    if drawn.on_arrays:
        given["a"] = drawn.dice.randrange(-5, 20)
        y, s = known["drawn"](x.copy(), given["a"], n)
        wanted = {"y": y, "s": np.array([s], np.int32)}
    else:
        wanted = {"y": np.array([known["drawn"](int(a), n) for a in x], np.int32)}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "drawn.ptl"
        path.write_text(text)
        for executor in EXECUTORS:
            got = run_on_arrays(tools, path, "entry", {**given, "n": n}, wanted, executor)
            if not isinstance(got, dict):
                return f"{' '.join(executor)}: exit code {got.code}: {got.stderr}\n{text}"
            for name, values in wanted.items():
                if not np.array_equal(got[name], values):
                    return f"{' '.join(executor)}: `{name}` is {got[name]}, wanted {values}, with {given}, n={n}\n{text}"
    return None


def main():
    build, first, count = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:] or (0, 60))
    tools = Tools(build)
    cases = [Case(f"control_flow/{seed}", lambda s=seed: run(tools, s)) for seed in range(first, first + count)]
    return run_cases("control_flow", cases)


if __name__ == "__main__":
    sys.exit(main())
