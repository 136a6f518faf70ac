"""The client of the public SDK connects, on both transports, and lists and calls everything. Skipped by name where its registry cannot be reached."""
import hashlib
import json
import shutil
import subprocess
import sys

from check_protocol import ENDLESS
from check_tools import SOFTMAX
from client import HttpClient, is_alive, children, wait_until


def install(tools):
    """The folder with the SDK, below the build folder; a second call finds it there."""
    source, folder = tools.root / "tests" / "agent" / "sdk", tools.build / "agent" / "sdk"
    stamp = folder / "installed"
    key = hashlib.sha256((source / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return folder
    if not shutil.which("npm"):
        skip("npm is not installed (`./dev` installs it)")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(source / name, folder)
    outcome = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=300)
    if outcome.returncode != 0:
        text = outcome.stdout + outcome.stderr
        unreachable = any(word in text for word in ("ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "ECONNRESET", "ENETUNREACH"))
        assert unreachable, text[-3000:]
        skip("the registry of npm cannot be reached")
    stamp.write_text(key)
    return folder


def skip(why):
    print(f"skipped: @modelcontextprotocol/sdk: {why}")
    sys.exit(77)


def main(tools):
    modules = install(tools)
    tools.write("k.ptl", SOFTMAX)
    tools.write("endless.ptl", ENDLESS)

    def ask(*more):
        command = ["node", tools.root / "tests" / "agent" / "sdk" / "list.mjs", modules, tools.ptlc, tools.folder, *more]
        outcome = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200)
        assert outcome.returncode == 0, outcome.stderr[-3000:]
        return json.loads(outcome.stdout)

    server = HttpClient(tools.ptlc, [tools.folder])
    try:
        answers = [ask(), ask(f"http://127.0.0.1:{server.port}/mcp", server.token)]
        wait_until(lambda: not any(map(is_alive, children(server.process.pid))), "no worker is left")
    finally:
        server.close()
    for found in answers:
        assert found["server"]["name"] == "ptl" and set(found["capabilities"]) == {"tools", "resources", "prompts"}, found["server"]
        assert len(found["tools"]) == 14 and "apply_fix" in found["tools"], found["tools"]
        for uri in ("ptl://docs/language.md", "ptl://docs/ops/product.md", "ptl://diagnostics/E0312", "ptl://examples/02_softmax.ptl", "ptl://std/nn.ptl", "ptl://machines/a3.json", "ptl://schemas/cost.json"):
            assert uri in found["resources"], uri
        assert len(found["resources"]) == len(set(found["resources"])) > 300 and all(found["texts"]), len(found["resources"])
        assert len(found["prompts"]) == len(found["messages"]) == 4 and all("k.ptl" in text for text in found["messages"])
        assert found["tuned"]["best"]["us"] > 0 and found["progress"] > 0, found["tuned"]
        assert found["wrong"] and found["cancelled"] and found["ok"], (found["wrong"], found["cancelled"], found["ok"])
