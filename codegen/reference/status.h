// The ways in which a run ends.
#pragma once

#include "frontend/base/span.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::reference {

enum class RunStatus : uint8_t {
  Ok,
  Assert,        ///< an `assert` does not hold
  Where,         ///< a requirement of a callee does not hold
  Bounds,        ///< a position outside of its array
  Uninitialised, ///< an element was read, or is a result, that nothing has written
  Arithmetic,    ///< division of integers by zero, an `int` that its type does not hold
  Arguments,     ///< arguments that do not fit the entry
  Unsupported,   ///< block level, `extern` kernels, declarations with errors
  Fault,         ///< the checked tree contradicts itself: a fault of the compiler
  Memory,        ///< an array does not fit
  Compile,       ///< another executor could not compile the callee
  Silent,        ///< another part sent nothing for too long
};

/// `assert`, `where` …
std::string_view runStatusName(RunStatus status);

/// Why a run stopped: thrown within this folder only, turned into a result by its entry points.
struct Stop {
  RunStatus status = RunStatus::Fault;
  std::string message;
  Span span = kNoSpan;
  std::vector<Span> calls = {}; ///< the calls that led there, innermost first
  bool isObserved = false;      ///< an observer was told of it
};

[[noreturn]] void stop(RunStatus status, std::string message, Span span = kNoSpan);

} // namespace ptl::reference
