"""`ptlc tune`: what it tries, what it says, and the schedules that it writes. `command_tune.py BUILD`."""
import json
import pathlib
import sys

from harness import ROOT, Tools, expect, in_folders, run_cases

TUNED = """kernel product[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N])
where BM * BN <= 16384
tune BM: [16, 64, 128] = 16, BN: [64, 128, 256] = 64, BK = 64
{
    parallel i in tiles(M, BM), j in tiles(N, BN) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, BK) pipeline 2 {
            acc += a[i, k] @ b[k, j]
        }
        c[i, j] = acc
    }
}
"""
SIZES = ("-D", "M=512", "-D", "N=512", "-D", "K=256")


def tuned(folder: pathlib.Path) -> pathlib.Path:
    (folder / "tuned.ptl").write_text(TUNED)
    return folder / "tuned.ptl"


def found_by(tools: Tools, source: pathlib.Path, *words):
    outcome = tools.run("tune", source, "--target", "a3", "--budget", "100", "--json", *SIZES, *words)
    expect(outcome.code == 0, outcome)
    return json.loads(outcome.stdout)


def cost_of(tools: Tools, source: pathlib.Path, *words):
    outcome = tools.run("check", source, "--target", "a3", "--cost", "--budget", "0", "--json", *SIZES, *words)
    return json.loads(outcome.stdout)["costs"][0]["us"]


def items_of(schedule):
    return sorted(schedule.split("{", 1)[1].strip(" }\n").split(", "))


def best_of_all_tries(tools: Tools, folder: pathlib.Path) -> None:
    """The best of all tries, which is what `check --cost` says of it."""
    source = tuned(folder)
    found = found_by(tools, source)
    schema = json.loads((ROOT / "docs/schemas/tune.json").read_text())
    expect(set(schema["required"]) <= set(found) <= set(schema["properties"]), list(found))
    of_tunables = [each for each in found["tries"] if "items" not in each]
    expect(found["exhaustive"] and found["points"] == 9 * 5 <= len(of_tunables) < len(found["tries"]), found)
    expect(found["tries"][0] == found["default"] and found["default"]["values"] == {"BM": 16, "BN": 64, "BK": 64}, found)
    expect([(s["name"], s["value"], s["why"]) for s in found["sizes"]] ==
           [("M", 512, "asked for"), ("N", 512, "asked for"), ("K", 256, "asked for")], found["sizes"])
    fitting = [each for each in found["tries"] if each["fits"]]
    least = min(each["us"] for each in fitting)
    expect(least <= found["best"]["us"] <= 1.006 * least < found["default"]["us"], found)
    expect(found["confirmed"]["best_us"] < found["confirmed"]["default_us"], found)
    excluded = [each for each in found["tries"] if each["values"] == {"BM": 128, "BN": 256, "BK": 64}]
    expect(not excluded[0]["fits"] and "excludes it" in excluded[0]["reason"], excluded)
    for each in (each for each in fitting if "items" not in each):
        us = cost_of(tools, source, *(word for name, value in each["values"].items() for word in ("-D", f"{name}={value}")))
        expect(us == each["us"], each, us)
    expect(source.read_text() == TUNED, "nothing is written without --write")
    expect({**found_by(tools, source, "--seed", "7"), "seconds": 0} == {**found, "seconds": 0}, "the seed of a small space counts for nothing")


def written(tools: Tools, folder: pathlib.Path) -> None:
    """The schedule that the file then has."""
    source = tuned(folder)
    found = found_by(tools, source, "--write")
    expect(source.read_text() == f"{TUNED}\n{found['schedule']}\n", source.read_text())
    expect(cost_of(tools, source) == found["best"]["us"], cost_of(tools, source), found["best"])
    again = tools.run("tune", source, "--write", "--budget", "600", *SIZES)
    expect(again.code == 0 and "is unchanged" in again.stderr and "nothing is faster" in again.stdout, again)


def schedules_that_are_there(tools: Tools, folder: pathlib.Path) -> None:
    """They keep what else they say, but for what makes them slower; what -D gives is said in them, too."""
    source = tuned(folder)
    source.write_text(f"{TUNED}\nschedule product on a3 {{ BM = 16, pipeline k 3 }}\n")
    best = found_by(tools, source, "--write", "-D", "product.BK=32")
    expect(items_of(source.read_text().splitlines()[-1]) == items_of(best["schedule"]), source.read_text(), best)
    expect("BK = 32" in best["schedule"] and cost_of(tools, source) == best["best"]["us"], cost_of(tools, source), best)
    # One for all targets is taken over, and what makes it slower goes.
    source.write_text(f"{TUNED}\nschedule product {{ BM = 16, cores 2, pipeline k 1 }}\n")
    best = found_by(tools, source, "--write")
    expect("cores 2" not in best["schedule"] and "pipeline k 1" not in best["schedule"], best)
    expect(best["schedule"] in source.read_text() and cost_of(tools, source) == best["best"]["us"], source.read_text(), best)
    source.write_text(f"{TUNED}\nschedule product on a3 {{ BM = 16, cores 2 }}\n")
    best = found_by(tools, source, "--write")
    expect(items_of(source.read_text().splitlines()[-1]) == items_of(best["schedule"]), source.read_text(), best)
    expect("cores 2" not in source.read_text() and cost_of(tools, source) == best["best"]["us"], source.read_text(), best)


def by_length(tools: Tools, folder: pathlib.Path) -> None:
    """A schedule for each range of a length, which the lengths of a call decide on."""
    source = tuned(folder)
    words = ("--target", "a3", "--budget", "100", "-D", "M=2048,32", "-D", "N=512", "-D", "K=128")
    outcome = tools.run("tune", source, *words, "--json", "--write")
    expect(outcome.code == 0 and "the schedules were written to" in outcome.stderr, outcome)
    found = json.loads(outcome.stdout)
    schema = json.loads((ROOT / "docs/schemas/tune_ranges.json").read_text())
    expect(set(schema["required"]) == set(found), list(found))
    expect([size["value"] for each in found["ranges"] for size in each["sizes"]] == [32, 2048] and found["by"] == "M", found["ranges"])
    expect([each["when"] for each in found["ranges"]] == ["", "M >= 2048"], found["ranges"])
    large, small = source.read_text().splitlines()[-3::2]
    expect([small, large] == [each["schedule"] for each in found["ranges"]], source.read_text())
    for each, search in zip(found["ranges"], found["searches"]):
        (size,) = each["sizes"]
        expect(size["us"] == search["best"]["us"] <= size["default_us"], size)
        expect(search["best"]["memory"]["acc"] > 0, search["best"])
        sizes = ("-D", f"M={size['value']}", "-D", "N=512", "-D", "K=128")
        outcome = tools.run("check", source, "--target", "a3", "--cost", "--budget", "0", "--json", *sizes)
        expect(abs(json.loads(outcome.stdout)["costs"][0]["us"] - size["us"]) < 1e-3, size, outcome)
    again = tools.run("tune", source, *words, "--write")
    expect(again.code == 0 and source.read_text().count("schedule ") == 2, again, source.read_text())


def little_to_try(tools: Tools, folder: pathlib.Path) -> None:
    """No time, no tunable with several values, or none at all."""
    source = tuned(folder)
    cut = tools.run("tune", source, "--budget", "0", *SIZES)
    expect(cut.code == 0 and "tried 1 of 45" in cut.stdout and "budget" in cut.stdout, cut)
    source.write_text(TUNED.replace(": [16, 64, 128]", "").replace(": [64, 128, 256]", ""))
    none = tools.run("tune", source, "--budget", "600", *SIZES)
    expect(none.code == 0 and "with other items" in none.stdout and "of 25" not in none.stdout, none)
    source.write_text(TUNED)
    fixed = tools.run("tune", source, "-D", "BM=16", "-D", "BN=64", "-D", "BK=64", "--budget", "600", *SIZES)
    expect(fixed.code == 0 and "tried 1, which is all" in fixed.stdout, fixed)
    outcome = tools.run("tune", source, "--target", "reference")
    expect(outcome.code == 3 and "measured on `cpu`" in outcome.stderr, outcome)


def by_the_clock(tools: Tools, folder: pathlib.Path) -> None:
    """On this processor, whose clock says something else each time: what was tried counts."""
    source = tuned(folder)
    outcome = tools.run("tune", source, "--target", "cpu", "--budget", "3", "--json", "-D", "M=64", "-D", "N=128", "-D", "K=64")
    measured = json.loads(outcome.stdout)
    expect(measured["target"] == "cpu" and measured["schedule"].startswith("schedule product on cpu { BM = "), measured)
    expect(all(each["us"] > 0 for each in measured["tries"] if each["fits"]) and measured["tries"][0]["fits"], measured)
    expect(any("excludes it" in each.get("reason", "") for each in measured["tries"]) or "ended" in measured, measured)
    expect(measured["best"] == measured["default"] or measured["confirmed"]["best_us"] < measured["confirmed"]["default_us"], measured)


PROGRAM = """program both[M, N](x: f16[M, N], w: f16[N, N], z: f32[M, N]) -> (a: f32[M, N], b: f32[M, N])
{
    let small = z * 2.0
    let long = f32(x @ w)
    let tail = exp(long) + z
    a = small + sum(z, axis: 0)
    b = tail + long
}
"""


def items_of_programs(tools: Tools, folder: pathlib.Path) -> None:
    """Every item that a schedule of a program can have; values are only put in another order where none of them needs the other."""
    source = folder / "both.ptl"
    source.write_text(PROGRAM)
    outcome = tools.run("tune", source, "--target", "a3", "--budget", "600", "--json", "-D", "M=256", "-D", "N=256")
    items = {item for each in json.loads(outcome.stdout)["tries"] for item in each.get("items", [])}
    expect({"split after small", "fuse small, long", "order long, small", "cores 18"} <= items, items)
    expect(any(item.startswith("small { tile ") for item in items) and "long { chunks 4 }" in items, items)
    expect("order tail, long" not in items and "order small, long" not in items, items)


def chunks_of_contractions(tools: Tools, folder: pathlib.Path) -> None:
    """Of a product that a schedule keeps whole, the chunks of its contraction are found."""
    source = folder / "long.ptl"
    source.write_text("""program long[M, N, K](x: f16[M, K], w: f16[K, N]) -> (y: f32[M, N])
{
    let p = x @ w
    y = p
}
""")
    words = ("--target", "a3", "--budget", "600", "--json", "-D", "M=256", "-D", "N=256", "-D", "K=4096")
    found = json.loads(tools.run("tune", source, *words).stdout)
    tries = {" ".join(each.get("items", [])): each.get("us") for each in found["tries"]}
    expect(tries["p { chunks 4 }"] < 0.8 * tries["p { chunks 1 }"] and "p { chunks" in found["schedule"], found["schedule"], tries)


TESTS = [best_of_all_tries, written, schedules_that_are_there, by_length, little_to_try, by_the_clock, items_of_programs, chunks_of_contractions]


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    return run_cases("command_tune", in_folders("command_tune", TESTS, lambda test, folder: test(tools, folder)))


sys.exit(main())
