// One program on all executors: what each of them makes of it.
#pragma once

#include "codegen/cpu/native.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ptl::differential {

/// What can be wrong with an executor, the worst first.
enum class Kind : uint8_t {
  Wrong,    ///< another value than the reference, or one of them stops
  Crash,    ///< a signal, an abort
  Internal, ///< an internal error of the compiler, or of what it made
  Hang,     ///< no end within the limits of time or memory
  Refuted,  ///< the prover found a fault in what would leave the compiler
  Refused,  ///< cannot be compiled for it
  Invalid,  ///< the program itself has errors
};
std::string_view kindName(Kind kind);

struct Observation {
  std::string executor; ///< `cpu-O2`, `a3`
  Kind kind;
  std::string text;
  std::map<std::string, int64_t> extents; ///< of the call that showed it
  uint64_t seed = 0;                      ///< of its arguments
};

/// A program and how to call it: its last callable, with these extents where they are given.
struct Case {
  std::string text;
  std::map<std::string, int64_t> extents;
  uint64_t seed = 1;
};

/// Adds up what the steps of many programs take, in processor time of this process.
class StepClock {
public:
  /// Ends the step before.
  void enter(const std::string &step);
  /// Seconds, the longest first.
  std::string report() const;

private:
  std::map<std::string, double> seconds_;
  std::string step_;
  double since_ = 0;
};

struct EvaluateOptions {
  std::string stdPath;
  /// `cpu-O0`, `cpu-O2`, `cpu-O3`, `a2`, `a3`, `a5`.
  std::vector<std::string> executors = {"cpu-O0", "cpu-O2", "cpu-O3", "a2", "a3", "a5"};
  int samples = 2;
  /// Many programs rather than all of each: one of the levels 2 and 3, by the seed, has its machine
  /// code from the whole code generator and the other from the quick one (else both have both), and
  /// one program in eight runs on a machine that is one before but for its name.
  bool isThrifty = false;
  StepClock *clock = nullptr; ///< null: nobody asks
  /// Whose native code is run; it must be able to run here.
  cpu::Processor processor = cpu::Processor::host();
};

/// Runs the program in this process; `onStage` is told before what could crash, `onObserved` when
/// something is wrong.
void evaluate(const Case &program, const EvaluateOptions &options,
              const std::function<void(const std::string &)> &onStage,
              const std::function<void(const Observation &)> &onObserved);

/// Compiles the functions that the code of many programs shares, so that processes that are forked
/// from here on have them.
void compileSharedCode(const EvaluateOptions &how);

} // namespace ptl::differential
