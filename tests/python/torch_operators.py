"""Operators of PyTorch made of kernels: `torch_operators.py BUILD`. Skipped, by name, where PyTorch is not installed."""

import concurrent.futures
import gc
import os
import pathlib
import sys
import tempfile
import traceback
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = tempfile.TemporaryDirectory()
os.environ.update(PTLC=str(BUILD / "bin" / "ptlc"), PTL_STD=str(ROOT / "std"), PTL_CACHE=FOLDER.name, PTL_NUM_THREADS="4")
sys.path.insert(0, str(ROOT / "runtime" / "python"))
try:
    import torch
except ImportError:
    print("skipped: torch_operators (PyTorch is not installed; package python3-torch)")
    sys.exit(77)
import numpy as np
import ptl
import ptl.torch
from torch.nn import functional

LAYERS = pathlib.Path(__file__).resolve().parent / "layers.ptl"
ops = ptl.torch.load(LAYERS, backward={"swish": "swish_gradient"})


class Rms(torch.nn.Module):
    def __init__(self, size, call):
        super().__init__()
        self.gamma, self.call = torch.nn.Parameter(torch.ones(size)), call

    def forward(self, x):
        return self.call(x, self.gamma, 1e-6)


class Network(torch.nn.Module):
    """Two linear layers with a normalisation and an activation, of the operators that it is given."""

    def __init__(self, linear, swish, rms):
        super().__init__()
        self.linear, self.swish = linear, swish
        self.norm = Rms(16, rms)
        self.first, self.second = torch.nn.Linear(16, 24), torch.nn.Linear(24, 3)

    def forward(self, x):
        hidden = self.linear(self.norm(x), self.first.weight, self.first.bias)
        return self.linear(self.swish(hidden, 1.5), self.second.weight, self.second.bias)


def theirs_swish(x, beta):
    return x * torch.sigmoid(beta * x)


def theirs_rms(x, gamma, eps):
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + eps) * gamma


def ours_rms(x, gamma, eps):
    return ops.rms(x, gamma, eps).y


class Training(unittest.TestCase):
    def test_a_hundred_steps_beside_pytorch(self):
        """Forward and backward by three operators; losses and weights stay those of PyTorch's own within rounding."""
        torch.manual_seed(1)
        ours = Network(ops.linear, ops.swish, ours_rms)
        theirs = Network(functional.linear, theirs_swish, theirs_rms)
        theirs.load_state_dict(ours.state_dict())
        x, target = torch.randn(37, 16), torch.randint(0, 3, (37,))
        losses = []
        for model in (ours, theirs):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            history = []
            for _ in range(100):
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(x), target)
                loss.backward()
                optimizer.step()
                history.append(loss.item())
            losses.append(history)
        self.assertLess(losses[0][-1], 0.5 * losses[0][0])  # it learns
        np.testing.assert_allclose(losses[0], losses[1], rtol=2e-4, atol=1e-5)
        for (name, mine), other in zip(ours.named_parameters(), theirs.parameters()):
            np.testing.assert_allclose(mine.detach(), other.detach(), rtol=1e-3, atol=1e-4, err_msg=name)

    def test_gradients(self):
        """Each operator's gradients are PyTorch's, also for gradients that are not dense."""
        torch.manual_seed(2)
        x, w, b, gamma = torch.randn(5, 16), torch.randn(7, 16), torch.randn(7), torch.rand(16) + 0.5
        cases = [(ops.linear, functional.linear, (x, w, b)),
                 (lambda x: ops.swish(x, 1.5), lambda x: theirs_swish(x, 1.5), (x,)),
                 (lambda x, g: ours_rms(x, g, 1e-6), lambda x, g: theirs_rms(x, g, 1e-6), (x, gamma))]  # fmt: skip
        for ours, theirs, inputs in cases:
            for reduce in (lambda y: (y * y).sum(), lambda y: y.sum(), lambda y: y.t()[::2].sum()):
                got = [each.clone().requires_grad_() for each in inputs]
                expected = [each.clone().requires_grad_() for each in inputs]
                reduce(ours(*got)).backward()
                reduce(theirs(*expected)).backward()
                for mine, other in zip(got, expected):
                    np.testing.assert_allclose(mine.grad, other.grad, rtol=1e-4, atol=1e-4)

    def test_only_what_is_asked_for(self):
        x, w, b = torch.randn(2, 3), torch.randn(4, 3, requires_grad=True), torch.zeros(4)
        y = ops.linear(x, w, b)
        self.assertTrue(y.requires_grad)
        y.sum().backward()
        self.assertIsNone(x.grad)
        with torch.no_grad():
            self.assertFalse(ops.linear(x, w, b).requires_grad)
        with torch.inference_mode():
            self.assertTrue(ops.linear(x, w, b).is_inference())

    def test_missing_gradients_are_errors(self):
        x = torch.ones(3, requires_grad=True)
        y = ops.twice(x)
        with self.assertRaisesRegex(ptl.NotDifferentiable, "`twice` has no gradient: no backward entry is named"):
            y.sum().backward()
        with self.assertRaisesRegex(ptl.NotDifferentiable, "changes `total` in place"):
            ops.add_to(torch.ones(3, requires_grad=True) * 1, torch.ones(3))
        x2 = torch.ones(2, 4, requires_grad=True)
        (first,) = torch.autograd.grad(ops.swish(x2, 1.0).sum(), x2, create_graph=True)
        with self.assertRaisesRegex(ptl.NotDifferentiable, "`swish_gradient` has no gradient"):
            first.sum().backward()
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))
            with self.assertRaisesRegex(ptl.NotDifferentiable, "forward mode"):
                ops.twice(dual)

    def test_what_backward_entries_take(self):
        for backward, message in (({"twice": "rms"}, "`gamma` is nothing that the gradient of `twice` can be given"),
                               ({"nothing": "twice"}, "no entry `nothing`"), ({"twice": "nothing"}, "no entry `nothing`"),
                               ({"swish": "add_to"}, "changed in place"),
                               ({"linear": "swish_gradient"}, "`beta` is nothing|`dy` is nothing|`dx` is not a gradient")):  # fmt: skip
            with self.assertRaisesRegex(ptl.Error, message):
                ptl.torch.load(LAYERS, backward=backward)
        self.assertIsNone(ptl.torch.load(LAYERS, backward=None).linear.backward)
        self.assertEqual(ops.linear.backward.__name__, "linear_backward")
        # The last that was loaded is what PyTorch calls.
        global_again = ptl.torch.load(LAYERS, backward={"swish": "swish_gradient"})
        x = torch.ones(2, 4, requires_grad=True)
        torch.ops.layers.swish(x, 1.0).sum().backward()
        self.assertIsNotNone(x.grad)
        self.assertIsNot(global_again.swish, ops.swish)

    def test_second_derivatives_and_partial_gradients(self):
        path = pathlib.Path(FOLDER.name) / "powers.ptl"
        path.write_text("""
pub fn cube[N](x: f32[N]) -> f32[N] { return x * x * x }
pub fn cube_backward[N](x: f32[N], grad: f32[N]) -> f32[N] { return 3.0 * x * x * grad }
pub fn cube_backward_backward[N](x: f32[N], grad: f32[N], dresult: f32[N]) -> (f32[N], f32[N]) {
    return (6.0 * x * grad * dresult, 3.0 * x * x * dresult)
}
pub fn weigh[N](x: f32[N], w: f32[N]) -> f32[N] { return x * w }
pub kernel weigh_backward[N](w: f32[N], dresult: f32[N]) -> (dx: f32[N]) {
    parallel i in tiles(N, 64) { dx[i] = w[i] * dresult[i] }
}
pub kernel ranks[N](x: f32[N]) -> (y: f32[N], negative: i32[N]) {
    parallel i in tiles(N, 64) {
        y[i] = x[i] + x[i]
        negative[i] = select(x[i] < 0.0, i32(1), i32(0))
    }
}
pub fn ranks_backward[N](dy: f32[N]) -> f32[N] { return dy + dy }
""")
        powers = ptl.torch.load(path)
        x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        (first,) = torch.autograd.grad(powers.cube(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        torch.testing.assert_close(second, 6 * x.detach())
        w = torch.ones(3) * 2
        powers.weigh(x, w).sum().backward()
        torch.testing.assert_close(x.grad, w)
        with self.assertRaisesRegex(ptl.NotDifferentiable, "`weigh_backward` gives no gradient of `w`, which requires one"):
            powers.weigh(x, w.requires_grad_())
        results = powers.ranks(x)
        self.assertEqual((results.y.requires_grad, results.negative.requires_grad), (True, False))
        self.assertEqual(results.negative.tolist(), [0, 1, 0])
        x.grad = None
        results.y.sum().backward()
        torch.testing.assert_close(x.grad, torch.full((3,), 2.0))

    def test_saved_tensors_that_change_are_found(self):
        """What is written by an operator counts as changed for PyTorch's gradients."""
        for write in (lambda t: ops.add_to(t, torch.ones(3)), lambda t: ops.twice(torch.ones(3), result=t),
                      lambda t: torch.ops.layers.add_to(t, torch.ones(3)), lambda t: ptl.load(LAYERS).add_to(t, torch.ones(3))):  # fmt: skip
            x, factor = torch.ones(3, requires_grad=True), torch.full((3,), 2.0)
            y = x * factor
            write(factor)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                y.sum().backward()


class Memory(unittest.TestCase):
    def test_no_copies(self):
        """Kernels get the addresses of the tensors: what they write is there, and results of NumPy's views are the same memory."""
        x, y = torch.arange(12.0).reshape(3, 4), torch.empty(3, 4)
        self.assertIs(ops.twice(x, result=y), y)
        torch.testing.assert_close(y, 2 * x)
        address = y.data_ptr()
        self.assertEqual(ops.twice(x, result=y).data_ptr(), address)
        total = torch.zeros(8)
        alias = total.numpy()
        self.assertIsNone(ops.add_to(total, torch.ones(8)))
        self.assertIsNone(torch.ops.layers.add_to(total, torch.ones(8)))
        np.testing.assert_array_equal(alias, np.full(8, 2, np.float32))
        view = torch.zeros(4, 4)
        ops.add_to(view[1], torch.ones(4))
        self.assertEqual(view.sum(), 4)
        # Results are tensors like others: they own memory that may grow.
        self.assertEqual(ops.twice(x).resize_(100).numel(), 100)

    def test_addresses_that_the_runtime_sees(self):
        import ctypes

        seen = []
        entry = ptl.load(LAYERS).twice
        runtime = entry._library._runtime
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ptl._abi.Array)), ctypes.c_int32, ctypes.c_void_p,
                                ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32)  # fmt: skip

        threads = []

        def call(_, arrays, count, *rest):
            threads.append(runtime.ptl_thread_count())
            seen.extend(arrays[i].contents.data for i in range(count))
            return 0

        spy = kind(call)
        caller = ptl._fast.Caller()
        if ptl._fast._module is None:
            self.skipTest("Python is too old for the short way of calls, or its headers were missing")
        rows = [("x", 0, -1, 0), ("result", 3, -1, 0)]
        functions = [ptl._abi.address(spy), ptl._abi.address(runtime.ptl_infer), ptl._abi.address(runtime.ptl_limit_threads)]
        caller._attach(*functions, entry._pointer, rows, [], [None] * 20, np.empty, None, False)
        x = torch.ones(5)
        result = caller._fast(x)
        self.assertEqual(seen, [x.data_ptr(), result.data_ptr()])
        del seen[:]
        before = torch.get_num_threads()
        torch.set_num_threads(3)
        try:
            caller._fast(x.numpy(), result=result)
            caller._fast(x.numpy(), result=result.numpy())
        finally:
            torch.set_num_threads(before)
        self.assertEqual(seen, 2 * [x.data_ptr(), result.data_ptr()])
        # A call on tensors has the threads of PyTorch, one on arrays all.
        self.assertEqual(threads[1:], [3, 4])

    def test_strides(self):
        base = torch.arange(48.0).reshape(4, 12)
        for x in (base.t(), base[:, ::3], base[::2], base.flip(0), torch.ones(1).expand(3, 5), base[:0], base[:, :0]):
            torch.testing.assert_close(ops.twice(x), 2 * x)
            torch.testing.assert_close(torch.ops.layers.twice(x), 2 * x)
        with self.assertRaises(ptl.LayoutError):
            ops.twice(torch.ones(3, 4), result=torch.empty(4, 3).t())
        with self.assertRaisesRegex(ptl.Error, "overlaps"):
            x = torch.ones(4)
            ops.twice(x, result=x)

    def test_element_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            x = torch.tensor([[0.5, -0.0, float("inf")], [float("nan"), -2.5, 3.0]]).to(dtype)
            y = ops.twice(x)
            self.assertEqual((y.dtype, y.shape), (dtype, x.shape))
            torch.testing.assert_close(y, x + x, equal_nan=True, rtol=0, atol=0)
            self.assertTrue(torch.signbit(y[0, 1]))
            torch.testing.assert_close(torch.ops.layers.twice(x.t()), (x + x).t(), equal_nan=True, rtol=0, atol=0)
        for wrong in (torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.complex64)):
            with self.assertRaisesRegex(ptl.Error, "is not an element type for `T: float`|has an element type .* that PTL does not have"):
                ops.twice(wrong)
        negated = torch._neg_view(torch.ones(3))
        torch.testing.assert_close(ops.twice(negated), torch.full((3,), -2.0))
        torch.testing.assert_close(ptl.load(LAYERS).twice(negated), torch.full((3,), -2.0))

    def test_booleans_and_other_libraries(self):
        path = pathlib.Path(FOLDER.name) / "masks.ptl"
        path.write_text("pub kernel keep[N](x: f32[N], mask: bool[N]) -> (y: f32[N], kept: bool[N]) {\n"
                        "    parallel i in tiles(N, 64) {\n        y[i] = select(mask[i], x[i], 0.0)\n        kept[i] = mask[i]\n    }\n}\n")  # fmt: skip
        x, mask = torch.arange(6.0), torch.arange(6) % 2 == 0
        for keep in (ptl.load(path).keep, ptl.torch.load(path).keep):
            for given in (mask, torch.stack([mask, mask], 1)[:, 0]):
                y, kept = keep(x, given)
                self.assertEqual((y.tolist(), kept.tolist(), kept.dtype), ([0, 0, 2, 0, 4, 0], mask.tolist(), torch.bool))
            y, kept = keep(x.numpy(), mask)
            self.assertEqual(y.tolist(), [0, 0, 2, 0, 4, 0])
        # Tensors on no memory of this process, and of no dense layout.
        for wrong in (torch.ones(6).to_sparse(), torch.ones(6, device="meta")):
            with self.assertRaises(Exception):
                ptl.load(path).keep(wrong, mask)

    def test_extents(self):
        for shape in ((), (0,), (1,), (3, 0, 2), (1, 1), (2, 3, 4, 5)):
            torch.testing.assert_close(ops.twice(torch.ones(shape)), torch.full(shape, 2.0))
        for rows in (0, 1, 3):
            for columns in (1, 7):
                x = torch.randn(rows, columns)
                torch.testing.assert_close(ops.swish(x, 1.0), functional.silu(x))


class Operators(unittest.TestCase):
    def test_plain_entries_take_tensors(self):
        plain = ptl.load(LAYERS)
        y = plain.twice(torch.ones(3))
        self.assertIsInstance(y, torch.Tensor)
        self.assertIsInstance(plain.twice(np.ones(3, np.float32)), np.ndarray)
        with self.assertRaisesRegex(ptl.CallError, "`x` requires a gradient: call an operator of `ptl.torch`"):
            plain.twice(torch.ones(3, requires_grad=True))
        with torch.no_grad():
            torch.testing.assert_close(plain.twice(torch.ones(3, requires_grad=True)), torch.full((3,), 2.0))

    def test_dispatched(self):
        x = torch.randn(4, 6)
        torch.testing.assert_close(torch.ops.layers.swish(x, 1.0), functional.silu(x))
        y, scale = torch.ops.layers.rms(x, torch.ones(6), 1e-6)
        torch.testing.assert_close(y, theirs_rms(x, torch.ones(6), 1e-6))
        self.assertEqual(ops.rms(x, torch.ones(6), 1e-6)._fields, ("y", "scale"))
        self.assertEqual(ops.swish.schema, "swish(Tensor x, float beta, *, int? N=None, int? C=None) -> Tensor")
        self.assertEqual(ops.fill.schema, "fill(float value, *, int N) -> Tensor")
        self.assertEqual(ops.add_to.schema, "add_to(Tensor(a!) total, Tensor x, *, int? N=None) -> ()")
        torch.testing.assert_close(ops.fill(2.0, N=3), torch.full((3,), 2.0))
        torch.testing.assert_close(torch.ops.layers.fill(2.0, N=3), torch.full((3,), 2.0))

    def test_errors_name_the_source(self):
        for call in (ops.pick, torch.ops.layers.pick):
            with self.assertRaisesRegex(ptl.WhereError, r"layers\.ptl:\d+: `pick`: requires `all\(idx < V\)`: element 1 is 9") as caught:
                call(torch.ones(4), torch.tensor([1, 9], dtype=torch.int32))
            self.assertEqual(caught.exception.source, "where all(idx >= 0), all(idx < V)")
            shown = "".join(traceback.format_exception(caught.exception))
            self.assertIn(f"  {caught.exception.line} | where all(idx >= 0), all(idx < V)", shown)
            self.assertTrue(caught.exception.file.endswith("layers.ptl"))
        with self.assertRaises(ptl.ShapeError):
            ops.linear(torch.ones(2, 3), torch.ones(4, 5), torch.ones(4))
        with self.assertRaisesRegex(ptl.CallError, "lacks the argument `w`"):
            ops.linear(torch.ones(2, 3))
        with self.assertRaises(ptl.ShapeError):
            torch.ops.layers.linear(torch.ones(2, 3, requires_grad=True), torch.ones(4, 5), torch.ones(4))

    def test_meta_tensors(self):
        x = torch.empty(5, 16, device="meta")
        y = ops.linear(x, torch.empty(7, 16, device="meta"), torch.empty(7, device="meta"))
        self.assertEqual((y.device.type, tuple(y.shape), y.dtype), ("meta", (5, 7), torch.float32))
        self.assertEqual(tuple(torch.ops.layers.twice(torch.empty(3, 4, dtype=torch.bfloat16, device="meta").t()).shape), (4, 3))
        y, scale = ops.rms(x, torch.empty(16, device="meta"), 1e-6)
        self.assertEqual(tuple(scale.shape), (5, 1))
        # Nothing is known of elements.
        self.assertEqual(ops.pick(torch.empty(4, device="meta"), torch.empty(2, dtype=torch.int32, device="meta")).shape, (2,))
        self.assertIsNone(ops.add_to(torch.empty(4, device="meta"), torch.empty(4, device="meta")))
        with self.assertRaises(ptl.ShapeError):
            ops.linear(x, torch.empty(7, 15, device="meta"), torch.empty(7, device="meta"))
        grad = torch.empty(5, 16, device="meta", requires_grad=True)
        ops.swish(grad, 1.0).sum().backward()
        self.assertEqual(tuple(grad.grad.shape), (5, 16))

    def test_traced(self):
        """The graph has the operators; what is saved and loaded computes the same, for other lengths, too, with gradients."""
        model = Network(ops.linear, ops.swish, ours_rms)
        x = torch.randn(4, 16)
        traced = torch.jit.trace(model, (x,))
        nodes = [node.kind() for node in traced.inlined_graph.nodes() if node.kind().startswith("layers::")]
        self.assertEqual(nodes, ["layers::rms", "layers::linear", "layers::swish", "layers::linear"])
        path = os.path.join(FOLDER.name, "traced.pt")
        torch.jit.save(traced, path)
        again = torch.jit.load(path)
        other = torch.randn(9, 16)
        torch.testing.assert_close(again(other), model(other))
        again(other).sum().backward()
        for mine, expected in zip(again.parameters(), torch.autograd.grad(model(other).sum(), list(model.parameters()))):
            torch.testing.assert_close(mine.grad, expected)

    def test_modes_and_subclasses_see_operators(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.utils._python_dispatch import TorchDispatchMode

        seen = []

        class Listens(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), named=None):
                seen.append(str(function))
                return function(*args, **(named or {}))

        with Listens():
            ops.twice(torch.ones(3))
            ops.fill(1.0, N=2)
        self.assertTrue(any("layers.twice" in name for name in seen) and any("layers.fill" in name for name in seen), seen)
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(torch.ones(2, 3))
            self.assertEqual(tuple(ops.twice(fake).shape), (2, 3))

        class Own(torch.Tensor):
            pass

        torch.testing.assert_close(ops.twice(torch.ones(3).as_subclass(Own)).as_subclass(torch.Tensor), torch.full((3,), 2.0))

    def test_a_namespace_is_of_one_file(self):
        other = pathlib.Path(FOLDER.name) / "other" / "layers.ptl"
        other.parent.mkdir()
        other.write_text("pub fn same[N](x: f32[N]) -> f32[N] { return x }\n")
        with self.assertRaisesRegex(ptl.CallError, "the namespace `layers` has the operators of .*; give another one"):
            ptl.torch.load(other)
        named = ptl.torch.load(other, namespace="others")
        torch.testing.assert_close(torch.ops.others.same(torch.ones(2)), torch.ones(2))
        other.write_text("pub fn same[N](x: f32[N]) -> f32[N] { return 2.0 * x }\npub fn more[N](x: f32[N]) -> f32[N] { return x }\n")
        ptl.torch.load(other, namespace="others")
        torch.testing.assert_close(torch.ops.others.same(torch.ones(2)), torch.full((2,), 2.0))
        torch.testing.assert_close(torch.ops.others.more(torch.ones(2)), torch.ones(2))
        torch.testing.assert_close(named.same(torch.ones(2)), torch.ones(2))
        other.write_text("pub fn same[N](x: f32[N], y: f32[N]) -> f32[N] { return x }\n")
        with self.assertRaisesRegex(ptl.CallError, "`same` was registered as"):
            ptl.torch.load(other, namespace="others")


class Leaks(unittest.TestCase):
    def test_calls_keep_nothing(self):
        """Calls of every way, those that fail included, leave no objects behind."""
        x, grad = torch.ones(4), torch.ones(4, requires_grad=True)
        arrays, total = np.ones(4, np.float32), torch.zeros(4)
        plain = ptl.load(LAYERS)
        index = torch.tensor([9], dtype=torch.int32)
        calls = [lambda: ops.twice(x), lambda: ops.twice(x, result=total), lambda: ops.add_to(total, x), lambda: ops.fill(1.0, N=3),
                 lambda: plain.twice(arrays), lambda: plain.twice(x), lambda: torch.ops.layers.twice(x), lambda: ops.twice(grad),
                 lambda: ops.pick(x, index), lambda: ops.twice(x, x, x), lambda: plain.twice(arrays[::2])]  # fmt: skip

        def repeat(call, times):
            for _ in range(times):
                try:
                    call()
                except ptl.Error:
                    pass
            gc.collect()
            return sys.getallocatedblocks()

        for number, call in enumerate(calls):
            repeat(call, 50)
            before = repeat(call, 50)
            self.assertLess(repeat(call, 1000) - before, 200, number)


class Threads(unittest.TestCase):
    def test_pytorch_says_how_many(self):
        """Calls on tensors have the threads of PyTorch, in each thread of Python its own number, and others have all."""
        seen, entry = [], ptl.load(LAYERS).twice
        entry(np.ones(3, np.float32))
        runtime = entry._library._runtime
        self.assertEqual(runtime.ptl_thread_count(), 4)
        # The number that holds while a call runs is asked within one.
        original = runtime.ptl_call

        def spy(*arguments):
            seen.append(runtime.ptl_thread_count())
            return original(*arguments)

        before = torch.get_num_threads()
        runtime.ptl_call = spy
        try:
            for threads in (1, 3, 64):
                torch.set_num_threads(threads)
                entry._call((torch.ones(3),), {})
            entry._call((np.ones(3, np.float32),), {})
        finally:
            runtime.ptl_call = original
            torch.set_num_threads(before)
        self.assertEqual(seen, [1, 3, 4, 4])
        self.assertEqual(runtime.ptl_thread_count(), 4)

    def test_many_threads_call(self):
        x, wrong = torch.ones(64, 64), []

        def work():
            for _ in range(100):
                weight = torch.ones(8, 64, requires_grad=True)
                ops.linear(x, weight, torch.zeros(8)).sum().backward()
                if not (weight.grad == 64).all():
                    wrong.append(1)

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(work) for _ in range(4)]:
                done.result()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
