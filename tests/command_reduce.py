"""`ptlc reduce`: what it keeps of a file, and what it refuses. `command_reduce.py BUILD`."""
import os
import pathlib
import sys

from harness import Tools, expect, in_folders, run_cases

# One error between much that it does not need.
FAULTY = """// Shapes that are far from each other.
struct Pair { a: f32, b: f32 }

fn unused(x: f32) -> f32 {
    return x * 2.0
}

/// Adds what cannot be added.
kernel sums[N, M](x: f32[N, M], y: f32[M], n: int) -> (z: f32[N], w: f32[N])
where M <= 4096
{
    let scale = 3.0
    parallel r in tiles(N, 16) {
        let row = sum(x[r, :], axis: 1)
        if n > 2 {
            z[r] = row * scale + x[r, :]
        } else {
            z[r] = row
        }
        w[r] = row - 1.0
    }
}

test "unused" {
    assert(unused(2.0) == 4.0, "twice")
}
"""
NEEDS_IMPORT = "import beside\n\nfn g(x: f32[4]) -> f32[4] {\n    let unused = 1.0\n    return beside.twice(x, x)\n}\n"


def errors_of(tools: Tools, path: pathlib.Path) -> list[str]:
    return tools.codes(path)[0]


def failing_check(tools: Tools, folder: pathlib.Path) -> None:
    """The same error is left, without what it does not need."""
    source = folder / "faulty.ptl"
    source.write_text(FAULTY)
    expected = errors_of(tools, source)[0]
    outcome = tools.run("reduce", source.name, cwd=folder)
    expect(outcome.code == 0 and expected in outcome.stderr, outcome)
    reduced = (folder / "faulty.reduced.ptl").read_text()
    expect(errors_of(tools, folder / "faulty.reduced.ptl") == [expected], reduced)
    expect(len(reduced) < 150 and "unused" not in reduced and "Pair" not in reduced and "//" not in reduced, reduced)
    expect(source.read_text() == FAULTY, "the file itself is changed")
    expect(tools.run("fmt", "--check", folder / "faulty.reduced.ptl").code == 0, reduced)


def number_of_processes(tools: Tools, folder: pathlib.Path) -> None:
    """On one processor and on many nothing is left that can be left out."""
    (folder / "faulty.ptl").write_text(FAULTY)
    sizes = []
    for threads in ("1", "7"):
        outcome = tools.run("reduce", "faulty.ptl", "-j", threads, "-o", "-", cwd=folder)
        expect(outcome.code == 0, outcome)
        sizes.append(len(outcome.stdout))
    expect(max(sizes) < 150, sizes)


def command_with_options(tools: Tools, folder: pathlib.Path) -> None:
    """What fails on a chip alone; the command's own options are behind `--`."""
    (folder / "chip.ptl").write_text(
        "kernel k[N](x: f64[N], y: f32[N]) -> (z: f64[N], w: f32[N]) {\n    parallel r in tiles(N, 64) {\n"
        "        w[r] = y[r] * 2.0\n        z[r] = x[r] + 1.0\n    }\n}\n")
    expect(tools.run("reduce", "chip.ptl", cwd=folder).code == 1, "`check` succeeds")
    words = ("check", "--target", "a3")
    failure = tools.run(*words, "chip.ptl", cwd=folder)
    expect(failure.code == 1, failure)
    outcome = tools.run("reduce", "chip.ptl", "-o", "small.ptl", "--", *words, cwd=folder)
    expect(outcome.code == 0, outcome)
    reduced = (folder / "small.ptl").read_text()
    again = tools.run(*words, "small.ptl", cwd=folder)
    expect(again.code == 1 and again.stderr[:12] == failure.stderr[:12] and "y[r]" not in reduced, reduced, again)


def imports_beside_the_file(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "beside.ptl").write_text("pub fn twice(x: f32[4]) -> f32[4] {\n    return x * 2.0\n}\n")
    (folder / "main.ptl").write_text(NEEDS_IMPORT)
    outcome = tools.run("reduce", "main.ptl", "-o", "-", cwd=folder)
    expect(outcome.code == 0 and "unused" not in outcome.stdout and "beside.twice" in outcome.stdout, outcome)


def own_test(tools: Tools, folder: pathlib.Path) -> None:
    """A program of the user says what is to be kept."""
    (folder / "faulty.ptl").write_text(FAULTY)
    script = folder / "has_sum.sh"
    script.write_text("#!/bin/sh\ngrep -q 'sum(x' \"$1\" && test \"$(basename \"$1\")\" = faulty.ptl\n")
    script.chmod(0o755)
    outcome = tools.run("reduce", "faulty.ptl", "--test", script, "-o", "-", cwd=folder)
    expect(outcome.code == 0 and "sum(x" in outcome.stdout and len(outcome.stdout) < 100, outcome)
    script.write_text("#!/bin/sh\nexit 1\n")
    outcome = tools.run("reduce", "faulty.ptl", "--test", script, cwd=folder)
    expect(outcome.code == 1 and "E0801" in outcome.stderr and "fails on the whole file" in outcome.stderr, outcome)


def text_that_does_not_parse(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "broken.ptl").write_text("fn first() {}\nfn ( { ] x\nfn later() {}\n")
    outcome = tools.run("reduce", "broken.ptl", "-o", "-", cwd=folder)
    expect(outcome.code == 0 and len(outcome.stdout) < 30, outcome)


def signals(tools: Tools, folder: pathlib.Path) -> None:
    """A crash is a signal, whatever was printed before it."""
    (folder / "crash.ptl").write_text(FAULTY)
    script = folder / "crash.sh"
    script.write_text("#!/bin/sh\ngrep -q struct \"$1\" && kill -SEGV $$\nexit 0\n")
    script.chmod(0o755)
    check = folder / "crashes.sh"
    check.write_text(f"#!/bin/sh\n{script} \"$1\"\ntest $? = 139\n")
    check.chmod(0o755)
    outcome = tools.run("reduce", "crash.ptl", "--test", check, "-o", "-", cwd=folder)
    expect(outcome.code == 0 and outcome.stdout.startswith("struct") and len(outcome.stdout) < 40, outcome)


def what_is_refused(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "good.ptl").write_text("fn id(x: f32) -> f32 {\n    return x\n}\n")
    for words, code, text in (
            ((), 2, "name the file"),
            (("good.ptl",), 1, "`ptlc check` succeeds"),
            (("good.ptl", "--", "no_command"), 2, "`no_command` is not a command"),
            (("good.ptl", "--", "mcp"), 2, "`mcp` is not a command"),
            (("good.ptl", "--", "check", "--no-option"), 1, "unknown option `--no-option`"),
            (("good.ptl", "--test", "/no/such/program"), 1, "cannot be started"),
            (("good.ptl", "--test", "true", "--", "check"), 2, "not both"),
            (("missing.ptl",), 1, "E0001"),
            (("good.ptl", "--target", "a3"), 2, "is not an option of `reduce`")):
        outcome = tools.run("reduce", *words, cwd=folder)
        expect(outcome.code == code and text in outcome.stderr, words, outcome)
    expect(sorted(os.listdir(folder)) == ["good.ptl"], os.listdir(folder))


TESTS = [failing_check, number_of_processes, command_with_options, imports_beside_the_file, own_test, text_that_does_not_parse,
         signals, what_is_refused]


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    return run_cases("command_reduce", in_folders("command_reduce", TESTS, lambda test, folder: test(tools, folder)))


sys.exit(main())
