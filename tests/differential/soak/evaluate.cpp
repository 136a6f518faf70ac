#include "tests/differential/soak/evaluate.h"

#include "driver/ir/compiled_handler.h"
#include "frontend/sema/check.h"
#include "tests/differential/compare.h"
#include "tests/differential/sampler.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace ptl::differential {

using reference::RunResult;
using reference::RunStatus;

std::string_view kindName(Kind kind) {
  static constexpr std::array<std::string_view, 7> names = {
      "wrong", "crash", "internal", "hang", "refuted", "refused", "invalid"};
  return names[static_cast<size_t>(kind)];
}

void StepClock::enter(const std::string &step) {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  double now = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  if (!step_.empty())
    seconds_[step_] += now - since_;
  step_ = step;
  since_ = now;
}

std::string StepClock::report() const {
  std::vector<std::pair<double, std::string>> rows;
  double all = 0;
  for (const auto &[step, seconds] : seconds_)
    rows.emplace_back(seconds, step), all += seconds;
  std::sort(rows.rbegin(), rows.rend());
  std::string text;
  for (const auto &[seconds, step] : rows) {
    char line[160];
    std::snprintf(line, sizeof line, "%9.3f s %5.1f %%  %s\n", seconds, 100 * seconds / all,
                  step.c_str());
    text += line;
  }
  return text;
}

namespace {

/// A call and what the reference makes of it.
struct Expected {
  reference::CallRequest request;
  RunResult result;
  Sample sample;
};

class Evaluation {
public:
  Evaluation(const Case &program, const EvaluateOptions &options,
             const std::function<void(const std::string &)> &onStage,
             const std::function<void(const Observation &)> &onObserved)
      : case_(program), options_(options), onStage_(onStage), onObserved_(onObserved) {}

  void run();

private:
  bool check();
  void drawCalls();
  bool addCall(const Sampler &sampler, const Sample &sample);
  void runOn(const std::string &executor);
  void runOnCpu(int level);
  CompilerOptions compilerOptions();
  void enter(const std::string &step);
  bool compareCall(CompiledExecutor &native, const Expected &expected, const std::string &how);
  void observe(Kind kind, const std::string &text, const Expected *call = nullptr);

  const Case &case_;
  const EvaluateOptions &options_;
  const std::function<void(const std::string &)> &onStage_;
  const std::function<void(const Observation &)> &onObserved_;
  SourceManager sources_;
  DiagnosticSink sink_;
  std::unique_ptr<CheckedProgram> program_;
  const CallableDecl *entry_ = nullptr;
  std::vector<Expected> calls_;
  std::string executor_ = "check";
  std::unique_ptr<CompiledExecutor> cpu_;
  bool isExact_ = true;
};

void Evaluation::observe(Kind kind, const std::string &text, const Expected *call) {
  Observation seen{executor_, kind, text, {}, case_.seed};
  if (!call && !calls_.empty())
    call = &calls_.front();
  if (call) {
    seen.seed = call->sample.seed;
    for (size_t i = 0; i < call->sample.dims.size(); ++i)
      seen.extents[entry_->dims[i].name] = call->sample.dims[i];
  }
  std::replace(seen.text.begin(), seen.text.end(), '\n', ' ');
  onObserved_(seen);
}

bool Evaluation::check() {
  onStage_("check");
  enter("");
  CheckOptions options;
  options.stdPath = options_.stdPath;
  FileId file = sources_.add("program.ptl", case_.text);
  program_ = checkFile(sources_, file, options, sink_);
  if (sink_.hasErrors()) {
    for (const Diagnostic &diagnostic : sink_.all())
      if (diagnostic.severity == Severity::Error) {
        auto at = sources_.file(diagnostic.span.file).lineColumn(diagnostic.span.begin);
        observe(Kind::Invalid, std::string(diagInfo(diagnostic.id).code) + " " +
                                   diagnostic.message + " (line " + std::to_string(at.line) + ")");
        return false;
      }
  }
  for (const CallableDecl *decl : program_->modules.front()->callables)
    if ((decl->kind == DeclKind::Fn || decl->kind == DeclKind::Kernel ||
         decl->kind == DeclKind::Program) &&
        whyNotSampled(*decl).empty())
      entry_ = decl;
  if (!entry_)
    observe(Kind::Invalid, "there is no entry");
  return entry_ != nullptr;
}

/// What only adds, multiplies and compares small whole numbers is equal everywhere.
static bool isExactText(const std::string &text) {
  static constexpr std::array<const char *, 12> rounded = {"tanh(", "sigmoid(", "exp(", "sin(",
                                                           "sqrt(", "log1p(",   "erf(", "1.0 / ",
                                                           "cos(",  "mean(",    "log(", "softmax("};
  return std::none_of(rounded.begin(), rounded.end(),
                      [&](const char *word) { return text.find(word) != text.npos; });
}

bool Evaluation::addCall(const Sampler &sampler, const Sample &sample) {
  std::optional<reference::CallRequest> request = sampler.request(sample);
  if (!request)
    return false;
  reference::RunOptions options;
  for (size_t i = 0; i < sample.dims.size(); ++i)
    options.dims[entry_->dims[i].name] = sample.dims[i];
  for (size_t i = 0; i < sample.elems.size(); ++i)
    options.elems[entry_->typeParams[i]->name] = sample.elems[i];
  options.print = [](const std::string &) {};
  RunResult result = reference::runEntry(*program_, sources_, *entry_, request->args, options);
  if (result.status == RunStatus::Where || result.status == RunStatus::Arguments)
    return false;
  calls_.push_back({std::move(*request), std::move(result), sample});
  if (calls_.back().result.status == RunStatus::Fault ||
      calls_.back().result.status == RunStatus::Unsupported)
    observe(Kind::Internal, calls_.back().result.message, &calls_.back());
  return true;
}

void Evaluation::drawCalls() {
  executor_ = "reference";
  onStage_("reference");
  enter("");
  Sampler sampler(*entry_, case_.seed, ArgumentValues::Whole);
  if (!case_.extents.empty() || entry_->dims.empty()) {
    Sample sample = sampler.draw();
    for (size_t i = 0; i < sample.dims.size(); ++i)
      if (auto given = case_.extents.find(entry_->dims[i].name); given != case_.extents.end())
        sample.dims[i] = given->second;
    sample.seed = case_.seed;
    addCall(sampler, sample);
  }
  for (int attempt = 0; attempt < 400 && static_cast<int>(calls_.size()) < options_.samples;
       ++attempt)
    addCall(sampler, sampler.draw());
  if (calls_.empty())
    observe(Kind::Invalid, "no legal call was found");
}

bool Evaluation::compareCall(CompiledExecutor &native, const Expected &expected,
                             const std::string &how) {
  onStage_(executor_ + how);
  enter("call");
  size_t known = sink_.all().size();
  std::optional<RunResult> actual = compiledHandler(native, sources_)(expected.request);
  if (!actual)
    return observe(Kind::Refused, "the executor does not take the call", &expected), false;
  std::string said;
  for (size_t i = known; i < sink_.all().size(); ++i) // a fault says more than a warning behind it
    if (const Diagnostic &each = sink_.all()[i];
        said.empty() || each.id == DiagId::CompilerFault || each.severity == Severity::Error)
      said = each.message;
  if (native.compiler().hadInternalError()) {
    bool isRefuted = said.find("failed in `prove`") != said.npos;
    observe(isRefuted ? Kind::Refuted : Kind::Internal, said.empty() ? actual->message : said,
            &expected);
    return false;
  }
  if (actual->status == RunStatus::Compile)
    return observe(Kind::Refused, said, &expected), false;
  if (actual->status == RunStatus::Fault)
    return observe(Kind::Internal, actual->message, &expected), false;
  std::string text = isExact_ ? exactDifference(expected.result, *actual)
                              : difference(expected.request, expected.result, *actual);
  if (text.empty())
    return true;
  observe(Kind::Wrong, text + how, &expected);
  return false;
}

void Evaluation::runOn(const std::string &executor) {
  executor_ = executor;
  bool isChip = !executor.starts_with("cpu");
  if (!isChip)
    return runOnCpu(executor.back() - '0');
  CompilerOptions options = compilerOptions();
  options.chip = findMachine(executor);
  CompiledExecutor native(*program_, sources_, options, sink_);
  for (size_t n = 0; n < calls_.size(); ++n) {
    size_t schedules = n == 0 ? 4 : 2;
    for (size_t schedule = 0; schedule < schedules; ++schedule) {
      size_t which = n == 0 ? schedule : 1 + schedule;
      native.simulation.options.schedule = static_cast<rt::sim::Schedule>(which);
      native.simulation.options.seed = calls_[n].sample.seed;
      native.simulation.options.stretched = (n + schedule) % 2 == 1;
      native.simulation.options.maxSteps = 20'000'000;
      native.simulation.groups = 1 + static_cast<int64_t>((n + schedule) % 3);
      if (!compareCall(native, calls_[n], ", pipes " + std::string(rt::sim::scheduleNames[which])))
        return;
    }
  }
}

/// One executor for all levels: only LLVM's work is different.
void Evaluation::runOnCpu(int level) {
  if (!cpu_) {
    CompilerOptions options = compilerOptions();
    options.level = level;
    options.manyLevels = true;
    static auto objects = std::make_shared<cpu::FunctionObjects>(); // of all programs here
    options.functionObjects = objects;
    cpu_ = std::make_unique<CompiledExecutor>(*program_, sources_, options, sink_);
  }
  onStage_(executor_);
  cpu_->useLevel(level);
  for (const Expected &call : calls_)
    if (!compareCall(*cpu_, call, ""))
      return;
}

CompilerOptions Evaluation::compilerOptions() {
  CompilerOptions options;
  if (options_.clock)
    options.onStep = [this](const std::string &step) { enter(step); };
  return options;
}

/// The time from here on is that of the step.
void Evaluation::enter(const std::string &step) {
  if (options_.clock)
    options_.clock->enter(executor_.substr(0, 3) + " " + step);
}

void Evaluation::run() {
  if (!check())
    return;
  isExact_ = isExactText(case_.text);
  drawCalls();
  if (calls_.empty())
    return;
  for (const std::string &executor : options_.executors)
    runOn(executor);
}

} // namespace

void evaluate(const Case &program, const EvaluateOptions &options,
              const std::function<void(const std::string &)> &onStage,
              const std::function<void(const Observation &)> &onObserved) {
  Evaluation(program, options, onStage, onObserved).run();
}

} // namespace ptl::differential
