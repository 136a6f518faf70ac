// `ptlc run --shape host=2,chip=4`: runs programs whose arrays lie over the parts of levels.
#pragma once

#include "codegen/parts/run_parts.h"
#include "codegen/reference/interpreter.h"
#include "driver/ir/run_ranks.h"
#include "driver/session.h"

#include <memory>
#include <optional>
#include <string>

namespace ptl {

/// The values of `--shape` and `--in-process`.
struct RunShape {
  parts::MachineShape shape; ///< the name is empty if the only level has none on the command line
  std::shared_ptr<Ranks>
      ranks; ///< the ranks; null in the process that starts them, and with `--in-process`
  bool inProcess = false;

  /// Whether this process has to start the ranks.
  bool isToStart() const { return !inProcess && !ranks; }
  /// Whether this process gets the results: of ranks only the first one does.
  bool hasResults() const { return !ranks || ranks->rank() == 0; }
};

/// The levels and counts of `--shape`. Nothing without the option, and after reporting that it is wrong.
std::optional<parts::MachineShape> shapeGiven(Session &session, uint32_t mostParts);

/// The shape of this run. Nothing without `--shape`, and after reporting that it cannot be run.
std::optional<RunShape> shapeOfRun(Session &session);

/// A placed program and the number of parts that a shape has of each of its levels.
struct OnShape {
  PlacedProgram placed;
  parts::MachineShape shape;
  std::vector<uint32_t> counts;
};

/// Places a program. Nothing, and the reason, if its header places no array or its placements do not agree.
std::optional<PlacedProgram> placedProgram(const CheckedProgram &program, const CallableDecl &decl,
                                           std::string &why);

/// Nothing, and the reason, if the program cannot be laid out on the shape.
std::optional<OnShape> layOut(const CheckedProgram &program, const CallableDecl &decl,
                              const parts::MachineShape &shape, std::string &why);

/// Starts the program on ranks and waits until they have ended. Reports a failure that no rank has reported.
ExitCode startRanks(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                    const RunShape &shape);

/// Runs a program on its parts and returns the results of the whole. `files` are the arrays that each rank
/// reads and writes itself; null for runs in one process.
reference::RunResult runOnShape(Session &session, const CheckedProgram &program,
                                const CallableDecl &decl, std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape,
                                parts::PartFiles *files);

} // namespace ptl
