// Conversions between element types, and quantisation.

#include "passes/transform/legalize/legalize_conversion.h"
#include "passes/transform/legalize/legalize_comparison.h"
#include "passes/transform/legalize/legalize_wide.h"

#include <cmath>

using namespace mlir;

namespace ptl::ir::legalize {

namespace {
/// A conversion on its way: what is converted, where to, and how.
struct Way {
  const Tiles &t;
  Value x;
  Type from, to;
  llvm::StringRef round;
  bool saturate;

  Value via(Type hub) const { return t.convert(t.convert(x, hub), to, round, saturate); }
  Value into(Value y) const { return t.convert(y, to, round, saturate); }
};
} // namespace

static double lowest(Type type) {
  return isUnsigned(type) ? 0 : -std::ldexp(1.0, static_cast<int>(intBits(type)) - 1);
}
static double highest(Type type) {
  int bits = static_cast<int>(intBits(type)) - (isUnsigned(type) ? 0 : 1);
  return std::ldexp(1.0, bits) - 1;
}

/// A word that holds a value of the short type: its bits are all there is to narrow.
static Value shortenWord(const Tiles &t, Value word, Type to) {
  if (intBits(to) == 8) // Within 8 bits every step is exact.
    return t.convert(t.convert(t.convert(word, t.f32()), t.f16()), to);
  // Signed short types are what the conversion of words gives.
  if (!isUnsigned(to))
    return t.convert(word, to);
  // The signed value of the same bits fits into `i16`, so no conversion saturates.
  Value sign = t.shr(t.shl(word, 16), 16);
  return t.bitcast(t.convert(sign, t.i16()), to);
}

/// The low bits of a word as a value of the short type.
static Value wrapWord(const Tiles &t, Value word, Type to) {
  int unused = 32 - static_cast<int>(intBits(to));
  Value low = isUnsigned(to) ? t.bitAnd(word, highest(to)) : t.shr(t.shl(word, unused), unused);
  return shortenWord(t, low, to);
}

static Value limitWord(const Tiles &t, Value word, Type to) {
  return t.min(t.max(word, lowest(to)), highest(to));
}

// ---- from floats --------------------------------------------------------------------------------

/// Unsigned words: what a signed one cannot hold is moved down by 2^31.
static Value singleToUnsigned(const Way &way) {
  const Tiles &t = way.t;
  // A signed word ends at 2^31, so larger numbers are moved down and get the top bit afterwards.
  Value high = t.ge(way.x, 0x1p31);
  Value moved = t.select(high, t.sub(way.x, 0x1p31), way.x);
  // Negative numbers become 0.
  Value word = t.max(t.convert(moved, t.i32(), way.round), 0);
  Value top = t.choose(high, t.i32(), -0x1p31, 0);
  return t.bitcast(t.bitXor(word, top), way.to);
}

static Value fromFloat(const Way &way) {
  const Tiles &t = way.t;
  if (isBool(way.to))
    return t.ne(way.x, 0);
  if (!way.from.isF32())
    // Conversions from short floats to integers go through `f32`, which holds all of their values.
    return way.into(t.widen(way.x, t.f32()));
  if (isReal(way.to))
    return {};
  switch (intBits(way.to)) {
  case 8:
  case 16:
    return shortenWord(t, limitWord(t, t.convert(way.x, t.i32(), way.round), way.to), way.to);
  case 32:
    return singleToUnsigned(way);
  default:
    return {};
  }
}

// ---- from integers ------------------------------------------------------------------------------

/// Whole numbers of 32 bits and more as `f32` with the last bit sticky ("round to odd"): a later
/// rounding to fewer digits is then right, where one to nearest in between could end beside it.
static Value wholeToOdd(const Way &way) {
  const Tiles &t = way.t;
  auto bitsTowards = [&](llvm::StringRef round) {
    return t.bitcast(t.convert(way.x, t.f32(), round), t.i32());
  };
  // The two neighbours of an inexact number are one apart, so they differ in the last bit.
  Value isInexact = t.bitAnd(t.bitXor(bitsTowards("down"), bitsTowards("up")), 1);
  return t.bitcast(t.bitOr(bitsTowards("zero"), isInexact), t.f32());
}

/// Unsigned words in a direction. The upper half of them is halved first, with a sticky last bit.
static Value unsignedToSingle(const Way &way) {
  const Tiles &t = way.t;
  Value word = t.bitcast(way.x, t.i32());
  Value half = t.bitOr(t.shrUnsigned(word, 1), t.bitAnd(word, 1));
  Value large = t.mul(t.convert(half, t.f32(), way.round), 2);
  return t.select(t.lt(word, 0), large, t.convert(word, t.f32(), way.round));
}

static Value integerToFloat(const Way &way) {
  const Tiles &t = way.t;
  unsigned bits = intBits(way.from);
  if (bits == 8)
    // Eight bits fit into the significand of f16, so nothing is lost on the way.
    return way.via(t.f16());
  if (bits > 32 && isUnsigned(way.from))
    return {};
  if (!way.to.isF32())
    // What f16 and shorter types can hold is exact in `f32`; bf16 has its range.
    return bits >= 32 && way.to.isBF16() ? way.into(wholeToOdd(way)) : way.via(t.f32());
  if (bits > 32)
    return {};
  if (!isUnsigned(way.from))
    return {};
  if (bits == 16) {
    // The bits were taken as signed, so numbers from 2^15 on came out 2^16 too small.
    Value x = t.convert(t.bitcast(way.x, t.i16()), t.f32());
    return t.select(t.lt(x, 0), t.add(x, 0x1p16), x);
  }
  if (way.round != "even")
    return unsignedToSingle(way);
  // Both halves are exact; their sum rounds once.
  Value word = t.bitcast(way.x, t.i32());
  Value high = t.convert(t.shrUnsigned(word, 16), t.f32());
  return t.add(t.mul(high, 0x1p16), t.convert(t.bitAnd(word, 0xffff), t.f32()));
}

/// To 32 bits with the value kept.
static Value toWord(const Way &way, Type word) {
  const Tiles &t = way.t;
  switch (intBits(way.from)) {
  case 8:
    return t.convert(t.convert(way.x, t.f16()), word);
  case 16:
    if (isUnsigned(way.from))
      // Widening copied the sign bit, which the mask takes away again.
      return t.bitAnd(t.convert(t.bitcast(way.x, t.i16()), word), 0xffff);
    return t.convert(t.convert(way.x, t.f32()), word);
  default:
    return {};
  }
}

static Value integerToInteger(const Way &way) {
  const Tiles &t = way.t;
  unsigned from = intBits(way.from), to = intBits(way.to);
  Type word = t.i32();
  // Of 64 bits, both signs have the same words.
  if (from > 32 && isUnsigned(way.from) && !way.saturate && isWide(t, way.from))
    return way.into(t.bitcast(way.x, t.bitsOf(way.from)));
  if (from > 32 && to > 32 && !way.saturate)
    return t.bitcast(way.x, way.to);
  if (from > 32)
    // Only 64-bit integers are wider than a word; they become one first.
    return isUnsigned(way.from) || way.to == word || to > 32
               ? Value()
               : way.into(t.convert(way.x, word, "even", way.saturate));
  // Of equal width, wrapping keeps the bits.
  if (from == to && !way.saturate)
    return t.bitcast(way.x, way.to);
  if (from == 32 && isUnsigned(way.from)) {
    Value x = way.saturate ? t.min(way.x, highest(way.to)) : way.x;
    x = t.bitcast(x, word);
    if (to > 32 && isWide(t, way.to)) // The sign that was taken for one is cleared again.
      return t.bitcast(t.bitAnd(t.convert(x, t.bitsOf(way.to)), 0x1p32 - 1), way.to);
    return to > 32 ? Value() : way.to == word ? x : wrapWord(t, x, way.to);
  }
  if (from == 32) {
    // Unsigned numbers of 64 bits have the words of signed ones, and none is below 0.
    if (to > 32 && isUnsigned(way.to) && isWide(t, way.to))
      return t.bitcast(t.convert(way.saturate ? t.max(way.x, 0) : way.x, t.bitsOf(way.to)), way.to);
    if (to > 32)
      return {};
    if (to == 32) // Saturates to an unsigned word.
      return t.bitcast(t.max(way.x, 0), way.to);
    return way.saturate ? shortenWord(t, limitWord(t, way.x, way.to), way.to)
                        : wrapWord(t, way.x, way.to);
  }
  Value wide = way.from == word ? way.x : toWord(way, word);
  if (way.to == word)
    return wide;
  if (to > 32)
    // Words to 64 bits need an instruction of their own.
    return t.target.converts(word, way.to) ? way.into(wide) : Value();
  if (to == 32)
    return t.bitcast(way.saturate ? t.max(wide, 0) : wide, way.to);
  if (from == 8 && way.to == t.i16()) // All values of 8 bits are exact in f16.
    return t.convert(t.convert(way.x, t.f16()), way.to);
  return way.saturate ? shortenWord(t, limitWord(t, wide, way.to), way.to)
                      : wrapWord(t, wide, way.to);
}

/// Limits an integer to what the type holds before it is converted, where the conversion itself
/// would wrap: an instruction does, and 64 bits become a word first.
static void limitFirst(Way &way) {
  const Tiles &t = way.t;
  bool isInteger = intBits(way.from) && intBits(way.to);
  // Conversions by way of words limit by themselves, with what `saturate` says.
  if (!way.saturate || !isInteger ||
      (!t.target.converts(way.from, way.to) && intBits(way.from) <= 32))
    return;
  way.saturate = false;
  // A limit that the type itself has may be no number of it: 0 is none below unsigned ones.
  if (lowest(way.to) > lowest(way.from))
    way.x = t.max(way.x, lowest(way.to));
  if (highest(way.to) < highest(way.from))
    way.x = t.min(way.x, highest(way.to));
}

/// From 64 bits without a sign to as many with one. The largest of those is no `double`, which limits are given as.
static Value limitToSigned(const Way &way) {
  const Tiles &t = way.t;
  Value bits = t.bitcast(way.x, way.to);
  Value most = t.bitNot(t.number(way.to, lowest(way.to)));
  return t.select(t.lt(bits, 0), most, bits);
}

static Value rewriteConvert(const Tiles &t, Operation *op) {
  auto convert = cast<ConvertOp>(op);
  Way way{t,
          convert.getX(),
          elem(convert.getX()),
          elem(convert.getResult()),
          convert.getRound(),
          convert.getSaturate()};
  if (way.from == way.to)
    return way.x;
  if (isBool(way.from)) {
    if (isBool(way.to))
      return way.x;
    // Machines that select this type make the numbers directly, others through f16.
    bool takes = t.target.has("tsel", way.to) && t.target.has("tsels", way.to);
    return takes ? maskToNumbers(t, way.x, way.to) : t.convert(maskToNumbers(t, way.x), way.to);
  }
  if (way.saturate && isWide(t, way.from) && isUnsigned(way.from) && way.to == t.bitsOf(way.from))
    return limitToSigned(way);
  Value whole = way.x;
  limitFirst(way);
  if (t.target.converts(way.from, way.to) || way.from.isF64() || way.to.isF64())
    return way.x == whole ? Value() : way.into(way.x);
  if (isReal(way.from))
    return fromFloat(way);
  if (isBool(way.to))
    return t.ne(way.x, 0);
  return isReal(way.to) ? integerToFloat(way) : integerToInteger(way);
}

// ---- quantisation -------------------------------------------------------------------------------

static Value rewriteQuantize(const Tiles &t, Operation *op) {
  auto quantize = cast<QuantizeOp>(op);
  Type to = elem(quantize.getResult());
  // The quotient is computed in `f32` whatever the operand's type.
  Value scaled = t.div(t.widen(quantize.getX(), t.f32()), t.widen(quantize.getScale(), t.f32()));
  Value zero = quantize.getZero();
  if (isReal(to))
    return t.convert(zero ? t.add(scaled, t.convert(zero, t.f32())) : scaled, to);
  // The zero point is added after rounding, so that it stays exact.
  if (zero)
    scaled = t.add(t.round(scaled), t.convert(zero, t.f32()));
  return t.convert(scaled, to, "even", true);
}

static Value rewriteDequantize(const Tiles &t, Operation *op) {
  auto dequantize = cast<DequantizeOp>(op);
  Value number = dequantize.getQ(), zero = dequantize.getZero();
  // Integers are subtracted as integers, before anything rounds.
  if (zero && !isReal(elem(number)))
    number = t.sub(t.convert(number, t.i32()), zero);
  number = t.convert(number, t.f32());
  if (zero && isReal(elem(dequantize.getQ())))
    number = t.sub(number, t.convert(zero, t.f32()));
  Value result = t.mul(number, t.widen(dequantize.getScale(), t.f32()));
  return t.narrow(result, elem(dequantize.getResult()));
}

static constexpr Row kConversionRows[] = {
    {"convert", rewriteConvert},
    {"quantize", rewriteQuantize},
    {"dequantize", rewriteDequantize},
};

llvm::ArrayRef<Row> conversionRows() { return kConversionRows; }

} // namespace ptl::ir::legalize
