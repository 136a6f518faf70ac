// Checkpoints on the command line: `ptlc run --resume`, `ptlc check --checkpoint`.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "driver/session.h"

namespace ptl {

/// Reports a program whose checkpoints this run would not save, or that `--resume` asks too much of; false
/// if it cannot go on. `onParts`: it runs with `--shape`.
bool checkpointsAreMet(Session &session, const CallableDecl &decl, bool onParts);

/// Before a run goes on from there: whether the latest checkpoint that has a manifest fits the program. What
/// its files hold is looked at by the run.
bool canResume(Session &session, const PlacedProgram &placed);

/// What `--checkpoint` asks: whether the program can go on from that checkpoint.
void checkCheckpoint(Session &session, const CheckedProgram &program, const std::string &folder);

/// How a run on parts saves and resumes; what is notable is reported once, by who has the results.
parts::CheckpointOptions checkpointOptions(Session &session);

} // namespace ptl
