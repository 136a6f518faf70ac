"""The worker with its answers spoilt: members of other types or gone, broken frames, answers to others, a sudden end.

Usage: spoilt_worker.py WORKER SEED
"""
import json
import random
import subprocess
import sys
import threading

from broken_messages import Fuzzer
from client import encode, frame


def read_message(stream):
    length = None
    while (line := stream.readline()) != b"\r\n":
        if not line:
            return None
        length = int(line.split(b":")[1])
    return stream.read(length)


def spoilt(fuzzer: Fuzzer, body: bytes) -> bytes:
    """What the server gets in place of an answer."""
    message, roll = json.loads(body), fuzzer.random.random()
    if roll < 0.5 or "progress" in message:
        return frame(body)
    if roll < 0.8:
        for _ in range(fuzzer.random.randint(1, 3)):
            kind = "result" if "result" in message else "error"
            message[kind] = fuzzer.change_value(message[kind])
        return encode(message)
    if roll < 0.86:
        return encode({**message, "id": fuzzer.random.choice([None, -1, "x", 2**40])}) + frame(body)
    if roll < 0.92:
        return b"Content-Length: x\r\n\r\n" + encode([1]) + encode({"progress": 3}) + frame(body) + frame(body)
    if roll < 0.96:
        return encode({"id": message["id"], "error": fuzzer.random.choice(["odd", None, {}, {"code": 1}])}) + frame(body)
    return frame(body)[:fuzzer.random.randint(0, len(body))]  # and nothing more


def main():
    fuzzer = Fuzzer(int(sys.argv[2]))
    worker = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def forward():
        while data := sys.stdin.buffer.read1(1 << 16):
            worker.stdin.write(data)
            worker.stdin.flush()
        worker.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    while body := read_message(worker.stdout):
        out = spoilt(fuzzer, body)
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
        if len(out) < len(frame(body)):
            break
    worker.kill()


if __name__ == "__main__":
    main()
