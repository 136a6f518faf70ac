// Element types as data: every reader of `elem_types.def` goes through this header.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

/// One entry per row of `elem_types.def`: `ElemKind::BF16`.
enum class ElemKind : uint8_t {
#define ELEM(NAME, SPELLING, CLASS, BITS, BYTES, ACC, MANTISSA, EXPONENT) NAME,
#include "frontend/base/elem_types.def"
};

/// `Position` is `int`, the 64-bit type of sizes and positions.
enum class ElemClass : uint8_t { Bool, Signed, Unsigned, Float, Position };

/// The kinds that a generic element type may be given: `[T: float]`. `Number` is `Integer` or
/// `Float`; `Any` adds `bool`.
enum class ElemConstraint : uint8_t { Float, Integer, Number, Any, Bool };

/// One row of `elem_types.def`.
struct ElemInfo {
  ElemKind kind;
  std::string_view name; ///< spelling in the language
  ElemClass elemClass;
  uint8_t bits;         ///< width of a value
  uint8_t storageBytes; ///< bytes of one element in memory
  ElemKind acc;         ///< `acc(T)`
  uint8_t mantissaBits; ///< explicit fraction bits, 0 unless a float
  uint8_t exponentBits; ///< 0 unless a float
};

inline constexpr std::array elemInfos = {
#define ELEM(NAME, SPELLING, CLASS, BITS, BYTES, ACC, MANTISSA, EXPONENT)                          \
  ElemInfo{ElemKind::NAME, SPELLING,      ElemClass::CLASS, BITS,                                  \
           BYTES,          ElemKind::ACC, MANTISSA,         EXPONENT},
#include "frontend/base/elem_types.def"
};

constexpr const ElemInfo &elemInfo(ElemKind kind) { return elemInfos[static_cast<size_t>(kind)]; }
constexpr std::string_view elemName(ElemKind kind) { return elemInfo(kind).name; }
constexpr unsigned elemBits(ElemKind kind) { return elemInfo(kind).bits; }
constexpr unsigned elemBytes(ElemKind kind) { return elemInfo(kind).storageBytes; }
/// The type in which products and reductions of `kind` accumulate.
constexpr ElemKind accOf(ElemKind kind) { return elemInfo(kind).acc; }

constexpr bool isFloat(ElemKind kind) { return elemInfo(kind).elemClass == ElemClass::Float; }
/// Signed, unsigned and `int`; not `bool`.
constexpr bool isInteger(ElemKind kind) {
  ElemClass c = elemInfo(kind).elemClass;
  return c == ElemClass::Signed || c == ElemClass::Unsigned || c == ElemClass::Position;
}
constexpr bool isSigned(ElemKind kind) {
  ElemClass c = elemInfo(kind).elemClass;
  return c == ElemClass::Signed || c == ElemClass::Position;
}
constexpr bool isNumber(ElemKind kind) { return kind != ElemKind::Bool; }
/// The number of elements of a block-scaled array that share one scale.
inline constexpr int64_t kBlockLength = 32;
/// Whether arrays of the type that calls pass and receive have two elements in a byte, the one at the even position of the
/// last axis in the lower four bits.
constexpr bool isPacked(ElemKind kind) { return elemBits(kind) == 4; }
/// Whether the type is only for storage: elements are converted, moved and multiplied with their
/// scales, but there is no arithmetic in the type.
constexpr bool isHeldOnly(ElemKind kind) {
  return kind == ElemKind::F4E2M1 || kind == ElemKind::F8E8M0;
}

/// Whether `kind` is one of the types that `constraint` admits.
constexpr bool satisfies(ElemKind kind, ElemConstraint constraint) {
  switch (constraint) {
  case ElemConstraint::Float:
    return isFloat(kind) && !isHeldOnly(kind);
  case ElemConstraint::Integer:
    return isInteger(kind);
  case ElemConstraint::Number:
    return isNumber(kind) && !isHeldOnly(kind);
  case ElemConstraint::Any:
    return true;
  case ElemConstraint::Bool:
    return kind == ElemKind::Bool;
  }
  return false;
}
constexpr std::string_view constraintName(ElemConstraint constraint) {
  constexpr std::array<std::string_view, 5> names = {"float", "integer", "number", "any", "bool"};
  return names[static_cast<size_t>(constraint)];
}

/// The element type of that spelling, or nothing.
constexpr std::optional<ElemKind> elemKindByName(std::string_view name) {
  for (const ElemInfo &info : elemInfos)
    if (info.name == name)
      return info.kind;
  return std::nullopt;
}
/// The constraint of that spelling (`float integer number any`), or nothing.
constexpr std::optional<ElemConstraint> constraintByName(std::string_view name) {
  for (ElemConstraint c : {ElemConstraint::Float, ElemConstraint::Integer, ElemConstraint::Number,
                           ElemConstraint::Any})
    if (constraintName(c) == name)
      return c;
  return std::nullopt;
}

} // namespace ptl
