// Values of a run as debuggers show them: a text in one line, and parts that can be opened.
#pragma once

#include "codegen/reference/observer.h"

namespace ptl::debug {

/// A value, or a part of an array, with the name that it has where it stands.
struct Shown {
  std::string name;
  reference::Value value;
  const Type *type = nullptr; ///< names the fields of structs; null for parts of arrays
  std::vector<int64_t> index; ///< leading positions in an array
  std::string path;           ///< what finds it again: `r.start`, `x[3, 1]`
};

/// `[0.5, 1, … 3]`; elements that nothing has written yet are `?`.
std::string textOf(const Shown &shown);
/// `f32[8, 64]`, `int`, `a range`; of a part of an array the rest of its shape.
std::string typeOf(const Shown &shown);

/// How many parts can be opened by position, and by name.
size_t indexedCount(const Shown &shown);
size_t namedCount(const Shown &shown);
/// The parts from `start` on, at most `count`.
std::vector<Shown> partsOf(const Shown &shown, size_t start, size_t count);

/// The names that are visible at the statement that a call has come to, outer ones first, with what
/// they hold.
std::vector<Shown> localsOf(const reference::ActiveCall &call);
/// Its dimensions, tunables and element types.
std::vector<Shown> dimensionsOf(const reference::ActiveCall &call, const reference::RunView &view);

/// What `x`, `x[3, 1]`, `r.start` and numbers are at a call; nothing, and why, for what is none of
/// these.
std::optional<Shown> evaluate(std::string_view text, const reference::ActiveCall &call,
                              const reference::RunView &view, std::string &problem);
/// A comparison of two of these (`r.start >= 64`), or one that is not zero.
std::optional<bool> holds(std::string_view condition, const reference::ActiveCall &call,
                          const reference::RunView &view, std::string &problem);

} // namespace ptl::debug
