#include "compile/call/compiled_executor.h"

#include "frontend/sema/check.h"

#include <gtest/gtest.h>
#include <numeric>

namespace ptl {
namespace {

/// Sums of products of one program at all levels, one after the other.
std::vector<float> sumsAtAllLevels(const std::shared_ptr<cpu::FunctionObjects> &objects) {
  SourceManager sources;
  DiagnosticSink sink;
  FileId file = sources.add(
      "k.ptl", "fn f(a: f32[3, 5], b: f32[5, 2]) -> f32[3, 2] { return a @ b + 1.0 }\n");
  std::unique_ptr<CheckedProgram> program = checkFile(sources, file, {}, sink);
  CompilerOptions options;
  options.level = 0;
  options.manyLevels = true;
  options.functionObjects = objects;
  CompiledExecutor executor(*program, sources, options, sink);
  std::vector<float> a(15, 1.0F), b(10, 2.0F);
  int64_t sizes[] = {3, 5, 2}, strides[] = {5, 1, 2, 1};
  PtlArray left{a.data(), 2, sizes, strides, PTL_F32},
      right{b.data(), 2, sizes + 1, strides + 2, PTL_F32};
  std::vector<const PtlArray *> arrays = {&left, &right};
  std::vector<float> sums;
  for (int level : {0, 2, 3, 0}) {
    executor.useLevel(level);
    CallResult result =
        executor.call(*program->modules.front()->callables.front(), {arrays, {}, {}});
    EXPECT_TRUE(result.compiled && !result.failure && result.outputs.size() == 1);
    const auto *elements = static_cast<const float *>(result.outputs.front().data());
    sums.push_back(std::accumulate(elements, elements + 6, 0.0F));
  }
  return sums;
}

TEST(CompiledExecutor, levelsAndProgramsShareCode) {
  std::vector<float> expected(4, 66.0F);
  EXPECT_EQ(sumsAtAllLevels(nullptr), expected);
  auto objects = std::make_shared<cpu::FunctionObjects>();
  EXPECT_EQ(sumsAtAllLevels(objects), expected);
  EXPECT_EQ(sumsAtAllLevels(objects), expected); // with code that is there
}

} // namespace
} // namespace ptl
