// What the library does with a number beyond the range of a shorter integer: a fact about its conversion, which the compiler and the
// simulator both look at.
#pragma once

#include "frontend/base/elem_type.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptl {

/// Whether the conversion limits a number to the range of the integer `to` if nobody says whether it should (`sat_mode`). Where it
/// narrows, it keeps the low bits between the types listed here only.
inline bool saturatesUntold(ElemKind from, ElemKind to) {
  constexpr std::pair<ElemKind, ElemKind> keepsBits[] = {
      {ElemKind::F32, ElemKind::I16}, {ElemKind::F16, ElemKind::I16},
      {ElemKind::F16, ElemKind::I8},  {ElemKind::F16, ElemKind::U8},
      {ElemKind::I64, ElemKind::I32}, {ElemKind::I32, ElemKind::I16},
  };
  bool narrows = isFloat(from) || elemBits(to) < elemBits(from);
  return narrows && !isFloat(to) &&
         std::find(std::begin(keepsBits), std::end(keepsBits), std::pair(from, to)) ==
             std::end(keepsBits);
}

} // namespace ptl
