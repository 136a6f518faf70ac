#include "compile/tile_module.h"
#include "ir/dialect/attributes.h"

#include "compile/source_spans.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl {

static ir::PipelineOptions pipelineOptions(const CompilerOptions &options) {
  ir::PipelineOptions pipeline;
  pipeline.verifyEach = options.verifyEach;
  pipeline.timePasses = options.timePasses;
  pipeline.legalizeFor = options.legalizeFor;
  if (options.chip) {
    pipeline.legalizeFor = pipeline.chunkFor = options.chip;
    pipeline.inChunks = true;
  }
  const Machine *machine = options.chip ? &*options.chip : knownMachine("cpu");
  if (machine && machine->tiling) {
    pipeline.productM = machine->tiling->productM;
    pipeline.productN = machine->tiling->productN;
    pipeline.tileBytes = machine->tiling->rowBytes;
  }
  return pipeline;
}

/// What schedules say, and had no effect; whether there is such.
static bool reportRefused(mlir::ModuleOp module, const SourceManager &sources,
                          DiagnosticSink &sink) {
  bool any = false;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (auto refused = attrs::refused.take(function))
      for (mlir::Attribute each : refused) {
        auto parts = mlir::cast<mlir::ArrayAttr>(each);
        mlir::Location at = mlir::cast<mlir::LocationAttr>(parts[2]);
        Span span = spanOf(at);
        sink.report(DiagId::ScheduleCannot,
                    span == kNoSpan ? spanAt(sources, block::placeOf(at)) : span,
                    {mlir::cast<mlir::StringAttr>(parts[0]).str(),
                     mlir::cast<mlir::StringAttr>(parts[1]).str()});
        any = true;
      }
  return any;
}

std::optional<TileModule> tileModule(const CompileContext &context, TensorModule tensor,
                                     const TileOptions &how) {
  const CompilerOptions &options = context.options();
  mlir::ModuleOp module = *tensor.module;
  bool done = runStage(context, "passes", module, [&](std::string &) {
    ir::PipelineOptions pipeline = pipelineOptions(options);
    if (!how.legalizes)
      pipeline.legalizeFor.reset();
    pipeline.halvings = how.halvings;
    if (options.onStep)
      pipeline.onPass = [&](llvm::StringRef pass) { options.onStep(pass.str()); };
    if (how.afterPass || options.afterPass)
      pipeline.afterPass = [&](llvm::StringRef pass, mlir::ModuleOp made) {
        if (options.afterPass)
          options.afterPass(pass, made);
        if (how.afterPass)
          how.afterPass(pass, made);
      };
    pipeline.onPhase = [&](const std::string &phase, mlir::ModuleOp made) {
      if (context.log().dumps())
        context.log().dump(phase + ".mlir", textOf(made));
      if (how.onPhase)
        how.onPhase(phase, made);
    };
    return mlir::succeeded(ir::runTilePipeline(module, context.simplifier(), pipeline));
  });
  // A schedule item without effect is an error, even if all passes succeeded.
  bool anyRefused = reportRefused(module, context.sources(), context.sink());
  if (!done || anyRefused)
    return std::nullopt;
  return TileModule{std::move(tensor.module)};
}

} // namespace ptl
