"""Which of its code OpenBLAS runs, settled before NumPy, PyTorch or a benchmark loads it: what it finds out by itself may be too low."""

import os


def processor():
    """The vendor and the features of this machine's processor; empty where the kernel does not say."""
    vendor, features = "", set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "vendor_id":
                    vendor = value.strip()
                elif key.strip() == "flags":
                    return vendor, set(value.split())
    except OSError:
        pass
    return vendor, features


def settle():
    """Lets OpenBLAS run the best code that it has for this processor, whatever the environment says."""
    # An environment that names an older processor makes OpenBLAS slower than it is.
    os.environ.pop("OPENBLAS_CORETYPE", None)
    vendor, features = processor()
    # OpenBLAS 0.3.21 takes AMD's processors with AVX-512 for ones without: 106 GFLOP/s instead of 194 on an EPYC of family 26.
    if vendor == "AuthenticAMD" and {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= features:
        os.environ["OPENBLAS_CORETYPE"] = "COOPERLAKE" if "avx512_bf16" in features else "SKYLAKEX"
