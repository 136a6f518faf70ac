#include "compile/chip/stage_record.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ptl {

ModuleOp moduleOf(const Stage &stage) {
  return stage.tiles.get() ? stage.tiles.get() : stage.blocks.program.host.get();
}

void StageRecord::addTiles(std::string pass, ModuleOp module) {
  stages_.push_back({std::move(pass), Stage::Level::Tiles, module.clone(), {}});
}

void StageRecord::addBlocks(std::string pass, Stage::Level level, const ChipProgram &program) {
  stages_.push_back({std::move(pass), level, {}, copyOf(program)});
}

OwningOpRef<ModuleOp> wholeOf(const Stage &stage) {
  OwningOpRef<ModuleOp> whole = moduleOf(stage).clone();
  for (const OwningOpRef<ModuleOp> &kernel : stage.blocks.program.kernels)
    whole->push_back(kernel.get().clone());
  return whole;
}

void keepTiles(const CompilerOptions &options, StageRecord *record, llvm::StringRef pass,
               ModuleOp made) {
  if (options.afterPass)
    options.afterPass(pass, made);
  if (record)
    record->addTiles(pass.str(), made);
}

void keepBlocks(const CompilerOptions &options, StageRecord *record, const char *pass,
                Stage::Level level, ChipProgram &program) {
  if (options.afterPass) {
    llvm::SmallVector<ModuleOp> made;
    for (OwningOpRef<ModuleOp> &kernel : program.program.kernels)
      made.push_back(*kernel);
    options.afterPass(pass, made);
  }
  if (record)
    record->addBlocks(pass, level, program);
}

} // namespace ptl
