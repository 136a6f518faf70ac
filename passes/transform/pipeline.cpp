#include "passes/transform/pipeline.h"

#include "passes/passes.h"
#include "passes/transform/simplify.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace ptl::ir {

namespace {
struct PassObserver : PassInstrumentation {
  explicit PassObserver(const PipelineOptions &options) : options(options) {}
  // Nested passes run through an adaptor without a name of its own.
  void runBeforePass(Pass *pass, Operation *) override {
    if (options.onPass && !pass->getArgument().empty())
      options.onPass(pass->getArgument());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!options.afterPass || pass->getArgument().empty())
      return;
    // A nested pass runs on a function; observers want the module.
    auto module = dyn_cast<ModuleOp>(op);
    options.afterPass(pass->getArgument(), module ? module : op->getParentOfType<ModuleOp>());
  }
  const PipelineOptions &options;
};
} // namespace

static LogicalResult runPhase(ModuleOp module, const PipelineOptions &options,
                              const std::string &name,
                              const std::function<void(OpPassManager &)> &fill) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyEach);
  if (options.timePasses)
    manager.enableTiming();
  if (options.onPass || options.afterPass)
    manager.addInstrumentation(std::make_unique<PassObserver>(options));
  fill(manager);
  if (failed(manager.run(module)))
    return failure();
  if (options.onPhase)
    options.onPhase(name, module);
  return success();
}

static std::unique_ptr<Pass> chunkPass(const PipelineOptions &options) {
  ChunkOptions own;
  own.productM = options.productM;
  own.productN = options.productN;
  own.tileBytes = options.tileBytes;
  own.halvings = options.halvings;
  return options.chunkFor ? createChunkFor(own, *options.chunkFor) : createChunk(own);
}

LogicalResult runTilePipeline(ModuleOp module, const Simplifier &simplifier,
                              const PipelineOptions &options) {
  // The simplifier runs between passes, because each leaves dead code and foldable arithmetic.
  auto clean = [&](OpPassManager &manager) { manager.addPass(simplifier.pass()); };
  if (failed(runPhase(module, options, "tensor", clean)))
    return failure();
  return runPhase(module, options, "tile", [&](OpPassManager &manager) {
    if (options.inChunks)
      manager.addNestedPass<func::FuncOp>(chunkPass(options));
    else
      manager.addNestedPass<func::FuncOp>(
          createPartition(PartitionOptions{options.productM, options.productN, options.tileBytes}));
    clean(manager);
    // These look for patterns that only tiles have.
    if (!options.inChunks) {
      manager.addNestedPass<func::FuncOp>(createSkipMasked());
      clean(manager);
      manager.addNestedPass<func::FuncOp>(createOnlineSoftmax());
      clean(manager);
    }
    // Checks are hoisted when loops have their final form.
    manager.addNestedPass<func::FuncOp>(createHoistChecks());
    clean(manager);
    if (!options.legalizeFor)
      return;
    manager.addNestedPass<func::FuncOp>(createShareRows());
    clean(manager);
    manager.addNestedPass<func::FuncOp>(createLegalizeFor(*options.legalizeFor));
    clean(manager);
  });
}

} // namespace ptl::ir
