// Measures what a task costs: ptl_task_bench [options of Google Benchmark]. All contestants take
// turns in one run; medians and their ratios are printed at the end.
#include "bench/task_shapes.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <functional>
#include <map>

using namespace ptl::bench;

namespace {

using Make = std::unique_ptr<Contestant> (*)(const Shape &, int);

struct Named {
  const char *name;
  Make make;
};

const std::vector<Named> contestants = {
    {"ptl", makePtl},
#ifdef PTL_BENCH_TBB
    {"tbb", makeTbb},
#endif
#ifdef PTL_BENCH_OPENMP
    {"openmp", makeOpenMp},
#endif
};

enum class Way { Replay, Build, Defer, Follow };
constexpr std::pair<Way, const char *> ways[] = {
    {Way::Replay, "replay"}, {Way::Build, "build"}, {Way::Defer, "defer"}, {Way::Follow, "follow"}};

/// False if the contestant has no such way.
bool runOnce(Contestant &contestant, Way way) {
  if (way == Way::Replay)
    return contestant.replay();
  if (way == Way::Defer)
    return contestant.defer();
  if (way == Way::Follow)
    return contestant.follow();
  contestant.build();
  return true;
}

void measure(benchmark::State &state, const Shape &shape, Make make, int threads, Way way) {
  std::unique_ptr<Contestant> contestant = make(shape, threads);
  for (auto _ : state)
    runOnce(*contestant, way);
  double tasks = double(shape.tasks.size()) * double(state.iterations());
  state.counters["per_task"] =
      benchmark::Counter(tasks, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Keeps the medians while it prints.
class Medians : public benchmark::ConsoleReporter {
public:
  using ConsoleReporter::ConsoleReporter;
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs)
      if (run.aggregate_name == "median")
        nanoseconds[run.run_name.function_name] = run.counters.at("per_task").value * 1e9;
    ConsoleReporter::ReportRuns(runs);
  }
  std::map<std::string, double> nanoseconds;
};

void printRatios(const Medians &medians, const std::vector<std::string> &cases) {
  std::printf("\n%-28s", "ns per task, medians");
  for (const Named &contestant : contestants)
    std::printf("%12s", contestant.name);
  std::printf("   times ptl\n");
  for (const std::string &name : cases) {
    std::printf("%-28s", name.c_str());
    std::vector<double> values;
    for (const Named &contestant : contestants) {
      auto found = medians.nanoseconds.find(name + "/" + contestant.name);
      values.push_back(found == medians.nanoseconds.end() ? 0 : found->second);
      values.back() == 0 ? std::printf("%12s", "-") : std::printf("%12.1f", values.back());
    }
    for (size_t i = 1; i < values.size(); ++i)
      if (values[i] != 0 && values[0] != 0)
        std::printf("   %s %.1f", contestants[i].name, values[i] / values[0]);
    std::printf("\n");
  }
}

} // namespace

int main(int argc, char **argv) {
  std::vector<char *> arguments(argv, argv + argc);
  char repetitions[] = "--benchmark_repetitions=7";
  char interleaved[] = "--benchmark_enable_random_interleaving=true";
  char aggregates[] = "--benchmark_report_aggregates_only=true";
  arguments.insert(arguments.begin() + 1, {repetitions, interleaved, aggregates});
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  std::vector<Shape> all = shapes();
  std::vector<std::string> cases;
  for (int threads : {1, 2})
    for (auto [way, wayName] : ways)
      for (const Shape &shape : all) {
        // With several threads nothing runs in the place of submitting it.
        if (way == Way::Defer && threads != 1)
          continue;
        std::string name = shape.name + "/" + wayName + "/" + std::to_string(threads) + "_threads";
        cases.push_back(name);
        for (const Named &contestant : contestants)
          if (runOnce(*contestant.make(shape, threads), way))
            benchmark::RegisterBenchmark(
                (name + "/" + contestant.name).c_str(),
                [&shape, make = contestant.make, threads, way = way](benchmark::State &state) {
                  measure(state, shape, make, threads, way);
                })
                ->UseRealTime()
                ->Unit(benchmark::kMicrosecond);
      }
  Medians medians(benchmark::ConsoleReporter::OO_None);
  benchmark::RunSpecifiedBenchmarks(&medians);
  printRatios(medians, cases);
}
