#include "driver/ir/commands.h"

namespace ptl {

static ExitCode planned(const Options &options, const char *command) {
  Session session(options);
  session.sink().report(DiagId::CommandPlanned, kNoSpan, {command});
  return session.finish(ExitCode::Missing);
}

ExitCode runTest(const Options &options) { return planned(options, "test"); }
ExitCode runBench(const Options &options) { return planned(options, "bench"); }

} // namespace ptl
