#include "codegen/reference/test_runner.h"
#include "driver/ir/commands.h"
#include "driver/ir/cpu_handler.h"

#include <cstdio>

namespace ptl {

namespace {

/// Fewer than the reference executor takes: new values of `static` dimensions are compiled anew.
constexpr unsigned kCpuSamples = 12;
constexpr unsigned kCpuShrinkRuns = 60;

enum class Executor { Cpu, Reference };

const char *nameOf(Executor executor) { return executor == Executor::Cpu ? "cpu" : "reference"; }

/// Machine-readable diagnostics are alone on standard output.
bool isSilent(const Options &options) {
  std::string_view form = options.value(OptionId::Diagnostics);
  return form == "json" || form == "sarif";
}

reference::TestOptions testOptions(Session &session, Executor executor, CpuExecutor &cpu) {
  const Options &options = session.options();
  reference::TestOptions tests;
  if (executor == Executor::Cpu) {
    tests.samples = kCpuSamples;
    tests.shrinkRuns = kCpuShrinkRuns;
    tests.handler = cpuHandler(cpu, session.sources());
  }
  tests.samples = static_cast<unsigned>(options.number(OptionId::Samples).value_or(tests.samples));
  tests.seed = static_cast<uint64_t>(options.number(OptionId::Seed).value_or(1));
  return tests;
}

void report(DiagnosticSink &sink, Executor executor, const reference::TestOutcome &outcome) {
  std::string sample;
  for (const auto &[name, value] : outcome.dims)
    sample += (sample.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  const CallableDecl &decl = *outcome.decl;
  for (const reference::TestFailure &failure : outcome.failures) {
    Span span = failure.span.file == kNoFile ? decl.nameSpan : failure.span;
    DiagnosticBuilder builder =
        sink.report(DiagId::TestFailed, span, {decl.name, nameOf(executor), failure.message});
    if (!sample.empty())
      builder.note("with " + sample);
    for (Span call : failure.calls)
      builder.label(call, "called here");
  }
}

struct Counts {
  size_t passed = 0, failed = 0;
  bool internalError = false;
};

/// Runs the test and property blocks of one file, each on every executor.
void runFile(Session &session, const CheckedProgram &program,
             const std::vector<Executor> &executors, Counts &counts) {
  const Options &options = session.options();
  CpuExecutor cpu(program, session.sources(), compilerOptions(options), session.sink());
  for (const CallableDecl *decl :
       reference::findTests(program, std::string(options.value(OptionId::Filter))))
    for (Executor executor : executors) {
      reference::TestOutcome outcome = reference::runTest(program, session.sources(), *decl,
                                                          testOptions(session, executor, cpu));
      report(session.sink(), executor, outcome);
      ++(outcome.passed() ? counts.passed : counts.failed);
      if (!isSilent(options))
        std::printf("%-6s %-9s %s\n", outcome.passed() ? "ok" : "FAILED", nameOf(executor),
                    decl->name.c_str());
    }
  counts.internalError |= cpu.compiler().hadInternalError();
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
  Counts counts;
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      return session.finish();
    runFile(session, *program, executors, counts);
  }
  if (!isSilent(options))
    std::printf("%zu passed, %zu failed\n", counts.passed, counts.failed);
  std::fflush(stdout);
  return session.finish(counts.internalError ? ExitCode::Internal
                        : counts.failed      ? ExitCode::ProgramStopped
                                             : ExitCode::Fine);
}

} // namespace ptl
