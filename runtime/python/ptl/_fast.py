"""The way of usual calls past ctypes: `_fast_call`, written in C. Where it was not built, or Python is older than 3.11, calls take
the long way, which does the same."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys

import numpy as np

from . import _abi


def _load():
    if sys.version_info < (3, 11):
        return None
    package = pathlib.Path(__file__).resolve().parent
    folders = [package]
    # A checkout: the package lies in runtime/python/ptl, and what is built in a folder of its own.
    if "PTLC" in os.environ:
        folders.append(pathlib.Path(os.environ["PTLC"]).resolve().parent.parent / "lib" / "python")
    folders.append(package.parents[2] / "build" / "lib" / "python")
    for folder in folders:
        path = folder / "_fast_call.abi3.so"
        if path.exists():
            loader = importlib.machinery.ExtensionFileLoader("ptl._fast_call", str(path))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ptl._fast_call", loader))
            loader.exec_module(module)
            return module
    return None


_module = _load()


def caller(runtime, elems, entry, params, result, fail):
    """What makes usual calls of the entry, or None. It gives `NotImplemented` for all others."""
    if _module is None or len(params) > 32:
        return None
    inputs = [param for param in params if param.kind != _abi.OUTPUT]
    outputs = [param for param in params if param.kind == _abi.OUTPUT]
    rows = [(param.name.decode(), param.kind, param.elem, param.strides) for param in inputs + outputs]
    dtypes = [elems.dtypes.get(code) for code in range(len(elems.names))]
    return _module.Caller(_abi.address(runtime.ptl_call), _abi.address(runtime.ptl_infer), entry, rows, dtypes, np.empty,
                          result, fail)  # fmt: skip
