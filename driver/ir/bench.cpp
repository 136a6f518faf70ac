#include "compile/call/compiled_handler.h"
#include "compile/cost/machine_peaks.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "frontend/base/json.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ptl {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsPerCall = 0.5;
constexpr size_t kFewestRuns = 5, kMostRuns = 1000;

/// The times of one call, in seconds.
struct Measurement {
  std::string bench, callee;
  double median = 0, low = 0, high = 0; ///< low and high: the 10th and 90th of a hundred
  int64_t bytes = 0;                    ///< of arguments and results, each once
  size_t runs = 0;
  std::optional<Work> work; ///< nothing when data decides it
};

/// The limit that keeps a call from being shorter, and how near the call comes to it.
struct Limit {
  const char *name;
  double share; ///< of the machine's rate; above 1 when data stayed in a cache
};

std::optional<Limit> limitOf(const Measurement &measurement, const MachinePeaks &peaks) {
  if (!measurement.work || peaks.bytes <= 0 || peaks.flops <= 0 || peaks.doubleFlops <= 0)
    return std::nullopt;
  auto doubleFlops = static_cast<double>(measurement.work->doubleFlops);
  double memory = static_cast<double>(measurement.bytes) / peaks.bytes;
  double compute = (static_cast<double>(measurement.work->flops) - doubleFlops) / peaks.flops +
                   doubleFlops / peaks.doubleFlops;
  // Moving and computing overlap, so the longer one is the limit.
  return memory >= compute ? Limit{"memory", memory / measurement.median}
                           : Limit{"compute", compute / measurement.median};
}

double gigaflops(const Measurement &measurement) {
  return static_cast<double>(measurement.work->flops) / measurement.median * 1e-9;
}

Measurement measure(CompiledExecutor &executor, CompiledCall &call, CallResult &result) {
  std::vector<double> times;
  double total = 0;
  while (!result.failure && result.compiled && times.size() < kMostRuns &&
         (times.size() < kFewestRuns || total < kSecondsPerCall)) {
    Clock::time_point start = Clock::now();
    // The outputs are used again, so that memory for them is not measured.
    result = call.call(executor, std::move(result.outputs));
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  Measurement measurement;
  if (times.empty())
    return measurement;
  std::sort(times.begin(), times.end());
  measurement.runs = times.size();
  // The median ignores what other processes take away now and then.
  measurement.median = times[times.size() / 2];
  measurement.low = times[times.size() / 10];
  measurement.high = times[times.size() * 9 / 10];
  measurement.bytes = call.argumentBytes();
  for (const rt::OwnedArray &output : result.outputs)
    measurement.bytes += output.bytes();
  measurement.work = call.work(executor, result.outputs);
  return measurement;
}

std::string decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string asJson(const std::vector<Measurement> &measurements, const MachinePeaks &peaks) {
  JsonWriter json;
  json.beginArray();
  for (const Measurement &each : measurements) {
    auto nanoseconds = [](double seconds) { return static_cast<int64_t>(seconds * 1e9); };
    json.beginObject().field("bench", each.bench).field("entry", each.callee);
    json.field("median_ns", nanoseconds(each.median)).field("p10_ns", nanoseconds(each.low));
    json.field("p90_ns", nanoseconds(each.high)).field("bytes", each.bytes);
    if (each.work)
      json.field("flops", each.work->flops).key("gflops").raw(decimal(gigaflops(each), 3));
    if (std::optional<Limit> limit = limitOf(each, peaks))
      json.field("limit", limit->name).key("share").raw(decimal(limit->share * 100, 3));
    json.field("runs", static_cast<int64_t>(each.runs)).endObject();
  }
  json.endArray();
  return json.take();
}

void print(const std::vector<Measurement> &measurements, const MachinePeaks &peaks) {
  for (const Measurement &each : measurements) {
    std::printf("%-32s %-20s %10.1f us  (%.1f .. %.1f, %zu runs)  %8.2f GB/s", each.bench.c_str(),
                each.callee.c_str(), each.median * 1e6, each.low * 1e6, each.high * 1e6, each.runs,
                static_cast<double>(each.bytes) / each.median * 1e-9);
    if (each.work)
      std::printf("  %8.2f GFLOP/s", gigaflops(each));
    if (std::optional<Limit> limit = limitOf(each, peaks))
      std::printf("  %5.1f %% of %s", limit->share * 100, limit->name);
    std::printf("\n");
  }
  if (std::string machine = peaksText(peaks); !measurements.empty() && !machine.empty())
    std::printf("%s\n", machine.c_str());
}

ExitCode benchFile(Session &session, const Target &target, const CheckedProgram &program,
                   std::vector<Measurement> &measurements) {
  CompiledExecutor executor(program, session.sources(), compilerOptions(session.options(), target),
                            session.sink());
  for (const CallableDecl *decl : program.modules.front()->callables) {
    bool chosen = decl->name.find(session.options().value(OptionId::Filter)) != std::string::npos;
    if (decl->kind != DeclKind::Bench || !chosen)
      continue;
    reference::RunOptions options;
    options.handler =
        compiledHandler(executor, session.sources(), [&](CompiledCall &call, CallResult &result) {
          Measurement measurement = measure(executor, call, result);
          measurement.bench = decl->name;
          measurement.callee = call.request().callee->name;
          if (measurement.runs > 0)
            measurements.push_back(std::move(measurement));
        });
    reference::RunResult result = reference::runBody(program, session.sources(), *decl, options);
    if (!result.ok()) {
      session.sink().report(DiagId::ProgramStopped, result.span, {result.message});
      return executor.hadInternalError() ? ExitCode::Internal : ExitCode::ProgramStopped;
    }
  }
  return ExitCode::Fine;
}

} // namespace

ExitCode runBench(const Options &options) {
  Session session(options);
  std::optional<Target> target = chosenTarget(session);
  if (!target)
    return session.finish(ExitCode::Usage);
  if (std::optional<ExitCode> code = processorProblem(session, &*target, true))
    return *code;
  if (target->name != "cpu") {
    session.sink().report(DiagId::TargetCannotRun, kNoSpan,
                          {target->name, "only `cpu` is measured"});
    return session.finish(ExitCode::Missing);
  }
  std::vector<Measurement> measurements;
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      return session.finish();
    if (ExitCode code = benchFile(session, *target, *program, measurements); code != ExitCode::Fine)
      return session.finish(code);
  }
  // A filter that fits nothing, such as one with a slip of the pen, must not look like success.
  if (measurements.empty() && options.has(OptionId::Filter)) {
    session.sink().report(DiagId::BadRunArgument, kNoSpan,
                          {"--filter " + std::string(options.value(OptionId::Filter)),
                           "no `bench` has a name that contains this"});
    return session.finish();
  }
  if (measurements.empty() && !options.has(OptionId::Json))
    std::fputs("there is no bench block to measure\n", stderr);
  MachinePeaks peaks;
  if (!measurements.empty())
    // Measuring the machine takes time, and is needed only beside results.
    peaks = hostPeaks();
  if (options.has(OptionId::Json))
    std::fputs(asJson(measurements, peaks).c_str(), stdout);
  else
    print(measurements, peaks);
  return session.finish();
}

} // namespace ptl
