#include "compile/simulate/chip_runner.h"
#include "ir/dialect/attributes.h"

#include "compile/chip/lower_to_chip.h"
#include "frontend/sema/check.h"
#include "ir/dialect/pto_dialect.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

/// A kernel for a3 whose events are never set, run on four numbers: how it stops.
rt::Failure runWithoutSignals(bool isManual) {
  SourceManager sources;
  DiagnosticSink sink;
  FileId file = sources.add("k.ptl", "kernel k(x: f32[4]) -> (y: f32[4]) {\n"
                                     "    parallel i in tiles(4, 4) { y[i] = x[i] + 1.0 }\n}\n");
  std::unique_ptr<CheckedProgram> program = checkFile(sources, file, {}, sink);
  CompilerOptions options;
  options.chip = findMachine("a3");
  CompileContext context(*program, sources, options, sink);
  ir::EntryBinding binding;
  binding.decl = program->modules.front()->callables.front();
  std::optional<BuiltEntry> built = buildEntry(context, binding, "ptl_k");
  std::optional<ChipProgram> made = lowerToChip(context, *built).program;
  for (auto &kernel : made->program.kernels) {
    kernel->walk([](pto::SetFlagOp signal) { signal.erase(); });
    if (isManual)
      attrs::byHand.set(*kernel);
  }
  std::string error;
  std::unique_ptr<ChipRunner> runner = ChipRunner::create(std::move(*made), *options.chip, error);
  float in[4] = {1, 2, 3, 4}, out[4] = {};
  int64_t extents[] = {4}, strides[] = {1};
  PtlArray x{in, 1, extents, strides, PTL_F32}, y{out, 1, extents, strides, PTL_F32};
  return runner->run({&x, &y}, {}, {}, {});
}

TEST(ChipRunner, faultsOfGeneratedKernelsAreTheCompilers) {
  EXPECT_EQ(runWithoutSignals(false).code, PTL_ERROR_INTERNAL);
}

TEST(ChipRunner, faultsOfManualKernelsAreTheirAuthors) {
  EXPECT_EQ(runWithoutSignals(true).code, PTL_ERROR_SIMULATOR);
}

} // namespace
} // namespace ptl
