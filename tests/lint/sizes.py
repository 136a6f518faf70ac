"""Files and functions stay small: .cpp 600 lines, .h 300, .td 500, a function 80; in passes/ 60, and a class has 40 methods."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_LIMITS = {".cpp": 600, ".h": 300, ".td": 500}
FUNCTION_LIMIT = 80
FUNCTION_LIMITS = {"passes/": 60}  # by folder, the first that fits
METHOD_LIMIT = 40
# Those that are larger may not grow.
METHOD_LIMITS = {
    "ir/execute/": 47,
    "runtime/schedule/": 46,
    "frontend/parse/": 42,
    "codegen/cpu/": 41,
    "lsp/worker/": 41,
}
CLASS = re.compile(r"^[ ]*(?:template <[^>]*>\s*)?(?:class|struct)\s+(\w+)[^;{()]*\{", re.M)
NOT_METHOD = ("using", "friend", "static_assert", "typedef", "#", ":")
NOT_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|switch|if|for|while|do|else)\b")


def limit_of(path: str, limits: dict[str, int], usual: int) -> int:
    return next((limit for folder, limit in limits.items() if path.startswith(folder)), usual)


def without_inside(text: str, pair: str) -> str:
    """The text with nothing between outer brackets."""
    out, depth = [], 0
    for letter in text:
        if letter == pair[0]:
            depth += 1
            out.append(pair if depth == 1 else "")
        elif letter == pair[1]:
            depth -= 1
        elif depth == 0:
            out.append(letter)
    return "".join(out)


def body_at(text: str, brace: int) -> str:
    depth = 0
    for place in range(brace, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return text[brace + 1 : place]
    return ""


def count_methods(body: str) -> int:
    """Of the body of a class: what is declared with parameters, constructors included."""
    flat = without_inside(without_inside(body, "{}"), "()")
    flat = re.sub(r"<[^<>;]*>", "", re.sub(r"<[^<>;]*>", "", flat))
    count = 0
    for each in re.split(r";|\{\}", flat):
        declared = re.sub(r"\b(public|private|protected):", "", each).strip()
        if not declared or declared.startswith(NOT_METHOD):
            continue
        if "operator" not in declared:
            declared = declared.split(" = ")[0]
        declared = re.sub(r"\)\s*:.*", ")", declared, flags=re.S)  # initialisers
        count += len(re.findall(r"~?\w+\(\)|operator\W+\(\)", re.sub(r"alignas\(\)|decltype\(\)", "", declared)))
    return count


def large_classes(path: str, text: str) -> list[str]:
    limit = limit_of(path, METHOD_LIMITS, METHOD_LIMIT)
    code = re.sub(r'R"\((?:.|\n)*?\)"', '""', text)
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", code))
    problems = []
    for found in CLASS.finditer(code):
        count = count_methods(body_at(code, found.end() - 1))
        if count > limit:
            problems.append(f"{path}: {found.group(1)} has {count} methods, at most {limit}")
    return problems


def long_functions(path: str, lines: list[str]) -> list[str]:
    """Relies on clang-format: a function's head ends in `{`, its end is a `}` in the column of the head."""
    problems = []
    limit = limit_of(path, FUNCTION_LIMITS, FUNCTION_LIMIT)
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
            if length > limit:
                problems.append(f"{path}:{head[0]}: a function of {length} lines, at most {limit}")
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
            problems += large_classes(path, "\n".join(lines))
    print("\n".join(problems) or f"{len(listed)} files are small")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
