#include "codegen/pto/cpp_helpers.h"

using namespace mlir;

namespace ptl::pto {

/// The quotient by -1, as the middle of a choice.
#define PTL_BY_MINUS_ONE "B(-1) < B(0) && b == B(-1) ? A(0 - uint64_t(a))"

static constexpr const char *kSaturated[] = {
    "template <typename T, typename F>",
    "inline T saturated(F x) {",
    "  constexpr bool isSigned = T(-1) < T(0);",
    "  constexpr T most = T(~uint64_t(0) >> (64 + isSigned - 8 * sizeof(T)));",
    "  constexpr T least = isSigned ? T(-most - 1) : T(0);",
    "  return x != x ? T(0) : x >= F(most) ? most : x <= F(least) ? least : T(x);",
    "}",
};

void addCppHelpers(TextLines &text, const CppHelpers &helpers, const std::string &before) {
  static constexpr std::pair<const char *, const char *> bodies[] = {
      {"smaller", "a < b ? a : b"},
      {"larger", "a < b ? b : a"},
      // C++ rounds towards zero; these round up and down. The signs are compared without a product,
      // which might overflow. A divisor of 0 counts as 1, as on the CPU: what is proved of quotients
      // holds for divisors of at least 1, and no position may lie outside of its array. The least
      // number by -1 does not fit, so a quotient by -1 is a difference of unsigned numbers, which wraps.
      {"ceilDiv", "b == 0 ? a : " PTL_BY_MINUS_ONE " : a / b + (a % b != 0 && (a < 0) == (b < 0))"},
      {"quotientOf", "b == 0 ? a : " PTL_BY_MINUS_ONE " : a / b"},
      {"remainderOf", "b == 0 || (B(-1) < B(0) && b == B(-1)) ? A(0) : a % b"},
      {"floorDiv",
       "b == 0 ? a : " PTL_BY_MINUS_ONE " : a / b - (a % b != 0 && (a < 0) != (b < 0))"},
  };
  for (const auto &[name, body] : bodies)
    // Only helpers that the code uses are written.
    if (helpers.used.contains(name))
      text.add("template <typename A, typename B> " + before + "inline auto " + name +
               "(A a, B b) { return " + body + "; }");
  // C++ leaves undefined what a number becomes that the integer cannot hold, and processors differ;
  // in the language it is the nearest one, and 0 for NaN. The largest integer is rounded up as a
  // float, so what is below that fits.
  if (helpers.used.contains("saturated"))
    for (const char *line : kSaturated)
      text.add((line == kSaturated[1] ? before : std::string()) + line);
  if (!helpers.used.empty())
    text.blank();
}

} // namespace ptl::pto
