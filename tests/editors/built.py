"""What the tests of editors without a screen share: the editor and the build that they need, and a home folder with the sources."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Failed(Exception):
    """Says why the test fails."""


def found_editor(variable, name, packages):
    """The editor: `variable` of the environment, else the program of that name; `packages` have it."""
    editor = os.environ.get(variable) or shutil.which(name)
    if not editor:
        raise Failed(f"there is no `{name}` here; install {packages}")
    return editor


def run_editor(command, home, environment):
    """The editor's exit code, and what it printed."""
    try:
        run = subprocess.run(command, cwd=home, env=environment, timeout=60, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"no end after 60 s\n{(late.stdout or b'').decode()}") from None
    return run.returncode, run.stdout


def main(test) -> int:
    """Calls `test(build, home, environment)` with the build that the command line names, and a folder that has the sources and is
    the editor's home. It fails by `Failed`."""
    build = pathlib.Path(sys.argv[1]).resolve()
    try:
        for program in ("ptl-lsp", "ptlc-ir", "ptlc"):
            if not (build / "bin" / program).exists():
                raise Failed(f"{build}/bin/{program} is not built")
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            for source in ("steps.ptl", "shapes.ptl"):
                shutil.copy(HERE / "sources" / source, home)
            test(build, home, {**os.environ, "PTL_STD": str(ROOT / "std"), "HOME": str(home)})
    except Failed as why:
        print(f"FAILED: {why}")
        return 1
    return 0
