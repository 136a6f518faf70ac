"""What the server says of times: the same as `ptlc check --cost`, beside the lines that it is about, and it follows the text."""
import json
import re
import subprocess

from chips import Talk, problems
from client import Failure
from session import ROOT, Place, in_words

SUM = """kernel loud[R, C](x: f32[R, C]) -> (y: f32[R, 1])
{
    parallel r in tiles(R, 16) {
        var total = zeros(f32[r, 1])
        for c in tiles(C, 512) pipeline 2 {
            let part = exp(x[r, c])
            total += sum(part, axis: 1)
        }
        y[r, :] = total
    }
}

bench "loud" {
    loud(zeros(f32[768, 2048]))
}
"""
ROUTED = """program routed[N](count: i32[N], x: f32[N, 64]) -> (y: f32[N, 64])
{
    y = zeros(f32[N, 64])
    for i in 0..4 {
        let rows = int(count[i])
        if rows > 0 { y[0:rows, :] = exp(x[0:rows, :]) }
    }
}
"""
DATA = """program picks[N](at: i32[N], x: f32[N, 64]) -> (y: f32[1, 64])
{
    let n = int(at[0])
    y = sum(x[0:n, :], axis: 0)
}
"""
DECIDES = """program until[N](x: f32[N], least: f32) -> (y: f32[N])
{
    var now = x
    while sum(now) > least { now = now / 2.0 }
    y = now
}
"""


def checked(talk: Talk, *more):
    """The costs that `ptlc check --cost` prints."""
    target = () if "--target" in more else ("--target", "a3")
    command = [talk.place.bin / "ptlc", "check", talk.path, *target, "--cost", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, env=talk.place.environment(), timeout=60)
    return json.loads(done.stdout)["costs"]


def ask(talk: Talk, **more):
    return talk.client.request("ptl/cost", {**talk.document, "entry": "loud", **more})


def hints(talk: Talk):
    lines = talk.text.text.count("\n")
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
    found = talk.client.request("textDocument/inlayHint", {**talk.document, "range": everything})
    return [hint for hint in found if isinstance(hint["label"], str) and hint["label"].startswith("a3: ")]


def hover(talk: Talk, piece):
    at = talk.text.position(talk.text.text.index(piece))
    answer = talk.client.request("textDocument/hover", {**talk.document, "position": at})
    return answer["contents"]["value"] if answer else ""


def schema_and_command_line(place: Place):
    schema = json.loads((ROOT / "docs" / "schemas" / "cost.json").read_text())
    with Talk(place, "cost", SUM) as talk:
        answer, (printed,) = ask(talk), checked(talk)
        for one in (answer, printed):
            if wrong := problems(one, schema):
                return "\n".join(wrong)
        if not answer["exact"] or [(s["name"], s["value"], s["why"]) for s in answer["sizes"]] != [
                ("R", 768, 'bench "loud"'), ("C", 2048, 'bench "loud"')]:
            return f"not for the sizes of the bench: {answer}"
        same = ("us", "bound", "pipes", "path", "roofline", "groups", "launches", "sizes")
        if different := [name for name in same if answer[name] != printed[name]]:
            return f"not what ptlc says: {[(n, answer[n], printed[n]) for n in different]}"
        ours = [(s["us"], s["location"]["range"]["start"]["line"] + 1, s["kind"], "dominant" in s) for s in answer["statements"]]
        theirs = [(s["us"], s["line"], s["kind"], "dominant" in s) for s in printed["statements"]]
        if ours != theirs or [line for _, line, *_ in ours] != [3, 5, 6, 7, 9]:
            return f"statements:\n{ours}\n{theirs}"
        if [line for _, line, _, dominant in ours if dominant] != [5, 6]:
            return f"not the loop and the load and exp: {ours}"
        # What is asked for counts more than the settings, and these more than a bench.
        longer = ask(talk, sizes={"loud.R": 65536})
        if longer["sizes"][0] != {"name": "R", "value": 65536, "why": "asked for"} or longer["us"] < 10 * answer["us"]:
            return f"not for more rows: {longer['sizes']} {longer['us']}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "sizes": {"R": 65536}}}})
        talk.settled()
        if ask(talk)["us"] != longer["us"] or f"{longer['us']:.1f}"[:4] not in talk.titles()[0]:
            return f"not by the settings: {ask(talk)['us']}, {talk.titles()}"
    return None


def beside_the_lines(place: Place):
    with Talk(place, "lines", SUM) as talk:
        talk.settled()
        title = talk.titles()[0]
        if not re.fullmatch(r"a3: fits · vec [\d.]+/184 KiB · [\d.]+ µs · \w+-bound \d+ %", title):
            return title
        shown = [(hint["position"]["line"], hint["label"]) for hint in hints(talk)]
        if [line for line, _ in shown] != [4, 5] or not all(re.fullmatch(r"a3: [\d.]+ µs · \d+ %", label) for _, label in shown):
            return f"hints: {shown}"
        whole, loop, statement = hover(talk, "loud["), hover(talk, "c in tiles"), hover(talk, "part =")
        if "the least time of memory" not in whole or "core groups with work: 48 of 48" not in whole or '(bench "loud")' not in whole:
            return f"of the kernel: {whole}"
        for text, line in ((loop, 4), (statement, 5)):
            label = dict(shown)[line].removeprefix("a3: ").split(" · ")[0]
            if f"{label} of " not in text:
                return f"not {label}: {text}"
        # Lines above move them; a keystroke in the kernel takes them away until the answer is there.
        talk.edit("kernel loud", "// one\nkernel loud")
        talk.settled()
        if [hint["position"]["line"] for hint in hints(talk)] != [5, 6]:
            return f"not moved: {hints(talk)}"
        talk.edit("exp(x[r, c])", "exp(x[r, c]")
        if hints(talk):
            return "hints about an older text"
        talk.settled()
        if not talk.titles()[0].endswith(" · stale") or not ask(talk)["stale"]:
            return f"not stale: {talk.titles()}"
    return None


def on_this_processor(place: Place):
    """The least time, by what is read, written and computed; the lens has no timeline beside it."""
    schema = json.loads((ROOT / "docs" / "schemas" / "cost.json").read_text())
    with Talk(place, "cpu", SUM, targets=("cpu",)) as talk:
        talk.settled()
        answer = ask(talk, target="cpu")
        (printed,) = checked(talk, "--target", "cpu")
        for one in (answer, printed):
            if wrong := problems(one, schema):
                return "\n".join(wrong)
            if not one["least"] or not one["bound"].startswith("bound by "):
                return f"no least time: {one}"
        amounts = lambda one: [(s["kind"], s["reads"], s["writes"], s["operations"]) for s in one["statements"]]
        if amounts(answer) != amounts(printed) or amounts(answer)[0][:3] != ("loop", 768 * 2048 * 4, 768 * 4):
            return f"statements:\n{amounts(answer)}\n{amounts(printed)}"
        if not re.fullmatch(r"cpu: at least [\d.]+ µs · bound by [\w -]+ \d+ %", talk.titles()[0]):
            return f"{talk.titles()}"
        lenses = talk.client.request("textDocument/codeLens", talk.document)
        if any("timeline" in lens.get("command", {}).get("title", "") for lens in lenses):
            return f"a timeline: {lenses}"
        if "this machine: " not in hover(talk, "loud[") or '(bench "loud")' not in hover(talk, "loud["):
            return hover(talk, "loud[")
        if "reads 6.3 MB" not in hover(talk, "part ="):
            return hover(talk, "part =")
        return None


def nothing_is_known(place: Place):
    with Talk(place, "data", DATA) as talk:
        talk.settled()
        answer = talk.client.request("ptl/cost", {**talk.document, "entry": "picks"})
        if "us" in answer or "is not known when only times are simulated" not in answer.get("unknown", ""):
            return f"a time that data decides: {answer}"
        if "µs" in talk.titles()[0] or "no time is known: " not in hover(talk, "picks["):
            return f"{talk.titles()}: {hover(talk, 'picks[')}"
        try:
            return f"of nothing: {talk.client.request('ptl/cost', {**talk.document, 'entry': 'nobody'})}"
        except Failure:
            return None


def assumed_decisions(place: Place):
    with Talk(place, "decides", DECIDES) as talk:
        talk.settled()
        answer = talk.client.request("ptl/cost", {**talk.document, "entry": "until"})
        if [each["text"] for each in answer.get("decisions", [])] != ["the loop runs once"] or "us" not in answer:
            return f"not told: {answer}"
        if "chips.ptl:4`: the loop runs once (assumed)" not in hover(talk, "until["):
            return f"not in the hover: {hover(talk, 'until[')}"
        return None


def examples_of_data(place: Place):
    with Talk(place, "routed", ROUTED) as talk:
        talk.settled()
        ask_for = lambda **more: talk.client.request("ptl/cost", {**talk.document, "entry": "routed", **more})
        if "`-D rows=...`" not in ask_for(sizes={"N": 65536}).get("unknown", ""):
            return f"does not say what it lacks: {ask_for()}"
        few, many = (ask_for(sizes={"N": 65536, "rows": rows}) for rows in (64, 65536))
        if {"name": "rows", "value": 64, "why": "asked for"} not in few.get("sizes", []) or not few["us"] < many["us"] / 2:
            return f"not for the examples: {few}\n{many}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "sizes": {"N": 65536, "rows": 64}}}})
        talk.settled()
        return None if f"{few['us']:.1f}"[:4] in talk.titles()[0] else f"not by the settings: {talk.titles()}"


def timelines(place: Place):
    with Talk(place, "timeline", SUM) as talk:
        asked = {**talk.document, "entry": "loud"}
        answer = talk.client.request("ptl/timeline", asked)
        lanes = {lane["lane"] for lane in answer["timeline"]["lanes"]}
        if answer["part"] or answer["timeline"]["format"] != "ptl-timeline" or "aiv47.mte2" not in lanes:
            return f"lanes: {lanes}"
        if abs(answer["timeline"]["us"] - ask(talk)["us"]) > 0.01:
            return f"{answer['timeline']['us']} µs are not {ask(talk)['us']}"
        if {task["line"] for lane in answer["timeline"]["lanes"] for task in lane["tasks"]} - {5, 6, 7, 9}:
            return "tasks of other lines"
        page = talk.client.request("ptl/timeline", {**asked, "form": "page"})["page"]
        if not page.startswith("<!doctype html>") or f"{talk.path}:6:" not in page or "http" in page:
            return f"no page: {page[:300]}"
        part = talk.client.request("ptl/timeline", {**asked, "sizes": {"R": 1 << 20}, "mostOperations": 1000})
        if not part["part"]:
            return "a long run is whole"
        try:
            return f"of no form: {talk.client.request('ptl/timeline', {**asked, 'form': 'song'})}"
        except Failure:
            return None


def cases(place: Place, long: bool, seed: int):
    found = (schema_and_command_line, beside_the_lines, on_this_processor, nothing_is_known, assumed_decisions, examples_of_data, timelines)
    yield from in_words(found, place)
