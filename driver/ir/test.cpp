#include "driver/ir/commands.h"
#include "driver/ir/cpu_handler.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace ptl {

namespace {

constexpr int64_t kDefaultSamples = 12;
/// Shrinking stops after so many runs of a failing property.
constexpr int kShrinkRuns = 60;

using Dims = std::map<std::string, int64_t>;

enum class Executor { Cpu, Reference };

const char *nameOf(Executor executor) { return executor == Executor::Cpu ? "cpu" : "reference"; }

/// Runs the test and property blocks of one file.
class TestRunner {
public:
  TestRunner(Session &session, const CheckedProgram &program, std::vector<Executor> executors)
      : session_(session), program_(program), executors_(std::move(executors)),
        cpu_(program, session.sources(), compilerOptions(session.options()), session.sink()) {}

  void run(const CallableDecl &decl);
  size_t passed = 0, failed = 0;
  bool internalError() { return cpu_.compiler().hadInternalError(); }

private:
  reference::RunResult runOnce(const CallableDecl &decl, Executor executor, const Dims &dims);
  bool runSamples(const CallableDecl &decl, Executor executor);
  void report(const CallableDecl &decl, Executor executor, const Dims &dims,
              const reference::RunResult &result);
  Dims shrink(const CallableDecl &decl, Executor executor, Dims dims);

  Session &session_;
  const CheckedProgram &program_;
  std::vector<Executor> executors_;
  CpuExecutor cpu_;
};

bool isFailure(const reference::RunResult &result) {
  return !result.ok() || !result.failed.empty();
}

/// A sample that the property's own `where` excludes.
bool isExcluded(const CallableDecl &decl, const reference::RunResult &result) {
  return result.status == reference::RunStatus::Where &&
         std::any_of(decl.wheres.begin(), decl.wheres.end(), [&](const WhereClause &where) {
           return result.span.file == where.span.file && where.span.begin <= result.span.begin &&
                  result.span.end <= where.span.end;
         });
}

reference::RunResult TestRunner::runOnce(const CallableDecl &decl, Executor executor,
                                         const Dims &dims) {
  reference::RunOptions options;
  options.dims = dims;
  if (executor == Executor::Cpu)
    options.handler = cpuHandler(cpu_, session_.sources());
  return reference::runBody(program_, session_.sources(), decl, options);
}

/// The ends of every range first, then random points.
Dims sampleDims(const CallableDecl &decl, int64_t index, std::mt19937_64 &random) {
  Dims dims;
  for (size_t i = 0; i < decl.dims.size(); ++i) {
    auto [low, end] = decl.sampleRanges[i];
    int64_t high = std::max(low, end - 1);
    int64_t value = index == 0 ? low : std::uniform_int_distribution<int64_t>(low, high)(random);
    // Small extents find most mistakes, and quickly.
    if (index % 2 == 0 && index > 0)
      value = std::uniform_int_distribution<int64_t>(low, std::min(high, low + 9))(random);
    dims[decl.dims[i].name] = index == 1 ? high : value;
  }
  return dims;
}

/// Brings one dimension after the other as close to its lower end as the failure stays.
Dims TestRunner::shrink(const CallableDecl &decl, Executor executor, Dims dims) {
  int runs = 0;
  for (bool smaller = true; smaller && runs < kShrinkRuns;) {
    smaller = false;
    for (size_t i = 0; i < decl.dims.size(); ++i) {
      int64_t &value = dims[decl.dims[i].name];
      int64_t low = decl.sampleRanges[i].first, before = value;
      for (int64_t candidate : {low, low + (before - low) / 2, before - 1}) {
        if (candidate >= before || candidate < low || ++runs > kShrinkRuns)
          continue;
        value = candidate;
        reference::RunResult result = runOnce(decl, executor, dims);
        if (isFailure(result) && !isExcluded(decl, result)) {
          smaller = true;
          break;
        }
        value = before;
      }
    }
  }
  return dims;
}

void TestRunner::report(const CallableDecl &decl, Executor executor, const Dims &dims,
                        const reference::RunResult &result) {
  std::string sample;
  for (const auto &[name, value] : dims)
    sample += (sample.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  auto add = [&](Span span, const std::string &message) {
    DiagnosticBuilder builder =
        session_.sink().report(DiagId::TestFailed, span, {decl.name, nameOf(executor), message});
    if (!sample.empty())
      builder.note("with " + sample);
    for (Span call : result.calls)
      builder.label(call, "called here");
  };
  for (const reference::Expectation &expectation : result.failed)
    add(expectation.span, expectation.message);
  if (!result.ok())
    add(result.span.file == kNoFile ? decl.nameSpan : result.span, result.message);
}

bool TestRunner::runSamples(const CallableDecl &decl, Executor executor) {
  bool isProperty = decl.kind == DeclKind::Property && !decl.dims.empty();
  int64_t samples =
      isProperty ? session_.options().number(OptionId::Samples).value_or(kDefaultSamples) : 1;
  std::mt19937_64 random(
      static_cast<uint64_t>(session_.options().number(OptionId::Seed).value_or(1)));
  for (int64_t i = 0; i < samples; ++i) {
    Dims dims = isProperty ? sampleDims(decl, i, random) : Dims{};
    reference::RunResult result = runOnce(decl, executor, dims);
    if (!isFailure(result) || isExcluded(decl, result))
      continue;
    if (isProperty) {
      dims = shrink(decl, executor, dims);
      result = runOnce(decl, executor, dims);
    }
    report(decl, executor, dims, result);
    return false;
  }
  return true;
}

void TestRunner::run(const CallableDecl &decl) {
  std::string_view form = session_.options().value(OptionId::Diagnostics);
  bool silent = form == "json" || form == "sarif";
  for (Executor executor : executors_) {
    bool fine = runSamples(decl, executor);
    ++(fine ? passed : failed);
    if (!silent)
      std::printf("%-6s %-9s %s\n", fine ? "ok" : "FAILED", nameOf(executor), decl.name.c_str());
  }
}

/// What `--executor` and `--target` choose; both executors without them. Empty after an error.
std::vector<Executor> chosenExecutors(const Options &options, std::string *unknown) {
  std::vector<std::string> words = options.values(OptionId::Executor);
  if (options.has(OptionId::Target))
    words.push_back(std::string(options.value(OptionId::Target)));
  std::vector<Executor> executors;
  for (const std::string &list : words)
    for (size_t begin = 0; begin <= list.size();) {
      size_t end = std::min(list.find(',', begin), list.size());
      std::string word = list.substr(begin, end - begin);
      if (word != "cpu" && word != "reference")
        *unknown = word;
      executors.push_back(word == "cpu" ? Executor::Cpu : Executor::Reference);
      begin = end + 1;
    }
  if (executors.empty())
    executors = {Executor::Cpu, Executor::Reference};
  return executors;
}

} // namespace

ExitCode runTest(const Options &options) {
  std::string unknown;
  std::vector<Executor> executors = chosenExecutors(options, &unknown);
  Session session(options);
  if (!unknown.empty()) {
    session.sink().report(DiagId::TargetCannotRun, kNoSpan, {unknown});
    return session.finish(ExitCode::Missing);
  }
  size_t passed = 0, failed = 0;
  bool fault = false;
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      return session.finish();
    TestRunner runner(session, *program, executors);
    for (const CallableDecl *decl : program->modules.front()->callables) {
      bool isTest = decl->kind == DeclKind::Test || decl->kind == DeclKind::Property;
      if (isTest && decl->name.find(options.value(OptionId::Filter)) != std::string::npos)
        runner.run(*decl);
    }
    passed += runner.passed;
    failed += runner.failed;
    fault |= runner.internalError();
  }
  std::string_view form = options.value(OptionId::Diagnostics);
  if (form != "json" && form != "sarif")
    std::printf("%zu passed, %zu failed\n", passed, failed);
  std::fflush(stdout);
  return session.finish(fault    ? ExitCode::Internal
                        : failed ? ExitCode::ProgramStopped
                                 : ExitCode::Fine);
}

} // namespace ptl
