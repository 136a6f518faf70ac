"""The worker as a process: every stage of every example, broken input, its limits and its last words.

Usage: process_test.py WORKER PTLC ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

WORKER, PTLC, ROOT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
DECLARATION = re.compile(r'^(?:pub )?(?:fn|kernel|program|test|property|bench) (?:"([^"]*)"|(\w+))', re.M)


class Worker:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [WORKER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.count = 0
        self.steps = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()

    def send_raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode()
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def receive(self):
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                return None
            length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def answer(self):
        self.steps = []
        while (message := self.receive()) and "progress" in message:
            self.steps.append(message["progress"]["step"])
        return message

    def ask(self, method, **members):
        self.count += 1
        self.send({"id": self.count, "method": method, **members})
        answer = self.answer()
        assert answer is None or answer["id"] == self.count, answer
        return answer

    def preview(self, text, entry, stage, path="/t.ptl", **members):
        return self.ask("preview", root=path, files={path: text}, entry=entry, stage=stage, **members)


SCALE = """kernel scale[N](x: f32[N], s: f32) -> (y: f32[N])
{
    parallel r in tiles(N, 1024) {
        y[r] = x[r] * s
    }
}
"""


def pairs(flat):
    return list(zip(flat[::2], flat[1::2]))


def instructions(assembly):
    """Instructions alone, with local names numbered by first use."""
    result, names = [], {}
    for line in assembly.splitlines():
        if not line.startswith("\t") or re.match(r"\s*[.#]", line):
            continue
        text = " ".join(line.split("#")[0].split())
        result.append(re.sub(r"\.L\w+|ptl_\w+", lambda m: names.setdefault(m[0], f"L{len(names)}"), text))
    return result


class Stages(unittest.TestCase):
    def check_answer(self, result, path, text):
        texts = {path: text.encode()}
        lines = result["text"].count("\n")
        for origin in result["origins"]:
            for place in origin:
                if place["path"] not in texts:
                    texts[place["path"]] = pathlib.Path(place["path"]).read_bytes()
                source = texts[place["path"]]
                self.assertLess(place["begin"], place["end"])
                self.assertLessEqual(place["end"], len(source))
                self.assertEqual(place["line"], source[: place["begin"]].count(b"\n"))
        for line, origin in pairs(result["map"]):
            self.assertLess(line, lines)
            self.assertLess(origin, len(result["origins"]))
        for fold in result["folds"]:
            self.assertTrue(0 <= fold["start"] < fold["end"] < lines)

    def test_every_example(self):
        with Worker() as worker:
            stages = [stage["name"] for stage in worker.ask("stages")["result"]["stages"] if stage["machine"] != "chip"]
            count = 0
            for path in sorted((ROOT / "examples").glob("*.ptl")):
                text = path.read_text()
                for match in DECLARATION.finditer(text):
                    name = match[1] or match[2]
                    for stage in stages:
                        answer = worker.preview(text, name, stage, str(path), offset=match.end())
                        with self.subTest(path=path.name, name=name, stage=stage):
                            if stage == "explicit":  # source without its origins, or the reason why there is none
                                codes = [each["code"] for each in answer["result"].get("diagnostics", [])]
                                self.assertTrue(answer["result"]["ok"] or codes == ["E0815"], answer)
                                continue
                            self.assertTrue(answer and answer.get("result", {}).get("ok"), answer)
                            self.assertTrue(answer["result"]["map"])
                            self.check_answer(answer["result"], str(path), text)
                            count += 1
            self.assertGreater(count, 100)

    def test_chips(self):
        """Every stage of what runs on a chip, for each chip; `feasibility` says which that is."""
        with Worker() as worker:
            table = worker.ask("stages")["result"]
            stages = [stage["name"] for stage in table["stages"] if stage["machine"] != "cpu"]
            self.assertTrue({"a3", "a5"} <= set(table["targets"]), table["targets"])
            count = 0
            for name, entry in [("04_matmul", "matmul"), ("07_flash_attention", "flash_attention"), ("03_rms_norm", "rms_norm_rows")]:
                path = ROOT / "examples" / f"{name}.ptl"
                text = path.read_text()
                entry = entry if re.search(rf"\b{entry}\b", text) else DECLARATION.search(text)[2]
                for target in ("a3", "a5"):
                    asked = {"root": str(path), "files": {str(path): text}, "entry": entry}
                    verdict = worker.ask("feasibility", target=target, **asked)["result"]
                    self.assertTrue(verdict["ok"], verdict)
                    if not verdict["fits"]:
                        self.assertTrue(verdict["diagnostics"], verdict)
                        continue
                    self.assertTrue(worker.ask("feasibility", target=target, **asked)["result"]["cached"])
                    self.assertEqual(verdict["ledger"]["machine"], target)
                    for stage in stages:
                        answer = worker.preview(text, entry, f"{stage}@{target}", str(path))
                        with self.subTest(path=path.name, stage=stage, target=target):
                            self.assertTrue(answer.get("result", {}).get("ok"), answer)
                            self.assertTrue(answer["result"]["text"])
                            if not stage.startswith(("memory", "explicit")):
                                self.assertTrue(answer["result"]["map"])
                            self.check_answer(answer["result"], str(path), text)
                            count += 1
            self.assertGreater(count, 20)

    def test_verdicts_follow_the_text(self):
        """One that is known is moved with its text; a fix elsewhere too."""
        kernel = """kernel k[R](x: f32[R, 4096]) -> (y: f32[R, 4096])
tune ROWS: [4, 8, 16] = 8
{
    parallel r in tiles(R, ROWS) {
        var s = x[r, :]
        for _ in 0..2 { s = s - max(s, axis: 0) }
        y[r, :] = exp(s)
    }
}
"""
        schedule = "schedule k on a3 {\n    ROWS = 16\n}\n"
        with Worker() as worker:
            for before in ("\n" + kernel + "\n" + schedule, "// é\n" + kernel + "\n" + schedule, "// é\n" + kernel + "const ONE = 1\n" + schedule):
                asked = {"root": "/t.ptl", "files": {"/t.ptl": before}, "entry": "k", "target": "a3", "options": {"helps": True}}
                verdict = worker.ask("feasibility", **asked)["result"]
                self.assertFalse(verdict["fits"], verdict)
                self.assertGreater(verdict["overflow"]["needed"], 256 * 1024)
                source = before.encode()
                place = verdict["diagnostics"][0]["place"]
                self.assertEqual(source[place["begin"] : place["end"] + 3], b"max(s,")
                [fix] = verdict["diagnostics"][0]["fixes"]
                [edit] = fix["edits"]
                self.assertEqual((source[edit["place"]["begin"] : edit["place"]["end"]], edit["text"]), (b"16", "8"))

    def test_a_stage_later_costs_only_itself(self):
        with Worker() as worker:
            self.assertFalse(worker.preview(SCALE, "scale", "tile")["result"]["cached"])
            self.assertTrue(worker.preview(SCALE, "scale", "tile")["result"]["cached"])
            later = worker.preview(SCALE, "scale", "asm")["result"]
            self.assertNotIn("build", later["timings"])

    def test_text_elsewhere_changes_nothing(self):
        with Worker() as worker:
            worker.preview(SCALE + "fn other(x: f32) -> f32 {\n    return x\n}\n", "scale", "tile")
            moved = "// é\n" + SCALE[:-1]
            before = worker.preview("\n" + SCALE, "scale", "tile")["result"]
            after = worker.preview(moved, "scale", "tile")["result"]
            self.assertTrue(after["cached"], "same lines, another offset")
            self.check_answer(after, "/t.ptl", moved)
            self.assertEqual(before["map"], after["map"])
            begins = [[place["begin"] for place in origin] for origin in before["origins"]]
            shift = len("// é".encode())
            self.assertEqual([[b + shift for b in origin] for origin in begins],
                             [[place["begin"] for place in origin] for origin in after["origins"]])

    def test_assembly_is_the_real_code(self):
        for name, entry, static in [("02_softmax", "softmax_rows", "C=4096"), ("04_matmul", "matmul", None)]:
            path = str(ROOT / "examples" / f"{name}.ptl")
            command = [PTLC, "build", path, "--entry", entry, "--emit=asm", "-o", "-"]
            built = subprocess.run(
                command + (["-D", f"{entry}.{static}"] if static else []), capture_output=True, text=True
            )
            self.assertEqual(built.returncode, 0, built.stderr)
            with Worker() as worker:
                answer = worker.ask("preview", root=path, entry=entry, stage="asm")["result"]
            self.assertEqual(instructions(answer["text"]), instructions(built.stdout))

    def test_functions_of_an_earlier_text_are_the_real_code(self):
        text = (ROOT / "examples/08_transformer.ptl").read_text()
        gate = "m @ w_gate[layer, :, :]"
        with Worker() as worker, tempfile.NamedTemporaryFile("w", suffix=".ptl") as file:
            for factor in ["1.5", "2.5"]:
                changed = text.replace(gate, f"({gate}) * {factor}")
                answer = worker.preview(changed, "transformer", "asm", path=file.name)["result"]
            file.write(changed)
            file.flush()
            built = subprocess.run([PTLC, "build", file.name, "--entry", "transformer", "--emit=asm", "-o", "-"],
                                   capture_output=True, text=True, check=True)
        self.assertEqual(instructions(answer["text"]), instructions(built.stdout))

    def test_bindings(self):
        text = "fn twice[T: float](x: T[.., 4]) -> T[.., 4] {\n    return x + x\n}\n"
        with Worker() as worker:
            plain = worker.preview(text, "twice", "tile")["result"]
            self.assertIn("f32[", plain["text"])
            values = {each["name"]: each for each in plain["entries"][0]["values"]}
            self.assertEqual((values["T"]["value"], values["T"]["why"]), ("f32", "default"))
            asked = worker.preview(text, "twice", "tile", bindings={"T": "f16", "..": 2})["result"]
            self.assertRegex(asked["text"], r"f16\[d0, d1, 4\]")
            wrong = worker.preview(text, "twice", "tile", bindings={"T": "i32"})["result"]
            self.assertEqual(wrong["error"]["code"], "binding")
            wrong = worker.preview(text, "twice", "tile", bindings={"Q": "1"})["result"]
            self.assertEqual(wrong["error"]["code"], "binding")

    def test_calls_lead_to_the_caller(self):
        text = "fn inner(x: f32[8]) -> f32[8] {\n    return exp(x)\n}\nfn outer(x: f32[8]) -> f32[8] {\n    return inner(x)\n}\n"
        with Worker() as worker:
            result = worker.preview(text, "outer", "tile")["result"]
        shown = [[text[p["begin"] : p["end"]] for p in result["origins"][o]]
                 for line, o in pairs(result["map"]) if "ptl.exp" in result["text"].splitlines()[line]]
        self.assertEqual(shown, [["exp(x)", "inner(x)"]])

    def test_options(self):
        with Worker() as worker:
            intel = worker.preview(SCALE, "scale", "asm", options={"syntax": "intel"})["result"]["text"]
            att = worker.preview(SCALE, "scale", "asm")["result"]["text"]
            old = worker.preview(SCALE, "scale", "asm", options={"processor": "x86-64-v2"})["result"]["text"]
            self.assertNotIn("%r", intel)
            self.assertIn("%r", att)
            self.assertNotIn("ymm", old)


class Hover(unittest.TestCase):
    def hover(self, worker, text, entry, expression, **members):
        begin = text.index(expression)
        answer = worker.ask("hover", root="/t.ptl", files={"/t.ptl": text}, entry=entry, begin=begin,
                            end=begin + len(expression), **members)
        return {stage["stage"]: stage for stage in answer["result"]["stages"]}

    def test_operations_and_instructions(self):
        with Worker() as worker:
            stages = self.hover(worker, SCALE, "scale", "x[r] * s", stages=["tile", "vector", "llvm", "asm"])
        self.assertIn("ptl.mul", stages["tile"]["lines"][0]["text"])
        self.assertTrue(any("mulf" in line["text"] for line in stages["vector"]["lines"]))
        self.assertTrue(any("fmul" in line["text"] for line in stages["llvm"]["lines"]))
        self.assertTrue(any("mulps" in line["text"] for line in stages["asm"]["lines"]))
        self.assertTrue(all(len(stage["lines"]) <= 8 for stage in stages.values()))

    def test_why_nothing_is_left(self):
        text = "fn f(x: f32[8]) -> f32[8] {\n    let a = exp(x)\n    let b = exp( x )\n    return a + b\n}\n"
        with Worker() as worker:
            second = self.hover(worker, text, "f", "exp( x )", stages=["tensor"])["tensor"]
            self.assertEqual(second["lines"], [])
            self.assertIn("computed once", second["reason"])
            text = text.replace("a + b", "a + a")
            dead = self.hover(worker, text, "f", "exp( x )", stages=["tensor"])["tensor"]
            self.assertIn("dead", dead["reason"])

    def test_facts_of_a_line(self):
        with Worker() as worker:
            text = worker.preview(SCALE, "scale", "tile")["result"]["text"]
            line = next(i for i, each in enumerate(text.splitlines()) if "ptl.mul" in each)
            facts = worker.ask("facts", root="/t.ptl", files={"/t.ptl": SCALE}, entry="scale", stage="tile", line=line)
        self.assertEqual(facts["result"]["op"]["name"], "ptl.mul")
        self.assertEqual(facts["result"]["sources"][0]["text"], "x[r] * s")


class Mlir(unittest.TestCase):
    def test_a_dumped_file(self):
        path = str(ROOT / "examples/01_vector_add.ptl")
        for stage in ["ir", "ir:tile", "ir:vector"]:
            dump = subprocess.run([PTLC, "build", path, f"--emit={stage}", "-g", "-o", "-"], capture_output=True, text=True)
            with Worker() as worker:
                result = worker.ask("mlir", text=dump.stdout)["result"]
            self.assertTrue(result["ok"], result["diagnostics"])
            lines = dump.stdout.splitlines()
            for op in result["ops"]:
                if "." in op["name"] and not op["name"].startswith("builtin"):
                    self.assertIn(op["name"].split(".")[-1], lines[op["line"]])
            mapped = [op for op in result["ops"] if op["sources"]]
            self.assertGreater(len(mapped), 5)
            self.assertTrue(all(place["path"] == path for op in mapped for place in op["sources"]))

    def test_no_mlir(self):
        with Worker() as worker:
            result = worker.ask("mlir", text="func.func @f(")["result"]
            self.assertFalse(result["ok"])
            self.assertTrue(result["diagnostics"])


class Robust(unittest.TestCase):
    def test_broken_programs(self):
        with Worker() as worker:
            for text in [SCALE.replace("* s", "* t"), SCALE.replace("* s", "*"), SCALE[:80]]:
                result = worker.preview(text, "scale", "tile")["result"]
                self.assertFalse(result["ok"])
                self.assertTrue(result["diagnostics"])
                self.assertTrue(all(each["code"] for each in result["diagnostics"]))
            other = "fn broken(x: f32) -> f32 {\n    return y\n}\n" + SCALE
            self.assertTrue(worker.preview(other, "scale", "asm")["result"]["ok"], "an error elsewhere")
            target = worker.preview("manual kernel m(x: f32[8]) -> (y: f32[8]) {\n}\n", "m", "tile")["result"]
            self.assertFalse(target["ok"])

    def test_wrong_requests(self):
        with Worker() as worker:
            self.assertEqual(worker.ask("fly")["error"]["code"], "unknown-method")
            self.assertEqual(worker.preview(SCALE, "scale", "none")["error"]["code"], "unknown-stage")
            self.assertEqual(worker.preview(SCALE, "scale", "asm@a3")["error"]["code"], "unknown-stage")
            self.assertEqual(worker.preview(SCALE, "scale", "pto@a0")["result"]["error"]["code"], "no-target")
            self.assertEqual(worker.ask("feasibility", root="/t.ptl", files={"/t.ptl": SCALE}, entry="scale", target="a0")["result"]["error"]["code"], "no-target")
            self.assertEqual(worker.preview(SCALE, "nobody", "tile")["result"]["error"]["code"], "no-entry")
            missing = worker.ask("preview", root="/no/such.ptl", entry="x", stage="tile")["result"]
            self.assertEqual(missing["error"]["code"], "unreadable")
            for odd in [None, 3, [], {"a": 1}]:
                for key in ["root", "entry", "stage", "files", "bindings", "options", "offset", "begin", "defines", "target"]:
                    members = {"root": "/t.ptl", "files": {"/t.ptl": SCALE}, "entry": "scale", "stage": "tile", key: odd}
                    for method in ["preview", "hover", "facts", "feasibility", "mlir"]:
                        answer = worker.ask(method, **members)
                        self.assertTrue("result" in answer or "error" in answer)

    def test_broken_frames(self):
        with Worker() as worker:
            for garbage in [b"Content-Length: x\r\n\r\n", b"Hello\r\n\r\n", b"Content-Length: 3\r\n\r\n{a}",
                            b"Content-Length: 2\r\n\r\n[]", b"Content-Length: 99999999999999999999\r\n\r\n",
                            b"Content-Length: 40000\r\n\r\n" + b"[" * 40000]:
                worker.send_raw(garbage)
                self.assertEqual(worker.answer()["error"]["code"], "invalid")
            self.assertIn("residentBytes", worker.ask("status")["result"])
            worker.send_raw(b"\xff" * 5000)
            self.assertEqual(worker.answer()["error"]["code"], "invalid")

    def test_not_utf8(self):
        with Worker("--memory", "140") as worker:
            body = b'{"id":1,"method":"mlir","text":"\\ud800"}'
            worker.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.assertIsNotNone(worker.answer())

    def test_the_end_of_the_input_ends_it(self):
        with Worker() as worker:
            worker.process.stdin.close()
            self.assertEqual(worker.process.wait(timeout=10), 0)

    def test_it_ends_when_nobody_reads(self):
        """In a step that would never end, and between requests."""
        with Worker("--fault", "hang:optimise", "--timeout", "600000") as worker:
            worker.send({"id": 1, "method": "preview", "root": "/t.ptl", "files": {"/t.ptl": SCALE}, "entry": "scale", "stage": "asm"})
            while worker.receive()["progress"]["step"] != "translate":
                pass
            time.sleep(0.1)
            worker.process.stdout.close()
            self.assertEqual(worker.process.wait(timeout=5), 0)
        with Worker() as worker:
            worker.ask("status")
            worker.process.stdout.close()
            self.assertEqual(worker.process.wait(timeout=5), 0)

    def test_requests_of_a_file_are_answered(self):
        """The end of the input is no end of the reader."""
        body = json.dumps({"id": 1, "method": "preview", "root": "/t.ptl", "files": {"/t.ptl": SCALE}, "entry": "scale",
                           "stage": "asm"}).encode()
        done = subprocess.run([WORKER], input=b"Content-Length: %d\r\n\r\n" % len(body) + body, capture_output=True, timeout=20)
        self.assertIn(b'"ok":true', done.stdout)

    def test_shutdown(self):
        with Worker() as worker:
            self.assertIn("result", worker.ask("shutdown"))
            self.assertEqual(worker.process.wait(timeout=10), 0)

    def test_cancel(self):
        with Worker() as worker:
            worker.send_raw(b"".join(
                b"Content-Length: %d\r\n\r\n" % len(body) + body
                for body in [json.dumps({"id": 7, "method": "preview", "root": "/t.ptl", "files": {"/t.ptl": SCALE},
                                         "entry": "scale", "stage": "asm"}).encode(),
                             json.dumps({"cancel": 7}).encode()]))
            answer = worker.answer()
            self.assertEqual((answer["id"], answer["error"]["code"]), (7, "cancelled"))
            self.assertTrue(worker.preview(SCALE, "scale", "asm")["result"]["ok"])


    def test_cancel_within_a_step(self):
        path = str(ROOT / "examples/08_transformer.ptl")
        with Worker() as worker:
            for wanted in ["optimise", "assembly"]:
                worker.send({"id": wanted, "method": "preview", "root": path, "entry": "transformer", "stage": "asm"})
                while worker.receive()["progress"]["step"] != wanted:
                    pass
                start = time.monotonic()
                worker.send({"cancel": wanted})
                answer = worker.answer()
                self.assertEqual((answer["id"], answer["error"]["code"]), (wanted, "cancelled"))
                self.assertLess(time.monotonic() - start, 1)
            self.assertTrue(worker.ask("preview", root=path, entry="transformer", stage="tile")["result"]["ok"])


class LastWords(unittest.TestCase):
    def last_word(self, *arguments, **members):
        with Worker(*arguments) as worker:
            answer = worker.preview(SCALE, "scale", "asm", **members)
            return answer, worker.process.wait(timeout=10), worker.steps

    def test_a_hang_is_ended(self):
        for step in ["ptl-partition", "optimise", "assembly", "optimise: SROAPass"]:
            answer, code, steps = self.last_word("--fault", f"hang:{step}", timeoutMs=300)
            self.assertEqual((answer["error"]["code"], answer["error"]["step"], code), ("timeout", step, 124))

    def test_a_crash_says_where(self):
        for step in ["check", "build", "ptl-simplify", "vectorise", "translate"]:
            answer, code, _ = self.last_word("--fault", f"crash:{step}")
            self.assertEqual((answer["error"]["code"], answer["error"]["step"], code), ("crash", step, 125))

    def test_little_memory(self):
        """A limit just above what the process holds before it has done anything."""
        with Worker() as worker:
            worker.ask("stages")
            status = pathlib.Path(f"/proc/{worker.process.pid}/status").read_text()
        standing = int(re.search(r"VmPeak:\s+(\d+) kB", status).group(1)) // 1024
        path = str(ROOT / "examples/08_transformer.ptl")
        with Worker("--memory", str(standing + 2)) as worker:
            answer = worker.ask("preview", root=path, entry="transformer", stage="asm")
            code = worker.process.wait(timeout=10)
        self.assertEqual((answer["error"]["code"], code), ("crash", 125))

    def test_steps_are_told(self):
        with Worker() as worker:
            worker.preview(SCALE, "scale", "asm")
            expected = ["check", "build", "ptl-simplify", "ptl-partition", "vectorise", "translate", "optimise", "assembly"]
            self.assertEqual([step for step in expected if step in worker.steps], expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
