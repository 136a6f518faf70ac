// Positions and lengths that only the data knows.
#include "passes/prover/prover_fixture.h"
#include "passes/prover/tiles.h"

namespace ptl::prove {
namespace {

// It may be any of the rows: all that is in them is ordered, and no row is known to be written.
TEST_F(Prover, WindowsWhosePlaceOnlyTheDataKnows) {
  std::string row = R"(
    %d = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %l = arith.fptosi %d : f32 to i64
    %r = arith.index_cast %l : i64 to index
    %a2 = arith.constant 4096 : i64
    %w = pto.subset %a[%r, %c0] : !t -> !pto.tile_buf<vec, 1x64xf32>
    %m = pto.alloc_tile addr = %a2 : !pto.tile_buf<vec, 1x64xf32>
  )";
  std::string fill = kFill, barrier = "pto.barrier <PIPE_V>\n";
  std::string take = "pto.tmov ins(%w : !pto.tile_buf<vec, 1x64xf32>) "
                     "outs(%m : !pto.tile_buf<vec, 1x64xf32>)\n";
  std::string put = "pto.texpands ins(%one : f32) outs(%w : !pto.tile_buf<vec, 1x64xf32>)\n";
  EXPECT_EQ(codes(prove(row + fill + barrier + take)), "");
  EXPECT_EQ(codes(prove(row + fill + take)), "E0917 ");
  EXPECT_EQ(codes(prove(row + take)), "E0919 ");
  EXPECT_EQ(codes(prove(row + fill + barrier + put + barrier + kAbs)), "");
  EXPECT_EQ(codes(prove(row + fill + barrier + put + kAbs)), "E0917 ");
  EXPECT_EQ(codes(prove(row + put + barrier + take)), "");
  // One row was written, and it is read that all were.
  EXPECT_EQ(codes(prove(row + put + barrier + kAbs)), "W1901 ");
  EXPECT_EQ(codes(prove(row + put + barrier + fill + barrier + put + barrier + kAbs)), "");
}

// An element whose position only the data knows is one of them, and not all of them.
TEST_F(Prover, ElementsWhosePlaceOnlyTheDataKnows) {
  std::string at = R"(
    %d = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %l = arith.fptosi %d : f32 to i64
    %r = arith.index_cast %l : i64 to index
  )";
  std::string put = "pto.tsetval ins(%r, %one : index, f32) outs(%a : !t)\n",
              first = "pto.tsetval ins(%c0, %one : index, f32) outs(%a : !t)\n",
              take = "%s = pto.tgetval ins(%a, %r : !t, index) outs : f32\n",
              use = "pto.store_scalar %s, %x[%c0] : !pto.ptr<f32>, f32\n", fill = kFill;
  auto after = [](const char *from, const char *to) {
    std::string pipes = std::string("[<") + from + ">, <" + to + ">, <EVENT_ID0>]\n";
    return "pto.set_flag" + pipes + "pto.wait_flag" + pipes;
  };
  std::string toScalar = after("PIPE_V", "PIPE_S"), toVector = after("PIPE_S", "PIPE_V");
  EXPECT_EQ(codes(prove(at + put + toVector + kAbs)), "W1901 ");
  EXPECT_EQ(codes(prove(at + fill + toScalar + put + toVector + kAbs)), "");
  EXPECT_EQ(codes(prove(at + fill + put + toVector + kAbs)), "E0917 ");
  // What is read may be what was written, and where nothing was it is not.
  EXPECT_EQ(codes(prove(at + first + take + use)), "");
  EXPECT_EQ(codes(prove(at + take + use)), "E0919 ");
  // The same, where turns of a loop are merged into one event.
  std::string turns = "scf.for %i = %c0 to %c64 step %c1 {\n", end = "}\n";
  EXPECT_EQ(codes(prove(at + turns + put + end + toVector + kAbs)), "W1901 ");
  EXPECT_EQ(codes(prove(at + fill + toScalar + turns + put + end + toVector + kAbs)), "");
}

// A box is as long as it may be: of `min(l, 4)` rows two beside each other are apart, and one of
// `l` rows ends with the array. Of an empty tile there is no row.
TEST_F(Prover, LengthsThatOnlyTheDataKnows) {
  std::string begin = std::string(kFill) + R"(
    %d = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %i = arith.fptosi %d : f32 to i64
    %l = arith.index_cast %i : i64 to index
    %c4 = arith.constant 4 : index
    %s = arith.minsi %l, %c4 : index
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  )";
  auto stores = [&](const std::string &first, const std::string &rows) {
    return begin + "%p = pto.partition_view %xv, offsets = [" + first + ", %c0], sizes = [" + rows +
           ", %c64] : !pto.tensor_view<8x64xf32> -> !pto.partition_tensor_view<?x64xf32>\n"
           "pto.tstore ins(%a : !t) outs(%p : !pto.partition_tensor_view<?x64xf32>)\n";
  };
  std::string load = R"(
    %q = pto.partition_view %xv, offsets = [%c4, %c0], sizes = [%s, %c64] : !pto.tensor_view<8x64xf32> -> !pto.partition_tensor_view<?x64xf32>
    pto.tload ins(%q : !pto.partition_tensor_view<?x64xf32>) outs(%b : !t)
  )";
  EXPECT_EQ(codes(prove(stores("%c0", "%s") + load)), "");
  EXPECT_EQ(codes(prove(stores("%c1", "%s") + load)), "E0917 ");
  EXPECT_EQ(codes(prove(stores("%c0", "%l") + load)), "E0917 ");
  EXPECT_EQ(codes(prove(stores("%l", "%c1") + load)), "E0917 ");
  std::string none = R"(
    %d = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %l = arith.fptosi %d : f32 to i64
    %r = arith.index_cast %l : i64 to index
    %a2 = arith.constant 4096 : i64
    %e = pto.alloc_tile addr = %a1 valid_row = %c0 valid_col = %c64 : !pto.tile_buf<vec, 8x64xf32, valid=?x?>
    %w = pto.subset %e[%r, %c0] : !pto.tile_buf<vec, 8x64xf32, valid=?x?> -> !pto.tile_buf<vec, 1x64xf32>
    %m = pto.alloc_tile addr = %a2 : !pto.tile_buf<vec, 1x64xf32>
    pto.tmov ins(%w : !pto.tile_buf<vec, 1x64xf32>) outs(%m : !pto.tile_buf<vec, 1x64xf32>)
  )";
  EXPECT_EQ(codes(prove(none)), "");
}

TEST(Boxes, OverlapByAxes) {
  auto box = [](int64_t row, int64_t rows, int64_t col, int64_t cols) {
    GlobalBox made;
    made.rank = 2;
    made.offset = row * 100 + col;
    made.axes[0] = {rows, 100};
    made.axes[1] = {cols, 1};
    return made;
  };
  EXPECT_TRUE(mayOverlap(box(0, 4, 0, 10), box(3, 4, 9, 10)));
  EXPECT_FALSE(mayOverlap(box(0, 4, 0, 10), box(0, 4, 10, 10)));
  EXPECT_FALSE(mayOverlap(box(0, 4, 0, 10), box(4, 4, 0, 10)));
  GlobalBox anywhere = box(9, 1, 0, 1);
  anywhere.known = false;
  EXPECT_TRUE(mayOverlap(box(0, 4, 0, 10), anywhere));
}

} // namespace
} // namespace ptl::prove
