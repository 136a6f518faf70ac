"""The conventions of `ptlc`: exit codes, standard input and output, response files, colours, dependency files.
`command_line.py BUILD`."""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy

import served
from command_values import STOPS
from harness import ENVIRONMENT, Tools, expect, in_folders, run_cases

GOOD = "fn id(x: f32) -> f32 {\n    return x\n}\n"
GENERIC = """fn root[N, T: float](x: T[N]) -> T[N] {
    return exp(x)
}

fn turned[N, T: integer](x: T[N]) -> T[N] {
    return x << x
}
"""
BENCHES = """kernel product[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N])
tune BM = 32, BN = 64, BK = 48
{
    parallel i in tiles(M, BM), j in tiles(N, BN) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, BK) {
            acc += a[i, k] @ b[k, j]
        }
        c[i, j] = acc
    }
}

kernel triangle[N](x: f64[N, N]) -> (y: f64[N, N])
{
    parallel r in 0..N {
        for c in tiles(0..r + 1, 8) {
            y[r, c] = x[r, c] * 2.0 + 1.0
        }
        for c in r + 1..N {
            y[r, c] = x[r, c]
        }
    }
}

kernel halved[N](x: f32[N]) -> (y: f32[N])
{
    parallel i in 0..N {
        var t = x[i]
        while t > 1.0 {
            t = t * 0.5
        }
        y[i] = t
    }
}

program doubled[N](x: f32[.., N]) -> (y: f32[.., 2 * N])
{
    y[..] = exp(concat(x, x, axis: -1))
}

program letters[M, N, D](q: f32[M, D], k: f32[N, D]) -> (y: f32[M, N])
{
    y[..] = einsum("md,nd->mn", q, k) + 1.0
}

program integers[N](x: i32[N]) -> (y: i32[N])
{
    y[..] = x * 2 + 1
}

bench "product" { product(ones(f32[100, 70]), ones(f32[70, 130])) }
bench "triangle" { triangle(ones(f64[50, 50])) }
bench "halved" { halved(ones(f32[50])) }
bench "doubled" { doubled(ones(f32[3, 5, 7])) }
bench "letters" { letters(ones(f32[20, 30]), ones(f32[40, 30])) }
bench "integers" { integers(ones(i32[50])) }
"""
BAD = "fn id(x: f32) -> f32 {\n    return y\n}\n"


def version(tools: Tools, folder: pathlib.Path) -> None:
    """The version, LLVM's, and the machines: what a report of a fault has to say."""
    first, llvm, machines = tools.run("--version", cwd=folder).stdout.splitlines()
    expect(re.fullmatch(r"ptlc \d+\.\d+\.\d+( \([0-9a-f]{10}\+?\))?", first), first)
    expect(re.fullmatch(r"LLVM \d+\.\d+\.\d+", llvm), llvm)
    expect(machines.split()[:2] == ["machines:", "cpu"] and "a3" in machines.split(), machines)


def exit_codes(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "good.ptl").write_text(GOOD)
    (folder / "bad.ptl").write_text(BAD)
    wanted = {
        ("--version",): 0,
        ("--help",): 0,
        ("check", "--help"): 0,
        ("help", "check"): 0,
        ("help", "chekc"): 2,
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
        ("sim", "--target", "cpu", "good.ptl"): 3,
        ("sim", "--target", "kirin9030", "good.ptl"): 3,
        ("reduce", "good.ptl"): 1,
        ("tune", "good.ptl"): 1,
        ("tune", "--target", "reference", "good.ptl"): 3,
        ("completion", "tcsh"): 2,
        ("completion",): 2,
    }
    for arguments, code in wanted.items():
        outcome = tools.run(*arguments, cwd=folder)
        expect(outcome.code == code, arguments, outcome)
        expect(code == 0 or outcome.stderr, arguments, "a failure says why")


def element_types(tools: Tools, folder: pathlib.Path) -> None:
    """A parameter gets element types that it may have, whoever names them, and such a one where nobody does."""
    (folder / "generic.ptl").write_text(GENERIC)
    refused = [
        ("run", "--entry", "root", "N=3", "x=ones", "T=u16"),
        ("sim", "--target", "a3", "--entry", "root", "N=3", "x=ones", "T=u16"),
        ("build", "--entry", "root", "--emit=asm", "-o", "-", "-D", "root.T=u16"),
    ]
    for command, *words in refused:
        outcome = tools.run(command, "generic.ptl", *words, cwd=folder)
        expect(outcome.code == 1 and "`u16` is not an element type for `T: float`" in outcome.stderr, words, outcome)
    outcome = tools.run("run", "generic.ptl", "--entry", "turned", "N=2", "x=ones", cwd=folder)
    expect(outcome.code == 0 and "i32[2]" in outcome.stdout, outcome)
    outcome = tools.run("build", "generic.ptl", "--entry", "turned", "--target", "a3", "--emit=pto", cwd=folder)
    expect("-D turned.T=i32" in outcome.stderr, outcome)


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


def wrong_usage(tools: Tools, folder: pathlib.Path) -> None:
    """What would have no effect, or another one than was meant, is refused, and the message says what to write."""
    (folder / "scaled.ptl").write_text("pub kernel scaled[R, C](a: f32, x: f32[R, C], b: f32[R, C]) -> (y: f32[R, C])\nwhere C <= 512\n{\n"
                                       "    parallel r in tiles(R, 4) { y[r, :] = a * x[r, :] + b[r, :] }\n}\n")
    numpy.save(folder / "x.npy", numpy.ones((6, 7), numpy.float32))
    numpy.save(folder / "b.npy", numpy.ones((5, 7), numpy.float32))
    (folder / "bytes.ptl").write_text("pub program bytes[N](x: u8[N]) -> (y: u8[N]) { y = x }\n")
    run, bytes_of = ["run", "scaled.ptl"], ["run", "bytes.ptl", "N=3"]
    for arguments, code, text in [
        (["check", "scaled.ptl", "-Wno-nonsense"], 2, "there is no warning `nonsense`"),
        (["check", "scaled.ptl", "--json"], 2, "`--json` is for `--cost`"),
        (["build", "scaled.ptl", "--emit=pto", "-o", "-"], 2, "name the chip, as in `--target a3`"),
        (["build", "scaled.ptl", "--emit=asm", "--target", "a3", "-o", "-"], 2, "leave out `--target`"),
        (["build", "scaled.ptl", "--emit=nonsense", "-o", "-"], 2, "the kinds are tokens"),
        ([*run, "a=1", "a=2", "x=@x.npy", "b=ones"], 1, "`a`: it is given twice"),
        ([*run, "a=1e99", "x=@x.npy", "b=ones"], 1, "1e99 is too large for f32"),
        ([*run, "a=1", "x=x.npy", "b=ones", "R=6", "C=7"], 1, "write @x.npy"),
        ([*run, "a=1", "x=ones", "b=ones", "C=7"], 1, "as in R=1024"),
        ([*run, "a=1", "x=random(seed: -1)", "b=ones", "R=6", "C=7"], 1, "`seed` in `random(seed: -1)` is not a whole number from 0"),
        ([*run, "a=1", "x=ones", "b=ones", "R=-5", "C=7"], 1, "not `-5`"),
        ([*run, "a=1", "x=random(low: nan)", "b=ones", "R=6", "C=7"], 1, "`low` in `random(low: nan)` is not a finite number of f32"),
        ([*run, "a=1", "x=random(high: -inf)", "b=ones", "R=6", "C=7"], 1, "is not a finite number of f32"),
        ([*run, "a=1", "x=random(low: -3e38, high: 3e38)", "b=ones", "R=6", "C=7"], 1, "further apart than any number of f32"),
        ([*run, "a=1", "x=random(low: 2)", "b=ones", "R=6", "C=7"], 1, "there is no number from `low` to below `high`"),
        ([*run, "a=1", "x=random(seed: 1, seed: 2)", "b=ones", "R=6", "C=7"], 1, "`random(seed: 1, seed: 2)` is not an array"),
        ([*run, "a=1", "x=ones(low: 2)", "b=ones", "R=6", "C=7"], 1, "`low` has no effect in `ones(low: 2)`"),
        ([*bytes_of, "x=random(high: 257)"], 1, "`high` in `random(high: 257)` is not a whole number from 0 to 2^8"),
        ([*bytes_of, "x=random(low: 256, high: 256)"], 1, "is not a whole number from 0 to 2^8 - 1"),
        ([*bytes_of, "x=random(low: 10)"], 1, "without these options it is from 0 to below 10"),
        ([*bytes_of, "x=random(low: 255, high: 256)"], 0, "[255, 255, 255]"),
        ([*run, "a=1", "x=@x.npy", "b=@b.npy"], 5, "which makes `R` 5|`R` is 6"),
        ([*run, "a=1", "x=@x.npy", "b=ones", "-o", "z=z.npy"], 1, "`scaled` has no result `z`"),
        ([*run, "a=1", "x=@x.npy", "b=ones", "--in-process"], 2, "`--in-process` has no effect without `--shape`"),
        (["check", "scaled.ptl", "--budget", "3"], 2, "`--budget` has no effect without `--cost`"),
        (["check", "scaled.ptl", "--rounds", "3"], 2, "`--rounds` has no effect without `--cost`"),
        (["sim", "scaled.ptl", "--target", "a3", "--rounds", "3"], 2, "`--rounds` has no effect without `--shape`"),
        (["test", "scaled.ptl", "--sim"], 2, "name it, as in `--executor a3`"),
        (["test", "scaled.ptl", "--entry", "scaled"], 2, "`--entry` is not an option of `test`"),
        (["tune", "scaled.ptl", "-o", "tuned.ptl"], 2, "`-o` is not an option of `tune`"),
        (["bench", "scaled.ptl", "--sim"], 2, "`--sim` is not an option of `bench`"),
        (["test", "scaled.ptl", "--filter", "nothing"], 1, "no `test` or `property` has a name that contains this"),
        (["explain", "e0312"], 0, ""),
    ]:
        outcome = tools.run(*arguments, cwd=folder)
        told = outcome.stdout + outcome.stderr
        expect(outcome.code == code and any(part in told for part in text.split("|")), arguments, outcome)
        # The dimension is that of a file, which no word of the command line gives.
        expect("given by name" not in told, arguments, outcome)


def deterministic(tools: Tools, folder: pathlib.Path) -> None:
    """With `--deterministic` a sum of floats is that of the elements in order, which another order or partial sums would not give."""
    (folder / "total.ptl").write_text("kernel total[N](x: f32[N]) -> (y: f32[1] = 0.0)\n{\n    parallel i in 0..N { atomic y[0] += x[i] }\n}\n")
    x = (numpy.random.default_rng(1).random(100000) * 2 - 0.5).astype(numpy.float32)
    numpy.save(folder / "x.npy", x)
    outcome = tools.run("run", "total.ptl", "x=@x.npy", "--deterministic", "-o", "y.npy", cwd=folder)
    expect(outcome.code == 0, outcome)
    expect(numpy.load(folder / "y.npy")[0] == numpy.cumsum(x, dtype=numpy.float32)[-1], numpy.load(folder / "y.npy"))


def formatting(tools: Tools, folder: pathlib.Path) -> None:
    path = folder / "ugly.ptl"
    path.write_text("fn  id( x:f32 )->f32 {\nreturn   x }\n")
    expect(tools.run("fmt", "--check", path).code == 1)
    expect(tools.run("fmt", path).code == 0 and path.read_text() == GOOD, path.read_text())
    expect(tools.run("fmt", "--check", path).code == 0)
    expect(sorted(p.name for p in folder.iterdir()) == ["ugly.ptl"], "a temporary file was left behind")


def benches(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "benches.ptl").write_text(BENCHES)
    rows = json.loads(tools.run("bench", "benches.ptl", "--json", cwd=folder).stdout)
    # `halved` runs as often as its data say, so that nobody knows; a product counts what it is added to.
    flops = {
        "product": 2 * 100 * 70 * 130,
        "triangle": 2 * sum(range(1, 51)),
        "halved": None,
        "doubled": 3 * 5 * 14,
        "letters": 2 * 20 * 30 * 40,
        "integers": 0,
    }
    expect({row["bench"]: row.get("flops") for row in rows} == flops, rows)
    for row in rows:
        expect(row["median_ns"] > 0 and row["bytes"] > 0 and row["runs"] >= 5, row)
        known = "flops" in row
        expect(all((name in row) == known for name in ("gflops", "limit", "share")), row)
        expect(not known or row["limit"] in ("memory", "compute") and row["share"] > 0, row)
    text = tools.run("bench", "benches.ptl", cwd=folder).stdout.splitlines()
    expect(len(text) == len(rows) + 1 and text[-1].startswith("this machine: "), text)
    expect(" GFLOP/s " in text[0] and " % of " in text[0] and "GFLOP/s" not in text[2], text)


def starter_project(tools: Tools, folder: pathlib.Path) -> None:
    created = tools.run("new", "axpy", cwd=folder)
    expect(created.code == 0, created)
    for command in ("check", "test", "fmt"):
        arguments = ["--check"] if command == "fmt" else []
        outcome = tools.run(command, *arguments, "axpy.ptl", cwd=folder / "axpy")
        expect(outcome.code == 0, command, outcome)
    # Lengths that nothing says are such that the kernel's requirements hold.
    outcome = tools.run("check", "axpy.ptl", "--target", "a3", "--cost", cwd=folder / "axpy")
    expect(outcome.code == 0 and "C=1024] on a3: " in outcome.stdout and "-bound" in outcome.stdout, outcome)
    agents = (folder / "axpy" / "AGENTS.md").read_text()
    expect("`axpy.ptl`" in agents and "ptlc mcp" in agents and "NAME" not in agents, agents)
    expect(tools.run("new", "axpy", cwd=folder).code == 1, "an existing folder is not overwritten")
    expect(tools.run("new", "1x", cwd=folder).code == 2)


def completion(tools: Tools, folder: pathlib.Path) -> None:
    """The scripts of a build are those of an installation, and a shell that is here completes with them."""
    shares = {"bash": "bash-completion/completions/ptlc", "zsh": "zsh/site-functions/_ptlc", "fish": "fish/vendor_completions.d/ptlc.fish"}
    for shell, installed in shares.items():
        outcome = tools.run("completion", shell, cwd=folder)
        expect(outcome.code == 0 and outcome.stdout == (tools.build / "share" / installed).read_text(), shell, outcome)
    asked = 'source <("$0" completion bash); COMP_WORDS=(ptlc completion ""); COMP_CWORD=2; _ptlc; echo "${COMPREPLY[@]}"'
    answer = subprocess.run(["bash", "--norc", "-c", asked, tools.path("ptlc")], capture_output=True, text=True)
    expect(answer.stdout.split() == list(shares), answer)


def machines(tools: Tools, folder: pathlib.Path) -> None:
    listed = json.loads(tools.run("targets", "--json").stdout)
    names = ["cpu", "a2", "a2server", "a3", "a5", "a5superpod", "cloudmatrix384", "h100", "kirin9030", "kirinx90", "ubmesh8k"]
    expect([each["name"] for each in listed] == names, listed)
    expect("base" not in listed[3] and listed[3]["memories"] == listed[1]["memories"], "bases are filled in")
    expect([line.split()[0] for line in tools.run("targets").stdout.splitlines() if line[0] != " "] == names)
    details = tools.run("targets", "a3").stdout
    for part in ("@vec        aiv   184 KiB + 8 KiB reserved", "acc -> gm", "8 events", "\n  tmatmul.acc ", "not on it"):
        expect(part in details, part, details)
    expect(tools.run("targets", "nonsense").code == 2)
    levels = tools.run("targets", "ubmesh8k").stdout
    expect("\n            they share a disk: 6 GB/s, 80 us until its first byte\n  host " in levels, levels)
    expect("\n  host      8 in each part of the next, mesh; 0.7 us, 28 GB/s of a link, between chips at the same place; a movement starts in" in levels, levels)

    own = folder / "own.json"
    own.write_text('{"name": "own"}')
    outcome = tools.run("targets", "--machine", "own.json", cwd=folder)
    expect(outcome.code == 1 and "`summary` is missing" in outcome.stderr, outcome)
    own.write_text('{"name": "own", "base": "a3", "memories": [{"place": "vec", "bytes": 65536}]}')
    outcome = tools.run("targets", "--machine", "own.json", cwd=folder)
    expect(outcome.code == 0 and "56 KiB + 8 KiB reserved" in outcome.stdout, outcome)
    shown = json.loads(tools.run("targets", "--json", "--machine", "own.json", cwd=folder).stdout)
    expect([each["name"] for each in shown] == ["own"], shown)
    machine_as_target(tools, folder)


SUMS = """pub kernel sums[R, static C](x: f32[R, C]) -> (y: f32[R, 1]) {
    parallel r in tiles(R, 64) {
        var t = x[r, :]
        for _ in 0..2 { t = t + min(t, axis: 1) * 0.0 }
        y[r, :] = sum(t * t, axis: 1)
    }
}

test "sums" { let y = sums(full(f32[3, 8], 2.0)) ; expect(y[2, 0] == 32.0) }
"""


def machine_as_target(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "sums.ptl").write_text(SUMS)
    own = ["--machine", "own.json"]
    for arguments, fits in ((["--target", "a3"], True), (own, False), (own + ["--target", "a3"], True)):
        outcome = tools.run("build", "sums.ptl", "--emit=ledger", "-D", "sums.C=4096", "-o", "-", *arguments, cwd=folder)
        expect((outcome.code == 0) == fits and ("56 KiB" in outcome.stderr) != fits, arguments, outcome)
    outcome = tools.run("test", "sums.ptl", "--executor", "a3,own", *own, cwd=folder)
    expect(outcome.code == 0 and "2 passed, 0 failed" in outcome.stdout, outcome)
    outcome = tools.run("build", "sums.ptl", "--emit=pto", "--target", "mine", *own, cwd=folder)
    expect(outcome.code == 2 and "`mine`" in outcome.stderr and "`own`" in outcome.stderr, outcome)
    # A schedule for it, and a kernel that is not.
    (folder / "own.ptl").write_text(SUMS.replace("64)", "ROWS)").replace("-> (y: f32[R, 1])", "-> (y: f32[R, 1])\ntune ROWS: [8, 64] = 64\n") +
                                    "schedule sums on own { ROWS = 8 }\nkernel here[N](x: f32[N]) -> (y: f32[N]) on core for cpu\n{\n"
                                    "    parallel i in tiles(N, 1000000) { y[i] = x[i] }\n}\n")
    outcome = tools.run("check", "own.ptl", cwd=folder)
    expect(outcome.code == 1 and "E0707" in outcome.stderr, outcome)
    outcome = tools.run("check", "own.ptl", "-D", "sums.C=256", "--target", "own", *own, cwd=folder)
    expect(outcome.code == 0, outcome)
    outcome = tools.run("build", "own.ptl", "--entry", "here", "--emit=pto", "-o", "-", *own, cwd=folder)
    expect(outcome.code == 1 and "E0947" in outcome.stderr and "`here`" in outcome.stderr, outcome)
    outcome = tools.run("bench", "sums.ptl", "--target", "a3", cwd=folder)
    expect(outcome.code == 3 and "E0811" in outcome.stderr, outcome)


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


def linker(tools: Tools, folder: pathlib.Path) -> None:
    """What writes shared libraries is any linker on PATH, and is asked for where there is none."""
    source = folder / "good.ptl"
    source.write_text(GOOD.replace("fn id", "pub fn id"))
    (folder / "none").mkdir()
    (folder / "gnu").mkdir()
    (folder / "gnu/ld").symlink_to(shutil.which("ld"))
    missing = tools.run("build", source, "-o", folder / "missing.so", env={"PATH": str(folder / "none")})
    expect(missing.code == 1 and "no linker (`ld.lld` or `ld`" in missing.stderr, missing)
    expect(not list(folder.glob("missing*")), list(folder.iterdir()))
    made = tools.run("build", source, "-o", folder / "made.so", env={"PATH": str(folder / "gnu")})
    expect(made.code == 0 and not made.stderr and (folder / "made.so").exists(), made)


def fast_start(tools: Tools, folder: pathlib.Path) -> None:
    """Processor time, which does not depend on what else the machine does."""
    command, times = [str(tools.path("ptlc")), "explain", "E0001"], []
    for _ in range(20):
        process = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, used = os.wait4(process, 0)
        expect(os.waitstatus_to_exitcode(status) == 0, status)
        times.append(used.ru_utime + used.ru_stime)
    expect(min(times) < 0.01, f"`ptlc explain` takes {min(times) * 1e3:.1f} ms")


def one_process(tools: Tools, folder: pathlib.Path) -> None:
    """Commands that a process runs one after the other print, and end, as each does in a process of its own."""
    (folder / "good.ptl").write_text(GENERIC.split("\n\n")[0] + "\n\n" + STOPS)
    (folder / "bad.ptl").write_text(BAD)
    run = ("run", "good.ptl", "--entry")
    orders = (
        (*run, "bounds", "x=ones", "N=4", "n=1"), (*run, "bounds", "x=ones", "N=4", "n=9"), (*run, "asserts", "x=ones", "N=4", "n=5"),
        ("check", "bad.ptl"), ("check", "missing.ptl"), ("check", "good.ptl", "--target", "a3", "--cost"), ("test", "good.ptl"),
        (*run, "bounds", "x=@missing.npy", "n=1"), ("build", "good.ptl", "--entry", "bounds", "--target", "a3", "--emit=pto", "-o", "made"),
        ("build", "good.ptl", "--entry", "bounds", "--emit=manifest", "-o", "-"), ("lower", "good.ptl", "--entry", "none"),
        ("build", "good.ptl", "--emit=nothing", "-o", "-"), ("build",),
    )  # fmt: skip
    stays = copy.copy(tools)
    stays.in_own_process = False
    for words in orders * 2:
        alone, after = (each.run(*words, cwd=folder) for each in (tools, stays))
        expect(alone == after, words, alone, after)
    # What is not the compiler's is left to a process of its own.
    server = served.Server(tools.path("ptlc-ir"), ENVIRONMENT)
    for words in (["fmt", "good.ptl"], ["build", "--help"], ["build", "--nothing"], ["run", "good.ptl", "--threads", "2"], ["check", "@file"]):
        expect(server.run(words, str(folder), 60) is None, words)
    expect(server.run(["check", "good.ptl"], str(folder), 60) == (0, b"", b""), "the process goes on after these")
    for request in ("none", "[]", '{"arguments": [1], "folder": "."}', '{"arguments": "check", "folder": "."}'):
        done = subprocess.run([tools.path("ptlc-ir"), "--commands"], input=request + "\n", capture_output=True, text=True, env=ENVIRONMENT)
        expect(done.returncode == 2 and done.stderr.startswith("a request is a line of JSON") and not done.stdout, request, done)
    done = subprocess.run([tools.path("ptlc-ir"), "--command", "ptlc", "fmt", "x"], capture_output=True, text=True, env=ENVIRONMENT)
    expect(done.returncode == 2 and "that need the compiler" in done.stderr, done)


TESTS = [
    version, exit_codes, element_types, standard_input, response_files, documents, colours, dependencies, error_limit, warnings,
    wrong_usage, deterministic, formatting, benches, starter_project, completion,
    machines, robust, linker, fast_start, one_process,
]  # fmt: skip


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1])).in_processes()
    return run_cases("command_line", in_folders("command_line", TESTS, lambda test, folder: test(tools, folder)))


sys.exit(main())
