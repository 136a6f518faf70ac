"""Drives Neovim without a screen: run.py BUILD. Fails, saying what to install, where there is no Neovim."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from built import ROOT, Failed, found_editor, main, run_editor  # noqa: E402


def test(build, home, environment):
    editor = found_editor("PTL_NVIM", "nvim", "the package `neovim`")
    (home / "init.lua").write_text(
        f"vim.opt.runtimepath:prepend('{ROOT}/editors/neovim')\n"
        # The parser that the build made, as a plugin would bring it.
        f"vim.opt.runtimepath:append('{build}/editors')\n"
        f"vim.g.ptl_server = '{build}/bin/ptl-lsp'\n"
        f"vim.g.ptl_compiler = '{build}/bin/ptlc'\n"
        "vim.opt.swapfile = false\n"
    )
    places = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    code, output = run_editor([editor, "--headless", "-u", "init.lua", "-c", f"luafile {HERE}/test.lua", "steps.ptl"], home,
                            {**environment, **places})
    print(output)
    log = home / "results"
    results = log.read_text() if log.exists() else "FAILED: the test wrote no results"
    print(results)
    if code or "FAILED" in results:
        raise Failed(f"the exit code of Neovim is {code}")


if __name__ == "__main__":
    sys.exit(main(test))
