// From a checked entry to native code, stage by stage: what `build`, `run`, `test` and `bench`
// share.
#pragma once

#include "codegen/cpu/function_objects.h"
#include "codegen/cpu/lower.h"
#include "frontend/sema/check.h"
#include "ir/build/build_ir.h"
#include "machines/machine.h"
#include "passes/lower_block/lower_block.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ptl::prove {
struct ProofResult;
} // namespace ptl::prove

namespace ptl {

struct BufferLedger;
class ChipSearch;
struct ChipProgram;
struct Overflow;
struct RoomHelp;
class StageRecord;
struct TileNumber;
enum class SearchStep : uint8_t;

/// An error of the compiler itself.
struct Fault {
  std::string stage;   ///< where the compiler failed
  std::string message; ///< and why, in its own words
  std::string ir;      ///< the program at that stage; empty if there is none
};

struct CompilerOptions {
  int level = 2;            ///< `-O`
  bool unchecked = false;   ///< no bounds checks
  bool verifyEach = false;  ///< run the verifier after every pass
  bool keepsStages = false; ///< of chips: `Compiler::takeStages` has the IR after each pass
  bool timePasses = false;  ///< print MLIR's times
  /// Called with the first internal error, to keep what shows it again; gives a note that says
  /// where, or why not. Null: nothing is kept.
  std::function<std::string(const SourceManager &sources, const Fault &fault)> keepFault;
  std::string dumpFolder;             ///< numbered files of every phase; empty: none
  std::optional<Machine> legalizeFor; ///< whose instructions are to suffice, for tests
  cpu::Processor processor = cpu::Processor::host();
  bool ranges = false;       ///< locations carry source ranges
  bool triesHelps = true;    ///< what does not fit a chip is tried with other values
  bool reportsParts = false; ///< reports tiles done in parts, and values with which they are not
  /// How the program was checked, to try other numbers in its text; null: these are not tried.
  std::shared_ptr<const CheckOptions> recheck;
  bool manyLevels = false; ///< `CompiledExecutor::useLevel` is going to be called
  /// Where `manyLevels`: what compilers one after the other share. Null: nothing.
  std::shared_ptr<cpu::FunctionObjects> functionObjects;
  std::optional<Machine> chip; ///< compile for this chip's block level, not for the CPU
  /// Called before each step (`build`, the name of a pass, `vectorise`, `llvm` …), for those who
  /// watch.
  std::function<void(const std::string &step)> onStep;
  /// Called with what a pass on the way to a chip has made, one module or those of all kernels,
  /// which it may change: the tests make passes wrong with it.
  std::function<void(llvm::StringRef pass, llvm::ArrayRef<mlir::ModuleOp> made)> afterPass;
};

/// Compiles entries of one program. Failures are reported to the sink; a failure without a message
/// in the source is an internal error (E0808).
class Compiler {
public:
  Compiler(const CheckedProgram &program, const SourceManager &sources, CompilerOptions options,
           DiagnosticSink &sink);
  ~Compiler();

  const CompilerOptions &options() const { return options_; }

  /// Tensor-level IR as built. Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> build(const ir::EntryBinding &binding,
                                          const std::string &symbol);
  using OnPhase = std::function<void(const std::string &phase, mlir::ModuleOp module)>;
  /// Runs the passes up to tile level, and `onPhase` after each phase; false after an error.
  bool tile(mlir::ModuleOp module, const OnPhase &onPhase = {});
  /// The same with what a chip lacks left as it is: what a person would write. Tiles of
  /// tensor-level code are as small as the chip needs them.
  bool tileForReading(mlir::ModuleOp module);
  /// Tile level to loops and vectors, for people to read. Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> vectorise(mlir::ModuleOp module);
  /// LLVM IR before optimisation of what `vectorise` gave, which is used up. `onLowered` sees it in
  /// the LLVM dialect.
  std::optional<cpu::LlvmModule>
  translate(mlir::ModuleOp blocks, const std::function<void(mlir::ModuleOp)> &onLowered = {});
  /// Optimised LLVM IR of a module as built, which is tiled in place; nothing after an error.
  std::optional<cpu::LlvmModule> lower(mlir::ModuleOp module);
  /// Kernels of the block level for `options().chip`, with buffers placed and synchronised, and
  /// judged by the prover, from a module as built, which stays as it is. Nothing after an error,
  /// and so nothing that the prover refutes. `onPhase` sees every attempt to tile it; the last is
  /// what was lowered.
  std::optional<ChipProgram> lowerToChip(mlir::ModuleOp module, const OnPhase &onPhase = {});
  /// What was too small when `lowerToChip` failed for that; else null.
  const Overflow *overflow() const { return overflow_.get(); }
  /// The stages of what `lowerToChip` made last, where `keepsStages` asks for them; else null.
  std::unique_ptr<StageRecord> takeStages();
  /// Code in this process.
  std::optional<cpu::JitCode> compile(const ir::EntryBinding &binding, const std::string &symbol);
  /// LLVM IR before optimisation, as bytes (empty after an error), without the functions whose code
  /// compilers share.
  struct Translated {
    std::string bytes;
    cpu::FunctionTexts functions;
  };
  /// The way there in two steps, of which the second is all that level and quality are about.
  Translated translated(const ir::EntryBinding &binding, const std::string &symbol);
  std::optional<cpu::JitCode> compile(const Translated &translated, int level,
                                      cpu::CodeQuality quality);

  /// A module without functions.
  mlir::OwningOpRef<mlir::ModuleOp> emptyModule();

  /// Reports an error of the compiler itself, in a stage that was given `module` (null: none), and
  /// has the first kept. `at`: the place in the source that it shows at; `details`: more for who
  /// keeps it.
  void reportFault(const std::string &stage, const std::string &message, mlir::ModuleOp module = {},
                   Span at = kNoSpan, const std::string &details = "");
  /// True if an error was the compiler's own.
  bool hadInternalError() const { return internalError_; }

private:
  void step(const char *name) const {
    if (options_.onStep)
      options_.onStep(name);
  }
  /// What `translate` gave, optimised in place.
  bool optimise(cpu::LlvmModule &code, int level);
  std::optional<cpu::JitCode> load(cpu::LlvmModule code, const cpu::JitCode::Objects &objects,
                                   cpu::CodeQuality quality);
  void dump(const std::string &phase, const std::string &text);
  void keepTiles(llvm::StringRef pass, mlir::ModuleOp made);
  void dumpStages();
  std::optional<SearchStep> lowerTiled(mlir::ModuleOp module, ChipSearch &search,
                                       ChipProgram &result);
  void refuse(const Overflow &found);
  bool synchronise(ChipProgram &program);
  bool judge(ChipProgram &program);
  void reportRefuted(const prove::ProofResult &proof, mlir::ModuleOp kernel);
  template <typename Phase>
  auto collecting(const std::string &stage, mlir::ModuleOp module, Phase phase);

  const CheckedProgram &program_;
  const SourceManager &sources_;
  CompilerOptions options_;
  DiagnosticSink &sink_;
  std::unique_ptr<mlir::MLIRContext> context_;
  std::unique_ptr<ir::Simplifier> simplifier_;
  std::string messages_; ///< what MLIR said in the present stage
  unsigned dumps_ = 0;
  std::vector<RoomHelp> helpsFor(bool mayCut, std::vector<std::string> &tried);
  std::optional<RoomHelp> helpOf(const Tunable &tunable, bool mayCut);
  std::optional<RoomHelp> helpOf(const TileNumber &number, bool mayCut);
  bool fits(const CheckedProgram &program, const SourceManager &sources,
            const ir::EntryBinding &binding, bool mayCut);
  void findWhatAvoidsParts(ChipProgram &program);
  void warnOfParts(const ChipProgram &program);
  ir::EntryBinding binding_;      ///< of what was built last
  bool legalizes_ = true;         ///< tiling goes on to what the chip has instructions for
  std::vector<int64_t> halvings_; ///< of tiles of tensor-level code (`ir::PipelineOptions`)
  bool internalError_ = false;
  std::unique_ptr<Overflow> overflow_;
  std::unique_ptr<StageRecord> stages_; ///< null: nobody asks for them
};

} // namespace ptl
