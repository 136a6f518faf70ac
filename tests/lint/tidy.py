"""clang-tidy over what changed, with the checks of .clang-tidy. `tidy.py BUILD [--all] [FILES...]`.

Without files it checks those that differ from the merge base with the main branch, uncommitted changes included; for a header it checks
the source file of the same name. The build folder has to be built, because sources include what is generated there. A file takes about
four seconds of one core, so this is no test of `./dev test`: `./dev lint` runs it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = "clang-tidy-19"


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def merge_base() -> str:
    """The commit where this branch left the main one; on the main branch itself the commit before the last."""
    head = git("rev-parse", "HEAD")
    for branch in ("origin/HEAD", "origin/main", "origin/master", "main", "master"):
        if found := git("merge-base", "HEAD", branch):
            return "HEAD~1" if found == head else found[0]
    return "HEAD"


def changed() -> set[str]:
    return {*git("diff", "--name-only", merge_base()), *git("ls-files", "--others", "--exclude-standard")}


def sources_of(names: set[str], compiled: set[str]) -> list[str]:
    wanted = {name if name.endswith(".cpp") else name.removesuffix(".h") + ".cpp" for name in names}
    return sorted(wanted & compiled)


def tidy(build: pathlib.Path, name: str) -> str:
    """The findings in one file; empty if there are none."""
    done = subprocess.run([TOOL, "--quiet", "-p", build, name], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", help="these instead of what changed")
    parser.add_argument("--all", action="store_true", help="every source file")
    options = parser.parse_args()
    commands = json.loads((options.build / "compile_commands.json").read_text())
    compiled = {os.path.relpath(each["file"], ROOT) for each in commands}
    names = set(git("ls-files", "*.cpp")) if options.all else set(options.files) or changed()
    sources = sources_of(names, compiled)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, problem in zip(sources, pool.map(lambda name: tidy(options.build, name), sources)):
            failed += bool(problem)
            print(problem, end="", flush=True)
    print(f"clang-tidy: {failed} of {len(sources)} files have findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
