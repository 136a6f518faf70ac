// From tile level to the block level of a chip: lowered, placed, synchronised, judged.
#include "compile/chip/chip.h"
#include "compile/chip/chip_search.h"
#include "compile/chip/stage_record.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/source_range.h"
#include "passes/lower_block/cut_statements.h"
#include "passes/transform/derive_sync.h"
#include "passes/transform/peel_stages.h"
#include "passes/transform/plan_buffers.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>

namespace ptl {

Span spanOf(mlir::Location location) {
  std::vector<Span> spans = ir::rangesOf(location);
  return spans.empty() ? kNoSpan : spans.front();
}

ChipProgram copyOf(const ChipProgram &program) {
  ChipProgram copy;
  copy.program.host = program.program.host.get().clone();
  copy.program.grids = program.program.grids.get().clone();
  for (const mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    copy.program.kernels.push_back(kernel.get().clone());
  copy.ledger = program.ledger;
  copy.sync = program.sync;
  copy.proof = program.proof;
  copy.halvings = program.halvings;
  copy.avoid = program.avoid;
  copy.statements = program.statements;
  return copy;
}

void dropRequirements(mlir::ModuleOp kernel) {
  llvm::SmallVector<mlir::Operation *> open;
  kernel.walk([&](ir::CheckOp check) { open.push_back(check); });
  for (bool isCheck = true; !open.empty(); isCheck = false) {
    llvm::SmallVector<mlir::Operation *> next;
    for (mlir::Operation *op : open) {
      if (!isCheck && !mlir::isOpTriviallyDead(op))
        continue;
      for (mlir::Value operand : op->getOperands())
        if (mlir::Operation *made = operand.getDefiningOp();
            made && !llvm::is_contained(next, made))
          next.push_back(made);
      op->erase();
      llvm::erase(next, op);
    }
    open = std::move(next);
  }
}

/// That of all kernels, whose buffers are placed.
static BufferLedger ledgerOf(const block::BlockProgram &program) {
  BufferLedger all;
  for (const std::optional<BufferLedger> &one : program.ledgers) {
    all.machine = one->machine;
    all.functions.insert(all.functions.end(), one->functions.begin(), one->functions.end());
  }
  return all;
}

static block::KernelTraits traitsOf(const block::BlockProgram &program, size_t kernel) {
  auto functions = program.kernels[kernel].get().getOps<mlir::func::FuncOp>();
  return {program.unrolls[kernel], std::distance(functions.begin(), functions.end()) > 1};
}

/// Places the buffers of the kernels in order. All that do not fit are looked at, so that they are
/// lowered again together.
static SearchStep placeBuffers(block::BlockProgram &program, const Machine &machine,
                               ChipSearch &search) {
  bool lowersAgain = false;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    if (program.ledgers[i] || search.isHalving(i))
      continue;
    BufferLedger ledger;
    std::optional<Overflow> overflow = block::planBuffers(*program.kernels[i], machine, ledger);
    if (!overflow) {
      program.ledgers[i] = std::move(ledger);
      continue;
    }
    SearchStep step = search.afterOverflow(i, *overflow, traitsOf(program, i));
    if (step == SearchStep::GiveUp)
      return step;
    lowersAgain |= step == SearchStep::Lower;
  }
  return lowersAgain ? SearchStep::Lower : search.afterPlacing();
}

/// How kernels that did not fit at once were made to.
static void tellRoom(ChipProgram &program, ChipSearch &search) {
  llvm::SmallVector<mlir::func::FuncOp> grids(
      (*program.program.grids).getOps<mlir::func::FuncOp>());
  for (size_t i = 0; i < program.program.kernels.size(); ++i) {
    LedgerKernel kernel;
    for (auto function : (*program.program.kernels[i]).getOps<mlir::func::FuncOp>())
      if (auto name = attrs::kernel.of(function))
        kernel.name = name.str();
    kernel.givenUp = search.of(i).givenUp();
    kernel.parts = program.program.parts[i];
    const std::optional<Overflow> &whole = search.of(i).present().whole;
    if (whole && kernel.parts) {
      kernel.parts->memory = whole->space.place;
      kernel.parts->needed = whole->needed;
      kernel.parts->usable = whole->space.usable;
    }
    for (StatementParts &each : block::statementsInParts(grids[i])) {
      each.kernel = kernel.name;
      each.tilesAreChosen = program.program.tileGroups[i] > 0;
      if (whole) {
        each.memory = whole->space.place;
        each.needed = whole->needed;
        each.usable = whole->space.usable;
      }
      program.statements.push_back(std::move(each));
    }
    if (kernel.parts || !kernel.givenUp.empty())
      program.ledger.kernels.push_back(std::move(kernel));
  }
}

void Compiler::keepTiles(llvm::StringRef pass, mlir::ModuleOp made) {
  if (options_.afterPass)
    options_.afterPass(pass, made);
  if (stages_)
    stages_->addTiles(pass.str(), made);
}

/// What a pass has made of kernels.
static void keepBlocks(const CompilerOptions &options, StageRecord *stages, const char *pass,
                       Stage::Level level, ChipProgram &program) {
  if (options.afterPass) {
    llvm::SmallVector<mlir::ModuleOp> made;
    for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
      made.push_back(*kernel);
    options.afterPass(pass, made);
  }
  if (stages)
    stages->addBlocks(pass, level, program);
}

std::unique_ptr<StageRecord> Compiler::takeStages() { return std::move(stages_); }

/// What each pass made, in files by its name: what ptl-opt makes of the file before.
void Compiler::dumpStages() {
  if (options_.dumpFolder.empty())
    return;
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  for (const Stage &stage : stages_->all()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    wholeOf(stage)->print(out, flags);
    dump(stage.pass + ".mlir", text);
  }
  if (!options_.keepsStages)
    stages_.reset();
}

/// Lowers what is tiled as the search says, until all fits or it is to be tiled anew. Nothing after
/// an error. `result`: what became of the last attempt, whose kernels are taken where they would be
/// the same.
std::optional<SearchStep> Compiler::lowerTiled(mlir::ModuleOp module, ChipSearch &search,
                                               ChipProgram &result) {
  size_t errors = sink_.errorCount();
  block::Report report = [&](DiagId id, mlir::Location location,
                             std::vector<std::string> arguments) {
    sink_.report(id, spanOf(location), std::move(arguments));
  };
  size_t tiled = stages_ ? stages_->size() : 0;
  block::AfterPass afterPass;
  if (stages_ || options_.afterPass)
    afterPass = [&](llvm::StringRef pass, mlir::ModuleOp made) { keepTiles(pass, made); };
  SearchStep next = SearchStep::Lower;
  result.program.sites.clear(); // those of another module
  while (next == SearchStep::Lower) {
    step("lower-block");
    if (stages_)
      stages_->truncate(tiled);
    std::optional<block::BlockProgram> program = block::lowerToBlocks(
        module, *options_.chip, search.options(), *simplifier_, report, &result.program, afterPass);
    if (!program) {
      if (sink_.errorCount() == errors)
        reportFault("lower-block", messages_, module);
      return std::nullopt;
    }
    search.see(program->tileGroups);
    if (program->uncut) {
      next = search.afterUncut(*program->uncut);
      continue;
    }
    step("plan-buffers");
    result.program = std::move(*program);
    keepBlocks(options_, stages_.get(), "ptl-lower-block", Stage::Level::Unplaced, result);
    next = placeBuffers(result.program, *options_.chip, search);
  }
  if (next == SearchStep::GoOn) {
    result.ledger = ledgerOf(result.program);
    tellRoom(result, search);
    keepBlocks(options_, stages_.get(), "pto-plan-buffers", Stage::Level::Placed, result);
  }
  return next;
}

std::optional<ChipProgram> Compiler::lowerToChip(mlir::ModuleOp module, const OnPhase &onPhase) {
  messages_.clear();
  overflow_.reset();
  if (options_.keepsStages || !options_.dumpFolder.empty()) {
    stages_ = std::make_unique<StageRecord>();
    stages_->addTiles("build", module);
  }
  // Tiles that the author wrote are as they are; those of tensor-level code shrink until they fit.
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  auto kind = attrs::kind.of(function);
  bool isTiled = kind && (kind.getValue() == "kernel" || kind.getValue() == "manual");
  ChipSearch search(/*mayHalve=*/!isTiled, /*mayCut=*/true);
  ChipProgram result;
  SearchStep next = SearchStep::Tile;
  while (next == SearchStep::Tile) {
    mlir::OwningOpRef<mlir::ModuleOp> tiled = module.clone();
    if (stages_)
      stages_->truncate(1);
    halvings_ = result.halvings = search.halvings();
    bool done = tile(*tiled, onPhase);
    halvings_.clear();
    std::optional<SearchStep> lowered;
    if (done)
      lowered = lowerTiled(*tiled, search, result);
    if (!lowered)
      return std::nullopt;
    next = *lowered;
  }
  if (next == SearchStep::GiveUp) {
    refuse(search.refusal());
    return std::nullopt;
  }
  findWhatAvoidsParts(result);
  bool isWell = synchronise(result) && judge(result);
  dumpStages();
  if (!isWell)
    return std::nullopt;
  warnOfParts(result);
  return result;
}

/// Puts what depends on each other in order, but for kernels whose author did. False after an
/// error.
bool Compiler::synchronise(ChipProgram &program) {
  step("derive-sync");
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    if (!attrs::byHand.isOn(*kernel))
      for (auto each : kernel->getOps<mlir::func::FuncOp>())
        pto::peelStages(each);
  keepBlocks(options_, stages_.get(), "pto-peel-stages", Stage::Level::Placed, program);
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels) {
    bool byHand = attrs::byHand.isOn(*kernel);
    pto::BlockMachine machine(*options_.chip);
    for (auto each : kernel->getOps<mlir::func::FuncOp>()) {
      pto::SyncResult &sync = program.sync.emplace_back();
      if (!byHand)
        pto::deriveSync(each, machine, sync);
    }
    if (mlir::failed(mlir::verify(*kernel))) {
      reportFault("derive-sync", messages_, *kernel);
      return false;
    }
  }
  keepBlocks(options_, stages_.get(), "pto-derive-sync", Stage::Level::Synchronised, program);
  return true;
}

/// The gate that all code for chips goes through: what the prover refutes leaves the compiler
/// neither as text nor as a preview, a time or a run. In a manual kernel the fault is its author's,
/// else the compiler's. What cannot be decided is a warning. False if something was refuted.
bool Compiler::judge(ChipProgram &program) {
  step("prove");
  bool holds = true;
  llvm::SmallVector<mlir::ModuleOp> modules;
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    modules.push_back(*kernel);
  std::vector<prove::ProofResult> proofs = prove::proveBlocks(modules, *options_.chip);
  for (auto [kernel, proof] : llvm::zip(modules, proofs)) {
    holds &= proof.findings.empty();
    if (attrs::byHand.isOn(kernel) || proof.findings.empty())
      prove::report(proof, sink_, spanOf);
    else
      reportRefuted(proof, kernel);
    program.proof.add(std::move(proof));
  }
  return holds;
}

void Compiler::reportRefuted(const prove::ProofResult &proof, mlir::ModuleOp kernel) {
  const prove::Finding &first = proof.findings.front();
  reportFault("prove",
              "the code that it made is wrong: " + first.message() + " (" + first.code() + ")",
              kernel, spanOf(first.location), prove::toText(proof));
}

bool Compiler::tileForReading(mlir::ModuleOp module) {
  if (options_.chip) {
    std::optional<ChipProgram> program = lowerToChip(module);
    if (!program)
      return false;
    halvings_ = program->halvings;
  }
  legalizes_ = false;
  bool done = tile(module);
  legalizes_ = true;
  halvings_.clear();
  return done;
}

} // namespace ptl
