"""What the table of support tries of each operation: an expression of a tile `x` (40 columns), and of others where it has
more operands. `coverage.txt` of the build names the operations; one that has no entry here fails the test."""

COLUMNS = 40


def columns_of(kind, columns: int) -> int:
    """The columns of an operand or a result, where `x` has so many."""
    return kind[1](columns) if callable(kind[1]) else columns if kind[1] == COLUMNS else kind[1]


class Operation:
    """`code`: with `{x}`, and `{name}` for each further operand. `rows`: those that have a row for each of `x`, by name:
    element type and columns. `whole`: those that all tiles read whole, by name: their type. `result`: element type and
    columns; `turned`: rows and columns are exchanged. `takes`: the element type of `x`. `many`: one column is too few for it.
    `one`: the code for one column, if it is another one.
    Columns are those of `x` (`COLUMNS`, in texts `{columns}`), a number, or a function of those of `x`."""

    def __init__(self, code, result=("f32", COLUMNS), takes="f32", rows=None, whole=None, turned=False, many=False, one=""):
        self.code, self.result, self.takes, self.turned, self.many, self.one = code, result, takes, turned, many, one or code
        self.rows, self.whole = rows or {}, whole or {}


F32, I32, BOOL, COLUMN = ("f32", COLUMNS), ("i32", COLUMNS), ("bool", COLUMNS), ("f32", 1)


def of_one(names, code, **more):
    return {name: Operation(code.replace("OP", name), **more) for name in names}


def of_two(table, **more):
    return {name: Operation(code, rows={"z": (more.get("takes", "f32"), COLUMNS)}, **more) for name, code in table.items()}


OPERATIONS = {
    **of_two({"add": "{x} + {z}", "sub": "{x} - {z}", "mul": "{x} * {z}", "div": "{x} / (abs({z}) + 1.0)",
              "rem": "{x} % (abs({z}) + 1.0)", "pow": "abs({x}) ** {z}", "atan2": "atan2({x}, {z})", "copysign": "copysign({x}, {z})",
              "max": "max({x}, {z})", "min": "min({x}, {z})", "maxnan": "maxnan({x}, {z})", "minnan": "minnan({x}, {z})",
              "clamp": "clamp({x}, {z} - 1.0, {z})", "fma": "fma({x}, {z}, {x})"}),
    **of_two({"cdiv": "cdiv({x}, abs({z}) + 1)", "shl": "{x} << ({z} & 3)", "shr": "{x} >> ({z} & 3)", "bit_and": "{x} & {z}",
              "bit_or": "{x} | {z}", "bit_xor": "{x} ^ {z}"}, takes="i32", result=I32),
    **of_two({"and": "{x} > 0.0 and {z} > 0.0", "or": "{x} > 0.0 or {z} > 0.0", "eq": "{x} == {z}", "ne": "{x} != {z}", "lt": "{x} < {z}",
              "le": "{x} <= {z}", "gt": "{x} > {z}", "ge": "{x} >= {z}"}, result=BOOL),
    **of_one(["isnan", "isinf", "isfinite"], "OP({x} / {x})", result=BOOL),
    "not": Operation("not ({x} > 0.5)", BOOL),
    "neg": Operation("-{x}"),
    "select": Operation("select({x} > {z}, {x}, {z} * 2.0)", rows={"z": F32}),
    **of_one(["abs", "sign", "floor", "ceil", "round", "trunc", "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh",
              "tanh", "asinh", "erf", "erfc", "sigmoid"], "OP({x})"),
    **of_one(["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"], "OP(abs({x}) + 0.5)"),
    **of_one(["asin", "acos", "atanh"], "OP({x} * 0.2)"),
    "acosh": Operation("acosh(abs({x}) + 1.5)"),
    "reduce_sum": Operation("sum({x}, axis: -1)", COLUMN),
    "reduce_prod": Operation("prod({x} * 0.8, axis: -1)", COLUMN),
    "reduce_max": Operation("max({x}, axis: -1)", COLUMN),
    "reduce_min": Operation("min({x}, axis: -1)", COLUMN),
    "reduce_mean": Operation("mean({x}, axis: -1)", COLUMN),
    "reduce_argmax": Operation("argmax({x}, axis: -1)", ("i32", 1)),
    "reduce_argmin": Operation("argmin({x}, axis: -1)", ("i32", 1)),
    "reduce_any": Operation("any({x} > 1.9, axis: -1)", ("bool", 1)),
    "reduce_all": Operation("all({x} > -1.9, axis: -1)", ("bool", 1)),
    **of_one(["cumsum", "cummax", "cummin"], "OP({x}, axis: -1)"),
    "cumprod": Operation("cumprod({x} * 0.8, axis: -1)"),
    "scan": Operation("after_steps({x})"),
    "reduce": Operation("all_steps({x})", COLUMN),
    "matmul": Operation("{x} @ {w}", ("f32", 24), whole={"w": "f32[{columns}, 24]"}),
    "einsum": Operation('einsum("{batch}mk,nk->{batch}mn", {x}, {w})', ("f32", 24), whole={"w": "f32[24, {columns}]"}),
    "reshape": Operation("reshape(reshape({x}, [{rows}, 8, 5]), [{rows}, 40])", many=True),
    "transpose": Operation("{x}.T", turned=True),
    "concat": Operation("concat({x}, {z}, axis: -1)", ("f32", lambda c: c + 16), rows={"z": ("f32", 16)}),
    "pad": Operation("pad({x}, 0.5, before: [{none}0, 3], after: [{none}0, 5])", ("f32", lambda c: c + 8)),
    "broadcast": Operation("broadcast({z}, [{rows}, {columns}]) * {x}", rows={"z": ("f32", 1)}),
    "interleave": Operation("interleave({x}, {z})", ("f32", lambda c: 2 * c), rows={"z": F32}),
    "deinterleave": Operation("deinterleaved({x})", ("f32", 20), many=True),
    **of_one(["tril", "triu"], "OP({x})"),
    "gather": Operation("gather({x}, {at}, axis: -1)", ("f32", 9), rows={"at": ("i32", 9)}, one="gather({x}, {at} * 0, axis: -1)"),
    "scatter": Operation("scatter({x}, {at}, {z}, axis: -1, combine: .add)", rows={"at": ("i32", 9), "z": ("f32", 9)},
                         one="scatter({x}, {at} * 0, {z}, axis: -1, combine: .add)"),
    "sort": Operation("sort({x}, axis: -1)"),
    "argsort": Operation("argsort({x}, axis: -1)", I32),
    "topk": Operation("largest({x})", ("f32", 7), many=True),
    "convert": Operation("f16({x})", ("f16", COLUMNS)),
    "bitcast": Operation("bitcast(sign({x}), to: i32)", I32),
    "index": Operation("f32(index(0..{columns})) + {x}"),
    "one_hot": Operation("one_hot(i32(abs({x})[.., 0], round: .down), E: 5)", ("f32", 5)),
    "zeros": Operation("zeros(f32[{rows}, {columns}]) + {x}"),
    "ones": Operation("ones(f32[{rows}, {columns}]) + {x}"),
    "full": Operation("full(f32[{rows}, {columns}], 2.5) + {x}"),
    "philox": Operation("f32(i32(philox(i32({x}, round: .down), 3) >> 8))"),
}
# Functions that the expressions call.
HELPERS = """fn step(a: f32[..], b: f32[..], a2: f32[..], b2: f32[..]) -> (f32[..], f32[..])
where associative
{
    return (a * a2, b * a2 + b2)
}
fn after_steps[C](x: f32[.., C]) -> f32[.., C] {
    let (_p, q) = scan(step, clamp(x, -1.0, 1.0), x * 0.5, start: (1.0, 0.0), axis: -1)
    return q
}
fn all_steps[C](x: f32[.., C]) -> f32[.., 1] {
    let (_p, q) = reduce(step, clamp(x, -1.0, 1.0), x * 0.5, start: (1.0, 0.0), axis: -1)
    return q
}
fn deinterleaved(x: f32[.., 40]) -> f32[.., 20] {
    let (even, odd) = deinterleave(x)
    return even - odd * 2.0
}
fn largest(x: f32[.., 40]) -> f32[.., 7] {
    let (values, places) = topk(x, 7)
    return values + f32(places) * 100.0
}
"""
# What is no expression of tiles: facts about arrays in `where`, loads (the rows "slice" and "transposed" are loads, too), whole
# arrays of random numbers, and effects. `control.py` has updates; products of blocks, which not all machines have, are in `std/mx.ptl`.
ELSEWHERE = {"unique", "sorted", "load", "random", "assert", "print", "expect", "expect_equal", "expect_close", "quantize", "dequantize",
             "scaled_dot"}
