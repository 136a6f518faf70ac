"""Every tool of the list answers, in the form of its schema, with documents in the form of theirs, and says what to do next."""
import json
import sys

from client import Client
from schemas import Schemas

SOFTMAX = """// Rows of a matrix, each divided by its sum.
pub kernel shares[R, C](x: f32[R, C]) -> (y: f32[R, C])
where C <= 1024
tune ROWS: [2, 8, 16] = 2
{
    parallel r in tiles(R, ROWS) {
        let total = sum(x[r, :], axis: -1)
        y[r, :] = x[r, :] / total
    }
}

property "rows add up to one"[R: 1..20, C: 1..100] {
    let x = random(f32[R, C], seed: 1) + 0.5
    expect_close(sum(shares(x), axis: -1), ones(f32[R]), rtol: 1e-4)
}

property "no row is longer than six"[R: 1..20, C: 1..100] {
    expect(C < 7)
}

bench "usual" {
    let x = random(f32[4096, 512], seed: 1)
    shares(x)
}
"""

WRONG = """fn smaller(a: f32, b: f32) -> bool {
    return a ≤ b
}

fn sign_of(a: f32) -> f32 {
    if a > 0.0 {
        return 1.0
    } elif a < 0.0 {
        return -1.0
    }
    return 0.0
}
"""


def follow(client, answer, tool):
    """Does the first step of an answer that calls this tool."""
    steps = [step for step in answer["next"] if step["tool"] == tool]
    assert steps, f"no step `{tool}` in {answer['next']}"
    return client.ask(tool, steps[0]["arguments"])


def check_steps(client, answer, known):
    for step in answer["next"]:
        assert step["tool"] in known and step["why"] and step["gain"], step
        schema = known[step["tool"]]["inputSchema"]
        assert set(schema["required"]) <= set(step["arguments"]) <= set(schema["properties"]), step


def check_document(tools, known):
    """The table of docs/agents.md is that of the tools; `--update` writes it."""
    begin, end = "<!-- tools -->\n", "<!-- end of tools -->\n"
    rows = ["| Tool | Arguments | |", "|---|---|---|"]
    for name, tool in known.items():
        schema = tool["inputSchema"]
        arguments = [f"`{each}`" if each in schema["required"] else f"`{each}?`" for each in schema["properties"]]
        rows.append(f"| `{name}` | {' '.join(arguments)} | {tool['description']} |")
    text = begin + "\n".join(rows) + "\n" + end
    path = tools.root / "docs" / "agents.md"
    document = path.read_text()
    start, stop = document.index(begin), document.index(end) + len(end)
    if "--update" in sys.argv:
        path.write_text(document[:start] + text + document[stop:])
    else:
        assert document[start:stop] == text, f"docs/agents.md has another table than\n{text}\n`tests/agent/run.py BUILD tools --update` writes it"


def main(tools):
    tools.write("shares.ptl", SOFTMAX)
    tools.write("wrong.ptl", WRONG)
    client = Schemas(tools.root).watch(Client(tools.ptlc, [tools.folder]))
    known = {tool["name"]: tool for tool in client.request("tools/list")["tools"]}
    asked = {}

    def ask(tool, **arguments):
        answer = client.ask(tool, arguments)
        check_steps(client, answer, known)
        asked[tool] = answer
        return answer

    # Errors with repairs, which can be made one by one until there are none of them.
    answer = ask("check", file="wrong.ptl")
    assert not answer["ok"] and answer["errors"] >= 2, answer
    made = 0
    while fixes := [step for step in answer["next"] if step["tool"] == "apply_fix"]:
        applied = ask("apply_fix", id=fixes[0]["arguments"]["id"])
        assert applied["changed"][0]["file"] == "wrong.ptl", applied
        made += 1
        answer = follow(client, applied, "check")
        assert made < 5, "fixes that lead to fixes"
    assert made >= 1 and answer["ok"], answer
    text = (tools.folder / "wrong.ptl").read_text()
    assert "a <= b" in text and "else if" in text, text
    assert ask("explain", code="E0312")["page"].startswith("# E0312")

    answer = ask("check", file="shares.ptl", target="a3")
    assert answer["ok"] and "1 entry can run on a3" in answer["summary"], answer
    # A text in place of the file: fixes give the new text, and the file stays.
    text = SOFTMAX.replace("ROWS) {", "ROWS)   {")
    answer = ask("format", file="shares.ptl", text=text)
    assert not answer["formatted"]
    applied = ask("apply_fix", id=answer["id"])
    assert applied["text"] == SOFTMAX and (tools.folder / "shares.ptl").read_text() == SOFTMAX, applied

    answer = ask("test", file="shares.ptl", samples=6)
    assert answer["passed"] == 2 and answer["failed"] == 2, answer
    assert all(failure["shape"] == {"R": 1, "C": 7} for failure in answer["failures"]), answer["failures"]
    answer = ask("test", file="shares.ptl", filter="add up", executors=["a3"], samples=3)
    assert answer["passed"] == 1 and answer["failed"] == 0, answer

    tools.write("six.ptl", "kernel six[N](x: f32[N], a: f32) -> (y: f32[N])\n{\n    parallel i in tiles(N, 4) { y[i] = a * x[i] }\n}\n")
    for target in ("cpu", "reference", "a3"):
        answer = ask("run", file="six.ptl", target=target, values={"N": 5}, inputs={"x": "ones", "a": 6.0})
        assert answer["results"][0]["elements"] == [6.0] * 5, answer
    tools.write(
        "tiles.ptl",
        "kernel counted[N](x: f32[N]) -> (y: f32[1] = 0.0)\ntune B = 4\n{\n"
        "    parallel i in tiles(N, B) { atomic y[0] += max(x[i]) }\n}\n",
    )
    for target in ("cpu", "reference", "a3"):
        answer = ask("run", file="tiles.ptl", target=target, values={"N": 9, "B": 2}, inputs={"x": "ones"})
        assert answer["results"][0]["elements"] == [5.0], answer
    answer = ask("run", file="six.ptl", values={"N": 1000}, inputs={"a": 0.5}, seed=3)
    assert "elements" not in answer["results"][0] and answer["results"][0]["extents"] == [1000], answer

    for stage in ("checked", "built", "tensor", "tile", "explicit", "vector", "llvm", "asm", "manual", "host", "block", "pto", "cpp", "memory"):
        answer = ask("preview", file="shares.ptl", stage=stage, values={"C": 512}, line_count=3)
        assert answer["text"].count("\n") <= 3 and answer["lines"] > 0, (stage, answer)
    answer = ask("ledger", file="shares.ptl", values={"C": 512})
    assert answer["memories"][0]["place"] == "vec" and answer["memories"][0]["peak"] > 0, answer

    answer = ask("cost", file="shares.ptl")
    sizes = {size["name"]: size["value"] for size in answer["costs"][0]["sizes"]}
    assert sizes == {"R": 4096, "C": 512}, sizes  # of the bench
    before = answer["costs"][0]["us"]
    promised = answer["costs"][0]["advice"][0]["us"]
    tuned = ask("tune", file="shares.ptl")
    assert tuned["best"]["us"] < before and tuned["points"] == 3 <= tuned["tried"], tuned
    follow(client, tuned, "apply_fix")
    answer = ask("cost", file="shares.ptl")
    assert answer["costs"][0]["us"] <= max(promised, tuned["best"]["us"]) * 1.001, answer
    assert "schedule shares on a3" in (tools.folder / "shares.ptl").read_text()
    sim = ask("sim", file="shares.ptl")
    assert abs(sim["us"] - answer["costs"][0]["us"]) < 0.2 * sim["us"], (sim["us"], answer["costs"][0]["us"])

    # What is long is read in parts, by a tool or as a resource.
    cost = next(document for document in answer["more"] if document["uri"].endswith("/cost.json"))
    whole = client.request("resources/read", {"uri": cost["uri"]})["contents"][0]["text"]
    parts, start = "", 0
    while start < len(whole.encode()):
        parts += ask("more", uri=cost["uri"], from_byte=start, byte_count=1000)["text"]
        start += 1000
    assert parts == whole
    part = ask("more", uri=cost["uri"], part="/costs/0/statements/0")
    assert json.loads(part["text"]) == json.loads(whole)["costs"][0]["statements"][0]

    answer = ask("search_docs", query="pipeline depth of a loop")
    assert any("language.md" in result["uri"] for result in answer["results"]), answer["results"]
    assert follow(client, answer, "more")["text"]
    answer = ask("search_examples", query="softmax attention", most=3)
    assert len(answer["results"]) == 3 and "attention" in answer["results"][0]["uri"], answer

    check_document(tools, known)
    assert set(asked) == set(known), f"not asked: {set(known) - set(asked)}"
    assert client.close() == 0
