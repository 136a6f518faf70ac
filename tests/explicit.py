"""What `ptlc lower` writes is the program: every kernel, program and function of the examples is written out with its
tiles, and for chips with its buffers and events; those of the language's tests pass their tests with their tiles. The text is formatted, checks without warnings (manual kernels are
proved by that), is written out as itself again (so it compiles to the same, names apart), and gives the same results,
bit for bit: on the CPU, and manual kernels on the simulator. Text at tile level for a chip compiles to the buffers, events and
instructions of its source: their text is the same. All comments in a declaration are in its text."""
import concurrent.futures
import itertools
import json
import pathlib
import re
import tempfile
import threading

from harness import ROOT, Case, Tools, difference

CALLABLE = re.compile(r"^(?:pub )?(?:fn|kernel|program) (\w+)", re.M)
# What the compiler proposes for an entry that leaves something open: see `missingDefines`.
DEFINE = re.compile(r"-D (\S+?)(?=[`\s]|$)")
NOT_AN_ENTRY = "E0807"
CHIPS = ("a3", "a5")
# Lengths that meet what the entry asks for; others get primes, which no tile size divides.
LENGTHS = {
    "transformer": {"S": 17, "D": 32, "F": 48, "H": 4, "L": 2},
    "heads": {"D": 32, "H": 4},
    "flash_attention_causal": {"S": 70, "T": 131},
    "slices": {"K": 129, "P": 3},
    "split_k": {"K": 136},
    "added": {"K": 29},  # the order of atomic sums is that of the threads: one summand
    "turn": {"R": 16},
    "scaled": {"R": 37, "C": 43},
    "scaled_whole": {"R": 37, "C": 43},
    "largest": {"N": 43},
    "read_later": {"T": 128},
    "paged_attention": {"B": 3, "H": 5, "P": 19, "J": 43},
    "gated_halves": {"M": 37, "N": 142},
    "indexer_prolog": {"T": 1, "D": 32, "R": 16, "ROWS": 71},
}
# What requirements ask of data.
VALUES = {
    "paged_attention": {
        "pages": "random(seed: 3, low: 0, high: 19)",
        "length": "random(seed: 4, low: 1, high: 2000)",
    },
    "indexer_prolog": {"row": "random(seed: 3, low: 0, high: 71)"},
    "short_rows": {"at": "random(seed: 3, low: 0, high: 5)"},
}
PRIMES = (37, 71, 131, 43, 19)


def sources() -> list[pathlib.Path]:
    return sorted((ROOT / "examples").glob("*.ptl")) + sorted((ROOT / "tests/chips").glob("*.ptl"))


def lower(tools: Tools, path, entry: str, *arguments):
    level = () if "--to" in arguments else ("--to", "tile")
    return tools.run("lower", *level, path, "--entry", entry, "--diagnostics=short", *arguments)


class Once:
    """Does once what several cases ask for, whichever comes first; the others wait for it."""

    def __init__(self):
        self.lock, self.results = threading.Lock(), {}

    def __call__(self, key, work):
        with self.lock:
            is_first = key not in self.results
            result = self.results.setdefault(key, concurrent.futures.Future())
        if is_first:
            try:
                result.set_result(work())
            except BaseException as error:
                result.set_exception(error)
        return result.result()


once = Once()


def source_to_manual(tools: Tools, path, entry: str, chip: str, *defines):
    """What is written of an entry of the sources for a chip."""
    return once((path, entry, chip, defines), lambda: lower(tools, path, entry, "--to", "manual", "--target", chip, *defines))


def defines_for(stderr: str) -> list[str]:
    """Small values for what is open; the lengths of what is compiled for each value are multiples of a line."""
    defines = []
    for define in DEFINE.findall(stderr):
        name, _, value = define.partition("=")
        leading = name.endswith("..")
        defines.append(name + "=" + ("2" if leading else value if value and not value.isdigit() else "64"))
    return [word for define in defines for word in ("-D", define)]


taken = {}  # the defines that an entry was found to take, by file and entry


def lowered(path, entry, write):
    """What `write` writes of an entry, called with the defines that it takes, and these. Those that another form of the entry takes are
    tried first, so that they are found once."""
    defines = taken.get((path, entry), [])
    outcome = write(*defines)
    wanted = defines_for(outcome.stderr) if outcome.code and "-D " in outcome.stderr else []
    if wanted and wanted != defines:
        defines = taken[path, entry] = wanted
        outcome = write(*defines)
    return outcome, defines


# ---- Texts that are alike ----

TOKEN = re.compile(r"//[^\n]*|\w+|[^\s\w]")
DECLARES = ("let", "var", "buffer", "event", "pipe", "for")
DECLARED = re.compile(r"\b(?:let|var|buffer|event|pipe|for|kernel)\s+(\w+)|\b(\w+): ")
SEVERAL = re.compile(r"\b(?:let|var)\s+\(([^)]*)\)")


def code_tokens(text: str) -> list[str]:
    """Without comments, and without the commas behind lists that are broken into lines."""
    tokens = [token for token in TOKEN.findall(text) if not token.startswith("//")]
    return [a for a, b in zip(tokens, tokens[1:] + [""]) if a != "," or b not in (")", "]")]


def declared_in(text: str) -> set[str]:
    names = {name for names in DECLARED.findall(text) for name in names if name}
    return names | {name for names in SEVERAL.findall(text) for name in re.findall(r"\w+", names)}


def renamed_difference(first: str, second: str):
    """Where two texts differ in more than the names that they declare."""
    tokens = code_tokens(first), code_tokens(second)
    declared = [declared_in(text) for text in (first, second)]
    to, back = {}, {}
    for i, (a, b) in enumerate(zip(*tokens)):
        same = a == b
        is_call = same and tokens[0][i + 1 : i + 2] == ["("]  # a function may have the name of a variable
        if i and all(each[i - 1] in DECLARES for each in tokens):  # from here on the name is another one's
            back.pop(to.pop(a, None), None)
            to.pop(back.pop(b, None), None)
        is_pipe = same and tokens[0][i - 1] in (":", ">")  # of an event
        if a in declared[0] and b in declared[1] and not is_call and not is_pipe:
            same = to.setdefault(a, b) == b and back.setdefault(b, a) == a
        if a == b and a in ("kernel", "program"):  # names of parameters are those of one declaration
            to, back = {}, {}
        if not same:
            return "\n<> ".join(" ".join(each[max(0, i - 20) : i + 10]) for each in tokens)
    return None if len(tokens[0]) == len(tokens[1]) else "one text is longer"


def written_again(tools: Tools, text: str, entry: str, folder: pathlib.Path, *arguments):
    """What is wrong with the text as source."""
    path = folder / "lowered.ptl"
    path.write_text(text)
    formatted = tools.run("fmt", "--check", path)
    if formatted.code:
        return f"the text is not formatted:\n{text}"
    checked = tools.run("check", "--diagnostics=short", path)
    if checked.code or checked.stderr:
        return f"the text does not check:\n{checked.stderr}\n{text}"
    again = lower(tools, path, entry, *arguments)
    if again.code:
        return f"the text cannot be written out again:\n{again.stderr}\n{text}"
    if not renamed_difference(text, again.stdout):
        return None
    return difference(text, again.stdout, f"{entry}, written out again")


def inputs_of(tools: Tools, path, entry: str, defines: list[str]):
    """Arguments of `ptlc run`, and the names of its results."""
    words = ("build", path, "--entry", entry, "--emit=manifest", "-o", "-", *defines)
    manifest = once(words, lambda: tools.run(*words))
    described = json.loads(manifest.stdout)["entries"][0]
    lengths, primes = LENGTHS.get(entry, {}), itertools.cycle(PRIMES)
    words = []
    for dim in described["dims"]:
        fixed = 64 if dim.get("static") else next(primes)
        words.append(f"{dim['name']}={lengths.get(dim['name'], fixed)}")
    for seed, param in enumerate(described["params"]):
        given = VALUES.get(entry, {}).get(param["name"], f"random(seed: {seed})")
        words.append(f"{param['name']}=" + (given if "shape" in param else "1"))
    results = [each["name"] for each in described["outputs"] + described["params"] if "shape" in each]
    inouts = [each["name"] for each in described["params"] if each.get("inout")]
    return words, [name for name in results if name in inouts or name in [o["name"] for o in described["outputs"]]]


def results_of(tools: Tools, path, entry: str, words: list[str], names: list[str], folder: pathlib.Path, tag: str, *options):
    files = [folder / f"{tag}_{name}.npy" for name in names]
    outputs = [word for name, file in zip(names, files) for word in ("-o", f"{name}={file}")]
    outcome = tools.run("run", path, "--entry", entry, "--diagnostics=short", *options, *words, *outputs)
    if outcome.code:
        return None, f"{path} does not run with {' '.join(words)}:\n{outcome.stderr}"
    return [file.read_bytes() for file in files], None


def same_results(tools: Tools, path, text_path, entry: str, defines: list[str], folder: pathlib.Path, *options):
    words, names = inputs_of(tools, path, entry, defines)
    expected, problem = results_of(tools, path, entry, words, names, folder, "given", *options)
    if problem:
        return problem
    # The lengths that were fixed are no dimensions of what was written.
    header = re.search(rf"\b{entry}(?:\[(.*?)\])?\(", text_path.read_text())
    dims = re.findall(r"\w+", header.group(1) or "") if header else []
    own = [word for word in words if "random" in word or word.split("=")[0] in dims or word.endswith("=1")]
    actual, problem = results_of(tools, text_path, entry, own, names, folder, "written", *options)
    if problem:
        return problem
    different = [name for name, a, b in zip(names, expected, actual) if a != b]
    return f"`{', '.join(different)}` differs from that of the source" if different else None


def entry_case(tools: Tools, path: pathlib.Path, entry: str) -> Case:
    def run():
        outcome, defines = lowered(path, entry, lambda *defines: lower(tools, path, entry, *defines))
        if NOT_AN_ENTRY in outcome.stderr:
            return None
        if outcome.code:
            return outcome.stderr
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            problem = written_again(tools, outcome.stdout, entry, folder) or lost_comments(path, entry, outcome.stdout)
            if problem or defines and ".." in " ".join(defines):
                return problem
            return same_results(tools, path, folder / "lowered.ptl", entry, defines, folder)

    return Case(f"explicit/{path.relative_to(ROOT)}/{entry}", run)


def chip_case(tools: Tools, path: pathlib.Path, entry: str, chip: str) -> Case:
    def run():
        outcome, defines = lowered(path, entry, lambda *defines: lower(tools, path, entry, "--target", chip, *defines))
        if outcome.code:  # what a chip cannot do is tested where it is refused
            built = tools.run(
                "build", path, "--entry", entry, "--target", chip, "--emit=block", "-o", "-", *defines
            )
            return outcome.stderr if not built.code else None
        with tempfile.TemporaryDirectory() as folder:
            problem = written_again(tools, outcome.stdout, entry, pathlib.Path(folder), "--target", chip)
            if problem:
                return problem
            # It compiles to the same buffers, events and instructions.
            text = pathlib.Path(folder) / "lowered.ptl"
            given = source_to_manual(tools, path, entry, chip, *defines)
            written = lower(tools, text, entry, "--to", "manual", "--target", chip)
            if given.code or written.code or written.stderr:
                return f"at block level: {given.stderr}{written.stderr}\n{outcome.stdout}"
            # The depth of a pipe between sections is not said at tile level.
            problem = renamed_difference(*(DEPTH.sub("depth", each.stdout) for each in (given, written)))
            return f"{entry} compiles to something else:\n   {problem}" if problem else None

    return Case(f"explicit/{path.relative_to(ROOT)}/{entry}.{chip}", run)


DEPTH = re.compile(r"\bdepth \d+")

# ---- Comments ----

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def comments_of(path: pathlib.Path, entry: str) -> list[str]:
    """Those in the body of a declaration, which ends with a brace at the beginning of a line, or on its own line."""
    text = path.read_text()
    begin = re.search(rf"^(?:pub )?(?:fn|kernel|program) {entry}\b", text, re.M).start()
    end = re.search(r"^\}|^[^\n]*\{[^\n]*\}$", text[begin:], re.M).end()
    return [comment.split("\n")[0].rstrip() for comment in COMMENT.findall(text[begin : begin + end])]


def lost_comments(path: pathlib.Path, entry: str, text: str):
    lost = [comment for comment in comments_of(path, entry) if comment not in text]
    return f"comments are lost: {lost}\n{text}" if lost else None


# ---- Manual text ----

UNPROVED = re.compile(r"E09\d\d|W1901")


def verdicts(text: str) -> set[str]:
    return set(UNPROVED.findall(text))


def manual_text(tools: Tools, path, entry: str, text_path: pathlib.Path, machine: list[str], defines: list[str]):
    """What is wrong with the text of a manual kernel as source."""
    text = text_path.read_text()
    if tools.run("fmt", "--check", text_path).code:
        return f"the text is not formatted:\n{text}"
    checked = tools.run("check", "--diagnostics=short", text_path)
    if checked.code or checked.stderr:
        # What cannot be proved of the kernel cannot be proved of its text, which is refused then.
        proof = tools.run("build", path, "--entry", entry, *machine, "--emit=proof", "-o", "-", *defines)
        found = [line for line in checked.stderr.splitlines() if ": " in line]
        if not all(verdicts(line) and verdicts(line) <= verdicts(proof.stdout + proof.stderr) for line in found):
            return f"the text does not check:\n{checked.stderr}\n{text}"
        if checked.code:
            return None
    again = lower(tools, text_path, entry, "--to", "manual", *machine)
    if again.code:
        return f"the text cannot be written out again:\n{again.stderr}\n{text}"
    problem = renamed_difference(text, again.stdout)
    return f"{entry}, written out again, differs:\n   {problem}" if problem else lost_comments(path, entry, text)


def manual_case(tools: Tools, path: pathlib.Path, entry: str, chip: str) -> Case:
    machine = ["--target", chip]

    def run():
        outcome, defines = lowered(path, entry, lambda *defines: source_to_manual(tools, path, entry, chip, *defines))
        if outcome.code:
            built = tools.run("build", path, "--entry", entry, *machine, "--emit=block", "-o", "-", *defines)
            return outcome.stderr if not built.code else None
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            text_path = folder / "lowered.ptl"
            text_path.write_text(outcome.stdout)
            problem = manual_text(tools, path, entry, text_path, machine, defines)
            if problem or chip != CHIPS[0] or (defines and ".." in " ".join(defines)):
                return problem
            problem = same_results(tools, path, text_path, entry, defines, folder, *machine, "--sim")
            proof = ("build", path, "--entry", entry, *machine, "--emit=proof", "-o", "-", *defines)
            if problem and verdicts(problem) and verdicts(problem) <= verdicts(tools.run(*proof).stdout):
                return None
            return problem

    return Case(f"explicit/{path.relative_to(ROOT)}/{entry}.{chip}.manual", run)


# ---- The language's own tests, of what is written out ----

DECLARATION = re.compile(r"^(?:///[^\n]*\n)*(?:pub )?(?:kernel|program) (\w+)(?:[^\n]*\{[^\n]*\}\n|.*?^\}\n)", re.M | re.S)
DECLARES_NAME = re.compile(r"^(?:pub )?(?:fn|kernel|program) (\w+)", re.M)


def with_tiles(tools: Tools, path: pathlib.Path) -> tuple[str, int]:
    """A file with its kernels and programs written out, and how many are. What has tunables or schedules stays: tests set
    them. So does what calls kernels of the file, which its text declares again."""
    text, count = path.read_text(), 0
    for found in reversed(list(DECLARATION.finditer(text))):
        entry, others = found.group(1), text[: found.start()] + text[found.end() :]
        is_open = "tune " in found.group(0) or re.search(rf"^schedule {entry}\b", text, re.M)
        if is_open or not re.search(rf"\b{entry}\(", others):
            continue
        outcome = lower(tools, path, entry)
        declared = set(DECLARES_NAME.findall(outcome.stdout)) - {entry}
        if outcome.code == 0 and not declared & set(DECLARES_NAME.findall(others)):
            text, count = text[: found.start()] + outcome.stdout + text[found.end() :], count + 1
    return text, count


def language_case(tools: Tools, path: pathlib.Path) -> Case:
    def run():
        text, count = with_tiles(tools, path)
        if count == 0:
            return None
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / path.name
            written.write_text(re.sub(r'import "', f'import "{path.parent}/', text))
            outcome = tools.run("test", written, "--target", "cpu", "--diagnostics=short")
            return f"{count} declarations written out:\n{outcome.stdout}{outcome.stderr}\n{text}" if outcome.code else None

    return Case(f"explicit/{path.relative_to(ROOT)}", run)


def cases(tools: Tools, update: bool) -> list[Case]:
    result = [language_case(tools, path) for path in sorted((ROOT / "tests/language").glob("*.ptl"))]
    for path in sources():
        for entry in CALLABLE.findall(path.read_text()):
            result.append(entry_case(tools, path, entry))
            result += [chip_case(tools, path, entry, chip) for chip in CHIPS]
            result += [manual_case(tools, path, entry, chip) for chip in CHIPS]
    return result
