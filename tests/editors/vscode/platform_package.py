"""The extension with everything inside: server, compiler, runtime and library for the platform of this build.

platform_package.py BUILD [FOLDER]   writes FOLDER/ptl-PLATFORM-VERSION.vsix (BUILD/dist)
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tools import ROOT, Extension, Missing, call, locked

# What the extension starts and what these read; not the pages of manuals, nor the scripts of shells.
COMPONENTS = ("compiler", "runtime", "server")
LEFT_OUT = ("man", "bash-completion", "zsh", "fish")


def platform_name():
    """As the marketplace calls it."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{platform.system().lower()}-{machine}"


def repository():
    """Where the sources are published; nothing for a clone of a folder."""
    found = subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return found if found.startswith("https://") and "@" not in found else None


class PlatformPackage:
    def __init__(self, build):
        self.build = Path(build)
        self.extension = Extension(build)
        self.folder = self.build / "editors" / "vscode-platform"

    def make(self, folder):
        self.extension.make()
        with locked(self.folder):
            for old in self.folder.iterdir():
                if old.name != ".lock":
                    shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
            for source in self.extension.folder.iterdir():
                if source.name in ("node_modules", ".lock", ".modules", ".package") or source.suffix == ".vsix":
                    continue
                copy = shutil.copytree if source.is_dir() else shutil.copy
                copy(source, self.folder / source.name)
            (self.folder / "node_modules").symlink_to(self.extension.folder / "node_modules")
            self.install_tools(self.folder / "tools")
            return self.package(Path(folder))

    def install_tools(self, tools):
        for component in COMPONENTS:
            call(["cmake", "--install", self.build, "--prefix", tools, "--strip", "--component", component], self.build, f"install {component}")
        for name in LEFT_OUT:
            shutil.rmtree(tools / "share" / name, ignore_errors=True)

    def package(self, folder):
        manifest = json.loads((self.folder / "package.json").read_text())
        where = repository()
        if where:
            manifest["repository"] = {"type": "git", "url": where}
            (self.folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
        folder.mkdir(parents=True, exist_ok=True)
        target = platform_name()
        path = folder / f"ptl-{target}-{manifest['version']}.vsix"
        command = ["node", "node_modules/@vscode/vsce/vsce", "package", "--target", target, "--no-dependencies"]
        # Links of the page lead to the repository, if there is one, else into the package.
        command += [] if where else ["--no-rewrite-relative-links", "--allow-missing-repository"]
        call([*command, "--out", path.resolve()], self.folder, "type check, bundle and package")
        return path


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve()
    try:
        print(PlatformPackage(where).make(sys.argv[2] if len(sys.argv) > 2 else where / "dist"))
    except Missing as problem:
        sys.exit(f"error: {problem}")
