// Grids whose points only combine elements in memory are run by threads that know of it.
#include "codegen/cpu/test_program.h"

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace lower_parallel_test {

/// Each of N elements of `x` is combined with element `%k` of `y`, in a box of `length`, after `compute` has made `%v` of it.
std::string grid(const std::string &how, const std::string &length, const std::string &compute) {
  return R"(func.func @f(%x: !ptl.array<i32[N], gm> {ptl.name = "x"}, %y: !ptl.ref<i32[B], gm> {ptl.output = "y"},
    %N: index {ptl.dim = "N"}, %B: index {ptl.dim = "B"}) attributes {ptl.kind = "kernel"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  ptl.parallel (%i) = (%c0) to (%N) step (%c1) {
    %0 = ptl.slice %x[%i] [%c1] drop [0] : <i32[N], gm> -> i32
    %k = arith.index_cast %0 : i32 to index
)" + compute +
         "    ptl.store %v, %y[%k] [" + length + "] drop [" + (length == "%c1" ? "0" : "") + "] " +
         how + " : i32, <i32[B], gm>\n  }\n  return\n}\n";
}

const std::string kAtomic = "{atomic = \"add\"}";
const std::string kLittle = "    %v = arith.addi %0, %0 : i32\n";

bool combines(const std::string &text) {
  auto blocks = blocksOf(text);
  EXPECT_TRUE(blocks) << text;
  return blocks && blocks->lookupSymbol("ptl_rt_grid_combining");
}

TEST(Lowering, GridsThatOnlyCombineSayIt) {
  EXPECT_TRUE(combines(grid(kAtomic, "%c1", kLittle)));
  EXPECT_FALSE(combines(grid("", "%c1", kLittle))) << "nothing is combined";
  EXPECT_FALSE(combines(grid(kAtomic, "%B", kLittle))) << "many elements are";
  std::string much = "    %m0 = arith.muli %0, %0 : i32\n";
  for (int i = 1; i < 8; ++i)
    much +=
        "    %m" + std::to_string(i) + " = arith.muli %m" + std::to_string(i - 1) + ", %0 : i32\n";
  EXPECT_FALSE(combines(grid(kAtomic, "%c1", much + "    %v = arith.addi %m7, %0 : i32\n")));
}

} // namespace lower_parallel_test
