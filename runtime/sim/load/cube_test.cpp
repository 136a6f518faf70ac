#include "runtime/sim/element.h"
#include "runtime/sim/load/sim_testing.h"

#include <cmath>
#include <random>

using namespace ptl;
using namespace ptl::rt::sim;
using namespace ptl::rt::sim::testing;

namespace {

/// c[m, n] = a[m, k] b twice, stored as OUT.
std::string product() {
  return R"(
!ma = !pto.tile_buf<mat, 32x64xf16, valid=30x64, blayout=col_major, slayout=row_major>
!mb = !pto.tile_buf<mat, 64x48xf16, LAYOUT>
!la = !pto.tile_buf<left, 32x64xf16, valid=30x64, slayout=row_major>
!rb = !pto.tile_buf<right, 64x48xf16, slayout=col_major>
!ac = !pto.tile_buf<acc, 32x48xf32, valid=30x48, blayout=col_major, slayout=row_major, fractal=1024>
module attributes {"pto.target_arch" = "a3"} {
  func.func @k(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<OUT>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c30 = arith.constant 30 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 65536 : i64
    %av = pto.make_tensor_view %a, shape = [%c30, %c64], strides = [%c64, %c1] : !pto.tensor_view<30x64xf16>
    %bv = pto.make_tensor_view %b, shape = [%c64, %c48], STRIDES : !pto.tensor_view<64x48xf16>
    %cv = pto.make_tensor_view %c, shape = [%c30, %c48], strides = [%c48, %c1] : !pto.tensor_view<30x48xOUT>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c30, %c64] : !pto.tensor_view<30x64xf16> -> !pto.partition_tensor_view<30x64xf16>
    %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c64, %c48] : !pto.tensor_view<64x48xf16> -> !pto.partition_tensor_view<64x48xf16>
    %cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c30, %c48] : !pto.tensor_view<30x48xOUT> -> !pto.partition_tensor_view<30x48xOUT>
    %ma = pto.alloc_tile addr = %a0 : !ma
    %mb = pto.alloc_tile addr = %a1 : !mb
    %la = pto.alloc_tile addr = %a0 : !la
    %rb = pto.alloc_tile addr = %a0 : !rb
    %ac = pto.alloc_tile addr = %a0 : !ac
    pto.tload ins(%ap : !pto.partition_tensor_view<30x64xf16>) outs(%ma : !ma)
    pto.tload ins(%bp : !pto.partition_tensor_view<64x48xf16>) outs(%mb : !mb)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.tmov ins(%ma : !ma) outs(%la : !la)
    pto.tmov ins(%mb : !mb) outs(%rb : !rb)
    pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
    pto.tmatmul ins(%la, %rb : !la, !rb) outs(%ac : !ac)
    pto.tmatmul.acc ins(%ac, %la, %rb : !ac, !la, !rb) outs(%ac : !ac)
    pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
    pto.tstore ins(%ac : !ac) outs(%cp : !pto.partition_tensor_view<30x48xOUT>) STORE
    return
  }
})";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string productText(const std::string &out, bool transposed, const std::string &store = "") {
  std::string text = product();
  text = replaced(text, "LAYOUT",
                  transposed ? "slayout=col_major" : "blayout=col_major, slayout=row_major");
  text = replaced(text, "STRIDES",
                  transposed ? "strides = [%c1, %c64] {layout = #pto.layout<dn>}"
                             : "strides = [%c48, %c1]");
  return replaced(replaced(text, "OUT", out), "STORE", store);
}

struct Operands {
  std::vector<uint16_t> a = std::vector<uint16_t>(30 * 64), b = std::vector<uint16_t>(64 * 48);
  std::vector<float> c = std::vector<float>(30 * 48);

  explicit Operands(bool transposed) {
    std::mt19937 random(1);
    auto small = [&] { return static_cast<float>(static_cast<int>(random() % 17) - 8) / 8; };
    for (uint16_t &x : a)
      x = floatToHalf(small());
    for (uint16_t &x : b)
      x = floatToHalf(small());
    for (size_t i = 0; i < 30; ++i)
      for (size_t j = 0; j < 48; ++j)
        for (size_t l = 0; l < 64; ++l)
          c[i * 48 + j] +=
              2 * halfToFloat(a[i * 64 + l]) * halfToFloat(b[transposed ? j * 64 + l : l * 48 + j]);
  }
};

} // namespace

TEST(SimCube, ProductThroughAllPlaces) {
  for (bool transposed : {false, true}) {
    Operands data(transposed);
    std::vector<float> c(30 * 48);
    runAll(loadText(productText("f32", transposed)),
           {arrayOf(data.a), arrayOf(data.b), arrayOf(c)});
    EXPECT_EQ(c, data.c);
  }
}

TEST(SimCube, StoreConvertsAddsAndCutsOff) {
  Operands data(false);
  std::vector<uint16_t> half(30 * 48);
  runAll(loadText(productText("f16", false)), {arrayOf(data.a), arrayOf(data.b), arrayOf(half)});
  for (size_t i = 0; i < half.size(); ++i)
    EXPECT_EQ(half[i], floatToHalf(data.c[i]));
  std::vector<float> sum(30 * 48, 100);
  Kernel add = loadText(productText("f32", false,
                                    "{atomicType = #pto<atomic_type atomic_add>, reluPreMode = "
                                    "#pto<relu_pre_mode normal_relu>}"));
  std::vector<GlobalArray> arrays{arrayOf(data.a), arrayOf(data.b), arrayOf(sum)};
  Options options{Schedule::Random, 3, true, 3, 0, 0, {}};
  Result result = runKernel(add, chipNamed("a3"), arrays, {}, 3, options);
  ASSERT_TRUE(result.ok) << result.error;
  for (size_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], 100 + 3 * std::max(data.c[i], 0.f));
}

// ---- queues
// ---------------------------------------------------------------------------------------------------------

namespace {

/// The cube core pushes x[i, 32, 64] (moved through its memories) and each vector core adds 1 to
/// its half.
constexpr const char *queueModule = R"(
!mat = !pto.tile_buf<mat, 32x64xf32, blayout=col_major, slayout=row_major>
!la = !pto.tile_buf<left, 32x32xf32, slayout=row_major>
!rb = !pto.tile_buf<right, 32x64xf32, slayout=col_major>
!ma = !pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>
!ac = !pto.tile_buf<acc, 32x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!half = !pto.tile_buf<vec, 16x64xf32>
!boxes = !pto.partition_tensor_view<32x64xf32>
!eye = !pto.partition_tensor_view<32x32xf32>
!part = !pto.partition_tensor_view<16x64xf32>
module attributes {"pto.target_arch" = "ARCH"} {
  func.func @k_aic(%e: !pto.ptr<f32>, %x: !pto.ptr<f32>, %z: !pto.ptr<f32>, %w: !pto.ptr<f32>, %n: index) attributes {ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 65536 : i64
    %local = IMPORT
    %q = INIT
    %rows = arith.muli %n, %c32 : index
    %ev = pto.make_tensor_view %e, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf32>
    %ep = pto.partition_view %ev, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<32x32xf32> -> !eye
    %xv = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %ma = pto.alloc_tile addr = %a0 : !ma
    %mx = pto.alloc_tile addr = %a1 : !mat
    %la = pto.alloc_tile addr = %a0 : !la
    %rb = pto.alloc_tile addr = %a0 : !rb
    %ac = pto.alloc_tile addr = %a0 : !ac
    pto.tload ins(%ep : !eye) outs(%ma : !ma)
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.muli %i, %c32 : index
      %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x64xf32> -> !boxes
      pto.tload ins(%xp : !boxes) outs(%mx : !mat)
      pto.barrier <PIPE_ALL>
      pto.tmov ins(%ma : !ma) outs(%la : !la)
      pto.tmov ins(%mx : !mat) outs(%rb : !rb)
      pto.barrier <PIPE_ALL>
      pto.tmatmul ins(%la, %rb : !la, !rb) outs(%ac : !ac)
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tpush(%ac, %q : !ac, !pto.pipe) {split = 1}
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }
    return
  }
  func.func @k_aiv(%e: !pto.ptr<f32>, %x: !pto.ptr<f32>, %z: !pto.ptr<f32>, %w: !pto.ptr<f32>, %n: index) attributes {ptl.kernel = "k", pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %a1 = arith.constant 65536 : i64
    %local = pto.reserve_buffer {name = "q", size = 16384, location = <vec>, auto = false, base = 0} -> i32
    %q = INIT
    %sub64 = pto.get_subblock_idx -> i64
    %sub = arith.index_cast %sub64 : i64 to index
    %half = arith.muli %sub, %c16 : index
    %rows = arith.muli %n, %c32 : index
    %zv = pto.make_tensor_view %z, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %out = pto.alloc_tile addr = %a1 : !half
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.declare_tile -> !half
      pto.tpop(%t, %q : !half, !pto.pipe) {split = 1}
      pto.barrier <PIPE_ALL>
      pto.tadds ins(%t, %one : !half, f32) outs(%out : !half)
      pto.barrier <PIPE_ALL>
      FREE
      %begin = arith.muli %i, %c32 : index
      %row = arith.addi %begin, %half : index
      %zp = pto.partition_view %zv, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x64xf32> -> !part
      pto.tstore ins(%out : !half) outs(%zp : !part)
      pto.barrier <PIPE_ALL>
    }
    return
  }
})";

std::string queueText(bool direct, bool free) {
  std::string text = queueModule;
  std::string common = "{dir_mask = 1, slot_size = 8192, slot_num = 2";
  text =
      replaced(text, "INIT",
               direct ? "pto.initialize_l2l_pipe " + common + "}(%local : i32) -> !pto.pipe"
                      : "pto.initialize_l2g2l_pipe " + common +
                            ", local_slot_num = 2}(%w : !pto.ptr<f32>, %local : i32) -> !pto.pipe");
  text = replaced(text, "IMPORT",
                  direct ? "pto.import_reserved_buffer {name = \"q\", peer_func = @k_aiv} -> i32"
                         : "arith.constant 0 : i32");
  text = replaced(text, "FREE", free ? "pto.tfree(%q : !pto.pipe) {split = 1}" : "");
  return replaced(text, "ARCH", direct ? "a5" : "a3");
}

struct QueueRun {
  std::vector<float> e = std::vector<float>(32 * 32), x = std::vector<float>(5 * 32 * 64),
                     z = std::vector<float>(x.size()), w = std::vector<float>(2 * 2048);
  Result result;

  QueueRun(const std::string &text, std::string_view chip, const Options &options) {
    for (size_t i = 0; i < 32; ++i)
      e[i * 33] = 1;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 1000);
    std::vector<GlobalArray> arrays{arrayOf(e), arrayOf(x), arrayOf(z), arrayOf(w)};
    Scalar n = Scalar::integer(5);
    result = runKernel(loadText(text), chipNamed(chip), arrays, {&n, 1}, 1, options);
  }
  bool isRight() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (z[i] != x[i] + 1)
        return false;
    return true;
  }
};

} // namespace

TEST(SimQueue, TilesArriveInOrderThroughGlobalMemoryAndDirectly) {
  for (bool direct : {false, true})
    for (Schedule schedule : {Schedule::Program, Schedule::Eager, Schedule::Lazy, Schedule::Random})
      for (bool stretched : {false, true}) {
        QueueRun run(queueText(direct, true), direct ? "a5" : "a3",
                     {schedule, 5, stretched, 1, 0, 0, {}});
        ASSERT_TRUE(run.result.ok) << run.result.error;
        EXPECT_TRUE(run.isRight()) << direct << ' ' << static_cast<int>(schedule);
      }
}

TEST(SimQueue, SlotsThatAreNotGivenBackBlockTheProducer) {
  QueueRun run(queueText(false, false), "a3", {});
  EXPECT_NE(run.result.error.find("waits for ever"), std::string::npos);
  EXPECT_NE(run.result.error.find("the cube core, pipe fix waits"), std::string::npos)
      << run.result.error;
}
