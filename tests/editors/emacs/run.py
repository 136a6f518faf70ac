"""Drives Emacs in batch: run.py BUILD. Fails, saying what to install, where there is no Emacs with Eglot."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from built import ROOT, Failed, found_editor, main, run_editor  # noqa: E402


def test(build, home, environment):
    editor = found_editor("PTL_EMACS", "emacs", "the packages `emacs-nox` and `elpa-eglot`")
    # Without -Q: the packages of the system are on the load path that the site's files set up.
    if subprocess.run([editor, "--batch", "--eval", "(require 'eglot)"], capture_output=True).returncode:
        raise Failed("this Emacs has no Eglot; install the package `elpa-eglot`")
    mode = home / "mode"
    mode.mkdir()
    for source in (ROOT / "editors/emacs").glob("*.el"):
        shutil.copy(source, mode)
    environment = {**environment, "PTL_BIN": str(build / "bin")}
    code, output = run_editor([editor, "--batch", "-L", mode, "--eval", "(setq byte-compile-error-on-warn t)",
                             "-f", "batch-byte-compile", *sorted(mode.glob("*.el"))], home, environment)
    print(output)
    if code:
        raise Failed("the mode compiles with warnings")
    code, output = run_editor([editor, "--batch", "-L", mode, "-l", "ert", "-l", HERE / "test.el",
                             "-f", "ert-run-tests-batch-and-exit"], home, environment)
    print(output)
    if code:
        raise Failed(f"the exit code of Emacs is {code}")


if __name__ == "__main__":
    sys.exit(main(test))
