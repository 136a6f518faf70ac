// Values of a run as debuggers show them: one line of text, and parts that can be expanded.
#pragma once

#include "codegen/reference/observer.h"

namespace ptl::debug {

/// A value, or a part of an array, with its name in the context where it is shown.
struct Shown {
  std::string name;
  reference::Value value;
  const Type *type = nullptr; ///< gives the field names of structs; null for parts of arrays
  std::vector<int64_t> index; ///< leading positions in an array
  std::string path;           ///< the expression that denotes it: `r.start`, `x[3, 1]`
};

/// `[0.5, 1, … 3]`; uninitialised elements are `?`.
std::string textOf(const Shown &shown);
/// `f32[8, 64]`, `int`, `a range`; for a part of an array the remaining shape.
std::string typeOf(const Shown &shown);

/// The number of parts that can be expanded by position, and by name.
size_t indexedCount(const Shown &shown);
size_t namedCount(const Shown &shown);
/// The parts from `start` on, at most `count`.
std::vector<Shown> partsOf(const Shown &shown, size_t start, size_t count);

/// The variables that are visible at the current statement of a call, outer ones first, with their
/// values.
std::vector<Shown> localsOf(const reference::ActiveCall &call);
/// The dimensions, tunables and element types of a call.
std::vector<Shown> dimensionsOf(const reference::ActiveCall &call, const reference::RunView &view);

/// Evaluates `x`, `x[3, 1]`, `r.start` and numbers in a call; nothing, with the reason, for other
/// expressions.
std::optional<Shown> evaluate(std::string_view text, const reference::ActiveCall &call,
                              const reference::RunView &view, std::string &problem);
/// Evaluates a comparison of two such expressions (`r.start >= 64`), or one expression that is true
/// if it is not zero.
std::optional<bool> holds(std::string_view condition, const reference::ActiveCall &call,
                          const reference::RunView &view, std::string &problem);

} // namespace ptl::debug
