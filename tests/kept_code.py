"""Compiled code that is kept from process to process, and `--cpu`: when it is found again, and when it must not be.
`kept_code.py BUILD`."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys

from harness import ENVIRONMENT, Tools, expect, in_folders, run_cases

SOURCE = """import "part.ptl"

/// Twice `x`, and what the other file adds.
pub kernel twice[N](x: f32[N]) -> (y: f32[N])
tune B = 64
{
    parallel r in tiles(N, B) {
        y[r] = x[r] * 2.0 + part.more()
    }
}

test "twice" {
    assert(twice(ones(f32[2]))[1] == 3.0)
}

bench "twice" {
    twice(zeros(f32[8]))
}
"""
PART = "pub fn more() -> f32 {\n    return 1.0\n}\n"
RESULT = "[3, 3, 3, 3, 3]"
RUN = ("run", "twice.ptl", "N=5", "x=ones")
MIB = 1 << 20


class Place:
    """A folder with the program and a cache of its own."""

    def __init__(self, tools: Tools, folder: pathlib.Path):
        self.tools, self.folder, self.cache = tools, folder, folder / "cache"
        (folder / "twice.ptl").write_text(SOURCE)
        (folder / "part.ptl").write_text(PART)

    def command(self, *words, **env):
        env = {"PTL_CACHE": str(self.cache), **env}
        return self.tools.run(*words, cwd=self.folder, env=env)

    def run(self, *words, result=RESULT, **env):
        outcome = self.command(*RUN, *words, **env)
        expect(outcome.code == 0 and result in outcome.stdout, words, outcome)

    def entries(self):
        return sorted(self.cache.glob("*.code"))

    def only(self) -> pathlib.Path:
        entries = self.entries()
        expect(len(entries) == 1, entries)
        return entries[0]

    def is_found(self, *words, **env) -> bool:
        """Runs the program: whether that took the only entry, which is used but not written then."""
        entry = self.only()
        os.utime(entry, (1, 1))
        before = entry.stat()
        self.run(*words, **env)
        after = entry.stat()
        expect(len(self.entries()) == 1 or after.st_mtime == before.st_mtime, words, self.entries())
        return after.st_ino == before.st_ino and after.st_mtime > before.st_mtime


def second_process(place: Place) -> None:
    place.run()
    entry = place.only()
    expect(stat.S_IMODE(place.cache.stat().st_mode) == 0o700, oct(place.cache.stat().st_mode))
    expect(stat.S_IMODE(entry.stat().st_mode) == 0o600, oct(entry.stat().st_mode))
    expect(place.is_found(), "the second process compiles")
    # Another extent is other data of the same code.
    outcome = place.command("run", "twice.ptl", "N=3", "x=ones")
    expect("[3, 3, 3]" in outcome.stdout and len(place.entries()) == 1, outcome, place.entries())
    # A test calls the same kernel in the same form; so does a bench.
    for command in ("test", "bench"):
        os.utime(entry, (1, 1))
        outcome = place.command(command, "twice.ptl")
        expect(outcome.code == 0 and len(place.entries()) == 1, outcome, place.entries())
        expect(entry.stat().st_mtime > 1, f"`ptlc {command}` compiles")


def what_code_depends_on(place: Place) -> None:
    """Each of these is other code, which has an entry of its own and is found the next time."""
    place.run()
    known = 1
    for words in (["-O1"], ["-O0"], ["--unchecked"], ["-D", "twice.B=8"], ["-D", "twice.B=16"], ["--cpu", "x86-64-v2"], ["--cpu", "x86-64"],
                  ["--cpu", "x86-64+sse3"], ["-W", "no-unused"]):  # fmt: skip
        place.run(*words)
        known += 1
        expect(len(place.entries()) == known, words, "takes the entry of other code")
        place.run(*words)
        expect(len(place.entries()) == known, words, "is not found again")
    (place.folder / "part.ptl").write_text(PART.replace("1.0", "2.0"))
    place.run(result="[4, 4, 4, 4, 4]")
    (place.folder / "twice.ptl").write_text(SOURCE.replace("* 2.0", "* 4.0"))
    place.run(result="[6, 6, 6, 6, 6]")
    expect(len(place.entries()) == known + 2, place.entries())


def build_id(file: pathlib.Path) -> tuple[int, int]:
    """Where the build ID of an ELF file stands, and its length."""
    with open(file, "rb") as data:
        header = data.read(64)
        table, = struct.unpack_from("<Q", header, 0x20)
        size, count = struct.unpack_from("<HH", header, 0x36)
        for i in range(count):
            data.seek(table + i * size)
            kind, _, offset, _, _, length = struct.unpack("<IIQQQQ", data.read(40))
            if kind != 4:  # notes
                continue
            data.seek(offset)
            notes, at = data.read(length), 0
            while at + 12 <= length:
                name, described, kind = struct.unpack_from("<III", notes, at)
                start = at + 12 + (name + 3) // 4 * 4
                if kind == 3 and notes[at + 12 : at + 16] == b"GNU\0":
                    return offset + start, described
                at = start + (described + 3) // 4 * 4
    raise AssertionError(f"{file} has no build ID")


def another_build(place: Place) -> None:
    """A compiler that differs in nothing but its build ID does not take what this one has made, and leaves it to it."""
    place.run()
    entry = place.only()
    other = place.folder / "other"
    for folder, name in (("bin", "ptlc"), ("bin", "ptlc-ir")):
        (other / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(place.tools.build / folder / name, other / folder / name)
    offset, size = build_id(other / "bin/ptlc-ir")
    expect(size >= 8, size)
    with open(other / "bin/ptlc-ir", "r+b") as file:
        file.seek(offset)
        first = file.read(1)
        file.seek(offset)
        file.write(bytes([first[0] ^ 1]))
    os.utime(entry, (1, 1))
    for _ in range(2):
        done = subprocess.run([other / "bin/ptlc", *RUN], cwd=place.folder, env={**ENVIRONMENT, "PTL_CACHE": str(place.cache)},
                              capture_output=True, text=True, timeout=120)  # fmt: skip
        expect(done.returncode == 0 and RESULT in done.stdout, done)
        expect(len(place.entries()) == 2, place.entries())
    expect(entry.stat().st_mtime == 1, "another build has used the entry")
    place.run()
    expect(len(place.entries()) == 2 and entry.stat().st_mtime > 1, place.entries())


def damaged(place: Place) -> None:
    """What is truncated, changed or another file is ignored and replaced."""
    place.run()
    entry = place.only()
    whole = entry.read_bytes()
    middle = len(whole) // 2
    for wrong in (b"", whole[:10], whole[:24], whole[:-1], whole + b"\0", whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
                  b"no code", b"\0" * len(whole)):  # fmt: skip
        entry.write_bytes(wrong)
        place.run()
        expect(place.only().read_bytes() == whole, f"what is wrong ({len(wrong)} bytes) stays")
    expect(place.is_found(), "the new entry is not used")
    # The name of a file says what it is; a file under another name is no such thing.
    other = place.cache / ("0" * 64 + ".code")
    entry.rename(other)
    place.run()
    expect(sorted(place.entries()) == sorted([entry, other]) and entry.read_bytes() == whole, place.entries())


def not_private(place: Place) -> None:
    """What others may have written is not executed."""
    place.run()
    entry = place.only()
    for path, mode in ((entry, 0o666), (place.cache, 0o777), (entry, 0o620)):
        private = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        os.utime(entry, (1, 1))
        inode = entry.stat().st_ino
        place.run()
        taken = entry.stat().st_ino == inode and entry.stat().st_mtime > 1
        expect(not taken, f"{path.name} of mode {mode:o} is believed")
        path.chmod(private)
    entry.chmod(0o600)
    if os.geteuid() == 0:  # only then can files be given away
        os.chown(entry, 12345, -1)
        expect(not place.is_found(), "the file of another user is believed")
    expect(place.is_found(), "what this user wrote is not believed")
    target = place.folder / "elsewhere"
    entry.rename(target)
    entry.symlink_to(target)
    before = target.stat().st_mtime_ns
    place.run()
    expect(target.stat().st_mtime_ns == before and not entry.is_symlink(), "a link is followed")


def at_once(place: Place) -> None:
    """Processes that start together on an empty cache, some of which are killed, all give the result."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for outcome in pool.map(lambda _: place.command(*RUN), range(12)):
            expect(outcome.code == 0 and RESULT in outcome.stdout, outcome)
    expect(place.is_found(), "none has left an entry")
    expect(len(list(place.cache.iterdir())) == 1, list(place.cache.iterdir()))


def bounded(place: Place) -> None:
    """PTL_CACHE_LIMIT bounds what lies there; what was not used for longest goes first."""
    place.run()
    kept = place.only()
    for i in range(4):
        old = place.cache / f"{i:064x}.code"
        old.write_bytes(b"x" * (300 << 10))
        os.utime(old, (100 + i, 100 + i))
    (place.cache / "notes.txt").write_bytes(b"x" * (2 * MIB))  # not the cache's
    place.run("-O1", PTL_CACHE_LIMIT="1")
    left = place.entries()
    expect(sum(file.stat().st_size for file in left) <= MIB, left)
    expect(kept in left and len(left) == 5 and left[0].name.endswith("1.code"), left)
    expect((place.cache / "notes.txt").exists(), "a file of somebody else is gone")
    place.run("-O0", PTL_CACHE_LIMIT="0")
    expect(len(place.entries()) == 5, place.entries())


def none_wanted(place: Place) -> None:
    place.run("--no-cache")
    place.run(PTL_CACHE="off")
    for command in ("test", "bench"):
        outcome = place.command(command, "twice.ptl", "--no-cache")
        expect(outcome.code == 0, outcome)
    expect(not place.cache.exists() and not (place.folder / "off").exists(), list(place.folder.iterdir()))
    place.run()
    expect(not place.is_found("--no-cache"), "`--no-cache` takes what is kept")
    # More than code is wanted: every step is taken.
    outcome = place.command(*RUN, "--dump-phases", "phases")
    expect(outcome.code == 0 and list((place.folder / "phases").glob("*.ll")), outcome)


def no_folder(place: Place) -> None:
    """A cache that cannot be is none, and nothing is said."""
    (place.folder / "file").write_text("")
    for where in ("/dev/null/ptl", str(place.folder / "file"), str(place.folder / "file/in")):
        outcome = place.command(*RUN, PTL_CACHE=where)
        expect(outcome.code == 0 and RESULT in outcome.stdout and not outcome.stderr, where, outcome)
    if os.geteuid() != 0:  # root may write everywhere
        place.cache.mkdir(mode=0o500)
        outcome = place.command(*RUN)
        expect(outcome.code == 0 and RESULT in outcome.stdout and not outcome.stderr, outcome)


def places(place: Place) -> None:
    """Without PTL_CACHE: `ptl` in XDG_CACHE_HOME, which must be absolute, or in ~/.cache."""
    home = place.folder / "home"
    place.run(PTL_CACHE="", XDG_CACHE_HOME=str(place.folder / "xdg"), HOME=str(home))
    place.run(PTL_CACHE="", XDG_CACHE_HOME="relative", HOME=str(home))
    expect(list((place.folder / "xdg/ptl").glob("*.code")) and list((home / ".cache/ptl").glob("*.code")), list(place.folder.iterdir()))
    expect(not (place.folder / "relative").exists(), "a relative folder is used")


def command(place: Place) -> None:
    place.run()
    shown = place.command("cache", PTL_CACHE_LIMIT="7")
    expect(shown.code == 0 and shown.stdout == f"{place.cache}: 1 file, 0.0 MiB of at most 7 MiB\n", shown)
    (place.cache / "notes.txt").write_text("mine")
    cleared = place.command("cache", "clear")
    expect(cleared.code == 0 and cleared.stdout == f"{place.cache}: removed 1 file, 0.0 MiB\n", cleared)
    expect([each.name for each in place.cache.iterdir()] == ["notes.txt"], list(place.cache.iterdir()))
    off = place.command("cache", PTL_CACHE="off")
    expect(off.code == 0 and "PTL_CACHE is `off`" in off.stdout, off)
    for words in (["empty"], ["clear", "all"]):
        wrong = place.command("cache", *words)
        expect(wrong.code == 2 and "`ptlc cache clear` empties it" in wrong.stderr, wrong)


def processors(place: Place) -> None:
    """`--cpu` decides what instructions the code has, and what runs here."""
    if os.uname().machine != "x86_64":
        return

    def assembly(name: str) -> str:
        outcome = place.command("build", "twice.ptl", "--cpu", name, "--emit=asm", "-o", "-")
        expect(outcome.code == 0, outcome)
        return outcome.stdout

    for name, has in (("x86-64-v2", ""), ("x86-64-v3", "y"), ("x86-64-v4", "z"), ("x86-64-v4-avx512f", "y"), ("x86-64-v3-avx", ""), ("skylake-avx512", "z"), ("sandybridge+avx2+fma", "y")):  # fmt: skip
        text = assembly(name)
        expect(("%zmm" in text) == (has == "z"), name, text)
        expect(has == "z" or ("%ymm" in text) == (has == "y"), name, text)
    # Where there are no instructions for `f16`, its conversions are called: from code in memory, and from libraries.
    (place.folder / "half.ptl").write_text("pub program half[N](x: f16[N]) -> (y: f16[N]) { y = x * 3.0 }\n")
    for name in ("x86-64", "x86-64-v2", "x86-64-v3"):
        for words in ((), ("--no-cache",)):
            ran = place.command("run", "half.ptl", "N=3", "x=ones", "--cpu", name, *words)
            expect(ran.code == 0 and "[3, 3, 3]" in ran.stdout and not ran.stderr, name, ran)
        built = place.command("build", "half.ptl", "--cpu", name, "-o", "half.so")
        expect(built.code == 0 and not built.stderr, name, built)
    for name, why in (("nonesuch", "no processor `nonesuch`"), ("x86-64-v3+nonesuch", "no feature `nonesuch`"), ("", "no processor ``"), ("x86-64-v3-nonesuch", "no processor `x86-64-v3-nonesuch`"), ("+", "no processor `+`")):  # fmt: skip
        for words in (RUN, ("build", "twice.ptl", "-o", "x.so")):
            wrong = place.command(*words, "--cpu", name)
            expect(wrong.code == 2 and why in wrong.stderr, name, wrong)
    # No processor of this architecture has both.
    for words in (RUN, ("test", "twice.ptl"), ("bench", "twice.ptl")):
        lacking = place.command(*words, "--cpu", "x86-64+xop+avx512fp16")
        expect(lacking.code == 3 and "E0811" in lacking.stderr and "this processor lacks" in lacking.stderr, lacking)
        expect("xop" in lacking.stderr or "avx512fp16" in lacking.stderr, lacking)
    for words in (("run", "--target", "a3", "--sim", "twice.ptl", "N=5", "x=ones"), ("build", "twice.ptl", "--target", "a3", "--emit=pto")):
        wrong = place.command(*words, "--cpu", "x86-64-v2")
        expect(wrong.code == 2 and "not for `a3`" in wrong.stderr, wrong)


SEARCHED = """pub kernel scaled[R, C](x: f32[R, C]) -> (y: f32[R, C])
tune ROWS: [8, 16, 32] = 8
{
    parallel r in tiles(R, ROWS) {
        for c in tiles(C, 256) { y[r, c] = x[r, c] * 2.0 }
    }
}
"""


def tuned(place: Place) -> None:
    """Predicted times of choices: a search that was made answers with what it found, for the same sources and sizes alone."""
    source = place.folder / "scaled.ptl"
    source.write_text(SEARCHED)

    def search(*words, **env):
        outcome = place.command("tune", "scaled.ptl", "--target", "a3", "--json", "-D", "R=640", "-D", "C=512", *words, **env)
        expect(outcome.code == 0, words, outcome)
        document = json.loads(outcome.stdout)
        known = document.pop("known", 0)
        del document["seconds"]
        return document, known

    first, known = search()
    expect(known == 0 and len(first["tries"]) > 3 and first["sizes"], first)
    again, known = search()
    expect(again == first and known == len(first["tries"]), again, known)
    # A search that ended early goes on.
    place.command("cache", "clear")
    _, known = search("--budget", "0")
    expect(known == 0, known)
    again, known = search()
    expect(again == first and known == 1, again, known)
    # Neither what is damaged nor what belongs to another question is taken.
    for entry in place.entries():
        entry.write_bytes(entry.read_bytes()[:-7])
    expect(search() == (first, 0), "damaged")
    expect(search("--no-cache") == (first, 0), "none wanted")
    other, known = search("-O0")
    expect(known == 0, other)
    source.write_text(SEARCHED.replace("* 2.0", "* 3.0"))
    expect(search()[1] == 0, "another source")
    source.write_text(SEARCHED)
    expect(search() == (first, len(first["tries"])), "the first source again")
    ran = place.command("tune", "scaled.ptl", "--target", "a3", "-D", "R=1280", "-D", "C=512", "--json")
    expect(ran.code == 0 and "known" not in json.loads(ran.stdout), ran)


TESTS = [
    second_process, what_code_depends_on, another_build, damaged, not_private, at_once, bounded, none_wanted, no_folder, places, command,
    processors, tuned,
]  # fmt: skip


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1])).in_processes()
    tests = [test for test in TESTS if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]]
    return run_cases("kept_code", in_folders("kept_code", tests, lambda test, folder: test(Place(tools, folder))))


sys.exit(main())
