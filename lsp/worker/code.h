// One declaration compiled stage by stage; each stage is computed when it is first requested, and
// cached.
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
  int level = 2;                     ///< optimisation level of LLVM
  std::string processor;             ///< LLVM's name; empty: this machine
  bool intel = false;                ///< Intel syntax for assembly
  bool unchecked = false;            ///< no bounds checks
  std::optional<Machine> chip;       ///< absent: the CPU
  std::optional<MachineCosts> costs; ///< of the chip; absent: unknown
  bool helps = false;                ///< if it does not fit, other values are tried
};

/// Whether the entries run on a chip, and the memory that they need there. It does not keep
/// compiler state alive.
struct ChipOutcome {
  bool fits = false;
  BufferLedger ledger;                    ///< of all kernels whose buffers have addresses
  std::vector<StatementParts> statements; ///< executed in parts
  std::optional<Overflow> overflow;
  std::vector<Diagnostic> diagnostics; ///< errors: why they do not run
};

/// A checked root file and its texts.
struct Checked {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;
  std::shared_ptr<const CheckOptions> options; ///< how it was checked
};

/// Called at the beginning of each step with its name, and within long ones with `STEP: PASS`;
/// returning false stops the work.
using Watch = std::function<bool(const std::string &step)>;

/// Milliseconds by phase, in order.
using Timings = std::vector<std::pair<std::string, double>>;

class Code {
public:
  /// `functions` must outlive this object; code in it is not compiled again.
  Code(std::unique_ptr<Checked> checked, std::vector<const CallableDecl *> reach,
       std::vector<BoundEntry> entries, CodeOptions options, FunctionCache &functions);
  ~Code();

  /// The stage, computed if necessary. Null after an error, which is in `sink()`, or if `watch`
  /// stopped the work. The times spent are added to `timings`.
  const StageText *stage(StageId id, const Watch &watch, Timings &timings);
  bool has(StageId id) const { return texts_[numberOf(id)] != nullptr; }
  /// The outcome for the chip, computed if necessary. Null if `watch` stopped the work, or if this
  /// object was settled without it. Precondition: compiled for a chip.
  const ChipOutcome *outcome(const Watch &watch, Timings &timings);
  bool hasOutcome() const { return outcome_ != nullptr; }
  /// The cost on the chip, with hints if `hints` is set. Null if the entry does not run there, if
  /// this object is settled, or if the chip's costs are unknown.
  const Cost *cost(const ExampleSizes &sizes, bool hints, Timings &timings);
  /// The same with advice (compile/tune/advice.h), which takes seconds. `watch` is called before
  /// each try. If it stops the work, the result is null and nothing is cached.
  const Cost *advised(const ExampleSizes &sizes, const Watch &watch, Timings &timings);
  /// A lower bound of the time on this processor. Null if this object is settled, or if there are
  /// several entries. Precondition: not compiled for a chip.
  const Cost *processorCost(const ExampleSizes &sizes, Timings &timings);
  /// The picture of the task graph, with times for these sizes. Null as for `stage`.
  const StageText *graph(const ExampleSizes &sizes, const Watch &watch, Timings &timings);
  /// A simulated run. Nothing in the cases of `cost`, or with a `problem`.
  std::optional<rt::sim::Report> timeline(const ExampleSizes &sizes, uint64_t mostOperations,
                                          bool &isPart, std::string &problem, Timings &timings);

  const std::vector<BoundEntry> &entries() const { return entries_; }
  /// The checked program; null if this object is settled.
  const CheckedProgram *program() const { return checked_ ? checked_->program.get() : nullptr; }
  /// The spans of the entry and of its callees in the texts from which it was compiled.
  const std::vector<Span> &places() const { return places_; }
  /// Precondition of both functions: not settled.
  const SourceManager &sources() const { return checked_->sources; }
  const DiagnosticSink &sink() const { return checked_->sink; }
  bool wasStopped() const { return stopped_; }
  size_t bytes() const;
  /// Frees the inputs of further stages, and keeps the texts. The `decl` of entries becomes null.
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
  /// Builds the tensor level, and stores that stage.
  std::optional<TensorModule> makeBuilt();
  bool makeTiles();
  bool makeExplicit(StageId id);
  bool makeVectors();
  bool makeFunctions(StageId id);
  void makeKeys();
  /// Translates the functions with these indices to LLVM IR before optimisation.
  std::optional<cpu::LlvmModule> translate(const std::vector<size_t> &wanted);
  /// Stores `Llvm` or `Asm` of these functions in `codes` and the cache; false if it was stopped or
  /// failed.
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
  bool failed_ = false; ///< an error was reported; missing stages cannot be computed
  std::array<std::unique_ptr<StageText>, stageInfos.size()> texts_;

  std::unique_ptr<const CompileContext> context_;
  std::optional<TileModule> tiles_;
  std::optional<VectorModule> vectors_;
  std::vector<ChipProgram> programs_; ///< one per entry
  std::unique_ptr<ChipOutcome> outcome_;
  std::map<std::string, Cost> costs_;       ///< by the request's parameters
  std::map<std::string, StageText> graphs_; ///< by sizes
  FunctionCache &functions_;
  std::vector<FunctionKey> keys_; ///< of the functions with a body, in order
};

} // namespace ptl::worker
