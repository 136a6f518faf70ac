#!/usr/bin/env python3
"""The tests of the language server against the real process.

    run.py BUILD KIND [--long] [--seed N] [--update] [PATTERN]

`--update` writes the present answers into the transcripts; review the difference like any other change.
"""
import argparse
import importlib
import pathlib
import sys
import tempfile

from session import Place

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Case, run_cases  # noqa: E402  (found by the path above)

KINDS = ("transcripts", "wrong_input", "random_edits", "endurance", "broken_messages", "every_feature", "background", "chips", "costs", "advice", "pending", "typed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("pattern", nargs="?", default="", help="only tests whose name contains this")
    parser.add_argument("--long", action="store_true", help="the long form")
    parser.add_argument("--update", action="store_true", help="write the present answers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="work in this folder and leave it")
    options = parser.parse_intermixed_args()
    module = importlib.import_module(options.kind)
    with tempfile.TemporaryDirectory(prefix="ptl-lsp-") as folder:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            folder = options.keep.resolve()
        place = Place(options.build, folder)
        if options.kind == "transcripts":
            found = module.cases(place, options.update)
        else:
            found = module.cases(place, options.long, options.seed)
        return run_cases(f"lsp_{options.kind}", [Case(*case) for case in found if options.pattern in case[0]], getattr(module, "AT_ONCE", None))


if __name__ == "__main__":
    sys.exit(main())
