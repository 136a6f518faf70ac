// `ptlc run --shape host=2,chip=4`: programs whose arrays lie over the parts of levels.
#pragma once

#include "codegen/parts/run_parts.h"
#include "codegen/reference/interpreter.h"
#include "driver/ir/run_ranks.h"
#include "driver/session.h"

#include <memory>
#include <optional>
#include <string>

namespace ptl {

/// What `--shape` and what belongs to it say.
struct RunShape {
  parts::MachineShape shape; ///< the name of the only level may be left out, and is empty
  std::shared_ptr<Ranks>
      ranks; ///< of which this process is one; null before, and with `--in-process`
  bool inProcess = false;

  /// Whether ranks are to be started, of which this process is none.
  bool isToStart() const { return !inProcess && !ranks; }
  /// Of ranks one has the results.
  bool hasResults() const { return !ranks || ranks->rank() == 0; }
};

/// The levels and counts of `--shape`; reports what is none. Nothing if it is not given, or was reported.
std::optional<parts::MachineShape> shapeGiven(Session &session, uint32_t mostParts);

/// What `--shape` says; reports what cannot be run so. Nothing if it is not given, or was reported.
std::optional<RunShape> shapeOfRun(Session &session);

/// A program with the parts that a shape has for it.
struct OnShape {
  PlacedProgram placed;
  parts::MachineShape shape;
  std::vector<uint32_t> counts;
};

/// The placed program; nothing, and the reason, if it is none.
std::optional<PlacedProgram> placedProgram(const CheckedProgram &program, const CallableDecl &decl,
                                           std::string &why);

/// Nothing, and the reason, if the program cannot be laid out on the shape.
std::optional<OnShape> layOut(const CheckedProgram &program, const CallableDecl &decl,
                              const parts::MachineShape &shape, std::string &why);

/// Starts the program on ranks of its own and stays until they are gone. What no rank has said is reported.
ExitCode startRanks(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                    const RunShape &shape);

/// Runs a program on its parts as if they were one machine. `files`: of ranks, what each reads and writes
/// by itself.
reference::RunResult runOnShape(Session &session, const CheckedProgram &program,
                                const CallableDecl &decl, std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape,
                                parts::PartFiles *files);

} // namespace ptl
