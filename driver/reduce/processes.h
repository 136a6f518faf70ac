// Processes that run beside each other, each with a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ptl {

/// One process to run.
struct Command {
  std::vector<std::string> words; ///< the program, which is looked for in PATH, and its arguments
  std::string outputPath;         ///< the file that receives standard output and standard error
};

/// How a process ended.
struct ProcessEnd {
  int64_t code = 0;         ///< its exit code
  int signal = 0;           ///< the signal that ended it, or 0
  bool isLate = false;      ///< it exceeded the time limit and was killed
  std::string startProblem; ///< why it was not started; empty if it was
};

/// Runs the commands side by side and waits for all of them. They read nothing, inherit this
/// process's environment and working folder, and are killed after `limit`.
std::vector<ProcessEnd> runAll(const std::vector<Command> &commands,
                               std::chrono::milliseconds limit);

} // namespace ptl
