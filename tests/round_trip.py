"""Text of IR: everything in the examples and the library that can be called alone is built (element types `f32`, rank 2),
printed with its locations, parsed and printed again by `ptl-opt`, and must come back the same. Every operation knows the
place in the source that it stands for."""
import pathlib
import re
import tempfile

from harness import ROOT, Case, Tools, difference

PHASES = ("ir", "ir:tensor", "ir:tile")
CALLABLE = re.compile(r"^(?:pub )?(?:fn|kernel|program) (\w+)", re.M)
# What the compiler proposes for an entry that leaves something open: see `missingDefines`.
DEFINE = re.compile(r"-D (\S+?)(?=[`\s]|$)")
NO_VARIANT, NOT_AN_ENTRY = "E0933", "E0932"


def sources() -> list[pathlib.Path]:
    return sorted((ROOT / "examples").glob("*.ptl")) + sorted((ROOT / "std").rglob("*.ptl"))


def build(tools: Tools, path: pathlib.Path, entry: str, arguments: list[str], output: pathlib.Path):
    emit = ["--emit=" + ",".join(PHASES), "-g", "--verify-each", "--diagnostics=short", "-o", output]
    return tools.run("build", path, "--entry", entry, *emit, *arguments)


def without_place(text: str) -> list[str]:
    """Lines of operations without one. Passes make one constant of equal ones, which then stands nowhere."""
    unknown = ["loc(unknown)", *(f"loc({alias})" for alias in re.findall(r"^(#loc\d*) = loc\(unknown\)", text, re.M))]
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    return [line for line in lines if any(each in line for each in unknown) and ".constant" not in line]


def parsed_again(tools: Tools, text: str, name: str):
    again = tools.run("-", "--mlir-print-debuginfo", binary="ptl-opt", stdin=text)
    if again.code or again.stderr:
        return f"{name} cannot be read again:\n{again.stderr[:2000]}"
    if again.stdout.strip() != text.strip():
        return difference(text, again.stdout, name)
    unplaced = without_place(text)
    if unplaced:
        return f"{name} has operations without a place in the source:\n" + "\n".join(unplaced[:20])
    return None


def entry_case(tools: Tools, path: pathlib.Path, entry: str) -> Case:
    name = f"round_trip/{path.relative_to(ROOT)}/{entry}"

    def run():
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "out"
            outcome = build(tools, path, entry, [], output)
            if "-D " in outcome.stderr:
                defines = [d if not d.endswith("..=1") else d[:-1] + "2" for d in DEFINE.findall(outcome.stderr)]
                outcome = build(tools, path, entry, [w for d in defines for w in ("-D", d)], output)
            if outcome.code:
                return outcome.stderr
            for phase in PHASES:
                extension = {"ir": ".mlir", "ir:tensor": ".tensor.mlir", "ir:tile": ".tile.mlir"}[phase]
                problem = parsed_again(tools, output.with_name("out" + extension).read_text(), f"{name} ({phase})")
                if problem:
                    return problem
        return None

    return Case(name, run)


def cases(tools: Tools, update: bool) -> list[Case]:
    return [entry_case(tools, path, entry) for path in sources() for entry in CALLABLE.findall(path.read_text())]
