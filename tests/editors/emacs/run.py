"""Drives Emacs in batch: run.py BUILD. Fails, saying what to install, where there is no Emacs with Eglot."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from built import missing_program  # noqa: E402

ROOT = HERE.parents[2]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    editor = os.environ.get("PTL_EMACS") or shutil.which("emacs")
    if not editor:
        print("FAILED: there is no `emacs` here; install the packages `emacs-nox` and `elpa-eglot`")
        return 1
    # Without -Q: the packages of the system are on the load path that the site's files set up.
    if subprocess.run([editor, "--batch", "--eval", "(require 'eglot)"], capture_output=True).returncode:
        print("FAILED: this Emacs has no Eglot; install the package `elpa-eglot`")
        return 1
    if missing := missing_program(build):
        print(missing)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for source in ("steps.ptl", "shapes.ptl"):
            shutil.copy(HERE.parent / "sources" / source, home)
        mode = home / "mode"
        mode.mkdir()
        for source in (ROOT / "editors/emacs").glob("*.el"):
            shutil.copy(source, mode)
        environment = {**os.environ, "PTL_STD": str(ROOT / "std"), "HOME": str(home), "PTL_BIN": str(build / "bin")}
        compiled = subprocess.run(
            [editor, "--batch", "-L", str(mode), "--eval", "(setq byte-compile-error-on-warn t)",
             "-f", "batch-byte-compile", *map(str, sorted(mode.glob("*.el")))],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        print(compiled.stdout + compiled.stderr)
        if compiled.returncode:
            print("FAILED: the mode compiles with warnings")
            return 1
        command = [editor, "--batch", "-L", str(mode), "-l", "ert", "-l", str(HERE / "test.el"),
                   "-f", "ert-run-tests-batch-and-exit"]
        try:
            run = subprocess.run(command, cwd=home, env=environment, timeout=60, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired as late:
            print((late.stdout or b"").decode())
            print("FAILED: Emacs did not end in 60 s")
            return 1
        print(run.stdout)
        return run.returncode


if __name__ == "__main__":
    sys.exit(main())
