#include "driver/ir/commands.h"
#include "driver/ir/cpu_handler.h"
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
};

Measurement measure(CpuExecutor &executor, NativeCall &call, CallResult &result) {
  std::vector<double> times;
  double total = 0;
  while (!result.failure && result.compiled && times.size() < kMostRuns &&
         (times.size() < kFewestRuns || total < kSecondsPerCall)) {
    Clock::time_point start = Clock::now();
    result = call.call(executor, std::move(result.outputs));
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  Measurement measurement;
  if (times.empty())
    return measurement;
  std::sort(times.begin(), times.end());
  measurement.runs = times.size();
  measurement.median = times[times.size() / 2];
  measurement.low = times[times.size() / 10];
  measurement.high = times[times.size() * 9 / 10];
  measurement.bytes = call.argumentBytes();
  for (const rt::OwnedArray &output : result.outputs)
    measurement.bytes += output.bytes();
  return measurement;
}

std::string asJson(const std::vector<Measurement> &measurements) {
  JsonWriter json;
  json.beginArray();
  for (const Measurement &each : measurements) {
    auto nanoseconds = [](double seconds) { return static_cast<int64_t>(seconds * 1e9); };
    json.beginObject().field("bench", each.bench).field("entry", each.callee);
    json.field("median_ns", nanoseconds(each.median)).field("p10_ns", nanoseconds(each.low));
    json.field("p90_ns", nanoseconds(each.high)).field("bytes", each.bytes);
    json.field("runs", static_cast<int64_t>(each.runs)).endObject();
  }
  json.endArray();
  return json.take();
}

void print(const std::vector<Measurement> &measurements) {
  for (const Measurement &each : measurements)
    std::printf("%-32s %-20s %10.1f us  (%.1f .. %.1f, %zu runs)  %8.2f GB/s\n", each.bench.c_str(),
                each.callee.c_str(), each.median * 1e6, each.low * 1e6, each.high * 1e6, each.runs,
                static_cast<double>(each.bytes) / each.median * 1e-9);
}

ExitCode benchFile(Session &session, const CheckedProgram &program,
                   std::vector<Measurement> &measurements) {
  CpuExecutor executor(program, session.sources(), compilerOptions(session.options()),
                       session.sink());
  for (const CallableDecl *decl : program.modules.front()->callables) {
    bool chosen = decl->name.find(session.options().value(OptionId::Filter)) != std::string::npos;
    if (decl->kind != DeclKind::Bench || !chosen)
      continue;
    reference::RunOptions options;
    options.handler =
        cpuHandler(executor, session.sources(), [&](NativeCall &call, CallResult &result) {
          Measurement measurement = measure(executor, call, result);
          measurement.bench = decl->name;
          measurement.callee = call.request().callee->name;
          if (measurement.runs > 0)
            measurements.push_back(std::move(measurement));
        });
    reference::RunResult result = reference::runBody(program, session.sources(), *decl, options);
    if (!result.ok()) {
      session.sink().report(DiagId::ProgramStopped, result.span, {result.message});
      return executor.compiler().hadInternalError() ? ExitCode::Internal : ExitCode::ProgramStopped;
    }
  }
  return ExitCode::Fine;
}

} // namespace

ExitCode runBench(const Options &options) {
  Session session(options);
  std::vector<Measurement> measurements;
  for (const std::string &path : options.positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (!program || session.failed())
      return session.finish();
    if (ExitCode code = benchFile(session, *program, measurements); code != ExitCode::Fine)
      return session.finish(code);
  }
  if (options.has(OptionId::Json))
    std::fputs(asJson(measurements).c_str(), stdout);
  else
    print(measurements);
  return session.finish();
}

} // namespace ptl
