// Declarations compiled for a chip.
#include "codegen/pto/emit_pto.h"
#include "compile/chip/chip_text.h"
#include "compile/chip/feasibility.h"
#include "compile/cost/processor_cost.h"
#include "compile/tune/advice.h"
#include "ir/dialect/source_range.h"
#include "lsp/worker/block_notes.h"
#include "lsp/worker/code.h"
#include "lsp/worker/print_ir.h"
#include "passes/analysis/memory_map.h"

namespace ptl::worker {

static BufferLedger ledgerOf(const std::vector<ChipProgram> &programs) {
  BufferLedger all;
  for (const ChipProgram &program : programs) {
    all.machine = program.ledger.machine;
    all.functions.insert(all.functions.end(), program.ledger.functions.begin(),
                         program.ledger.functions.end());
    all.kernels.insert(all.kernels.end(), program.ledger.kernels.begin(),
                       program.ledger.kernels.end());
  }
  return all;
}

/// Stores the diagnostics that `ptlc` would print. The stages and programs made on the way are
/// kept, so that viewing them is free.
void Code::noteOutcome(std::optional<Overflow> overflow) {
  auto outcome = std::make_unique<ChipOutcome>();
  outcome->fits = !failed_;
  outcome->ledger = ledgerOf(programs_);
  outcome->ledger.machine = context_->options().chip->name;
  outcome->overflow = std::move(overflow);
  for (const ChipProgram &program : programs_)
    outcome->statements.insert(outcome->statements.end(), program.statements.begin(),
                               program.statements.end());
  // If lowering succeeded, only the prover's undecided cases and statements in parts are of
  // interest; warnings of the check have already been reported by the server.
  for (const Diagnostic &diagnostic : sink().all())
    if ((failed_ && diagnostic.severity == Severity::Error) ||
        diagnostic.id == DiagId::CannotBeProved || diagnostic.id == DiagId::DoneInParts)
      outcome->diagnostics.push_back(diagnostic);
  outcome_ = std::move(outcome);
}

bool Code::lowerToChip(bool keepsPhases) {
  if (failed_)
    return false;
  programs_.clear();
  // The sink also has the diagnostics of the check, so only an increase in errors means that
  // lowering failed.
  size_t before = checked_->sink.errorCount();
  OnPhase onPhase = [&](const std::string &phase, mlir::ModuleOp module) {
    if (std::optional<StageId> id = stageByName(phase); id && keepsPhases)
      put(*id, timed("print", [&] { return printModule(module); }));
  };
  std::optional<Overflow> overflow;
  for (const BoundEntry &entry : entries_) {
    ChipResult lowered = timed("lower", [&] { return lowerEntry(*context_, entry, onPhase); });
    if (stopped_) {
      programs_.clear();
      return false;
    }
    // The overflow of the last entry is reported: the loop ends at the first entry that does not
    // fit.
    overflow = std::move(lowered.overflow);
    if (!lowered.program)
      break;
    programs_.push_back(std::move(*lowered.program));
  }
  failed_ = checked_->sink.errorCount() > before || programs_.size() < entries_.size();
  noteOutcome(std::move(overflow));
  return !failed_;
}

const ChipOutcome *Code::outcome(const Watch &watch, Timings &timings) {
  watch_ = &watch;
  timings_ = &timings;
  stopped_ = false;
  if (!outcome_ && context_)
    lowerToChip(/*keepsPhases=*/false);
  watch_ = nullptr;
  timings_ = nullptr;
  return outcome_.get();
}

bool Code::canRun() {
  return outcome_ && outcome_->fits && context_ && programs_.size() == 1 && entries_.size() == 1;
}

static std::string keyOf(const ExampleSizes &sizes, bool hints) {
  std::string key = hints ? "hints" : "";
  for (const auto &[name, value] : sizes)
    key += " " + name + "=" + std::to_string(value);
  return key;
}

const Cost *Code::cost(const ExampleSizes &sizes, bool hints, Timings &timings) {
  std::string key = keyOf(sizes, hints);
  if (auto known = costs_.find(key); known != costs_.end())
    return &known->second;
  const std::optional<MachineCosts> &costs = options_.costs;
  if (!canRun() || !costs || !costs->known())
    return nullptr;
  timings_ = &timings;
  Cost cost = timed("cost", [&] {
    return costOf({*checked_->program, checked_->sources, entries_.front(),
                   *context_->options().chip, *costs, sizes, hints},
                  programs_.front());
  });
  timings_ = nullptr;
  return &costs_.emplace(std::move(key), std::move(cost)).first->second;
}

/// The search for advice ends after so many seconds of the processor, and what it has found by then
/// is reported. The server asks for advice only when it has nothing else to do, so a busy machine
/// may take longer, but finds the same.
static constexpr double kAdviceSeconds = 8;

const Cost *Code::advised(const ExampleSizes &sizes, const Watch &watch, Timings &timings) {
  std::string key = keyOf(sizes, /*hints=*/true) + " advice";
  if (auto known = costs_.find(key); known != costs_.end())
    return &known->second;
  // Advice compares with the present time, so that is computed first, or taken from the cache.
  const Cost *plain = cost(sizes, /*hints=*/true, timings);
  if (!plain || !canRun())
    return nullptr;
  Cost result = *plain;
  bool isStopped = false;
  timings_ = &timings;
  timed("advice", [&] {
    AdviceLimits limits;
    limits.seconds = kAdviceSeconds;
    limits.isOver = [&] {
      isStopped |= !watch("advice");
      return isStopped;
    };
    advise(result,
           {*checked_->program, checked_->sources, entries_.front(), *context_->options().chip,
            *options_.costs, sizes},
           context_->options(), limits);
    return true;
  });
  timings_ = nullptr;
  // An interrupted search would be cached as complete, so its result is dropped.
  return isStopped ? nullptr : &costs_.emplace(std::move(key), std::move(result)).first->second;
}

const Cost *Code::processorCost(const ExampleSizes &sizes, Timings &timings) {
  std::string key = keyOf(sizes, /*hints=*/false);
  if (auto known = costs_.find(key); known != costs_.end())
    return &known->second;
  if (!context_ || entries_.size() != 1)
    return nullptr;
  timings_ = &timings;
  Cost cost = timed("cost", [&] {
    CompilerOptions options = context_->options();
    options.onStep = nullptr; // its steps are not stages of this code
    return ptl::processorCost(
        {*checked_->program, checked_->sources, entries_.front(), std::move(options), sizes},
        hostPeaks());
  });
  timings_ = nullptr;
  return &costs_.emplace(std::move(key), std::move(cost)).first->second;
}

std::optional<rt::sim::Report> Code::timeline(const ExampleSizes &sizes, uint64_t mostOperations,
                                              bool &isPart, std::string &problem,
                                              Timings &timings) {
  const std::optional<MachineCosts> &costs = options_.costs;
  if (!canRun() || !costs || !costs->known())
    return std::nullopt;
  timings_ = &timings;
  auto report = timed("timeline", [&] {
    return timelineOf({*checked_->program, checked_->sources, entries_.front(),
                       *context_->options().chip, *costs, sizes, /*hints=*/true},
                      programs_.front(), mostOperations, isPart, problem);
  });
  timings_ = nullptr;
  return report;
}

/// Attaches to each line of a text the notes about its operation.
static void addNotes(StageText &text, const std::vector<mlir::Operation *> &ops,
                     const std::vector<ChipProgram> &programs) {
  llvm::DenseMap<mlir::Operation *, size_t> lines;
  for (size_t line = 0; line < ops.size(); ++line)
    if (ops[line])
      lines[ops[line]] = line; // if several lines, the last: comments precede their operation
  auto lineOf = [&](mlir::Operation *op) {
    auto found = lines.find(op);
    return found == lines.end() ? std::nullopt : std::optional(found->second);
  };
  text.facts.resize(std::max(text.facts.size(), ops.size()));
  for (const ChipProgram &program : programs)
    for (const auto &kernel : program.program.kernels) {
      BlockNotes notes(kernel.get(), program.ledger);
      for (size_t line = 0; line < ops.size(); ++line)
        // A line belongs to one kernel only; for operations of other kernels the notes are empty.
        if (ops[line] && text.facts[line].notes.empty())
          text.facts[line].notes = notes.of(ops[line], lineOf);
    }
}

StageText Code::blockText() {
  StageText all;
  std::vector<mlir::Operation *> ops;
  for (const ChipProgram &program : programs_)
    for (const auto &kernel : program.program.kernels) {
      std::vector<mlir::Operation *> own;
      StageText text = printModule(kernel.get(), &own);
      // Texts of kernels are concatenated, so line numbers of this one are offset by those before.
      ops.resize(linesOf(all.text).size());
      all.append(text);
      ops.insert(ops.end(), own.begin(), own.end());
    }
  addNotes(all, ops, programs_);
  return all;
}

/// An emitted text with the origins of its lines; `ops` gets the operation of each line.
static StageText stageText(const pto::Emitted &emitted, std::vector<mlir::Operation *> &ops) {
  StageText result;
  size_t number = 0;
  for (std::string_view line : linesOf(emitted.text)) {
    mlir::Operation *op = nullptr;
    if (const pto::SourcePlace *place = emitted.lines.at(static_cast<unsigned>(number + 1)))
      op = place->operation;
    // The map gives the location, so the one in the text is removed.
    if (size_t at = line.rfind(" loc(\""); op && at != line.npos && line.ends_with(")"))
      line = line.substr(0, at);
    (result.text += line) += '\n';
    ops.push_back(op);
    if (op) {
      result.map.set(number, result.map.intern(ir::rangesOf(op->getLoc())));
      result.facts.resize(number + 1);
      result.facts[number].op = op->getName().getStringRef().str();
    }
    ++number;
  }
  return result;
}

static std::vector<mlir::ModuleOp> kernelsOf(const std::vector<ChipProgram> &programs) {
  std::vector<mlir::ModuleOp> kernels;
  for (const ChipProgram &program : programs)
    for (const auto &kernel : program.program.kernels)
      kernels.push_back(kernel.get());
  return kernels;
}

StageText Code::ptoText() {
  std::vector<mlir::Operation *> ops;
  StageText text = stageText(pto::emitPto(kernelsOf(programs_), *context_->options().chip), ops);
  addNotes(text, ops, programs_);
  return text;
}

StageText Code::cppText() {
  StageText all;
  std::vector<mlir::Operation *> ops;
  for (const ChipProgram &program : programs_)
    all.append(stageText(ptl::cppText(program, *context_->options().chip), ops));
  addNotes(all, ops, programs_);
  return all;
}

bool Code::makeForChip(StageId id) {
  if (id == StageId::Built || id == StageId::Tensor || id == StageId::Tile) {
    // These stages exist even if a later step fails, so that an author can see where it went wrong.
    bool isBuilt = id != StageId::Built || makeBuilt();
    if (id != StageId::Built)
      lowerToChip(/*keepsPhases=*/true);
    return isBuilt && !stopped_ && has(id);
  }
  if (programs_.empty() && !lowerToChip(/*keepsPhases=*/false))
    return false;
  if (!watch("print"))
    return false;
  put(id, timed("print", [&]() -> StageText {
        switch (id) {
        case StageId::Host: {
          StageText all;
          for (ChipProgram &program : programs_)
            all.append(printModule(*program.program.host));
          return all;
        }
        case StageId::Block:
          return blockText();
        case StageId::Pto:
          return ptoText();
        case StageId::Cpp:
          return cppText();
        case StageId::Memory:
          return {statementsText(outcome_->statements) + ledgerText(outcome_->ledger) + "\n" +
                      memoryMapText(outcome_->ledger),
                  {},
                  {}};
        case StageId::MemorySvg:
          return {memoryMapSvg(outcome_->ledger), {}, {}};
        default:
          return {};
        }
      }));
  return true;
}

} // namespace ptl::worker
