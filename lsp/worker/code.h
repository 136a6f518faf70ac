// One declaration compiled stage by stage, each stage made when it is first asked for and kept.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/cost/cost.h"
#include "compile/entry/binding.h"
#include "compile/native_code.h"
#include "lsp/worker/function_code.h"
#include "lsp/worker/function_key.h"
#include "passes/analysis/buffer_overflow.h"

#include <chrono>
#include <memory>
#include <utility>

namespace ptl::worker {

struct CodeOptions {
  int level = 2;                     ///< of LLVM's optimisation
  std::string processor;             ///< LLVM's name; empty: this machine
  bool intel = false;                ///< syntax of assembly
  bool unchecked = false;            ///< no bounds checks
  std::optional<Machine> chip;       ///< absent: the CPU
  std::optional<MachineCosts> costs; ///< of the chip; absent: nothing is known of them
  bool helps = false;                ///< what does not fit it is tried with other values
};

/// Whether the entries run on a chip, and the memory that they need there. It keeps no state of the
/// compiler alive.
struct ChipOutcome {
  bool fits = false;
  BufferLedger ledger;                    ///< of all kernels that were placed
  std::vector<StatementParts> statements; ///< that are done in parts
  std::optional<Overflow> overflow;
  std::vector<Diagnostic> diagnostics; ///< errors: why not
};

/// A checked root file and its texts.
struct Checked {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;
  std::shared_ptr<const CheckOptions> options; ///< how it was checked
};

/// Called at the beginning of each step with its name, and within long ones with `STEP: PASS`;
/// false stops the work.
using Watch = std::function<bool(const std::string &step)>;

/// Milliseconds by phase, in order.
using Timings = std::vector<std::pair<std::string, double>>;

class Code {
public:
  /// `functions` has to outlive this; code that it has is not compiled again.
  Code(std::unique_ptr<Checked> checked, std::vector<const CallableDecl *> reach,
       std::vector<BoundEntry> entries, CodeOptions options, FunctionCache &functions);
  ~Code();

  /// The stage, which is made if it is not there. Null after an error, which is in `sink()`, or
  /// when `watch` stopped it. The times taken are added to `timings`.
  const StageText *stage(StageId id, const Watch &watch, Timings &timings);
  bool has(StageId id) const { return texts_[numberOf(id)] != nullptr; }
  /// The outcome for the chip, which is computed if it is not known. Null when `watch` stopped it,
  /// or when this was settled without it. Precondition: made for a chip.
  const ChipOutcome *outcome(const Watch &watch, Timings &timings);
  bool hasOutcome() const { return outcome_ != nullptr; }
  /// The cost on the chip, with hints if `hints` is set. Null when the entry does not run there,
  /// when this is settled, or when the chip's costs are not known.
  const Cost *cost(const ExampleSizes &sizes, bool hints, Timings &timings);
  /// The same with advice (compile/tune/advice.h), which takes seconds. `watch` is called before each
  /// try; null, too, when it stopped it, and then nothing is kept.
  const Cost *advised(const ExampleSizes &sizes, const Watch &watch, Timings &timings);
  /// The least time on this processor. Null when this is settled, or when there are several entries.
  /// Precondition: not made for a chip.
  const Cost *processorCost(const ExampleSizes &sizes, Timings &timings);
  /// The picture of what became tasks, with times for these sizes. Null as for `stage`.
  const StageText *graph(const ExampleSizes &sizes, const Watch &watch, Timings &timings);
  /// A simulated run; nothing as for `cost`, or with a `problem`.
  std::optional<rt::sim::Report> timeline(const ExampleSizes &sizes, uint64_t mostOperations,
                                          bool &isPart, std::string &problem, Timings &timings);

  const std::vector<BoundEntry> &entries() const { return entries_; }
  /// The checked program; null when this is settled.
  const CheckedProgram *program() const { return checked_ ? checked_->program.get() : nullptr; }
  /// The places of the entry and of its callees in the texts that this was made from.
  const std::vector<Span> &places() const { return places_; }
  /// Precondition of both functions: not settled.
  const SourceManager &sources() const { return checked_->sources; }
  const DiagnosticSink &sink() const { return checked_->sink; }
  bool wasStopped() const { return stopped_; }
  size_t bytes() const;
  /// Drops the inputs of further stages; the texts stay. The `decl` of entries becomes null.
  void settle();
  bool isSettled() const { return !context_; }

private:
  bool make(StageId id);
  // For chips: chip_code.cpp.
  bool makeForChip(StageId id);
  bool lowerToChip(bool keepsPhases);
  void noteOutcome(std::optional<Overflow> overflow);
  bool canRun();
  StageText blockText();
  StageText ptoText();
  StageText cppText();
  /// As built; puts that stage.
  std::optional<TensorModule> makeBuilt();
  bool makeTiles();
  bool makeExplicit(StageId id);
  bool makeVectors();
  bool makeFunctions(StageId id);
  void makeKeys();
  /// The LLVM IR before optimisation of the functions with these numbers.
  std::optional<cpu::LlvmModule> translate(const std::vector<size_t> &wanted);
  /// Puts `Llvm` or `Asm` of these functions into `codes` and the cache; false when it was stopped
  /// or failed.
  bool compile(StageId id, const std::vector<size_t> &wanted, std::vector<FunctionCodePtr> &codes);
  std::optional<std::string> assemble(cpu::LlvmModule &code, llvm::TargetMachine &machine);
  void makeChecked();
  template <typename Phase> auto timed(const char *name, Phase phase) {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    auto result = phase();
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    timings_->emplace_back(name, time.count());
    return result;
  }
  bool watch(const std::string &step);
  void put(StageId id, StageText text);

  std::unique_ptr<Checked> checked_;
  std::vector<const CallableDecl *> reach_;
  std::vector<Span> places_;
  std::vector<BoundEntry> entries_;
  CodeOptions options_;
  const Watch *watch_ = nullptr;
  Timings *timings_ = nullptr;
  bool stopped_ = false;
  bool failed_ = false; ///< an error was reported; no stage that is missing can be made
  std::array<std::unique_ptr<StageText>, stageInfos.size()> texts_;

  std::unique_ptr<const CompileContext> context_;
  std::optional<TileModule> tiles_;
  std::optional<VectorModule> vectors_;
  std::vector<ChipProgram> programs_; ///< one per entry
  std::unique_ptr<ChipOutcome> outcome_;
  std::map<std::string, Cost> costs_;       ///< by what was asked
  std::map<std::string, StageText> graphs_; ///< by sizes
  FunctionCache &functions_;
  std::vector<FunctionKey> keys_; ///< of the functions with a body, in order
};

} // namespace ptl::worker
