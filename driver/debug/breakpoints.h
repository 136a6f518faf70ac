// The breakpoints of a run.
#pragma once

#include "codegen/reference/observer.h"
#include "common/canonical_path.h"

#include <map>

namespace ptl::debug {

struct Breakpoint {
  uint32_t line = 0; ///< the line of a step: the requested one, or the next that has a step
  uint32_t column = 0;
  bool isPossible = false; ///< whether there is such a step
  std::string condition;   ///< stops only if it holds; empty: always
  int64_t hits = 0;        ///< stops from this hit onward
  int64_t reached = 0;
};

/// The breakpoints of all files of a program.
class Breakpoints {
public:
  Breakpoints(const CheckedProgram &program, const SourceManager &sources);

  struct Wanted {
    uint32_t line = 0;
    std::string condition = {};
    int64_t hits = 0;
  };
  /// Replaces the breakpoints of the file; the answer is in the same order.
  std::vector<Breakpoint> set(const std::string &path, const std::vector<Wanted> &wanted);
  /// The breakpoint at which a step begins; null if there is none.
  Breakpoint *at(Span step);

private:
  void collect(const CheckedModule &module);

  const SourceManager &sources_;
  std::map<std::string, FileId> files_; ///< by canonical path
  /// for each line, the offset at which its first step begins
  std::map<FileId, std::map<uint32_t, uint32_t>> steps_;
  std::map<FileId, std::map<uint32_t, Breakpoint>> set_; ///< by the offset at which the step begins
};

} // namespace ptl::debug
