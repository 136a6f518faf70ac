"""Files and functions stay small: .cpp 600 lines, .h 300, .td 500, a function 80."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_LIMITS = {".cpp": 600, ".h": 300, ".td": 500}
FUNCTION_LIMIT = 80
NOT_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|switch|if|for|while|do|else)\b")


def long_functions(path: str, lines: list[str]) -> list[str]:
    """Relies on clang-format: a function's head ends in `{`, its end is a `}` in the column of the head."""
    problems = []
    head = None  # (line number, indent)
    start = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if head is None:
            if not line.strip() or line.lstrip().startswith(("//", "#", "}")):
                start = None
                continue
            if indent <= 2 and start is None:
                start = (number, indent)
            if line.rstrip().endswith("{"):
                text = "".join(lines[(start or (number, 0))[0] - 1 : number])
                if start and "(" in text and not NOT_FUNCTION.match(lines[start[0] - 1]):
                    head = start
                start = None
            elif line.rstrip().endswith((";", "}", ":")):
                start = None
        elif line.rstrip() == " " * head[1] + "}":
            length = number - head[0] + 1
            if length > FUNCTION_LIMIT:
                problems.append(f"{path}:{head[0]}: a function of {length} lines, at most {FUNCTION_LIMIT}")
            head = None
    return problems


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *("*" + s for s in FILE_LIMITS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    problems = []
    for path in listed:
        if not (ROOT / path).exists():
            continue
        lines = (ROOT / path).read_text(errors="replace").splitlines()
        limit = FILE_LIMITS[pathlib.Path(path).suffix]
        if len(lines) > limit:
            problems.append(f"{path}: {len(lines)} lines, at most {limit}")
        if not path.endswith(".td"):
            problems += long_functions(path, lines)
    print("\n".join(problems) or f"{len(listed)} files are small")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
