"""The way of usual calls past ctypes: `_fast_call`, written in C. Where it was not built, or Python is older than 3.11, calls take
the long way, which does the same. PTL_FAST_CALLS=off is for tests of that."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys

import numpy as np

from . import _abi


def load_built(name, file):
    """The module of that name in a file that was built for it; None where it was not."""
    package = pathlib.Path(__file__).resolve().parent
    folders = [package]
    # A checkout: the package lies in runtime/python/ptl, and what is built in a folder of its own.
    if "PTLC" in os.environ:
        folders.append(pathlib.Path(os.environ["PTLC"]).resolve().parent.parent / "lib" / "python")
    folders.append(package.parents[2] / "build" / "lib" / "python")
    for folder in folders:
        path = folder / file
        if path.exists():
            loader = importlib.machinery.ExtensionFileLoader(name, str(path))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
            loader.exec_module(module)
            return module
    return None


def _load():
    if sys.version_info < (3, 11) or os.environ.get("PTL_FAST_CALLS") == "off":
        return None
    return load_built("ptl._fast_call", "_fast_call.abi3.so")


class _SlowCaller:
    """In place of the class in C: declines every call."""

    def _attach(self, *description):
        pass

    def _fast(self, *args, **named):
        return NotImplemented

    def __call__(self, *args, **named):
        return self._declined(args, named)


_module = _load()
# What entries are: called, it makes usual calls, leaves others to `_declined(args, named)`, and those that the runtime refused to
# `_failed(args, named)`.
Caller = _module.Caller if _module else _SlowCaller
_MOST = 32  # parameters, and dimensions, that the code in C has room for


def attach(caller, runtime, elems, entry, params, dims, result, is_operator):
    """Tells a `Caller` what it calls."""
    if _module is None or len(params) > _MOST or len(dims) > _MOST:
        return
    inputs = [param for param in params if param.kind != _abi.OUTPUT]
    outputs = [param for param in params if param.kind == _abi.OUTPUT]
    rows = [(param.name.decode(), param.kind, param.elem, param.strides) for param in inputs + outputs]
    dtypes = [elems.dtypes.get(code) for code in range(len(elems.names))]
    functions = (runtime.ptl_call, runtime.ptl_infer, runtime.ptl_limit_threads)
    caller._attach(*map(_abi.address, functions), entry, rows, dims, dtypes, np.empty, result, is_operator)


_knows_torch = False


def use_torch(elems):
    """Lets calls in C take tensors of PyTorch, if it has been imported; whether that is new."""
    global _knows_torch
    torch = sys.modules.get("torch")
    if _knows_torch or _module is None or not hasattr(torch, "empty_like"):
        return False
    from . import _tensors

    _module.use_torch(_tensors.table(elems))
    _knows_torch = True
    return True
