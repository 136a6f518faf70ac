"""The `.deb` and the wheel where nothing else is: `packages.py BUILD`. Both are made anew and unpacked into a root that has the C library and what the
packages ask for, copied from this system; there the tour runs. `packages.py BUILD --bootstrap` takes the packages of BUILD/dist and installs them, as
users do, into a Debian that is made for that from Debian's archive; it needs root."""
import base64
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import ROOT, Case, run_cases

BUILD = pathlib.Path(sys.argv[1]).resolve()
# What the tour itself is written in, beside what the packages need.
TOUR = ["bash", "coreutils"]
SKIPPED = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Packages:
    """Those of this system."""

    def __init__(self):
        self.depends, self.provided = {}, {}
        listed = run("dpkg-query", "-W", "-f", "${Package}\t${db:Status-Status}\t${Pre-Depends}, ${Depends}\t${Provides}\n")
        for line in listed.splitlines():
            name, status, depends, provides = line.split("\t")
            if status == "installed":
                self.depends[name] = self.names(depends)
                for each in sum(self.names(provides), []):
                    self.provided.setdefault(each, name)

    @staticmethod
    def names(text):
        """`a (>= 1), b | c` as [[a], [b, c]]."""
        found = [[re.split(r"[ (:]", one.strip())[0] for one in each.split("|")] for each in text.split(",")]
        return [names for names in found if names[0]]

    def closure(self, wanted):
        """`wanted`, and what it needs; each of `wanted` is a list of alternatives."""
        done, waiting = set(), list(wanted)
        while waiting:
            names = waiting.pop()
            here = next((name if name in self.depends else self.provided[name] for name in names
                         if name in self.depends or name in self.provided), None)
            if here is None:
                raise AssertionError(f"none of the packages {names} is installed")
            if here not in done:
                done.add(here)
                waiting += self.depends[here]
        return done


def choices_of(link):
    """What an alternative leads to, then what else it could: the machine may have chosen one of a package that is not copied."""
    if not link.is_symlink():
        return
    yield os.readlink(link)
    query = subprocess.run(["update-alternatives", "--query", link.name], capture_output=True, text=True)
    yield from re.findall(r"^Alternative: (.*)$", query.stdout, re.M)


def copy_root(root, packages):
    """The files of installed packages; links of the system such as /lib come with them."""
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / link).mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(f"usr/{link}")
    files = set()
    for name in packages:
        files.update(run("dpkg", "-L", name).splitlines())
    for file in sorted(files):
        source = pathlib.Path(file)
        target = root / os.path.realpath(source.parent).lstrip("/") / source.name
        if file.startswith(SKIPPED) or (source.is_dir() and not source.is_symlink()) or not os.path.lexists(source):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(target):
            shutil.copy2(source, target, follow_symlinks=False)
    for folder in ("tmp", "dev"):
        (root / folder).mkdir(exist_ok=True)
    (root / "dev/null").touch()
    # What packages write when they are installed: the alternatives, the loader's cache is not needed.
    alternatives = root / "etc/alternatives"
    alternatives.mkdir(parents=True, exist_ok=True)
    for link in pathlib.Path("/etc/alternatives").iterdir():
        chosen = next((each for each in choices_of(link) if (root / each.lstrip("/")).exists()), None)
        if chosen:
            (alternatives / link.name).symlink_to(chosen)
            for place in ("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"):
                here = pathlib.Path("/", place, link.name.removesuffix(f"-{pathlib.Path(place).name}"))
                if here.is_symlink() and os.readlink(here).startswith("/etc/alternatives"):
                    if not os.path.lexists(root / place / here.name):
                        (root / place / here.name).symlink_to(os.readlink(here))


def inside(root, *command):
    """Runs a command that sees nothing but the root."""
    enter = ["/usr/sbin/chroot", root] if os.geteuid() == 0 else ["/usr/bin/unshare", "--map-root-user", f"--root={root}"]
    return run(*enter, *command, env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})


def check_tour(printed):
    assert printed.count("agrees") == 6 and "GFLOP/s" in printed and "DIFFERS" not in printed, printed


def unpack_wheel(wheel, root):
    """As installers do it: packages to the folder of packages, scripts to that of programs; every file is in RECORD as it is."""
    site, scripts = root / "usr/lib/python3/dist-packages", root / "usr/local/bin"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record = next(name for name in names if name.endswith("/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
        assert set(rows) == set(names), "RECORD and the wheel differ"
        for name in names:
            data = archive.read(name)
            if name != record:
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert rows[name] == [f"sha256={digest}", str(len(data))], name
            is_script = ".data/scripts/" in name
            path = scripts / pathlib.Path(name).name if is_script else site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.replace(b"#!python", b"#!/usr/bin/python3", 1) if is_script else data)
            path.chmod(archive.getinfo(name).external_attr >> 16 or 0o644)
    return [path for path in (site / "ptl", scripts / "ptlc")]


def lean():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder, cwd=folder)
        deb = next(folder.glob("*.deb"))
        needs = Packages.names(run("dpkg-deb", "-f", deb, "Depends")) + Packages.names(run("dpkg-deb", "-f", deb, "Recommends"))
        # Of the linkers the small one, so that LLVM is not there.
        needs = [[name for name in names if name != "lld"] for names in needs]
        root = folder / "root"
        packages = Packages().closure(needs + [[name] for name in TOUR])
        assert not any("llvm" in name or "clang" in name or "gcc-1" in name.replace("gcc-12-base", "") for name in packages), packages
        copy_root(root, packages)

        wheel = run(sys.executable, ROOT / "runtime/python/wheel.py", BUILD, folder).strip()
        unpacked = unpack_wheel(wheel, root)
        shutil.copytree(ROOT / "examples", root / "opt/tour/examples")
        check_tour(inside(root, "bash", "/opt/tour/examples/demo.sh", "/usr/local"))
        shutil.rmtree(unpacked[0])
        unpacked[1].unlink()

        run("dpkg-deb", "-x", deb, root)
        check_tour(inside(root, "bash", "/usr/share/ptl/examples/demo.sh", "/usr"))
        inside(root, "ptl-lsp", "--check", "/usr/share/ptl/std/nn.ptl")
    return None


def bootstrap():
    """A new Debian; the packages are installed by its own tools."""
    deb, wheel = next((BUILD / "dist").glob("*.deb")), next((BUILD / "dist").glob("*.whl"))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root)
        for package in (deb, wheel):
            shutil.copy(package, root / "tmp")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        apt = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        inside(root, *apt, f"/tmp/{deb.name}", "binutils", "python3-numpy")
        check_tour(inside(root, "bash", "/usr/share/ptl/examples/demo.sh", "/usr"))
        shutil.copytree(ROOT / "examples", root / "opt/tour/examples")
        inside(root, "apt-get", "remove", "-y", "-qq", "ptl")
        inside(root, *apt, "python3-pip")
        inside(root, "pip", "install", "--no-index", "--no-deps", "--break-system-packages", f"/tmp/{wheel.name}")
        check_tour(inside(root, "bash", "/opt/tour/examples/demo.sh", "/usr/local"))
    return None


if __name__ == "__main__":
    sys.exit(run_cases("packages", [Case("bootstrap", bootstrap) if "--bootstrap" in sys.argv else Case("lean", lean)]))
