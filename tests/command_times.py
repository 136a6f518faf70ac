"""Times that `ptlc sim` predicts and timelines of what `ptlc run` did: each view says the same.
`command_times.py BUILD`."""
import json
import pathlib
import sys

from harness import Tools, expect, in_folders, run_cases


def simulated_times(tools: Tools, folder: pathlib.Path) -> None:
    """`ptlc sim`: no arrays are needed, every view says the same time, data that decide are drawn where they are not given."""
    (folder / "gemm.ptl").write_text(
        "pub kernel gemm[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N])\ntune BM = 128, BN = 128, BK = 128\n{\n"
        "    parallel i in tiles(M, BM), j in tiles(N, BN) {\n        var acc = zeros(f32[i, j])\n"
        "        for k in tiles(K, BK) pipeline 2 {\n            acc += a[i, k] @ b[k, j]\n        }\n        c[i, j] = acc\n"
        "    }\n}\n\nkernel count[N, K](n: i32[K], x: f32[N, 64]) -> (y: f32[N, 64])\n{\n"
        "    parallel i in tiles(N, 16) {\n        var t = x[i, :]\n        for s in 0..n[0] {\n            t = t + 1.0\n"
        "        }\n        y[i, :] = t\n    }\n}\n")
    call = ["sim", "gemm.ptl", "--entry", "gemm", "M=512", "N=512", "K=1024"]
    run = tools.run(*call, "--json", "--trace", "t.json", "--lanes", "l.json", cwd=folder)
    expect(run.code == 0, run)
    summary, lanes = json.loads(run.stdout), json.loads((folder / "l.json").read_text())
    trace = json.loads((folder / "t.json").read_text())
    expect(summary["us"] == lanes["us"] and summary["launches"][0]["end"] <= summary["us"], summary)
    expect(summary["groups"] == 16 and summary["groups_of_chip"] == 24, summary)
    expect(any(pipe["pipe"] == "m" and 0 < pipe["util"] < 1 for pipe in summary["pipes"]), summary)
    expect({lane["lane"] for lane in lanes["lanes"]} >= {"aic0.m", "aic15.mte2"}, lanes)
    expect(any(gap["cause"] == "event" and gap["waits_for"] == "tload" for lane in lanes["lanes"] for gap in lane["gaps"]
               if "waits_for" in gap), "a wait for a load")
    expect(any(event["name"] == "tmatmul.acc" and event["args"]["source"].startswith("gemm.ptl:7")
               for event in trace["traceEvents"]), "source lines")
    expect(tools.run(*call, "--json", cwd=folder).stdout == run.stdout, "times are deterministic")
    cut = json.loads(tools.run(*call, "--json", "-D", "gemm.BM=64", cwd=folder).stdout)
    expect(cut["groups"] == 24 and cut["us"] != summary["us"], cut, "32 tiles instead of 16")
    wrong = tools.run(*call, "-D", "BM=many", cwd=folder)
    expect(wrong.code != 0 and "`many` is not a value" in wrong.stderr, wrong)
    large = ["sim", "gemm.ptl", "--entry", "gemm", "M=2048", "N=2048", "K=512", "--json"]
    whole, part = (json.loads(tools.run(*large, *more, cwd=folder).stdout) for more in ([], ["--estimate"]))
    (part,) = part["costs"]
    bounds = [each["bound"].split()[0] for each in (part, whole)]
    expect(abs(part["us"] / whole["us"] - 1) < 0.1 and bounds[0] == bounds[1], part, whole["us"])
    # The same kernel, its lengths assumed: `check` says what each line takes and what would be better.
    checked = tools.run("check", "gemm.ptl", "--target", "a3,a5", "--cost", "--json", cwd=folder)
    costs = {(cost["entry"], cost["target"]): cost for cost in json.loads(checked.stdout)["costs"]}
    expect(set(costs) == {("gemm", "a3"), ("gemm", "a5"), ("count", "a3"), ("count", "a5")}, costs)
    expect("values are not computed" in costs["count", "a3"]["unknown"], costs)
    gemm = costs["gemm", "a3"]
    expect([(s["name"], s["value"], s["why"]) for s in gemm["sizes"]] == [(n, 4096, "assumed") for n in "MNK"], gemm)
    dominant = [(s["kind"], s["line"]) for s in gemm["statements"] if "dominant" in s]
    expect(dominant == [("loop", 6), ("statement", 7)], gemm["statements"])
    expect(gemm["roofline"]["by"] == "cube" and gemm["roofline"]["gap"] >= 1, gemm["roofline"])
    text = tools.run("check", "gemm.ptl", "--target", "a3", "--cost", cwd=folder).stdout
    expect("gemm[M=4096, N=4096, K=4096] on a3: " in text and "gemm.ptl:7:13  statement  <--" in text, text)
    # On this processor it is the least time: what is read, written and computed, at the rates that `ptlc bench` measures.
    least = tools.run("check", "gemm.ptl", "--target", "cpu", "--cost", "--json", "-D", "M=300", "-D", "N=200", "-D", "K=100", cwd=folder)
    costs = {cost["entry"]: cost for cost in json.loads(least.stdout)["costs"]}
    gemm = costs["gemm"]
    expect(gemm["least"] and gemm["us"] > 0 and "roofline" not in gemm and "GFLOP/s in f32" in gemm["machine"], gemm)
    expect(gemm["statements"][0]["operations"] >= 2 * 300 * 200 * 100, gemm["statements"])
    text = tools.run("check", "gemm.ptl", "--target", "cpu", "--cost", "-D", "M=300", "-D", "N=200", "-D", "K=100", cwd=folder).stdout
    expect("gemm[M=300, N=200, K=100] on cpu: at least " in text and "this machine: " in text.splitlines()[-1], text)
    page = tools.run(*call, "--report", "--html=s.html", cwd=folder)
    for part in ("critical path", "pipes", "what would be gained", "core groups: 16 of 24", "hints"):
        expect(part in page.stdout, part, page)
    expect("https:" not in (folder / "s.html").read_text(), "the page needs no network")
    call = ["sim", "gemm.ptl", "--entry", "count", "N=256"]
    # What decides and was not given is drawn, and said.
    drawn = tools.run(*call, "K=1", cwd=folder)
    expect(drawn.code == 0 and "n: random(seed: 1)" in drawn.stdout.splitlines()[0], drawn)
    times = [json.loads(tools.run(*call, f"n={value}", "K=1", "--json", cwd=folder).stdout)["us"] for value in ("zeros", "ones")]
    expect(times[0] < times[1], times)
    computed = tools.run(*call, "n=ones", "K=1", "x=random", "--values", "--json", cwd=folder)
    expect(json.loads(computed.stdout)["us"] == times[1], computed, times)
    # Data that nothing goes by need not be there: a requirement is taken for granted, a factor is some factor.
    (folder / "facts.ptl").write_text(
        "kernel scaled[N](x: f32[N], s: f32) -> (y: f32[N]) { parallel r in tiles(N, 128) { y[r] = x[r] * s } }\n"
        "pub program facts[N](x: f32[N], k: i32[4]) -> (y: f32[N]) where all(k >= 0), unique(k) { y = scaled(x, f32(k[0])) }\n"
        "pub program decides[N](x: f32[N], k: i32[4]) -> (y: f32[N]) { y = x\n if k[1] > 0 { y = scaled(x, 2.0) } }\n")
    call = ["sim", "facts.ptl", "-D", "N=4096", "--entry"]
    expect(tools.run(*call, "facts", cwd=folder).code == 0)
    refused = tools.run(*call, "facts", "k=ones", cwd=folder)
    expect(refused.code == 5 and "1 occurs more than once" in refused.stderr, refused)
    # Where data decides that nobody gave, branches are taken and loops run once, and that is said.
    decides = tools.run(*call, "decides", cwd=folder)
    expect(decides.code == 0 and "facts.ptl:4: the branch is taken" in decides.stdout, decides)
    given = [tools.run(*call, "decides", f"k={value}", "--json", cwd=folder) for value in ("zeros", "ones")]
    expect(all("decisions" not in json.loads(run.stdout) for run in given), given)
    expect(json.loads(given[0].stdout)["us"] < json.loads(given[1].stdout)["us"], given)
    (folder / "rounds.ptl").write_text(
        "pub program halved[N](x: f32[N], least: f32, most: int) -> (y: f32[N])\n{\n    var now = x\n    var i = 0\n"
        "    while sum(now) > least and i < most {\n        now = now / 2.0\n        i += 1\n    }\n    y = now\n}\n"
        "pub program until[N](x: f32[N], least: f32) -> (y: f32[N])\n{\n    var now = x\n    var top = 1.0\n"
        "    while top > least { now = now / 2.0\n top = top / 2.0 }\n    y = now\n}\n"
        "pub program later[N](x: f32[N]) -> (y: f32[N])\n{\n    var now = x\n    var top = 9.0\n"
        "    while top > 1.0 {\n        now = now / 2.0\n        top = sum(now)\n    }\n    y = now\n}\n"
        "pub program some[N](x: f32[N], k: i32[4]) -> (s: f32[1]) { let n = int(k[0])\n s = sum(x[0:n], axis: 0) }\n")
    call = ["sim", "rounds.ptl", "-D", "N=4096", "--entry"]
    once = tools.run(*call, "halved", "-D", "most=20", "--json", cwd=folder)
    expect(json.loads(once.stdout)["decisions"] == {"rounds.ptl:5": "the loop runs once"}, once)
    later = tools.run(*call, "later", "--json", cwd=folder)
    expect(json.loads(later.stdout)["decisions"] == {"rounds.ptl:23": "the loop ends at the first exit that depends on data"}, later)
    kernels = [len(json.loads(tools.run(*call, "until", *words, "--json", cwd=folder).stdout)["launches"])
               for words in ([], ["least=0.2"])]
    expect(kernels[1] > kernels[0], "a number that is given decides, one that is not is some number", kernels)
    # A length that an element decides: drawn, or as an example of it says.
    drawn = tools.run(*call, "some", cwd=folder)
    expect(drawn.code == 0 and "k: random(seed: 2)" in drawn.stdout.splitlines()[0], drawn)
    example = tools.run(*call, "some", "-D", "n=7", cwd=folder)
    expect(example.code == 0 and "random" not in example.stdout.splitlines()[0], example)
    # Lengths that are assumed suit what is required of them and of the caller's integers.
    (folder / "within.ptl").write_text(
        "pub program within[T, N](x: f32[N, 64], y: inout f32[T, 64], t: int) where t >= 0, t + N <= T { y[t:t + N, :] = x }\n")
    assumed = json.loads(tools.run("check", "within.ptl", "--target", "a3", "--cost", "--json", cwd=folder).stdout)["costs"][0]
    sizes = {each["name"]: each["value"] for each in assumed["sizes"]}
    expect("us" in assumed and sizes["t"] == 1 and sizes["t"] + sizes["N"] <= sizes["T"], assumed)


def timelines_of_runs(tools: Tools, folder: pathlib.Path) -> None:
    """`ptlc run --trace --lanes`: every task with its line and what it waited for, on each number of threads."""
    (folder / "two.ptl").write_text(
        "pub program two[M, K, N](x: f32[M, K], a: f32[K, N], b: f32[K, N]) -> (y: f32[M, N])\n{\n    let p = x @ a\n"
        "    let q = x @ b\n    y = p @ transpose(q, [1, 0]) @ q\n}\n")
    call = ["run", "two.ptl", "M=150", "K=80", "N=90", *(f"{name}=random(seed: 1)" for name in "xab"), "-o", "y.npy"]
    for threads in ("1", "2", "8"):
        run = tools.run(*call, "-j", threads, "--trace", "t.json", "--lanes", "l.json", cwd=folder)
        expect(run.code == 0, run)
        lanes, trace = (json.loads((folder / name).read_text()) for name in ("l.json", "t.json"))
        expect(lanes["format"] == "ptl-timeline" and lanes["machine"] == "cpu" and len(lanes["lanes"]) == int(threads), lanes)
        events = [event for event in trace["traceEvents"] if "task" in event.get("args", {})]
        first = {event["args"]["task"]: event["name"] for event in events}
        expect(len(first) == lanes["tasks"] and {"p", "q", "y"} <= set(first.values()), first)
        expect({event["args"]["source"] for event in events if event["name"] in "pq"} == {"two.ptl:3", "two.ptl:4"}, events)
        begins = {name: min(e["ts"] for e in events if e["name"] == name) for name in "pqy"}
        ends = {name: max(e["ts"] + e["dur"] for e in events if e["name"] == name) for name in "pqy"}
        expect(begins["y"] >= max(ends["p"], ends["q"]) - 1e-3, begins, ends)
        arrows = sum(event["ph"] == "s" for event in trace["traceEvents"])
        expect(arrows == lanes["dependences"] >= 2, arrows, lanes["dependences"])
        expect(sum(len(lane["tasks"]) for lane in lanes["lanes"]) == len(events), lanes)
    refused = tools.run(*call, "--target", "reference", "--trace", "t.json", cwd=folder)
    expect(refused.code != 0 and "timeline" in refused.stderr, refused)


TESTS = [simulated_times, timelines_of_runs]


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    return run_cases("command_times", in_folders("command_times", TESTS, lambda test, folder: test(tools, folder)))


sys.exit(main())
