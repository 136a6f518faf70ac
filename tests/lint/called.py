"""Every function of the project's Python is named somewhere besides its definition: a test that stands in no list would never run."""
import ast
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What others call by a name that they give.
FOREIGN = {"load_ipython_extension": "`%load_ext ptl` of IPython"}


def defined(tree: ast.Module) -> list[tuple[str, int]]:
    """Functions and methods with their lines. Not those that a decorator hands on, and not those that Python calls by itself (`__init__`)."""
    found = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and not node.decorator_list]
    return [(node.name, node.lineno) for node in found if not node.name.startswith("__")]


def bases(tree: ast.Module) -> set[str]:
    """Methods of classes that derive from a class of a library, which may call them (`HTMLParser.handle_data`)."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    derived = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and any(ast.unparse(base) not in own for base in node.bases)]
    return {each.name for node in derived for each in node.body if isinstance(each, FUNCTIONS)}


def named(tree: ast.Module) -> set[str]:
    """All names that are used. Texts that are a name count: a table or another process may call by it."""
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.alias):
            words.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            words.add(node.value)
    return words


def prefixes(tree: ast.Module) -> tuple[str, ...]:
    """Beginnings of names that are put together: `getattr(self, f"step_{word}")`."""
    asked = [node.args[1] for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr"]
    parts = [each for name in asked for each in ast.walk(name) if isinstance(name, (ast.JoinedStr, ast.BinOp))]
    return tuple(each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))


def problems_of(texts: dict[str, str]) -> list[str]:
    trees = {path: ast.parse(text) for path, text in texts.items()}
    used = set(FOREIGN).union(*(named(tree) for tree in trees.values()))
    return [f"{path}:{line}: nothing names {name}, so it never runs"
            for path, tree in trees.items() for name, line in defined(tree)
            if name not in used | bases(tree) and not name.startswith(prefixes(tree))]


def self_test() -> list[str]:
    lonely = {"a.py": "def main():\n    first()\ndef first(): pass\ndef second(): pass\nmain()", "b.py": "class C:\n    def third(self): pass"}
    found = problems_of(lonely)
    expected = ["a.py:4: nothing names second, so it never runs", "b.py:2: nothing names third, so it never runs"]
    return [] if found == expected else [f"the lint finds {found} instead of {expected}"]


def main() -> int:
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = {path: (ROOT / path).read_text() for path in files.stdout.split()}
    problems = self_test() + problems_of(texts)
    print("\n".join(problems) or f"{len(texts)} files of Python have no function that nothing names")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
