"""The numbers of floats of 8 and 4 bits, by their codes, and what is rounded to them (docs/language.md, 3.1 and 3.6)."""
import numpy as np


def numbers_of(exponent_bits, mantissa_bits, bias):
    """The number of each code, a sign in front; what the largest exponent stands for is the format's own affair."""
    codes = np.arange(1 << 1 + exponent_bits + mantissa_bits)
    exponent, fraction = codes >> mantissa_bits & (1 << exponent_bits) - 1, (codes & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    magnitude = np.where(exponent == 0, np.ldexp(fraction, 1 - bias), np.ldexp(1 + fraction, exponent - bias))
    return np.where(codes >> exponent_bits + mantissa_bits, -magnitude, magnitude)


def tables():
    e4m3, e5m2, scales = numbers_of(4, 3, 7), numbers_of(5, 2, 15), np.ldexp(1.0, np.arange(256) - 127)
    e4m3[0x7F::0x80] = np.nan
    for sign in (0x00, 0x80):
        e5m2[sign | 0x7C] = np.copysign(np.inf, e5m2[sign])
        e5m2[sign | 0x7D:(sign | 0x7F) + 1] = np.nan
    scales[255] = np.nan
    return {"f8e4m3": e4m3, "f8e5m2": e5m2, "f8e8m0": scales, "f4e2m1": numbers_of(2, 1, 1)}


TABLES = tables()


def to_power(values):
    """To the nearest power of two from 2^-127 to 2^127, and of two to the one with the even code."""
    known = values >= 0
    fraction, exponent = np.frexp(np.clip(np.where(known, values, 1), 2.0**-127, 2.0**127))
    code = exponent + 126  # a fraction is at least a half
    code += (fraction > 0.75) | ((fraction == 0.75) & (code % 2 == 1))
    return np.where(known, np.ldexp(1.0, np.minimum(code, 254) - 127), np.nan)


def rounded(element, values):
    """Doubles converted to a float type, to nearest even; floats of 8 and 4 bits saturate, for infinity, too."""
    if element in ("f16", "f32"):
        with np.errstate(over="ignore"):
            return values.astype({"f16": np.float16, "f32": np.float32}[element]).astype(np.float64)
    if element == "f8e8m0":
        return to_power(values)
    table = TABLES[element]
    numbers = table[:len(table) // 2][np.isfinite(table[:len(table) // 2])]  # those without a sign, in order
    magnitude = np.minimum(np.where(np.isnan(values), 0, abs(values)), numbers[-1])
    above = np.searchsorted(numbers, magnitude)
    below = np.maximum(above - 1, 0)
    to_above, to_below = numbers[above] - magnitude, magnitude - numbers[below]
    is_below = (to_below < to_above) | ((to_below == to_above) & (below % 2 == 0))
    result = np.copysign(np.where(is_below, numbers[below], numbers[above]), values)
    if element == "f4e2m1":
        return np.where(np.isnan(values), 0.0, result)
    return np.where(np.isnan(values), np.nan, result)
