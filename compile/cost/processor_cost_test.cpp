// The least times of programs on this processor, with rates that the tests choose.
#include "compile/cost/cost_views.h"
#include "compile/cost/processor_cost.h"

#include "frontend/sema/check.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace ptl {
namespace {

/// 1 GB/s copied, 2 read, ten times that in the cache; 1 GFLOP/s of `f32`.
MachinePeaks slowMachine() {
  MachinePeaks peaks;
  peaks.bytes = 1e9;
  peaks.readBytes = 2e9;
  peaks.cacheBytes = 1e10;
  peaks.cacheReadBytes = 2e10;
  peaks.flops = 1e9;
  peaks.doubleFlops = 5e8;
  peaks.bf16Flops = 2e9;
  peaks.halfFlops = 1e9;
  peaks.pairFlops = 4e9;
  peaks.byteFlops = 8e9;
  return peaks;
}

Cost costOf(const std::string &text, const ExampleSizes &sizes,
            const MachinePeaks &peaks = slowMachine(), const Wanted &wanted = {}) {
  SourceManager sources;
  DiagnosticSink sink;
  CheckOptions check;
  check.stdPath = PTL_STD_PATH;
  auto program = checkFile(sources, sources.add("k.ptl", text), check, sink);
  EXPECT_EQ(sink.errorCount(), 0u);
  const CallableDecl &decl = *program->modules.front()->callables.front();
  std::string problem;
  std::vector<BoundEntry> entries = bindEntries(*program, decl, wanted, problem);
  EXPECT_EQ(problem, "");
  Cost cost = processorCost({*program, sources, entries.at(0), {}, sizes}, peaks);
  EXPECT_FALSE(costText(cost, sources).empty());
  return cost;
}

const StatementWork &only(const Cost &cost) {
  EXPECT_EQ(cost.statements.size(), 1u);
  return *cost.statements.at(0).work;
}

TEST(ProcessorCost, aProductOfFloats) {
  Cost cost =
      costOf("pub program f[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c = a @ b }",
             {{"M", 97}, {"N", 41}, {"K", 7}});
  const StatementWork &work = only(cost);
  EXPECT_EQ(work.operations, 2 * 97 * 41 * 7);
  EXPECT_EQ(work.reads, 4 * (97 * 7 + 7 * 41)) << "each element once, whatever tiles there are";
  EXPECT_EQ(work.writes, 4 * 97 * 41);
  EXPECT_EQ(work.by, "f32 multiply-adds");
  EXPECT_NEAR(cost.us, 2 * 97 * 41 * 7 / 1e3, 1e-6);
  EXPECT_EQ(cost.bound, "bound by f32 multiply-adds 100 %");
  EXPECT_TRUE(cost.isLeast);
}

TEST(ProcessorCost, productsHaveTheRatesOfTheirTypes) {
  auto by = [](const char *in, const char *out) {
    std::string text = std::string("pub program f[N](a: ") + in + "[N, N], b: " + in +
                       "[N, N]) -> (c: " + out + "[N, N]) { c = " + out + "(a @ b) }";
    Cost cost = costOf(text, {{"N", 256}});
    return std::pair(cost.statements.at(0).work->by, cost.us / (2.0 * 256 * 256 * 256 / 1e3));
  };
  EXPECT_EQ(by("f64", "f64").first, "f64 multiply-adds");
  EXPECT_NEAR(by("f64", "f64").second, 2, 0.01);
  EXPECT_EQ(by("bf16", "f32").first, "bf16 multiply-adds");
  EXPECT_NEAR(by("bf16", "f32").second, 0.5, 0.01);
  EXPECT_EQ(by("f16", "f32").first, "f32 multiply-adds");
  EXPECT_EQ(by("i8", "i32").first, "integer multiply-adds");
  EXPECT_NEAR(by("i8", "i32").second, 0.125, 0.01);
  EXPECT_NEAR(by("i16", "i32").second, 0.25, 0.01);
}

TEST(ProcessorCost, whatIsFusedIsNoArray) {
  Cost cost = costOf("import std.nn\npub program f[R, C](x: f32[R, C]) -> (y: f32[R, C])\n"
                     "{\n    let s = x * 2.0\n    y = nn.softmax(s)\n}\n",
                     {{"R", 33}, {"C", 1000}});
  double reads = 0, writes = 0;
  for (const StatementCost &each : cost.statements) {
    if (each.span.file != cost.statements.front().span.file)
      continue; // statements of the library are in one of the entry
    reads += each.work->reads;
    writes += each.work->writes;
  }
  EXPECT_EQ(reads, 4 * 33 * 1000);
  EXPECT_EQ(writes, 4 * 33 * 1000);
}

TEST(ProcessorCost, whatIsStoredBetweenIsWrittenAndRead) {
  Cost cost =
      costOf("pub program f[N](x: f32[N, N]) -> (y: f32[N, N], s: f32[1, N])\n"
             "{\n    let d = x * 2.0\n    s = sum(d, axis: 0)\n    y = cumsum(d, axis: 1) + s\n}\n",
             {{"N", 64}});
  double reads = 0;
  for (const StatementCost &each : cost.statements)
    reads += each.work->reads;
  EXPECT_GE(reads, 2 * 4 * 64 * 64) << "the array, and once more";
  EXPECT_GT(cost.us, 0);
}

TEST(ProcessorCost, loopsOfKernelsReadTheirArraysOnce) {
  Cost cost =
      costOf("pub kernel f[R, C](x: f32[R, C]) -> (y: f32[R, 1])\n{\n"
             "    parallel r in tiles(R, 16) {\n        var total = zeros(f32[r, 1])\n"
             "        for c in tiles(C, 100) {\n            total += sum(exp(x[r, c]), axis: 1)\n"
             "        }\n        y[r, :] = total\n    }\n}\n",
             {{"R", 37}, {"C", 250}});
  ASSERT_FALSE(cost.statements.empty());
  const StatementCost &grid = cost.statements.front();
  EXPECT_EQ(grid.kind, "loop");
  EXPECT_EQ(grid.work->reads, 4 * 37 * 250);
  EXPECT_EQ(grid.work->writes, 4 * 37);
  EXPECT_EQ(grid.work->by, "functions");
}

TEST(ProcessorCost, smallCallsAreInTheCache) {
  const char *text = "pub program f[N](x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }";
  MachinePeaks peaks = slowMachine();
  peaks.flops = 1e15;
  peaks.cacheSize = 1 << 20;
  Cost small = costOf(text, {{"N", 1 << 16}}, peaks), large = costOf(text, {{"N", 1 << 17}}, peaks);
  EXPECT_EQ(only(small).by, "cache");
  EXPECT_NEAR(small.us, 8.0 * (1 << 16) / 1e4, 1e-6);
  EXPECT_EQ(only(large).by, "memory");
  EXPECT_NEAR(large.us, 8.0 * (1 << 17) / 1e3, 1e-6);
  peaks.cacheSize = 0;
  EXPECT_EQ(only(costOf(text, {{"N", 1 << 16}}, peaks)).by, "memory");
}

TEST(ProcessorCost, readingAloneIsFasterThanCopying) {
  MachinePeaks peaks = slowMachine();
  peaks.flops = 1e15;
  Cost cost =
      costOf("pub program f[R, C](x: f32[R, C]) -> (y: f32[R]) { y = sum(x, axis: 1)[:, 0] }",
             {{"R", 100}, {"C", 1000}}, peaks);
  EXPECT_NEAR(cost.us, 4e5 / 2e3, 2);
}

TEST(ProcessorCost, nothingTakesNoTime) {
  Cost cost = costOf("pub program f[N](x: f32[N, 3]) -> (y: f32[N, 3]) { y = exp(x) }", {{"N", 0}});
  EXPECT_EQ(cost.unknown, "");
  EXPECT_EQ(cost.us, 0);
  EXPECT_TRUE(cost.statements.empty());
  EXPECT_EQ(cost.bound, "");
  nlohmann::json json = costJson(cost, [](Span) { return nlohmann::json::object(); });
  EXPECT_EQ(json["us"], 0);
  EXPECT_FALSE(json.contains("pipes"));
}

TEST(ProcessorCost, staticLengthsAreLengths) {
  Cost cost = costOf("pub kernel f[R, static C](x: f32[R, C]) -> (y: f32[R, C]) {\n"
                     "    parallel r in tiles(R, 8) { y[r, :] = x[r, :] * 2.0 }\n}\n",
                     {{"R", 9}}, slowMachine(), {{"f.C", "130"}});
  EXPECT_EQ(cost.statements.at(0).work->reads, 4 * 9 * 130);
}

TEST(ProcessorCost, whatDataDecidesIsAssumedAndTold) {
  Cost cost = costOf("pub program f[N](x: f32[N], least: f32) -> (y: f32[N])\n{\n    var now = x\n"
                     "    while sum(now) > least { now = now / 2.0 }\n    y = now\n}\n",
                     {{"N", 1000}});
  ASSERT_EQ(cost.decisions.size(), 1u);
  EXPECT_EQ(cost.decisions[0].text, "the loop runs once");
  EXPECT_EQ(cost.decisions[0].place, "k.ptl:4");
  EXPECT_GT(cost.us, 0);
}

TEST(ProcessorCost, dataThatDecidesOnLengthsLeavesNothingKnown) {
  Cost cost = costOf("pub program f[N](at: i32[N], x: f32[N, 64]) -> (y: f32[1, 64])\n{\n"
                     "    let n = int(at[0])\n    y = sum(x[0:n, :], axis: 0)\n}\n",
                     {{"N", 1000}});
  EXPECT_NE(cost.unknown, "");
  EXPECT_EQ(cost.us, 0);
}

TEST(ProcessorCost, withoutRatesNothingIsKnown) {
  Cost cost = costOf("pub program f[N](x: f32[N]) -> (y: f32[N]) { y = x }", {{"N", 10}}, {});
  EXPECT_EQ(cost.unknown, "the rates of this machine have not been measured");
}

TEST(ProcessorCost, ratesThatAreMeasuredAreThoseOfAMachine) {
  const MachinePeaks &peaks = hostPeaks();
  EXPECT_EQ(&peaks, &hostPeaks());
  for (double rate : {peaks.bytes, peaks.readBytes, peaks.flops, peaks.doubleFlops, peaks.bf16Flops,
                      peaks.halfFlops, peaks.pairFlops, peaks.byteFlops})
    EXPECT_TRUE(std::isfinite(rate) && rate > 1e7) << rate;
  EXPECT_NE(peaksText(peaks), "");
}

} // namespace
} // namespace ptl
