"""Call code compiled from PTL on NumPy arrays and DLPack tensors.

    import numpy as np, ptl
    nn = ptl.load("softmax.ptl")              # compiles, cached by content; or a built "libsoftmax.so"
    y = nn.softmax(np.ones((4, 8), np.float32))
    help(nn.softmax)                          # the signature and its documentation

Arrays and scalars go in the order of the declaration or by name; dimensions that no array fixes by
name. Outputs are allocated and returned (several as a tuple with names), or written into arrays
given by name. `inout` arrays change in place. Strided inputs are copied where the declaration wants
dense ones. torch tensors on the CPU may be passed, and then tensors come back; `ptl.torch` makes
operators with gradients. `bf16` and `f8` arrays have the types of ml_dtypes if it is installed, else
they are unsigned integers of the same width that hold the bits.

What the runtime refuses is raised as a subclass of `ptl.Error`, with its message.
"""

import collections
import ctypes
import os

import numpy as np

from . import _abi, _arrays, _compile, _fast, _signatures, errors
from .errors import *  # noqa: F401,F403
from .errors import Error, VariantError

__all__ = ["load", "Library", "Entry"] + [
    name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Error)
]


def load(path):
    """Opens a compiled library, or compiles a `.ptl` source and opens the result."""
    return Library(path)


def load_ipython_extension(shell):
    """`%load_ext ptl`: the magic `%%ptl` of notebooks."""
    from . import jupyter

    shell.register_magics(jupyter.Magics)


class Library:
    """What one file holds; its entries are attributes."""

    _entry = None  # the class of its entries

    def __init__(self, path):
        self._path = os.fspath(path)
        self._source = self._path.endswith(".ptl")
        self._defines = set()
        self._entries = {}
        self._open()

    def _open(self):
        path = _compile.library_for(self._path, self._defines) if self._source else os.path.abspath(self._path)
        try:
            self._runtime = _abi.bind(path)
        except (OSError, AttributeError) as error:
            raise errors.LoadError(f"cannot open `{path}`: {error}") from None
        handle = ctypes.c_void_p()
        if self._runtime.ptl_open(os.fsencode(path), ctypes.byref(handle)):
            raise errors.from_runtime(self._runtime)
        # Replaced handles stay open: entries that somebody holds still point into them.
        self._handle = handle
        self._elems = _arrays.ElemTable(self._runtime)
        for index in range(self._runtime.ptl_entry_count(handle)):
            pointer = self._runtime.ptl_entry(handle, index)
            name = self._runtime.ptl_entry_name(pointer).decode()
            if name in self._entries:
                self._entries[name]._set(pointer)
            else:
                self._entries[name] = (self._entry or Entry)(self, name, pointer)

    def _compile_variant(self, entry, missing):
        """Adds the variant to those that the source is compiled for; False if that is no help."""
        defines = {f"{entry}.{part}" for part in missing.split()}
        if not self._source or defines <= self._defines:
            return False
        before = self._defines
        self._defines = before | defines
        try:
            self._open()
        except errors.CompileError:
            # What cannot be compiled must not be in the way of what can.
            self._defines = before
            raise
        return True

    @property
    def manifest(self):
        """The library's description, as a JSON text."""
        return self._runtime.ptl_manifest_text(self._handle).decode()

    def __getattr__(self, name):
        entry = self.__dict__.get("_entries", {}).get(name)
        if entry is None:
            known = ", ".join(self.__dict__.get("_entries", {}))
            raise errors.MissingName(f"`{self.__dict__.get('_path')}` has no entry `{name}`; it has: {known}")
        return entry

    def __dir__(self):
        return list(self._entries) + ["manifest"]

    def __repr__(self):
        return f"<ptl library {self._path}: {', '.join(self._entries)}>"


class Entry(_fast.Caller):
    """A `fn`, `kernel` or `program`; call it like a function."""

    _is_operator = False  # of PyTorch

    def __init__(self, library, name, pointer):
        self._library, self.__name__, self.__qualname__ = library, name, name
        self._set(pointer)

    def _set(self, pointer):
        runtime = self._library._runtime
        self._pointer = pointer
        self.signature = runtime.ptl_entry_signature(pointer).decode()
        params = []
        for index in range(runtime.ptl_param_count(pointer)):
            param = _abi.Param()
            runtime.ptl_param(pointer, index, param)
            params.append(param)
        self._outputs = [param for param in params if param.kind == _abi.OUTPUT]
        self._params = [param for param in params if param.kind != _abi.OUTPUT]
        self._dims = [runtime.ptl_dim_name(pointer, i).decode() for i in range(runtime.ptl_dim_count(pointer))]
        names = [param.name.decode() for param in self._outputs]
        self._result = collections.namedtuple(self.__name__, names, rename=True) if len(names) > 1 else None
        fields = self._result._make if self._result else None
        elems = self._library._elems
        self._defaults = _signatures.defaults(self)
        _fast.attach(self, runtime, elems, pointer, params, self._dims, fields, self._is_operator)
        self.__signature__ = _signatures.signature(self, elems)
        self.__doc__ = _signatures.documentation(self, elems, runtime.ptl_entry_doc(pointer).decode())

    @property
    def wheres(self):
        """The requirements that each call is checked against, as written."""
        runtime = self._library._runtime
        return [runtime.ptl_where(self._pointer, i).decode() for i in range(runtime.ptl_where_count(self._pointer))]

    @property
    def variants(self):
        """What was compiled, one text per variant."""
        runtime = self._library._runtime
        count = runtime.ptl_variant_count(self._pointer)
        return [runtime.ptl_variant(self._pointer, i).decode() for i in range(count)]

    def __repr__(self):
        return f"<ptl {self.signature or self.__name__}>"

    # Calls themselves are made by `_fast.Caller`.

    def _declined(self, args, named):
        """What is no usual call."""
        places = {param.name.decode(): place for place, param in enumerate(self._params)}
        left_out = {name: value for name, value in self._defaults.items() if places[name] >= len(args) and name not in named}
        if left_out:
            return self(*args, **named, **left_out)
        if _fast.use_torch(self._library._elems):
            return self(*args, **named)
        try:
            return self._call(args, named)
        except VariantError as error:
            if not self._library._compile_variant(self.__name__, error.missing):
                raise
        return self._call(args, named)

    def _failed(self, args, named):
        """What the runtime has refused; once more if it lacked a variant."""
        error = errors.from_runtime(self._library._runtime)
        if isinstance(error, VariantError) and self._library._compile_variant(self.__name__, error.missing):
            return self(*args, **named)
        raise error

    def _call(self, args, named):
        values, given, dims = self._sort(args, named)
        runtime, elems = self._library._runtime, self._library._elems
        arrays, kept, types = [], [], {}
        for param, value in zip(self._params, values):
            if param.kind != _abi.SCALAR:
                view, keep = _arrays.describe(runtime, elems, param, value)
                types.setdefault(param.elem_name, view.array.elem)
                arrays.append(view)
                kept.append(keep)
        tail = self._tail(values, dims, types)
        results, codes = self._allocate(values, arrays, tail, given)
        for param, result, code in zip(self._outputs, results, codes):
            view, keep = _arrays.describe(runtime, elems, param, result)
            if param.name.decode() not in given:
                # An allocated array of bits does not say which type they are of.
                view.array.elem = code
            arrays.append(view)
            kept.append(keep)
        with _arrays.limited_threads(runtime, values):
            status = runtime.ptl_call(self._pointer, *_arrays.pointers(arrays), *tail)
        self._check(status)
        written = [*values, *(given.get(param.name.decode()) for param in self._outputs)]
        _arrays.note_written([*self._params, *self._outputs], written)
        return (self._result(*results) if self._result else results[0]) if results else None

    def _tail(self, values, dims, types):
        """The arguments after the arrays; `types` are those that the arrays give to type parameters."""
        elems = self._library._elems
        scalars = [
            _arrays.scalar(elems, p.name.decode(), p.elem if p.elem >= 0 else types.get(p.elem_name, -1), value)
            for p, value in zip(self._params, values)
            if p.kind == _abi.SCALAR
        ]
        cells = (_abi.Scalar * max(len(scalars), 1))(*scalars)
        sizes = (_abi.Dim * max(len(dims), 1))(*(_abi.Dim(n.encode(), v) for n, v in dims.items()))
        return cells, len(scalars), sizes, len(dims)

    def _sort(self, args, named):
        """Arguments by parameter, outputs and dimensions by name."""
        named = dict(named)
        if len(args) > len(self._params):
            raise errors.CallError(f"`{self.__name__}` takes {len(self._params)} arguments, not {len(args)}")
        values = list(args)
        for param in self._params[: len(args)]:
            if param.name.decode() in named:
                raise errors.CallError(f"`{self.__name__}`: `{param.name.decode()}` is given twice")
        # A name that nothing has is likely a misspelt one, and the argument that is missing follows from it.
        known = {each.name.decode() for each in (*self._params, *self._outputs)} | set(self._dims)
        for name in named:
            if name not in known:
                raise errors.CallError(f"`{self.__name__}` has no parameter or dimension `{name}`")
        for param in self._params[len(args) :]:
            if param.name.decode() not in named:
                raise errors.CallError(f"`{self.__name__}` lacks the argument `{param.name.decode()}`")
            values.append(named.pop(param.name.decode()))
        given = {p.name.decode(): named.pop(p.name.decode()) for p in self._outputs if p.name.decode() in named}
        return values, given, named

    def _allocate(self, values, arrays, tail, given):
        """The output arrays, and the codes of their element types."""
        runtime, elems = self._library._runtime, self._library._elems
        shapes = (_abi.View * max(len(self._outputs), 1))()
        self._check(runtime.ptl_infer(self._pointer, *_arrays.pointers(arrays), *tail, shapes))
        results = []
        for param, shape in zip(self._outputs, shapes):
            if param.name.decode() in given:
                results.append(given[param.name.decode()])
            else:
                extents = tuple(shape.extents[: shape.array.rank])
                results.append(_arrays.new(elems, shape.array.elem, extents, values, self._is_operator))
        return results, [shape.array.elem for shape in shapes]

    def _check(self, status):
        if status:
            raise errors.from_runtime(self._library._runtime)
