#include "tests/differential/soak/evaluate.h"

#include "compile/call/compiled_handler.h"
#include "compile/entry/manifest.h"
#include "frontend/sema/check.h"
#include "machines/machine.h"
#include "tests/differential/compare.h"
#include "tests/differential/sampler.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <deque>
#include <nlohmann/json.hpp>

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

/// Of all programs of this process.
static const std::shared_ptr<cpu::FunctionObjects> &sharedObjects() {
  static const auto objects = std::make_shared<cpu::FunctionObjects>();
  return objects;
}

namespace {

/// A simulated chip that has no instruction for an operation takes some dozens of steps for each
/// element, and a call has `kMostSteps`.
constexpr uint64_t kMostSteps = 20'000'000;
constexpr int64_t kMostElements = 200'000;
constexpr int kTooLarge = 20; ///< calls that are drawn again because they give more

/// A call, what the reference makes of it, and both as bytes.
class Expected {
public:
  Expected(reference::CallRequest request, RunResult result, Sample sample)
      : request(std::move(request)), result(std::move(result)), sample(std::move(sample)),
        call_(this->request) {
    for (const rt::OwnedArray &array : call_.arrays())
      arguments_.push_back(bytesOf(array));
    if (!this->result.ok())
      return;
    for (const reference::Value &value : this->result.outputs)
      outputs_.push_back(bytesOf(arrayOf(value)));
    for (const reference::Value &value : this->result.inouts)
      inouts_.push_back(bytesOf(arrayOf(value)));
  }
  Expected(const Expected &) = delete;

  CallResult run(CompiledExecutor &executor) { return call_.call(executor); }
  /// Whether a call left the same bytes as the reference; if not, it may be right all the same.
  bool isSame(const CallResult &made) const;
  /// Converts the results of a call to those of the interpreter.
  RunResult resultOf(CallResult made, CompiledExecutor &executor) {
    return call_.resultOf(std::move(made), executor.describe(*request.callee));
  }
  /// Gives the arguments their values again. The name of one that a call has changed although it is
  /// no `inout`; empty if there is none.
  std::string restore();

  const reference::CallRequest request;
  const RunResult result;
  const Sample sample;

private:
  using Bytes = std::vector<uint8_t>;
  static Bytes bytesOf(const rt::OwnedArray &array) {
    const auto *bytes = static_cast<const uint8_t *>(array.data());
    return {bytes, bytes + array.bytes()};
  }
  static bool holds(const rt::OwnedArray &array, const Bytes &bytes) {
    return array.bytes() == static_cast<int64_t>(bytes.size()) &&
           (bytes.empty() || std::memcmp(array.data(), bytes.data(), bytes.size()) == 0);
  }

  CompiledCall call_;
  std::vector<Bytes> arguments_, outputs_, inouts_;
};

bool Expected::isSame(const CallResult &made) const {
  if (!result.ok() || !made.compiled || made.failure || made.outputs.size() != outputs_.size())
    return false;
  bool isSame = true;
  for (size_t i = 0; i < outputs_.size(); ++i)
    isSame &= holds(made.outputs[i], outputs_[i]);
  size_t inout = 0, array = 0;
  for (const Local *param : request.callee->params)
    if (param->type->isArray()) {
      if (param->isInout)
        isSame &= inout < inouts_.size() && holds(call_.arrays()[array], inouts_[inout++]);
      ++array;
    }
  return isSame;
}

std::string Expected::restore() {
  std::string changed;
  size_t next = 0;
  for (const Local *param : request.callee->params) {
    if (!param->type->isArray() || next == arguments_.size())
      continue;
    const rt::OwnedArray &array = call_.arrays()[next];
    const Bytes &values = arguments_[next++];
    if (holds(array, values))
      continue;
    if (!param->isInout)
      changed = param->name;
    std::memcpy(array.data(), values.data(), values.size());
  }
  return changed;
}

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
  void addCall(const Sampler &sampler, const Sample &sample, bool isGiven = false);
  void runOn(const std::string &executor);
  void runOnCpu(int level);
  bool callAll(CompiledExecutor &native, const std::string &how);
  CompilerOptions compilerOptions();
  void enter(const std::string &step);
  bool compareCall(CompiledExecutor &native, Expected &expected, const std::string &how);
  void observe(Kind kind, const std::string &text, const Expected *call = nullptr);

  const Case &case_;
  const EvaluateOptions &options_;
  const std::function<void(const std::string &)> &onStage_;
  const std::function<void(const Observation &)> &onObserved_;
  SourceManager sources_;
  DiagnosticSink sink_;
  std::unique_ptr<CheckedProgram> program_;
  const CallableDecl *entry_ = nullptr;
  std::deque<Expected> calls_; // which stay where they are
  bool hasTwinBefore(const std::string &executor) const;

  std::string executor_ = "check";
  std::unique_ptr<CompiledExecutor> cpu_;
  bool isExact_ = true;
  int tooLarge_ = 0; ///< calls that were drawn again
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

/// The machine whose file this one takes over whole, but for names; empty: there is none.
static std::string baseOfTwin(const std::string &machine) {
  for (const MachineFile &file : builtinMachineFiles()) {
    if (file.path != machine)
      continue;
    auto members = nlohmann::json::parse(file.text);
    std::string base = members.value("base", "");
    for (const char *name : {"name", "base", "summary", "variants"})
      members.erase(name);
    return members.empty() ? base : "";
  }
  return "";
}

/// Whether a program only adds, multiplies and compares small whole numbers, so that its results
/// are equal everywhere.
static bool isExactText(const std::string &text) {
  static constexpr std::array<const char *, 12> rounded = {"tanh(", "sigmoid(", "exp(", "sin(",
                                                           "sqrt(", "log1p(",   "erf(", "1.0 / ",
                                                           "cos(",  "mean(",    "log(", "softmax("};
  return std::none_of(rounded.begin(), rounded.end(),
                      [&](const char *word) { return text.find(word) != text.npos; });
}

/// Takes a call that is legal, and no larger than others that can be drawn unless it `isGiven`.
void Evaluation::addCall(const Sampler &sampler, const Sample &sample, bool isGiven) {
  std::optional<reference::CallRequest> request = sampler.request(sample);
  if (!request)
    return;
  reference::RunOptions options;
  for (size_t i = 0; i < sample.dims.size(); ++i)
    options.dims[entry_->dims[i].name] = sample.dims[i];
  for (size_t i = 0; i < sample.elems.size(); ++i)
    options.elems[entry_->typeParams[i]->name] = sample.elems[i];
  options.print = [](const std::string &) {};
  bool isLimited = !isGiven && tooLarge_ < kTooLarge;
  if (isLimited)
    options.mostElements = kMostElements;
  RunResult result = reference::runEntry(*program_, sources_, *entry_, request->args, options);
  if (result.status == RunStatus::Where || result.status == RunStatus::Arguments)
    return;
  if (isLimited && result.status == RunStatus::Memory) {
    ++tooLarge_;
    return;
  }
  calls_.emplace_back(std::move(*request), std::move(result), sample);
  if (calls_.back().result.status == RunStatus::Fault ||
      calls_.back().result.status == RunStatus::Unsupported)
    observe(Kind::Internal, calls_.back().result.message, &calls_.back());
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
    addCall(sampler, sample, /*isGiven=*/true);
  }
  for (int attempt = 0; attempt < 400 && static_cast<int>(calls_.size()) < options_.samples;
       ++attempt)
    addCall(sampler, sampler.draw());
  if (calls_.empty())
    observe(Kind::Invalid, "no legal call was found");
}

bool Evaluation::compareCall(CompiledExecutor &native, Expected &expected, const std::string &how) {
  onStage_(executor_ + how);
  enter("call");
  size_t known = sink_.all().size();
  if (!entryProblem(*expected.request.callee).empty())
    return observe(Kind::Refused, "the executor does not take the call", &expected), false;
  CallResult made = expected.run(native);
  bool isSame = expected.isSame(made) && !native.hadInternalError();
  std::optional<RunResult> actual;
  if (!isSame)
    actual = expected.resultOf(std::move(made), native);
  if (std::string changed = expected.restore(); !changed.empty())
    return observe(Kind::Wrong, "it changes the argument `" + changed + "`" + how, &expected),
           false;
  if (isSame)
    return true;
  std::string message;
  for (size_t i = known; i < sink_.all().size(); ++i) // a fault says more than a warning behind it
    if (const Diagnostic &each = sink_.all()[i];
        message.empty() || each.id == DiagId::CompilerFault || each.severity == Severity::Error)
      message = each.message;
  // The number of steps is a limit of this tool: a call with large arrays may need more, any other
  // one hangs.
  if (tooLarge_ >= kTooLarge &&
      message.find("took more than " + std::to_string(kMostSteps)) != message.npos)
    return observe(Kind::Refused, message, &expected), false;
  if (native.hadInternalError()) {
    bool isRefuted = message.find("failed in `prove`") != message.npos;
    observe(isRefuted ? Kind::Refuted : Kind::Internal, message.empty() ? actual->message : message,
            &expected);
    return false;
  }
  if (actual->status == RunStatus::Compile)
    return observe(Kind::Refused, message, &expected), false;
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
      native.simulation.options.maxSteps = kMostSteps;
      native.simulation.groups = 1 + static_cast<int64_t>((n + schedule) % 3);
      if (!compareCall(native, calls_[n], ", pipes " + std::string(rt::sim::scheduleNames[which])))
        return;
    }
  }
}

bool Evaluation::callAll(CompiledExecutor &native, const std::string &how) {
  for (Expected &call : calls_)
    if (!compareCall(native, call, how))
      return false;
  return true;
}

/// One executor for all levels: only LLVM's work is different.
void Evaluation::runOnCpu(int level) {
  if (!cpu_) {
    CompilerOptions options = compilerOptions();
    options.level = level;
    options.manyLevels = true;
    options.functionObjects = sharedObjects();
    cpu_ = std::make_unique<CompiledExecutor>(*program_, sources_, options, sink_);
  }
  onStage_(executor_);
  // The result of the passes of a level is tested with either code generator.
  bool takesFull = level > 0, takesQuick = level == 0 || !options_.isThrifty;
  if (level > 0 && options_.isThrifty && (case_.seed + static_cast<uint64_t>(level)) % 2)
    std::swap(takesFull, takesQuick);
  for (auto quality : {cpu::CodeQuality::Full, cpu::CodeQuality::Quick}) {
    bool isQuick = quality == cpu::CodeQuality::Quick;
    if (!(isQuick ? takesQuick : takesFull))
      continue;
    cpu_->useLevel(level, quality);
    if (!callAll(*cpu_, isQuick && level > 0 ? ", quick code" : ""))
      return;
  }
}

CompilerOptions Evaluation::compilerOptions() {
  CompilerOptions options;
  options.processor = options_.processor;
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
    if (!options_.isThrifty || case_.seed % 8 == 0 || !hasTwinBefore(executor))
      runOn(executor);
}

/// Whether the machine of this executor is that of one before it but for the name.
bool Evaluation::hasTwinBefore(const std::string &executor) const {
  for (const std::string &before : options_.executors) {
    if (before == executor)
      return false;
    if (std::string base = baseOfTwin(executor); !base.empty() && base == before)
      return true;
  }
  return false;
}

} // namespace

void evaluate(const Case &program, const EvaluateOptions &options,
              const std::function<void(const std::string &)> &onStage,
              const std::function<void(const Observation &)> &onObserved) {
  Evaluation(program, options, onStage, onObserved).run();
}

void compileSharedCode(const EvaluateOptions &how) {
  for (const char *type : {"f32", "f16", "bf16", "i32", "i8"}) {
    std::string elem = type;
    SourceManager sources;
    DiagnosticSink sink;
    CheckOptions check;
    check.stdPath = how.stdPath;
    FileId file = sources.add("shared.ptl", "fn f[M, K, N](a: " + elem + "[M, K], b: " + elem +
                                                "[K, N]) -> f32[M, N] { return f32(a @ b) }\n");
    std::unique_ptr<CheckedProgram> program = checkFile(sources, file, check, sink);
    CompilerOptions options;
    options.processor = how.processor;
    options.functionObjects = sharedObjects();
    CompileContext context(*program, sources, options, sink);
    ir::EntryBinding binding;
    binding.decl = program->modules.front()->callables.front();
    std::optional<Translated> translated = translateEntry(context, binding, "ptl_entry");
    if (!translated)
      continue;
    for (int level : {0, 2, 3})
      for (auto quality : {cpu::CodeQuality::Full, cpu::CodeQuality::Quick})
        if (level > 0 || quality == cpu::CodeQuality::Quick)
          llvm::consumeError(sharedObjects()
                                 ->objects(translated->functions, options.processor, level, quality)
                                 .takeError());
  }
}

} // namespace ptl::differential
