#include "codegen/reference/test_runner.h"

#include "codegen/reference/associativity.h"
#include "frontend/sema/calls/associative.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

namespace ptl::reference {

// ---- Shapes ------------------------------------------------------------------------------------

namespace {

constexpr double kLargestSample =
    1 << 22; ///< product of the dimensions, so that one sample takes moments

/// Lengths where tiles and vectors end, within `[lo, hi)`.
std::vector<int64_t> notableLengths(int64_t lo, int64_t hi) {
  std::set<int64_t> lengths = {lo, lo + 1, hi - 1, hi - 2, 0,   1,   2,   3,   5,
                               7,  13,     31,     61,     131, 251, 509, 1021};
  for (int64_t power = 8; power <= 4096; power *= 2)
    lengths.insert({power - 1, power, power + 1});
  std::vector<int64_t> within;
  for (int64_t length : lengths)
    if (length >= lo && length < hi)
      within.push_back(length);
  return within;
}

double product(const std::vector<int64_t> &shape) {
  double product = 1;
  for (int64_t extent : shape)
    product *= static_cast<double>(std::max<int64_t>(extent, 1));
  return product;
}

} // namespace

std::vector<std::vector<int64_t>>
sampleShapes(const std::vector<std::pair<int64_t, int64_t>> &ranges, unsigned count,
             uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::vector<int64_t>> notable;
  std::vector<int64_t> lowest, next, highest;
  for (const auto &[lo, hi] : ranges) {
    notable.push_back(notableLengths(lo, hi));
    lowest.push_back(lo);
    next.push_back(std::min(std::max<int64_t>(lo, 1), hi - 1));
    highest.push_back(hi - 1);
  }
  std::vector<std::vector<int64_t>> shapes;
  std::set<std::vector<int64_t>> seen;
  auto add = [&](const std::vector<int64_t> &shape) {
    if (shapes.size() < count && product(shape) <= kLargestSample && seen.insert(shape).second)
      shapes.push_back(shape);
  };
  add(lowest);
  add(next);
  add(highest);
  for (size_t i = 0; i < ranges.size(); ++i) // One dimension at its end, the others small.
    for (int64_t length : {lowest[i], highest[i]}) {
      std::vector<int64_t> shape = next;
      shape[i] = length;
      add(shape);
    }
  for (unsigned attempt = 0; attempt < count * 20 && shapes.size() < count; ++attempt) {
    std::vector<int64_t> shape;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto &[lo, hi] = ranges[i];
      bool isNotable = generator() % 3 != 0;
      shape.push_back(
          isNotable ? notable[i][generator() % notable[i].size()]
                    : lo + static_cast<int64_t>(generator() % static_cast<uint64_t>(hi - lo)));
    }
    add(shape);
  }
  if (shapes.empty() && count > 0)
    shapes.push_back(lowest); // Every shape is large.
  return shapes;
}

// ---- Running -----------------------------------------------------------------------------------

namespace {

/// One block, run on one shape after the other.
class Runner {
public:
  Runner(const CheckedProgram &program, const SourceManager &sources, const CallableDecl &decl,
         const TestOptions &options)
      : program_(program), sources_(sources), decl_(decl), options_(options) {}

  /// The failures on one shape. Shapes that the block's own `where` excludes have none.
  std::vector<TestFailure> run(const std::vector<int64_t> &shape, Observer *observer = nullptr);
  void runProperty(TestOutcome &outcome);

private:
  std::vector<int64_t> shrink(std::vector<int64_t> shape, std::vector<TestFailure> &failures);
  DimValues named(const std::vector<int64_t> &shape) const;

  const CheckedProgram &program_;
  const SourceManager &sources_;
  const CallableDecl &decl_;
  const TestOptions &options_;
};

bool isOwnRequirement(const CallableDecl &decl, const RunResult &result) {
  if (result.status != RunStatus::Where || !result.calls.empty())
    return false;
  return std::any_of(decl.wheres.begin(), decl.wheres.end(),
                     [&](const WhereClause &clause) { return clause.span == result.span; });
}

std::vector<TestFailure> Runner::run(const std::vector<int64_t> &shape, Observer *observer) {
  RunOptions options;
  options.observer = observer;
  options.shuffle = options_.shuffle;
  options.handler = options_.handler;
  options.print = options_.print;
  for (const auto &[name, value] : named(shape))
    options.dims[name] = value;
  RunResult result = runBody(program_, sources_, decl_, options);
  std::vector<TestFailure> failures;
  if (isOwnRequirement(decl_, result))
    return failures;
  for (Expectation &expectation : result.failed)
    failures.push_back({RunStatus::Ok, std::move(expectation.message), expectation.span, {}});
  if (!result.ok())
    failures.push_back(
        {result.status, std::move(result.message), result.span, std::move(result.calls)});
  return failures;
}

DimValues Runner::named(const std::vector<int64_t> &shape) const {
  DimValues values;
  for (size_t i = 0; i < shape.size() && i < decl_.dims.size(); ++i)
    values.emplace_back(decl_.dims[i].name, shape[i]);
  return values;
}

/// Takes one dimension after the other as low as it still fails: to its start, by halves, by ones.
std::vector<int64_t> Runner::shrink(std::vector<int64_t> shape,
                                    std::vector<TestFailure> &failures) {
  unsigned runs = 0;
  auto stillFails = [&](const std::vector<int64_t> &candidate) {
    if (runs++ >= options_.shrinkRuns)
      return false;
    std::vector<TestFailure> found = run(candidate);
    if (found.empty())
      return false;
    failures = std::move(found);
    shape = candidate;
    return true;
  };
  bool progress = true;
  while (progress && runs < options_.shrinkRuns) {
    progress = false;
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t lo = decl_.sampleRanges[i].first;
      for (int64_t step = shape[i] - lo; step > 0; step /= 2) {
        std::vector<int64_t> candidate = shape;
        candidate[i] = shape[i] - step;
        if (candidate[i] >= lo && stillFails(candidate)) {
          progress = true;
          step = (shape[i] - lo) * 2;
        }
      }
    }
  }
  return shape;
}

void Runner::runProperty(TestOutcome &outcome) {
  for (const std::vector<int64_t> &shape :
       sampleShapes(decl_.sampleRanges, options_.samples, options_.seed)) {
    ++outcome.samples;
    outcome.failures = run(shape, options_.observer);
    if (outcome.failures.empty())
      continue;
    outcome.firstDims = named(shape);
    outcome.dims = named(shrink(shape, outcome.failures));
    return;
  }
}

} // namespace

std::vector<const CallableDecl *> findTests(const CheckedProgram &program,
                                            const std::string &filter) {
  std::vector<const CallableDecl *> tests;
  for (const CallableDecl *decl : program.modules[0]->callables) {
    bool isTest =
        decl->kind == DeclKind::Test || decl->kind == DeclKind::Property || isAssociative(*decl);
    if (isTest && decl->name.find(filter) != std::string::npos)
      tests.push_back(decl);
  }
  return tests;
}

TestOutcome runTest(const CheckedProgram &program, const SourceManager &sources,
                    const CallableDecl &decl, const TestOptions &options) {
  auto start = std::chrono::steady_clock::now();
  if (options.onStart)
    options.onStart(decl);
  TestOutcome outcome;
  outcome.decl = &decl;
  Runner runner(program, sources, decl, options);
  if (decl.kind == DeclKind::Property && !decl.hasErrors) {
    runner.runProperty(outcome);
  } else if (isAssociative(decl) && !decl.hasErrors) {
    outcome.samples = 1;
    outcome.failures = tryAssociativity(program, sources, decl, options.seed, options.observer);
  } else {
    outcome.samples = 1;
    outcome.failures = runner.run({}, options.observer);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

std::vector<TestOutcome> runTests(const CheckedProgram &program, const SourceManager &sources,
                                  const TestOptions &options,
                                  const std::function<void(const TestOutcome &)> &onOutcome) {
  std::vector<TestOutcome> outcomes;
  for (const CallableDecl *decl : findTests(program, options.filter)) {
    outcomes.push_back(runTest(program, sources, *decl, options));
    if (onOutcome)
      onOutcome(outcomes.back());
  }
  return outcomes;
}

} // namespace ptl::reference
