"""The C interface (runtime/include/ptl.h) as ctypes sees it."""

import ctypes as c

MAX_RANK = 16

ARRAY, INOUT, SCALAR, OUTPUT = range(4)
STRIDES_DENSE = 0


class Array(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("rank", c.c_int64),
        ("extents", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("elem", c.c_int32),
    ]


class View(c.Structure):
    _fields_ = [("array", Array), ("extents", c.c_int64 * MAX_RANK), ("strides", c.c_int64 * MAX_RANK)]


class Scalar(c.Union):
    _fields_ = [("bytes", c.c_uint8 * 8), ("u64", c.c_uint64)]


class Dim(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class Failure(c.Structure):
    _fields_ = [("code", c.c_int32), ("message", c.c_char_p), ("file", c.c_char_p), ("line", c.c_int32)]


class Param(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("elem_name", c.c_char_p),
        ("shape", c.c_char_p),
        ("elem", c.c_int32),
        ("rank", c.c_int32),
        ("kind", c.c_int32),
        ("strides", c.c_int32),
    ]


_ARRAYS = c.POINTER(c.POINTER(Array))
_CALL = [c.c_void_p, _ARRAYS, c.c_int32, c.POINTER(Scalar), c.c_int32, c.POINTER(Dim), c.c_int32]

_FUNCTIONS = {
    "ptl_open": (c.c_int32, [c.c_char_p, c.POINTER(c.c_void_p)]),
    "ptl_close": (None, [c.c_void_p]),
    "ptl_manifest_text": (c.c_char_p, [c.c_void_p]),
    "ptl_entry_count": (c.c_int32, [c.c_void_p]),
    "ptl_entry": (c.c_void_p, [c.c_void_p, c.c_int32]),
    "ptl_entry_name": (c.c_char_p, [c.c_void_p]),
    "ptl_entry_signature": (c.c_char_p, [c.c_void_p]),
    "ptl_entry_doc": (c.c_char_p, [c.c_void_p]),
    "ptl_param_count": (c.c_int32, [c.c_void_p]),
    "ptl_output_count": (c.c_int32, [c.c_void_p]),
    "ptl_param": (c.c_int32, [c.c_void_p, c.c_int32, c.POINTER(Param)]),
    "ptl_dim_count": (c.c_int32, [c.c_void_p]),
    "ptl_dim_name": (c.c_char_p, [c.c_void_p, c.c_int32]),
    "ptl_where_count": (c.c_int32, [c.c_void_p]),
    "ptl_where": (c.c_char_p, [c.c_void_p, c.c_int32]),
    "ptl_variant_count": (c.c_int32, [c.c_void_p]),
    "ptl_variant": (c.c_char_p, [c.c_void_p, c.c_int32]),
    "ptl_infer": (c.c_int32, _CALL + [c.POINTER(View)]),
    "ptl_infer_shapes": (c.c_int32, _CALL + [c.POINTER(View)]),
    "ptl_call": (c.c_int32, _CALL),
    "ptl_last_error": (c.c_char_p, []),
    "ptl_last_failure": (c.POINTER(Failure), []),
    "ptl_missing_variant": (c.c_char_p, []),
    "ptl_status_class": (c.c_char_p, [c.c_int32]),
    "ptl_view_strided": (
        c.c_void_p,
        [c.POINTER(View), c.c_int32, c.c_void_p, c.c_int32, c.POINTER(c.c_int64), c.POINTER(c.c_int64)],
    ),
    "ptl_view_dlpack": (c.c_int32, [c.POINTER(View), c.c_void_p]),
    "ptl_elem_size": (c.c_int32, [c.c_int32]),
    "ptl_elem_name": (c.c_char_p, [c.c_int32]),
    "ptl_thread_count": (c.c_int32, []),
    "ptl_limit_threads": (c.c_int32, [c.c_int32]),
    "ptl_abi_version": (c.c_int32, []),
}


def address(function):
    """Where a function of a library is, as a number."""
    return c.cast(function, c.c_void_p).value


def bind(path):
    """The functions of ptl.h, from a compiled library or the runtime itself.

    A compiled library depends on the runtime, so the loader finds both through it.
    """
    library = c.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
