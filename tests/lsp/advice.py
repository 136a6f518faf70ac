"""What the server offers to make kernels faster: what `ptlc check --cost` says, as diagnostics and as code actions whose edits do it, computed
while nothing else is asked for."""
import json
import re
import subprocess
import time

from chips import Talk, problems
from session import ROOT, Place, in_words

POOR = """kernel poor[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N])
{
    parallel i in tiles(M, 32), j in tiles(N, 48) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, 32) { acc += a[i, k] @ b[k, j] }
        c[i, j] = acc
    }
}

bench "poor" {
    poor(zeros(f16[512, 512]), zeros(f16[512, 512]))
}
"""
# The scale of a block of 64 columns is part of the result: blocks of other sizes are another function.
BLOCKS = """kernel blocks[R, C](x: f32[R, C]) -> (y: f32[R, C])
{
    parallel r in tiles(R, 8), c in tiles(C, 64) {
        let most = max(abs(x[r, c]), axis: 1)
        y[r, c] = x[r, c] / most
    }
}

bench "blocks" {
    blocks(zeros(f32[4096, 1024]))
}
"""


def printed_cost(talk: Talk):
    command = [talk.place.bin / "ptlc", "check", talk.path, "--target", "a3", "--cost", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=talk.place.environment(), timeout=60)
    return json.loads(done.stdout)["costs"][0]


def shown(talk: Talk):
    return [each for each in talk.diagnostics() if each["code"] == "ptl.advice"]


def a_fix_that_does_it(place: Place):
    with Talk(place, "poor", POOR, advice=True) as talk:
        diagnostics, printed = shown(talk), printed_cost(talk)
        schema = json.loads((ROOT / "docs" / "schemas" / "cost.json").read_text())
        if wrong := problems(printed, schema):
            return "\n".join(wrong)
        if not diagnostics or any(each["severity"] != 3 for each in diagnostics):
            return f"no information: {talk.diagnostics()}"
        if len(printed.get("advice", [])) < 1 or any(each["us"] > 0.97 * printed["us"] for each in printed["advice"]):
            return f"no gain: {printed.get('advice')}"
        if [each["us"] for each in printed["advice"]] != sorted(each["us"] for each in printed["advice"]):
            return "not the best first"
        answer = talk.client.request("ptl/cost", {**talk.document, "entry": "poor", "advice": True})
        if wrong := problems(answer, schema):
            return "\n".join(wrong)
        best = answer["advice"][0]
        if not diagnostics[0]["message"].startswith("a3: " + best["text"] + ": "):
            return f"not what is said: {diagnostics[0]['message']}, {best['text']}"
        # On a machine that is busy one of them may have tried less.
        if not 0.7 < best["us"] / printed["advice"][0]["us"] < 1.4:
            return f"not what ptlc finds: {best['us']}, {printed['advice'][0]['us']}"
        fixes = talk.fixes(diagnostics[0])
        if len(fixes) != 1 or fixes[0]["title"] != diagnostics[0]["message"]:
            return f"no action: {fixes}"
        # Carried out, it takes the time that was told.
        (edits,) = fixes[0]["edit"]["changes"].values() if "changes" in fixes[0]["edit"] else \
            [change["edits"] for change in fixes[0]["edit"]["documentChanges"]]
        lines = talk.text.text.split("\n")
        for edit in sorted(edits, key=lambda each: (each["range"]["start"]["line"], each["range"]["start"]["character"]), reverse=True):
            start, end = edit["range"]["start"], edit["range"]["end"]
            if start["line"] != end["line"]:
                return f"an edit of several lines: {edit}"
            line = lines[start["line"]]
            lines[start["line"]] = line[:start["character"]] + edit["newText"] + line[end["character"]:]
        talk.path.write_text("\n".join(lines))
        after = printed_cost(talk)["us"]
        if abs(after - best["us"]) > 0.001:
            return f"{after} us after the edit, {best['us']} were told"
    return None


def other_results(place: Place):
    """Tiles that are part of the result stay."""
    with Talk(place, "blocks", BLOCKS, advice=True) as talk:
        texts = [each["message"] for each in shown(talk)]
        if wrong := [text for text in texts if re.search(r"tiles\(C", text)]:
            return f"another function: {wrong}"
    return None


def in_nobodys_way(place: Place):
    """A keystroke takes it away; the answer about the new text comes before new advice; it can be switched off."""
    with Talk(place, "edited", POOR, advice=True) as talk:
        if not shown(talk):
            return "no advice"
        talk.edit("tiles(K, 32)", "tiles(K, 16)")
        begin = time.monotonic()
        talk.client.request("ptl/preview", {**talk.document, "entry": "poor", "stage": "tile"})
        if (waited := time.monotonic() - begin) > 3:
            return f"a preview waited {waited:.1f} s"
        if not shown(talk):
            return "no advice for the new text"
        talk.client.notify("workspace/didChangeConfiguration",
                           {"settings": {"ptl": {"targets": ["a3"], "advice": {"diagnostics": False}}}})
        talk.edit("tiles(K, 16)", "tiles(K, 32)")
        if shown(talk):
            return "diagnostics that were switched off"
        name = talk.text.position(talk.text.text.index("poor["))
        lenses = [lens["command"] for lens in talk.client.request("textDocument/codeLens", talk.document)
                  if lens.get("command", {}).get("title", "").endswith(" · Apply")]
        if len(lenses) != 1 or not re.fullmatch(r"a3: [\d.]+ µs → [\d.]+ µs · Apply", lenses[0]["title"]):
            return f"no lens: {lenses}"
        talk.client.request("workspace/executeCommand", {"command": lenses[0]["command"], "arguments": lenses[0]["arguments"]})
        actions = talk.client.request("textDocument/codeAction", {
            **talk.document, "range": {"start": name, "end": name}, "context": {"diagnostics": [], "only": ["quickfix"]}})
        if not [each for each in actions if "tiles(M" in each["title"]]:
            return f"no action at the name: {actions}"
    return None


def table_of_times(place: Place):
    """What was tried for a tunable stands in its hover."""
    text = POOR.replace("-> (c: f32[M, N])", "-> (c: f32[M, N])\ntune BM: [16, 32, 128] = 16").replace("tiles(M, 32)", "tiles(M, BM)")
    with Talk(place, "table", text, advice=True) as talk:
        shown(talk)
        at = talk.text.position(talk.text.text.index("BM:"))
        hover = talk.client.request("textDocument/hover", {**talk.document, "position": at})["contents"]["value"]
        rows = re.findall(r"^\| \**(\d+)\** \| [\d.]+ [µm]s \|$", hover, re.M)
        if rows != ["16", "32", "128"] or "| **16** |" not in hover:
            return f"no table: {hover}"
    return None


def cases(place: Place, long: bool, seed: int):
    yield from in_words((a_fix_that_does_it, other_results, table_of_times, in_nobodys_way), place)
