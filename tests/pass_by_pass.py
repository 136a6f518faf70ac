"""What `ptlc` does on the way to a chip is what `ptl-opt` does pass by pass. `pass_by_pass.py BUILD`.

`--dump-phases` writes a file after every pass; each pass, run alone on the file before, has to make the next.
"""
import json
import pathlib
import re
import sys
import tempfile

from harness import ROOT, Case, Tools, difference, run_cases

# Example, entry, what fixes its static dimensions, chip.
ENTRIES = [
    ("examples/07_flash_attention.ptl", "flash_attention", ["flash_attention.D=64"], "a3"),
    ("examples/07_flash_attention.ptl", "flash_attention", ["flash_attention.D=64"], "a2"),
    ("examples/07_flash_attention.ptl", "flash_attention", ["flash_attention.D=64"], "a5"),
    ("examples/07_flash_attention.ptl", "flash_attention_causal", ["flash_attention_causal.D=64"], "a3"),
    ("examples/04_matmul.ptl", "matmul_f16", [], "a3"),
    ("examples/09_split_k.ptl", "slices", [], "a2"),
]
# Passes on outlined grids that ask for the machine.
MARKING = ("ptl-plan-queues", "ptl-stage-operands", "ptl-cut-products", "ptl-stage-loops", "ptl-select-instructions")
LOCATION = re.compile(r" loc\((?:#loc\d*|unknown)\)|^#loc.*\n", re.M)
RESULTS = re.compile(r"^\s*%\w+(?::\d+)?(?:, %\w+(?::\d+)?)* = ")
VALUE = re.compile(r"%\w+")
GRID_END = re.compile(r"^    \} ?(.*)$", re.M)  # of grids of a function: they are indented by four
CHOICE = re.compile(r"(\w+) = (\d+) : i64(?=[^{}]*\})")
NUMBERED = re.compile(r"^\d+-(.*)\.mlir$")


def comparable(text: str) -> str:
    """Without what text cannot carry: places of what has none in the source, and with them names of variables of loops."""
    numbers: dict[str, str] = {}
    lines = []
    for count, line in enumerate(LOCATION.sub("", text).strip().splitlines()):
        if made := RESULTS.match(line):
            for place, name in enumerate(VALUE.findall(made.group(0))):
                numbers[name] = f"%{count}_{place}"
        lines.append(VALUE.sub(lambda found: numbers.get(found.group(0), found.group(0)), line))
    return "\n".join(lines)


def options_of(chip: str) -> dict[str, str]:
    """What the driver gives the passes that ask for something."""
    tiling = machine(chip)["tiling"]
    numbers = f"product-m={tiling['productM']} product-n={tiling['productN']} tile-bytes={tiling['rowBytes']} machine={chip}"
    own = {name: f"{{machine={chip}}}" for name in ("ptl-legalize", "ptl-check-places", "ptl-hand-numbers", "ptl-hand-late", "ptl-lower-block", *MARKING)}
    return {"ptl-chunk": f"{{{numbers}}}", **own}


def machine(name: str) -> dict:
    known = json.loads((ROOT / f"machines/{name}.json").read_text())
    base = machine(known["base"]) if "base" in known else {}
    return {**base, **known}


def choices_in(text: str) -> str:
    """What the search has chosen for each grid, as ptl-set-choices is told it."""
    choices, depth = [], 0
    for number, closing in enumerate(GRID_END.findall(text)):
        choices += [f"{number}.{name}={value}" for name, value in CHOICE.findall(closing)]
    return f"{{choices={','.join(choices)}}}" if choices else ""


def pipeline(name: str, chip: str, after: str) -> str:
    one = name + (choices_in(after) if name == "ptl-set-choices" else options_of(chip).get(name, ""))
    if name.startswith("pto-"):
        one = f"builtin.module({'func.func(' + one + ')' if name == 'pto-peel-stages' else one})"
    elif name not in ("ptl-simplify", "ptl-outline", "ptl-lower-block"):
        one = f"func.func({one})"
    return f"builtin.module({one})"


def entry_case(tools: Tools, path: str, entry: str, defines: list[str], chip: str) -> Case:
    def run():
        with tempfile.TemporaryDirectory() as folder:
            words = [word for each in defines for word in ("-D", each)]
            made = tools.run(
                "build", "--target", chip, "--entry", entry, *words, "-g", "--dump-phases", folder, "--emit=block",
                "-o", f"{folder}/block", str(ROOT / path),
            )
            if made.code:
                return made.stdout + made.stderr
            files = sorted(pathlib.Path(folder).glob("*.mlir"))
            first = next(i for i, each in enumerate(files) if each.name.endswith("-build.mlir"))
            stages = files[first:]
            if len(stages) < 12:
                return f"only {len(stages)} stages: {[each.name for each in stages]}"
            for before, after in zip(stages, stages[1:]):
                name = NUMBERED.match(after.name).group(1)
                once = tools.run(
                    f"--pass-pipeline={pipeline(name, chip, after.read_text())}", "--mlir-print-debuginfo", before, binary="ptl-opt"
                )
                if once.code:
                    return f"{after.name}: {once.stderr}"
                if text := difference(comparable(after.read_text()), comparable(once.stdout), after.name):
                    return text
        return None

    return Case(f"{entry} for {chip}, pass by pass", run)


if __name__ == "__main__":
    tools = Tools(pathlib.Path(sys.argv[1]))
    sys.exit(run_cases("pass_by_pass", [entry_case(tools, *each) for each in ENTRIES]))
