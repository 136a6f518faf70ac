"""What the table of support tries of statements that data decides, and of updates that say what they replaced: for each level
the head of a callable behind its name, and its body. What a kernel of a level does beside them is in `VALUE`."""

# What is added up at each level: of rows `r` of `x`.
VALUE = {"tensor": "sin(x)", "vector": "sin(x[r, :])", "mixed": "a[r, :] @ m[:, :]", "cube": ""}
FACTORS = "a: f16[R, 16], m: f16[16, 24]"


class Control:
    """`body` changes `acc`, with `{x}` as rows of `x`, `{value}` as what is added, and `{rows}` as how many. `takes`: further parameters."""

    def __init__(self, title, body, takes="", where=""):
        self.title, self.body, self.takes, self.where = title, body, takes, where

    def text(self, name: str, level: str) -> str:
        tensor = level == "tensor"
        fields = {"x": "x" if tensor else "x[r, :]", "value": VALUE[level], "rows": "R" if tensor else "r"}
        given = ["x: f32[R, 24]"] if level != "mixed" or "{x}" in self.body else []
        given += [FACTORS] if level == "mixed" else []
        parameters = ", ".join(given + ([self.takes] if self.takes else []))
        where = f"\nwhere {self.where}" if self.where else ""
        lines = ["var acc = zeros(f32[{rows}, 24])", *self.body.strip("\n").split("\n")]
        if tensor:
            body = "".join(f"    {line.format(**fields)}\n" for line in [*lines, "return acc"])
            return f"fn {name}[R]({parameters}) -> f32[R, 24]{where}\n{{\n{body}}}\n"
        body = "".join(f"        {line.format(**fields)}\n" for line in [*lines, "y[r, :] = acc"])
        return f"kernel {name}[R]({parameters}) -> (y: f32[R, 24]){where}\n{{\n    parallel r in tiles(R, 16) {{\n{body}    }}\n}}\n"


class Update:
    """Each element of `n` is updated by one iteration; what it was is kept."""

    def __init__(self, operation: str):
        self.title = f"`{operation}`"
        self.operation = operation

    def text(self, name: str, level: str) -> str:
        value = "i32(acc[k], round: .down)" if level == "mixed" else "x[r, k]"
        made = "        let acc = clamp((a[r, :] @ m[:, :]) * 4.0, -99.0, 99.0)\n" if level == "mixed" else ""
        more = FACTORS if level == "mixed" else "x: i32[R, 24]"
        return (
            f"kernel {name}[R](n: inout i32[R, 24], {more}) -> (y: i32[R, 24])\n{{\n    parallel r in 0..R {{\n{made}        for k in 0..24 {{\n"
            f"            let old = {self.operation}(inout n[r, k], {value})\n            y[r, k] = old\n        }}\n    }}\n}}\n"
        )


CONTROL = {
    "if_tile": Control("`if` on a tile", "if max({x}) > 1.5 {{ acc += {value} }} else {{ acc = acc - 1.0 }}"),
    "if_element": Control("`if` on an element of an array", "if n[0] > 0 {{ acc += {value} }}", "n: i32[1]"),
    "if_in_loop": Control("`if` on a tile that a loop carries", "for k in 0..3 {{\n    if max(acc) < f32(k) {{ acc += {value} }}\n}}"),
    "bound_tile": Control("the end of a loop, from a tile", "let n = int(clamp(max({x}) * 2.0, 0.0, 4.0), round: .down)\nfor _k in 0..n {{ acc += {value} }}", where="R >= 1"),
    "bound_element": Control("the end of a loop, from an array", "for _k in 0..int(clamp(n[0], 0, 4)) {{ acc += {value} }}", "n: i32[1]"),
    "while_tile": Control("`while` on a tile", "var turns = 0\nwhile max(abs(acc)) < 3.0 and turns < 4 {{\n    acc += {value}\n    turns += 1\n}}"),
    "break_tile": Control("`break` on a tile", "for _k in 0..4 {{\n    acc += {value}\n    if max(acc) > 2.0 {{ break }}\n}}"),
    "continue_element": Control("`continue` on an element of an array", "for k in 0..4 {{\n    if n[k] < 0 {{ continue }}\n    acc += {value}\n}}", "n: i32[4]"),
    "position_element": Control("a position from an array", "let p = int(clamp(n[0], 0, 8))\nacc = {value} * sum(w[p:p + 16])", "n: i32[1], w: f32[24]"),
    "position_tile": Control("a position from a tile", "let p = int(argmax(sum({x}, axis: 0, keep: false), axis: 0)[0])\nacc = {value} * w[p]", "w: f32[24]"),
    **{name: Update(name) for name in ("fetch_add", "fetch_max", "fetch_min")},
}


def control_cells(level: str) -> dict[str, str]:
    """The texts by name; updates are statements of kernels."""
    if level == "cube":
        return {}
    return {
        f"control_{name}__{level}": row.text(f"control_{name}__{level}", level)
        for name, row in CONTROL.items()
        if level != "tensor" or isinstance(row, Control)
    }
