// Measures the time of an entry on this processor, with arguments that are drawn once and used for
// all its forms.
#pragma once

#include "compile/call/arguments.h"
#include "compile/call/example_call.h"
#include "compile/compiler_options.h"
#include "compile/tune/search.h"

#include <memory>

namespace ptl {

class CompiledExecutor;

/// One form of an entry as native code.
struct MeasuredForm {
  const CheckedProgram &program;
  const SourceManager &sources;
  const BoundEntry &bound;
  const CompilerOptions &options;
};

class EntryClock {
public:
  EntryClock();
  ~EntryClock();

  /// Compiles a form and calls it for a few hundredths of a second. The least time of a call
  /// counts, since other load only adds to it. All forms measured by one object must be of one
  /// entry: the arguments drawn for the first are used for all.
  TuneOutcome measure(const MeasuredForm &form, const ExampleSizes &sizes);

  /// Why no arguments can be drawn; empty if they can be.
  const std::string &problem() const { return problem_; }
  /// The lengths of the calls, and why they were chosen.
  const std::vector<ExampleSize> &sizes() const { return sizes_; }

private:
  bool draw(const MeasuredForm &form, const ExampleSizes &sizes, CompiledExecutor &executor);

  std::unique_ptr<RunInputs> inputs_;
  std::vector<ExampleSize> sizes_;
  std::string problem_;
};

} // namespace ptl
