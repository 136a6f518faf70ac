"""The Python module in notebooks, and for those who read or check its types: `notebooks_and_types.py BUILD`.

The tests of notebooks are skipped, by name, where IPython is not installed, those of types where mypy is not."""

import ast
import contextlib
import importlib.util
import inspect
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = tempfile.TemporaryDirectory()
os.environ.update(PTLC=str(BUILD / "bin" / "ptlc"), PTL_STD=str(ROOT / "std"), PTL_CACHE=FOLDER.name, IPYTHONDIR=FOLDER.name)
sys.path.insert(0, str(ROOT / "runtime" / "python"))
import numpy as np
import ptl
from ptl import stubs

LAYERS = pathlib.Path(__file__).resolve().parent / "layers.ptl"


def has(module):
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(has("IPython"), "IPython is not installed (package python3-ipython)")
class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from IPython.core.interactiveshell import InteractiveShell

        cls.shell = InteractiveShell.instance()
        cls.shell.run_cell("%load_ext ptl").raise_error()

    def run_cell(self, text):
        with contextlib.redirect_stdout(io.StringIO()):
            result = self.shell.run_cell(text)
        result.raise_error()
        return result.result

    def test_entries_are_variables(self):
        library = self.run_cell("%%ptl\npub fn thrice[N](x: f32[N]) -> f32[N] { return 3.0 * x }\n")
        self.assertIsInstance(library, ptl.Library)
        self.run_cell("import numpy as np\ny = thrice(np.ones(4, np.float32))")
        np.testing.assert_array_equal(self.shell.user_ns["y"], np.full(4, 3, np.float32))
        # Run again with another text, the name is the new one.
        self.run_cell("%%ptl\npub fn thrice[N](x: f32[N]) -> f32[N] { return 4.0 * x }\n")
        np.testing.assert_array_equal(self.run_cell("thrice(np.ones(2, np.float32))"), [4, 4])

    def test_a_library_by_name(self):
        self.run_cell("%%ptl mine\npub fn half[N](x: f32[N]) -> f32[N] { return 0.5 * x }\n")
        self.assertNotIn("half", self.shell.user_ns)
        np.testing.assert_array_equal(self.run_cell("import numpy as np\nmine.half(np.ones(2, np.float32))"), [0.5, 0.5])

    def test_errors_have_the_lines_of_the_cell(self):
        with self.assertRaises(ptl.CompileError) as caught:
            self.run_cell("%%ptl\n\npub fn wrong[N](x: f32[N]) -> f32[N] {\n    return y\n}\n")
        self.assertRegex(str(caught.exception), r"error\[E\d+\].*\n *--> cell_\d+\.ptl:4:12")
        shown = caught.exception._render_traceback_()
        self.assertTrue(shown[0].startswith("error[E"), shown)
        self.run_cell("%%ptl\n\npub kernel picks[N, V](t: f32[V], i: i32[N]) -> (y: f32[N])\nwhere all(i >= 0), all(i < V)\n{\n"
                      "    parallel k in tiles(N, 8) { y[k] = t[i[k]] }\n}\n")  # fmt: skip
        with self.assertRaises(ptl.WhereError) as caught:
            self.run_cell("import numpy as np\npicks(np.ones(2, np.float32), np.array([5], np.int32))")
        self.assertEqual(caught.exception.line, 4)

    @unittest.skipUnless(has("torch"), "PyTorch is not installed (package python3-torch)")
    def test_operators(self):
        cell = ("%%ptl --torch --backward square=slope\npub fn square[N](x: f32[N]) -> f32[N] { return x * x }\n"
                "pub fn slope[N](x: f32[N], grad: f32[N]) -> f32[N] { return 2.0 * x * grad }\n")  # fmt: skip
        for _ in range(2):
            self.run_cell(cell)
            self.run_cell("import torch\nx = torch.full((3,), 5.0, requires_grad=True)\nsquare(x).sum().backward()")
            self.assertEqual(self.shell.user_ns["x"].grad.tolist(), [10, 10, 10])
        with self.assertRaisesRegex(ptl.CallError, "write NAME=BACKWARD"):
            self.run_cell("%%ptl --torch --backward square\npub fn square[N](x: f32[N]) -> f32[N] { return x * x }\n")


class Documentation(unittest.TestCase):
    def setUp(self):
        self.layers = ptl.load(LAYERS)

    def test_signatures(self):
        self.assertEqual(str(inspect.signature(self.layers.swish)), "(x: 'f32[N, C]', beta: 'f32', *, y: 'f32[N, C]' = None) -> 'f32[N, C]'")
        self.assertEqual(str(inspect.signature(self.layers.fill)), "(value: 'f32', *, N: 'int', y: 'f32[N]' = None) -> 'f32[N]'")
        eps = inspect.signature(self.layers.rms).parameters["eps"]
        self.assertEqual(np.float32(eps.default), np.float32(1e-6))
        bound = inspect.signature(self.layers.linear).bind(1, 2, b=3)
        self.assertEqual(bound.arguments, {"x": 1, "w": 2, "b": 3})
        self.assertEqual(inspect.signature(self.layers.add_to).return_annotation, "None")

    def test_defaults(self):
        """What a call leaves out has the number that the source says, on whichever way the call goes."""
        x, gamma = np.full((2, 3), 1e-3, np.float32), np.ones(3, np.float32)
        expected = self.layers.rms(x, gamma, 1e-6).y
        for left_out in (lambda: self.layers.rms(x, gamma), lambda: self.layers.rms(x, gamma=gamma), lambda: self.layers.rms(gamma=gamma, x=x)):
            np.testing.assert_array_equal(left_out().y, expected)
        self.assertFalse(np.array_equal(self.layers.rms(x, gamma, eps=1.0).y, expected))
        with self.assertRaisesRegex(ptl.CallError, "lacks the argument `gamma`"):
            self.layers.rms(x)
        with self.assertRaisesRegex(ptl.CallError, "no parameter or dimension `epz`"):
            self.layers.rms(x, gamma, epz=1.0)
        # The name that nothing has is told, rather than the one that is missing for it.
        with self.assertRaisesRegex(ptl.CallError, "no parameter or dimension `gama`"):
            self.layers.rms(x, gama=gamma)

    def test_dimensions_that_do_not_follow(self):
        """An extent that names several dimensions says which of them it leaves open, and what is known."""
        x = np.arange(16, dtype=np.float32).reshape(2, 8)
        np.testing.assert_array_equal(self.layers.split(x, H=2), x.reshape(2, 2, 4))
        with self.assertRaisesRegex(ptl.ShapeError, "from `H\\*D == 8` does not follow what `H` and `D` are; give `H` or `D` by name"):
            self.layers.split(x)
        with self.assertRaisesRegex(ptl.ShapeError, "from `H\\*D == 8` does not follow what `D` is; `H` is 3 \\(given by name\\)"):
            self.layers.split(x, H=3)

    def test_help(self):
        text = self.layers.pick.__doc__
        for part in ("pick(table, idx, *, y=None) -> f32[N]\n\nThe elements at `idx`", "Parameters:\n    table: f32[V] (copied if it is not dense)",
                     "Requires:\n    all(idx >= 0)\n    all(idx < V)\n", "layers.ptl:", "kernel pick[V, N]"):  # fmt: skip
            self.assertIn(part, text)
        self.assertIn("changed in place", self.layers.add_to.__doc__)
        self.assertIn("a dimension that no array fixes", self.layers.fill.__doc__)


class Stubs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER.name))
        shutil.copy(LAYERS, self.folder)

    def write(self, *options):
        command = [sys.executable, "-m", "ptl.stubs", self.folder / "layers.ptl", *options]
        env = dict(os.environ, PYTHONPATH=str(ROOT / "runtime" / "python"))
        done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [pathlib.Path(line) for line in done.stdout.splitlines()]

    def imported(self, path):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_a_module_with_types(self):
        stub, module = self.write()
        functions = {node.name: node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef)}
        layers = self.imported(module)
        np.testing.assert_array_equal(layers.twice(np.ones(3, np.float32)), [2, 2, 2])
        self.assertEqual(set(functions), set(layers._library._entries))
        for name, function in functions.items():
            entry = getattr(layers, name)
            expected = inspect.signature(entry).parameters.values()
            self.assertEqual([each.arg for each in function.args.args], [each.name for each in expected if each.kind == each.POSITIONAL_OR_KEYWORD])
            self.assertEqual([each.arg for each in function.args.kwonlyargs], [each.name for each in expected if each.kind == each.KEYWORD_ONLY])
            self.assertEqual(inspect.cleandoc(ast.get_docstring(function)), inspect.cleandoc(entry.__doc__))

    def test_another_folder_and_wrong_names(self):
        other = self.folder / "made"
        other.mkdir()
        _, module = self.write("-o", other)
        self.assertEqual(module.parent, other)
        np.testing.assert_array_equal(self.imported(module).twice(np.ones(1, np.float32)), [2])
        shutil.copy(LAYERS, self.folder / "1-layers.ptl")
        with self.assertRaisesRegex(ptl.LoadError, "is not a valid name of a Python module"):
            stubs.write(self.folder / "1-layers.ptl")

    @unittest.skipUnless(has("mypy"), "mypy is not installed (package mypy)")
    def test_checkers_read_them(self):
        """Right uses are accepted, and each wrong one is an error of its own line."""
        self.write()
        right = ["import numpy as np", "import numpy.typing as npt", "import layers", "x = np.ones((2, 3), np.float32)",
                 "y: npt.NDArray[np.float32] = layers.swish(x, 1.0)", "layers.swish([[1.0]], 1, y=y)", "z = layers.rms(x, x[0], 1e-6).scale", "layers.rms(x, x[0])",
                 "layers.fill(1.0, N=3)"]  # fmt: skip
        wrong = {"layers.swish(x)": 'Missing positional argument "beta"', "layers.fill(1.0)": 'Missing named argument "N"',
                 "layers.swish(x, 1.0, y=[1.0])": "incompatible type", "layers.rms(x, x, 1.0).w": "has no attribute",
                 "layers.nothing": "has no attribute"}  # fmt: skip
        (self.folder / "program.py").write_text("\n".join([*right, *wrong]) + "\n")
        env = dict(os.environ, MYPYPATH=f"{self.folder}:{ROOT / 'runtime' / 'python'}")
        command = [sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={FOLDER.name}/mypy", "program.py"]
        done = subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if ": error:" in line]
        self.assertEqual(len(lines), len(wrong), done.stdout + done.stderr)
        for index, (line, message) in enumerate(zip(lines, wrong.values())):
            self.assertTrue(line.startswith(f"program.py:{len(right) + 1 + index}: error:") and message in line, line)

    @unittest.skipUnless(has("torch"), "PyTorch is not installed (package python3-torch)")
    def test_operators(self):
        stub, module = self.write("--torch", "--backward=swish=swish_gradient")
        self.assertIn("def swish(x: torch.Tensor, beta: float, *, y: Optional[torch.Tensor] = None) -> torch.Tensor:", stub.read_text())
        import torch

        x = torch.ones(2, 3, requires_grad=True)
        self.imported(module).swish(x, 1.0).sum().backward()
        self.assertIsNotNone(x.grad)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    for test, reason in program.result.skipped:
        print(f"skipped: {test.id()} ({reason})")
    if program.result.skipped and program.result.wasSuccessful():
        sys.exit(77)
    sys.exit(not program.result.wasSuccessful())
