// Checkpoints on the command line: `ptlc run --resume`, `ptlc check --checkpoint`.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "driver/session.h"

namespace ptl {

/// Warns if the program has checkpoints but this run saves none, and reports a `--resume` that is
/// impossible. Returns false after an error. `onParts`: the program runs with `--shape`.
bool checkpointsAreMet(Session &session, const CallableDecl &decl, bool onParts);

/// Whether the latest checkpoint with a manifest fits the program, so that the run can resume from
/// it. The run itself verifies the files.
bool canResume(Session &session, const PlacedProgram &placed);

/// Implements `--checkpoint`: checks whether the program can resume from that checkpoint.
void checkCheckpoint(Session &session, const CheckedProgram &program, const std::string &folder);

/// The options by which a run on parts saves and resumes. Warnings are reported once, by the
/// process that gets the results.
parts::CheckpointOptions checkpointOptions(Session &session);

} // namespace ptl
