// Runs `test` and `property` blocks. Their bodies are always interpreted; their calls may run
// elsewhere.
#pragma once

#include "codegen/reference/interpreter.h"

namespace ptl::reference {

using DimValues = std::vector<std::pair<std::string, int64_t>>;

struct TestFailure {
  RunStatus status = RunStatus::Ok; ///< `Ok`: an expectation failed
  std::string message;
  Span span = kNoSpan;
  std::vector<Span> calls; ///< the calls that led there, innermost first
};

/// How one block ended.
struct TestOutcome {
  const CallableDecl *decl = nullptr;
  std::vector<TestFailure>
      failures;         ///< empty: passed. Of a property: those of the smallest failing shape
  DimValues dims;       ///< the smallest failing shape
  DimValues firstDims;  ///< the shape that failed first
  unsigned samples = 0; ///< shapes that were run
  double seconds = 0;

  bool passed() const { return failures.empty(); }
};

struct TestOptions {
  std::string filter;              ///< only names that contain it
  unsigned samples = 25;           ///< shapes per property
  uint64_t seed = 1;               ///< of the shapes
  unsigned shrinkRuns = 100;       ///< at most so many runs to make a failing shape smaller
  std::optional<uint64_t> shuffle; ///< order of `parallel` iterations, see `RunOptions`
  CallHandler handler;
  std::function<void(const std::string &)> print;
  std::function<void(const CallableDecl &)> onStart;
  Observer *observer = nullptr; ///< of the samples, not of the runs that shrink a failing one
};

/// The blocks of the root file, and the `fn`s that are declared associative, whose names match
/// `filter`, in order.
std::vector<const CallableDecl *> findTests(const CheckedProgram &program,
                                            const std::string &filter = {});
TestOutcome runTest(const CheckedProgram &program, const SourceManager &sources,
                    const CallableDecl &decl, const TestOptions &options);
/// Runs all of them; `onOutcome` is called at the end of each.
std::vector<TestOutcome> runTests(const CheckedProgram &program, const SourceManager &sources,
                                  const TestOptions &options,
                                  const std::function<void(const TestOutcome &)> &onOutcome = {});

/// The shapes to try: the ends of the ranges, 0 and 1, primes, neighbours of powers of two, random
/// ones. They are the same for the same seed. `ranges` are half open.
std::vector<std::vector<int64_t>>
sampleShapes(const std::vector<std::pair<int64_t, int64_t>> &ranges, unsigned count, uint64_t seed);

} // namespace ptl::reference
