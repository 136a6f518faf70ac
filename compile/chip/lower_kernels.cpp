#include "compile/chip/lower_kernels.h"
#include "ir/dialect/attributes.h"

#include "compile/source_spans.h"
#include "passes/lower_block/cut_statements.h"
#include "passes/transform/plan_buffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <iterator>

namespace ptl {

/// That of all kernels, whose buffers are placed.
static BufferLedger ledgerOf(const block::BlockProgram &program) {
  BufferLedger all;
  // Ledgers are complete when all kernels are placed, which is when this is called.
  for (const std::optional<BufferLedger> &one : program.ledgers) {
    all.machine = one->machine;
    all.functions.insert(all.functions.end(), one->functions.begin(), one->functions.end());
  }
  return all;
}

static block::KernelTraits traitsOf(const block::BlockProgram &program, size_t kernel) {
  auto functions = program.kernels[kernel].get().getOps<mlir::func::FuncOp>();
  // A mixed kernel has one function for each kind of core.
  return {program.unrolls[kernel], std::distance(functions.begin(), functions.end()) > 1};
}

/// Places the buffers of the kernels in order. All that do not fit are looked at, so that they are
/// lowered again together.
static SearchStep placeBuffers(block::BlockProgram &program, const Machine &machine,
                               ChipSearch &search) {
  bool lowersAgain = false;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    // A kernel that is placed keeps its place, and one whose tiles will be halved changes anyway.
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
    // The loop goes on, so that all kernels that overflow change in one round.
    lowersAgain |= step == SearchStep::Lower;
  }
  // Tiles are halved only when all other kernels fit.
  return lowersAgain ? SearchStep::Lower : search.afterPlacing();
}

/// How kernels that did not fit at once were made to.
static void reportRoom(ChipProgram &program, ChipSearch &search) {
  llvm::SmallVector<mlir::func::FuncOp> grids(
      (*program.program.grids).getOps<mlir::func::FuncOp>());
  for (size_t i = 0; i < program.program.kernels.size(); ++i) {
    // The functions of one kernel share its name.
    LedgerKernel kernel;
    for (auto function : (*program.program.kernels[i]).getOps<mlir::func::FuncOp>())
      if (auto name = attrs::kernel.of(function))
        kernel.name = name.str();
    kernel.givenUp = search.of(i).givenUp();
    kernel.parts = program.program.parts[i];
    // This is the overflow that made the compiler cut tiles into parts.
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
    // Kernels that fit at once have nothing to report.
    if (kernel.parts || !kernel.givenUp.empty())
      program.ledger.kernels.push_back(std::move(kernel));
  }
}

std::optional<LoweredKernels> lowerKernels(const CompileContext &context, const TileModule &tiles,
                                           ChipSearch &search, block::BlockProgram last,
                                           StageRecord *record) {
  const CompilerOptions &options = context.options();
  const Machine &machine = *options.chip;
  mlir::ModuleOp module = tiles.module.get();
  StageMessages messages(context);
  size_t errors = context.sink().errorCount();
  block::Report report = [&](DiagId id, mlir::Location location,
                             std::vector<std::string> arguments) {
    context.sink().report(id, spanOf(location), std::move(arguments));
  };
  // Records of an attempt that failed are dropped, so that only those of the last one remain.
  size_t tiled = record ? record->size() : 0;
  block::AfterPass afterPass;
  if (record || options.afterPass)
    afterPass = [&](llvm::StringRef pass, mlir::ModuleOp made) {
      keepTiles(options, record, pass, made);
    };
  LoweredKernels result{SearchStep::Lower, {}};
  ChipProgram &program = result.program;
  program.halvings = search.halvings();
  program.program = std::move(last);
  program.program.sites.clear(); // those of another module
  while (result.next == SearchStep::Lower) {
    context.step("lower-block");
    if (record)
      record->truncate(tiled);
    // Each round lowers only the kernels whose options have changed.
    std::optional<block::BlockProgram> made =
        block::lowerToBlocks(module, machine, search.options(), context.simplifier(), report,
                             &program.program, afterPass);
    if (!made) {
      // Without a diagnostic of its own a failure is a fault of the compiler.
      if (context.sink().errorCount() == errors)
        context.log().reportFault("lower-block", messages.text, module);
      return std::nullopt;
    }
    search.see(made->tileGroups);
    // A kernel could not be cut as asked, so the next change is tried before placing anything.
    if (made->uncut) {
      result.next = search.afterUncut(*made->uncut);
      continue;
    }
    context.step("plan-buffers");
    program.program = std::move(*made);
    keepBlocks(options, record, "ptl-lower-block", Stage::Level::Unplaced, program);
    result.next = placeBuffers(program.program, machine, search);
  }
  if (result.next == SearchStep::GoOn) {
    program.ledger = ledgerOf(program.program);
    reportRoom(program, search);
    keepBlocks(options, record, "pto-plan-buffers", Stage::Level::Placed, program);
  }
  return result;
}

} // namespace ptl
