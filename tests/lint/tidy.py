"""clang-tidy over what changed, with the checks of .clang-tidy. `tidy.py BUILD [--all] [FILES...]`.

Without files it checks those that differ from the merge base with the main branch, uncommitted changes included; for a header it checks
the source file of the same name. The build folder has to be built, because sources include what is generated there. A file takes one to
three seconds of one core, and about four times as long without the plugin of own_declarations.cpp, so this is no test of `./dev test`:
`./dev lint` runs it. A finding in a header is shown once, for the first file that includes it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from compile_commands import per_file

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


def plugin_of(build: pathlib.Path) -> list[str]:
    """The option that loads the plugin, if it was built."""
    plugin = build.absolute() / "tests/lint/own_declarations.so"
    return ["--load", str(plugin)] if plugin.exists() else []


def tidy(build: pathlib.Path, name: str) -> list[str]:
    """The findings in one file and in its headers: of each the message and the lines that belong to it."""
    done = subprocess.run([TOOL, *plugin_of(build), "--quiet", "-p", build / "lint", name], cwd=ROOT, capture_output=True, text=True)
    if not done.returncode:
        return []
    # What is no finding, such as a crash of the tool, is one piece.
    return re.split(r"^(?=\S+:\d+:\d+: (?:error|warning): )", done.stdout or done.stderr, flags=re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", help="these instead of what changed")
    parser.add_argument("--all", action="store_true", help="every source file")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="files at the same time")
    options = parser.parse_intermixed_args()
    commands = per_file(options.build)
    compiled = {os.path.relpath(each["file"], ROOT) for each in commands}
    (options.build / "lint").mkdir(exist_ok=True)
    (options.build / "lint/compile_commands.json").write_text(json.dumps(commands))
    names = set(git("ls-files", "*.cpp")) if options.all else set(options.files) or changed()
    sources = sources_of(names, compiled)
    failed, shown = 0, set()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for findings in pool.map(lambda name: tidy(options.build, name), sources):
            failed += bool(findings)
            new = [each for each in findings if each not in shown]
            shown.update(new)
            print("".join(new), end="", flush=True)
    print(f"clang-tidy: {failed} of {len(sources)} files have findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
