// Checkpoints on the command line: `ptlc run --resume`, `ptlc check --checkpoint`.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "driver/session.h"

namespace ptl {

/// Warns if this run saves no checkpoints although the program has some, and reports a `--resume` that is not
/// possible; false after an error. `onParts`: the program runs with `--shape`.
bool checkpointsAreMet(Session &session, const CallableDecl &decl, bool onParts);

/// Whether the latest checkpoint that has a manifest fits the program, before the run goes on from it. The
/// run itself verifies the files.
bool canResume(Session &session, const PlacedProgram &placed);

/// Carries out `--checkpoint`: checks whether the program can go on from that checkpoint.
void checkCheckpoint(Session &session, const CheckedProgram &program, const std::string &folder);

/// How a run on parts saves and resumes. Warnings are reported once, by the process that gets the results.
parts::CheckpointOptions checkpointOptions(Session &session);

} // namespace ptl
