"""The libraries that PTL is measured beside. Each is used if it is there; `absent` names the others."""

import ctypes
import ctypes.util

import numpy as np


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Blas:
    """A library with the C interface of BLAS."""

    def __init__(self, name, threads):
        found = ctypes.util.find_library(name)
        self.is_here = found is not None
        if not found:
            return
        self._code = ctypes.CDLL(found)
        setter = {"openblas": "openblas_set_num_threads", "blis": "bli_thread_set_num_threads"}[name]
        if hasattr(self._code, setter):
            getattr(self._code, setter)(threads)
        if name == "openblas":
            self._code.openblas_get_corename.restype = ctypes.c_char_p
            print(f"OpenBLAS runs its code for {self._code.openblas_get_corename().decode()}")

    def gemm(self, a, b, c, transposed=False):
        """A call of `c = a @ b`, or of `c = a @ b.T`, on rows of floats."""
        rows, depth, columns = a.shape[0], a.shape[1], c.shape[1]
        one, zero, number = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int
        arguments = (101, 111, 112 if transposed else 111, number(rows), number(columns), number(depth), one, pointer(a),
                     number(depth), pointer(b), number(b.shape[1]), zero, pointer(c), number(columns))  # fmt: skip
        return lambda: self._code.cblas_sgemm(*arguments)

    def gemv(self, a, x, y):
        """A call of `y = a @ x`."""
        rows, columns = (ctypes.c_int(n) for n in a.shape)
        one, zero, step = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int(1)
        arguments = (101, 111, rows, columns, one, pointer(a), columns, pointer(x), step, zero, pointer(y), step)
        return lambda: self._code.cblas_sgemv(*arguments)


def torch_or_none(threads):
    """PyTorch, without gradients, on that many threads."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch


class Peers:
    """What is installed, and the names of what is not."""

    PACKAGES = {"openblas": "libopenblas0-pthread", "blis": "libblis4-pthread", "torch": "python3-torch"}

    def __init__(self, threads):
        self.blas = {name: Blas(name, threads) for name in ("openblas", "blis")}
        self.torch = torch_or_none(threads)
        self.absent = [name for name, library in self.blas.items() if not library.is_here]
        self.blas = {name: library for name, library in self.blas.items() if library.is_here}
        if self.torch is None:
            self.absent.append("torch")

    def products(self, a, b, c, transposed=False):
        """Calls of every BLAS on the same product."""
        return {name: library.gemm(a, b, c, transposed) for name, library in self.blas.items()}

    def tensor(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array))
