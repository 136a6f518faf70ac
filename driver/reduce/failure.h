// What makes two failures of the compiler the same one.
#pragma once

#include "driver/reduce/processes.h"

#include <string>
#include <string_view>

namespace ptl {

/// A failure without what differs between a program and a smaller one that fails for the same
/// reason: names and numbers.
struct Failure {
  int signal = 0;      ///< the signal that ended the compiler, or 0
  int64_t code = 0;    ///< its exit code
  std::string message; ///< the first error that was printed, `E0506: …`; empty if there was none

  bool operator==(const Failure &) const = default;
  /// In one line: `signal 11 (Segmentation fault)`, `exit code 1, E0506: …`.
  std::string text() const;
};

/// The failure of a process that has ended, with what it printed.
Failure failureOf(const ProcessEnd &end, std::string_view output);

/// The first line with an error, with names in backticks written as `…` and numbers as `#`; empty
/// if there is none.
std::string firstError(std::string_view output);

} // namespace ptl
