"""What is compiled again comes out the same, byte by byte: nothing depends on where things lie in memory, which is elsewhere in each
process, or on what memory held. The examples and kernels of many kinds, down to each chip's code with the reasons for its events.
Nor does it depend on whether the passes are written down (`--dump-phases`): then all kernels of a program are made again where one does
not fit, else that one.
`deterministic.py BUILD [PATTERN]`."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import ROOT, Case, Tools, difference, run_cases  # noqa: E402

CHIPS = ("a3", "a5")
FORMS = "block,pto,cpp,memory,proof"
# What the compiler proposes for an entry that leaves something open.
DEFINE = re.compile(r"-D (\S+?)(?=[`\s]|$)")


# Memory that is both filled and laid out in another way: what depends on either comes out otherwise.
OTHER_MEMORY = {"MALLOC_PERTURB_": "165", "MALLOC_MMAP_THRESHOLD_": "4096"}


def build(tools, path, chip, folder, words, env=None):
    """All that a command writes and says."""
    folder.mkdir()
    done = tools.run("build", path, "--target", chip, f"--emit={FORMS}", "--diagnostics=short", "-o", folder / "out", *words, env=env)
    files = {each.name: each.read_text() for each in sorted(folder.iterdir())}
    return {"exit code": str(done.code), "messages": done.stdout + done.stderr.replace(str(folder), ""), **files}


def case(tools, path, chip):
    def run():
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first, words = build(tools, path, chip, folder / "0", []), []
            if "-D " in first["messages"]:
                words = [word for define in DEFINE.findall(first["messages"]) for word in ("-D", define)]
                first = build(tools, path, chip, folder / "1", words)
            # The second time the passes of the examples are written down, too: each compilation shows all that it may depend on.
            dumps = [] if path.parent.name != "examples" else ["--dump-phases", folder / "phases"]
            again = build(tools, path, chip, folder / "again", [*words, *dumps], OTHER_MEMORY)
        if first.keys() != again.keys():
            return f"files: {sorted(first)}, then {sorted(again)}"
        if first != again:
            return next(difference(first[each], again[each], each) for each in first if first[each] != again[each])
        return None

    return Case(f"deterministic/{path.stem}.{chip}", run)


def main():
    tools, pattern = Tools(pathlib.Path(sys.argv[1])), "".join(sys.argv[2:3])
    paths = [*sorted((ROOT / "examples").glob("*.ptl")), *sorted((ROOT / "tests/differential/kernels").glob("*.ptl"))]
    return run_cases("deterministic", [case(tools, path, chip) for path in paths for chip in CHIPS if pattern in path.stem])


if __name__ == "__main__":
    sys.exit(main())
