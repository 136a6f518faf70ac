// Assignments that satisfy a set of facts (models). A claim that is false in a model has no proof;
// this settles most unprovable questions at once, without elimination.
#pragma once

#include "frontend/dim/facts.h"

namespace ptl {

/// An assignment of all symbols: a default by the kind of the symbol, and exceptions.
class DimModel {
public:
  /// The magnitude of the defaults.
  enum class Size : uint8_t { Least, One, Some };
  static constexpr size_t sizes = 3;

  DimModel(const DimContext &context, Size size) : context_(&context), size_(size) {}

  /// The value of a polynomial; nothing if a divisor is not positive or a step overflows.
  std::optional<int64_t> value(Dim a) const;
  /// Changes one symbol so that `a >= 0`, or `a == 0` with `isZero`; false if no single symbol can
  /// achieve it.
  bool repair(Dim a, bool isZero);

private:
  int64_t value(SymbolId symbol) const;
  int64_t least(SymbolId symbol) const;
  void set(SymbolId symbol, int64_t value);

  const DimContext *context_;
  Size size_;
  std::vector<std::pair<SymbolId, int64_t>> exceptions_; ///< few
};

} // namespace ptl
