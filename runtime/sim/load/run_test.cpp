#include "runtime/sim/element.h"
#include "runtime/sim/load/sim_testing.h"

#include <cmath>
#include <random>

namespace ptl::rt::sim::run_test {

using namespace testing;

namespace {

std::string doubleBuffered() { return readModule("twice.pto"); }

/// The text without all lines that hold one of the words.
std::string without(const std::string &text, const std::vector<std::string> &words) {
  std::string result;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin) + 1;
    std::string line = text.substr(begin, end - begin);
    bool drop = false;
    for (const std::string &word : words)
      drop |= line.find(word) != std::string::npos;
    result += drop ? "" : line;
    begin = end;
  }
  return result;
}

/// Whether a run ends well and gives what it should.
bool isRight(const Kernel &kernel, const Options &options, std::string_view chip = "a3") {
  std::vector<float> x(6 * 1024), z(x.size(), 0);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  std::vector<GlobalArray> arrays{arrayOf(x), arrayOf(z, "z")};
  Scalar n = Scalar::integer(6);
  Result result = runKernel(kernel, chipNamed(chip), arrays, {&n, 1}, 1, options);
  if (!result.ok)
    return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (z[i] != 2 * x[i] + 1)
      return false;
  return true;
}

/// 20 orders of all kinds.
std::vector<Options> orders() {
  std::vector<Options> all;
  for (Schedule schedule : {Schedule::Program, Schedule::Eager, Schedule::Lazy})
    for (bool stretched : {false, true})
      all.push_back({schedule, 0, stretched, false, 1, 0, 0, {}});
  for (uint64_t seed = 1; seed <= 14; ++seed)
    all.push_back({Schedule::Random, seed, seed % 2 == 0, false, 1, 0, 0, {}});
  return all;
}

bool someOrderFinds(const std::string &text, std::string_view chip = "a3") {
  Kernel kernel = loadText(text);
  for (const Options &options : orders())
    if (!isRight(kernel, options, chip))
      return true;
  return false;
}

std::string errorOf(const std::string &text, std::vector<GlobalArray> arrays,
                    std::vector<Scalar> scalars = {}) {
  return runKernel(loadText(text), chipNamed("a3"), arrays, scalars, 1).error;
}

} // namespace

TEST(SimOrders, RightSynchronisationAgreesInAll) {
  Kernel kernel = loadText(doubleBuffered());
  for (const Options &options : orders())
    EXPECT_TRUE(isRight(kernel, options))
        << static_cast<int>(options.schedule) << ' ' << options.seed;
}

TEST(SimOrders, EachMissingPairOfEventsIsFound) {
  std::string text = doubleBuffered();
  for (auto [source, target] :
       {std::pair{"V", "MTE2"}, {"MTE2", "V"}, {"MTE3", "V"}, {"V", "MTE3"}}) {
    std::string pair = std::string("[<PIPE_") + source + ">, <PIPE_" + target + ">";
    EXPECT_TRUE(someOrderFinds(without(text, {pair}))) << pair;
  }
}

TEST(SimOrders, MissingVectorBarrierIsFoundWhereTheChipNeedsOne) {
  std::string text = without(doubleBuffered(), {"barrier <PIPE_V>"});
  EXPECT_TRUE(someOrderFinds(text, "a3"));
  EXPECT_FALSE(someOrderFinds(text, "a5"));
}

TEST(SimOrders, SetWithoutWaitIsAnError) {
  EXPECT_TRUE(
      someOrderFinds(without(doubleBuffered(), {"pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>"})));
}

TEST(SimErrors, DeadlockNamesWhoWaitsForWhat) {
  std::string text = without(doubleBuffered(), {"set_flag_dyn[<PIPE_MTE2>, <PIPE_V>"});
  std::vector<float> x(1024), z(1024);
  std::string error = errorOf(text, {arrayOf(x), arrayOf(z)}, {Scalar::integer(1)});
  EXPECT_NE(error.find("waits forever"), std::string::npos) << error;
  EXPECT_NE(error.find("pipe v waits"), std::string::npos) << error;
  EXPECT_NE(error.find("for the event [mte2, v, 0]"), std::string::npos) << error;
}

/// The cube core signals so often, the vector cores wait so often.
static std::string crossing(int signals, int waits) {
  auto function = [](const char *name, const char *kind, const char *line, int count) {
    std::string text = std::string("func.func @k_") + name +
                       "(%x: !pto.ptr<f32>) attributes {pto.entry, ptl.kernel = \"k\", " +
                       "pto.kernel_kind = #pto.kernel_kind<" + kind + ">} {\n" +
                       "%c9 = arith.constant 9 : index\n";
    while (count-- > 0)
      text += std::string(line) + "\n";
    return text + "return }\n";
  };
  return "module {" + function("aic", "cube", "pto.sync.set <PIPE_FIX>, %c9", signals) +
         function("aiv", "vector", "pto.sync.wait <PIPE_MTE2>, %c9", waits) + "}";
}

TEST(SimErrors, EventsBetweenCoresAreSignalledAsOftenAsTheyAreWaitedFor) {
  std::vector<float> x(16);
  auto error = [&](int signals, int waits) {
    return errorOf(crossing(signals, waits), {arrayOf(x)}, {});
  };
  EXPECT_EQ(error(2, 2), "");
  EXPECT_NE(error(1, 2).find("for the event 9 between cores"), std::string::npos) << error(1, 2);
  EXPECT_NE(error(2, 1).find("has signalled the event 9 between cores 2 times"), std::string::npos)
      << error(2, 1);
  EXPECT_NE(error(17, 17).find("it counts up to 15"), std::string::npos) << error(17, 17);
}

TEST(SimErrors, OutOfBoundsNamesTheInstructionAndItsPlace) {
  std::vector<float> x(1024), z(1024);
  std::string error = errorOf(doubleBuffered(), {arrayOf(x), arrayOf(z)}, {Scalar::integer(2)});
  EXPECT_NE(
      error.find("k.ptl:3:7: block 0, vector core 0: `tload` a box at bytes 4096..8192 of `x`"),
      std::string::npos)
      << error;
}

TEST(SimErrors, AddressesAreChecked) {
  auto kernel = [](const std::string &address) {
    return "module attributes {\"pto.target_arch\" = \"a3\"} { func.func @k() attributes "
           "{pto.kernel_kind = "
           "#pto.kernel_kind<vector>} {\n%k = arith.constant 1.0 : f32\n%a = arith.constant " +
           address +
           " : i64\n%t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>\n"
           "pto.texpands ins(%k : f32) outs(%t : !pto.tile_buf<vec, 16x64xf32>)\nreturn\n}\n}\n";
  };
  EXPECT_NE(errorOf(kernel("188320"), {}).find("188320..192416 of vec, which has 188416"),
            std::string::npos);
  EXPECT_NE(errorOf(kernel("20"), {}).find("multiples of 32"), std::string::npos);
  EXPECT_EQ(errorOf(kernel("64"), {}), "");
}

TEST(SimErrors, EventsSetTwiceOrLeftSet) {
  auto kernel = [](const std::string &body) {
    return "module attributes {\"pto.target_arch\" = \"a3\"} { func.func @k() attributes "
           "{pto.kernel_kind = "
           "#pto.kernel_kind<vector>} {\n" +
           body + "return\n}\n}\n";
  };
  std::string set = "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]\n";
  EXPECT_NE(errorOf(kernel(set + set), {}).find("set already"), std::string::npos);
  EXPECT_NE(errorOf(kernel(set), {}).find("leaves the event [v, mte2, 0] set"), std::string::npos);
}

TEST(SimLoad, WhatIsNotKnownIsNamed) {
  std::string head =
      "module { func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n";
  EXPECT_NE(loadError(head + "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\nreturn\n}\n}\n")
                .find("has no address"),
            std::string::npos);
}

TEST(SimScalar, LoopsBranchesAndScalarsOfMemory) {
  std::string text = R"(
module {
  func.func @k(%x: !pto.ptr<i32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum, %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %l = %one) -> (i32, i32) {
      %v = pto.load_scalar %x[%i] : !pto.ptr<i32> -> i32
      %odd = arith.andi %v, %one : i32
      %isOdd = arith.cmpi eq, %odd, %one : i32
      %next = scf.if %isOdd -> i32 {
        %t = arith.addi %s, %v : i32
        scf.yield %t : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %next, %s : i32, i32
    }
    %w = scf.while (%a = %sum) : (i32) -> i32 {
      %hundred = arith.constant 100 : i32
      %go = arith.cmpi slt, %a, %hundred : i32
      scf.condition(%go) %a : i32
    } do {
    ^bb0(%b: i32):
      %d = arith.addi %b, %b : i32
      scf.yield %d : i32
    }
    pto.store_scalar %w, %x[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %last, %x[%c1] : !pto.ptr<i32>, i32
    return
  }
})";
  std::vector<int32_t> x{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(errorOf(text, {arrayOf(x)}, {Scalar::integer(6)}), "");
  EXPECT_EQ(x[0], 144);
  EXPECT_EQ(x[1], 9);
}

TEST(SimLaunches, WorkspacesAreSharedAndPoisoned) {
  Spec tile{1, 64};
  Kernel twice = loadText(vectorKernel({tile}, {tile},
                                       "pto.tadd ins(%t0, %t0 : " + tile.type() + ", " +
                                           tile.type() + ") outs(%o0 : " + tile.type() + ")\n"));
  std::vector<float> x(64, 3), z(64);
  std::vector<GlobalArray> arrays{arrayOf(x), {nullptr, 256, "workspace"}, arrayOf(z)};
  std::vector<Launch> launches{{&twice, {0, 1}, {}, 1}, {&twice, {1, 2}, {}, 2}};
  int events = 0;
  Options options;
  options.trace = [&](const TraceEvent &event) {
    events += event.issued->step->kind == StepKind::Instruction;
  };
  Result result = runLaunches(launches, chipNamed("a3"), arrays, options);
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(z[10], 12);
  EXPECT_EQ(result.instructions, 9u);
  EXPECT_EQ(events, 9);
}

} // namespace ptl::rt::sim::run_test
