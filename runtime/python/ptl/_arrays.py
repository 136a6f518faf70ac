"""Between Python's arrays and the runtime's descriptors."""

import contextlib
import ctypes
import re
import sys

import numpy as np

from . import _abi, errors

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# The names that ml_dtypes has for what numpy lacks; without it arrays of unsigned integers of the
# same width hold the bits.
_EXTENDED = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
             "f8e8m0": "float8_e8m0fnu"}


class ElemTable:
    """Element types by code, from the runtime's own table."""

    def __init__(self, runtime):
        self.names, self.dtypes, self.codes = {}, {}, {}
        code = 0
        while (name := runtime.ptl_elem_name(code).decode()) != "unknown":
            size = runtime.ptl_elem_size(code)
            self.names[code] = name
            if size:
                self.dtypes[code] = self._dtype(name, size)
            code += 1
        for code, dtype in self.dtypes.items():
            if not self.is_bits(code):
                self.codes.setdefault(dtype, code)

    @staticmethod
    def _dtype(name, size):
        if name in _EXTENDED:
            # Older versions of ml_dtypes lack the type of scales.
            return np.dtype(getattr(ml_dtypes, _EXTENDED[name], None) or f"u{size}")
        if name == "bool":
            return np.dtype(bool)
        return np.dtype(("f" if re.match(r"f\d", name) else name[0]) + str(size))

    def is_bits(self, code):
        """Whether arrays of this type are unsigned integers that hold the bits."""
        return self.names[code] in _EXTENDED and not hasattr(ml_dtypes, _EXTENDED[self.names[code]])


def view_of(runtime, code, address, shape, strides):
    """A descriptor; strides count elements."""
    view = _abi.View()
    int64s = ctypes.c_int64 * max(len(shape), 1)
    runtime.ptl_view_strided(view, code, address, len(shape), int64s(*shape), int64s(*strides))
    return view


def pointers(views):
    """Descriptors as the runtime takes them."""
    found = (ctypes.POINTER(_abi.Array) * max(len(views), 1))()
    for index, view in enumerate(views):
        # The view was filled where it is, so its array already points to its own extents.
        found[index] = ctypes.pointer(view.array)
    return found, len(views)


def _of_numpy(runtime, elems, param, array):
    """The descriptor of a numpy array, and the array it describes (a copy where needed)."""
    if array.dtype.byteorder == ">" and param.kind == _abi.ARRAY:
        array = array.astype(array.dtype.newbyteorder("="))
    code = elems.codes.get(array.dtype, -1)
    # Bits in unsigned integers count as the declared type, with or without ml_dtypes.
    if param.elem >= 0 and elems.names[param.elem] in _EXTENDED:
        if array.dtype == np.dtype(f"u{elems.dtypes[param.elem].itemsize}"):
            code = param.elem
    if code < 0:
        raise errors.ElemError(f"`{param.name.decode()}`: numpy's `{array.dtype}` is not an element type of PTL")
    size = array.dtype.itemsize
    crooked = not array.flags.aligned or any(step % size for step in array.strides)
    dense = array.flags.c_contiguous or param.strides != _abi.STRIDES_DENSE
    if param.kind == _abi.ARRAY and (crooked or not dense):
        array = np.array(array, order="C")
    elif crooked:
        raise errors.LayoutError(f"`{param.name.decode()}`: the array is not aligned to its elements")
    if param.kind != _abi.ARRAY and not array.flags.writeable:
        raise errors.LayoutError(f"`{param.name.decode()}` is written, but the array is read-only")
    return view_of(runtime, code, array.ctypes.data, array.shape, [step // size for step in array.strides]), array


def _is_tensor(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _of_tensor(runtime, elems, param, tensor):
    """The same for a tensor of PyTorch in memory; the tensor itself goes the way of others if it is somewhere else."""
    from . import _tensors

    tensor, dtypes = _plain(param, tensor), _tensors.dtypes(elems)
    if not _tensors.is_in_memory(tensor) or tensor.dtype not in dtypes:
        return _of_dlpack(runtime, elems, param, tensor)
    if param.kind == _abi.ARRAY and param.strides == _abi.STRIDES_DENSE:
        tensor = tensor.contiguous()
    if param.kind == _abi.ARRAY and tensor.data_ptr() % tensor.element_size():
        tensor = tensor.clone()
    return view_of(runtime, dtypes.index(tensor.dtype), tensor.data_ptr(), tensor.shape, tensor.stride()), tensor


def _of_dlpack(runtime, elems, param, tensor):
    capsule = tensor.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    view = _abi.View()
    # The managed tensor of a capsule begins with the tensor itself.
    if runtime.ptl_view_dlpack(view, pointer(capsule, b"dltensor")):
        raise errors.from_runtime(runtime)
    if param.kind == _abi.ARRAY and param.strides == _abi.STRIDES_DENSE and not _is_dense(view):
        return _of_numpy(runtime, elems, param, _numpy_over(elems, view))
    return view, capsule


def _is_dense(view):
    expected = 1
    for axis in reversed(range(view.array.rank)):
        if view.extents[axis] != 1 and view.strides[axis] != expected:
            return False
        expected *= view.extents[axis]
    return True


def _numpy_over(elems, view):
    dtype = elems.dtypes[view.array.elem]
    shape = tuple(view.extents[: view.array.rank])
    steps = tuple(step * dtype.itemsize for step in view.strides[: view.array.rank])
    reach = sum((extent - 1) * step for extent, step in zip(shape, steps)) + dtype.itemsize
    buffer = (ctypes.c_char * (reach if all(shape) else 0)).from_address(view.array.data or 0)
    return np.ndarray(shape, dtype, buffer, 0, steps)


def describe(runtime, elems, param, value):
    """The descriptor of an array argument, and what must live as long as it."""
    if not isinstance(value, np.ndarray):
        if _is_tensor(value):
            return _of_tensor(runtime, elems, param, value)
        if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
            return _of_dlpack(runtime, elems, param, value)
        if param.kind != _abi.ARRAY:
            raise errors.CallError(f"`{param.name.decode()}` is written, so it must be an array")
        value = np.asarray(value, elems.dtypes[param.elem] if param.elem >= 0 else None)
    return _of_numpy(runtime, elems, param, value)


def scalar(elems, name, code, value):
    """The 8-byte cell of a scalar argument."""
    dtype, elem = elems.dtypes[code], elems.names[code]
    # NumPy would read texts, take None for NaN, and the first of many elements.
    is_number = hasattr(value, "__float__") and not isinstance(value, np.complexfloating)
    if not is_number or getattr(value, "ndim", 0) != 0:
        raise errors.RangeError(f"`{name}`: {value!r} is no `{elem}`")
    if dtype.kind in "iu" and not elems.is_bits(code):
        number = int(value)
        if number != value or not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
            raise errors.RangeError(f"`{name}`: {value} is no `{elem}`")
        bits = np.array(number, dtype)
    elif elems.is_bits(code):
        bits = _round_bits(name, elem, value)
    else:
        bits = np.array(value, dtype)
    cell = _abi.Scalar()
    ctypes.memmove(ctypes.byref(cell), bits.tobytes(), bits.itemsize)
    return cell


def _round_bits(name, elem, value):
    if elem != "bf16":
        raise errors.ElemError(f"`{name}`: scalars of type `{elem}` need the ml_dtypes package")
    wide = int(np.float32(value).view(np.uint32))
    if np.isnan(np.float32(value)):
        return np.array(0x7FC0, np.uint16)
    return np.array((wide + 0x7FFF + (wide >> 16 & 1)) >> 16, np.uint16)


def _plain(param, tensor):
    """The memory of a tensor of PyTorch, where nobody asks for a gradient."""
    import torch

    from . import _tensors

    if tensor.requires_grad and torch.is_grad_enabled():
        raise errors.CallError(f"`{param.name.decode()}` requires a gradient: call an operator of `ptl.torch`, or give `.detach()`")
    if param.kind != _abi.ARRAY and tensor.is_neg():
        raise errors.LayoutError(f"`{param.name.decode()}` is written, but the tensor is a negated view")
    return _tensors.plain(tensor)


def note_written(params, values):
    """Tells PyTorch of changes: an operation in place that changes nothing. Gradients that need the old values are refused then."""
    for param, value in zip(params, values):
        if param.kind in (_abi.INOUT, _abi.OUTPUT) and _is_tensor(value):
            value.transpose_(0, 0)


@contextlib.contextmanager
def limited_threads(runtime, values):
    """Calls on tensors of PyTorch have as many threads as PyTorch has."""
    if not any(map(_is_tensor, values)):
        yield
        return
    before = runtime.ptl_limit_threads(sys.modules["torch"].get_num_threads())
    try:
        yield
    finally:
        runtime.ptl_limit_threads(before)


def new(elems, code, extents, inputs, is_operator):
    """An array for a result: of PyTorch if a tensor came in or operators of PyTorch are called, else of NumPy."""
    if is_operator or any(map(_is_tensor, inputs)):
        from . import _tensors

        dtype = _tensors.dtypes(elems)[code]
        if dtype is not None:
            return _tensors.torch.empty(extents, dtype=dtype)
    return np.empty(extents, elems.dtypes[code])
