"""The protocol as streamable HTTP: for clients on this machine that have the token, and nobody else."""
import json
import socket
import time

from client import VERSION, HttpClient, children, is_alive, wait_until
from check_protocol import ENDLESS, SLOW, TUNE

HELLO = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})


def only_with_token(client):
    good = client.headers()
    refused = [
        (401, {**good, "Authorization": "Bearer wrong"}), (401, {**good, "Authorization": client.token}), (401, {**good, "Authorization": f"Bearer {client.token}x"}),
        (401, {**good, "Authorization": ""}), (403, {**good, "Origin": "https://example.com"}), (403, {**good, "Origin": "null"}),
        (403, {**good, "Origin": "http://127.0.0.1.example.com"}), (403, {**good, "Host": "example.com"}), (403, {**good, "Host": f"rebound.example:{client.port}"}),
        (415, {**good, "Content-Type": "text/plain"}), (400, {**good, "MCP-Protocol-Version": "1999-01-01"}), (400, good), (404, {**good, "Mcp-Session-Id": "0" * 32}),
    ]
    for status, headers in refused:
        answer = client.raw("POST", PING, headers)
        assert answer[0] == status, (status, headers, answer)
        assert client.token not in answer[2]
    without = {name: value for name, value in good.items() if name != "Authorization"}
    status, headers, _ = client.raw("POST", PING, without)
    assert status == 401 and headers["www-authenticate"] == "Bearer"
    assert client.raw("POST", PING, good, path="/")[0] == 404
    assert client.raw("POST", "not json", good)[0] == 400
    status, headers, _ = client.raw("GET", None, good)
    assert status == 405 and headers["allow"] == "POST, DELETE"
    assert client.raw("PUT", PING, good)[0] == 405


def only_on_loopback(client):
    for address in own_addresses():
        try:
            socket.create_connection((address, client.port), timeout=2).close()
            raise AssertionError(f"it listens on {address}")
        except OSError:
            pass
    with open("/proc/net/tcp") as file:
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    port = f"{client.port:04X}"
    assert [each for each in listening if each.endswith(f":{port}")] == [f"0100007F:{port}"], listening


def own_addresses():
    found = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return {address for address in found if not address.startswith("127.")}


def sessions(client):
    assert client.request("initialize", HELLO)[-1]["result"]["protocolVersion"] == VERSION and client.session
    status, _, text = client.raw("POST", json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert status == 202 and text == "", (status, text)
    assert len(client.request("tools/list")[-1]["result"]["tools"]) >= 14
    answer = client.request("tools/call", {"name": "check", "arguments": {"file": "slow.ptl"}})
    assert len(answer) == 1 and answer[0]["result"]["structuredContent"]["ok"], answer
    # With a token for progress the answer is a stream, whose last message is the response.
    call = {"name": "tune", "arguments": {**TUNE["arguments"], "seconds": 1}, "_meta": {"progressToken": 7}}
    answer = client.request("tools/call", call)
    assert len(answer) > 2 and all(each["params"]["progressToken"] == 7 for each in answer[:-1]), answer
    tuned = answer[-1]["result"]["structuredContent"]
    assert tuned["exhaustive"] or tuned["ended"] == "budget", answer[-1]
    # Two sessions know nothing of each other's fixes.
    first, fix = client.session, answer[-1]["result"]["structuredContent"]["id"]
    client.session = None
    client.request("initialize", HELLO)
    assert client.session != first
    refused = client.request("tools/call", {"name": "apply_fix", "arguments": {"id": fix}})[-1]["result"]
    assert refused["isError"] and "no fix" in refused["structuredContent"]["summary"], refused
    second, client.session = client.session, first
    assert client.raw("DELETE", None)[0] == 204
    assert client.raw("POST", PING)[0] == 404
    client.session = second
    assert client.request("ping")[-1]["result"] == {}


def post(client, body, more=""):
    """A request on a connection of its own, which the caller reads or leaves."""
    connection = socket.create_connection(("127.0.0.1", client.port))
    data = json.dumps(body).encode()
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{client.port}\r\nContent-Type: application/json\r\nAuthorization: Bearer {client.token}\r\n"
    connection.sendall(f"{head}Mcp-Session-Id: {client.session}\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data)
    return connection


def leaving(client):
    call = {"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {"name": "run", "arguments": {"file": "endless.ptl", "inputs": {"n": 1}}}}
    def begin():
        """Begins the call and waits for its worker."""
        before = set(children(client.process.pid))
        connection = post(client, call)
        wait_until(lambda: set(children(client.process.pid)) - before, "a worker")
        return connection, (set(children(client.process.pid)) - before).pop()

    def gone(worker, what):
        wait_until(lambda: not is_alive(worker), f"the worker ends {what}")

    connection, worker = begin()
    connection.close()
    gone(worker, "with the connection")
    connection, worker = begin()
    client.raw("POST", json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}))
    gone(worker, "when it is cancelled")
    connection.close()
    connection, worker = begin()
    assert client.raw("DELETE", None)[0] == 204
    gone(worker, "with its session")
    connection.close()
    client.session = None
    client.request("initialize", HELLO)


def garbage(client):
    for data in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"POST /mcp HTTP/9.9\r\n\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                 b"POST /mcp HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                 b"POST /mcp HTTP/1.1\r\n" + b"X: " + b"y" * 100000 + b"\r\n\r\n"):
        connection = socket.create_connection(("127.0.0.1", client.port), timeout=10)
        connection.sendall(data)
        answer = connection.recv(4096)
        assert answer.startswith((b"HTTP/1.1 4",)), (data[:60], answer)
        connection.close()
    # A body that is too long, and one that never comes.
    connection = socket.create_connection(("127.0.0.1", client.port), timeout=10)
    connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
    connection.close()
    # Two requests in one packet, the second in pieces.
    body = PING.encode()
    head = (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer {client.token}\r\n"
            f"Mcp-Session-Id: {client.session}\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    connection = socket.create_connection(("127.0.0.1", client.port), timeout=10)
    connection.sendall(head + body + head[:40])
    time.sleep(0.1)
    connection.sendall(head[40:] + body)
    received = b""
    while received.count(b'"result":{}') < 2:
        piece = connection.recv(4096)
        assert piece, received
        received += piece
    connection.close()
    assert client.request("ping")[-1]["result"] == {}


def main(tools):
    tools.write("slow.ptl", SLOW)
    tools.write("endless.ptl", ENDLESS)
    client = HttpClient(tools.ptlc, [tools.folder])
    try:
        assert len(client.token) == 32
        for part in (only_with_token, only_on_loopback, sessions, leaving, garbage):
            part(client)
    finally:
        client.close()
    client = HttpClient(tools.ptlc, [tools.folder], token="a token of my own")
    try:
        assert client.token == "a", client.token  # its first word is printed
        client.token = "a token of my own"
        client.request("initialize", HELLO)
    finally:
        client.close()
