"""What a person at the keyboard sees: errors that wait until a line is written, hovers at once, lenses that are short and say
for which lengths they speak. Keys are typed as people type them (keys.py)."""
import random
import re
import time

from chips import Talk
from client import FULL, Text
from keys import Typist, declarations
from session import EXAMPLES, Place, uri_of

WAITS = {"diagnostics": {"whileTyping": False}}
KERNEL = """kernel scale[R, static C](x: f32[R, C]) -> (y: f32[R, C])
{
    parallel r in tiles(R, 16) {
        let rows = x[r, :]
        y[r, :] = exp(rows)
    }
}

bench "scale" {
    scale(zeros(f32[768, 512]))
}

test "scale is exp" {
    expect_close(scale(zeros(f32[4, 64])), ones(f32[4, 64]))
}
"""
REST = 1.2  # seconds: longer than the server waits


class Typed:
    """One file that somebody types in."""

    def __init__(self, place: Place, name, text, options=None):
        self.uri = uri_of(place.folder / name)
        self.text, self.version = Text(text), 1
        self.client = place.server()
        self.client.initialize(FULL, initializationOptions={**WAITS, **(options or {})})
        self.client.open(self.uri, text)
        self.first = self.client.diagnostics(self.uri, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.kill()

    def start(self, key):
        self.version += 1
        self.client.change(self.uri, self.version, [self.text.edit(key.begin, key.end, key.text)])

    def press(self, key):
        """The errors and warnings that are shown after a key."""
        self.start(key)
        return [each for each in self.client.diagnostics(self.uri, self.version) if each["severity"] < 3]

    def after_rest(self):
        """What comes when nobody types, or None when nothing does."""
        found = self.client.wait_for(lambda m: m["method"] == "textDocument/publishDiagnostics" and m["params"]["uri"] == self.uri, REST)
        return found and found["params"]["diagnostics"]


def signature(diagnostic):
    return diagnostic.get("code"), diagnostic["message"]


class Tally:
    """How often something false was said."""

    def __init__(self):
        self.keys, self.at_cursor, self.elsewhere, self.examples = 0, 0, 0, []

    def note(self, shown, line, allowed, renamed=None):
        self.keys += 1
        false = [each for each in shown if signature(each) not in allowed and not (renamed and f"`{renamed}" in each["message"])]
        here = [each for each in false if each["range"]["start"]["line"] == line]
        self.at_cursor += bool(here)
        self.elsewhere += len(false) > len(here)
        if false and len(self.examples) < 20:
            self.examples.append((line, [(each["range"]["start"]["line"], *signature(each)) for each in false][:3]))


def play(typed: Typed, keys, tally: Tally, allowed, renamed=None, rests=True):
    """Presses keys; pauses that are long enough to be one are waited for, and shorter ones are not."""
    for key in keys:
        if rests and key.pause > 0.9:
            time.sleep(REST)
            typed.client.status()
            typed.client.arrived.clear()
        shown = typed.press(key)
        tally.note(shown, typed.text.text.count("\n", 0, key.cursor), allowed, renamed)


def whole_declarations(place: Place, seed, count, tally):
    """Declarations of the examples are typed from nothing."""
    choose = random.Random(seed)
    for number in range(count):
        example = choose.choice(EXAMPLES)
        text = example.read_text()
        begin, end = choose.choice(declarations(text))
        typist = Typist(seed * 100 + number, text)
        start, keys = typist.again(begin, end)
        with Typed(place, f"{number}_{example.name}", start) as typed:
            play(typed, keys, tally, {signature(each) for each in typed.first})
            if typed.text.text != text:
                return f"{example.name}: typed something else:\n{typed.text.text[begin:end]}"
            last = typed.after_rest()
            if [each for each in last or [] if each["severity"] == 1]:
                return f"{example.name}: errors in the end: {last}"
    return None


def replayed(place: Place, long: bool, seed: int):
    """No false error at the cursor in 95 % of the keys, none elsewhere."""
    tally = Tally()
    if problem := whole_declarations(place, seed, 40 if long else 6, tally):
        return problem
    for number, example in enumerate(EXAMPLES[: 12 if long else 3]):
        text = example.read_text()
        begin, end = max(declarations(text), key=lambda each: each[1] - each[0])
        with Typed(place, f"renamed_{example.name}", text) as typed:
            typist = Typist(seed + number, text)
            play(typed, typist.broken(begin, end), tally, {signature(each) for each in typed.first})
            name, keys = typist.rename(begin, end)
            play(typed, keys, tally, {signature(each) for each in typed.first}, name)
    if tally.keys < 1000:
        return f"only {tally.keys} keys"
    if tally.at_cursor > 0.05 * tally.keys or tally.elsewhere > 0:
        return f"of {tally.keys} keys {tally.at_cursor} showed a false error at the cursor, {tally.elsewhere} elsewhere: {tally.examples}"
    return None


def errors_wait(place: Place):
    """They come after a pause, after an edit elsewhere, or at once by the setting or after other changes."""
    at = lambda piece: KERNEL.index(piece) + len(piece)
    with Typed(place, "waits.ptl", KERNEL) as typed:
        key = lambda begin, text: Typist(1, "").edit(begin, begin, text)
        if found := typed.press(key(at("exp(rows"), " + sca")):
            return f"at the cursor: {found}"
        if typed.client.status()["held"] != 1:
            return "nothing is said to be held"
        rested = typed.after_rest()
        if not rested or [each["code"] for each in rested if each["severity"] == 1] != ["E0201"]:
            return f"after a pause: {rested}"
        if found := typed.press(key(typed.text.text.index("+ sca") + 5, "l")):
            return f"the typing went on: {found}"
        elsewhere = typed.press(key(typed.text.text.index("expect_close") - 4, "// "))
        if [each["code"] for each in elsewhere if each["severity"] == 1] != ["E0201"]:
            return f"after an edit elsewhere: {elsewhere}"
        # Not typed: two places at once.
        typed.version += 1
        changes = [typed.text.edit(0, 0, "kernel"), typed.text.edit(0, 0, "// ")]
        typed.client.change(typed.uri, typed.version, changes)
        if not typed.client.diagnostics(typed.uri, typed.version):
            return "after a change of two places nothing is said"
    with Typed(place, "at_once.ptl", KERNEL, {"diagnostics": {"whileTyping": True}}) as typed:
        if [each["code"] for each in typed.press(key(at("exp(rows"), " + sca"))] != ["E0201"]:
            return "not at once by the setting"
    return None


def pulled(place: Place):
    """A client that asks for diagnostics is told to ask again."""
    wants = {**FULL, "textDocument": {**FULL["textDocument"], "diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
    uri = uri_of(place.folder / "pulled.ptl")
    with place.server() as client:
        client.initialize(wants, initializationOptions=WAITS)
        client.open(uri, KERNEL)
        ask = lambda: [each["code"] for each in client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]]
        if ask():
            return "wrong at first"
        text = Text(KERNEL)
        at = KERNEL.index("exp(rows") + len("exp(rows")
        client.change(uri, 2, [text.edit(at, at, " + sca")])
        if ask():
            return "at the cursor"
        client.arrived.clear()
        if not client.wait_for(lambda m: m["method"] == "workspace/diagnostic/refresh", REST + 2):
            return "not told to ask again"
        return None if ask() == ["E0201"] else "not said after a pause"


def hover_at_once(place: Place):
    """The first answer waits for nobody; IR is in a later one, or in an answer of its own."""
    def texts(client, method, position):
        answer = client.request(method, {"textDocument": {"uri": uri}, "position": position})
        return answer["contents"]["value"] if answer else ""

    uri = uri_of(place.folder / "hover.ptl")
    at = Text(KERNEL).position(KERNEL.index("exp(rows"))
    with place.server() as client:
        client.initialize(FULL)
        client.open(uri, KERNEL)
        time.sleep(0.4)
        begin = time.monotonic()
        first = texts(client, "textDocument/hover", at)
        took = time.monotonic() - begin
        if "f32[r, C]" not in first or "ptl.exp" in first or took > 1:
            return f"not at once: {took} s, {first}"
        end = time.monotonic() + 60
        while "ptl.exp" not in (later := texts(client, "textDocument/hover", at)):
            if time.monotonic() > end:
                return f"no IR: {later}"
            time.sleep(0.05)
        # What was known of the older text is not shown.
        text = Text(KERNEL)
        client.change(uri, 2, [text.edit(KERNEL.index("exp(rows"), KERNEL.index("exp(rows") + 3, "abs")])
        if "ptl." in (stale := texts(client, "textDocument/hover", at)):
            return f"of an older text: {stale}"
    with place.server() as client:
        client.initialize({**FULL, "experimental": {"ptl": {"hoverIr": True}}})
        client.open(uri, KERNEL)
        time.sleep(0.4)
        ir = texts(client, "ptl/hoverIr", at)
        if "ptl.exp" not in ir or "ptl.exp" in texts(client, "textDocument/hover", at) or ir != texts(client, "ptl/hoverIr", at):
            return f"in two answers: {ir}"
        if texts(client, "ptl/hoverIr", {"line": 1, "character": 0}):
            return "of nothing"
    return None


def same_lengths(place: Place):
    """What the lens says is what previews, memory maps and timelines are for, whatever has set it."""
    for name, settings, wanted, other in (
            ("sizes", {"sizes": {"C": 256, "R": 64}}, {"C": 256, "R": 64}, False),
            ("own", {"sizes": {"scale": {"C": 128}, "other.C": 64}}, {"C": 128, "R": 768}, False),
            ("bindings", {"preview": {"bindings": {"C": 1024}}}, {"C": 1024, "R": 768}, False),
            ("both", {"sizes": {"scale.C": 256}, "preview": {"bindings": {"scale.C": 64}}}, {"C": 256, "R": 768}, False),
            ("bench", {}, {"C": 512, "R": 768}, False),
            ("assumed", {}, {}, True)):
        text = KERNEL[: KERNEL.index("bench")] if other else KERNEL
        with Talk(place, f"lengths_{name}", text) as talk:
            talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "advice": {"enabled": False}, **settings}}})
            talk.settled()
            (lens,), (short,) = talk.sizes(), talk.short()
            if other:
                if "C = 128 (assumed)" not in lens or "R = " not in lens or "~" not in short:
                    return f"assumed: {lens}, {short}"
                if problem := assumed_everywhere(talk, lens):
                    return problem
                continue
            said = {dim: int(value) for dim, value in re.findall(r"(\w+) = (\d+)", lens)}
            if said != wanted or "assumed" in lens or "~" in short:
                return f"{name}: {lens}, {short}"
            ask = lambda method, **more: talk.client.request(method, {**talk.document, "entry": "scale", "target": "a3", **more})
            shown = ask("ptl/preview", stage="memory")
            if f"C = {wanted['C']}" not in shown["note"]:
                return f"{name}: the memory map is for {shown['note']}"
            cost, timeline = ask("ptl/cost"), ask("ptl/timeline")
            if {size["name"]: size["value"] for size in cost["sizes"]} != wanted or abs(cost["us"] - timeline["timeline"]["us"]) > 0.01:
                return f"{name}: costs for {cost['sizes']}, timeline of {timeline['timeline']['us']} µs, not {cost['us']}"
            if problem := said_everywhere(talk, wanted):
                return f"{name}: {problem}"
            chosen = ask("ptl/preview", stage="memory", bindings={"C": 64})
            if "C = 64" not in chosen["note"]:
                return f"{name}: asked for 64, and got {chosen['note']}"
    return None


def shown_lengths(talk):
    """What a person reads of lengths in the hover, the graph, the timeline, and in the preview of each stage."""
    ask = lambda method, **more: talk.client.request(method, {**talk.document, "entry": "scale", "target": "a3", **more})
    at = talk.text.position(talk.text.text.index("scale"))
    hover = talk.client.request("textDocument/hover", {**talk.document, "position": at})["contents"]["value"]
    page = ask("ptl/timeline", form="page")["page"]
    graph = ask("ptl/preview", stage="graph:svg@a3")["text"]
    notes = {stage: ask("ptl/preview", stage=stage)["note"] for stage in ("tile", "block@a3", "pto@a3", "cpp@a3", "memory@a3", "memory:svg@a3")}
    return hover, re.search(r"scale\[([^\]]*)\] on a3", page).group(1), graph, notes


def said_everywhere(talk, wanted):
    """The lengths that the lens says, none of them called assumed."""
    hover, timeline, graph, notes = shown_lengths(talk)
    for dim, value in wanted.items():
        if f"`{dim} = {value}`" not in hover or f"{dim}={value}" not in timeline.split(", ") or not re.search(rf"\b{dim} = {value}\b", graph):
            return f"{dim} is not {value} in {hover}, {timeline}, {graph[:400]}"
    if "assumed" in hover + timeline + graph or "~" in hover:
        return f"assumed: {hover}, {timeline}"
    wrong = {stage: note for stage, note in notes.items() if f"C = {wanted['C']}" not in note or "assumed" in note}
    return f"previews are for {wrong}" if wrong else None


def assumed_everywhere(talk, lens):
    """Each length of the lens is called assumed by all who say it, and times that it decides are marked."""
    hover, timeline, graph, notes = shown_lengths(talk)
    for dim, value in re.findall(r"(\w+) = (\d+)", lens):
        if not re.search(rf"`{dim} = {value}` \(assumed\)", hover) or f"{dim}={value} (assumed)" not in timeline.split(", "):
            return f"{dim} = {value} is not assumed in {hover}, {timeline}"
        if f"{dim} = {value} (assumed)" not in graph:
            return f"{dim} = {value} is not assumed in {graph[:600]}"
    if times := re.findall(r"(?<![~\d.])\b[\d.]+ [µm]s\b", hover + graph.split("</text>")[0]):
        return f"{times} are not marked: {hover}, {graph[:300]}"
    wrong = {stage: note for stage, note in notes.items() if "C = 128 (assumed)" not in note}
    return f"previews do not call it assumed: {wrong}" if wrong else None


def lengths_to_choose(place: Place):
    with Talk(place, "choose", KERNEL) as talk:
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "sizes": {"scale.R": 5}}}})
        answer = talk.client.request("ptl/sizes", {**talk.document, "entry": "scale"})
        if answer != {"entry": "scale", "dims": [{"name": "R", "static": False, "value": 5}, {"name": "C", "static": True}],
                      "calls": [{"caller": 'bench "scale"', "sizes": {"R": 768, "C": 512}},
                                {"caller": 'test "scale is exp"', "sizes": {"R": 4, "C": 64}}]}:
            return f"{answer}"
        at = talk.text.position(KERNEL.index("rows"))
        if talk.client.request("ptl/sizes", {**talk.document, "position": at}) != answer:
            return "not by a position"
    return None


def broken_kernels(place: Place):
    """A lens above a text that was never right says so, and later what is true."""
    with Talk(place, "broken", KERNEL.replace("exp(rows)", "exp(row)")) as talk:
        talk.settled()
        if talk.short() != ["a3 ✗ has errors (E0201)"]:
            return f"{talk.short()}"
        talk.edit("exp(row)", "exp(rows)")
        talk.settled()
        if not talk.short()[0].startswith("a3 ✓ "):
            return f"repaired: {talk.short()}"
    return None


def targets_offered(place: Place):
    """Above the first kernel, as long as nothing is chosen."""
    two = KERNEL + "\n" + KERNEL.split("\n\nbench")[0].replace("scale", "other") + "\n"
    with Talk(place, "offered", two, targets=()) as talk:
        offers = lambda: [(lens["range"]["start"]["line"], lens["command"]["title"], lens["command"]["arguments"])
                          for lens in talk.client.request("textDocument/codeLens", talk.document)
                          if lens.get("command", {}).get("command") == "ptl.chooseTargets"]
        if offers() != [(0, "Choose chips…", [talk.uri])]:
            return f"{offers()}"
        known = talk.client.request("ptl/targets", {})
        if not {"a2", "a3", "a5"} <= set(known["chips"]) or known["chosen"]:
            return f"{known}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["cpu", "a3"]}}})
        if offers() or talk.client.request("ptl/targets", {})["chosen"] != ["cpu", "a3"]:
            return f"still offered: {offers()}"
        # This processor has no timeline: the first chip is meant.
        if talk.client.request("ptl/timeline", {**talk.document, "entry": "scale"})["target"] != "a3":
            return "another timeline"
    return None


def cases(place: Place, long: bool, seed: int):
    yield "errors wait", lambda: errors_wait(place)
    yield "pulled", lambda: pulled(place)
    yield "hover at once", lambda: hover_at_once(place)
    yield "same lengths", lambda: same_lengths(place)
    yield "lengths to choose", lambda: lengths_to_choose(place)
    yield "broken kernels", lambda: broken_kernels(place)
    yield "targets offered", lambda: targets_offered(place)
    yield "replayed", lambda: replayed(place, long, seed)
