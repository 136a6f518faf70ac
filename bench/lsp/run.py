#!/usr/bin/env python3
"""What an editor's user waits for, with the real process.

    run.py BUILD [LINES ...] [--keys N] [--runs N] [--peers] [--all] [--json FILE]

Each size is a file of that many lines of realistic kernels (`unit.ptl.tmpl`, one unit again and again); the keystrokes are
in the last of them. A time begins before the bytes of the keystroke are written and ends when the last byte of the answer
is read. Servers take turns run by run, so that the machine's moods hit all alike; a figure is the median over the runs.

`--peers` measures, beside ours, the servers that are there: `mlir-lsp-server-19`, `clangd-19`, and TypeScript 7's, whose
command the variable PTL_BENCH_TS names (`node_modules/.bin/tsc --lsp --stdio`). Each gets a file of its own language.
"""
import argparse
import copy
import gc
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lsp"))
from client import Client, Text  # noqa: E402  (found by the path above)

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": False},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "completion": {"completionItem": {"snippetSupport": True}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "semanticTokens": {"requests": {"full": {"delta": True}, "range": True}, "formats": ["relative"],
                           "tokenTypes": ["variable", "function", "type", "keyword", "number", "comment", "parameter"],
                           "tokenModifiers": ["declaration"]},
        "inlayHint": {"resolveSupport": {"properties": ["tooltip", "textEdits", "label.tooltip", "label.location", "label.command"]}},
    },
}
PULLS = {**CAPABILITIES, "textDocument": {**CAPABILITIES["textDocument"], "diagnostic": {}}}


class Timed(Client):
    """Knows when the last byte of each message was read; what it is as JSON is looked at later."""

    def take_message(self):
        now = time.perf_counter()
        message = super().take_message()
        if message:
            message["at"] = now
        return message


class Server:
    """One server to measure: its command, its language, whether it only answers when asked for diagnostics."""

    def __init__(self, name, command, language, suffix, environment=None, pulls=False, settings=None):
        self.name, self.command, self.language, self.suffix = name, command, language, suffix
        self.environment, self.pulls, self.settings = environment, pulls, settings


def servers(build, with_peers):
    bin_folder = pathlib.Path(build).resolve() / "bin"
    yield Server("ptl-lsp", [bin_folder / "ptl-lsp"], "ptl", ".ptl", {"PTL_STD": str(ROOT / "std")})
    if not with_peers:
        return
    if shutil.which("mlir-lsp-server-19"):
        yield Server("mlir-lsp-server-19", ["mlir-lsp-server-19"], "mlir", ".mlir")
    if shutil.which("clangd-19"):
        yield Server("clangd-19", ["clangd-19", "--log=error"], "cpp", ".cpp")
    if os.environ.get("PTL_BENCH_TS"):
        hints = {"inlayHints": {"variableTypes": {"enabled": True}, "parameterNames": {"enabled": "all"}}}
        yield Server("typescript 7", shlex.split(os.environ["PTL_BENCH_TS"]), "typescript", ".ts", pulls=True, settings=hints)


class File:
    """A text of so many lines, and the places in its last unit."""

    def __init__(self, suffix, lines):
        header, unit = (HERE / f"unit{suffix}.tmpl").read_text().split("@HEADER-END@\n")
        count = max(1, (lines - header.count("\n")) // unit.count("\n"))
        text = header + "".join(unit.replace("@I@", str(n)).replace("@P@", str(n - 1)) for n in range(1, count + 1))
        plain, self.places, self.first_number = "", {}, None
        last = len(text) - len(unit.replace("@I@", str(count)).replace("@P@", str(count - 1)))
        end = 0
        for mark in re.finditer(r"@([HCELF])@", text):
            plain += text[end:mark.start()]
            end = mark.end()
            if mark.group(1) == "L" and self.first_number is None:
                self.first_number = len(plain)
            if mark.start() >= last:
                self.places.setdefault(mark.group(1), []).append(len(plain))
        self.text = plain + text[end:]
        self.lines = self.text.count("\n")


class Session:
    """A server with a file that is typed into."""

    def __init__(self, server, file, folder, pulls, all_requests=False):
        self.server, self.file, self.pulls = server, file, pulls
        self.path = pathlib.Path(folder) / f"bench{server.suffix}"
        self.path.write_text(file.text)
        self.uri = self.path.as_uri()
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder), **(server.environment or {})}
        start = time.perf_counter()
        self.client = Timed(server.command, env=environment, cwd=folder)
        self.client.answers = {"workspace/configuration": [server.settings] * 8}
        identity = self.client.start_request("initialize", {
            "processId": os.getpid(), "rootUri": pathlib.Path(folder).as_uri(),
            "capabilities": PULLS if pulls else CAPABILITIES, "initializationOptions": server.settings})
        answer = self.client.reply(identity)
        self.start = answer["at"] - start
        self.offers = answer["result"]["capabilities"]
        self.client.notify("initialized", {})
        encoding = self.offers.get("positionEncoding") or answer["result"].get("offsetEncoding") or "utf-16"
        self.text, self.version = Text(file.text, encoding), 1
        self.places = {key: list(value) for key, value in file.places.items()}
        self.result_id = None
        self.all_requests = all_requests

    def edit(self, begin, end, replacement):
        """The message of a keystroke."""
        self.version += 1
        before = self.text.text
        change = self.text.edit(begin, end, replacement)
        if self.offers_full_texts():
            change = {"text": self.text.text}
        shift = len(self.text.text) - len(before)
        for key, list_of in self.places.items():
            self.places[key] = [at + shift if at >= end and not (at == begin == end) else at for at in list_of]
        return {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [change]}

    def offers_full_texts(self):
        sync = self.offers.get("textDocumentSync")
        return (sync.get("change") if isinstance(sync, dict) else sync) == 1

    def diagnostics(self):
        """When the diagnostics of this version came."""
        if self.pulls:
            answer = self.client.reply(self.client.start_request("textDocument/diagnostic", {"textDocument": {"uri": self.uri}}), 60)
            return answer["at"]
        found = self.client.wait_for(lambda m: m["method"] == "textDocument/publishDiagnostics"
                                     and m["params"].get("version", self.version) >= self.version, 60)
        if not found:
            raise TimeoutError("no diagnostics")
        return found["at"]

    def open(self):
        start = time.perf_counter()
        self.client.open(self.uri, self.file.text, 1, self.server.language)
        return self.diagnostics() - start

    def name_key(self, number):
        """A letter at the end of a name; it is unknown now, and each key changes what the diagnostics say."""
        at = self.places["E"][1]
        message = self.edit(at, at, "q") if number % 10 < 9 else self.edit(at - number % 10, at, "")
        if number % 10 < 9:
            self.places["E"][1] = at + 1
        else:
            self.places["E"][1] = at - number % 10
        return message

    def number_key(self, number, begin=None):
        begin = self.places["L"][0] if begin is None else begin
        return self.edit(begin, begin + 1, str(1 + number % 9))

    def keystroke(self, message):
        self.client.arrived.clear()
        start = time.perf_counter()
        self.client.notify("textDocument/didChange", message)
        return self.diagnostics() - start

    def ask(self, method, params, message=None):
        """Seconds to the answer; with `message`, of a request right behind that keystroke."""
        start = time.perf_counter()
        if message:
            self.client.notify("textDocument/didChange", message)
        answer = self.client.reply(self.client.start_request(method, params), 60)
        if answer is None or "error" in answer:
            raise RuntimeError(f"{method}: {answer and answer['error']}")
        return answer["at"] - start, answer.get("result")

    def requests(self):
        """What is asked for: name, method, parameters at this moment, and what the server must offer for it."""
        document = {"textDocument": {"uri": self.uri}}
        lines = self.text.text.count("\n")
        view = {"start": {"line": max(0, lines - 60), "character": 0}, "end": {"line": lines, "character": 0}}
        tokens = self.offers.get("semanticTokensProvider") or {}
        full = tokens.get("full")
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}

        def at(mark, shift=1):
            return {**document, "position": self.text.position(self.places[mark][0] + shift)}
        rows = [
            ("hover", "textDocument/hover", at("H"), "hoverProvider"),
            ("completion", "textDocument/completion", at("C", 0), "completionProvider"),
            ("inlay hints, 60 lines", "textDocument/inlayHint", {**document, "range": view}, "inlayHintProvider"),
            ("inlay hints, whole", "textDocument/inlayHint", {**document, "range": whole}, "inlayHintProvider"),
            ("tokens, whole", "textDocument/semanticTokens/full", document, "semanticTokensProvider"),
        ]
        if tokens.get("range"):
            rows.append(("tokens, 60 lines", "textDocument/semanticTokens/range", {**document, "range": view}, "semanticTokensProvider"))
        if isinstance(full, dict) and full.get("delta"):
            rows.append(("tokens, delta", "textDocument/semanticTokens/full/delta", {**document, "previousResultId": self.result_id}, "semanticTokensProvider"))
        rows.append(("symbols", "textDocument/documentSymbol", document, "documentSymbolProvider"))
        if self.all_requests and "F" in self.places:
            rows += self.other_requests(document, at, view)
        return [row[:3] for row in rows if self.offers.get(row[3])]

    def other_requests(self, document, at, view):
        """The requests that are in no comparison with peers; `F` is a function that is called."""
        item = {"name": "f", "kind": 12, "uri": self.uri, "range": view, "selectionRange": {"start": at("F")["position"], "end": at("F")["position"]}}
        key = {"start": at("H", 0)["position"], "end": at("H", 3)["position"]}
        options = {"tabSize": 4, "insertSpaces": True}
        return [
            ("folding", "textDocument/foldingRange", document, "foldingRangeProvider"),
            ("links", "textDocument/documentLink", document, "documentLinkProvider"),
            ("lenses", "textDocument/codeLens", document, "codeLensProvider"),
            ("highlight of a local", "textDocument/documentHighlight", at("H"), "documentHighlightProvider"),
            ("highlight of a function", "textDocument/documentHighlight", at("F"), "documentHighlightProvider"),
            ("linked editing", "textDocument/linkedEditingRange", at("H"), "linkedEditingRangeProvider"),
            ("references of a local", "textDocument/references", {**at("H"), "context": {"includeDeclaration": True}}, "referencesProvider"),
            ("references of a function", "textDocument/references", {**at("F"), "context": {"includeDeclaration": True}}, "referencesProvider"),
            ("definition", "textDocument/definition", at("F"), "definitionProvider"),
            ("declaration", "textDocument/declaration", at("F"), "declarationProvider"),
            ("type definition", "textDocument/typeDefinition", at("H"), "typeDefinitionProvider"),
            ("selection", "textDocument/selectionRange", {**document, "positions": [at("F")["position"]]}, "selectionRangeProvider"),
            ("calls, prepare", "textDocument/prepareCallHierarchy", at("F"), "callHierarchyProvider"),
            ("calls, incoming", "callHierarchy/incomingCalls", {"item": item}, "callHierarchyProvider"),
            ("calls, outgoing", "callHierarchy/outgoingCalls", {"item": item}, "callHierarchyProvider"),
            ("rename, prepare", "textDocument/prepareRename", at("F"), "renameProvider"),
            ("rename of a local", "textDocument/rename", {**at("H"), "newName": "renamed"}, "renameProvider"),
            ("rename of a function", "textDocument/rename", {**at("F"), "newName": "renamed"}, "renameProvider"),
            ("signature help", "textDocument/signatureHelp", at("C", 3), "signatureHelpProvider"),
            ("code actions", "textDocument/codeAction", {**document, "range": key, "context": {"diagnostics": []}}, "codeActionProvider"),
            ("workspace symbols", "workspace/symbol", {"query": "soften"}, "workspaceSymbolProvider"),
            ("diagnostics, asked for", "textDocument/diagnostic", document, "diagnosticProvider"),
            ("diagnostics, workspace", "workspace/diagnostic", {"previousResultIds": []}, "diagnosticProvider"),
            ("formatting on type", "textDocument/onTypeFormatting", {**at("E"), "ch": "}", "options": options}, "documentOnTypeFormattingProvider"),
            ("formatting, 60 lines", "textDocument/rangeFormatting", {**document, "range": view, "options": options}, "documentRangeFormattingProvider"),
            ("formatting, whole", "textDocument/formatting", {**document, "options": options}, "documentFormattingProvider"),
        ]

    def memory(self):
        """Peak bytes of the process and of those it started."""
        total, wanted = 0, [self.client.process.pid]
        while wanted:
            pid = wanted.pop()
            try:
                status = open(f"/proc/{pid}/status").read()
                total += 1024 * int(re.search(r"VmHWM:\s*(\d+)", status).group(1)) if "worker" not in status.split("\n")[0] else 0
                for task in os.listdir(f"/proc/{pid}/task"):
                    wanted += map(int, open(f"/proc/{pid}/task/{task}/children").read().split())
            except (OSError, AttributeError):
                pass
        return total

    def measure_requests(self, keys, note):
        self.ask_once("textDocument/semanticTokens/full")
        for name in [row[0] for row in self.requests()]:
            for behind_key in (False, True):
                for number in range(keys):
                    message = self.number_key(number) if behind_key else None
                    row = next(row for row in self.requests() if row[0] == name)
                    seconds, result = self.ask(row[1], row[2], message)
                    note(f"{name}{', after a key' if behind_key else ''}", seconds)
                    if isinstance(result, dict) and "resultId" in result:
                        self.result_id = result["resultId"]
                    if behind_key:
                        self.settle()

    def ask_once(self, method):
        if (self.offers.get("semanticTokensProvider") or {}).get("full"):
            result = self.ask(method, {"textDocument": {"uri": self.uri}})[1]
            self.result_id = (result or {}).get("resultId")

    def settle(self):
        """What is still to come for a version is not the next key's."""
        if not self.pulls:
            self.diagnostics()

    def measure_previews(self, keys, note):
        """Of the first kernel, which is typed into; that of the last is all functions of the file, one in the other."""
        if not (self.offers.get("experimental") or {}).get("ptl"):
            return
        for stage in ("tile", "asm"):
            wanted = {"textDocument": {"uri": self.uri}, "entry": "soften1", "stage": stage}
            self.ask("ptl/preview", wanted)
            for number in range(max(4, keys // 4)):
                seconds, result = self.ask("ptl/preview", wanted, self.number_key(number, self.file.first_number))
                if not result["text"] or result["stale"]:
                    raise RuntimeError(f"no preview: {result}")
                note(f"preview, {stage}, after a key", seconds)
                self.settle()


# Previews of examples: name, file, declaration, a text in it, and what stands there instead, with a digit `§` that is typed;
# of chips, too, where they run on them.
CPU, CHIP = ("llvm", "asm"), ("block@a3", "pto@a3", "cpp@a3")
EXAMPLES = [
    ("rms norm", "03_rms_norm.ptl", "rms_norm", "row * scale *", "row * (scale * §.5) *", CHIP),
    ("flash attention", "07_flash_attention.ptl", "flash_attention", ".T) * scale", ".T) * (scale * §.5)", CPU + CHIP),
    ("transformer, a kernel of it", "08_transformer.ptl", "transformer", "(m @ w_gate[layer, :, :],", "((m @ w_gate[layer, :, :]) * §.5,", CPU),
    ("transformer, its own code", "08_transformer.ptl", "transformer", "v, 1.0 /", "v, §.5 /", CPU),
]


def replacement(place, before, after):
    return {"range": {"start": place, "end": {**place, "character": place["character"] + len(before)}}, "text": after}


def measure_examples(server, folder, keys, note):
    """Each key makes a text that was not there before."""
    for name, file, entry, before, after, stages in EXAMPLES:
        text = (ROOT / "examples" / file).read_text().replace(before, after, 1)
        at = text.index("§")
        path = pathlib.Path(folder) / file
        path.write_text(text.replace("§", "1"))
        with Timed(server.command, env={**os.environ, **server.environment}, cwd=folder) as client:
            client.initialize(CAPABILITIES)
            client.open(path.as_uri(), text.replace("§", "1"))
            document = {"uri": path.as_uri()}
            place = Text(text, "utf-8").position(at)
            typed, version = 1, 1
            for stage in stages:
                wanted = {"textDocument": document, "entry": entry, "stage": stage}
                client.request("ptl/preview", wanted)
                worker = client.status()["worker"]["pid"]
                before, count = processor_time(worker), max(4, keys // 4)
                for _ in range(count):
                    typed, version = typed + 1, version + 1
                    change = replacement(place, str(typed - 1), str(typed))
                    start = time.perf_counter()
                    client.notify("textDocument/didChange", {"textDocument": {**document, "version": version}, "contentChanges": [change]})
                    answer = client.reply(client.start_request("ptl/preview", wanted), 60)
                    if answer["result"]["stale"]:
                        raise RuntimeError(f"no preview: {answer['result']['diagnostics']}")
                    note(f"{name}: {stage} after a key", answer["at"] - start)
                note(f"{name}: processor time of {stage}", (processor_time(worker) - before) / count)
            for what, hints in (("cost", False), ("cost and hints", True)) if CHIP[0] in stages else ():
                wanted = {"textDocument": document, "entry": entry, "target": "a3", "hints": hints}
                client.request("ptl/cost", wanted)
                for _ in range(max(4, keys // 4)):
                    typed, version = typed + 1, version + 1
                    change = replacement(place, str(typed - 1), str(typed))
                    start = time.perf_counter()
                    client.notify("textDocument/didChange", {"textDocument": {**document, "version": version}, "contentChanges": [change]})
                    answer = client.reply(client.start_request("ptl/cost", wanted), 60)
                    if "us" not in answer["result"] or answer["result"]["stale"]:
                        raise RuntimeError(f"no cost: {answer['result']}")
                    note(f"{name}: {what} after a key", answer["at"] - start)


def measure_verdicts(session, keys, note):
    """From a key in the last kernel to what the chip says of it."""
    begin, end = session.places["E"]
    session.keystroke(session.edit(begin, end, session.file.text[session.file.places["E"][0]:session.file.places["E"][1]]))


    def are_pending():
        return session.client.status()["feasibility"]["changed"]

    for number in range(max(4, keys // 4)):
        while are_pending():
            time.sleep(0.01)
        start = time.perf_counter()
        session.client.notify("textDocument/didChange", session.number_key(number))
        # The verdict may be as before, of which the client is told nothing, so the server is asked.
        while are_pending():
            time.sleep(0.0005)
        note("key to what a chip says", time.perf_counter() - start)


def processor_time(pid):
    """Seconds that the process has computed, in all its threads: what a busy machine does not change."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure(server, file, folder, keys, note, all_requests=False):
    """One run of one server on one file; `note(name, seconds)` takes each time."""
    session = Session(server, file, folder, server.pulls, all_requests)
    with session.client:
        note("start to `initialize`", session.start)
        note("open to diagnostics", session.open())
        before = processor_time(session.client.process.pid)
        for number in range(keys):
            note("key to diagnostics", session.keystroke(session.name_key(number)))
        note("processor time of a key", (processor_time(session.client.process.pid) - before) / keys)
        # The name is whole again.
        begin, end = session.places["E"]
        name = file.text[file.places["E"][0]:file.places["E"][1]]
        if session.text.text != file.text:
            session.keystroke(session.edit(begin, end, name))
        for number in range(keys):
            note("key to diagnostics, no errors", session.keystroke(session.number_key(number)))
        session.measure_requests(keys, note)
        note("peak memory", session.memory())
        session.measure_previews(keys, note)
    if server.name == "ptl-lsp" and file.lines <= 100:
        measure_examples(server, folder, keys, note)
    if server.name == "ptl-lsp":
        chosen = copy.copy(server)
        chosen.settings = {"targets": ["a3"]}
        session = Session(chosen, file, folder, False)
        with session.client:
            session.open()
            before = processor_time(session.client.process.pid)
            for number in range(keys):
                note("key to diagnostics, a chip chosen", session.keystroke(session.name_key(number)))
            note("processor time of a key, a chip chosen", (processor_time(session.client.process.pid) - before) / keys)
            # The kernel of unit n builds n functions into itself: with hundreds of them a chip has to judge thousands of statements each.
            if file.lines <= 2000:
                measure_verdicts(session, keys, note)
        session = Session(server, file, folder, True)
        with session.client:
            session.open()
            for number in range(keys):
                note("key to diagnostics, asked for", session.keystroke(session.name_key(number)))


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def run(build, sizes, keys, runs, with_peers, log=lambda text: None, only=(), all_requests=False):
    """`{server: {size: {name: [p50, p99]}}}`, medians over the runs; milliseconds, MiB for memory."""
    chosen, results = [each for each in servers(build, with_peers) if not only or each.name in only], {}
    gc.disable()
    for lines in sizes:
        samples = {server.name: [] for server in chosen}
        for number in range(runs):
            for server in chosen:
                log(f"{lines} lines, run {number + 1} of {runs}: {server.name}")
                times = {}
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        measure(server, File(server.suffix, lines), folder, keys, lambda name, s: times.setdefault(name, []).append(s), all_requests)
                    except Exception as error:
                        log(f"{server.name}: {type(error).__name__} {error}")
                samples[server.name].append(times)
                gc.collect()
        for server, all_times in samples.items():
            for name in dict.fromkeys(name for times in all_times for name in times):
                scale = 1 / (1 << 20) if name == "peak memory" else 1e3
                figures = [[statistics.median(quantile(times[name], share) * scale for times in all_times if name in times)]
                           for share in (0.5, 0.99)]
                results.setdefault(server, {}).setdefault(lines, {})[name] = [f[0] for f in figures]
    return results


def shown(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def table(results, sizes):
    names = list(dict.fromkeys(name for sizes_of in results.values() for rows in sizes_of.values() for name in rows))
    lines = ["| ms, p50/p99 at " + " · ".join(map(str, sizes)) + " lines | " + " | ".join(results) + " |",
             "|---" * (len(results) + 1) + "|"]
    for name in names:
        cells = []
        for server in results:
            figures = [results[server].get(size, {}).get(name) for size in sizes]
            one = name in ("peak memory", "start to `initialize`", "open to diagnostics") or "processor time" in name
            cells.append(" · ".join("-" if f is None else shown(f[0]) if one else f"{shown(f[0])}/{shown(f[1])}" for f in figures)
                         if any(figures) else "-")
        lines.append(f"| {name}{', MiB' if name == 'peak memory' else ''} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(results, sizes):
    """A line for each size and measure that has a goal: ours, and how much faster than each peer that was measured."""
    ours, *peers = results
    for size in sizes:
        for name in ("key to diagnostics", "hover, after a key", "completion, after a key"):
            figures = results[ours].get(size, {}).get(name)
            if not figures:
                continue
            line = f"{name}, {size} lines: p50 {shown(figures[0])} ms, p99 {shown(figures[1])} ms"
            for peer in peers:
                other = results[peer].get(size, {}).get(name)
                line += f", {peer} {shown(other[0])} ms, ratio {other[0] / figures[0]:.1f}" if other else ""
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("sizes", nargs="*", type=int, default=[100, 1000, 10000])
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--only", action="append", help="only the server of this name")
    parser.add_argument("--all", action="store_true", help="every read request, also those that no peer is compared in")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = run(options.build, options.sizes, options.keys, options.runs, options.peers, lambda text: print(text, file=sys.stderr),
                  options.only, options.all)
    print(table(results, options.sizes))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
