#include "runtime/sim/load/sim_testing.h"
#include "runtime/sim/time/estimate.h"
#include "runtime/sim/time/gains.h"
#include "runtime/sim/time/hints.h"
#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/write_chrome.h"

#include <nlohmann/json.hpp>

namespace ptl::rt::sim::time_test {

using namespace testing;

namespace {

/// Round figures, so that tests can say what comes out.
MachineCosts roundCosts() {
  MachineCosts costs;
  costs.instructions = {{"default", 5, 1, 0, 3}};
  costs.paths = {{"gm", "vec", 0, 100, 64}, {"vec", "gm", 0, 50, 64}};
  return costs;
}

Timeline timeOf(const Kernel &kernel, const MachineCosts &costs, int64_t n, int64_t blocks = 1,
                TimeOptions options = {}, std::vector<float> *x = nullptr,
                std::vector<float> *z = nullptr) {
  Timer timer(*findMachine("a3"), costs, std::move(options));
  int64_t bytes = n * 4096;
  auto array = [&](std::vector<float> *data, const char *name) {
    return GlobalArray{data ? reinterpret_cast<uint8_t *>(data->data()) : nullptr, bytes, name};
  };
  std::vector<GlobalArray> arrays{array(x, "x"), array(z, "z")};
  std::vector<uint32_t> numbers{timer.addArray(bytes), timer.addArray(bytes)};
  Scalar count = Scalar::integer(n);
  timer.run(kernel, arrays, numbers, {&count, 1}, blocks);
  return timer.take();
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

/// `text` with the number of the core group as `%block`, and more code behind it, at the head of the kernel.
std::string withBlock(const std::string &text, const std::string &more) {
  return replaced(text, "    %in =",
                  "    %block64 = pto.get_block_idx -> i64\n"
                  "    %block = arith.index_cast %block64 : i64 to index\n" +
                      more + "    %in =");
}

/// The double-buffered kernel with a load that waits for the store before it, needlessly.
std::string withFalseDependence() {
  std::string text = readModule("twice.pto");
  text = replaced(
      text, "      pto.tload",
      "      pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID5>] {ptl.why = \"planted\"}\n"
      "      pto.tload");
  text = replaced(text, "outs(%zp : !box)\n",
                  "outs(%zp : !box)\n      pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID5>]\n");
  text = replaced(text, "    scf.for",
                  "    pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID5>]\n    scf.for");
  return replaced(text, "    return",
                  "    pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID5>]\n    return");
}

const GapGroup *longestOn(const Analysis &analysis, Pipe pipe) {
  for (const GapGroup &group : analysis.groups)
    if (group.pipe == pipe && group.cause != Cause::Start)
      return &group;
  return nullptr;
}

Report reportOf(Timeline timeline) {
  Report report;
  report.entry = "k";
  report.machine = "a3";
  report.timeline = std::move(timeline);
  report.analysis = analyse(report.timeline, 1);
  return report;
}

} // namespace

TEST(SimTime, OneRoundIsTheSumOfItsParts) {
  Kernel kernel = loadText(readModule("twice.pto"));
  Timeline t = timeOf(kernel, roundCosts(), 1);
  ASSERT_TRUE(t.ok) << t.error;
  // Load 100 + 4096/64; tmuls and tadds 5 + 16 and 3 more to settle; store 50 + 4096/64.
  EXPECT_DOUBLE_EQ(t.end, 164 + 24 + 24 + 114);
  EXPECT_EQ(t.instructions, 4u);
}

TEST(SimTime, BuffersUsedInTurnHideAllButTheSlowestPipe) {
  Kernel kernel = loadText(readModule("twice.pto"));
  Timeline t = timeOf(kernel, roundCosts(), 40);
  EXPECT_DOUBLE_EQ(t.end, 40 * 164 + 24 + 24 + 114);
  Analysis analysis = analyse(t, 1);
  EXPECT_EQ(analysis.pipes.front().pipe, Pipe::MTE2);
  EXPECT_GT(analysis.pipes.front().share, 0.97);
}

TEST(SimTime, CriticalPathCoversTheRun) {
  for (const std::string &text : {readModule("twice.pto"), withFalseDependence()}) {
    MachineCosts costs = *findCosts("a3");
    Timeline t = timeOf(loadText(text), costs, 9);
    ASSERT_TRUE(t.ok) << t.error;
    Analysis analysis = analyse(t, 1);
    Cycles sum = 0, at = 0;
    for (const PathPiece &piece : analysis.path) {
      EXPECT_NEAR(piece.start, at, 1e-6);
      at = piece.end;
      sum += piece.end - piece.start;
    }
    EXPECT_NEAR(sum, t.end, 1e-6);
  }
}

TEST(SimTime, ValuesDoNotChangeTimes) {
  Kernel kernel = loadText(readModule("twice.pto"));
  std::vector<float> x(6 * 1024, 3), z(x.size());
  TimeOptions options;
  options.values = true;
  Timeline computed = timeOf(kernel, *findCosts("a3"), 6, 1, options, &x, &z);
  ASSERT_TRUE(computed.ok) << computed.error;
  EXPECT_EQ(z, std::vector<float>(z.size(), 7));
  EXPECT_DOUBLE_EQ(computed.end, timeOf(kernel, *findCosts("a3"), 6).end);
}

TEST(SimTime, FalseDependenceIsNamed) {
  Kernel kernel = loadText(withFalseDependence());
  Timeline t = timeOf(kernel, roundCosts(), 20);
  ASSERT_TRUE(t.ok) << t.error;
  EXPECT_GT(t.end, 19 * (164 + 114));
  Report report = reportOf(std::move(t));
  const GapGroup *gap = longestOn(report.analysis, Pipe::MTE2);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->cause, Cause::Event);
  EXPECT_EQ(report.timeline.sites[gap->next].name, "tload");
  ASSERT_NE(gap->blocker, kNoRecord);
  EXPECT_EQ(report.timeline.sites[gap->blocker].name, "tstore");
  EXPECT_EQ(report.timeline.sites[gap->wait].why, "planted");
  EXPECT_GT(gap->critical, 0);
  addGains(report.timeline, report.analysis, [&](const WhatIf &what) {
    TimeOptions options;
    options.whatIf = what;
    Timeline again = timeOf(kernel, roundCosts(), 20, 1, options);
    EXPECT_TRUE(again.ok) << again.error;
    return again.end;
  });
  bool found = false;
  for (const Gain &gain : report.analysis.gains)
    if (gain.gap != kNoRecord && &report.analysis.groups[gain.gap] == gap) {
      found = true;
      EXPECT_DOUBLE_EQ(gain.end, 20 * 164 + 24 + 24 + 114); // as without the plant
    }
  EXPECT_TRUE(found);
  std::string page = writePage(report);
  EXPECT_NE(
      page.find(
          "`tload` (k.ptl:3:7) waits for `tstore` (-:44:7) on mte3 of the vector core; planted"),
      page.npos)
      << page;
}

TEST(SimTime, SerialisedPipesAreNamed) {
  std::string text = replaced(readModule("twice.pto"), "outs(%zp : !box)\n",
                              "outs(%zp : !box)\n      pto.barrier <PIPE_ALL>\n");
  Timeline t = timeOf(loadText(text), roundCosts(), 20);
  ASSERT_TRUE(t.ok) << t.error;
  EXPECT_DOUBLE_EQ(t.end, 20 * (164 + 24 + 24 + 114));
  Report report = reportOf(std::move(t));
  const GapGroup *gap = longestOn(report.analysis, Pipe::MTE2);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->cause, Cause::Scalar);
  ASSERT_NE(gap->blocker, kNoRecord);
  EXPECT_EQ(report.timeline.sites[gap->blocker].name, "tstore");
}

TEST(SimTime, LatencyIsToldApartFromBarriers) {
  // Behind tmuls and tadds an event waits for 3 cycles each; the barrier then has nothing to do.
  std::string text = readModule("twice.pto");
  Kernel kernel = loadText(text);
  Report report = reportOf(timeOf(kernel, roundCosts(), 1));
  std::map<std::string, Cycles> parts = report.analysis.pathByPart;
  EXPECT_DOUBLE_EQ(parts["aiv v"], 2 * 21);
  EXPECT_DOUBLE_EQ(parts["aiv v latency"], 6);
  EXPECT_EQ(parts.count("aiv v barrier"), 0u);
  EXPECT_DOUBLE_EQ(report.analysis.latency, 6);
  EXPECT_NE(writePage(report).find("aiv v latency"), std::string::npos);
  EXPECT_NE(writeSummary(report).find("\"aiv v latency\""), std::string::npos);
  TimeOptions options;
  options.whatIf.latency = true;
  EXPECT_DOUBLE_EQ(timeOf(kernel, roundCosts(), 1, 1, options).end, report.timeline.end - 6);
  // With the barrier first it is that which waits.
  std::string event = "pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %slot]\n",
              barrier = "pto.barrier <PIPE_V>\n";
  text = replaced(text, event + "      " + barrier, barrier + "      " + event);
  report = reportOf(timeOf(loadText(text), roundCosts(), 1));
  EXPECT_DOUBLE_EQ(report.analysis.pathByPart["aiv v barrier"], 3);
  EXPECT_DOUBLE_EQ(report.analysis.pathByPart["aiv v latency"], 3);
  EXPECT_DOUBLE_EQ(report.analysis.latency, 6);
}

TEST(SimTime, LatencyOfShortInstructionsIsAHint) {
  MachineCosts costs = roundCosts();
  costs.instructions[0].tail = 200;
  Kernel kernel = loadText(readModule("twice.pto"));
  Report report = reportOf(timeOf(kernel, costs, 1));
  addGains(report.timeline, report.analysis, [&](const WhatIf &what) {
    TimeOptions options;
    options.whatIf = what;
    return timeOf(kernel, costs, 1, 1, options).end;
  });
  bool isTold = false;
  for (const Hint &hint : hintsOf(report))
    isTold |= hint.text.find("results are waited for") != hint.text.npos && hint.gain > 0.3;
  EXPECT_TRUE(isTold);
}

/// What the hint about tiles that are no multiples of a repeat says would be saved; 0: there is
/// none.
static double gainOfFullRepeats(const std::string &text, const MachineCosts &costs) {
  Kernel kernel = loadText(text);
  Timeline t = timeOf(kernel, costs, 40);
  EXPECT_TRUE(t.ok) << t.error;
  Report report = reportOf(std::move(t));
  addGains(report.timeline, report.analysis, [&](const WhatIf &what) {
    TimeOptions how;
    how.whatIf = what;
    return timeOf(kernel, costs, 40, 1, how).end;
  });
  for (const Hint &hint : hintsOf(report))
    if (hint.text.find("no multiples of what instructions work on") != hint.text.npos)
      return hint.gain;
  return 0;
}

TEST(SimTime, TilesThatDoNotFillRepeatsAreHinted) {
  MachineCosts costs = roundCosts();
  costs.instructions = {{"default", 5, 100, 0, 3}};
  costs.control.mask = 0;
  std::string full = readModule("twice.pto"), narrow = full;
  EXPECT_EQ(gainOfFullRepeats(full, costs), 0);
  // 50 of 64 columns: 200 bytes of each row are a repeat of 256.
  for (const char *from : {"vec, 16x64xf32>", "view<16x64xf32>"}) {
    std::string to =
        replaced(from, "16x64xf32",
                 from[0] == 'v' && from[1] == 'e' ? "16x64xf32, valid=16x50" : "16x50xf32");
    narrow = replaced(narrow, from, to);
  }
  narrow = replaced(narrow, "%c64 = arith.constant 64 : index",
                    "%c64 = arith.constant 64 : index\n    %c50 = arith.constant 50 : index");
  for (int i = 0; i < 2; ++i)
    narrow = replaced(narrow, "sizes = [%c16, %c64]", "sizes = [%c16, %c50]");
  EXPECT_NEAR(gainOfFullRepeats(narrow, costs), (1600 - 1250) / 1608.0, 0.01);
  // Where loads take most of the time, nothing would be saved.
  costs.instructions = {{"default", 5, 1, 0, 3}};
  EXPECT_EQ(gainOfFullRepeats(narrow, costs), 0);
}

TEST(SimTime, UnevenSplitIsNamed) {
  std::string text =
      withBlock(readModule("twice.pto"), "    %most = arith.muli %block, %c2 : index\n"
                                         "    %rounds = arith.minsi %most, %n : index\n");
  text = replaced(text, "to %n step", "to %rounds step");
  MachineCosts costs = roundCosts();
  Timeline t = timeOf(loadText(text), costs, 100, 48);
  ASSERT_TRUE(t.ok) << t.error;
  Report report;
  report.groupsOfChip = 48;
  report.timeline = std::move(t);
  report.analysis = analyse(report.timeline, 48);
  EXPECT_GT(report.analysis.uneven, 0.4 * report.timeline.end);
  bool named = false;
  for (const Hint &hint : hintsOf(report))
    named |= hint.text.find("core groups") != hint.text.npos && hint.gain > 0.4;
  EXPECT_TRUE(named);
}

TEST(SimTime, CoresShareARate) {
  Kernel kernel = loadText(readModule("twice.pto"));
  MachineCosts costs = roundCosts();
  Cycles alone = timeOf(kernel, costs, 40, 48).end;
  costs.memory.l2Rate = 48 * 16;
  Timeline t = timeOf(kernel, costs, 40, 48);
  EXPECT_GE(t.end, 40 * 2 * 4096 / 16); // loads and stores of a core at its share
  EXPECT_LT(t.end, 1.1 * 40 * 2 * 4096 / 16 + 500);
  WhatIf what;
  what.shared = true;
  TimeOptions options;
  options.whatIf = what;
  EXPECT_DOUBLE_EQ(timeOf(kernel, costs, 40, 48, options).end, alone);
}

TEST(SimTime, RoundsThatAreAlikeNeedNotBeRun) {
  Kernel kernel = loadText(readModule("twice.pto"));
  MachineCosts costs = *findCosts("a3");
  for (int64_t rounds : {1, 3, 7, 300, 20000}) {
    Timeline full = timeOf(kernel, costs, rounds);
    std::optional<Estimate> guess = estimate([&](TimeOptions how, Timeline &timeline) {
      timeline = timeOf(kernel, costs, rounds, 1, std::move(how));
      return timeline.ok;
    });
    ASSERT_TRUE(guess);
    EXPECT_NEAR(guess->timeline.end, full.end, 0.02 * full.end) << rounds << " iterations";
    EXPECT_EQ(guess->timeline.bytes, full.bytes);
    EXPECT_EQ(guess->exact, guess->timeline.instructions == full.instructions);
    EXPECT_LE(guess->timeline.instructions, std::min<uint64_t>(full.instructions, 1200));
    EXPECT_EQ(guess->exact, rounds <= 300);
    EXPECT_NEAR(guess->analysis.pipes.front().share, analyse(full, 1).pipes.front().share, 0.02);
    Cycles sum = 0;
    for (const PathPiece &piece : guess->analysis.path)
      sum += piece.length();
    EXPECT_NEAR(sum, guess->timeline.end, 1e-6 * full.end);
  }
}

TEST(SimTime, RoundsThatGoOtherWaysAreNotAlike) {
  std::string text =
      replaced(readModule("twice.pto"), "      pto.tadds ins(%b, %one : !v, f32) outs(%b : !v)\n",
               "      %twice = arith.muli %i, %c2 : index\n"
               "      %late = arith.cmpi uge, %twice, %n : index\n"
               "      scf.if %late {\n"
               "        scf.for %j = %c0 to %c16 step %c1 {\n"
               "          pto.tadds ins(%b, %one : !v, f32) outs(%b : !v)\n"
               "          pto.barrier <PIPE_V>\n        }\n      }\n");
  Kernel kernel = loadText(text);
  MachineCosts costs = *findCosts("a3");
  for (int64_t rounds : {2000, 2001, 20000}) {
    Timeline full = timeOf(kernel, costs, rounds);
    std::optional<Estimate> guess = estimate([&](TimeOptions how, Timeline &timeline) {
      timeline = timeOf(kernel, costs, rounds, 1, std::move(how));
      return timeline.ok;
    });
    ASSERT_TRUE(guess);
    EXPECT_FALSE(guess->exact);
    EXPECT_NEAR(guess->timeline.end, full.end, 0.02 * full.end) << rounds << " iterations";
    EXPECT_LE(guess->timeline.operations, 15'000u);
  }
}

/// Tiles of half a line of L2: of two core groups that load one, the first alone misses it.
TEST(SimTime, GroupsThatStandForOthersMissAsOften) {
  std::string text =
      withBlock(readModule("twice.pto"), "    %count64 = pto.get_block_num -> i64\n"
                                         "    %count = arith.index_cast %count64 : i64 to index\n");
  text = replaced(text, "%i = %c0 to %n step %c1", "%t = %block to %n step %count");
  text = replaced(text, "%slot =",
                  "%from = arith.subi %t, %block : index\n"
                  "      %i = arith.divui %from, %count : index\n      %slot =");
  text = replaced(text, "arith.muli %i, %c16", "arith.muli %t, %c1");
  for (int i = 0; i < 2; ++i)
    text = replaced(text, "sizes = [%c16, %c64]", "sizes = [%c1, %c64]");
  Kernel kernel = loadText(text);
  MachineCosts costs = *findCosts("a3");
  Timeline full = timeOf(kernel, costs, 48 * 400, 48);
  ASSERT_TRUE(full.ok) << full.error;
  std::optional<Estimate> guess = estimate([&](TimeOptions how, Timeline &timeline) {
    timeline = timeOf(kernel, costs, 48 * 400, 48, std::move(how));
    return timeline.ok;
  });
  ASSERT_TRUE(guess);
  EXPECT_FALSE(guess->exact);
  EXPECT_NEAR(guess->timeline.end, full.end, 0.05 * full.end);
  EXPECT_NEAR(static_cast<double>(guess->timeline.missed), static_cast<double>(full.missed),
              0.05 * static_cast<double>(full.missed));
}

/// Ten tasks that fill all cores, and behind them a chain of tasks of one core each.
static Timeline wideAndLong(int levels, uint64_t seed) {
  static const Kernel kernel = loadText(readModule("twice.pto"));
  TimeOptions options;
  options.levels = levels;
  options.seed = seed;
  Timer timer(*findMachine("a3"), *findCosts("a3"), options);
  auto submit = [&](int64_t rounds, int64_t blocks, uint32_t from, uint32_t to) {
    TaskRequest request;
    request.kernel = &kernel;
    int64_t bytes = rounds * 4096;
    request.pointers = {{nullptr, bytes, "x"}, {nullptr, bytes, "z"}};
    request.arrays = {from, to};
    request.scalars = {Scalar::integer(rounds)};
    request.blocks = blocks;
    request.accesses = {{from, false, {{0, rounds * 1024, 1}}},
                        {to, true, {{0, rounds * 1024, 1}}}};
    EXPECT_TRUE(timer.submit(std::move(request)));
  };
  for (int i = 0; i < 10; ++i)
    submit(200, 48, timer.addArray(200 * 4096), timer.addArray(200 * 4096));
  uint32_t last = timer.addArray(200 * 4096);
  for (int i = 0; i < 8; ++i) {
    uint32_t next = timer.addArray(200 * 4096);
    submit(200, 1, last, next);
    last = next;
  }
  EXPECT_TRUE(timer.finish());
  return timer.take();
}

TEST(SimTime, TasksWithALongWayToTheEndGoFirst) {
  Cycles inOrder = wideAndLong(1, 0).end, byWay = wideAndLong(4, 0).end;
  EXPECT_LT(byWay, 0.7 * inOrder);
  for (uint64_t seed : {0, 1, 2})
    EXPECT_EQ(wideAndLong(4, seed).end, wideAndLong(4, seed).end);
}

/// A kernel that reads an element and then does something with it.
static Timeline timeWithElement(const std::string &type, const std::string &use) {
  std::string text =
      "module attributes {\"pto.target_arch\" = \"a3\"} { func.func @k(%x: !pto.ptr<" + type +
      ">, %z: !pto.ptr<f32>, %n: index) attributes {pto.entry, pto.kernel_kind = "
      "#pto.kernel_kind<vector>} {\n%c0 = arith.constant 0 : index\n"
      "%v = pto.load_scalar %x[%c0] : !pto.ptr<" +
      type + "> -> " + type + "\n" + use + "\nreturn } }";
  return timeOf(loadText(text), roundCosts(), 1);
}

TEST(SimTime, DataMayBeUnknownUntilItDecides) {
  Timeline t = timeWithElement("f32", "%w = arith.addf %v, %v : f32");
  EXPECT_TRUE(t.ok) << t.error;
  std::string compared = "%one = arith.constant 1 : i32\n"
                         "%holds = arith.cmpi slt, %v, %one : i32\n";
  t = timeWithElement("i32", compared + "scf.if %holds {\npto.trap \"assert\" \"is too small\"\n}");
  EXPECT_TRUE(t.ok) << t.error;
  t = timeWithElement("i32", compared + "scf.if %holds {\npto.barrier <PIPE_ALL>\n}");
  EXPECT_FALSE(t.ok);
  EXPECT_NE(t.error.find("whether a branch is taken depends on elements of `x`"), t.error.npos)
      << t.error;
  // So does a length, but not where nothing goes by it.
  std::string length = "%l = arith.index_cast %v : i32 to index\n";
  t = timeWithElement("i32", length + "%m = arith.addi %l, %n : index");
  EXPECT_TRUE(t.ok) << t.error;
  t = timeWithElement("i32",
                      length + "scf.for %i = %c0 to %l step %n {\npto.barrier <PIPE_ALL>\n}");
  EXPECT_FALSE(t.ok);
  // So does the number of an event, even if nothing comes after it.
  t = timeWithElement("i32", length + "pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %l]\n"
                                      "pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %l]");
  EXPECT_FALSE(t.ok);
  EXPECT_NE(t.error.find("`set_flag` depends on elements of `x`"), t.error.npos) << t.error;
}

TEST(SimTime, ViewsAreValidJson) {
  Report report = reportOf(timeOf(loadText(readModule("twice.pto")), *findCosts("a3"), 3));
  nlohmann::json trace = nlohmann::json::parse(writeChromeTrace(report));
  int tasks = 0, arrows = 0, counters = 0;
  for (const nlohmann::json &event : trace["traceEvents"]) {
    tasks += event["ph"] == "X" && event["pid"] != 0;
    arrows += event["ph"] == "s";
    counters += event["ph"] == "C";
    if (event["name"] == "tload")
      EXPECT_EQ(event["args"]["source"], "k.ptl:3:7");
  }
  EXPECT_EQ(tasks, 12);
  EXPECT_GT(arrows, 3);
  EXPECT_GT(counters, 10);
  nlohmann::json lanes = nlohmann::json::parse(writeLanes(report));
  EXPECT_EQ(lanes["lanes"].size(), 3u);
  EXPECT_EQ(lanes["lanes"][0]["tasks"].size(), 3u + 3u * (lanes["lanes"][0]["lane"] == "aiv0.v"));
  EXPECT_NO_THROW((void)nlohmann::json::parse(writeSummary(report)));
  std::string page = writeSwimlane(report);
  size_t begin = page.find("const D=") + 8;
  std::string data = page.substr(begin, page.find(";\n", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(data)["tasks"].size(), 12u);
}

TEST(SimShared, RatesAreDividedFairly) {
  SharedRate rate(10);
  rate.join(0, 1, 100, 100);
  EXPECT_DOUBLE_EQ(rate.next(), 10);
  rate.join(5, 2, 100, 2); // takes its limit, 2; 8 are left for the first
  EXPECT_DOUBLE_EQ(rate.next(), 5 + 50.0 / 8);
  EXPECT_EQ(rate.leave(), 1u);
  EXPECT_DOUBLE_EQ(rate.next(), 55);
  EXPECT_EQ(rate.leave(), 2u);
  EXPECT_EQ(rate.next(), never);
}

TEST(SimShared, WhatALaunchMovedOfAllIsKnown) {
  SharedRate rate(10);
  rate.join(0, 1, 20, 100, 3, /*launch=*/5);
  rate.join(0, 2, 30, 100, 1, /*launch=*/6);
  EXPECT_DOUBLE_EQ(rate.next(), 8); // each of the four gets 2.5
  EXPECT_EQ(rate.leave(), 1u);
  EXPECT_DOUBLE_EQ(rate.partOfLaunch(), 0.75);
  EXPECT_DOUBLE_EQ(rate.next(), 9); // 10 bytes are left, and nobody else wants any
  EXPECT_EQ(rate.leave(), 2u);
  EXPECT_DOUBLE_EQ(rate.partOfLaunch(), 1);
}

TEST(SimShared, TransfersRepresentMoreFromSomeTimeOn) {
  SharedRate rate(10);
  rate.join(0, 1, 100, 100);
  rate.raise(5, 1, 1);
  EXPECT_DOUBLE_EQ(rate.next(), 15); // 50 bytes each at a rate of 5
  rate.raise(5, 2, 1);               // what moves nothing is not there
  EXPECT_DOUBLE_EQ(rate.next(), 15);
}

TEST(SimShared, SecondLevelForgetsWhatWasNotTouchedForLong) {
  SecondLevel level(8 * 512, 512);
  uint32_t a = level.add(64 * 512, false), warm = level.add(2 * 512, true);
  View view;
  view.elem = ElemKind::F32;
  view.rank = 2;
  view.shape[0] = 4;
  view.shape[1] = 128;
  view.strides[0] = 128;
  view.strides[1] = 1;
  EXPECT_EQ(level.touch(a, view), 4 * 512);
  EXPECT_EQ(level.touch(a, view), 0);
  View two = view;
  two.shape[0] = 2;
  EXPECT_EQ(level.touch(warm, two), 0);
  View far = view;
  far.shape[0] = 8;
  far.offset = 32 * 512;
  EXPECT_EQ(level.touch(a, far), 8 * 512);
  EXPECT_EQ(level.touch(a, view), 4 * 512);
}

TEST(SimShared, SecondLevelHasWhatOthersTouchedAndNoMore) {
  SecondLevel level(64 * 512, 512);
  uint32_t a = level.add(32 * 512, false);
  level.setTouched(a, {8 * 512, 12 * 512}, 0);
  level.setTouched(a, {2 * 512, 4 * 512}, 0);
  level.setTouched(a, {4 * 512, 6 * 512}, 0);
  View view;
  view.elem = ElemKind::F32;
  view.rank = 1;
  view.shape[0] = 16 * 128;
  view.strides[0] = 1;
  ByteRange touched;
  EXPECT_EQ(level.touch(a, view, &touched), (16 - 8) * 512);
  EXPECT_EQ(touched.begin, 0);
  EXPECT_EQ(touched.end, 16 * 512);
  view.shape[0] = 128;
  view.offset = 20 * 512;
  EXPECT_EQ(level.touch(a, view, &touched), 512);
  EXPECT_EQ(touched.end, 21 * 512);
}

TEST(SimShared, WhatOthersTouchedLeavesTheSecondLevelInTime) {
  SecondLevel level(8 * 512, 512);
  uint32_t a = level.add(16 * 512, false);
  View view;
  view.elem = ElemKind::F32;
  view.rank = 1;
  view.shape[0] = 4 * 128;
  view.strides[0] = 1;
  level.setTouched(a, {0, 6 * 512}, 0);
  level.forget(4 * 512);
  level.setTouched(a, {2 * 512, 4 * 512}, level.filled());
  level.forget(4 * 512);
  // What was touched last is still there, between what was touched before.
  EXPECT_EQ(level.touch(a, view), 2 * 512);
  view.offset = 4 * 512;
  view.shape[0] = 2 * 128;
  EXPECT_EQ(level.touch(a, view), 2 * 512);
  // Of what is more than the cache holds the beginning has left it when the end is touched.
  uint32_t b = level.add(16 * 512, false), since = level.filled();
  level.forget(16 * 512);
  level.setTouched(b, {0, 16 * 512}, since);
  view.offset = 0;
  view.shape[0] = 128;
  EXPECT_EQ(level.touch(b, view), 512);
  view.offset = 15 * 512;
  EXPECT_EQ(level.touch(b, view), 0);
}

TEST(SimShared, LimitsThatOccurOnceLeaveNothingBehind) {
  SharedRate rate(1000);
  for (uint32_t i = 0; i < 100; ++i)
    rate.join(0, i, 10, 1 + 0.01 * i);
  Cycles last = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(rate.next(), last);
    last = rate.next();
    rate.leave();
  }
  EXPECT_EQ(rate.next(), never);
  rate.join(last, 7, 10, 1);
  EXPECT_DOUBLE_EQ(rate.next(), last + 10);
}

} // namespace ptl::rt::sim::time_test
