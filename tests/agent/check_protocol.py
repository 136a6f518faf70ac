"""A client that sends garbage, cancels or leaves: clear answers, and nothing left running."""
import json
import os
import shutil
import signal
import tempfile
import time

from client import VERSION, Client, RpcError, children, is_alive, wait_until

SLOW = """kernel product[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N])
tune BM: [16, 32, 64, 128, 256] = 64, BN: [16, 32, 64, 128, 256] = 64, BK: [16, 32, 64, 128, 256] = 64
{
    parallel i in tiles(M, BM), j in tiles(N, BN) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, BK) { acc += a[i, k] @ b[k, j] }
        c[i, j] = acc
    }
}
"""
# It comes back to where it began after 2^64 rounds.
ENDLESS = """program never(n: i64) -> (m: i64)
{
    var i = n * 5 + 1
    while i != n { i = i * 5 + 1 }
    m = i
}
"""
TUNE = {"name": "tune", "arguments": {"file": "slow.ptl", "seconds": 500, "values": {"M": 2048, "N": 2048, "K": 2048}}}


def lifecycle(tools):
    client = Client(tools.ptlc, [tools.folder], initialize=False)
    assert client.request("ping") == {}
    try:
        client.request("tools/list")
        raise AssertionError("listed before `initialize`")
    except RpcError as error:
        assert error.code == -32600 and "initialize" in str(error), error
    hello = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert client.request("initialize", hello)["protocolVersion"] == VERSION
    try:
        client.request("initialize", hello)
        raise AssertionError("initialized twice")
    except RpcError as error:
        assert error.code == -32600, error
    assert client.close() == 0
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        client = Client(tools.ptlc, [tools.folder], initialize=False)
        assert client.request("initialize", {**hello, "protocolVersion": version})["protocolVersion"] == version
        client.close()


def garbage(tools):
    client = Client(tools.ptlc, [tools.folder])
    wrong = [
        ("not json\n", -32700),
        (b"\xff\xfe\x00\n", -32700),
        ("[" * 100000 + "\n", -32700),
        ("{}\n", -32600),
        ("7\n", -32600),
        ("[]\n", -32600),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n', -32600),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}\n', -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', -32600),
        ('{"jsonrpc": "2.0", "id": "x", "method": 5}\n', -32600),
        ('{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": 5}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {}}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "rm", "arguments": {}}}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": {"cursor": "7"}}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "resources/list", "params": {"cursor": "-1"}}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}\n', -32002),
        ('{"jsonrpc": "2.0", "id": "x", "method": "prompts/get", "params": {"name": "repair"}}\n', -32602),
        ('{"jsonrpc": "2.0", "id": "x", "method": "no/such"}\n', -32601),
        ("x" * (17 << 20) + "\n", -32600),
    ]
    for text, code in wrong:
        client.write(text)
        answer = client.next(20)
        assert answer["error"]["code"] == code, (text[:100], answer)
    # What needs no answer gets none, and the server goes on.
    for text in ('{"jsonrpc": "2.0", "method": "notifications/no-such"}\n', '{"jsonrpc": "2.0", "id": 5, "result": {}}\n', "\n", "   \r\n",
                 '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}\n',
                 '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}\n'):
        client.write(text)
    assert client.request("ping") == {}
    # Arguments that are wrong are told with what would be right, as answers of the tool.
    for arguments, words in [({}, "needs `file`"), ({"file": 7}, "`file` is a string"), ({"file": "slow.ptl", "files": 1}, "no argument `files`"),
                             ({"file": "slow.ptl", "values": [1]}, "`values` is an object"), ({"file": "missing.ptl"}, "is not a file"),
                             ({"file": "slow.ptl", "values": {"M": None}}, "`values` is an object"), ({"file": "slow.ptl", "seconds": -1}, "at least 0"),
                             ({"file": "slow.ptl", "target": "a9"}, "the chips are"), ({"file": "slow.ptl", "entry": "other"}, "there is `product`")]:
        why = client.refused("cost", arguments)
        assert words in why, (arguments, why)
    # A message that comes in pieces is one message.
    for piece in ('{"jsonrpc": "2.0", "id": "pieces", ', '"method": ', '"ping"}\n'):
        client.write(piece)
        time.sleep(0.05)
    assert client.next(20) == {"jsonrpc": "2.0", "id": "pieces", "result": {}}
    assert client.close() == 0


def cancelling(tools):
    client = Client(tools.ptlc, [tools.folder])
    number = client.begin("tools/call", {**TUNE, "_meta": {"progressToken": "t"}})
    told = [client.next(60) for _ in range(3)]
    assert all(message["method"] == "notifications/progress" and message["params"]["progressToken"] == "t" for message in told), told
    values = [message["params"]["progress"] for message in told]
    assert values == sorted(set(values)) and all(message["params"]["total"] == 125 for message in told), told
    workers = client.workers()
    assert len(workers) == 1, workers
    client.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) + "\n")  # an id that is in use
    assert wait_error(client, number)["code"] == -32600
    client.notify("notifications/cancelled", {"requestId": number, "reason": "enough"})
    wait_until(lambda: not is_alive(workers[0]), "the worker ends")
    drain(client)
    assert client.request("ping") == {} and client.workers() == []
    # The id may be used again, and other calls were not touched.
    assert client.ask("check", {"file": "slow.ptl"})["ok"]
    # Work that waits for a processor can be cancelled, too.
    numbers = [client.begin("tools/call", {"name": "run", "arguments": {"file": "endless.ptl", "inputs": {"n": 1}}}) for _ in range(40)]
    wait_until(lambda: client.workers(), "workers begin")
    assert len(client.workers()) <= max(2, os.cpu_count())
    for number in reversed(numbers):
        client.notify("notifications/cancelled", {"requestId": number})
    wait_until(lambda: not client.workers(), "all workers end")
    assert client.request("ping") == {}
    assert client.close() == 0


def wait_error(client, number):
    while True:
        message = client.next(60)
        if message.get("id") == number:
            return message["error"]


def drain(client):
    """What was on its way when the call was cancelled is progress at most."""
    time.sleep(0.3)
    while not client.messages.empty():
        assert client.messages.get()["method"] == "notifications/progress"


def leaving(tools):
    endings = {
        "closes its end": lambda client: client.process.stdin.close(),
        "asks the server to end": lambda client: client.process.send_signal(signal.SIGTERM),
        "kills the server": lambda client: client.process.kill(),
    }
    for what, end in endings.items():
        client = Client(tools.ptlc, [tools.folder])
        client.begin("tools/call", TUNE)
        client.begin("tools/call", {"name": "run", "arguments": {"file": "endless.ptl", "inputs": {"n": 1}}})
        wait_until(lambda: len(client.workers()) == 2, "two workers")
        workers = client.workers()
        end(client)
        assert client.process.wait(timeout=20) == (0 if what != "kills the server" else -signal.SIGKILL), what
        wait_until(lambda: not any(is_alive(worker) for worker in workers), f"no worker is left when the client {what}")
    # Nobody reads the answers any more.
    client = Client(tools.ptlc, [tools.folder])
    client.begin("tools/call", TUNE)
    wait_until(lambda: client.workers(), "a worker")
    workers = client.workers()
    for worker in workers:
        os.kill(worker, signal.SIGKILL)  # a worker that dies costs its call alone
    result = client.wait(client.number)
    assert result["isError"] and "killed" in result["structuredContent"]["summary"], result
    assert client.ask("check", {"file": "slow.ptl"})["ok"]
    assert client.close() == 0 and children(client.process.pid) == []


def incomplete(tools):
    """`ptlc` was copied alone: calls say what is missing, and the server goes on."""
    with tempfile.TemporaryDirectory() as folder:
        client = Client(shutil.copy(tools.ptlc, folder), [tools.folder])
        why = client.refused("check", {"file": "slow.ptl"})
        assert "ptlc-ir` cannot be started" in why and "in the folder of `ptlc`" in why, why
        assert client.request("ping") == {} and client.close() == 0


def main(tools):
    tools.write("slow.ptl", SLOW)
    tools.write("endless.ptl", ENDLESS)
    for part in (lifecycle, garbage, cancelling, leaving, incomplete):
        part(tools)
