// The passes of this folder for ptl-opt: what `lowerToBlocks` does, one by one.
#include "passes/passes.h"

#include "ir/dialect/pto_dialect.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/lower_kernel.h"
#include "passes/lower_block/outline.h"
#include "passes/transform/simplify.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::ir {

#define GEN_PASS_DEF_SETCHOICES
#define GEN_PASS_DEF_CHECKPLACES
#define GEN_PASS_DEF_UNROLL
#define GEN_PASS_DEF_ROTATEWHILE
#define GEN_PASS_DEF_HANDOPERANDS
#define GEN_PASS_DEF_CUTTILES
#define GEN_PASS_DEF_CUTSTATEMENTS
#define GEN_PASS_DEF_HANDNUMBERS
#define GEN_PASS_DEF_HANDLATE
#define GEN_PASS_DEF_OUTLINE
#define GEN_PASS_DEF_ASSIGNCORES
#define GEN_PASS_DEF_PLANQUEUES
#define GEN_PASS_DEF_STAGEOPERANDS
#define GEN_PASS_DEF_CUTPRODUCTS
#define GEN_PASS_DEF_STAGELOOPS
#define GEN_PASS_DEF_SELECTINSTRUCTIONS
#define GEN_PASS_DEF_LOWERBLOCK
#include "passes/passes.h.inc"

} // namespace ptl::ir

using namespace mlir;

namespace ptl::ir {
namespace {

/// Reports become errors of MLIR.
block::Report reportAsErrors() {
  return [](DiagId id, Location location, std::vector<std::string> arguments) {
    // The text comes from the same table as in the compiler.
    DiagnosticSink sink;
    sink.report(id, kNoSpan, std::move(arguments));
    emitError(location) << sink.all().back().message;
  };
}

std::optional<Machine> machineFor(Operation *op, const std::string &name) {
  std::optional<Machine> machine = findMachine(name);
  if (!machine)
    op->emitError() << "there is no machine `" << name << "`";
  return machine;
}

/// Runs a pass on tiles on the kernels of a function. False after an error.
bool runOnGrids(func::FuncOp function, llvm::StringRef name, const std::string &machineName,
                llvm::ArrayRef<block::LowerOptions> choices = {}) {
  std::optional<Machine> machine = machineFor(function, machineName);
  if (!machine)
    return false;
  block::Report report = reportAsErrors();
  block::GridContext context{*machine, report, {}, {}, choices};
  for (llvm::ArrayRef<block::GridPass> passes : {block::gridPasses(), block::kernelPasses()})
    for (const block::GridPass &pass : passes)
      // Passes are found by name, so that each of them is written once.
      if (name == pass.name && !block::runGridPass(pass, function, context)) {
        if (context.uncut)
          function.emitError() << "the tiles of kernel " << *context.uncut
                               << " cannot be cut by its choices";
        return false;
      }
  return true;
}

struct SetChoicesPass : impl::SetChoicesBase<SetChoicesPass> {
  using SetChoicesBase::SetChoicesBase;
  void runOnOperation() override {
    std::vector<block::LowerOptions> byGrid;
    for (const std::string &each : choices)
      if (!block::readChoice(each, byGrid)) {
        getOperation().emitError()
            << "`" << each << "` is not a choice of a grid; a choice is written as `0.parts=2`";
        return signalPassFailure();
      }
    // This pass asks nothing of the machine, so any will do.
    if (!runOnGrids(getOperation(), getArgument(), "cpu", byGrid))
      signalPassFailure();
  }
};
/// A pass that runs one pass of the table on the kernels of a function.
template <template <typename> class Base> struct OnGrids : Base<OnGrids<Base>> {
  using Base<OnGrids>::Base;
  void runOnOperation() override {
    std::string machineName = "cpu"; // passes without this option ask nothing of the machine
    if constexpr (requires(OnGrids &pass) { pass.machine; })
      machineName = this->machine;
    if (!runOnGrids(this->getOperation(), this->getArgument(), machineName))
      this->signalPassFailure();
  }
};
template struct OnGrids<impl::CheckPlacesBase>;
template struct OnGrids<impl::UnrollBase>;
template struct OnGrids<impl::RotateWhileBase>;
template struct OnGrids<impl::HandOperandsBase>;
template struct OnGrids<impl::HandNumbersBase>;
template struct OnGrids<impl::HandLateBase>;
template struct OnGrids<impl::CutTilesBase>;
template struct OnGrids<impl::CutStatementsBase>;
template struct OnGrids<impl::AssignCoresBase>;
template struct OnGrids<impl::PlanQueuesBase>;
template struct OnGrids<impl::StageOperandsBase>;
template struct OnGrids<impl::CutProductsBase>;
template struct OnGrids<impl::StageLoopsBase>;
template struct OnGrids<impl::SelectInstructionsBase>;

/// The functions that `ptl-outline` has made: what is not the host.
llvm::SmallVector<func::FuncOp> outlinedIn(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return {std::next(functions.begin()), functions.end()};
}

struct OutlinePass : impl::OutlineBase<OutlinePass> {
  void runOnOperation() override {
    auto functions = getOperation().getOps<func::FuncOp>();
    if (functions.empty() || !outlinedIn(getOperation()).empty()) {
      getOperation().emitError()
          << "the module must hold exactly one function and no outlined kernels";
      return signalPassFailure();
    }
    func::FuncOp host = *functions.begin();
    llvm::SmallVector<ParallelOp> grids = block::kernelGrids(host);
    for (auto [i, grid] : llvm::enumerate(grids))
      block::outlineGrid(grid, block::kernelName(host, i, grids.size()), getOperation());
  }
};

struct LowerBlockPass : impl::LowerBlockBase<LowerBlockPass> {
  using LowerBlockBase::LowerBlockBase;
  void runOnOperation() override {
    std::optional<Machine> target = machineFor(getOperation(), machine);
    if (!target || getOperation().getOps<func::FuncOp>().empty())
      return signalPassFailure();
    Simplifier simplifier(getContext());
    block::Report report = reportAsErrors();
    for (func::FuncOp outlined : outlinedIn(getOperation())) {
      OwningOpRef<ModuleOp> kernel = block::lowerKernel(
          outlined, *target, block::choicesOf(block::gridOf(outlined)), simplifier, report);
      if (!kernel)
        return signalPassFailure();
      getOperation().push_back(kernel.release());
      outlined.erase();
    }
    if (!block::checkHost(*getOperation().getOps<func::FuncOp>().begin(), *target, report))
      signalPassFailure();
  }
};

} // namespace
} // namespace ptl::ir
