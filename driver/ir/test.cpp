#include "codegen/reference/test_runner.h"
#include "compile/call/compiled_handler.h"
#include "compile/report/coverage_report.h"
#include "compile/report/test_report.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>

namespace ptl {

namespace {

/// Fewer than the reference executor takes: new values of `static` dimensions are compiled anew.
constexpr unsigned kCompiledSamples = 12;
constexpr unsigned kCompiledShrinkRuns = 60;

/// Machine-readable diagnostics are alone on standard output.
bool isSilent(const Options &options) {
  std::string_view form = options.value(OptionId::Diagnostics);
  return form == "json" || form == "sarif" || options.has(OptionId::Json);
}

/// Where tests run. The reference executor compiles nothing.
struct Executor {
  std::string name;
  std::unique_ptr<CompiledExecutor> compiled;
};

reference::TestOptions testOptions(Session &session, const Executor &executor,
                                   reference::Coverage &coverage) {
  const Options &options = session.options();
  reference::TestOptions tests;
  if (executor.compiled) {
    tests.samples = kCompiledSamples;
    tests.shrinkRuns = kCompiledShrinkRuns;
    // Bodies of tests are interpreted; only what they call is compiled.
    tests.handler = compiledHandler(*executor.compiled, session.sources());
  } else if (options.has(OptionId::Coverage)) {
    tests.observer = &coverage;
  }
  tests.samples = static_cast<unsigned>(options.number(OptionId::Samples).value_or(tests.samples));
  tests.seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(1));
  return tests;
}

void report(DiagnosticSink &sink, const Executor &executor, const reference::TestOutcome &outcome) {
  std::string sample;
  for (const auto &[name, value] : outcome.dims)
    sample += (sample.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  const CallableDecl &decl = *outcome.decl;
  for (const reference::TestFailure &failure : outcome.failures) {
    Span span = failure.span.file == kNoFile ? decl.nameSpan : failure.span;
    DiagnosticBuilder builder =
        sink.report(DiagId::TestFailed, span, {decl.name, executor.name, failure.message});
    if (!sample.empty())
      builder.note("with " + sample);
    for (Span call : failure.calls)
      builder.label(call, "called here");
  }
}

struct Counts {
  size_t passed = 0, failed = 0;
  bool internalError = false;
  std::vector<TestReport> reports; ///< where `--json` asks for them
  CoverageReport coverage;         ///< where `--coverage` asks for it
};

/// Runs the test and property blocks of one file, each on every executor.
void runFile(Session &session, const CheckedProgram &program, const std::vector<Target> &targets,
             Counts &counts) {
  const Options &options = session.options();
  std::vector<Executor> executors;
  for (const Target &target : targets) {
    executors.push_back({target.name, nullptr});
    if (!target.isReference())
      executors.back().compiled = std::make_unique<CompiledExecutor>(
          program, session.sources(), compilerOptions(options, target), session.sink());
  }
  reference::Coverage coverage;
  for (const CallableDecl *decl :
       reference::findTests(program, std::string(options.value(OptionId::Filter))))
    for (const Executor &executor : executors) {
      reference::TestOutcome outcome = reference::runTest(program, session.sources(), *decl,
                                                          testOptions(session, executor, coverage));
      report(session.sink(), executor, outcome);
      if (options.has(OptionId::Json))
        counts.reports.push_back({executor.name, outcome});
      ++(outcome.passed() ? counts.passed : counts.failed);
      if (!isSilent(options))
        std::printf("%-6s %-9s %s\n", outcome.passed() ? "ok" : "FAILED", executor.name.c_str(),
                    decl->name.c_str());
    }
  if (options.has(OptionId::Coverage))
    counts.coverage.add(session.sources(), program, coverage, standardLibraryFolder());
  for (const Executor &executor : executors)
    counts.internalError |= executor.compiled && executor.compiled->hadInternalError();
}

/// With a path the document goes there, without one what people read to standard output.
void writeCoverage(Session &session, const CoverageReport &coverage) {
  const Options &options = session.options();
  if (!options.has(OptionId::Coverage))
    return;
  std::string path(options.value(OptionId::Coverage));
  if (!path.empty())
    session.write(path, coverage.document().dump(2) + "\n");
  else if (!isSilent(options))
    std::printf("%s", coverage.text().c_str());
}

/// The executors of `--executor` and `--target`; without them the CPU and the reference executor.
/// Empty after an error.
std::vector<Target> chosenExecutors(Session &session) {
  const Options &options = session.options();
  std::vector<std::string> lists = options.values(OptionId::Executor);
  if (options.has(OptionId::Target) || (lists.empty() && options.has(OptionId::Machine)))
    lists.push_back(std::string(options.value(OptionId::Target)));
  if (lists.empty())
    lists = {"cpu,reference"};
  std::vector<Target> targets;
  for (const std::string &list : lists)
    for (llvm::StringRef word : llvm::split(list, ',')) {
      std::optional<Target> target = findTarget(session, std::string_view(word));
      if (!target)
        return {};
      targets.push_back(std::move(*target));
    }
  bool isInterpreted = std::any_of(targets.begin(), targets.end(),
                                   [](const Target &each) { return each.isReference(); });
  // It is the one that counts.
  if (options.has(OptionId::Coverage) && !isInterpreted)
    targets.push_back(*findTarget(session, "reference"));
  return targets;
}

} // namespace

ExitCode runTest(const Options &options) {
  Session session(options);
  std::vector<Target> targets = chosenExecutors(session);
  if (targets.empty())
    return session.finish(ExitCode::Usage);
  // Chips are always simulated; the option alone names none.
  if (options.has(OptionId::Simulate) &&
      llvm::none_of(targets, [](const Target &each) { return each.isChip(); })) {
    session.sink().report(
        DiagId::TargetCannotRun, kNoSpan,
        {targets.front().name,
         "`--sim` simulates a chip: name it, as in `--executor a3`, or leave out `--sim`"});
    return session.finish(ExitCode::Usage);
  }
  if (std::optional<ExitCode> code = processorProblem(session, nullptr, true))
    return *code;
  Counts counts;
  std::vector<std::unique_ptr<CheckedProgram>> programs; // what reports speak of
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      return session.finish();
    runFile(session, *program, targets, counts);
    programs.push_back(std::move(program));
  }
  if (options.has(OptionId::Json))
    std::printf("%s\n", testDocument(session.sources(), counts.reports).dump(2).c_str());
  if (!isSilent(options))
    std::printf("%zu passed, %zu failed\n", counts.passed, counts.failed);
  // A filter that fits nothing, such as one with a slip of the pen, must not look like success.
  if (options.has(OptionId::Filter) && counts.passed + counts.failed == 0)
    session.sink().report(DiagId::BadRunArgument, kNoSpan,
                          {"--filter " + std::string(options.value(OptionId::Filter)),
                           "no `test` or `property` has a name that contains this"});
  writeCoverage(session, counts.coverage);
  // Diagnostics go to another stream and are to come behind the results.
  std::fflush(stdout);
  return session.finish(counts.internalError ? ExitCode::Internal
                        : counts.failed      ? ExitCode::ProgramStopped
                                             : ExitCode::Fine);
}

} // namespace ptl
