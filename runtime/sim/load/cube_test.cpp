#include "frontend/base/elem_convert.h"
#include "runtime/sim/element.h"
#include "runtime/sim/load/sim_testing.h"

#include <cmath>
#include <random>

namespace ptl::rt::sim::cube_test {

using namespace testing;

namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string productText(const std::string &out, bool transposed, const std::string &store = "") {
  std::string text = readModule("product.pto");
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
  Options options{Schedule::Random, 3, true, false, 3, 0, 0, {}};
  Result result = runKernel(add, chipNamed("a3"), arrays, {}, 3, options);
  ASSERT_TRUE(result.ok) << result.error;
  for (size_t i = 0; i < sum.size(); ++i)
    EXPECT_EQ(sum[i], 100 + 3 * std::max(data.c[i], 0.f));
}

TEST(SimCube, BlocksTimesTheirScales) {
  std::vector<uint8_t> a(30 * 64), s(30 * 2), b(48 * 64), t(48 * 2);
  std::mt19937 random(2);
  auto fill = [&](std::vector<uint8_t> &bytes, uint32_t least, uint32_t count) {
    for (uint8_t &each : bytes)
      each = static_cast<uint8_t>(least + random() % count);
  };
  // Numbers of few bits near 1, so that all sums are exact.
  fill(a, 0x30, 16);
  fill(b, 0x38, 8);
  fill(s, 126, 3);
  fill(t, 126, 3);
  std::vector<float> c(30 * 48), want(30 * 48);
  auto number = [](uint8_t code, ElemKind kind) {
    return static_cast<float>(decodeFloat(code, kind));
  };
  for (size_t i = 0; i < 30; ++i)
    for (size_t j = 0; j < 48; ++j)
      for (size_t l = 0; l < 64; ++l)
        want[i * 48 + j] += 2 * number(a[i * 64 + l], ElemKind::F8E4M3) *
                            number(s[i * 2 + l / 32], ElemKind::F8E8M0) *
                            number(b[j * 64 + l], ElemKind::F8E5M2) *
                            number(t[j * 2 + l / 32], ElemKind::F8E8M0);
  std::string text = readModule("scaled_product.pto");
  std::vector<GlobalArray> arrays{arrayOf(a), arrayOf(s), arrayOf(b), arrayOf(t), arrayOf(c)};
  Result result =
      runKernel(loadText(replaced(text, "DEPTH", "64")), chipNamed("a5"), arrays, {}, 1);
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(c, want);
  result = runKernel(loadText(replaced(text, "DEPTH", "32")), chipNamed("a5"), arrays, {}, 1);
  EXPECT_NE(result.error.find("in pairs"), std::string::npos) << result.error;
  // Products find scales by the addresses of elements, wherever others have been put.
  text = replaced(text, "DEPTH", "64");
  result = runKernel(loadText(replaced(text, "%ls = pto.alloc_tile addr = %a0",
                                       "%ls = pto.alloc_tile addr = %c64b")),
                     chipNamed("a5"), arrays, {}, 1);
  EXPECT_NE(result.error.find("lie at 64"), std::string::npos) << result.error;
}

// ---- queues -------------------------------------------------------------------------------------

namespace {

std::string queueText(bool direct, bool free) {
  std::string text = readModule("queue.pto");
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
                     {schedule, 5, stretched, false, 1, 0, 0, {}});
        ASSERT_TRUE(run.result.ok) << run.result.error;
        EXPECT_TRUE(run.isRight()) << direct << ' ' << static_cast<int>(schedule);
      }
}

TEST(SimQueue, SlotsThatAreNotGivenBackBlockTheProducer) {
  QueueRun run(queueText(false, false), "a3", {});
  EXPECT_NE(run.result.error.find("waits forever"), std::string::npos);
  EXPECT_NE(run.result.error.find("the cube core, pipe fix waits"), std::string::npos)
      << run.result.error;
}

TEST(SimQueue, TilesThatNobodyPopsGoNowhere) {
  for (bool direct : {false, true}) {
    std::string text =
        replaced(queueText(direct, false), "pto.declare_tile", "pto.alloc_tile addr = %a1");
    text = replaced(text, "pto.tpop(%t, %q : !half, !pto.pipe) {split = 1}", "");
    text =
        replaced(text, "pto.alloc_tile addr = %a1 -> !half", "pto.alloc_tile addr = %a1 : !half");
    QueueRun run(text, direct ? "a5" : "a3", {});
    EXPECT_TRUE(run.result.ok) << run.result.error;
  }
}

} // namespace ptl::rt::sim::cube_test
