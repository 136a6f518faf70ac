"""Calls the library that main.c calls, from Python:

    ptlc build examples/02_softmax.ptl -D softmax_rows.C=100 -o libsoftmax.so
    PYTHONPATH=runtime/python python3 examples/embed/main.py ./libsoftmax.so

Given `examples/02_softmax.ptl` instead, the module compiles it, once per content and static value.
"""

import sys

import numpy as np
import ptl


def main() -> int:
    nn = ptl.load(sys.argv[1] if len(sys.argv) > 1 else "./libsoftmax.so")
    print(nn.softmax_rows.signature)

    x = (np.arange(37 * 100) % 17 - 8).astype(np.float32).reshape(37, 100)
    y = nn.softmax_rows(x)

    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    error = np.abs(y - e / e.sum(axis=-1, keepdims=True)).max()
    print(f"largest error against NumPy: {error:.1e}")

    try:
        nn.softmax_rows(x, y=np.empty((36, 100), np.float32))
    except ptl.ShapeError as caught:
        print(f"as expected: {caught}")
    else:
        return 1
    return 0 if error < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
