"""The C++ that runs programs on the host: compiled by Clang in the form for CPU simulation, with kernels that only say how
they were launched, and run."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import ROOT, Case, Tools, run_cases

LAUNCH = re.compile(r'extern "C" void launch_(\w+)\(([^)]*)\) \{')


def recorded_launch(name, parameters):
    """In place of a launch, which the library would be needed for: prints its name and its numbers."""
    words = [word.strip().rsplit(" ", 1) for word in " ".join(parameters.split()).split(",")]
    numbers = [name for kind, name in words if kind == "int64_t"]
    shown = "".join(f" {number}=%lld" for number in numbers)
    values = "".join(f", (long long){number}" for number in numbers)
    return f"""namespace ptl_{name} {{
extern "C" void launch_{name}({parameters}) {{ std::printf("{name} on %u{shown}\\n", blocks{values}); }}
}}
"""


def run(tools, file, entry, call=""):
    """The launches of `run_entry`, a line each; nothing if it is only to be compiled."""
    outcome = tools.run("build", ROOT / "examples" / file, "--target", "a3", "--entry", entry, "--emit=cpp", "-o", "-")
    if outcome.code != 0:
        raise AssertionError(outcome.stderr)
    text = outcome.stdout
    host = text[text.rindex(f"namespace ptl_{entry} {{") :]
    main = f'int main() {{ static char m[1 << 22]; return ptl_{entry}::run_{entry}(nullptr, 3{call}); }}' if call else ""
    includes = text[: text.index("namespace ptl_")].replace("#include <pto/pto-inst.hpp>\n", "")
    source = includes + "".join(recorded_launch(*found) for found in LAUNCH.findall(text)) + host + main
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "host.cpp"
        path.write_text(source)
        only = [] if call else ["-fsyntax-only"]
        command = ["clang++-19", "-std=c++20", "-Wall", "-Wno-unused-variable", "-Werror", "-D__CPU_SIM", *only]
        compiled = subprocess.run([*command, str(path), "-o", f"{folder}/host"], capture_output=True, text=True)
        if compiled.returncode != 0:
            raise AssertionError(compiled.stderr[:3000])
        if not call:
            return []
        done = subprocess.run([f"{folder}/host"], capture_output=True, text=True)
        return [*done.stdout.splitlines(), *done.stderr.splitlines(), f"returns {done.returncode}"]


def compiles(tools, file, entry):
    run(tools, file, entry)


def expect(actual, expected):
    if actual != expected:
        raise AssertionError("it says\n" + "\n".join(actual))


def split_k(tools):
    expect(
        run(tools, "09_split_k.ptl", "split_k", ", m, m, m, 40, 70, 512"),
        [
            "split_k_0 on 3 M=40 K=512 N=70",
            "split_k_1 on 6 M=40 N=70",
            "split_k_2 on 6 M=40 N=70",
            "returns 0",
        ],
    )


def requirements(tools):
    lines = run(tools, "09_split_k.ptl", "split_k", ", m, m, m, 40, 70, 511")
    expect(lines, ["`split_k` needs `K % 8 == 0`: `K % 8` is 7, `K` is 511", "returns 1"])


def loops(tools):
    """Layers of a transformer: twice as many launches for twice as many."""
    arguments = ", m, m, m, m, m, m, m, m, m, m, 21, 32, 48, 4, "
    one, three = (run(tools, "08_transformer.ptl", "transformer", arguments + layers) for layers in "13")
    if one[-1] != "returns 0" or three[-1] != "returns 0" or len(one) < 10:
        raise AssertionError("\n".join(one))
    inside = len(three) - len(one)
    if inside % 2 or inside // 2 < 5:
        raise AssertionError(f"{len(one) - 1} launches for one layer, {len(three) - 1} for three")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    tools = Tools(parser.parse_args().build)
    programs = {
        "05_swiglu_mlp.ptl": "swiglu_mlp",
        "10_mixture_of_experts.ptl": "mixture_of_experts",
        "12_indexer_prolog.ptl": "indexer_prolog",
    }
    cases = [Case(entry, lambda f=file, e=entry: compiles(tools, f, e)) for file, entry in programs.items()]
    cases += [Case(each.__name__, lambda each=each: each(tools)) for each in (split_k, requirements, loops)]
    return run_cases("host_code", cases)


if __name__ == "__main__":
    sys.exit(main())
