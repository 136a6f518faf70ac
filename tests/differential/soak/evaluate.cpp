#include "tests/differential/soak/evaluate.h"

#include "driver/ir/compiled_handler.h"
#include "frontend/sema/check.h"
#include "tests/differential/compare.h"
#include "tests/differential/sampler.h"

#include <algorithm>
#include <array>

namespace ptl::differential {

using reference::RunResult;
using reference::RunStatus;

std::string_view kindName(Kind kind) {
  static constexpr std::array<std::string_view, 7> names = {
      "wrong", "crash", "internal", "hang", "refuted", "refused", "invalid"};
  return names[static_cast<size_t>(kind)];
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
  size_t known = sink_.all().size();
  std::optional<RunResult> actual = compiledHandler(native, sources_)(expected.request);
  if (!actual)
    return observe(Kind::Refused, "the executor does not take the call", &expected), false;
  std::string said = sink_.all().size() > known ? sink_.all().back().message : "";
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
  CompilerOptions options;
  bool isChip = !executor.starts_with("cpu");
  if (isChip)
    options.chip = findMachine(executor);
  else
    options.level = executor.back() - '0';
  CompiledExecutor native(*program_, sources_, options, sink_);
  for (size_t n = 0; n < calls_.size(); ++n) {
    size_t schedules = !isChip ? 1 : n == 0 ? 4 : 2;
    for (size_t schedule = 0; schedule < schedules; ++schedule) {
      std::string how;
      if (isChip) {
        size_t which = n == 0 ? schedule : 1 + schedule;
        native.simulation.options.schedule = static_cast<rt::sim::Schedule>(which);
        native.simulation.options.seed = calls_[n].sample.seed;
        native.simulation.options.stretched = (n + schedule) % 2 == 1;
        native.simulation.options.maxSteps = 20'000'000;
        native.simulation.groups = 1 + static_cast<int64_t>((n + schedule) % 3);
        how = ", pipes " + std::string(rt::sim::scheduleNames[which]);
      }
      if (!compareCall(native, calls_[n], how))
        return;
    }
  }
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
