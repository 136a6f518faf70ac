// `ptlc run --shape chip=4 --in-process`: programs whose arrays lie over the parts of a level.
#pragma once

#include "codegen/reference/interpreter.h"
#include "driver/session.h"

#include <optional>
#include <string>

namespace ptl {

/// How many parts of which level a program runs on; the level may be left out.
struct RunShape {
  std::string level;
  uint32_t parts = 1;
};

/// What `--shape` says; reports what cannot be run so. Nothing if it is not given, or was reported.
std::optional<RunShape> shapeOfRun(Session &session);

/// Runs a program on its parts as if they were one machine.
reference::RunResult runOnShape(Session &session, const CheckedProgram &program,
                                const CallableDecl &decl, std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape);

} // namespace ptl
