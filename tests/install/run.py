"""An installation that was moved, used by those for whom it is: `run.py BUILD`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import ROOT, Case, run_cases

BUILD = pathlib.Path(sys.argv[1]).resolve()
CONSUMER = ROOT / "tests/install/consumer"
FOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(FOLDER.name)
# Nothing of the checkout helps.
CLEAN = {"PATH": os.environ["PATH"], "HOME": str(WORK), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PTL_CACHE": str(WORK / "cache")}


def run(*command, env=(), cwd=WORK, shell_input=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd, env={**CLEAN, **dict(env)},
                          input=shell_input)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(actual, wanted, what):
    assert wanted in actual, f"{what}: `{wanted}` is missing in\n{actual}"


def installed():
    """The prefix: installed at one place, moved to another, so that nothing may remember where it was."""
    first, second = WORK / "first", WORK / "moved/here"
    run("cmake", "--install", BUILD, "--prefix", first)
    second.parent.mkdir()
    first.rename(second)
    return second


PREFIX = installed()
# The machines whose names begin so.
MACHINES = sorted(file.stem for file in (ROOT / "machines").glob("a*.json"))


def programs():
    ptlc = PREFIX / "bin/ptlc"
    expect(run(ptlc, "run", PREFIX / "share/ptl/examples/02_softmax.ptl", "--entry", "softmax_rows", "x=ones", "R=2", "C=4"),
           "0.25", "ptlc run")
    # The standard library is found, and a chip's machine file.
    run(ptlc, "build", PREFIX / "share/ptl/examples/08_transformer.ptl", "--target", "a3", "--emit=pto", "-o", WORK / "x.pto")
    run(PREFIX / "bin/ptl-lsp", "--check", PREFIX / "share/ptl/std/nn.ptl")
    for file in ("bin/ptlc", "bin/ptl-lsp", "bin/ptlc-ir", "lib/libptl_rt.so"):
        needs = subprocess.run(["ldd", PREFIX / file], capture_output=True, text=True, check=True).stdout
        names = {line.split()[0] for line in needs.splitlines() if "=>" in line}
        assert names <= {"libc.so.6", "libm.so.6"}, f"{file} needs {names}"


def python():
    program = """
import numpy as np, ptl, sys
x = np.arange(4, dtype=np.float32)
print(ptl.load(sys.argv[1]).vector_add(x, x))
"""
    printed = run("/usr/bin/python3", "-c", program, PREFIX / "share/ptl/examples/01_vector_add.ptl",
                  env={"PYTHONPATH": str(PREFIX / "lib/python3/dist-packages"), "PATH": "/usr/bin:/bin"})
    expect(printed, "[0. 2. 4. 6.]", "the Python module")


def tour():
    printed = run("bash", PREFIX / "share/ptl/examples/demo.sh", PREFIX)
    assert printed.count("agrees") == 6, printed


def components():
    """A component brings what it says and no more."""
    for component, has, lacks in (("compiler", "bin/ptlc-ir", "bin/ptl-lsp"), ("runtime", "lib/libptl_rt.so", "bin/ptlc"),
                                  ("development", "include/ptl/ptl.h", "lib/libptl_rt.so")):
        prefix = WORK / component
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
        assert (prefix / has).exists() and not (prefix / lacks).exists(), f"component {component}"
        shutil.rmtree(prefix)


def consumer():
    """find_package(ptl) and ptl_add_library, with both of CMake's usual generators."""
    for generator, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
        if not shutil.which(tool):
            continue
        source, build = WORK / f"source-{tool}", WORK / f"build-{tool}"
        shutil.copytree(CONSUMER, source)
        run("cmake", "-S", source, "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_C_COMPILER=clang-19")
        run("cmake", "--build", build)
        expect(run(build / "consumer"), "1 4 7 10", "the consumer")
        # What is imported is looked at again.
        part = source / "parts/offset.ptl"
        part.write_text(part.read_text().replace("1.0", "2.0"))
        os.utime(part, (os.stat(build / "consumer").st_mtime + 2,) * 2)
        run("cmake", "--build", build)
        expect(run(build / "consumer"), "2 5 8 11", "the consumer after a change")


def pkg_config():
    tool = shutil.which("pkg-config")
    assert tool, "pkg-config (of the package pkgconf) is missing"
    flags = run(tool, "--cflags", "--libs", "ptl", env={"PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig")}).split()
    library, program = WORK / "libsoftmax.so", WORK / "embed"
    run(PREFIX / "bin/ptlc", "build", PREFIX / "share/ptl/examples/02_softmax.ptl", "-D", "softmax_rows.C=100", "-o", library)
    run("clang-19", "-std=c11", PREFIX / "share/ptl/examples/embed/main.c", *flags, f"-Wl,-rpath,{PREFIX}/lib", "-lm", "-o", program)
    expect(run(program, library), "softmax_rows", "the program of examples/embed")


def ask_bash(*words):
    script = PREFIX / "share/bash-completion/completions/ptlc"
    return run("bash", "--norc", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ptlc; printf "%s\\n" "${COMPREPLY[@]}"',
               "bash", script, *words).split()


def bash():
    (WORK / "kernel.ptl").write_text("")
    (WORK / "kernel.txt").write_text("")
    for words, wanted in ((["ptlc", "la"], []), (["ptlc", "lo"], ["lower"]), (["ptlc", "build", "--ta"], ["--target"]),
                          (["ptlc", "build", "--target", "a"], MACHINES), (["ptlc", "check", "--target", "=", "a"], MACHINES),
                          (["ptlc", "lower", "--to", "=", ""], ["tile", "manual"]), (["ptlc", "lower", "--to", "="], ["tile", "manual"]),
                          (["ptlc", "check", "ker"], ["kernel.ptl"]), (["ptlc", "explain", "E031"], None), (["ptlc", "reduce", "ker"], ["kernel.ptl"]),
                          (["ptlc", "build", "-O", ""], ["0", "1", "2", "3"])):
        found = ask_bash(*words)
        assert found == wanted if wanted is not None else "E0312" in found, f"{words}: {found}"
    # Every command offers exactly the options that its help names.
    for command in ask_bash("ptlc", ""):
        if command.startswith("-"):
            continue
        helped = set(re.findall(r"^  (?:-\w, )?(--?[\w-]+)", run(PREFIX / "bin/ptlc", command, "--help"), re.M))
        offered = set(ask_bash("ptlc", command, "-"))
        assert offered == helped, f"{command}: {offered ^ helped}"


def fish():
    script = PREFIX / "share/fish/vendor_completions.d/ptlc.fish"
    def ask(line):
        answer = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', script, line)
        return [each.split("\t")[0] for each in answer.splitlines()]
    assert ask("ptlc lo") == ["lower"], ask("ptlc lo")
    assert ask("ptlc build --targ") == ["--target"], ask("ptlc build --targ")
    assert set(ask("ptlc build --target a")) == set(MACHINES), ask("ptlc build --target a")
    assert "--to" not in ask("ptlc check --t"), ask("ptlc check --t")


def zsh():
    """A zsh in a terminal of its own completes, as it does for a user."""
    program = r"""
zmodload zsh/zpty
zpty shell 'TERM=dumb PS1= zsh -f -i'
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; setopt no_beep; LISTMAX=1000; echo rea'dy'"
zpty -r shell out '*ready*'
zpty -w -n shell "ptlc lo"$'\t'
zpty -r -m shell out '*lower*' && echo completed: lower
zpty -w -n shell "--to=ti"$'\t'
zpty -r -m shell out '*tile*' && echo completed: tile
zpty -d shell
"""
    answer = subprocess.run(["zsh", "-f", "-c", program, "zsh", PREFIX / "share/zsh/site-functions"], capture_output=True,
                            text=True, env=CLEAN, cwd=WORK, timeout=60).stdout
    expect(answer, "completed: lower", "zsh")
    expect(answer, "completed: tile", "zsh")


def manual():
    pages = PREFIX / "share/man/man1"
    commands = [word for word in ask_bash("ptlc", "") if not word.startswith("-")]
    assert sorted(page.name for page in pages.iterdir()) == sorted(["ptlc.1", "ptl-lsp.1"] + [f"ptlc-{name}.1" for name in commands])
    for page in pages.iterdir():
        text = page.read_text()
        assert text.startswith(".TH PTL") and ".SH SYNOPSIS" in text, page.name
    expect((pages / "ptlc-build.1").read_text(), "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIPATH\\fR", "ptlc-build.1")
    for option in ("\\-\\-stdio", "\\-\\-port N", "\\-\\-check FILE...", "\\-\\-version", "\\-\\-help"):
        expect((pages / "ptl-lsp.1").read_text(), f".TP\n\\fB{option}\\fR\n", "ptl-lsp.1")
    if shutil.which("man"):
        for page in pages.iterdir():
            done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, env={**CLEAN, "MANWIDTH": "80"})
            assert done.returncode == 0 and not done.stderr, f"{page.name}: {done.stderr}"


KINDS = {"programs": programs, "python": python, "tour": tour, "components": components, "consumer": consumer, "pkg_config": pkg_config,
         "completion_bash": bash, "completion_fish": fish, "completion_zsh": zsh, "manual": manual}


def checked(action):
    def run_it():
        try:
            action()
        except AssertionError as error:
            return str(error)
        return None
    return run_it


if __name__ == "__main__":
    code = run_cases("install", [Case(name, checked(action)) for name, action in KINDS.items()])
    FOLDER.cleanup()
    sys.exit(code)
