"""The forms in which the table of support tries operations, as PTL: where an operand comes from, at each level."""
from operations import COLUMNS, OPERATIONS, Operation, columns_of

FORMS = {
    "tile": "a tile as it is loaded",
    "slice": "a part of a tile",
    "transposed": "a transposed tile",
    "broadcast": "a column that is repeated",
    "new axis": "an operand with a `new` axis",
    "carried": "what a loop carries",
    "condition": "in an `if` that data decides",
    "batch": "tiles of three axes",
    "one": "a tile of one column",
    "slice of one": "one column of a tile",
    "transposed one": "a row that is transposed",
}
# Forms with one column instead of many.
OF_ONE = {"one": "tile", "slice of one": "slice", "transposed one": "transposed"}
LEVELS = {
    "tensor": "whole arrays, cut by the compiler",
    "vector": "tiles of a kernel, on the vector cores (`aiv`)",
    "mixed": "tiles that are products, so that cube and vector cores take part",
    "cube": "products of what is loaded (`aic`): nothing else runs there",
}
ON_CUBE = {"matmul", "einsum"}


def name_of(operation: str, form: str) -> str:
    return f"{operation}__{form.replace(' ', '_')}"


class Cell:
    """One operation in one form at one level."""

    def __init__(self, operation: str, form: str, level: str):
        self.name, self.form, self.level = name_of(operation, form), OF_ONE.get(form, form), level
        self.columns = 1 if form in OF_ONE else COLUMNS
        self.operation: Operation = OPERATIONS[operation]
        self.batch, self.alone = form == "batch", form == "new axis"
        self.lead = "B, R, " if self.batch else "1, " if self.alone else "R, "
        self.at = "b, r, " if self.batch else "" if self.alone else "r, "
        self.parameters: list[str] = []

    @property
    def is_integer(self) -> bool:
        return self.operation.takes == "i32"

    def parameter(self, name: str, elem: str, *extents) -> str:
        self.parameters.append(f"{name}: {elem}[{', '.join(str(e) for e in extents)}]")
        return name

    def changed(self, value: str) -> str:
        return f"{value} + 1" if self.is_integer else f"{value} * 0.5 + 1.0"

    def source(self, columns=0, turned=False) -> str:
        """A value of so many columns (0: the usual), or so many rows if turned."""
        columns = columns or self.columns
        elem = self.operation.takes
        if self.level == "mixed":
            return self.product(columns, turned)
        extents = [columns, "R"] if turned else [*self.lead.strip(", ").split(", "), columns]
        if self.alone:
            extents = [columns]
        name = self.parameter("x", elem, *extents)
        if self.level == "tensor":
            return name
        loaded = f"x[:, r]" if turned else f"x[{self.at}:]"
        computed = self.form in ("slice", "transposed") and self.level == "vector"
        return f"({loaded} + {'0' if self.is_integer else '0.0'})" if computed else loaded

    def product(self, columns: int, turned: bool) -> str:
        elem = "i8" if self.is_integer else "f16"
        left = ["B", "R", 16] if self.batch else [16] if self.alone else ["R", 16]
        a, m = self.parameter("a", elem, *left), self.parameter("m", elem, 16, columns)
        if turned:
            return f"({m}[:, :].T @ {a}[r, :].T)"
        return f"({a}[{self.at}:] @ {m}[:, :])"

    def operand(self) -> str:
        form = self.form
        if form == "slice":
            cut = f"3:{3 + self.columns}"
            if self.level == "cube":
                return f"{self.parameter('x', self.operation.takes, 'R', 47)}[r, {cut}]"
            return f"{self.source(47)}[:, {cut}]"
        if form == "transposed":
            return self.source(turned=True) + ".T"
        if form == "broadcast":
            column = self.source(1)
            others = [cols for _, cols in self.operation.rows.values()]
            repeats = others == [COLUMNS] and self.operation.result[1] == COLUMNS and "{x}, {z}" not in self.operation.code
            return column if repeats else f"broadcast({column}, [{self.rows}, {COLUMNS}])"
        if self.alone:
            return f"{self.source()}[new, :]"
        return self.source()

    @property
    def rows(self) -> str:
        if self.level == "tensor":
            return self.lead.strip(", ")
        return self.at.strip(", ") or "1"

    def code(self, x: str) -> str:
        fields = {"x": x, "rows": self.rows, "columns": self.columns, "batch": "b" if self.batch else "", "none": "0, " if self.batch else ""}
        tensor = self.level == "tensor"
        for name, kind in self.operation.rows.items():
            if not any(p.startswith(name + ":") for p in self.parameters):
                self.parameter(name, kind[0], self.lead + str(columns_of(kind, self.columns)))
            fields[name] = name if tensor else f"{name}[{self.at or '0..1, '}:]"
        for name, kind in self.operation.whole.items():
            if not any(p.startswith(name + ":") for p in self.parameters):
                self.parameters.append(f"{name}: {kind.format(columns=self.columns)}")
            fields[name] = name if tensor else f"{name}[:, :]"
        code = self.operation.one if self.columns == 1 else self.operation.code
        return code.format(**fields)

    @property
    def result(self) -> str:
        elem, columns = self.operation.result[0], columns_of(self.operation.result, self.columns)
        lead = self.lead.strip(", ")
        if not self.operation.turned:
            return f"{elem}[{lead}, {columns}]"
        first, last = ("B, ", "R") if self.batch else ("", lead)
        return f"{elem}[{first}{columns}, {last}]"

    @property
    def target(self) -> str:
        if not self.operation.turned:
            return f"y[{self.at or ':, '}:]"
        return "y[b, :, r]" if self.batch else "y[:, :]" if self.alone else "y[:, r]"

    def text(self) -> str:
        dims = "[B, R]" if self.batch else "" if self.alone else "[R]"
        body = self.kernel_body() if self.level != "tensor" else self.function_body()
        if self.form == "condition":
            self.parameters.append("n: int")
        head = f"{self.name}{dims}({', '.join(self.parameters)}) -> "
        if self.level == "tensor":
            return f"fn {head}{self.result} {{\n{body}}}\n"
        ranges = "b in tiles(B, 2), r in tiles(R, 5)" if self.batch else "_p in 0..1" if self.alone else "r in tiles(R, 5)"
        start = {"f32": "0.0", "f16": "0.0", "i32": "0", "bool": "false"}[self.operation.result[0]]
        begin = f" = {start}" if self.form in ("carried", "condition") else ""
        return f"kernel {head}(y: {self.result}{begin})\n{{\n    parallel {ranges} {{\n{body}    }}\n}}\n"

    def function_body(self) -> str:
        x = self.operand()
        if self.form == "carried":
            return f"    var v = {x}\n    for _k in 0..2 {{ v = {self.changed('v')} }}\n    return {self.code('v')}\n"
        if self.form == "condition":
            other = f"({self.changed(x)})"
            return f"    return if n > 3 {{ {self.code(x)} }} else {{ {self.code(other)} }}\n"
        return f"    return {self.code(x)}\n"

    def kernel_body(self) -> str:
        x, target = self.operand(), self.target
        if self.form == "carried":
            return (
                f"        var v = {x}\n        for _k in 0..2 {{\n            {target} = {self.code('v')}\n"
                f"            v = {self.changed('v')}\n        }}\n"
            )
        if self.form == "condition":
            other = f"({self.changed(x)})"
            return f"        if n > 3 {{ {target} = {self.code(x)} }} else {{ {target} = {self.code(other)} }}\n"
        return f"        {target} = {self.code(x)}\n"


def cells(level: str) -> list[Cell]:
    """Those that the language has: the cube multiplies, and does nothing else."""
    found = []
    for operation in OPERATIONS:
        for form in FORMS:
            if level == "cube" and (operation not in ON_CUBE or form in ("broadcast", "carried")):
                continue
            if form in OF_ONE and OPERATIONS[operation].many:
                continue
            found.append(Cell(operation, form, level))
    return found
