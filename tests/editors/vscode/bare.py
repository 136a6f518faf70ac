"""The extension's package for this platform where nothing else is: bare.py BUILD

A root with the C library, a shell and the editor (code-server and its node), copied from this system, without LLVM and without PTL. The package is
installed into it, and the workbench, which a chromium outside shows, checks, explains, previews and runs a file with what the package brought.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import platform_package
import run
from tools import HERE, Missing, Tools, call, need

sys.path[:0] = [str(HERE.parents[1] / "install"), str(HERE.parents[1])]
STEPS = "colours diagnostic quickFix hint hover preview runTest chipLens timeline status"
# What node, the editor's terminal and a test in it need.
NEEDS = [[name] for name in ("libc6", "libstdc++6", "libgcc-s1", "bash", "coreutils", "sed", "grep", "procps")]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8", "SHELL": "/bin/bash", "VSCODE_CLI": "1"}


def make_root(root, shared, tools):
    """`shared` has the same path inside and outside, so that browser and editor speak of the same files."""
    import packages

    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    packages.copy_root(root, packages.Packages().closure(NEEDS))
    present = [str(file) for file in root.rglob("*") if any(word in file.name for word in ("LLVM", "MLIR", "clang", "ptl"))]
    if present:
        raise Missing(f"the root is not bare: {present[:3]}")
    for program in ("null", "ptmx", "tty", "urandom", "random", "zero"):
        (root / "dev" / program).unlink(missing_ok=True)
        subprocess.run(["cp", "-a", f"/dev/{program}", root / "dev" / program], check=False, stderr=subprocess.DEVNULL)
    inside = root / str(tools.folder).lstrip("/")
    inside.parent.mkdir(parents=True)
    # The same files, not copies: 450 MB.
    call(["cp", "-al", tools.folder, inside], root, "the editor")
    real = root / str(shared).lstrip("/")
    real.mkdir(parents=True)
    if shared.is_symlink():
        shared.unlink()
    shutil.rmtree(shared, ignore_errors=True)
    shared.symlink_to(real)


def enter(root):
    """A command in the root with its own /proc and terminals, gone with the command."""
    script = 'mkdir -p "$0/proc" "$0/dev/pts" && mount -t proc proc "$0/proc" && mount --bind /dev/pts "$0/dev/pts" && exec /usr/sbin/chroot "$0" "$@"'
    # Kill what is left inside when the first process ends.
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", script, str(root)]


def bare(build):
    chromium = need("chromium", "chromium")
    tools = Tools(build)
    package = platform_package.PlatformPackage(build).make(build / "editors" / "vscode-platform-package")
    base = build / "editors"
    root, shared = base / "bare-root", base / "bare-shared"
    make_root(root, shared, tools)
    folders = {name: shared / name for name in ("user", "extensions", "workspace")}
    for folder in folders.values():
        folder.mkdir()
    for file in (HERE / "workspace").iterdir():
        shutil.copy(file, folders["workspace"])
    shutil.copy(package, shared)
    settings = folders["user"] / "User" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes((HERE / "settings.json").read_bytes())
    (shared / "code-server.yaml").write_text("auth: none\n")
    results = Path(os.environ.get("PTL_TEST_RESULTS") or build / "test-results") / "vscode-bare"
    results.mkdir(parents=True, exist_ok=True)
    code = [*enter(root), tools.node, tools.code_server, "--config", shared / "code-server.yaml"]
    code += ["--user-data-dir", folders["user"], "--extensions-dir", folders["extensions"]]
    call([*code, "--install-extension", shared / package.name], build, "install the package", ENVIRONMENT)
    try:
        return run.drive(tools, code, folders["workspace"], results, dict(ENVIRONMENT, PTL_STEPS=STEPS), "workbench.mjs", chromium)
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shared.unlink(missing_ok=True)


if __name__ == "__main__":
    try:
        sys.exit(bare(Path(sys.argv[1]).resolve()))
    except Missing as problem:
        sys.exit(f"error: {problem}")
