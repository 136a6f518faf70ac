"""Hostile input: whatever a file holds, `ptlc` ends soon, in bounded memory, with a coded error and its exit code.
`robust.py BUILD`."""
import functools
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

from harness import ENVIRONMENT, ROOT, Case, Tools, run_cases

MEMORY_KIB = 1 << 20
SECONDS = 60
ERRORS, USAGE, STOPPED = 1, 2, 5
DEEP = 100_000
FRONT = [("check",), ("fmt",), ("build", "--emit=tokens,tree"), ("build", "--emit=checked")]
VECTOR = "pub kernel twice[N](x: f32[N]) -> (y: f32[N])\n{\n    parallel r in tiles(N, 64) {\n        y[r] = x[r] * 2.0\n    }\n}\n"


class Ended:
    """One run of `ptlc` with what it used; standard output goes nowhere, of standard error the start is kept."""

    def __init__(self, tools: Tools, folder: pathlib.Path, words, text=b""):
        (folder / "stdin").write_bytes(text)
        with open(folder / "stdin") as source, open(folder / "stderr", "wb") as errors:
            start = time.monotonic()
            process = subprocess.Popen(
                ["timeout", "-s", "KILL", str(SECONDS), tools.path("ptlc"), *map(str, words)],
                cwd=folder, stdin=source, stdout=subprocess.DEVNULL, stderr=errors, env=ENVIRONMENT,
            )  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - start
        self.code, self.memory = process.returncode, usage.ru_maxrss
        self.size = (folder / "stderr").stat().st_size
        with open(folder / "stderr", "rb") as errors:
            self.stderr = errors.read(4000).decode(errors="replace")
        self.words = words

    def problem(self, codes) -> str:
        """What is wrong with how it ended; nothing if all is well."""
        wrong = []
        if self.code not in codes:
            wrong.append(f"exit code {self.code}, not {' or '.join(map(str, codes))}")
        if self.code in (ERRORS, STOPPED) and "error[E" not in self.stderr:
            wrong.append("the error has no code")
        if self.code == USAGE and "error:" not in self.stderr:
            wrong.append("nothing says what was wrong with the usage")
        if self.memory > MEMORY_KIB:
            wrong.append(f"{self.memory >> 10} MiB of memory")
        if self.size > 1 << 20:
            wrong.append(f"{self.size} bytes of messages")
        return f"{' '.join(map(str, self.words))}: {', '.join(wrong)}\n{self.stderr[:600]}\n" if wrong else ""


def nested() -> dict[str, str]:
    expression = "fn f(a: f32, b: bool) -> f32 {{\n    return {}\n}}\n"
    statement = "fn f(a: f32, b: bool) -> f32 {{\n    var x = a\n{}\n    return x\n}}\n"
    arm = "if b {\n x = a\n}"
    return {
        "parentheses": expression.format("(" * DEEP + "a" + ")" * DEEP),
        "parentheses that stay open": expression.format("(" * DEEP),
        "brackets": expression.format("[" * DEEP + "a" + "]" * DEEP),
        "indices": expression.format("a[" * DEEP + "0" + "]" * DEEP),
        "calls": expression.format("exp(" * DEEP + "a" + ")" * DEEP),
        "braces": statement.format("{" * DEEP + "}" * DEEP),
        "closing braces": "}" * DEEP,
        "closing parentheses": expression.format("a" + ")" * DEEP),
        "minus": expression.format("- " * DEEP + "a"),
        "not": expression.format("not " * DEEP + "b"),
        "ifs": statement.format("if b {\n" * DEEP + "x = a\n" + "}\n" * DEEP),
        "if values": expression.format("if b { " * DEEP + "a" + " } else { a }" * DEEP),
        "loops": statement.format("for i in 0..2 {\n" * DEEP + "}\n" * DEEP),
        "types": f"fn f(a: {'(' * DEEP}f32{')' * DEEP}) -> f32 {{\n    return a\n}}\n",
        "extents": f"fn f[N](a: f32[{'(' * DEEP}N{')' * DEEP}]) -> f32 {{\n    return 0.0\n}}\n",
        "commas": expression.format("a" + ", " * DEEP),
    } | {
        # These are long, not nested; they may well be right.
        "long: else if": statement.format(" else ".join([arm] * 10_000)),
        "long: sum": expression.format(" + ".join(["a"] * DEEP)),
        "long: powers": expression.format(" ** ".join(["a"] * DEEP)),
        "long: comparisons": expression.format(" < ".join(["a"] * DEEP)),
        "long: ands": statement.format("if " + " and ".join(["b"] * DEEP) + " {\n x = a\n}"),
        "long: statements": statement.format("x = x + a\n" * 20_000),
        "long: fields": expression.format("a" + ".b" * DEEP),
        "long: transposes": expression.format("a" + ".T" * DEEP),
        "long: comment": "/" * 10_000_000 + "\n",
    }


def bytes_of() -> dict[str, bytes]:
    good = VECTOR.encode()
    return {
        "a line of 10 MB": b"const x = " + b"a + " * 2_500_000,
        "a name of 10 MB": b"const " + b"x" * 10_000_000 + b" = 1\n",
        "a number of 10 MB": b"const x = " + b"9" * 10_000_000 + b"\n",
        "a string of 10 MB": b'test "' + b"x" * 10_000_000,
        "not UTF-8": b"const caf\xe9 = 1\n" + good,
        "half a character": good + b"// \xe2\x82",
        "lone continuations": b"\x80" * 100_000,
        "surrogates": b"// \xed\xa0\x80\n" + good,
        "NUL": good.replace(b"N", b"N\0", 1),
        "only NUL": b"\0" * 100_000,
        "an executable": bytes(random.Random(3).randrange(256) for _ in range(100_000)),
        "UTF-16": b"\xff\xfe" + VECTOR.encode("utf-16-le"),
    }


def source(tools: Tools, text, commands=FRONT, codes=(ERRORS,)):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        content = text if isinstance(text, bytes) else text.encode()
        problems = ""
        for command in commands:
            (folder / "case.ptl").write_bytes(content)
            # The printer of a file with syntax errors may have nothing to say against it.
            allowed = {0, *codes} if command[0] == "fmt" or "tree" in command[-1] else codes
            problems += Ended(tools, folder, [*command, "case.ptl"]).problem(allowed)
        return problems or None


def empty(tools: Tools):
    return source(tools, "", codes=(0,)) or source(tools, "", [("run",), ("build", "-o", "x.so")])


def cut(tools: Tools, part: int):
    """Examples cut at random places: most are wrong, some happen to end between two declarations."""
    generator = random.Random(part)
    examples = sorted((ROOT / "examples").glob("*.ptl"))
    for number in range(20):
        text = generator.choice(examples).read_bytes()
        place = generator.randrange(len(text))
        commands = FRONT if number % 5 == 0 else FRONT[:1]
        if problem := source(tools, text[:place], commands, (0, ERRORS)):
            return f"cut at {place} (part {part}, number {number}): {problem}"
    return None


def paths(tools: Tools):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "good.ptl").write_text(VECTOR)
        (folder / "folder.ptl").mkdir()
        (folder / "secret.ptl").symlink_to("secret.ptl")
        wanted = {
            ERRORS: [
                *[(command, path) for command in ("check", "fmt") for path in ("folder.ptl", "secret.ptl", "gone.ptl", "")],
                *[("run", path) for path in ("folder.ptl", "secret.ptl", "gone.ptl")],
                ("run", "good.ptl"),
                ("run", "good.ptl", "--entry", "nobody", "x=zeros", "N=3"),
                ("run", "good.ptl", "x=@gone.npy"),
                ("run", "good.ptl", "x=@folder.ptl"),
                ("run", "good.ptl", "x=@good.ptl"),
                ("run", "good.ptl", "x=zeros"),
                ("run", "good.ptl", "x=zeros", "N=-1"),
                ("run", "good.ptl", "x=zeros", "N=99999999999999999999"),
                ("run", "good.ptl", "x=zeros", "N=4611686018427387904"),
                ("run", "good.ptl", "x=random(", "N=3"),
                ("run", "good.ptl", "x=random(seed: )", "N=3"),
                ("run", "good.ptl", "y=zeros", "N=3"),
                ("run", "good.ptl", "=", "N=3"),
                ("build", "good.ptl", "--emit=ir", "--entry", "nobody"),
                ("build", "good.ptl", "--emit=ir", "-o", "gone/out.mlir"),
            ],
            USAGE: [("check",), ("fmt",), ("run",), ("build",), ("build", "good.ptl"), ("build", "good.ptl", "--emit=nothing"), ("run", "--entry")],
        }  # fmt: skip
        return "".join(Ended(tools, folder, words).problem((code,)) for code, each in wanted.items() for words in each) or None


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00", length=None) -> bytes:
    text = header.encode("latin-1") + b"\n"
    size = len(text) if length is None else length
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", size) + text + data


def arrays() -> dict[str, tuple[bytes, int]]:
    def header(descr="'<f4'", order="False", shape="(4,)"):
        return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"

    data = struct.pack("<4f", 1, 2, 3, 4)
    wrong = {
        "huge": npy(header(shape="(4611686018427387904,)"), data),
        "product overflows": npy(header(shape="(4294967296, 4294967296)"), data),
        "bytes overflow": npy(header(shape="(9223372036854775807,)"), data),
        "number overflows": npy(header(shape="(99999999999999999999999,)"), data),
        "large": npy(header(shape="(1000000000,)"), data),
        "negative": npy(header(shape="(-4,)"), data),
        "truncated data": npy(header(), data[:-1]),
        "truncated header": npy(header(), data)[:30],
        "only magic": b"\x93NUMPY",
        "empty": b"",
        "header length lies": npy(header(), data, length=65535),
        "header of 4 GB": npy(header(), data, b"\x02\x00", 0xFFFFFFFF),
        "unknown version": npy(header(), data, b"\x09\x00"),
        "many axes": npy(header(shape="(" + "1, " * 5000 + ")"), data),
        "objects": npy(header("'|O'"), data),
        "structured": npy(header("[('a', '<f4')]"), data),
        "other type": npy(header("'<i8'"), data * 2),
        "no shape": npy("{'descr': '<f4', 'fortran_order': False, }", data),
        "not a dictionary": npy("x" * 60, data),
        "open quote": npy("{'descr': '<f4", data),
        "nested": npy("{" + "(" * 20_000, data),
        "zip that is none": b"PK\x03\x04" + b"\xff" * 60,
        "zip that only ends": b"PK\x05\x06" + b"\xff" * 18,
    }
    big = struct.pack(">4f", 1, 2, 3, 4)
    right = {"Fortran": npy(header(order="True"), data), "big-endian": npy(header("'>f4'"), big)}
    # Fine as files; the call is refused where the entry checks its arguments.
    refused = {"rank": npy(header(shape="(2, 2)"), data), "scalar": npy(header(shape="()"), data)}
    kinds = {ERRORS: wrong, STOPPED: refused, 0: right}
    return {name: (content, code) for code, kind in kinds.items() for name, content in kind.items()}


def array(tools: Tools, content: bytes, code: int):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "twice.ptl").write_text(VECTOR)
        (folder / "x.npy").write_bytes(content)
        # What is right in itself may still be refused with a reason.
        codes = (code,) if code else (0, ERRORS)
        return Ended(tools, folder, ["run", "twice.ptl", "x=@x.npy"]).problem(codes) or None


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    cases = [Case("robust/empty", functools.partial(empty, tools)), Case("robust/paths", functools.partial(paths, tools))]
    for name, text in nested().items():
        codes = (0, ERRORS) if name.startswith("long: ") else (ERRORS,)
        cases.append(Case(f"robust/nested/{name}", functools.partial(source, tools, text, FRONT, codes)))
    for name, content in bytes_of().items():
        codes = (0, ERRORS) if name == "a name of 10 MB" else (ERRORS,)
        cases.append(Case(f"robust/bytes/{name}", functools.partial(source, tools, content, FRONT, codes)))
    cases += [Case(f"robust/cut/{part}", functools.partial(cut, tools, part)) for part in range(10)]
    cases += [Case(f"robust/npy/{name}", functools.partial(array, tools, *each)) for name, each in arrays().items()]
    return run_cases("robust", [case for case in cases if pattern in case.name])


if __name__ == "__main__":
    sys.exit(main())
