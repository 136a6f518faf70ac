#!/usr/bin/env python3
"""Does what the recipes of docs/adding.md say, and sees that it works.

    run.py BUILD [--full] [PATTERN]

Each recipe is applied to a copy of the tree: a file system that shows this checkout, its build folder included, and keeps what is written
aside (an overlay, in a mount namespace of its own). Paths and times are those of the checkout, so ninja builds what the recipe changes
and nothing else, and nothing of it stays. `checks.txt` says what has to be built and run; `--full` does what takes minutes, too.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from compile_commands import per_file
from page import Recipe, RecipeError, Tree, missing_names, recipes_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/adding.md"
SKIPPED = 77  # what ctest takes for a test that cannot be made here
INSIDE = "PTL_RECIPE_COPY"  # set in the namespace


def checks() -> dict[str, list[tuple[bool, str, str]]]:
    """For each recipe: whether the check is for `--full` alone, what it does, and its words."""
    found: dict[str, list[tuple[bool, str, str]]] = {}
    name = ""
    for line in (pathlib.Path(__file__).parent / "checks.txt").read_text().splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            found[name] = []
        elif line and not line.startswith("#"):
            is_full = line.startswith("full ")
            kind, words = line.removeprefix("full ").split(" ", 1)
            found[name].append((is_full, kind, words))
    return found


def shell(command: str) -> str:
    """Empty if the command succeeds, else what it printed."""
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"$ {command}\n{done.stdout[-6000:]}{done.stderr[-3000:]}[exit {done.returncode}]"


def compile_alone(tree: Tree, build: str, files: list[str]) -> str:
    """Compiles each file without the others of its group, after what it includes was generated. Empty, or what went wrong. Nobody runs the
    code, so it ends before it would be optimized."""
    commands = {pathlib.Path(each["file"]): each["command"] for each in per_file(ROOT / build)}
    for file in files:
        command = commands[tree.find(file)]
        library = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", command)[1]
        needed = [f"cmake_object_order_depends_target_{library}", *re.findall(rf"{ROOT / build}/(\S+\.pch)(?= )", command)]
        alone = re.sub(r" -o \S+", " -o /dev/null", command)
        if re.match(r"(\S*ccache )?\S*clang", command):
            alone += " -Xclang -disable-llvm-passes -emit-llvm"
        if problem := shell(f"ninja -C {build} {' '.join(needed)} && cd {build} && {alone}"):
            return problem
    return ""


def check(tree: Tree, build: str, kind: str, words: str) -> str:
    if kind == "run":
        return shell(words.replace("build/", f"{build}/").replace("--build build", f"--build {build}"))
    # New files are found first, by CMake.
    if problem := shell(f"ninja -C {build} build.ninja"):
        return problem
    targets = words.split()
    if kind == "objects":
        return compile_alone(tree, build, targets)
    return shell(f"ninja -C {build} {' '.join(targets)}")


def follow(recipe: Recipe, build: str, full: bool) -> str:
    """Inside of the copy: empty if the recipe works, else why not."""
    tree = Tree(ROOT)
    try:
        for step in recipe.steps:
            tree.apply(step)
        for is_full, kind, words in checks()[recipe.name]:
            if is_full <= full and (problem := check(tree, build, kind, words)):
                return problem
    except RecipeError as error:
        return str(error)
    return ""


def core_seconds() -> float:
    """What the commands that have ended took, on all cores together."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def enter_copy(arguments: list[str]) -> int:
    """Runs this script again where the checkout can be written without being changed."""
    with tempfile.TemporaryDirectory(prefix="ptl-recipe-") as folder:
        for part in ("changes", "work"):
            (pathlib.Path(folder) / part).mkdir()
        mount = f'mount -t overlay overlay -o "lowerdir={ROOT},upperdir={folder}/changes,workdir={folder}/work" "{ROOT}"'
        script = f'{mount} || exit {SKIPPED}; cd "{ROOT}" && exec "$@"'
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        environment = {**os.environ, INSIDE: "1", "CCACHE_SLOPPINESS": "pch_defines,time_macros", "CCACHE_IGNOREOPTIONS": "-Werror"}
        command = ["unshare", "--mount", *user, "bash", "-c", script, "bash", sys.executable, __file__, *arguments]
        try:
            return subprocess.run(command, env=environment, check=False).returncode
        finally:
            # Files that only the namespace's user may remove.
            subprocess.run(["chmod", "-R", "u+rwX", folder], check=False, stderr=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pattern", nargs="?", default="", help="only recipes whose name contains this")
    parser.add_argument("--full", action="store_true", help="also build and run what takes minutes")
    options = parser.parse_args()
    build = os.path.relpath(options.build.resolve(), ROOT)
    recipes = [recipe for recipe in recipes_of(PAGE) if options.pattern.lower() in recipe.name.lower()]
    if os.environ.get(INSIDE):
        recipe = next(each for each in recipes if each.name == options.pattern)
        problem = follow(recipe, build, options.full)
        print(problem, end="\n" if problem else "")
        return 1 if problem else 0

    problems = [f"docs/adding.md names {name}, which is not there" for name in missing_names(PAGE, ROOT)]
    known = checks()
    problems += [f"tests/recipes/checks.txt: no recipe has the name {name}" for name in known if name not in {each.name for each in recipes_of(PAGE)}]
    for recipe in recipes:
        if bool(recipe.steps) != (recipe.name in known):
            problems.append(f"{recipe.name}: the example in docs/adding.md and its part of tests/recipes/checks.txt belong together")
        elif recipe.steps:
            start = core_seconds()
            status = enter_copy([str(options.build), recipe.name, *(["--full"] if options.full else [])])
            if status == SKIPPED:
                print("skipped: this system does not let a user mount an overlay")
                return SKIPPED
            print(f"{'fails' if status else 'works'} ({core_seconds() - start:5.1f} core-seconds)  {recipe.name}", flush=True)
            problems += [f"{recipe.name} fails"] if status else []
    print("\n".join(problems) or f"{len(recipes)} recipes, {sum(len(each.steps) for each in recipes)} steps")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
