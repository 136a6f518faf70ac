#include "compile/tune/measure_entry.h"

#include "compile/call/call_views.h"
#include "compile/call/compiled_executor.h"
#include "compile/entry/manifest.h"

#include <algorithm>
#include <chrono>

namespace ptl {

using Clock = std::chrono::steady_clock;

static constexpr double kSecondsPerForm = 0.04;
static constexpr size_t kFewestCalls = 3, kMostCalls = 200;

EntryClock::EntryClock() = default;
EntryClock::~EntryClock() = default;

bool EntryClock::draw(const MeasuredForm &form, const ExampleSizes &sizes,
                      CompiledExecutor &executor) {
  const CallableDecl &decl = *form.bound.binding.decl;
  if (problem_ = entryProblem(decl); !problem_.empty())
    return false;
  const rt::Entry &entry = executor.describe(decl);
  std::optional<ExampleCall> call = exampleCall(form.program, form.bound, entry, sizes, problem_);
  if (!call)
    return false;
  std::vector<std::string> words;
  for (const ExampleSize &size : call->sizes)
    words.push_back(size.name + "=" + std::to_string(size.value));
  for (size_t i = 0; i < form.bound.binding.elems.size() && i < entry.types.size(); ++i)
    words.push_back(entry.types[i] + "=" + std::string(elemName(form.bound.binding.elems[i])));
  for (const rt::Param &param : entry.params) {
    bool isSized = std::any_of(call->sizes.begin(), call->sizes.end(),
                               [&](const ExampleSize &size) { return size.name == param.name; });
    if (param.kind != PTL_PARAM_OUTPUT && !isSized)
      words.push_back(param.name + (param.isArray() ? "=random" : "=1"));
  }
  auto inputs = std::make_unique<RunInputs>();
  std::vector<RunArgumentError> errors =
      resolveRunArguments(decl, entry, words, /*seed=*/1, /*convert=*/false, *inputs);
  if (!errors.empty()) {
    problem_ = "`" + errors.front().name + "`: " + errors.front().reason;
    return false;
  }
  sizes_ = call->sizes;
  inputs_ = std::move(inputs);
  return true;
}

TuneOutcome EntryClock::measure(const MeasuredForm &form, const ExampleSizes &sizes) {
  DiagnosticSink quiet;
  CompiledExecutor executor(form.program, form.sources, form.options, quiet);
  // Drawn once, so that all forms are measured with the same arguments.
  if (!inputs_ && !draw(form, sizes, executor))
    return {std::nullopt, problem_, {}};
  CallViews views(*inputs_);
  const ir::EntryBinding &binding = form.bound.binding;
  auto call = [&](std::vector<rt::OwnedArray> again) {
    return executor.call(*binding.decl, views.arguments(), binding.tunables, binding.elems,
                         std::move(again));
  };
  // The first call compiles, and touches the memory of the results for the first time.
  CallResult result = call({});
  double least = 0, total = 0;
  for (size_t calls = 0; !result.failure && result.compiled && calls < kMostCalls &&
                         (calls < kFewestCalls || total < kSecondsPerForm);
       ++calls) {
    Clock::time_point start = Clock::now();
    result = call(std::move(result.outputs));
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    // The least time is the one that other work on the machine disturbed least.
    least = calls == 0 ? seconds : std::min(least, seconds);
    total += seconds;
  }
  if (!result.compiled)
    for (const Diagnostic &diagnostic : quiet.all())
      if (diagnostic.severity == Severity::Error)
        return {std::nullopt, diagnostic.message};
  if (!result.compiled)
    return {std::nullopt, "it cannot be compiled"};
  if (result.failure)
    return {std::nullopt, result.failure.message};
  return {least * 1e6, ""};
}

} // namespace ptl
