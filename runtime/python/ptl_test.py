"""Tests of the Python module on the hand-made library: `ptl_test.py LIBRARY`."""

import concurrent.futures
import gc
import os
import pathlib
import stat
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import ptl

LIBRARY = sys.argv.pop(1)


class Foreign:
    """An array of another library: DLPack is all it offers."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Calls(unittest.TestCase):
    def setUp(self):
        self.sample = ptl.load(LIBRARY)

    def test_query(self):
        self.assertEqual(dir(self.sample)[:2], ["double_rows", "fill"])
        self.assertIn("Twice the input.", self.sample.double_rows.__doc__)
        self.assertEqual(self.sample.scale.wheres, ["N % 4 == 0", "factor > 0.0"])
        self.assertEqual(self.sample.widen.variants, ["T=f32 ..=1", "T=f32 ..=2"])
        with self.assertRaisesRegex(ptl.MissingName, "no entry `nothing`; it has: double_rows"):
            self.sample.nothing

    def test_outputs_are_allocated(self):
        x = np.arange(24, dtype=np.float32).reshape(3, 8)
        np.testing.assert_array_equal(self.sample.double_rows(x), 2 * x)
        np.testing.assert_array_equal(self.sample.double_rows(x=x), 2 * x)
        y = np.zeros_like(x)
        self.assertIs(self.sample.double_rows(x, y=y), y)
        np.testing.assert_array_equal(y, 2 * x)

    def test_inputs_are_made_dense(self):
        x = np.arange(24, dtype=np.float32).reshape(8, 3).T
        np.testing.assert_array_equal(self.sample.double_rows(x), 2 * x)
        big = np.arange(8, dtype=">f4").reshape(1, 8)
        np.testing.assert_array_equal(self.sample.double_rows(big), 2 * big)
        np.testing.assert_array_equal(self.sample.double_rows([[1, 2, 3, 4]]), [[2, 4, 6, 8]])

    def test_generic(self):
        y = self.sample.widen(np.ones((2, 1, 3), np.float32))
        self.assertEqual(y.shape, (2, 1, 7))
        with self.assertRaises(ptl.VariantError) as caught:
            self.sample.widen(np.ones((2, 3), np.float64))
        self.assertEqual(caught.exception.missing, "T=f64 ..=1")

    def test_scalars_inout_and_wheres(self):
        x = np.arange(8, dtype=np.float32)
        self.assertIsNone(self.sample.scale(x[::2], 10.0, shift=1))
        np.testing.assert_array_equal(x, [1, 1, 21, 3, 41, 5, 61, 7])
        with self.assertRaisesRegex(ptl.WhereError, "requires `N % 4 == 0`: `N` is 3"):
            self.sample.scale(x[:3], 1.0, 0)
        with self.assertRaises(ptl.RangeError):
            self.sample.scale(x, 1.0, 2**63)
        for wrong in ("2", None, 1j, [1.0], np.ones(2, np.float32)):
            with self.assertRaises(ptl.RangeError):
                self.sample.scale(x, wrong, 0)
        x.flags.writeable = False
        with self.assertRaises(ptl.LayoutError):
            self.sample.scale(x, 1.0, 0)

    def test_errors(self):
        with self.assertRaisesRegex(ptl.ElemError, "given `f64` elements") as caught:
            self.sample.double_rows(np.ones((1, 4)))
        self.assertEqual((caught.exception.file, caught.exception.line), ("sample.ptl", 3))
        with self.assertRaises(ValueError):
            self.sample.double_rows(np.ones(4, np.float32))
        with self.assertRaisesRegex(ptl.CallError, "lacks the argument `x`"):
            self.sample.double_rows()
        with self.assertRaisesRegex(ptl.CallError, "no parameter or dimension `q`"):
            self.sample.double_rows(np.ones((1, 4), np.float32), q=1)
        with self.assertRaisesRegex(ptl.AssertError, r"x\[1\] is nan"):
            self.sample.scale(np.array([1, np.nan, 3, 4], np.float32), 1.0, 0)
        with self.assertRaisesRegex(ptl.WhereError, "element 1 is 9"):
            self.sample.gather(np.ones(4), np.array([1, 9], np.int32))
        with self.assertRaises(ptl.LoadError):
            ptl.load("/no/such.so")

    @unittest.skipIf(ptl._fast._module is None, "Python is too old for the short way of calls, or its headers were missing")
    def test_the_short_way_is_the_long_one(self):
        """Calls that the C code takes give what the others give, and it declines what needs more."""
        entry = self.sample.double_rows
        x = np.arange(24, dtype=np.float32).reshape(3, 8)
        readonly = x.copy()
        readonly.flags.writeable = False
        for taken in ((x,), (readonly,), (x[:2],), (np.zeros((0, 8), np.float32),)):
            result = entry._fast(*taken)
            np.testing.assert_array_equal(result, entry._call(taken, {}))
            self.assertIs(type(result), np.ndarray)
        y = np.empty_like(x)
        self.assertIs(entry._fast(x, y=y), y)
        np.testing.assert_array_equal(y, 2 * x)
        for declined, named in (((x.T,), {}), ((x.astype(">f4"),), {}), (([[1.0, 2.0]],), {}), ((Foreign(x),), {}), ((), {}),
                                ((x, x), {}), ((x,), {"z": y}), ((x,), {"y": readonly})):
            self.assertIs(entry._fast(*declined, **named), NotImplemented)
        with self.assertRaises(ptl.Error):
            entry(x, y=readonly)
        with self.assertRaises(ptl.Error):
            entry(np.ones(3, np.float64))

    @unittest.skipIf(ptl._fast._module is None, "Python is too old for the short way of calls, or its headers were missing")
    def test_shapes_of_the_short_way(self):
        """Results have the shapes of their own call, whatever the call before had."""
        double, fill = self.sample.double_rows, self.sample.fill
        for shape in ((3, 8), (2, 8), (3, 8), (6, 4), (0, 4), (6, 4), (1, 8)):
            x = np.random.default_rng(1).random(shape, np.float32)
            np.testing.assert_array_equal(double._fast(x), 2 * x)
        for value, count in ((5, 3), (7, 3), (7, 0), (7, 3), (2**62, 1000)):
            result = fill._fast(value, N=count)
            self.assertEqual((result.dtype, result.tolist()), (np.int64, [value] * count))
        for wrong in ({"N": -1}, {"N": 2**70}, {"N": 1.5}, {"N": 3, "M": 3}, {"M": 3}, {}):
            self.assertIs(fill._fast(5, **wrong), NotImplemented)
        for wrong in ({"N": -1}, {"N": 3, "M": 3}, {}):
            with self.assertRaises(ptl.Error):
                fill(5, **wrong)
        # Requirements are checked again where shapes are known.
        x = np.ones(8, np.float32)
        self.sample.scale(x, 1.0, 0)
        with self.assertRaises(ptl.WhereError):
            self.sample.scale(x, -1.0, 0)

    def test_dimensions_by_name(self):
        np.testing.assert_array_equal(self.sample.fill(5, N=3), [5, 5, 5])
        with self.assertRaises(ptl.ShapeError):
            self.sample.fill(5)

    def test_dlpack(self):
        x = np.arange(16, dtype=np.float32).reshape(2, 8)
        np.testing.assert_array_equal(self.sample.double_rows(Foreign(x)), 2 * x)
        strided = np.arange(64, dtype=np.float32).reshape(4, 16)[::2, ::4]
        np.testing.assert_array_equal(self.sample.double_rows(Foreign(strided)), 2 * strided)
        y = np.empty_like(x)
        self.sample.double_rows(Foreign(x), y=Foreign(y))
        np.testing.assert_array_equal(y, 2 * x)
        gc.collect()

    def test_threads(self):
        x = np.ones((100, 8), np.float32)
        wrong = []

        def work():
            for _ in range(50):
                if not (self.sample.double_rows(x) == 2).all():
                    wrong.append(1)

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(work) for _ in range(4)]:
                done.result()
        self.assertEqual(wrong, [])


class Sources(unittest.TestCase):
    """`.ptl` files, with a script in place of the compiler that notes how it was called."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        self.log, self.source = root / "log", root / "sample.ptl"
        self.source.write_text("// one\n")
        compiler = root / "ptlc"
        compiler.write_text(
            f'#!/bin/sh\necho "$@" >> {self.log}\n'
            f'grep -q broken "$2" && {{ echo "E0001: broken" >&2; exit 1; }}\ncp {LIBRARY} "$4"\n'
            f'echo "$4: $2 {root}/imported.ptl" > "${{6#-MF=}}"\n'
        )
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        (root / "imported.ptl").write_text("// two\n")
        os.environ["PTLC"], os.environ["PTL_CACHE"] = str(compiler), str(root / "cache")

    def tearDown(self):
        self.folder.cleanup()

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_compiled_once_per_content(self):
        x = np.ones((1, 4), np.float32)
        for _ in range(3):
            np.testing.assert_array_equal(ptl.load(self.source).double_rows(x), 2 * x)
        self.assertEqual(len(self.calls()), 1)
        self.source.write_text("// changed\n")
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 2)
        (self.source.parent / "imported.ptl").write_text("// changed\n")
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 3)

    def test_another_compiler_makes_its_own(self):
        ptl.load(self.source)
        os.utime(os.environ["PTLC"], (1, 1))
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 2)
        with unittest.mock.patch.dict(os.environ, PTL_STD=self.folder.name):
            ptl.load(self.source)
        self.assertEqual(len(self.calls()), 3)

    def test_what_others_may_write_is_not_loaded(self):
        cache = self.source.parent / "cache"
        ptl.load(self.source)
        self.assertEqual(stat.S_IMODE(cache.stat().st_mode), 0o700)
        (library,) = cache.glob("*.so")
        library.chmod(0o666)
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 2)
        self.assertEqual(stat.S_IMODE(library.stat().st_mode) & 0o022, 0)
        cache.chmod(0o777)
        before = sorted(cache.iterdir())
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 3)
        self.assertEqual(sorted(cache.iterdir()), before)
        cache.chmod(0o700)
        ptl.load(self.source)
        self.assertEqual(len(self.calls()), 3)

    def test_a_cache_that_is_off_or_cannot_be(self):
        for place in ("off", "/dev/null/ptl"):
            self.source.write_text(f"// {place}\n")
            before = len(self.calls())
            with unittest.mock.patch.dict(os.environ, PTL_CACHE=place):
                for _ in range(2):  # kept for this process
                    ptl.load(self.source)
            self.assertEqual(len(self.calls()), before + 1)
            self.assertFalse((self.source.parent / "cache").exists() or os.path.exists("off"))

    def test_the_cache_is_bounded(self):
        cache = self.source.parent / "cache"
        cache.mkdir(mode=0o700)
        for index in range(4):
            old = cache / f"{index}.code"
            old.write_bytes(b"x" * (300 << 10))
            os.utime(old, (100 + index, 100 + index))
        (cache / "notes.txt").write_bytes(b"x" * (1 << 20))
        with unittest.mock.patch.dict(os.environ, PTL_CACHE_LIMIT="1"):
            ptl.load(self.source)
        left = sorted(path.name for path in cache.iterdir())
        self.assertEqual([name for name in left if name.endswith(".code")], ["1.code", "2.code", "3.code"])
        self.assertEqual(len(left), 6)

    def test_missing_variants_are_asked_for_once(self):
        sample = ptl.load(self.source)
        with self.assertRaises(ptl.VariantError):
            sample.double_rows(np.ones((1, 5), np.float32))
        self.assertEqual(len(self.calls()), 2)
        self.assertIn("-Ddouble_rows.C=5", self.calls()[1])

    def test_compile_errors(self):
        self.source.write_text("broken\n")
        with self.assertRaisesRegex(ptl.CompileError, "E0001: broken"):
            ptl.load(self.source)
        with self.assertRaisesRegex(ptl.LoadError, "cannot read"):
            ptl.load(self.source.parent / "missing.ptl")


if __name__ == "__main__":
    unittest.main()
