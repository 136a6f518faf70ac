"""The conventions of `ptlc`: exit codes, standard input and output, response files, colours, dependency files.
`command_line.py BUILD`."""
import json
import pathlib
import sys
import tempfile
import time

from harness import Case, Tools, run_cases

GOOD = "fn id(x: f32) -> f32 {\n    return x\n}\n"
STOPS = """kernel asserts[N](x: f32[N], n: int) -> (y: f32[N])
{
    assert(n < 4, "n is too large")
    parallel r in tiles(N, 4) { y[r] = x[r] }
}

kernel bounds[N](x: f32[N], n: int) -> (y: f32[N])
{
    parallel r in tiles(N, 4) { y[r] = x[r] + x[n] }
}

kernel requires[N](x: f32[N], n: int) -> (y: f32[N])
where n < 4
{
    parallel r in tiles(N, 4) { y[r] = x[r] }
}
"""
BAD = "fn id(x: f32) -> f32 {\n    return y\n}\n"


def expect(condition: bool, *context) -> None:
    if not condition:
        raise AssertionError("\n".join(str(each) for each in context))


def exit_codes(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "good.ptl").write_text(GOOD)
    (folder / "bad.ptl").write_text(BAD)
    wanted = {
        ("--version",): 0,
        ("--help",): 0,
        ("check", "--help"): 0,
        ("check", "good.ptl"): 0,
        ("check", "bad.ptl"): 1,
        ("check", "missing.ptl"): 1,
        ("check", "."): 1,
        ("check",): 2,
        ("chekc", "good.ptl"): 2,
        ("check", "--unknown", "good.ptl"): 2,
        ("check", "--diagnostics=xml", "good.ptl"): 2,
        ("check", "@missing"): 2,
        ("explain", "E9999"): 2,
        ("sim", "good.ptl"): 3,
        ("tune", "good.ptl"): 3,
    }
    for arguments, code in wanted.items():
        outcome = tools.run(*arguments, cwd=folder)
        expect(outcome.code == code, arguments, outcome)
        expect(code == 0 or outcome.stderr, arguments, "a failure says why")


def standard_input(tools: Tools, folder: pathlib.Path) -> None:
    outcome = tools.run("check", "-", "--stdin-name", "editor.ptl", "--diagnostics=short", stdin=BAD)
    expect(outcome.code == 1 and outcome.stderr.startswith("editor.ptl:2:12: error[E"), outcome)
    formatted = tools.run("fmt", "-", stdin="fn  id( x:f32 )->f32 { return x }\n")
    expect(formatted.code == 0 and formatted.stdout.startswith("fn id(x: f32) -> f32"), formatted)


def response_files(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "a b.ptl").write_text(GOOD)
    (folder / "args").write_text('check "a b.ptl"\n')
    outcome = tools.run("@args", cwd=folder)
    expect(outcome.code == 0, outcome)


def documents(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "bad.ptl").write_text(BAD)
    document = json.loads(tools.run("check", "--diagnostics=json", "bad.ptl", cwd=folder).stdout)
    expect(document["version"] == 1 and document["errors"] == 1, document)
    first = document["diagnostics"][0]
    expect(first["file"] == "bad.ptl" and first["begin"]["line"] == 2, first)
    sarif = json.loads(tools.run("check", "--diagnostics=sarif", "bad.ptl", cwd=folder).stdout)
    expect(sarif["runs"][0]["results"][0]["ruleId"] == first["code"], sarif)
    clean = json.loads(tools.run("check", "--diagnostics=json", "-", stdin=GOOD).stdout)
    expect(clean["diagnostics"] == [], clean)


def colours(tools: Tools, folder: pathlib.Path) -> None:
    plain = tools.run("check", "-", stdin=BAD)
    forced = tools.run("check", "--color=always", "-", stdin=BAD)
    expect("\x1b[" not in plain.stderr, plain)
    expect("\x1b[1;31m" in forced.stderr, forced)


def dependencies(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "lib.ptl").write_text("pub " + GOOD)
    (folder / "main.ptl").write_text('import "lib.ptl": id\n\nfn twice(x: f32) -> f32 {\n    return id(id(x))\n}\n')
    outcome = tools.run("check", "-MD", "-MF", "deps", "main.ptl", cwd=folder)
    expect(outcome.code == 0, outcome)
    text = (folder / "deps").read_text()
    expect(text.startswith("main.ptl:") and "lib.ptl" in text, text)


def error_limit(tools: Tools, folder: pathlib.Path) -> None:
    many = "".join(f"fn f{i}() -> f32 {{\n    return y{i}\n}}\n" for i in range(9))
    outcome = tools.run("check", "--error-limit=4", "--diagnostics=short", "-", stdin=many)
    expect(outcome.stderr.count("error[") == 4 and outcome.code == 1, outcome)
    expect("5 more errors not shown" in tools.run("check", "--error-limit=4", "-", stdin=many).stderr)


def warnings(tools: Tools, folder: pathlib.Path) -> None:
    text = "fn half(h: int) -> int {\n    let unused = 3\n    return h\n}\n"
    plain = tools.run("check", "--diagnostics=short", "-", stdin=text)
    expect(plain.code == 0 and "warning[W" in plain.stderr, plain)
    document = json.loads(tools.run("check", "--diagnostics=json", "-", stdin=text).stdout)
    flag = document["diagnostics"][0]["flag"]
    off = tools.run("check", f"-Wno-{flag}", "-", stdin=text)
    expect(off.code == 0 and off.stderr == "", off)
    for option in ("-Werror", f"-Werror={flag}"):
        strict = tools.run("check", option, "-", stdin=text)
        expect(strict.code == 1 and "error[W" in strict.stderr, option, strict)


def formatting(tools: Tools, folder: pathlib.Path) -> None:
    path = folder / "ugly.ptl"
    path.write_text("fn  id( x:f32 )->f32 {\nreturn   x }\n")
    expect(tools.run("fmt", "--check", path).code == 1)
    expect(tools.run("fmt", path).code == 0 and path.read_text() == GOOD, path.read_text())
    expect(tools.run("fmt", "--check", path).code == 0)
    expect(sorted(p.name for p in folder.iterdir()) == ["ugly.ptl"], "a temporary file was left behind")


def stopped_programs(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "stops.ptl").write_text(STOPS)
    wanted = {"asserts": (3, "n is too large"), "bounds": (9, "9 is outside of 0..8"), "requires": (13, "n < 4")}
    for target in ("cpu", "reference"):
        for entry, (line, reason) in wanted.items():
            command = ["run", "stops.ptl", "--entry", entry, "--target", target, "--diagnostics=short"]
            command += ["x=random()", "N=8"]
            outcome = tools.run(*command, "n=9", cwd=folder)
            expect(outcome.code == 5, command, outcome)
            expect(outcome.stderr.startswith(f"stops.ptl:{line}:"), command, outcome)
            expect(reason in outcome.stderr and f"`{entry}`" in outcome.stderr, command, outcome)
            expect(tools.run(*command, "n=3", cwd=folder).code == 0, command, "3 is allowed")
    expect(tools.run("run", "stops.ptl", "--entry", "asserts", cwd=folder).code == 1, "arguments are missing")
    expect(tools.run("run", "stops.ptl", "--entry", "nothing", cwd=folder).code == 1)
    expect(tools.run("run", cwd=folder).code == 2)
    expect(tools.run("run", "stops.ptl", "--unknown", cwd=folder).code == 2)
    expect(tools.run("run", "stops.ptl", "--target", "a3", "--sim", cwd=folder).code == 3)


def starter_project(tools: Tools, folder: pathlib.Path) -> None:
    created = tools.run("new", "axpy", cwd=folder)
    expect(created.code == 0, created)
    for command in ("check", "test", "fmt"):
        arguments = ["--check"] if command == "fmt" else []
        outcome = tools.run(command, *arguments, "axpy.ptl", cwd=folder / "axpy")
        expect(outcome.code == 0, command, outcome)
    expect(tools.run("new", "axpy", cwd=folder).code == 1, "an existing folder is not overwritten")
    expect(tools.run("new", "1x", cwd=folder).code == 2)


def machines(tools: Tools, folder: pathlib.Path) -> None:
    listed = json.loads(tools.run("targets", "--json").stdout)
    expect([each["name"] for each in listed][:1] == ["cpu"], listed)
    (folder / "own.json").write_text('{"name": "own"}')
    outcome = tools.run("targets", "--machine", "own.json", cwd=folder)
    expect(outcome.code == 1 and "`summary` is missing" in outcome.stderr, outcome)


def robust(tools: Tools, folder: pathlib.Path) -> None:
    wrong = {
        "long line": "let x = " + "a + " * 2_500_000,
        "nesting": "fn f() -> f32 { return " + "(" * 100_000,
        "not UTF-8": b"fn f(\xff\xfe) {",
        "cut off": BAD[: len(BAD) // 2],
    }
    for name, text in wrong.items():
        outcome = tools.run("check", "-", stdin=text)
        expect(outcome.code == 1 and len(outcome.stderr) < 200_000, name, outcome.code, outcome.stderr[:500])


def fast_start(tools: Tools, folder: pathlib.Path) -> None:
    times = []
    for _ in range(20):
        start = time.perf_counter()
        tools.run("explain", "E0001")
        times.append(time.perf_counter() - start)
    # A bound with room for a busy machine and for starting the process from Python.
    expect(min(times) < 0.02, f"`ptlc explain` takes {min(times) * 1e3:.1f} ms")


TESTS = [
    exit_codes, standard_input, response_files, documents, colours, dependencies, error_limit, warnings,
    formatting, stopped_programs, starter_project, machines, robust, fast_start,
]  # fmt: skip


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))

    def case(test) -> Case:
        def run():
            with tempfile.TemporaryDirectory() as folder:
                return test(tools, pathlib.Path(folder))

        return Case(f"command_line/{test.__name__}", run)

    return run_cases("command_line", [case(test) for test in TESTS])


sys.exit(main())
