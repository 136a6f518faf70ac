"""A client of `ptlc mcp` for tests: it knows the protocol, and nothing of the compiler."""
import http.client
import json
import os
import queue
import subprocess
import threading
import time

VERSION = "2025-11-25"


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """The server on its standard input and output. Counts calls and bytes."""

    def __init__(self, ptlc, roots, std=None, initialize=True):
        environment = dict(os.environ)
        if std:
            environment["PTL_STD"] = str(std)
        arguments = [str(ptlc), "mcp"]
        for root in roots:
            arguments += ["--root", str(root)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.calls, self.sent, self.received, self.number = 0, 0, 0, 0
        self.messages, self.progress = queue.Queue(), []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if initialize:
            self.server = self.request("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
            self.notify("notifications/initialized")

    def _read(self):
        for line in self.process.stdout:
            self.received += len(line)
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def write(self, text):
        data = text.encode() if isinstance(text, str) else text
        self.sent += len(data)
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method, params=None):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}) + "\n")

    def begin(self, method, params=None):
        """Sends a request and gives its id."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message) + "\n")
        return self.number

    def next(self, timeout=300):
        message = self.messages.get(timeout=timeout)
        if message is None:
            raise EOFError(self.process.stderr.read().decode(errors="replace"))
        return message

    def wait(self, number, timeout=300):
        """The response to a request; progress on the way is noted."""
        while True:
            message = self.next(timeout)
            if message.get("method") == "notifications/progress":
                self.progress.append(message["params"])
            elif message.get("id") == number:
                if "error" in message:
                    raise RpcError(message["error"])
                return message["result"]

    def request(self, method, params=None, timeout=300):
        return self.wait(self.begin(method, params), timeout)

    def call(self, tool, arguments, timeout=300):
        """The whole result of a tool."""
        self.calls += 1
        return self.request("tools/call", {"name": tool, "arguments": arguments}, timeout)

    def ask(self, tool, arguments, timeout=300):
        """The answer of a tool, which has to be one."""
        result = self.call(tool, arguments, timeout)
        assert not result["isError"], result["structuredContent"]["summary"]
        return result["structuredContent"]

    def refused(self, tool, arguments):
        """Why a tool gave no answer."""
        result = self.call(tool, arguments)
        assert result["isError"], f"{tool} answered: {result}"
        return result["structuredContent"]["summary"]

    def workers(self):
        """The processes that answer calls now."""
        return children(self.process.pid)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=20)
        return self.process.returncode


class HttpClient:
    """The server as HTTP on loopback."""

    def __init__(self, ptlc, roots, token=None):
        environment = dict(os.environ, **({"PTL_MCP_TOKEN": token} if token else {}))
        arguments = [str(ptlc), "mcp", "--port", "0"]
        for root in roots:
            arguments += ["--root", str(root)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        url = self.process.stderr.readline().decode().strip()
        self.port = int(url.rsplit(":", 1)[1].split("/")[0])
        self.token = self.process.stderr.readline().decode().split()[1]
        self.session, self.number = None, 0

    def raw(self, method, body=None, headers=None, path="/mcp", timeout=300):
        """Status, headers and body of one exchange."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.request(method, path, body, headers if headers is not None else self.headers())
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, data.decode()

    def headers(self, **more):
        found = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": f"Bearer {self.token}"}
        if self.session:
            found.update({"Mcp-Session-Id": self.session, "MCP-Protocol-Version": VERSION})
        return {**found, **more}

    def request(self, method, params=None):
        """The messages of the answer, the response last."""
        self.number += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, **({"params": params} if params is not None else {})})
        status, headers, text = self.raw("POST", body)
        assert status == 200, (status, text)
        self.session = headers.get("mcp-session-id", self.session)
        if headers["content-type"] == "text/event-stream":
            return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        return [json.loads(text)]

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stderr.close()


def children(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(word) for word in file.read().split()]
    except FileNotFoundError:
        pass
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)
