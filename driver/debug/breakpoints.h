// Where a run is to stop.
#pragma once

#include "codegen/reference/observer.h"

#include <map>

namespace ptl::debug {

struct Breakpoint {
  uint32_t line = 0; ///< where it stands: that of a step, at or behind the line asked for
  uint32_t column = 0;
  bool isPossible = false; ///< whether there is such a step
  std::string condition;   ///< stops only where it holds; empty: always
  int64_t hits = 0;        ///< stops from this hit on
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
  /// Takes the place of those that the file had; the answer is in the same order.
  std::vector<Breakpoint> set(const std::string &path, const std::vector<Wanted> &wanted);
  /// The one at which a step begins.
  Breakpoint *at(Span step);

private:
  void collect(const CheckedModule &module);

  const SourceManager &sources_;
  std::map<std::string, FileId> files_;                  ///< by canonical path
  std::map<FileId, std::map<uint32_t, uint32_t>> steps_; ///< line and where its first step begins
  std::map<FileId, std::map<uint32_t, Breakpoint>> set_; ///< by where the step begins
};

/// The path by which a file is known whatever way leads to it.
std::string canonicalPath(const std::string &path);

} // namespace ptl::debug
