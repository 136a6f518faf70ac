// Folds of the same arrays are one pass over these, and others are not.
#include "codegen/cpu/test_program.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include <limits>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace fold_together_test {

// Folds along rows of x, y and of what is computed from these; each result has a name.
std::string folding(const std::string &code, const std::vector<std::string> &results) {
  std::string text = "func.func @f(%x: !ptl.array<f32[R, C], gm> {ptl.name = \"x\"}, "
                     "%y: !ptl.array<f32[R, C], gm>, %a: !ptl.ref<f32[R, 1], gm>, "
                     "%b: !ptl.ref<f32[R, 1], gm>, %R: index, %C: index) "
                     "attributes {ptl.kind = \"fn\"} {\n"
                     "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" +
                     code;
  const char *to = "ab";
  for (const std::string &result : results)
    text += "  ptl.store %" + result + ", %" + std::string(1, *to++) +
            "[%c0, %c0] [%R, %c1] drop [] : !ptl.array<f32[R, 1]>, <f32[R, 1], gm>\n";
  return text + "  return\n}\n";
}

std::string step(const std::string &name, const std::string &op, const std::string &of) {
  return "  %" + name + " = \"ptl." + op + "\"(" + of + ") : (!ptl.array<f32[R, C], gm>, " +
         "!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, C], gm>\n";
}

std::string fold(const std::string &name, const std::string &op, const std::string &of) {
  return "  %" + name + " = \"ptl.reduce_" + op + "\"(" + of +
         ") {axes = array<i64: 1>} : (!ptl.array<f32[R, C], gm>) -> !ptl.array<f32[R, 1]>\n";
}

// Loops have a branch each.
int64_t branchesOf(const std::string &text) {
  int64_t count = 0;
  if (auto blocks = blocksOf(text))
    blocks->walk([&](mlir::cf::CondBranchOp) { ++count; });
  return count;
}

TEST(FoldTogether, OfTheSameArray) {
  std::string product = step("p", "mul", "%x, %y");
  int64_t one = branchesOf(folding(fold("s", "sum", "%x"), {"s"}));
  int64_t same =
      branchesOf(folding(product + fold("s", "sum", "%x") + fold("t", "max", "%p"), {"s", "t"}));
  int64_t others = branchesOf(folding(fold("s", "sum", "%x") + fold("t", "max", "%y"), {"s", "t"}));
  EXPECT_GT(one, 0);
  EXPECT_LT(same, others);
}

TEST(FoldTogether, ValuesOfRowsOfAnyLength) {
  Program program(folding(
      step("p", "mul", "%x, %y") + fold("s", "sum", "%x") + fold("t", "max", "%p"), {"s", "t"}));
  for (int64_t columns : {0, 1, 2, 7, 8, 15, 16, 17, 64, 131}) {
    int64_t rows = 19;
    std::vector<float> x(static_cast<size_t>(rows * columns)), y(x.size()), a(19), b(19);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 13) - 5;
      y[i] = static_cast<float>(i % 7) - 4;
    }
    // The maximum of its row may be this or that of the others, which says nothing of other rows.
    if (columns)
      y[static_cast<size_t>(3 * columns)] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_EQ(program({array(x, {rows, columns}), array(y, {rows, columns}), array(a, {rows, 1}),
                       array(b, {rows, 1})},
                      {rows, columns}),
              0);
    for (size_t row = 0; row < 19; ++row) {
      float sum = 0, most = -std::numeric_limits<float>::infinity();
      for (size_t at = row * static_cast<size_t>(columns); at < (row + 1) * columns; ++at) {
        sum += x[at];
        most = std::max(most, x[at] * y[at]);
      }
      EXPECT_EQ(a[row], sum) << columns;
      if (row != 3)
        EXPECT_EQ(b[row], most) << columns;
    }
  }
}

} // namespace fold_together_test
