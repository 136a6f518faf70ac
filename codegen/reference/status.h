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
  Where,         ///< a requirement (`where`) of a callee does not hold
  Bounds,        ///< a position outside of its array
  Uninitialised, ///< an element that was never written was read, or is a result
  Arithmetic,    ///< division of integers by zero, an `int` that its type does not hold
  Arguments,     ///< arguments that do not fit the entry
  Unsupported,   ///< block level, `extern` kernels, declarations with errors
  Fault,         ///< the checked tree is inconsistent: an error of the compiler
  Memory,        ///< an array does not fit
  Compile,       ///< another executor could not compile the callee
  Silent,        ///< no message arrived from another part within the time limit
};

/// `assert`, `where` …
std::string_view runStatusName(RunStatus status);

/// Why a run stopped. It is thrown within this folder only; the entry points turn it into a result.
struct Stop {
  RunStatus status = RunStatus::Fault;
  std::string message;
  Span span = kNoSpan;
  std::vector<Span> calls = {}; ///< the calls that led there, innermost first
  bool isObserved = false;      ///< an observer has been notified
};

[[noreturn]] void stop(RunStatus status, std::string message, Span span = kNoSpan);

} // namespace ptl::reference
