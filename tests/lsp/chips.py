"""What the server says of chips: the same as `ptlc check --target` and `ptlc build --target`, and it follows the text."""
import json
import re
import subprocess
import time

import jsonschema

from client import FULL, Failure, Text
from session import EXAMPLES, ROOT, Place, uri_of, in_words

WIDE = """kernel wide[R](x: f32[R, 4096]) -> (y: f32[R, 4096])
tune ROWS: [1, 2, 4, 8, 16] = 16
{
    parallel r in tiles(R, ROWS) {
        let rows = x[r, :]
        var s = rows ; for _ in 0..2 { s = s - max(s, axis: 0) } ; y[r, :] = exp(s)
    }
}

kernel twice[N](x: f32[N]) -> (y: f32[N])
{
    parallel r in tiles(N, 4096) {
        let part = x[r]
        y[r] = part + part
    }
}
"""
SCHEDULED = WIDE.replace("= 16\n", "= 1\n") + "\nschedule wide on a3 {\n    ROWS = 16\n}\n"
PIPELINED = """kernel total(x: f32[64, 8, 1024]) -> (y: f32[8, 1024])
{
    parallel _ in 0..1 {
        var acc = zeros(f32[8, 1024])
        for k in 0..64 pipeline 4 {
            acc += exp(x[k, :, :])
        }
        y[:, :] = acc
    }
}
"""
OTHERS = """kernel ordered[R](x: f32[R, 64]) -> (y: f32[R, 64])
{
    parallel r in tiles(R, 8) {
        y[r, :] = sort(x[r, :])
    }
}

program rows[R, C](x: f32[R, C]) -> (y: f32[R, C])
{
    y = exp(x - max(x, axis: -1))
}
"""
PARTS = """kernel large[R](x: f32[R, 16384]) -> (y: f32[R, 16384])
tune ROWS = 4
{
    parallel r in tiles(R, ROWS) {
        let rows = x[r, :]
        y[r, :] = exp(rows)
    }
}
"""
IN_PARTS = """kernel spread[M](x: f32[M, 128], w: f32[64, 1, 128]) -> (y: f32[M])
tune ROWS = 8
{
    parallel i in tiles(M, ROWS) {
        let d = abs(x[i, :] - w[:, :, :])
        y[i] = sum(d, axis: [0, 2], keep: false)
    }
}
"""
DOUBLES = WIDE.replace("f32", "f64")
# A session rests before it looks at what nobody waits for: others use that time.
AT_ONCE = 4
CAPABILITIES = {**FULL, "workspace": {**FULL["workspace"], "codeLens": {"refreshSupport": True}}}


def unescaped(markdown):
    """Text as it is shown: signs of formulas are no marks."""
    return re.sub(r"\\(.)", r"\1", markdown)


class Talk:
    """A session about one file, for some chips."""

    def __init__(self, place: Place, name, text, targets=("a3",), advice=False, sizes=None):
        self.place, self.folder = place, place.folder / name
        self.folder.mkdir()
        self.path = self.folder / "chips.ptl"
        self.path.write_text(text)
        self.uri = uri_of(self.path)
        self.document = {"textDocument": {"uri": self.uri}}
        self.text, self.version = Text(text), 1
        self.client = place.server()
        self.client.initialize(CAPABILITIES, initializationOptions={"targets": list(targets), "advice": {"enabled": advice},
                                                             "sizes": sizes or {}})
        self.client.open(self.uri, text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.kill()

    def edit(self, before, after):
        at = self.text.text.index(before)
        self.version += 1
        self.client.change(self.uri, self.version, [self.text.edit(at, at + len(before), after)])

    def settled(self):
        """All verdicts are about the present text, and what is said of it has been sent."""
        end = time.monotonic() + 60
        while (status := self.client.status())["feasibility"]["pending"] or status["unpublished"]:
            if time.monotonic() > end:
                raise TimeoutError("the verdicts never come to an end")
            time.sleep(0.01)

    def diagnostics(self):
        """The last that were published."""
        self.settled()
        found = [m["params"]["diagnostics"] for m in self.client.arrived if m["method"] == "textDocument/publishDiagnostics"]
        return found[-1] if found else []

    def lenses(self):
        """Those of chips and of lengths, resolved."""
        lenses = self.client.request("textDocument/codeLens", self.document)
        return [self.client.request("codeLens/resolve", lens) for lens in lenses if isinstance(lens.get("data"), dict)]

    def titles(self):
        """What is said beside the lenses of chips."""
        return [lens["data"]["tooltip"] for lens in self.lenses() if "target" in lens["data"]]

    def short(self):
        """What the lenses of chips say."""
        return [lens["command"]["title"] for lens in self.lenses() if "target" in lens["data"]]

    def sizes(self):
        """What the lenses of lengths say."""
        return [lens["command"]["title"] for lens in self.lenses() if "target" not in lens["data"]]

    def needs(self):
        """The same as `titles` without the times."""
        return [re.sub(r" · ~?[\d.]+ [µm]s · \w+-bound \d+ %", "", title) for title in self.titles()]

    def fixes(self, diagnostic):
        actions = self.client.request("textDocument/codeAction", {
            **self.document, "range": diagnostic["range"], "context": {"diagnostics": [diagnostic], "only": ["quickfix"]}})
        return [action for action in actions if diagnostic in action.get("diagnostics", [])]

    def build(self, entry, kind, target="a3", *more):
        command = [self.place.bin / "ptlc", "build", self.path, "--target", target, "--entry", entry, f"--emit={kind}", "-o", "-", *more]
        done = subprocess.run(command, capture_output=True, text=True, env=self.place.environment(), timeout=60)
        if done.returncode:
            raise RuntimeError(done.stderr[:500])
        return done.stdout


def said_by_check(place: Place, path, target):
    done = subprocess.run([place.bin / "ptlc", "check", "--diagnostics=json", "--error-limit", "0", "--target", target, path],
                          capture_output=True, env=place.environment(), timeout=60)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"ptlc check: exit {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    reported = []
    for each in json.loads(done.stdout)["diagnostics"]:
        lines = [each["message"], *filter(None, [each["label"]]), *("note: " + n for n in each["notes"]), *("help: " + h for h in each["helps"])]
        at = (each["begin"]["line"] - 1, each["begin"]["column"] - 1) if each.get("file") == str(path) else None
        reported.append((each["code"], at, "\n".join(lines), tuple(sorted(fix["title"] for fix in each["fixes"]))))
    return sorted(reported, key=repr)


def said_by_server(talk: Talk):
    reported = []
    for each in talk.diagnostics():
        start = each["range"]["start"]
        fixes = tuple(sorted(action["title"] for action in talk.fixes(each)))
        reported.append((each["code"], (start["line"], start["character"]), each["message"], fixes))
    return sorted(reported, key=repr)


def short_lengths(text):
    """Of all dimensions that kernels and programs have: what bounds a time is simulated, too, and takes long for the usual lengths."""
    lists = re.findall(r"^(?:pub )?(?:kernel|program) \w+\[(.*?)\]\(", text, re.M)
    return {name: 64 for each in lists for name in re.findall(r"\w+", each) if name != "static"}


def same_as_check(place: Place, name, text, target):
    """Everything that has a place in the file; the positions of these texts are ASCII."""
    with Talk(place, f"same_{name}_{target}", text, [target], sizes=short_lengths(text)) as talk:
        ours, theirs = said_by_server(talk), said_by_check(place, talk.path, target)
    # What lies elsewhere the server shows at the name of the kernel; other errors than those of chips are other tests.
    ours, theirs = ([each for each in reported if each[0].startswith("E04")] for reported in (ours, theirs))
    if [(code, message, fixes) for code, _, message, fixes in ours] != [(code, message, fixes) for code, _, message, fixes in theirs] or any(
            at is not None and at != own for (_, own, *_), (_, at, *_) in zip(ours, theirs)):
        return f"the server:\n{ours}\nptlc check:\n{theirs}"
    return None


def must_say(place: Place, name, text, code, fixes):
    """These texts are wrong; `fixes` is how many repairs there are, each of which makes it fit."""
    with Talk(place, f"must_{name}", text) as talk:
        found = [each for each in talk.diagnostics() if each["code"] == code]
        if len(found) != 1:
            return f"not one {code}: {talk.diagnostics()}"
        actions = talk.fixes(found[0])
        if len(actions) != fixes:
            return f"{fixes} fixes wanted: {actions}"
        for action in actions:
            edits = [edit for change in action["edit"]["documentChanges"] for edit in change["edits"]]
            lines = text.split("\n")
            for edit in edits:
                start, end = edit["range"]["start"], edit["range"]["end"]
                line = lines[start["line"]]
                lines[start["line"]] = line[: start["character"]] + edit["newText"] + line[end["character"]:]
            path = talk.folder / "fixed.ptl"
            path.write_text("\n".join(lines))
            if left := [each for each in said_by_check(place, path, "a3") if each[0] == code]:
                return f"after `{action['title']}`: {left}"
    return None


def follows_the_text(place: Place):
    """What is wrong comes and goes with the text; right after a keystroke nothing of the older text is left."""
    with Talk(place, "follows", WIDE.replace("= 16\n", "= 4\n")) as talk:
        if talk.diagnostics():
            return f"something is wrong at first: {talk.diagnostics()}"
        if talk.needs() != ["a3: fits · vec 80/184 KiB", "a3: fits · vec 48/184 KiB"]:
            return f"lenses: {talk.titles()}"
        talk.edit("= 4\n", "= 16\n")
        if [each["code"] for each in talk.diagnostics()] != ["E0421"] or "does not fit · vec 272/184" not in talk.titles()[0]:
            return f"it fits: {talk.diagnostics()} {talk.titles()}"
        talk.client.arrived.clear()
        talk.edit("exp(s)", "exp(s")
        if first := talk.client.diagnostics(talk.uri, talk.version):
            if any(each["code"].startswith("E04") for each in first):
                return f"what is said of an older text stays: {first}"
        talk.settled()
        if not talk.titles()[0].endswith(" · stale"):
            return f"not stale: {talk.titles()}"
        talk.edit("exp(s", "exp(s)")
        talk.edit("= 16\n", "= 8\n")
        talk.client.arrived.clear()
        if talk.diagnostics() or talk.needs()[0] != "a3: fits · vec 144/184 KiB":
            return f"not as before: {talk.diagnostics()} {talk.titles()}"
        # Lines above move what is said, and the other kernel is as it was.
        talk.edit("= 8\n", "= 16\n")
        talk.settled()
        talk.client.arrived.clear()
        talk.edit("kernel wide", "// one\n// two\nkernel wide")
        moved = talk.diagnostics()
        if [each["range"]["start"]["line"] for each in moved] != [7]:
            return f"not at its place: {moved}"
    return None


def follows_settings(place: Place):
    with Talk(place, "settings", WIDE, []) as talk:
        if talk.diagnostics() or talk.titles():
            return f"without chips: {talk.diagnostics()} {talk.titles()}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a5", "a7"]}}})
        codes = [each["code"] for each in talk.diagnostics()]
        titles = talk.titles()
        if codes != ["E0421"] or titles[1::2] != ["a7: no such chip"] * 2 or not titles[0].startswith("a5: does not fit"):
            return f"{codes} {titles}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": []}}})
        if talk.diagnostics() or talk.titles():
            return f"without chips again: {talk.diagnostics()} {talk.titles()}"
    return None


def knows_own_machines(place: Place):
    """A machine file of the settings is a target, may be named in the source, and is read again when it changes."""
    machine = {"name": "small", "base": "a3", "memories": [{"place": "vec", "bytes": 65536}]}
    path = place.folder / "small.json"
    path.write_text(json.dumps(machine))
    with Talk(place, "own", WIDE + "\nschedule wide on small {}\n", []) as talk:
        if [each["code"] for each in talk.diagnostics()] != ["E0707"]:
            return f"without the file: {talk.diagnostics()}"
        settings = {"targets": ["small"], "machines": [str(path)]}
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": settings}})
        codes, titles = [each["code"] for each in talk.diagnostics()], talk.titles()
        if codes != ["E0421"] or not titles[0].startswith("small: does not fit"):
            return f"{codes} {titles}"
        machine["memories"][0]["bytes"] = 1 << 22
        path.write_text(json.dumps(machine))
        change = {"uri": path.as_uri(), "type": 2}
        talk.client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        if talk.diagnostics() or not talk.titles()[0].startswith("small: fits"):
            return f"with more memory: {talk.diagnostics()} {talk.titles()}"
    return None


KINDS = ("host", "block", "pto", "cpp", "memory", "memory:svg")


def squeezed(kind, text):
    """Places stand in the map of a preview, and empty lines between modules mean nothing."""
    if kind == "pto":
        text = re.sub(r' loc\("[^"]*":\d+:\d+\)', "", text)
    return [line for line in text.splitlines() if line.strip()]


def previews_are_what_is_built(place: Place, target):
    with Talk(place, f"previews_{target}", WIDE.replace("= 16\n", "= 4\n"), [target]) as talk:
        offered = [stage["id"] for stage in talk.client.request("ptl/stages")]
        for entry in ("wide", "twice"):
            for kind in KINDS:
                if f"{kind}@{target}" not in offered:
                    return f"{kind} is not offered: {offered}"
                shown = talk.client.request("ptl/preview", {**talk.document, "entry": entry, "stage": kind})
                if shown["stage"] != f"{kind}@{target}" or squeezed(kind, shown["text"]) != squeezed(kind, talk.build(entry, kind, target)):
                    return f"{kind} of {entry} differs:\n{shown['text'][:600]}\n{talk.build(entry, kind, target)[:600]}"
                if kind in ("block", "pto", "cpp") and len(shown["map"]) < 10:
                    return f"{kind} of {entry} leads nowhere: {shown['map']}"
        # Both ways: the line of the instruction leads to its expression, and that to the line.
        for kind, instruction in (("block", "pto.texp"), ("pto", "pto.texp"), ("cpp", "TEXP(")):
            shown = talk.client.request("ptl/preview", {**talk.document, "entry": "wide", "stage": kind})
            line = next(i for i, text in enumerate(shown["text"].splitlines()) if instruction in text)
            places = talk.client.request("textDocument/definition", {"textDocument": {"uri": shown["uri"]}, "position": {"line": line, "character": 4}})
            start = talk.text.position(talk.text.text.index("exp(s)"))
            if not places or places[0]["range"]["start"] != start:
                return f"{instruction} leads to {places}, not {start}"
            if line not in [entry["line"] for entry in shown["map"] if entry["sources"][0]["range"]["start"] == start]:
                return f"no way back to {instruction}"
    return None


def previews_are_refused(place: Place):
    with Talk(place, "refused", WIDE) as talk:
        for stage in ("block@cpu", "block@", "asm@a3", "vector@a3", "none@a3"):
            try:
                answer = talk.client.request("ptl/preview", {**talk.document, "entry": "wide", "stage": stage})
            except Failure:
                continue
            if answer["text"] or not answer.get("error"):
                return f"{stage}: {answer}"
        # What does not fit has no block level, and says why; its tiles are there.
        full = talk.client.request("ptl/preview", {**talk.document, "entry": "wide", "stage": "block"})
        if full["text"] or [each["code"] for each in full["diagnostics"]] != ["E0421"]:
            return f"{full}"
        if "ptl.exp" not in talk.client.request("ptl/preview", {**talk.document, "entry": "wide", "stage": "tile@a3"})["text"]:
            return "no tiles"
    return None


def hovers(place: Place):
    def hover_text(uri, position):
        answer = talk.client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
        return answer["contents"]["value"] if answer else ""

    with Talk(place, "hovers", WIDE.replace("= 16\n", "= 4\n")) as talk:
        talk.settled()
        at = talk.text.position(talk.text.text.index("twice"))
        wanted = ("a3: fits · vec 48/184 KiB", "`part`: 2 × 16 KiB in `vec` at 0x0, live from line 12 to 14")
        if missing := [text for text in wanted if text not in hover_text(talk.uri, at)]:
            return f"of the kernel, no {missing}: {hover_text(talk.uri, at)}"
        at = talk.text.position(talk.text.text.index("part ="))
        if wanted[1] not in hover_text(talk.uri, at) or "a3: fits" in hover_text(talk.uri, at):
            return f"of a let: {hover_text(talk.uri, at)}"
        for kind in ("block", "pto", "cpp"):
            shown = talk.client.request("ptl/preview", {**talk.document, "entry": "twice", "stage": kind})
            lines = shown["text"].splitlines()
            wait = next(i for i, text in enumerate(lines) if re.search(r"wait_flag", text))
            text = hover_text(shown["uri"], {"line": wait, "character": 6})
            if not re.search(r"\*\*`\w+` waits for `\w+`\*\*", text) or "why: " not in text or "first instruction that waits" not in text:
                return f"of a wait in {kind}: {text}"
            add = next(i for i, text in enumerate(lines) if "tadd" in text.lower() and "ins(" in text or "TADD(" in text)
            text = hover_text(shown["uri"], {"line": add, "character": 6})
            if "part + part" not in text or "runs on `v`" not in text or "reads `part`: 2 × 16 KiB in `vec` at 0x0" not in text:
                return f"of an instruction in {kind}: {text}"
    return None


def hovers_on_events(place: Place):
    """Of events of manual kernels: who waits for whom, and why, where they are declared and where they are used."""
    text = (ROOT / "tests/manual/handed.ptl").read_text()
    with Talk(place, "events", text) as talk:
        talk.settled()

        def hover_text(*words):
            at = 0
            for word in words:
                at = text.index(word, at)
            end = time.monotonic() + 20
            while True:  # right after opening, and until the worker has answered once, there is no IR
                request = {"textDocument": {"uri": talk.uri}, "position": talk.text.position(at)}
                answer = talk.client.request("textDocument/hover", request)["contents"]["value"]
                if "`block@a3`" in answer or time.monotonic() > end:
                    return answer
                time.sleep(0.05)

        tells = "**`fix` of the cube core signals to `mte2` of both vector cores**"
        waits = "**`mte2` of the vector core waits for `fix` of the cube core**"
        why = r"why: `tstore` \(35:17\), line \d+ writes `slots`, which `tload` \(49:17\), line \d+ reads"
        for words, wanted in ((("event full", "full"), tells), (("signal(full", "full"), tells), (("wait(full", "full"), waits)):
            if wanted not in (shown := hover_text(*words)) or not re.search(why, shown):
                return f"{words}: {shown}"
        free = hover_text("wait(free", "free")
        if "**`fix` of the cube core waits for `mte3` of both vector cores**" not in free or "which `tstore` (35:17)" not in free:
            return f"free: {free}"
        own = hover_text("event loaded: mte2 -> v", "loaded")
        if "**`mte2` signals to `v`**" not in own or "writes `t`, which `texp` (52:17)" not in own:
            return f"of one core: {own}"
    return None


# ---- The ledger ----


def problems(value, schema):
    """What is wrong with a value by a schema."""
    found = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return [f"answer/{'/'.join(map(str, each.absolute_path))}: {each.message}" for each in found]


def ledgers(place: Place):
    schema = json.loads((ROOT / "docs" / "schemas" / "ledger.json").read_text())
    with Talk(place, "ledgers", WIDE, ["a3", "a5"]) as talk:
        for entry in ("wide", "twice"):
            for target in ("a3", "a5"):
                answer = talk.client.request("ptl/ledger", {**talk.document, "entry": entry, "target": target})
                if wrong := problems(answer, schema):
                    return "\n".join(wrong)
                if answer["fits"] != (entry == "twice"):
                    return f"{entry} on {target}: {answer['summary']}"
        answer = talk.client.request("ptl/ledger", {**talk.document, "position": talk.text.position(talk.text.text.index("part"))})
        functions = json.loads(json.dumps(answer["functions"]))
        made = [b.pop("location")["range"]["start"] for f in functions for s in f["spaces"] for b in s["buffers"]]
        if functions != json.loads(talk.build("twice", "ledger"))["functions"]:
            return f"not what ptlc writes: {functions}"
        if made[0] != talk.text.position(talk.text.text.index("x[r]\n")):
            return f"made elsewhere: {made}"
        talk.settled()
        talk.edit("part + part", "part +")
        stale = talk.client.request("ptl/ledger", {**talk.document, "entry": "twice"})
        if not stale["stale"] or stale["functions"] != answer["functions"]:
            return f"not the last good one: {stale}"
        try:
            return f"of nothing: {talk.client.request('ptl/ledger', {**talk.document, 'entry': 'nobody'})}"
        except Failure:
            return None


def parts(place: Place):
    """Tiles that are done in parts are told of where they are made, with what they cost and what needs none."""
    schema = json.loads((ROOT / "docs" / "schemas" / "ledger.json").read_text())
    with Talk(place, "parts", PARTS) as talk:
        ask = lambda: talk.client.request("ptl/ledger", {**talk.document, "entry": "large", "target": "a3"})
        answer = ask()
        if wrong := problems(answer, schema):
            return "\n".join(wrong)
        talk.settled()
        told = answer["kernels"][0]["parts"]
        if told["needed"] <= told["usable"] or told["parts"] * told["size"] < told["capacity"] or told["parts"] < 2:
            return f"no parts: {told}"
        line = talk.text.position(talk.text.text.index("let rows"))["line"]
        if told["location"]["range"]["start"]["line"] != line or told["tile"] != "rows":
            return f"made elsewhere: {told}"
        if told["title"] not in talk.titles()[0]:
            return f"the lens says {talk.titles()}"
        whole = {"start": {"line": 0, "character": 0}, "end": talk.text.position(len(talk.text.text))}
        hints = talk.client.request("textDocument/inlayHint", {**talk.document, "range": whole})
        # A line has one hint, whatever there is to say of it.
        hint = [each for each in hints if each["position"]["line"] == line and str(each["label"]).startswith("a3: ")]
        if len(hint) != 1 or not hint[0]["label"].endswith(told["title"]) or told["text"] not in unescaped(hint[0]["tooltip"]["value"]):
            return f"hints: {hints}"
        hover = talk.client.request("textDocument/hover", {**talk.document, "position": talk.text.position(talk.text.text.index("rows ="))})
        if told["text"] not in unescaped(hover["contents"]["value"]):
            return f"the hover says {hover}"
        # What is said to avoid them does, and no larger value.
        name, value = told["avoid"].split(" = ")
        talk.edit(f"{name} = 4", told["avoid"])
        if any("parts" in kernel for kernel in ask()["kernels"]):
            return f"{told['avoid']}: still in parts"
        talk.edit(told["avoid"], f"{name} = {int(value) + 1}")
        if not any("parts" in kernel for kernel in ask()["kernels"]):
            return f"{told['avoid']} is not the largest"
        return None


def statements(place: Place):
    """A statement that is done in parts is told in the lens, beside the statement, in the hover, in the ledger and in the costs."""
    schemas = {name: json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text()) for name in ("ledger", "cost")}
    with Talk(place, "statements", IN_PARTS) as talk:
        answers = {name: talk.client.request(f"ptl/{name}", {**talk.document, "entry": "spread", "target": "a3"}) for name in schemas}
        for name, schema in schemas.items():
            if wrong := problems(answers[name], schema):
                return "\n".join(wrong)
        talk.settled()
        told = answers["ledger"]["statements"][0]
        line = talk.text.position(talk.text.text.index("y[i] ="))["line"]
        if (told["kind"], told["tile"], told["bytes"]) != ("store", "d", 64 * 8 * 128 * 4) or told["parts"] < 2 or told["needed"] <= told["usable"]:
            return f"not what is done in parts: {told}"
        if told["location"]["range"]["start"]["line"] != line:
            return f"it is elsewhere: {told}"
        slow = [each for each in answers["cost"]["statements"] if "parts" in each]
        if [each["parts"]["count"] for each in slow] != [told["parts"]] or slow[0]["location"]["range"]["start"]["line"] != line:
            return f"the costs say {slow}"
        if f"a store {told['title']}" not in talk.titles()[0]:
            return f"the lens says {talk.titles()}"
        whole = {"start": {"line": 0, "character": 0}, "end": talk.text.position(len(talk.text.text))}
        hints = talk.client.request("textDocument/inlayHint", {**talk.document, "range": whole})
        if [each["position"]["line"] for each in hints if told["title"] in str(each["label"])] != [line]:
            return f"hints: {hints}"
        hover = talk.client.request("textDocument/hover", {**talk.document, "position": talk.text.position(talk.text.text.index("spread["))})
        if told["text"] not in unescaped(hover["contents"]["value"]):
            return f"the hover says {hover}"
        talk.edit("ROWS = 8", told["avoid"])
        if talk.diagnostics() or "in parts" in talk.titles()[0]:
            return f"{told['avoid']}: {talk.diagnostics()} {talk.titles()}"
        return None


def cases(place: Place, long: bool, seed: int):
    texts = {"wide": WIDE, "scheduled": SCHEDULED, "pipelined": PIPELINED, "others": OTHERS, "doubles": DOUBLES, "in_parts": IN_PARTS}
    for name, text in texts.items():
        for target in ("a3", "a5"):
            yield f"same as check: {name} on {target}", lambda n=name, x=text, t=target: same_as_check(place, n, x, t)
    files = [*EXAMPLES, *sorted((ROOT / "tests" / "chips").glob("*.ptl"))]
    for path in files:
        yield f"same as check: {path.name}", lambda p=path: same_as_check(place, p.stem, p.read_text(), "a3")
    for name, code, fixes in (("wide", "E0421", 1), ("scheduled", "E0421", 1), ("pipelined", "E0421", 1)):
        yield f"must say {code}: {name}", lambda n=name, c=code, f=fixes: must_say(place, n, texts[n], c, f)
    yield from in_words((follows_the_text, follows_settings, knows_own_machines), place)
    for target in ("a3", "a5"):
        yield f"previews are what is built for {target}", lambda t=target: previews_are_what_is_built(place, t)
    yield from in_words((previews_are_refused, hovers, hovers_on_events, ledgers, parts, statements), place)
