#include "codegen/pto/cpp_helpers.h"

using namespace mlir;

namespace ptl::pto {

void addCppHelpers(TextLines &text, const CppHelpers &helpers, const std::string &before) {
  static constexpr std::pair<const char *, const char *> bodies[] = {
      {"smaller", "a < b ? a : b"},
      {"larger", "a < b ? b : a"},
      // C++ rounds towards zero; these round up and down. The signs are compared without a product,
      // which might overflow. A divisor of 0 counts as 1, as on the CPU: what is proved of quotients
      // holds for divisors of at least 1, and no position may lie outside of its array.
      {"ceilDiv", "b == 0 ? a : a / b + (a % b != 0 && (a < 0) == (b < 0))"},
      {"floorDiv", "b == 0 ? a : a / b - (a % b != 0 && (a < 0) != (b < 0))"},
  };
  for (const auto &[name, body] : bodies)
    // Only helpers that the code uses are written.
    if (helpers.used.contains(name))
      text.add("template <typename A, typename B> " + before + "inline auto " + name +
               "(A a, B b) { return " + body + "; }");
  if (!helpers.used.empty())
    text.blank();
}

} // namespace ptl::pto
