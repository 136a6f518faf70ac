// Grids of products have the tiles that the runtime chooses, and compute what they say whatever these are.
#include "codegen/cpu/test_program.h"

#include <random>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace product_tiles_test {

/// A grid over tiles of 96 x 256 that stores what `compute` makes `%r` of the tile's product `%p`. Its lengths have these names.
std::string productGrid(const std::string &rows, const std::string &columns,
                        const std::string &compute, const std::string &marks = "") {
  std::string m = rows + ":96", n = columns + ":256";
  std::string tile = "!ptl.array<f32[" + m + ", " + n + "]>";
  std::string left = "!ptl.array<f32[" + m + ", K]>", right = "!ptl.array<f32[K, " + n + "]>";
  return "!r = " + tile + "\n" +
         R"(func.func @f(%a: !ptl.array<f32[M, K], gm> {ptl.name = "a"}, %b: !ptl.array<f32[K, N], gm> {ptl.name = "b"},
    %c: !ptl.ref<f32[M, N], gm> {ptl.output = "c"}, %M: index {ptl.dim = "M"}, %N: index {ptl.dim = "N"},
    %K: index {ptl.dim = "K"}) attributes {ptl.kind = "program"} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c96 = arith.constant 96 : index
  ptl.parallel (%i, %j) = (%c0, %c0) to (%M, %N) step (%c96, %c256) {
    %0 = arith.subi %M, %i : index
    %1 = arith.minsi %0, %c96 : index
    %2 = arith.subi %N, %j : index
    %3 = arith.minsi %2, %c256 : index
)" + "    %4 = ptl.slice %a[%i, %c0] [%1, %K] drop [] : <f32[M, K], gm> -> " +
         left + "\n    %5 = ptl.slice %b[%c0, %j] [%K, %3] drop [] : <f32[K, N], gm> -> " + right +
         "\n    %p = ptl.matmul %4, %5 {precision = \"full\"} : (" + left + ", " + right +
         ") -> !r\n" + compute +
         "    ptl.store %r, %c[%i, %j] [%1, %3] drop [] : !r, <f32[M, N], gm>\n  }" + marks +
         "\n  return\n}\n";
}

const std::string kAsItIs = "    %r = \"ptl.add\"(%p, %p) : (!r, !r) -> !r\n";

bool chooses(const std::string &text) {
  auto blocks = blocksOf(text);
  return blocks && blocks->lookupSymbol("ptl_rt_product_tile");
}

TEST(Lowering, OnlyTilesOfWholeArraysGrow) {
  EXPECT_TRUE(chooses(productGrid("t0.0", "t0.1", kAsItIs)));
  // The author's tiles have names of the source.
  EXPECT_FALSE(chooses(productGrid("i", "j", kAsItIs)));
  // What is folded has the tile whole.
  std::string folded = R"(    %s = "ptl.cumsum"(%p) {axis = 1 : i64} : (!r) -> !r
    %r = "ptl.add"(%p, %s) : (!r, !r) -> !r
)";
  EXPECT_FALSE(chooses(productGrid("t0.0", "t0.1", folded)));
}

TEST(Lowering, GrownTilesOfProducts) {
  Program program(productGrid("t0.0", "t0.1", kAsItIs));
  struct Shape {
    int64_t m, n, k;
  };
  for (Shape s : {Shape{0, 5, 3},
                  {5, 0, 3},
                  {5, 7, 0},
                  {1, 1, 1},
                  {95, 255, 9},
                  {97, 257, 300},
                  {481, 513, 20},
                  {600, 70, 33},
                  {70, 1500, 5},
                  {1100, 64, 260}}) {
    SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k));
    std::mt19937 random(7);
    std::vector<float> a(s.m * s.k + 1), b(s.k * s.n + 1), c(s.m * s.n + 1, -1);
    // Small integers: sums are exact in any order.
    for (auto *x : {&a, &b})
      for (float &number : *x)
        number = static_cast<float>(static_cast<int>(random() % 17) - 8);
    ASSERT_EQ(program({array(a, {s.m, s.k}), array(b, {s.k, s.n}), array(c, {s.m, s.n})},
                      {s.m, s.n, s.k}),
              0)
        << program.message;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < s.k; ++k)
          sum += a[i * s.k + k] * b[k * s.n + j];
        ASSERT_EQ(c[i * s.n + j], 2 * sum) << i << ", " << j;
      }
    EXPECT_EQ(c.back(), -1);
  }
}

} // namespace product_tiles_test
