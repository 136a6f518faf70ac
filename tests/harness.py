"""What every kind of test shares: cases that run in parallel, a report, counts for `./dev test`."""
import concurrent.futures
import copy
import dataclasses
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Callable, Optional

from served import Ended, served

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 120  # seconds for one command
# No test finds code that an earlier one has left.
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PTL_STD": str(ROOT / "std"), "PTL_CACHE": "off"}


@dataclasses.dataclass
class Outcome:
    """Of one command."""

    code: int
    stdout: str
    stderr: str


@dataclasses.dataclass
class Case:
    """One test. `run` gives nothing if all is well, else the text to show."""

    name: str
    run: Callable[[], Optional[str]]


class Tools:
    """The built programs."""

    def __init__(self, build: pathlib.Path):
        self.build = build.resolve()
        self.environment = {}
        self.in_own_process = False

    def in_processes(self) -> "Tools":
        """The same programs, with a process for each command: for what is about the process, such as its memory, threads and end."""
        tools = copy.copy(self)
        tools.in_own_process = True
        return tools

    def keeping(self, folder) -> "Tools":
        """The same programs, which keep compiled code in a folder: for a test that calls the same code with many data."""
        tools = copy.copy(self)
        tools.environment = {"PTL_CACHE": str(folder)}
        return tools

    def path(self, name: str) -> pathlib.Path:
        return self.build / "bin" / name

    def run(self, *arguments, cwd=None, stdin="", env=None, binary="ptlc") -> Outcome:
        """Runs `ptlc` (or another program of ours). Colours are off, messages are not translated. Commands without an environment or input
        of their own run in a process that stays."""
        words = [*map(str, arguments)]
        is_served = binary == "ptlc" and not (self.in_own_process or env or stdin)
        try:
            done = is_served and served(self.path("ptlc-ir"), {**ENVIRONMENT, **self.environment}, words, str(cwd or os.getcwd()), TIMEOUT)
        except Ended:
            alone = self.in_processes().run(*words, cwd=cwd)
            if alone.code in range(4):
                return Outcome(-1, "", f"the process that ran this command after others ended; one of its own does not: {words}\n")
            return alone
        if done:
            return Outcome(done[0], done[1].decode(errors="replace"), done[2].decode(errors="replace"))
        environment = {**ENVIRONMENT, **self.environment, **(env or {})}
        try:
            done = subprocess.run(
                [str(self.path(binary)), *words],
                cwd=cwd,
                input=stdin.encode() if isinstance(stdin, str) else stdin,
                capture_output=True,
                timeout=TIMEOUT,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return Outcome(-1, "", f"no end after {TIMEOUT} s\n")
        except OSError as error:
            return Outcome(-1, "", f"{error}\n")
        return Outcome(
            done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )

    def codes(self, path, severity="error", command="check", arguments=()) -> tuple[list[str], Outcome]:
        """The codes that a command reports for a file, and all that it printed."""
        outcome = self.run(command, "--diagnostics=json", *arguments, path)
        start = outcome.stdout.find('{\n  "version"')
        try:
            document = json.loads(outcome.stdout[max(start, 0) :])
        except ValueError:
            return ["no document"], outcome
        found = [each["code"] for each in document["diagnostics"] if each["severity"] == severity]
        return found, outcome


def in_folders(kind, tests, run) -> list[Case]:
    """A case for each test function: `run(test, folder)` is given a folder that is gone afterwards."""

    def case(test) -> Case:
        def within():
            with tempfile.TemporaryDirectory() as folder:
                return run(test, pathlib.Path(folder))

        return Case(f"{kind}/{test.__name__}", within)

    return [case(test) for test in tests]


def in_words(functions, *given) -> list[tuple[str, Callable]]:
    """A name and what to run for each function, which is called with `given`: the name is the function's, in words."""
    return [(each.__name__.replace("_", " "), lambda each=each: each(*given)) for each in functions]


def expect(condition, *context) -> None:
    """Fails with `context`, a line each, unless the condition holds."""
    if not condition:
        raise AssertionError("\n".join(map(str, context)))


def difference(expected: str, actual: str, name: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), f"{name} (expected)", f"{name} (actual)", lineterm="", n=3
    )
    return "\n".join(lines)


def run_cases(kind: str, cases: list[Case], at_once: Optional[int] = None) -> int:
    """Runs all cases, prints what failed and the counts; 0 if all is well. `at_once` is how many run side by side: as many as there are
    processors, but more where cases mostly wait for something."""

    def guarded(case: Case) -> Optional[str]:
        try:
            return case.run()
        except Exception as error:  # a broken test must not hide the others
            return f"{type(error).__name__}: {error}"

    with concurrent.futures.ThreadPoolExecutor(at_once or os.cpu_count()) as pool:
        results = list(pool.map(guarded, cases))
    failures = [(case, text) for case, text in zip(cases, results) if text]
    for case, text in failures:
        print(f"FAILED {case.name}\n{text}\n")
    print(f"{kind}: {len(cases) - len(failures)} passed, {len(failures)} failed")
    folder = os.environ.get("PTL_TEST_RESULTS")
    if folder:
        with open(os.path.join(folder, f"{kind}.json"), "w") as out:
            json.dump({"tests": len(cases), "failures": len(failures)}, out)
    sys.stdout.flush()
    return 1 if failures else 0
