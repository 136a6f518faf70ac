"""What this machine can do, measured: multiply-adds, reading and copying, on as many threads as a run has."""

import ctypes
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def compiled(folder, name, *options):
    """The C file of that name in this folder, as a loaded library."""
    compiler = next((name for name in ("clang-19", "clang") if shutil.which(name)), None)
    if not compiler:
        sys.exit("the limits need Clang, which `./dev` installs")
    path = os.path.join(folder, name + ".so")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", *options, os.path.join(HERE, name + ".c"), "-o", path], check=True)
    return ctypes.CDLL(path)


class Limits:
    """Calls that are at the limit; each returns nothing and releases the interpreter while it runs."""

    def __init__(self, folder, threads):
        self._code = compiled(folder, "limits")
        self._code.ptl_limit_fma.restype = ctypes.c_double
        self._code.ptl_limit_read.restype = ctypes.c_int64
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        # Larger than any cache; each thread has its part.
        bytes_each = (256 << 20) // threads // 4096 * 4096
        self._parts = [tuple(self._aligned(bytes_each) for _ in range(2)) for _ in range(threads)]
        self.bytes = bytes_each * threads
        self.operations = 0.0

    @staticmethod
    def _aligned(size):
        room = np.ones(size + 64, np.uint8)
        start = -room.ctypes.data % 64
        return room[start : start + size]

    def _all(self, work):
        list(self._pool.map(work, self._parts))

    def fma(self):
        """Sets `operations` to how many floating-point operations were done."""
        sinks = [ctypes.c_float() for _ in self._parts]
        self.operations = sum(
            self._pool.map(lambda sink: self._code.ptl_limit_fma(ctypes.c_int64(2_000_000), ctypes.byref(sink)), sinks)
        )

    def read(self):
        self._all(lambda part: self._code.ptl_limit_read(ctypes.c_void_p(part[0].ctypes.data), ctypes.c_int64(part[0].size)))

    def copy(self):
        self._all(lambda part: self._code.ptl_limit_copy(
            ctypes.c_void_p(part[1].ctypes.data), ctypes.c_void_p(part[0].ctypes.data), ctypes.c_int64(part[0].size)))  # fmt: skip
