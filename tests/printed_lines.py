"""What kernels print on simulated chips is what they print on the processor. `printed_lines.py BUILD`."""
import pathlib
import re
import sys

import numpy as np
from harness import Tools, expect, in_folders, run_cases

CHIPS = ("a2", "a3", "a5")

KERNELS = {
    "of rows": (
        """kernel k[M, static N](x: f32[M, N], n: int) -> (y: f32[M, N])
{
    parallel i in tiles(M, 4) {
        let t = x[i, :] * 2.0
        print("rows", t, "behind")
        print("largest", max(t, axis: 1), "of", sum(t), N, n)
        print("where", t > 3.0, i32(t, round: .down), f16(t))
        print("here")
        y[i, :] = t
    }
}
""",
        {"x": np.arange(22, dtype="f4").reshape(11, 2), "n": 3},
    ),
    "of elements": (
        """kernel k[N](x: i32[N]) -> (y: i32[N])
{
    parallel i in 0..N {
        let v = x[i]
        if v > 2 { print(v, "at", i) }
        y[i] = v + 1
    }
}
""",
        {"x": np.arange(7, dtype="i4")},
    ),
    "in loops": (
        """kernel k[N](x: f32[N]) -> (y: f32[N])
{
    parallel i in tiles(N, 8) {
        var t = x[i]
        for j in 0..3 {
            print(j, t)
            t = t + 0.5
        }
        var n = 0
        while n < 2 {
            n = n + 1
            print("round", n)
        }
        y[i] = t
    }
}
""",
        {"x": np.arange(13, dtype="f4")},
    ),
    "of tensors of three axes": (
        """kernel k(x: i16[5, 3, 4]) -> (y: i16[5, 3, 4])
{
    parallel i in tiles(5, 2) {
        print("x", x[i, :, :])
        y[i, :, :] = x[i, :, :] + 1
    }
}
""",
        {"x": np.arange(60, dtype="i2").reshape(5, 3, 4)},
    ),
}


def printed(tools, folder, text, given, *how):
    """The lines that a run prints, in any order."""
    (folder / "k.ptl").write_text(text)
    arguments = []
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
            value = f"@{folder / name}.npy"
        arguments.append(f"{name}={value}")
    outcome = tools.run("run", *how, folder / "k.ptl", *arguments, "-o", f"y={folder / 'y.npy'}")
    expect(outcome.code == 0, how, outcome.stdout, outcome.stderr)
    return sorted(re.sub(r"\s+", " ", line) for line in re.split(r"\n(?! )", outcome.stdout.strip()))


def lines_are_those_of_the_processor(tools):
    for name, (text, given) in KERNELS.items():

        def case(folder, text=text, given=given):
            wanted = printed(tools, folder, text, given)
            expect(len(wanted) > 2, wanted)
            for chip in CHIPS:
                found = printed(tools, folder, text, given, "--target", chip, "--sim")
                expect(found == wanted, chip, "found", *found, "wanted", *wanted)

        case.__name__ = name
        yield case


if __name__ == "__main__":
    tools = Tools(pathlib.Path(sys.argv[1]))
    tests = list(lines_are_those_of_the_processor(tools))
    sys.exit(run_cases("printed_lines", in_folders("printed_lines", tests, lambda test, folder: test(folder))))
