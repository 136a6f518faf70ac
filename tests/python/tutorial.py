"""Runs the code of docs/from-pytorch.md as it stands: `tutorial.py BUILD`. Skipped, by name, where PyTorch is not installed."""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "from-pytorch.md"
BLOCK = re.compile(r"^```(ptl|python|output) *([^\n]*)\n(.*?)^```$", re.M | re.S)


def main(build):
    if importlib.util.find_spec("torch") is None:
        print("skipped: tutorial (PyTorch is not installed; package python3-torch)")
        return 77
    text = PAGE.read_text()
    blocks = [(text.count("\n", 0, match.start()) + 1, *match.groups()) for match in BLOCK.finditer(text)]
    wrong, printed, variables = [], "", {"__name__": "tutorial"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PTLC=str(build / "bin" / "ptlc"), PTL_STD=str(ROOT / "std"), PTL_CACHE=str(pathlib.Path(folder) / "cache"))
        sys.path.insert(0, str(ROOT / "runtime" / "python"))
        os.chdir(folder)
        for line, kind, name, code in blocks:
            if kind == "ptl":
                pathlib.Path(name).write_text(code)
            elif kind == "output":
                if printed != code:
                    wrong.append(f"{PAGE.name}:{line}: the page has\n{code}the code prints\n{printed}")
                printed = ""
            else:
                if printed:
                    wrong.append(f"{PAGE.name}:{line}: the code before prints what the page does not show:\n{printed}")
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    try:
                        exec(compile("\n" * line + code, str(PAGE), "exec"), variables)
                    except Exception:
                        wrong.append(traceback.format_exc())
                printed = output.getvalue()
        os.chdir("/")
    if sum(kind == "python" for _, kind, *_ in blocks) < 6:
        wrong.append("the page has lost its code")
    print("\n".join(wrong) or f"{len(blocks)} blocks are as the page says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
