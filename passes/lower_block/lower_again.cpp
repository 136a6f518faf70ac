// Kernels of a program made again with other options, while the others stay as they are.
#include "passes/lower_block/lower_again.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/outline.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace ptl::block {

namespace {

class Again {
public:
  Again(ModuleOp module, const Machine &machine, llvm::ArrayRef<LowerOptions> options,
        const Report &report, BlockProgram &program);

  /// Runs the passes on tiles, on grids that stand behind their launches. False after an error or
  /// with `uncut`; then the program is what it was.
  bool prepare();
  std::optional<size_t> uncut() const { return uncut_; }
  /// Moves the grids out to where their last versions were, and marks them. False after an error.
  bool outline();
  /// Makes the kernels. False after an error.
  bool lower(const ir::Simplifier &simplifier);

private:
  IRMapping valuesFor(ir::ParallelOp grid) const;
  func::FuncOp outlineOne(size_t number, func::FuncOp last);
  llvm::SmallVector<func::FuncOp> outlined() const {
    return llvm::to_vector(program_.grids->getOps<func::FuncOp>());
  }

  func::FuncOp from_;
  const Machine &machine_;
  std::vector<LowerOptions> options_;
  const Report &report_;
  BlockProgram &program_;
  func::FuncOp host_;
  std::vector<std::optional<LedgerParts>> parts_;
  std::vector<size_t> numbers_; ///< of the kernels
  std::optional<size_t> uncut_;
};

} // namespace

/// The operations behind a launch up to and including the first `End`.
template <typename End> static std::vector<Operation *> behind(Operation *launch) {
  std::vector<Operation *> found;
  do
    found.push_back(found.empty() ? launch->getNextNode() : found.back()->getNextNode());
  while (!isa<End>(found.back()));
  return found;
}

static void eraseBackwards(llvm::ArrayRef<Operation *> all) {
  for (Operation *op : llvm::reverse(all))
    op->erase();
}

Again::Again(ModuleOp module, const Machine &machine, llvm::ArrayRef<LowerOptions> options,
             const Report &report, BlockProgram &program)
    : from_(*module.getOps<func::FuncOp>().begin()), machine_(machine), options_(program.options),
      report_(report), program_(program), host_(*program.host->getOps<func::FuncOp>().begin()),
      parts_(program.parts) {
  for (size_t i = 0; i < options_.size(); ++i) {
    LowerOptions wanted = i < options.size() ? options[i] : LowerOptions();
    // Only kernels with other options are made again.
    if (options_[i] == wanted)
      continue;
    options_[i] = wanted;
    parts_[i].reset();
    numbers_.push_back(i);
  }
}

/// The host's values for those that a grid of the module uses.
IRMapping Again::valuesFor(ir::ParallelOp grid) const {
  IRMapping mapping;
  auto take = [&](Value value) { mapping.map(value, program_.fromModule.lookup(value)); };
  // The grid comes from the module, whose values the host has as copies.
  llvm::for_each(grid->getOperands(), take);
  visitUsedValuesDefinedAbove(grid->getRegions(), [&](OpOperand *use) { take(use->get()); });
  return mapping;
}

bool Again::prepare() {
  llvm::SmallVector<ir::ParallelOp> grids = kernelGrids(from_);
  IntegerAttr cores = attrs::cores.of(from_);
  OpBuilder b(from_.getContext());
  for (size_t number : numbers_) {
    b.setInsertionPointAfter(program_.sites[number].launch);
    IRMapping mapping = valuesFor(grids[number]);
    Operation *grid = b.clone(*grids[number], mapping);
    // The first run moved this from the function to its grids.
    if (cores && !attrs::cores.isOn(grid))
      attrs::cores.set(grid, cores);
  }
  // The numbers of the kernels are those in the whole program.
  GridContext context{machine_, report_, parts_, {}, options_, numbers_};
  for (const GridPass &pass : gridPasses())
    if (!runGridPass(pass, host_, context)) {
      uncut_ = context.uncut;
      for (size_t number : numbers_)
        // The caller may try other options, so the program must be as it was.
        eraseBackwards(behind<ir::ParallelOp>(program_.sites[number].launch));
      return false;
    }
  return true;
}

func::FuncOp Again::outlineOne(size_t number, func::FuncOp last) {
  LaunchSite &site = program_.sites[number];
  auto grid = cast<ir::ParallelOp>(behind<ir::ParallelOp>(site.launch).back());
  func::FuncOp made = outlineGrid(grid, last.getSymName(), *program_.grids);
  // The order of kernels is that of the first run, which names and reports go by.
  made->moveBefore(last);
  last.erase();
  // Outlining has left the new launch, with what it needs, where the grid was.
  std::vector<Operation *> brought = behind<ir::LaunchOp>(site.launch);
  site.launch->erase();
  eraseBackwards(site.brought);
  site.launch = brought.back();
  brought.pop_back();
  site.brought = std::move(brought);
  return made;
}

bool Again::outline() {
  llvm::SmallVector<func::FuncOp> last = outlined(), made;
  for (size_t number : numbers_)
    made.push_back(outlineOne(number, last[number]));
  GridContext context{machine_, report_, {}, {}};
  // One pass for all kernels at a time, as in the first run.
  for (const GridPass &pass : kernelPasses())
    for (func::FuncOp each : made)
      if (!runGridPass(pass, each, context))
        return false;
  return true;
}

bool Again::lower(const ir::Simplifier &simplifier) {
  llvm::SmallVector<func::FuncOp> all = outlined();
  program_.options = options_;
  program_.parts = std::move(parts_);
  for (size_t number : numbers_) {
    // What was told of the kernel is no longer true.
    program_.ledgers[number].reset();
    program_.kernels[number] =
        lowerKernel(all[number], machine_, program_.options[number], simplifier, report_);
    if (!program_.kernels[number])
      return false;
  }
  return checkHost(host_, machine_, report_) && succeeded(mlir::verify(*program_.host));
}

std::optional<BlockProgram> lowerAgain(ModuleOp module, const Machine &machine,
                                       llvm::ArrayRef<LowerOptions> options,
                                       const ir::Simplifier &simplifier, const Report &report,
                                       BlockProgram &before) {
  Again again(module, machine, options, report, before);
  if (!again.prepare()) {
    // An error has been reported already.
    if (!again.uncut())
      return std::nullopt;
    BlockProgram none;
    none.tileGroups = before.tileGroups;
    none.uncut = again.uncut();
    return none;
  }
  if (!again.outline() || !again.lower(simplifier))
    return std::nullopt;
  return std::move(before);
}

} // namespace ptl::block
