"""The recipes of docs/adding.md: the page is the script. A code block whose first line is

    ```cpp lexer.cpp before addToken(wordKind(

belongs into the file `lexer.cpp`, before its first line that contains the text `addToken(wordKind(`; `after` puts it behind that
line. `beside` makes the file, in the folder of the one that is named. Files are given by their base names, with as much of the path
before them as tells them apart, so that moving a folder leaves recipes as they are.
"""
import collections
import dataclasses
import os
import pathlib
import re

BLOCK = re.compile(r"^ *(`{3,})([\w-]+) (\S+) (before|after|beside) ([^\n]+)\n(.*?)^ *\1$", re.M | re.S)
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
NAMED = re.compile(r"`([\w.<>*-]+/[\w./<>*-]*)`")


class RecipeError(Exception):
    """The page does not fit the tree."""


@dataclasses.dataclass
class Step:
    """One code block: `text` goes to `file`, at the place that `how` and `mark` say."""

    file: str
    how: str
    mark: str
    text: str


@dataclasses.dataclass
class Recipe:
    name: str
    steps: list[Step]


def steps_of(section: str) -> list[Step]:
    """Blocks in a list are indented with it, and the indentation of their fence is not part of their text."""
    steps = []
    for match in BLOCK.finditer(section):
        fence = len(match[0]) - len(match[0].lstrip(" "))
        lines = [line[fence:] if line[:fence].isspace() else line for line in match[6].splitlines(keepends=True)]
        steps.append(Step(match[3], match[4], match[5].strip(), "".join(lines)))
    return steps


def recipes_of(page: pathlib.Path) -> list[Recipe]:
    return [Recipe(name, steps_of(body)) for name, body in SECTION.findall(page.read_text())]


class Tree:
    """The files of a checkout, found by the ends of their paths."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.by_name: dict[str, list[pathlib.Path]] = collections.defaultdict(list)
        for folder, folders, files in os.walk(root):
            builds = pathlib.Path(folder) == root  # elsewhere a folder `build` has sources
            folders[:] = [each for each in folders if each not in (".git", "node_modules") and not (builds and each.startswith("build"))]
            for file in files:
                self.by_name[file].append(pathlib.Path(folder) / file)

    def find(self, file: str, mark: str = "") -> pathlib.Path:
        """The one file whose path ends with `file` and that contains `mark`."""
        ending = "/" + file
        found = [path for path in self.by_name.get(ending.rsplit("/", 1)[1], ()) if str(path).endswith(ending)]
        fitting = [path for path in found if not mark or mark in path.read_text(errors="replace")]
        if len(fitting) == 1:
            return fitting[0]
        if not found:
            raise RecipeError(f"there is no file `{file}`")
        if not fitting:
            raise RecipeError(f"`{found[0].relative_to(self.root)}` does not contain `{mark}`")
        names = ", ".join(str(path.relative_to(self.root)) for path in fitting)
        raise RecipeError(f"`{file}` is one of {names}: write more of its path")

    def apply(self, step: Step) -> pathlib.Path:
        """Does what a step says and gives the file that it changed or made."""
        if step.how == "beside":
            path = self.find(step.mark).with_name(step.file.rsplit("/", 1)[-1])
            if path.exists():
                raise RecipeError(f"`{path.relative_to(self.root)}` exists")
            path.write_text(step.text)
            self.by_name[path.name].append(path)
            return path
        path = self.find(step.file, step.mark)
        lines = path.read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if step.mark in line) + (step.how == "after")
        lines[at:at] = step.text.splitlines(keepends=True)
        path.write_text("".join(lines))
        return path


def missing_names(page: pathlib.Path, root: pathlib.Path) -> list[str]:
    """Paths in the prose that lead nowhere; a part in angle brackets or a star stands for any name."""
    prose = re.sub(r"^ *(`{3,}).*?^ *\1$", "", page.read_text(), flags=re.M | re.S)
    names = sorted(set(NAMED.findall(prose)))
    return [name for name in names if not any(root.glob(re.sub(r"<\w+>", "*", name).strip("/")))]
