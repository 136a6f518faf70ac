"""Random programs in element types of few bits, beside the arithmetic of Python: integers of 4 to 64 bits that wrap, shift, saturate and are ordered,
and 8-bit and 4-bit floats that are converted, moved and chosen. `short_types.py BUILD [FIRST COUNT [integers|floats]]`."""
import pathlib
import random
import sys
import tempfile

import numpy as np
from harness import Case, Tools, run_cases
from short_floats import TABLES, rounded

CHIPS = [["--target", chip, "--sim"] for chip in ("a2", "a3", "a5")]
# `a2` and `a3` have no 8-bit floats.
EXECUTORS = {"integers": [["--target", "cpu"], ["--target", "reference"], *CHIPS], "floats": [["--target", "cpu"], ["--target", "reference"], CHIPS[-1]]}
INTEGERS = {
    "i4": np.int8, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
}
FLOATS = {"f16": np.float16, "f32": np.float32}
ROUNDINGS = {"even": np.rint, "zero": np.trunc, "down": np.floor, "up": np.ceil, "away": lambda x: np.sign(x) * np.floor(abs(x) + 0.5)}
COMPARED = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def limits(element):
    bits = int(element[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if element[0] == "i" else (0, (1 << bits) - 1)


def wrapped(element, values):
    """Integers of Python modulo the width of the type."""
    low, high = limits(element)
    return each(lambda v: (v - low) % (high - low + 1) + low, np.asarray(values, dtype=object)).astype(INTEGERS[element])


def each(function, *arrays):
    """A function of integers of Python, for each element."""
    arrays = [np.asarray(array).astype(object) for array in arrays]
    return np.vectorize(lambda *v: function(*map(int, v)), otypes=[object])(*arrays)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted(a, count, bits, is_left):
    if is_left:
        return a << count if count < bits else 0
    return a >> min(count, bits)


class Drawn:
    """A program or a kernel of rows, its arguments, and its results. Axes are `A` and `W`, which is even, so that packed types have whole bytes."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.given, self.parameters, self.lines, self.values = {}, [], [], []
        # A kernel goes by so many rows at a time, and each of its operations stays within a row.
        self.rows = self.random.choice([0, 0, 1, 4, 16])
        self.lengths = {"A": self.random.choice([3, 5, 7, 17, 33]), "W": self.random.choice([4, 8, 30, 32, 64, 96, 130])}

    def named(self, shape):
        names = {length: name for name, length in self.lengths.items()} | {2 * length: f"2 * {name}" for name, length in self.lengths.items()} | {1: "1"}
        return ", ".join(names[length] for length in shape)

    def parameter(self, element, values):
        """Another parameter with these elements, and what it means as a value."""
        name = f"p{len(self.given)}"
        self.parameters.append(f"{name}: {element}[{self.named(values.shape)}]")
        self.given[name] = stored(element, values)
        if self.rows:
            name += "[:]" if values.ndim == 1 else "[0:1, :]" if len(values) == 1 else "[r, :]"
        self.values.append((name, element, values))

    def let(self, element, text, values):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    let {name} = {text}")
        self.values.append((name, element, values))

    def some_shape(self):
        a, w = self.lengths["A"], self.lengths["W"]
        return self.random.choice([(a, w), (a, w), (a, w), (1, w), (w,)])

    def like(self, element, fits):
        """A value of this type, of those whose shape is right."""
        return self.random.choice([value for value in self.values if value[1] == element and fits(value[2].shape)])

    def broadcast_with(self, shape):
        def fits(other):
            return all(a == b or 1 in (a, b) for a, b in zip(shape[::-1], other[::-1]))
        return fits

    def finish(self):
        """The last value and another one are the results."""
        values = self.values
        if self.rows:  # what is the same for all rows is no result of theirs
            values = [value for value in values if value[2].ndim == 2 and len(value[2]) == self.lengths["A"]]
            values = values or [self.of_all_rows()]
        chosen = {value[0]: value for value in (values[-1], self.random.choice(values))}
        self.wanted, results = {}, []
        for name, element, values in chosen.values():
            result = f"y{len(self.wanted)}"
            if element in ("i4", "f4e2m1") and (values.ndim == 0 or values.shape[-1] not in (self.lengths["W"], 2 * self.lengths["W"])):
                element = "i8" if element == "i4" else "f32"  # no whole bytes
                name = f"{element}({name})"
            self.lines.append(f"    {result}{'[r, :]' if self.rows else ''} = {name}")
            results.append(f"{result}: {element}[{self.named(values.shape)}]")
            self.wanted[result] = (element, values)
        body = "\n".join(self.lines)
        kind, loop, end = ("kernel drawn[A, static W]", f"    parallel r in tiles(A, {self.rows}) {{\n", "    }\n") if self.rows else ("program drawn[A, W]", "", "")
        self.text = f"{kind}({', '.join(self.parameters)}) -> ({', '.join(results)})\nwhere W % 2 == 0\n{{\n{loop}{body}\n{end}}}\n"

    def of_all_rows(self):
        """A parameter that has all rows."""
        self.parameter("i32", np.arange(self.lengths["A"] * self.lengths["W"], dtype=np.int32).reshape(self.lengths["A"], -1))
        return self.values[-1]

    def moved(self, name, element, values):
        """What only moves elements."""
        form = self.random.choice(["joined", "alternating"] if self.rows else ["turned", "joined", "reversed", "last", "alternating"])
        if form == "turned":
            self.let(element, f"{name}.T", values.T)
        elif form == "reversed" and values.shape[0] == self.lengths["A"]:
            self.let(element, f"{name}[A - 1 - index(0..A), :]", values[::-1])
        elif form == "last" and values.shape[0] == self.lengths["A"]:
            self.let(element, f"{name}[A - 1:A, :]", values[-1:])
        elif form == "joined" and set(values.shape) <= set(self.lengths.values()):
            other, axis = self.like(element, lambda shape: shape == values.shape), 1 if self.rows else self.random.randrange(2)
            self.let(element, f"concat({name}, {other[0]}, axis: {axis})", np.concatenate([values, other[2]], axis))
        elif form == "alternating" and values.shape[1] == self.lengths["W"]:
            other = self.like(element, lambda shape: shape == values.shape)
            self.let(element, f"interleave({name}, {other[0]})", np.stack([values, other[2]], axis=2).reshape(len(values), -1))


class DrawnIntegers(Drawn):
    def __init__(self, seed):
        super().__init__(seed)
        for element in self.random.sample([*INTEGERS], self.random.choice([1, 2])) + ["i4"] * self.random.choice([0, 1, 2]):
            low, high = limits(element)
            shape, some = self.some_shape(), [low, high, 0, 1, low + 1, high - 1, high // 2, 3, 7]
            drawn = [self.random.randint(max(low, -9), min(high, 9)) if self.random.random() < 0.5 else self.random.choice(some) for _ in range(int(np.prod(shape)))]
            self.parameter(element, np.array(drawn, dtype=object).reshape(shape).astype(INTEGERS[element]))
        forms = [self.computed, self.computed, self.computed, self.compared, self.converted, self.converted, self.scaled, self.folded, self.of_one, self.shifts, self.placed]
        for _ in range(self.random.randint(3, 8)):
            self.random.choice(forms)(*self.random.choice(self.values))
        self.finish()

    def computed(self, name, element, a):
        other, _, b = self.like(element, self.broadcast_with(a.shape))
        form = self.random.choice(["+", "-", "*", "&", "|", "^", "max", "min", "/", "%", "select"])
        if form in ("max", "min"):
            self.let(element, f"{form}({name}, {other})", (np.maximum if form == "max" else np.minimum)(a, b))
        elif form == "select":
            self.let(element, f"select({name} > {other}, {name}, {other} ^ {name})", np.where(a > b, a, a ^ b))
        elif form in ("/", "%"):
            divisor = b | INTEGERS[element](1)
            whole = wrapped(element, each(quotient, a, divisor))
            rest = wrapped(element, each(lambda x, d, q: x - d * q, a, divisor, whole))
            self.let(element, f"{name} {form} ({other} | 1)", whole if form == "/" else rest)
        else:
            operation = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y}
            self.let(element, f"{name} {form} {other}", wrapped(element, each(operation[form], a, b)))

    def compared(self, name, element, a):
        other, _, b = self.like(element, self.broadcast_with(a.shape))
        form, to = self.random.choice([*COMPARED]), self.random.choice([*INTEGERS])
        self.let(to, f"{to}({name} {form} {other})", COMPARED[form](a, b).astype(INTEGERS[to]))

    def converted(self, name, element, a):
        to = self.random.choice([*INTEGERS, "i4", "i4"])
        if self.random.random() < 0.4:
            low, high = limits(to)
            self.let(to, f"{to}({name}, saturate: true)", each(lambda x: min(max(x, low), high), a).astype(INTEGERS[to]))
        else:
            self.let(to, f"{to}({name})", wrapped(to, a))

    def scaled(self, name, element, a):
        """By way of a float, which holds these integers and the products exactly."""
        real = self.random.choice([*FLOATS])
        if int(element[1:]) > (16 if real == "f32" else 8):
            return
        scale, mode, to = self.random.choice(["0.5", "0.25", "3.0", "-1.5"]), self.random.choice([*ROUNDINGS]), self.random.choice(["i4", "i8", "u8", "i16", "i32"])
        whole = ROUNDINGS[mode]((a.astype(FLOATS[real]) * FLOATS[real](scale)).astype(np.float64))
        saturate = self.random.choice(["", ", saturate: true"])
        self.let(to, f"{to}({real}({name}) * {real}({scale}), round: .{mode}{saturate})", np.clip(whole, *limits(to)).astype(INTEGERS[to]))

    def folded(self, name, element, a):
        axis = a.ndim - 1 if self.rows else self.random.randrange(a.ndim)
        form = self.random.choice(["sum", "max", "min", "argmax", "argmin", "cumsum", "cummax", "cummin"])
        text = f"{form}({name}, axis: {axis})"
        if form == "sum":
            self.let(element, text, wrapped(element, a.astype(object).sum(axis=axis, keepdims=True)))
        elif form == "cumsum":
            self.let(element, text, wrapped(element, a.astype(object).cumsum(axis=axis)))
        elif form.startswith("cum"):
            self.let(element, text, (np.maximum if form == "cummax" else np.minimum).accumulate(a, axis=axis))
        else:
            result = getattr(a, form)(axis=axis, keepdims=True)
            self.let("i32" if form.startswith("arg") else element, text, result.astype(np.int32) if form.startswith("arg") else result)

    def of_one(self, name, element, a):
        form = self.random.choice(["-", "abs", "sign", "constant"])
        if form == "constant":
            low, high = limits(element)
            number = self.random.choice([low + 1, high, 1, 2, high // 2])
            self.let(element, f"{name} * ({number}) + ({number})", wrapped(element, each(lambda x: x * number + number, a)))
        elif form == "sign":
            self.let(element, f"sign({name})", np.sign(a).astype(a.dtype))
        elif element[0] == "i":
            self.let(element, f"-{name}" if form == "-" else f"abs({name})", wrapped(element, each(lambda x: -x if form == "-" or x < 0 else x, a)))

    def shifts(self, name, element, a):
        bits, is_left = int(element[1:]), self.random.random() < 0.5
        other, _, b = self.like(element, self.broadcast_with(a.shape))
        text, counts = f"({other} & 3)", b & INTEGERS[element](3)
        if self.random.random() < 0.5:
            count = min(self.random.choice([0, 1, bits // 2, bits - 1, bits]), limits(element)[1])
            text, counts = str(count), np.full_like(a, count)
        self.let(element, f"{name} {'<<' if is_left else '>>'} {text}", wrapped(element, each(lambda x, n: shifted(x, n, bits, is_left), a, counts)))

    def placed(self, name, element, a):
        if a.ndim != 2:
            return
        form = self.random.choice(["moved", "moved", "sorted", "gathered"])
        if form == "moved":
            self.moved(name, element, a)
        elif form == "sorted":
            self.let(element, f"sort({name}, axis: 1)", np.sort(a, axis=1))
        elif a.shape[1] == self.lengths["W"]:
            places = self.numbers.integers(0, a.shape[1], a.shape).astype(np.int32)
            self.parameter("i32", places)
            at = f"min(max({self.values[-1][0]}, 0), W - 1)"
            self.let(element, f"gather({name}, {at}, axis: 1)", np.take_along_axis(a, places.astype(np.int64), 1))


class DrawnFloats(Drawn):
    """Values of 8-bit and 4-bit floats are held in doubles, which have all of them."""

    def __init__(self, seed):
        super().__init__(seed)
        for _ in range(self.random.choice([1, 2, 3])):
            element, shape = self.random.choice([*TABLES, "f8e5m2", "f32", "f16"]), self.some_shape()
            if element in TABLES:
                values = TABLES[element][self.numbers.integers(0, len(TABLES[element]), shape)]
            else:
                values = rounded(element, self.numbers.normal(size=shape) * self.random.choice([1, 1e-3, 100, 3e4]))
                values.reshape(-1)[:3] = [np.nan, np.inf, -np.inf]
            self.parameter(element, values)
        for _ in range(self.random.randint(2, 6)):
            self.random.choice([self.converted, self.converted, self.computed, self.placed, self.chosen, self.of_one])(*self.random.choice(self.values))
        self.finish()

    def converted(self, name, element, a):
        to = self.random.choice([*TABLES, *FLOATS, "f32"])
        if (element, to) != ("f8e8m0", "f16"):  # most powers of two are beyond it
            self.let(to, f"{to}({name})", a if to == element else rounded(to, a))

    def computed(self, name, element, a):
        """In `f32`: executors may keep more digits of shorter types between operations."""
        if element != "f32":
            self.let("f32", f"f32({name})", a)
            name, element, a = self.values[-1]
        other, _, b = self.like(element, self.broadcast_with(a.shape))
        operation = self.random.choice("+-*")
        with np.errstate(all="ignore"):
            value = {"+": np.add, "-": np.subtract, "*": np.multiply}[operation](a.astype(np.float32), b.astype(np.float32))
        self.let(element, f"{name} {operation} {other}", value.astype(np.float64))

    def of_one(self, name, element, a):
        """One operation whose result the type has."""
        if element in ("f8e4m3", "f8e5m2"):
            form = self.random.choice(["-", "abs"])
            self.let(element, f"-{name}" if form == "-" else f"abs({name})", -a if form == "-" else abs(a))

    def chosen(self, name, element, a):
        other = self.like(element, lambda shape: shape == a.shape)
        by = self.random.choice([value for value in self.values if value[2].shape == a.shape])
        self.let(element, f"select(f32({by[0]}) > f32(0.5), {name}, {other[0]})", np.where(by[2] > 0.5, a, other[2]))

    def placed(self, name, element, a):
        if a.ndim == 2:
            self.moved(name, element, a)


def stored(element, values):
    """The elements as they lie in a file: numbers of four bits in pairs, the first one in the lower bits."""
    codes = values
    if element in TABLES:
        codes = np.array([code_of(element, value) for value in values.reshape(-1)], dtype=np.uint8).reshape(values.shape)
    elif element in FLOATS:
        codes = values.astype(FLOATS[element])
    if element in ("i4", "f4e2m1"):
        codes = codes.astype(np.uint8) & 15
        codes = codes[..., ::2] | codes[..., 1::2] << 4
    return codes


def code_of(element, value):
    table = TABLES[element]
    is_it = np.isnan(table) if np.isnan(value) else (table == value) & (np.signbit(table) == np.signbit(value))
    return int(np.flatnonzero(is_it)[0])


def values_of(element, array):
    """What the elements of a result stand for."""
    if element in ("i4", "f4e2m1"):
        codes = array.view(np.uint8)
        codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(*array.shape[:-1], -1)
        array = (codes ^ 8).astype(np.int8) - 8 if element == "i4" else codes
    return TABLES[element][array.view(np.uint8)] if element in TABLES else array


def is_same(got, wanted):
    if got.shape != wanted.shape:
        return False
    if got.dtype.kind != "f":
        return np.array_equal(got, wanted)
    numbers = ~np.isnan(wanted)
    return np.array_equal(got, wanted, equal_nan=True) and np.array_equal(np.signbit(got)[numbers], np.signbit(wanted)[numbers])


def problem(tools, drawn, folder, executor):
    """What is wrong with a run; nothing if all is well."""
    lengths = [word for name, length in drawn.lengths.items() for word in ("-D", f"{name}={length}")]
    given = [f"{name}=@{folder / name}.npy" for name in drawn.given]
    ended = tools.run("run", folder / "drawn.ptl", *executor, *lengths, *given, *(word for name in drawn.wanted for word in ("-o", f"{name}={folder / name}.npy")))
    if ended.code != 0:
        return f"exit code {ended.code}: {ended.stderr}"
    for name, (element, wanted) in drawn.wanted.items():
        got = values_of(element, np.load(folder / f"{name}.npy"))
        if not is_same(got, wanted):
            return f"{name} differs:\n{got}\nwanted:\n{wanted}"
    return None


def run(tools, kind, seed):
    drawn = (DrawnIntegers if kind == "integers" else DrawnFloats)(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "drawn.ptl").write_text(drawn.text)
        for key, value in drawn.given.items():
            np.save(folder / f"{key}.npy", value)
        for executor in EXECUTORS[kind]:
            if text := problem(tools, drawn, folder, executor):
                return f"{' '.join(executor)}: {text}\n{drawn.text}\n{drawn.given}"
    return None


def main():
    build, first, count = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:4] or (0, 30))
    tools = Tools(build)
    seeds = range(first, first + count)
    return run_cases("short_types", [Case(f"short_types/{kind}/{seed}", lambda k=kind, s=seed: run(tools, k, s)) for seed in seeds for kind in EXECUTORS if kind in (sys.argv[4:] or EXECUTORS)])


if __name__ == "__main__":
    sys.exit(main())
