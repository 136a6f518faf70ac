"""Programs as tasks on simulated cores: what runs at the same time, and idle stretches with known causes, which the report has to name.
`program_lanes.py BUILD`."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import ROOT, Case, Tools, run_cases  # noqa: E402

FOLDER = ROOT / "tests" / "lanes"
INPUTS = {"chain": "aw", "split_k": "ab",
          "transformer": ("tokens", "w_qkv", "w_out", "w_gate", "w_up", "w_down", "gamma", "cosine", "sine")}  # fmt: skip


class Wrong(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Wrong(text)


class Chip:
    """Runs entries on a simulated chip, and reads what is said of them."""

    def __init__(self, tools):
        self.tools = tools

    def run(self, path, entry, *words):
        with tempfile.TemporaryDirectory() as folder:
            lanes = pathlib.Path(folder) / "lanes.json"
            done = self.tools.run("sim", path, "--entry", entry, "--target", "a3", "--report", "--json", "--lanes", lanes, *words)
            if done.code != 0:
                raise Wrong(done.stderr)
            report = json.loads(done.stdout)
            report["cores"] = json.loads(lanes.read_text())["cores"]
            return report


def kernels(report):
    return [launch for launch in report["launches"] if launch["kernel"]]


def waits(launch):
    return {(edge["task"], edge["hazard"], edge["array"]) for edge in launch["waits_for"]}


def overlap(a, b):
    return min(a["end"], b["end"]) - max(a["begun"], b["begun"])


def check_cores(report):
    """No core runs two blocks at once, and everything outside of blocks is a gap with a cause."""
    for core in report["cores"]:
        spans = sorted((task["start"], task["end"]) for task in core["tasks"])
        for (_, end), (start, _) in zip(spans, spans[1:]):
            expect(start >= end - 1e-3, f"{core['lane']} runs two blocks at {start}")
        idle = sum(gap["end"] - gap["start"] for gap in core["gaps"])
        busy = sum(end - start for start, end in spans)
        expect(abs(idle + busy - report["us"]) < 0.05, f"{core['lane']}: {busy} us busy, {idle} us idle of {report['us']} us")
    for launch in report["launches"]:
        for edge in launch["waits_for"]:
            before = report["launches"][edge["task"]]
            expect(launch["begun"] >= before["end"], f"#{launch['task']} began before #{edge['task']} had ended")


def independent(chip):
    path = FOLDER / "independent.ptl"
    alone = [chip.run(path, entry, "N=32")["us"] for entry in ("first", "second")]
    both = chip.run(path, "both", "N=32")
    check_cores(both)
    one, two = kernels(both)
    expect(overlap(one, two) > 0.8 * (one["end"] - one["begun"]), "the kernels do not overlap")
    expect(not one["waits_for"] and not two["waits_for"], "they wait for each other")
    expect(both["us"] < 1.1 * max(alone), f"{both['us']} us, alone {alone}")
    expect(both["tasks"]["at_once"] == 2, f"{both['tasks']['at_once']} at once")
    used = [{task["name"] for task in core["tasks"]} for core in both["cores"] if core["tasks"]]
    expect(len(used) == 8 and all(len(names) == 1 for names in used), f"cores with tasks: {used}")


def shares_cores(chip):
    """With more blocks than cores the time is what the cores need, not what each kernel would."""
    path = FOLDER / "independent.ptl"
    report = chip.run(path, "both", "N=512")  # 64 blocks of work each, on 48 cores
    check_cores(report)
    busy = sum(task["end"] - task["start"] for core in report["cores"] for task in core["tasks"])
    least = busy / len(report["cores"])
    expect(report["us"] < 2 * least + 10, f"{report['us']} us, {least} us if all cores were busy")


def diamond(chip):
    report = chip.run(FOLDER / "independent.ptl", "diamond", "N=32")
    check_cores(report)
    top, left, right, bottom = kernels(report)
    expect(overlap(left, right) > 0.8 * (left["end"] - left["begun"]), "the two in the middle do not overlap")
    expect(left["begun"] >= top["end"] and bottom["begun"] >= max(left["end"], right["end"]), "not in the order of the data")
    expect({edge["task"] for edge in bottom["waits_for"]} == {left["task"], right["task"]}, f"{bottom['waits_for']}")
    path = report["tasks"]["critical_path"]
    expect(path[0] == top["task"] and path[-1] == bottom["task"] and right["task"] in path, f"critical path {path}")


def halves(chip):
    report = chip.run(FOLDER / "independent.ptl", "halves", "N=32")
    check_cores(report)
    one, _, two, _ = kernels(report)
    expect(overlap(one, two) > 0.8 * (one["end"] - one["begun"]), "writing two halves of an array is in one order")


def seeds(chip):
    """The same seed gives the same run."""
    path = FOLDER / "independent.ptl"
    expect(chip.run(path, "diamond", "N=100") == chip.run(path, "diamond", "N=100"), "two runs differ")


def indexer(chip):
    words = "T=8 H=7168 L=1536 N=64 D=128 R=64 ROWS=512".split()
    arrays = "x q_norm q_norm_scale w_qb w_qb_scale wk w_proj gamma beta cosine sine hadamard_q hadamard_k k_cache k_cache_scale".split()
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "row.npy"
        write_positions(rows, [3, 100, 7, 511, 0, 64, 65, 200])
        report = chip.run(ROOT / "examples" / "12_indexer_prolog.ptl", "indexer_prolog", "--values", *words, f"row=@{rows}",
                          *(f"{name}=random" for name in arrays))
    check_cores(report)
    expect(report["tasks"]["at_once"] >= 3, f"{report['tasks']['at_once']} kernels at once")
    lengths = sum(launch["end"] - launch["begun"] for launch in kernels(report))
    # Kernels at the same time save a seventh of what they take one after another, and the whole stays near its present time, 34 us.
    expect(report["us"] < min(6 / 7 * lengths, 38), f"{report['us']} us, one after another {lengths} us")
    queries, keys = (next(launch for launch in report["launches"] if launch["line"] == line) for line in (48, 54))
    # The keys' product begins as soon as its launch is submitted, when that of the queries still runs.
    expect(overlap(queries, keys) > 0.5 * (keys["end"] - keys["begun"]), "queries and keys do not overlap")
    gain = next(gain for gain in report["gains"] if gain["if"] == "the launch took no time")
    expect(gain["gain"] > 0.2, f"{report['gains']}")


def write_positions(path, values):
    """An `i64` array as a file of NumPy."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    data = b"".join(value.to_bytes(8, "little") for value in values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def experts(chip):
    """Which experts run is data: the orchestrator waits for it, and goes on ahead of what it has submitted."""
    words = "T=32 D=64 F=64 E=4 x=random router=random gate=random up=random down=random --values".split()
    report = chip.run(ROOT / "examples" / "10_mixture_of_experts.ptl", "mixture_of_experts", *words)
    check_cores(report)
    expect(any("which waits for" in gap["text"] for gap in report["tasks"]["gaps"]), f"{report['tasks']['gaps']}")
    expect(report["tasks"]["at_once"] >= 2, "no two kernels at the same time")


def false_dependence(chip):
    report = chip.run(FOLDER / "planted.ptl", "false_dependence", "N=32")
    check_cores(report)
    one, two = kernels(report)
    expect(waits(two) == {(one["task"], "write after write", "scratch")}, f"{two['waits_for']}")
    text = "#1 waits for #0: write after write of `scratch`"
    expect(report["tasks"]["gaps"][0]["text"] == text, f"{report['tasks']['gaps'][0]}")
    gain = next((gain for gain in report["gains"] if gain["if"] == "#1 had `scratch` for itself"), None)
    expect(gain and gain["gain"] > 0.4, f"{report['gains']}")
    hint = report["hints"][0]
    expect("reads no results of the tasks that it waits for: #0 writes `scratch`" in hint["text"] and hint["line"] == 20, f"{hint}")


def serialised(chip):
    report = chip.run(FOLDER / "planted.ptl", "one_by_one", "N=65536")
    wait = next(wait for wait in report["waits"] if wait["pipe"] == "mte2")
    expect(wait["instruction"] == "tload" and wait["waits_for"]["instruction"] == "tstore" and wait["critical"], f"{wait}")
    expect("scalar unit, which waited for" in wait["text"], f"{wait}")


def unbalanced(chip):
    report = chip.run(FOLDER / "planted.ptl", "triangle", "N=384", "C=256")  # a block for each of the 48 cores
    expect(report["uneven_us"] > 0.3 * report["us"], f"{report['uneven_us']} us of {report['us']} us")
    hints = [hint["text"] for hint in report["hints"]]
    expect(any("core groups do not end at the same time" in text for text in hints), f"{hints}")


def views(chip):
    """The page and the trace have the tasks of all cores, beside the pipes."""
    with tempfile.TemporaryDirectory() as folder:
        page, trace = pathlib.Path(folder) / "page.html", pathlib.Path(folder) / "trace.json"
        path = FOLDER / "independent.ptl"
        done = chip.tools.run("sim", path, "--entry", "both", "--target", "a3", "--html", page, "--trace", trace, "N=32")
        expect(done.code == 0, done.stderr)
        text = page.read_text()
        begin = text.index("const D=") + len("const D=")
        data = json.loads(text[begin:text.index(";\n", begin)])
        cores = {i for i, lane in enumerate(data["lanes"]) if lane[1] == "task"}
        shown = [task for task in data["tasks"] if task[0] in cores]
        expect(len(cores) == 48 and len(shown) == 8, f"{len(shown)} blocks on {len(cores)} cores")
        expect({data["sites"][task[1]][0] for task in shown} == {"both_0", "both_1"}, "blocks without their kernels")
        for gap in data["gaps"]:
            expect(data["tasks"][gap[0]][0] not in cores, "a gap of a pipe that is a core")
        events = json.loads(trace.read_text())["traceEvents"]
        blocks = [event for event in events if event["ph"] == "X" and event["pid"] == 0]
        expect(len(blocks) == 8 and len({event["tid"] for event in blocks}) == 8, f"{len(blocks)} blocks in the trace")


def page_of_levels(chip):
    """The page of a program on many chips has a lane for each part and each port, in groups by level, and the times that are printed."""
    path = ROOT / "codegen" / "parts" / "testdata" / "times.ptl"
    words = ("--entry", "by_levels", "--target", "h100", "--shape", "host=2,chip=4", "B=8192", "D=1024", "F=512")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        done = chip.tools.run("sim", path, *words, "--json", "--html", page)
        expect(done.code == 0, done.stderr)
        printed, text = json.loads(done.stdout), page.read_text()
    begin = text.index("const D=") + len("const D=")
    data = json.loads(text[begin:text.index(";\n", begin)])
    groups = [lane[0] for lane in data["lanes"]]
    expect(sorted(set(groups)) == list(dict.fromkeys(groups)), f"lanes of a group are apart: {groups}")
    for over, begun in (("chip", "reduce_scatter"), ("host", "all_reduce"), ("chip", "all_gather")):
        move = next(each for each in printed["movements"] if each["name"] == begun)
        tasks = [task for task in data["tasks"] if data["sites"][task[1]][0] == begun]
        expect(len({task[0] for task in tasks}) == 8, f"{begun} on {len(tasks)} lanes")
        expect({groups[task[0]] for task in tasks} == {f"movements over {over}"}, f"{begun} over {over}")
        expect({data["sites"][task[1]][2] for task in tasks} == {move["line"]}, f"the line of {begun}")
        expect(abs(min(task[2] for task in tasks) - move["begin"]) < 1e-3 and abs(max(task[3] for task in tasks) - move["end"]) < 1e-3, f"the time of {begun}")
    carried = [task for task in data["tasks"] if groups[task[0]].startswith("ports and links between the ")]
    expect(carried and max(task[3] for task in data["tasks"]) <= data["end"] + 1e-3 and abs(data["end"] - printed["us"]) < 1e-3, "the end")


def pages_of_rounds(chip):
    """In the page of a long loop, computing in the rounds that are not simulated is one task of each part, and times stay those that are printed."""
    path = ROOT / "codegen" / "parts" / "testdata" / "rounds.ptl"
    words = ("--entry", "steps", "--target", "cloudmatrix384", "--shape", "host=2,chip=2", "B=4096", "D=256", "F=256", "groups=2", "size=3000")
    with tempfile.TemporaryDirectory() as folder:
        page, lanes, trace = (pathlib.Path(folder) / name for name in ("page.html", "lanes.json", "trace.json"))
        done = chip.tools.run("sim", path, *words, "--json", "--html", page, "--lanes", lanes, "--trace", trace)
        expect(done.code == 0, done.stderr)
        printed, text = json.loads(done.stdout), page.read_text()
        lanes, events = json.loads(lanes.read_text())["lanes"], json.loads(trace.read_text())
    begin = text.index("const D=") + len("const D=")
    data = json.loads(text[begin:text.index(";\n", begin)])
    outer, inner = printed["loops"]
    expect(outer["rounds"] == outer["simulated"] == 2 and inner["rounds"] == 6000 > inner["simulated"], printed["loops"])
    left = [task for task in data["tasks"] if data["sites"][task[1]][0] == "rounds that are not simulated"]
    expect(len({task[0] for task in left}) == 4 and len(left) == 8, f"{len(left)} tasks of rounds that are left out")
    expect({data["sites"][task[1]][2] for task in left} == {inner["line"]}, "the line of the loop")
    computed = sum(task[3] - task[2] for task in left if task[0] == left[0][0])
    share = 1 - inner["simulated"] / inner["rounds"]
    once = sum(each["us"] for each in printed["stretches"] if each["times"] == 6000)
    expect(abs(computed - once * 6000 * share) < 1e-3 * computed, f"{computed} us are computed in them, not {once * 6000 * share}")
    expect(max(task[3] for task in data["tasks"]) <= data["end"] + 1e-3 and abs(data["end"] - printed["us"]) < 1e-3, "the end")
    expect(sum(task["name"] == "rounds that are not simulated" for lane in lanes for task in lane["tasks"]) == 8, "lanes")
    named = [event for event in events["traceEvents"] if event.get("name") == "rounds that are not simulated"]
    expect(len(named) == 8, f"{len(named)} events")


SAVED = """pub program p[D](x: f32[D] over chip by D, steps: int) -> (w: f32[D]) at host {
    var v = zeros(f32[D])
    for _s in 0..steps checkpoint "run" every 10 { v = v + all_gather(x, over: chip) }
    w = v
}
"""


def lanes_of_checkpoints(chip):
    """Each part has a lane with its checkpoints, one behind the other, the last of which the program waits for."""
    with tempfile.TemporaryDirectory() as folder:
        file, lanes = pathlib.Path(folder) / "saved.ptl", pathlib.Path(folder) / "lanes.json"
        file.write_text(SAVED)
        done = chip.tools.run("sim", file, "--target", "a2server", "--shape", "chip=4", "D=1000000", "steps=35", "--json", "--lanes", lanes)
        expect(done.code == 0, done.stderr)
        printed, shown = json.loads(done.stdout), json.loads(lanes.read_text())["lanes"]
    written = [lane["tasks"] for lane in shown if lane["lane"].startswith("checkpoints on disks: ")]
    expect(len(written) == 4 and written[0] == written[3] and len(written[0]) == printed["checkpoints"]["times"] == 3, f"{written}")
    times = [(task["start"], task["end"]) for task in written[0]]
    expect(all(abs(end - start - printed["checkpoints"]["us"]) < 1e-2 for start, end in times), f"{times}")
    expect(all(end <= start + 1e-2 for (_, end), (start, _) in zip(times, times[1:])), f"{times}")
    expect(abs(times[-1][1] - printed["us"]) < 1e-2, f"the program ends at {printed['us']}, not with its last checkpoint: {times}")


def names(chip):
    path = FOLDER / "blocks.ptl"
    report = chip.run(path, "named", "N=64", "M=256")
    check_cores(report)
    named = {launch.get("name"): launch for launch in kernels(report)}
    expect({"scale", "bend"} <= named.keys(), f"names {list(named)}")
    expect(overlap(named["scale"], named["bend"]) > -2, "one waits for the other")
    expect(named["scale"]["task"] not in {edge["task"] for edge in named["bend"]["waits_for"]}, "one waits for the other")
    with tempfile.TemporaryDirectory() as folder:
        lanes = pathlib.Path(folder) / "lanes.json"
        done = chip.tools.run("run", path, "--entry", "named", "a=random", "b=random", "N=64", "M=256", "-j", "2", "--lanes", lanes)
        expect(done.code == 0, done.stderr)
        threads = json.loads(lanes.read_text())["lanes"]
        expect({"scale", "bend"} <= {task["name"] for lane in threads for task in lane["tasks"]}, "not named on this CPU")


def storage(chip):
    """What is said before anything runs holds of what runs."""
    path = FOLDER / "blocks.ptl"
    done = chip.tools.run("check", path, "--target", "a3", "--cost", "--json")
    expect(done.code == 0, done.stderr)
    for cost in json.loads(done.stdout)["costs"]:
        sizes = {size["name"]: size["value"] for size in cost["sizes"]}
        promised, measured = cost["storage"], cost["storage"]["bytes"]
        in_order, most = (eval(promised[name], {"max": max}, sizes) for name in ("inOrder", "most"))
        expect(measured["inOrder"] == in_order, f"{cost['entry']}: {measured}, promised {promised} of {sizes}")
        expect(measured["inOrder"] <= measured["peak"] <= measured["most"] == most, f"{cost['entry']}: {measured}, promised {promised}")
        if cost["entry"] == "chain":
            expect(most > in_order == measured["peak"], f"three arrays, of which two are live: {promised}")
        report = chip.run(path, cost["entry"], "N=96", "M=64")
        for name, key in (("least_bytes", "inOrder"), ("unshared_bytes", "most")):
            expect(report["tasks"]["storage"][name] == eval(promised[key], {"max": max}, {"N": 96, "M": 64}), f"{cost['entry']}: {name}")


def storage_of_threads(chip):
    """The block of memory of a run on this CPU is no larger than without reuse."""
    with tempfile.TemporaryDirectory() as folder:
        lanes = pathlib.Path(folder) / "lanes.json"
        done = chip.tools.run("run", FOLDER / "blocks.ptl", "--entry", "chain", "a=random", "w=random", "N=96", "M=64", "-j", "2", "--lanes", lanes)
        expect(done.code == 0, done.stderr)
        used = json.loads(lanes.read_text())["storage"]
        expect(used["least_bytes"] == 2 * 4 * 96 * 64 <= used["bytes"] < used["unshared_bytes"], f"{used}")


def storage_before(chip):
    """What is said before a run on this CPU is what the run has where no loop makes arrays; else no more than it could have."""
    examples = ROOT / "examples"
    layers = {"S": 64, "D": 128, "F": 256, "L": 3, "H": 4}
    for path, entry, sizes in ((FOLDER / "blocks.ptl", "chain", {"N": 96, "M": 64}), (examples / "09_split_k.ptl", "split_k", {"M": 64, "N": 96, "K": 512}),
                               (examples / "08_transformer.ptl", "transformer", layers)):  # fmt: skip
        done = chip.tools.run("check", path, "--cost", "--json")
        expect(done.code == 0, done.stderr)
        promised = next(each for each in json.loads(done.stdout)["costs"] if each["entry"] == entry)["storage"]
        value = {name: eval(text.replace("/", "//"), {"max": max}, sizes) for name, text in promised.items() if name != "arrays"}
        with tempfile.TemporaryDirectory() as folder:
            lanes = pathlib.Path(folder) / "lanes.json"
            words = [f"{name}={size}" for name, size in sizes.items()]
            arrays = [f"{name}=random" for name in INPUTS[entry]]
            done = chip.tools.run("run", path, "--entry", entry, *arrays, *words, "-j", "2", "--lanes", lanes)
            expect(done.code == 0, done.stderr)
            used = json.loads(lanes.read_text())["storage"]
        expect(used["least_bytes"] <= value["inOrder"] <= used["unshared_bytes"], f"{entry}: {promised}, {used}")
        if "most" in value:
            expect((value["inOrder"], value["most"]) == (used["least_bytes"], used["unshared_bytes"]), f"{entry}: {promised}, {used}")


def case(tools, check):
    def run():
        try:
            check(Chip(tools))
        except Wrong as wrong:
            return str(wrong)
        return None

    return Case(f"program_lanes/{check.__name__}", run)


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    checks = (independent, shares_cores, diamond, halves, seeds, indexer, experts, false_dependence, serialised, unbalanced, views, page_of_levels, pages_of_rounds,
              lanes_of_checkpoints, names, storage, storage_of_threads, storage_before)
    return run_cases("program_lanes", [case(tools, check) for check in checks])


if __name__ == "__main__":
    sys.exit(main())
