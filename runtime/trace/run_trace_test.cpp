#include "runtime/trace/run_trace.h"

#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace ptl::rt;
using nlohmann::json;

namespace {

constexpr PtlPlace makes{"makes", "p.ptl", 3, 1}, doubles{"doubles", "p.ptl", 4, 1},
    adds{"adds", "p.ptl", 5, 1};

struct Cells {
  int64_t *from, *other, *to;
};

void addCells(PtlContext *, int64_t begin, int64_t end, void *closure) {
  auto *cells = static_cast<const Cells *>(closure);
  for (int64_t i = begin; i < end; ++i)
    cells->to[i] = cells->from[i] + cells->other[i];
}

/// a = x + x; b = a + a; c = x + x; y = b + c: of four tasks the first and the third are free.
void diamond(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
             const PtlScalar *) {
  auto *x = static_cast<int64_t *>(arrays[0]->data), *y = static_cast<int64_t *>(arrays[1]->data);
  int64_t count = dims[0];
  auto make = [&] {
    return static_cast<int64_t *>(ptl_rt_alloc(context, count * int64_t(sizeof(int64_t))));
  };
  auto submit = [&](Cells cells, const PtlPlace &place) {
    int64_t words[9];
    int32_t accesses = 0;
    for (int64_t *cell : {cells.to, cells.from, cells.other}) {
      if (cell == x)
        continue;
      words[3 * accesses] = reinterpret_cast<int64_t>(cell);
      words[3 * accesses + 1] = cell == cells.to;
      words[3 * accesses + 2] = -1;
      ++accesses;
    }
    ptl_rt_submit(context, addCells, count, &cells, sizeof(cells), words, accesses, &place);
  };
  int64_t *a = make(), *b = make(), *c = make();
  submit({x, x, a}, makes);
  submit({a, a, b}, doubles);
  submit({x, x, c}, makes);
  submit({b, c, y}, adds);
  for (int64_t *memory : {a, b, c})
    ptl_rt_release(context, memory);
}

/// Records a run with so many threads; `isStatic` as for programs.
void record(Recorder &recorder, int threads, int32_t isStatic) {
  ThreadPool pool(threads);
  Recorder::ofThread() = &recorder;
  PtlContext context(pool);
  Recorder::ofThread() = nullptr;
  std::vector<int64_t> x(5000, 1), y(5000);
  PtlArray in{}, out{};
  in.data = x.data();
  out.data = y.data();
  const PtlArray *arrays[] = {&in, &out};
  int64_t count = 5000, number = 0;
  PtlProgram program{diamond, &number, 1, 0, isStatic};
  ASSERT_EQ(ptl_rt_program(&context, &program, arrays, &count, nullptr), 0);
  ASSERT_EQ(y, std::vector<int64_t>(5000, 6));
}

} // namespace

TEST(RunTrace, EveryPointOfEveryTaskIsThereInAnOrderThatTheDataAllow) {
  for (int threads : {1, 2, 8})
    for (int32_t isStatic : {0, 1}) {
      Recorder recorder(threads);
      record(recorder, threads, isStatic);
      json trace = json::parse(trace::writeRunChrome({"diamond", "cpu", {{"N", 5000}}, &recorder}));
      std::map<int, double> start, stop;
      std::map<int, int64_t> points;
      int leaves = 0, arrives = 0;
      for (const json &event : trace["traceEvents"]) {
        leaves += event["ph"] == "s";
        arrives += event["ph"] == "f";
        if (event["ph"] != "X" || !event["args"].contains("task"))
          continue;
        int task = event["args"]["task"];
        double at = event["ts"], end = at + double(event["dur"]);
        start.try_emplace(task, at);
        start[task] = std::min(start[task], at);
        stop[task] = std::max(stop[task], end);
        int64_t from = 0, to = 0;
        std::string text = event["args"]["points"];
        ASSERT_EQ(std::sscanf(text.c_str(), "%ld..%ld", &from, &to), 2);
        points[task] += to - from;
        std::string line = std::to_string(task == 2 ? 4 : task == 4 ? 5 : 3);
        EXPECT_EQ(event["args"]["source"], "p.ptl:" + line);
      }
      EXPECT_EQ(points, (std::map<int, int64_t>{{1, 5000}, {2, 5000}, {3, 5000}, {4, 5000}}));
      EXPECT_EQ(leaves, 3);
      EXPECT_EQ(arrives, 3);
      EXPECT_GE(start[2], stop[1] - 1e-3);
      EXPECT_GE(start[4], stop[2] - 1e-3);
      EXPECT_GE(start[4], stop[3] - 1e-3);
    }
}

TEST(RunTrace, LanesSayWhyThreadsWereIdle) {
  for (int threads : {1, 2, 8}) {
    Recorder recorder(threads);
    record(recorder, threads, 1);
    json lanes = json::parse(trace::writeRunLanes({"diamond", "cpu", {{"N", 5000}}, &recorder}));
    EXPECT_EQ(lanes["format"], "ptl-timeline");
    EXPECT_EQ(lanes["tasks"], 4);
    EXPECT_EQ(lanes["dependences"], 3);
    EXPECT_EQ(lanes["dims"]["N"], 5000);
    // On one thread nothing is placed ahead. b and c are live with a or with each other.
    EXPECT_EQ(lanes.contains("storage"), threads != 1);
    if (threads != 1) {
      EXPECT_EQ(lanes["storage"]["unshared_bytes"], 3 * 40000);
      EXPECT_LE(lanes["storage"]["bytes"], lanes["storage"]["unshared_bytes"]);
    }
    ASSERT_EQ(lanes["lanes"].size(), size_t(threads));
    const std::set<std::string> causes = {"dependence", "program", "scheduler", "end"};
    for (const json &lane : lanes["lanes"]) {
      double last = 0;
      for (const json &task : lane["tasks"]) {
        EXPECT_GE(double(task["start"]), last - 1e-3);
        last = task["end"];
      }
      for (const json &gap : lane["gaps"]) {
        EXPECT_TRUE(causes.count(gap["cause"]));
        EXPECT_EQ(gap["cause"] == "dependence", gap.contains("waits_for"));
        EXPECT_GT(double(gap["end"]), double(gap["start"]));
      }
    }
    double path = 0, all = lanes["us"];
    for (const auto &[part, time] : lanes["critical_path"].items())
      path += double(time);
    EXPECT_LE(path, all * 1.001 + 0.01);
    EXPECT_GT(path, 0);
  }
}

TEST(RunTrace, GridsOfKernelsFollowEachOther) {
  ThreadPool pool(2);
  Recorder recorder(2);
  Recorder::ofThread() = &recorder;
  PtlContext context(pool);
  Recorder::ofThread() = nullptr;
  std::vector<int64_t> x(100, 1), y(100);
  Cells cells{x.data(), x.data(), y.data()};
  ptl_rt_grid(&context, addCells, 100, &cells, &makes);
  ptl_rt_grid(&context, addCells, 0, &cells, &makes);
  ptl_rt_grid(&context, addCells, 100, &cells, &adds);
  json lanes = json::parse(trace::writeRunLanes({"k", "cpu", {}, &recorder}));
  EXPECT_EQ(lanes["tasks"], 2);
  EXPECT_EQ(lanes["dependences"], 1);
}
