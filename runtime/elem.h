#pragma once

#include "runtime/include/ptl.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptl::rt {

/// One row of `include/ptl_elems.def`.
struct ElemInfo {
  PtlElem elem;
  const char *name;
  int bits;
  const char *numpy; // kind and size, "" if the runtime cannot store it
  int dlpackCode;

  int size() const { return bits / 8; }
};

/// nullptr for codes that name no element type.
const ElemInfo *elemInfo(int32_t elem);
std::optional<PtlElem> elemFromName(std::string_view name);
const char *elemName(int32_t elem);

/// Whether data of type `given` may be passed for a parameter of type `declared`: the types are
/// equal, or `int` and `i64`.
bool sameStorage(int32_t declared, int32_t given);

/// The value of the element at `cell` as text: the shortest that parses to the same value.
std::string formatElem(int32_t elem, const void *cell);

/// The value as a number, for expressions: integers exact, floats as `double`.
struct Number {
  bool isFloat = false;
  int64_t i = 0;
  double f = 0.0;

  static Number integer(int64_t value) { return {false, value, 0.0}; }
  static Number floating(double value) { return {true, 0, value}; }
  double asDouble() const { return isFloat ? f : static_cast<double>(i); }
};
Number loadElem(int32_t elem, const void *cell);

} // namespace ptl::rt
