#include "compile/tune/predict_entry.h"

#include "compile/chip/feasibility.h"
#include "compile/key_hash.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace ptl {

/// The most operations of a whole simulation; so many take a few seconds.
static constexpr uint64_t kMostSimulated = 4'000'000;
/// The search gives up after this many different codes without a known time.
static constexpr size_t kMostUnknown = 4;

std::string firstError(const DiagnosticSink &sink) {
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.severity == Severity::Error)
      return diagnostic.message;
  return "it cannot be compiled";
}

/// Compiles a form and passes its code to `use`. Returns the message of an error, or an empty
/// string.
static std::string compile(const PredictedForm &form,
                           llvm::function_ref<void(const ChipProgram &)> use) {
  DiagnosticSink quiet;
  CompilerOptions options = form.options;
  // A trial reports nothing to anyone, so everything that serves reports is switched off.
  options.triesHelps = false;
  options.reportsParts = false;
  options.keepFault = nullptr;
  options.dumpFolder.clear();
  options.keepsStages = false;
  CompileContext context(form.program, form.sources, std::move(options), quiet);
  ChipResult lowered = lowerEntry(context, form.bound);
  if (!lowered.program)
    return firstError(quiet);
  use(*lowered.program);
  return "";
}

/// Modules are printed without locations, so that the same code at other lines has the same hash.
static std::string hashOf(const ChipProgram &program) {
  KeyHash key;
  auto add = [&](mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    key.add(text);
  };
  add(program.program.host.get());
  for (const mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    add(kernel.get());
  return key.text();
}

/// The bytes of each memory that its fullest core uses.
static std::map<std::string, int64_t> memoryOf(const BufferLedger &ledger) {
  std::map<std::string, int64_t> bytes;
  for (const LedgerFunction &function : ledger.functions)
    for (const LedgerSpace &space : function.spaces)
      if (space.peak > 0) {
        int64_t &most = bytes[space.place];
        most = std::max(most, space.peak);
      }
  return bytes;
}

static CostQuestion questionOf(const PredictedForm &form) {
  CostQuestion call{form.program,       form.sources, form.bound,
                    *form.options.chip, form.costs,   form.sizes};
  call.timeAlone = true;
  return call;
}

const EntryPredictor::Known &EntryPredictor::estimated(const PredictedForm &form,
                                                       const ChipProgram &program) {
  // Different choices may compile to the same code, whose time is computed once.
  auto [found, isNew] = codes_.try_emplace(hashOf(program));
  Known &known = found->second;
  if (!isNew)
    return known;
  Cost cost = costOf(questionOf(form), program);
  known.outcome.memory = memoryOf(program.ledger);
  if (!cost.unknown.empty()) {
    known.outcome.reason = "no time is known: " + cost.unknown;
    // An entry whose forms have no known time is not searched to the end.
    if (++numUnknown_ >= kMostUnknown && !hasTime_)
      unknown_ = cost.unknown;
    return known;
  }
  known.outcome.us = cost.us;
  known.operations = cost.operations;
  known.isExact = cost.exact;
  noteTime();
  lastCost_ = std::move(cost);
  return known;
}

TuneOutcome EntryPredictor::predict(const PredictedForm &form) {
  TuneOutcome outcome;
  std::string problem = compile(
      form, [&](const ChipProgram &program) { outcome = estimated(form, program).outcome; });
  if (!problem.empty())
    outcome.reason = std::move(problem);
  return outcome;
}

std::optional<double> EntryPredictor::simulate(const PredictedForm &form) {
  std::optional<double> us;
  compile(form, [&](const ChipProgram &program) {
    const Known &known = estimated(form, program);
    if (known.isExact)
      us = known.outcome.us;
    // The estimate has counted the operations that a simulation would execute.
    else if (known.operations <= kMostSimulated)
      us = simulatedTime(questionOf(form), program, kMostSimulated);
  });
  return us;
}

} // namespace ptl
