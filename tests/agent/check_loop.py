"""From poor kernels to tuned ones by calls alone: a client that knows nothing of the compiler does what the answers say first.

`--update` writes the loop that docs/agents.md shows.
"""
import json
import re
import shutil
import sys

from client import Client
from schemas import Schemas

WITHIN = 1.10  # of the best that `tune` finds for what a person would write
MOST_CALLS, MOST_BYTES = 12, 60000  # for one kernel
SHOWN = "small_tiles"
BEGIN, END = "<!-- The loop of tests/agent/check_loop.py: `--update` writes it. -->\n", "<!-- The end of the loop. -->\n"


def first(answer, tools):
    """The first step that an answer names with one of these tools."""
    return next((step for step in answer["next"] if step["tool"] in tools), None)


def best_time(client, name, values):
    """The least time that `tune` finds for the kernel that a person would write."""
    arguments = {"file": f"{name}.best.ptl", "values": values, "seconds": 300}
    result = client.call("tune", arguments)
    if not result["isError"]:
        answer = result["structuredContent"]
        assert answer["exhaustive"] or "ended" not in answer, f"{name}: the search of the best did not end"
        return answer["best"]["us"]
    return client.ask("cost", arguments)["costs"][-1]["us"]


def improve(client, name, values):
    """Follows the answers until none names a change. Gives the times, and the calls with what was said."""
    tool, arguments, talk, times = "cost", {"file": f"{name}.ptl", "values": values, "seconds": 300}, [], []
    while len(talk) < MOST_CALLS:
        answer = client.ask(tool, arguments)
        talk.append((tool, arguments, answer))
        if tool == "cost":
            promised = talk[-3][2]["next"][0] if len(talk) > 2 else None
            times.append(answer["costs"][-1]["us"])
            if promised:  # what was promised has come true
                assert abs(times[-2] - promised["gain_us"] - times[-1]) < 1e-6 * times[-2], (name, promised, times)
        step = first(answer, ["apply_fix"] if tool == "cost" else ["cost"])
        if step is None:
            return times, talk
        tool, arguments = step["tool"], step["arguments"]
    raise AssertionError(f"{name}: no end after {MOST_CALLS} calls")


def shown(talk, file):
    lines = []
    for tool, arguments, answer in talk:
        lines.append(f"-> {tool} {json.dumps(arguments)}")
        lines += ["<- " + line for line in answer["summary"].splitlines()]
        for step in answer["next"][:1]:
            lines.append(f"   next: {step['tool']} {json.dumps(step['arguments'])}: {step['gain']}")
    return BEGIN + "```\n" + "\n".join(lines) + "\n```\n\nAfter this the file contains\n\n```ptl\n" + file.read_text() + "```\n" + END


def check_document(tools, text, update):
    path = tools.root / "docs" / "agents.md"
    document = path.read_text()
    start, end = document.index(BEGIN), document.index(END) + len(END)
    if document[start:end] == text:
        return
    assert update, f"docs/agents.md shows another loop than\n{text}\n`tests/agent/run.py BUILD loop --update` writes it"
    path.write_text(document[:start] + text + document[end:])


def main(tools):
    folder = tools.root / "tests" / "agent" / "poor"
    names = sorted(path.stem for path in folder.glob("*.ptl") if not path.stem.endswith(".best"))
    assert len(names) >= 10, names
    client = Schemas(tools.root).watch(Client(tools.ptlc, [tools.folder]))
    kinds = set()
    for name in names:
        for path in (folder / f"{name}.ptl", folder / f"{name}.best.ptl"):
            shutil.copy(path, tools.folder)
        values = json.loads(re.search(r"// VALUES: (.*)", (folder / f"{name}.ptl").read_text())[1])
        best = best_time(client, name, values)
        calls, sent, received = client.calls, client.sent, client.received
        plain = Client(tools.ptlc, [tools.folder])  # its bytes are those of the calls alone
        times, talk = improve(plain, name, values)
        used = plain.sent + plain.received
        assert plain.close() == 0
        del calls, sent, received
        print(f"{name:18} {times[0]:10.2f} -> {times[-1]:8.2f} us, best {best:8.2f} ({times[-1] / best:.3f}), {len(talk):2} calls, {used} bytes")
        assert times[-1] <= WITHIN * best, (name, times, best)
        assert times[0] > WITHIN * best, f"{name} is not poor"
        assert used <= MOST_BYTES, (name, used)
        kinds |= {advice["kind"] for tool, _, answer in talk if tool == "cost" for advice in answer["costs"][-1]["advice"][:1]}
        if name == SHOWN:
            check_document(tools, shown(talk, tools.folder / f"{name}.ptl"), "--update" in sys.argv)
    assert len(kinds) >= 5, kinds  # not one trick for all
    assert client.close() == 0
