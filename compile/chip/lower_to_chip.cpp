#include "compile/chip/lower_to_chip.h"
#include "ir/dialect/attributes.h"

#include "compile/chip/lower_kernels.h"
#include "compile/chip/room_helps.h"
#include "compile/source_spans.h"
#include "passes/transform/peel_stages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

namespace ptl {

/// What each pass made, in files by its name: what ptl-opt makes of the file before.
static void dumpStages(const CompileContext &context, const StageRecord &record) {
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  for (const Stage &stage : record.all()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    wholeOf(stage)->print(out, flags);
    context.log().dump(stage.pass + ".mlir", text);
  }
}

/// Puts what depends on each other in order, but for kernels whose author did. Nothing after an
/// error.
static std::optional<ChipProgram> synchronise(const CompileContext &context, ChipProgram program,
                                              StageRecord *record) {
  const CompilerOptions &options = context.options();
  StageMessages messages(context);
  context.step("derive-sync");
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    // The loops of a kernel by hand are the stages that its author wrote.
    if (!attrs::byHand.isOn(*kernel))
      for (auto each : kernel->getOps<mlir::func::FuncOp>())
        pto::peelStages(each);
  keepBlocks(options, record, "pto-peel-stages", Stage::Level::Placed, program);
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels) {
    bool byHand = attrs::byHand.isOn(*kernel);
    pto::BlockMachine machine(*options.chip);
    for (auto each : kernel->getOps<mlir::func::FuncOp>()) {
      pto::SyncResult &sync = program.sync.emplace_back();
      // Kernels by hand have an entry too, so that the list stays beside that of the kernels.
      if (!byHand)
        pto::deriveSync(each, machine, sync);
    }
    // A fault is found here rather than by the prover, whose message would be about the program.
    if (mlir::failed(mlir::verify(*kernel))) {
      context.log().reportFault("derive-sync", messages.text, *kernel);
      return std::nullopt;
    }
  }
  keepBlocks(options, record, "pto-derive-sync", Stage::Level::Synchronised, program);
  return program;
}

static void reportRefuted(const CompileContext &context, const prove::ProofResult &proof,
                          mlir::ModuleOp kernel) {
  const prove::Finding &first = proof.findings.front();
  context.log().reportFault(
      "prove", "the compiler produced wrong code: " + first.message() + " (" + first.code() + ")",
      kernel, spanOf(first.location), prove::toText(proof));
}

/// The gate that all code for chips goes through: what the prover refutes leaves the compiler
/// neither as text nor as a preview, a time or a run. In a manual kernel the fault is its author's,
/// else the compiler's. What cannot be decided is a warning. The program with its proof; nothing if
/// something was refuted.
static std::optional<ChipProgram> judge(const CompileContext &context, ChipProgram program) {
  context.step("prove");
  bool holds = true;
  llvm::SmallVector<mlir::ModuleOp> modules;
  for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    modules.push_back(*kernel);
  std::vector<prove::ProofResult> proofs = prove::proveBlocks(modules, *context.options().chip);
  for (auto [kernel, proof] : llvm::zip(modules, proofs)) {
    holds &= proof.findings.empty();
    if (attrs::byHand.isOn(kernel) || proof.findings.empty())
      prove::report(proof, context.sink(), spanOf);
    else
      reportRefuted(context, proof, kernel);
    program.proof.add(std::move(proof));
  }
  if (!holds)
    return std::nullopt;
  return program;
}

/// Tiles and lowers an entry until all kernels fit, or fit in no way. Nothing after an error.
static std::optional<LoweredKernels> searchForRoom(const CompileContext &context,
                                                   const TensorModule &tensor, ChipSearch &search,
                                                   StageRecord *record, const OnPhase &onPhase) {
  std::optional<LoweredKernels> lowered = LoweredKernels{SearchStep::Tile, {}};
  while (lowered && lowered->next == SearchStep::Tile) {
    TileOptions how;
    how.halvings = search.halvings();
    how.onPhase = onPhase;
    if (record) {
      record->truncate(1); // as built
      how.afterPass = [&](llvm::StringRef pass, mlir::ModuleOp made) {
        record->addTiles(pass.str(), made);
      };
    }
    std::optional<TileModule> tiles = tileModule(context, copyOf(tensor), how);
    if (!tiles)
      return std::nullopt;
    lowered = lowerKernels(context, *tiles, search, std::move(lowered->program.program), record);
  }
  return lowered;
}

/// Whether the tiles are the compiler's choice, which shrink until they fit: those of tensor-level
/// code. Tiles that the author wrote are as they are.
static bool tilesAreChosen(const TensorModule &tensor) {
  auto function = *tensor.module.get().getOps<mlir::func::FuncOp>().begin();
  auto kind = attrs::kind.of(function);
  return !kind || (kind.getValue() != "kernel" && kind.getValue() != "manual");
}

/// The kernels as they are written at block level, which has pipes in the place of rings. The tiles
/// are those of the kernels that have rings, if these tiles fit without.
static std::optional<LoweredKernels> searchInPipes(const CompileContext &context,
                                                   const TensorModule &tensor, ChipSearch &search,
                                                   StageRecord *record, const OnPhase &onPhase) {
  if (!tilesAreChosen(tensor))
    return searchForRoom(context, tensor, search, record, onPhase);
  // The first search only finds the tiles of the usual form, so nothing of it is recorded.
  ChipSearch usual(/*mayHalve=*/true, /*mayCut=*/true);
  std::optional<LoweredKernels> lowered = searchForRoom(context, tensor, usual, nullptr, {});
  if (!lowered)
    return std::nullopt;
  if (lowered->next != SearchStep::GiveUp) {
    ChipSearch same(/*mayHalve=*/false, /*mayCut=*/true, /*maySlice=*/false, usual.halvings());
    lowered = searchForRoom(context, tensor, same, record, onPhase);
    if (!lowered || lowered->next != SearchStep::GiveUp)
      return lowered;
  }
  return searchForRoom(context, tensor, search, record, onPhase);
}

ChipResult lowerToChip(const CompileContext &context, const BuiltEntry &entry,
                       const OnPhase &onPhase, bool inPipes) {
  ChipResult result;
  std::unique_ptr<StageRecord> record;
  if (context.options().keepsStages || context.log().dumps()) {
    record = std::make_unique<StageRecord>();
    record->addTiles("build", entry.tensor.module.get());
  }
  ChipSearch search(/*mayHalve=*/tilesAreChosen(entry.tensor), /*mayCut=*/true,
                    /*maySlice=*/!inPipes);
  std::optional<LoweredKernels> lowered = (inPipes ? searchInPipes : searchForRoom)(
      context, entry.tensor, search, record.get(), onPhase);
  if (!lowered)
    return result;
  if (lowered->next == SearchStep::GiveUp) {
    result.overflow = refuse(context, entry.binding, search.refusal());
    return result;
  }
  result.program = withWhatAvoidsParts(context, entry.binding, std::move(lowered->program));
  result.program = synchronise(context, std::move(*result.program), record.get());
  if (result.program)
    result.program = judge(context, std::move(*result.program));
  // Also what the prover has refuted is dumped: that is when somebody wants to look at it.
  if (context.log().dumps())
    dumpStages(context, *record);
  // Only a program that was kept is worth a warning.
  if (result.program)
    warnOfParts(context, *result.program);
  if (context.options().keepsStages)
    result.stages = std::move(record);
  return result;
}

} // namespace ptl
