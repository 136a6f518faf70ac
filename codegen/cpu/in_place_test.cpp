// Loops write next values over what they carry where nobody can tell, and nowhere else.
#include "codegen/cpu/test_program.h"

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace in_place_test {

// a = `next` of a and x @ x, three times from x, by tiles of eight rows.
struct Loop {
  std::string box = "%p, %c0";            // of the carried value, where the tile lies
  std::string next = "ptl.add %old, %xx"; // the tile of the next value
  std::string before;                     // the grid
  std::string ahead;                      // of the next value
  std::string use;                        // of values in the grid, behind the store
  std::string after;                      // the grid

  std::string text() const {
    std::string tile = "!ptl.array<f32[t:8, N]>", all = "!ptl.array<f32[N, N]>";
    std::string two = " : (" + tile + ", " + tile + ") -> " + tile + "\n";
    std::string ref = "<f32[N, N], gm>";
    return "func.func @f(%x: !ptl.array" + ref + " {ptl.name = \"x\"}, %z: !ptl.ref" + ref +
           ", %N: index) attributes {ptl.kind = \"program\"} {\n"
           "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
           "  %c3 = arith.constant 3 : index\n  %c8 = arith.constant 8 : index\n"
           "  %first = \"ptl.cast\"(%x) : (!ptl.array" +
           ref + ") -> " + all +
           "\n  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %first) -> (" + all +
           ") {\n" + before + "    %s = ptl.alloc(%N, %N) : " + ref +
           "\n    ptl.parallel (%p) = (%c0) to (%N) step (%c8) {\n"
           "      %rest = arith.subi %N, %p : index\n      %len = arith.minsi %rest, %c8 : index\n"
           "      %old = ptl.slice %a[" +
           box + "] [%len, %N] drop [] : <f32[N, N]> -> " + tile +
           "\n      %own = ptl.slice %x[%p, %c0] [%len, %N] drop [] : " + ref + " -> " + tile +
           "\n      %xx = ptl.matmul %own, %x {precision = \"full\"} : (" + tile + ", !ptl.array" +
           ref + ") -> " + tile + "\n" + ahead + "      %next = " + next + two +
           "      ptl.store %next, %s[%p, %c0] [%len, %N] drop [] : " + tile + ", " + ref + "\n" +
           use + "    }\n    %whole = ptl.load %s[%c0, %c0] [%N, %N] drop [] : " + ref + " -> " +
           all + "\n" + after + "    scf.yield %whole : " + all +
           "\n  }\n  ptl.store %last, %z[%c0, %c0] [%N, %N] drop [] : " + all + ", " + ref +
           "\n  return\n}\n";
  }
};

// How many arrays the program makes.
int64_t arraysOf(const std::string &text) {
  int64_t count = 0;
  if (auto blocks = blocksOf(text))
    blocks->walk([&](mlir::func::CallOp call) { count += call.getCallee() == "ptl_rt_alloc"; });
  return count;
}

std::vector<float> ramp(int64_t count) {
  std::vector<float> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = float((i * 37) % 11 - 5); // small whole numbers, whose sums are exact
  return result;
}

using Next = float (*)(const std::vector<float> &a, float xx, int64_t row, int64_t column,
                       int64_t n);

void isRight(const Loop &loop, Next next) {
  Program program(loop.text());
  for (int64_t n : {1, 7, 8, 9, 40}) {
    std::vector<float> x = ramp(n * n), z(n * n), a = x;
    ASSERT_EQ(program({array(x, {n, n}), array(z, {n, n})}, {n}), 0);
    for (int round = 0; round < 3; ++round) {
      std::vector<float> now = a;
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c < n; ++c) {
          float xx = 0;
          for (int64_t k = 0; k < n; ++k)
            xx += x[r * n + k] * x[k * n + c];
          a[r * n + c] = next(now, xx, r, c, n);
        }
    }
    ASSERT_EQ(z, a) << "of " << n << " rows";
  }
}

TEST(Lowering, LoopsAccumulateInPlace) {
  Loop loop;
  // The buffer of the loop is the only array.
  EXPECT_EQ(arraysOf(loop.text()), 1);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r * n + c] + xx;
  });
}

TEST(Lowering, ElementsThatStayInTheirPlacesAreWrittenOver) {
  Loop loop;
  loop.next = "ptl.max %old, %xx";
  EXPECT_EQ(arraysOf(loop.text()), 1);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return std::max(a[r * n + c], xx);
  });
}

TEST(Lowering, RowsOfOtherTilesAreNotWrittenOver) {
  Loop loop;
  // Every tile adds the first rows, which the first tile changes.
  loop.box = "%c0, %c0";
  EXPECT_EQ(arraysOf(loop.text()), 2);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r % 8 * n + c] + xx;
  });
}

TEST(Lowering, FactorsAreNotWrittenOver) {
  Loop loop;
  // Each row of the product takes all of its row of what is carried.
  loop.next = "ptl.add %xx, %turned";
  std::string text = loop.text(), tile = "!ptl.array<f32[t:8, N]>";
  std::string product = "      %turned = ptl.matmul %old, %x {precision = \"full\"} : (" + tile +
                        ", !ptl.array<f32[N, N], gm>) -> " + tile + "\n";
  text.insert(text.find("      %next"), product);
  EXPECT_EQ(arraysOf(text), 2);
}

TEST(Lowering, TilesThatAreAskedForAgainAreNotWrittenOver) {
  Loop loop;
  loop.use = "      ptl.store %old, %z[%p, %c0] [%len, %N] drop [] : !ptl.array<f32[t:8, N]>, "
             "<f32[N, N], gm>\n";
  EXPECT_EQ(arraysOf(loop.text()), 2);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r * n + c] + xx;
  });
}

TEST(Lowering, ValuesThatAreAskedForBehindTheGridAreNotWrittenOver) {
  Loop loop;
  loop.after = "    ptl.store %a, %z[%c0, %c0] [%N, %N] drop [] : !ptl.array<f32[N, N]>, "
               "<f32[N, N], gm>\n";
  EXPECT_EQ(arraysOf(loop.text()), 2);
}

// A loop that adds `row`, an array of one row that is made by `before`, to each row, too.
Loop withRow(const std::string &before, const std::string &row) {
  std::string one = "!ptl.array<f32[1, N]>", tile = "!ptl.array<f32[t:8, N]>";
  Loop loop;
  loop.before = "    %first_row = ptl.slice %a[%c0, %c0] [%c1, %N] drop [] : <f32[N, N]> -> " +
                one + "\n" + before;
  loop.ahead =
      "      %both = ptl.add %old, " + row + " : (" + tile + ", " + one + ") -> " + tile + "\n";
  loop.next = "ptl.add %both, %xx";
  return loop;
}

TEST(Lowering, WhatGridsHaveReadBeforeIsWrittenOver) {
  std::string one = "!ptl.array<f32[1, N]>", ref = "<f32[1, N], gm>";
  Loop loop =
      withRow("    %kept = ptl.alloc(%N) : " + ref +
                  "\n    ptl.parallel (%q) = (%c0) to (%c1) step (%c1) {\n"
                  "      %double = ptl.add %first_row, %first_row : (" +
                  one + ", " + one + ") -> " + one +
                  "\n      ptl.store %double, %kept[%c0, %c0] [%c1, %N] drop [] : " + one + ", " +
                  ref + "\n    }\n    %two = ptl.load %kept[%c0, %c0] [%c1, %N] drop [] : " + ref +
                  " -> " + one + "\n",
              "%two");
  // The row is the other array.
  EXPECT_EQ(arraysOf(loop.text()), 2);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r * n + c] + 2 * a[c] + xx;
  });
}

TEST(Lowering, ArraysThatMayBeComputedLaterAreNotWrittenOver) {
  std::string one = "!ptl.array<f32[1, N]>";
  Loop loop = withRow("", "%first_row");
  EXPECT_EQ(arraysOf(loop.text()), 2);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r * n + c] + a[c] + xx;
  });
  loop = withRow("    %two = ptl.add %first_row, %first_row : (" + one + ", " + one + ") -> " +
                     one + "\n",
                 "%two");
  EXPECT_GE(arraysOf(loop.text()), 2);
  isRight(loop, [](const std::vector<float> &a, float xx, int64_t r, int64_t c, int64_t n) {
    return a[r * n + c] + 2 * a[c] + xx;
  });
}

} // namespace in_place_test
