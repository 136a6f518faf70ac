"""A golden is short enough to be read: every expected output of tests/ has at most 300 lines.

A longer one asks several questions: name its commands (`// ARGS[question]:`), cut its output (`// PART[question] part:`), or take a
smaller input (tests/golden.py).
"""
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 300
# Data whose form others have published, which cannot be cut: the path below tests/, and why.
EXCEPTIONS: dict[str, str] = {}


def main() -> int:
    goldens = sorted([*TESTS.rglob("*.out"), *TESTS.glob("lsp/transcripts/*.txt")])
    problems = []
    for path in goldens:
        name = str(path.relative_to(TESTS))
        count = path.read_bytes().count(b"\n")
        if count > LIMIT and name not in EXCEPTIONS:
            problems.append(f"tests/{name}: {count} lines, at most {LIMIT}: let each question have a golden of its own (tests/golden.py)")
    problems += [f"tests/lint/goldens.py: the exception {name} is no golden" for name in EXCEPTIONS if not (TESTS / name).exists()]
    print("\n".join(problems) or f"{len(goldens)} goldens are short")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
