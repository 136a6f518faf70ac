"""Positions that are data, some of them out of bounds, and positions of ranges, drawn at random: every executor gives what NumPy gives, or all stop with E0805.
`positions.py BUILD [FIRST COUNT]`."""
import pathlib
import random
import sys
import tempfile

import numpy as np
from harness import Case, Tools, run_cases

EXECUTORS = (["--target", "cpu"], ["--target", "reference"], *(["--target", chip, "--sim"] for chip in ("a2", "a3", "a5")))
ELEMENTS = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}
POSITIONS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
# Beside the ends of an axis: what becomes a position of the axis where a word of 8, 16 or 32 bits is too short.
FAR = [-1, -5, 127, -128, 255, 2**15, 2**16 + 1, -(2**31), 2**31 - 1, 2**32 - 1, 2**32 + 3, 2**40, -(2**63), 2**63 - 1]
COMBINED = {"set": None, "add": np.add, "max": np.maximum, "min": np.minimum}


class Drawn:
    """A program, its arguments, and its result: none where a position is out of bounds."""

    def __init__(self, seed: int):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.element, self.position = self.random.choice([*ELEMENTS]), self.random.choice([*POSITIONS, "i32", "i32", "i64"])
        form = self.random.choice([self.gathered, self.gathered, self.scattered, self.scattered, self.indexed, self.clamped, self.chosen, self.of_tiles, self.of_ranges])
        form()

    def integers(self, low, high, shape, element):
        return self.numbers.integers(low, high, shape).astype(element)

    def shapes(self):
        """The names and lengths of the array's axes and of the positions' ones, and the axis that they are of."""
        rank = self.random.choice([1, 1, 2, 2, 3])
        axis = self.random.randrange(rank)
        lengths = [self.random.choice([1, 2, 5, 7, 33, 64, 100, 200] if rank < 3 else [1, 2, 7, 33]) for _ in range(rank)]
        if self.random.random() < 0.05:
            lengths[axis] = 0
        names = [f"D{i}" for i in range(rank)]
        count = self.random.choice([1, 3, 8, 40, 129]) if self.random.random() < 0.95 else 0
        places = [count if i == axis else length for i, length in enumerate(lengths)]
        return axis, names, lengths, ["K" if i == axis else name for i, name in enumerate(names)], places

    def positions(self, length, shape):
        """Positions of an axis, in four of ten cases one of them out of bounds; and whether all lie within."""
        limits, kind = np.iinfo(POSITIONS[self.position]), POSITIONS[self.position]
        drawn = self.integers(0, max(min(length, limits.max + 1), 1), shape, kind)
        beyond = [p for p in [length, length + 1, *FAR] if limits.min <= p <= limits.max and not 0 <= p < length]
        if drawn.size and beyond and self.random.random() < 0.4:
            drawn.reshape(-1)[self.random.randrange(drawn.size)] = self.random.choice(beyond)
            return drawn, False
        return drawn, drawn.size == 0 or length > 0

    def requirement(self, length, name):
        """What is sometimes known of the positions, in a type that holds the length."""
        limits = np.iinfo(POSITIONS[self.position])
        if self.random.random() > 0.25 or length > limits.max:
            return ""
        return f"where all(p < {name})" if limits.min == 0 else f"where all(p >= 0), all(p < {name})"

    def array(self, name, names, lengths):
        self.given[name] = self.integers(-8, 9, lengths, ELEMENTS[self.element])
        return f"{name}: {self.element}[{', '.join(names)}]"

    def program(self, dims, parameters, result, value, requirement=""):
        names = ", ".join(dict.fromkeys(dims))
        self.text = f"program drawn[{names}]({', '.join(parameters)}) -> (y: {self.element}[{', '.join(result)}])\n{requirement}\n{{\n    y = {value}\n}}\n"

    def start(self):
        """The parameters `x` and `p` of a program, and what is known of both."""
        self.given = {}
        axis, names, lengths, of_places, places = self.shapes()
        x = self.array("x", names, lengths)
        self.given["p"], is_within = self.positions(lengths[axis], places)
        p = f"p: {self.position}[{', '.join(of_places)}]"
        return axis, names, lengths, of_places, places, [x, p], is_within

    def gathered(self):
        axis, names, lengths, of_places, places, parameters, is_within = self.start()
        value, taken = f"gather(x, p, axis: {axis})", None
        if is_within:
            taken = np.take_along_axis(self.given["x"], self.given["p"].astype(np.int64), axis)
        how = self.random.choice(["alone", "twice", "chosen"])
        if how == "twice":
            value = f"{value} + gather(x * {self.element}(2), p, axis: {axis})"
            taken = taken * taken.dtype.type(3) if is_within else None
        if how == "chosen":  # what is not chosen is checked as well
            parameters.append(self.array("v", of_places, places))
            value = f"select(v > {self.element}(0), {value}, v)"
            taken = np.where(self.given["v"] > 0, taken, self.given["v"]) if is_within else None
        self.wanted = taken
        self.program([*names, "K"], parameters, of_places, value, self.requirement(lengths[axis], names[axis]))

    def scattered(self):
        axis, names, lengths, of_places, places, parameters, is_within = self.start()
        parameters.append(self.array("v", of_places, places))
        combine = self.random.choice([*COMBINED])
        self.wanted = self.combined(axis, combine) if is_within else None
        self.program([*names, "K"], parameters, names, f"scatter(x, p, v, axis: {axis}, combine: .{combine})", self.requirement(lengths[axis], names[axis]))

    def combined(self, axis, combine):
        result = self.given["x"].copy()
        rows, places, values = (np.moveaxis(each, axis, 0) for each in (result, self.given["p"].astype(np.int64), self.given["v"]))
        for count in range(len(places)):
            for rest in np.ndindex(places.shape[1:]):
                at, new = (places[(count, *rest)], *rest), values[(count, *rest)]
                rows[at] = COMBINED[combine](rows[at], new) if COMBINED[combine] else new
        return result

    def indexed(self):
        self.given = {}
        length, count, width = self.random.choice([0, 1, 5, 33, 200]), self.random.choice([0, 1, 8, 129]), self.random.choice([1, 7, 65])
        x = self.array("x", ["N", "C"], [length, width])
        self.given["p"], is_within = self.positions(length, [count])
        self.wanted = self.given["x"][self.given["p"].astype(np.int64)] if is_within else None
        self.program("NCK", [x, f"p: {self.position}[K]"], "KC", "x[p, :]", self.requirement(length, "N"))

    def clamped(self):
        """Positions without a check: what makes them keeps them within."""
        self.given, self.position = {}, self.random.choice(["i16", "i32", "i64"])
        length, count = self.random.choice([1, 5, 33, 200]), self.random.choice([0, 1, 8, 129])
        x = self.array("x", ["N"], [length])
        self.given["p"] = self.integers(-300, 300, [count], POSITIONS[self.position])
        self.wanted = self.given["x"][self.given["p"].astype(np.int64).clip(0, length - 1)]
        value = self.random.choice(["gather(x, min(max(p, 0), N - 1), axis: 0)", "x[max(min(p, N - 1), 0)]", "gather(x, transpose(reshape(min(max(p, 0), N - 1), [1, K])[:, :])[:, 0], axis: 0)"])
        self.program("NK", [x, f"p: {self.position}[K]"], "K", value, "where N >= 1")

    def chosen(self):
        """Positions that an order gives."""
        self.given = {}
        shape = [self.random.choice([1, 5, 33]), self.random.choice([4, 7, 64, 200])]
        x = self.array("x", "BN", shape)
        ordered = -np.sort(-self.given["x"], axis=1)
        if self.random.random() < 0.5:
            self.wanted = ordered
            self.program("BN", [x], "BN", "gather(x, argsort(x, descending: true), axis: 1)")
            return
        self.wanted = ordered[:, :3] * 2
        self.text = f"program drawn[B, N]({x}) -> (y: {self.element}[B, 3])\nwhere N >= 3\n{{\n    let (v, p) = topk(x, 3)\n    y = gather(x, p, axis: 1) + v\n}}\n"

    def of_tiles(self):
        self.given = {}
        rows, width, count = self.random.choice([1, 5, 33]), self.random.choice([7, 16, 200]), self.random.choice([3, 8, 40])
        x = self.array("x", "RC", [rows, width])
        self.given["p"], is_within = self.positions(width, [rows, count])
        parameters, result, value = [x, f"p: {self.position}[R, K]"], "RK", "gather(x[r, :], p[r, :], axis: 1)"
        if self.random.random() < 0.5:
            combine = self.random.choice([*COMBINED])
            parameters.append(self.array("v", "RK", [rows, count]))
            result, value = "RC", f"scatter(x[r, :], p[r, :], v[r, :], axis: 1, combine: .{combine})"
            self.wanted = self.combined(1, combine) if is_within else None
        else:
            self.wanted = np.take_along_axis(self.given["x"], self.given["p"].astype(np.int64), 1) if is_within else None
        tile = self.random.choice([1, 4, 8])
        self.text = (
            f"kernel drawn[R, static C, static K]({', '.join(parameters)}) -> (y: {self.element}[{', '.join(result)}])\n"
            f"{{\n    parallel r in tiles(R, {tile}) {{\n        y[r, :] = {value}\n    }}\n}}\n"
        )

    def of_ranges(self):
        """`index` of ranges with a step, and of multiples of tiles."""
        self.given = {}
        length, tile = self.random.choice([1, 5, 33, 64, 200]), self.random.choice([1, 4, 8, 64])
        step, first = self.random.choice([1, 2, 3, 5]), self.random.choice([-3, 0, 1, 7])
        x = self.array("x", "N", [length])
        self.wanted = self.given["x"] + (first + step * np.arange(length)).astype(ELEMENTS[self.element])
        positions = lambda of: f"{self.element}(index({of}))"
        if self.random.random() < 0.4:
            self.program("N", [x], "N", "x + " + positions(f"{first}..{first} + {step} * N step {step}"))
            return
        multiple = ("r" if step == 1 else f"{step}*r") + (f" + {first}" if first > 0 else f" - {-first}" if first < 0 else "")
        within = positions(multiple) if self.random.random() < 0.6 else f"{positions(f'0..{step} * r.len step {step}')} + {self.element}({step} * r.start + {first})"
        self.text = (
            f"kernel drawn[N]({x}) -> (y: {self.element}[N])\n"
            f"{{\n    parallel r in tiles(N, {tile}) {{\n        y[r] = x[r] + {within}\n    }}\n}}\n"
        )


def problem(tools, drawn, folder, executor):
    """What is wrong with a run; nothing if all is well."""
    out = folder / "y.npy"
    out.unlink(missing_ok=True)
    given = [f"{name}=@{folder / name}.npy" for name in drawn.given]
    ended = tools.run("run", folder / "drawn.ptl", *executor, *given, "-o", f"y={out}")
    if drawn.wanted is None:
        is_right = ended.code != 0 and "error[E0805]" in ended.stderr
        return None if is_right else f"a position out of bounds ends with {ended.code}: {ended.stderr}"
    if ended.code != 0:
        return f"exit code {ended.code}: {ended.stderr}"
    got = np.load(out)
    return None if np.array_equal(got, drawn.wanted) else f"differs:\n{got}\nwanted:\n{drawn.wanted}"


def run(tools, seed):
    drawn = Drawn(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "drawn.ptl").write_text(drawn.text)
        for key, value in drawn.given.items():
            np.save(folder / f"{key}.npy", value)
        for executor in EXECUTORS:
            if text := problem(tools, drawn, folder, executor):
                return f"{' '.join(executor)}: {text}\n{drawn.text}\n{drawn.given}"
    return None


def main():
    build, first, count = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:] or (0, 60))
    tools = Tools(build)
    return run_cases("positions", [Case(f"positions/{seed}", lambda s=seed: run(tools, s)) for seed in range(first, first + count)])


if __name__ == "__main__":
    sys.exit(main())
