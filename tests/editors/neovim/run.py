"""Drives Neovim without a screen: run.py BUILD. Fails, saying what to install, where there is no Neovim."""
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
    editor = os.environ.get("PTL_NVIM") or shutil.which("nvim")
    if not editor:
        print("FAILED: there is no `nvim` here; install the package `neovim`")
        return 1
    if missing := missing_program(build):
        print(missing)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for source in ("steps.ptl", "shapes.ptl"):
            shutil.copy(HERE.parent / "sources" / source, home)
        (home / "init.lua").write_text(
            f"vim.opt.runtimepath:prepend('{ROOT}/editors/neovim')\n"
            # The parser that the build made, as a plugin would bring it.
            f"vim.opt.runtimepath:append('{build}/editors')\n"
            f"vim.g.ptl_server = '{build}/bin/ptl-lsp'\n"
            f"vim.g.ptl_compiler = '{build}/bin/ptlc'\n"
            "vim.opt.swapfile = false\n"
        )
        places = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        environment = {**os.environ, "PTL_STD": str(ROOT / "std"), "HOME": str(home), **places}
        command = [editor, "--headless", "-u", "init.lua", "-c", f"luafile {HERE}/test.lua", "steps.ptl"]
        try:
            run = subprocess.run(command, cwd=home, env=environment, timeout=60, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True)
        except subprocess.TimeoutExpired as late:
            print((late.stdout or b"").decode(), (late.stderr or b"").decode())
            print("FAILED: Neovim did not end in 60 s")
            return 1
        print(run.stdout + run.stderr)
        log = home / "results"
        print(log.read_text() if log.exists() else "FAILED: the test wrote no results")
        return 1 if run.returncode or not log.exists() or "FAILED" in log.read_text() else 0


if __name__ == "__main__":
    sys.exit(main())
