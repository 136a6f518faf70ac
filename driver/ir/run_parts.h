// `ptlc run --shape host=2,chip=4`: runs programs whose arrays are distributed over the parts of
// levels.
#pragma once

#include "codegen/parts/run_parts.h"
#include "codegen/reference/interpreter.h"
#include "driver/ir/run_ranks.h"
#include "driver/session.h"
#include "driver/target.h"

#include <memory>
#include <optional>
#include <string>

namespace ptl {

/// The values of `--shape` and `--in-process`.
struct RunShape {
  /// the name is empty if the only level is not named on the command line
  parts::MachineShape shape;
  std::shared_ptr<Ranks>
      ranks; ///< the ranks; null in the process that starts them, and with `--in-process`
  bool inProcess = false;

  /// Whether this process must start the ranks.
  bool isToStart() const { return !inProcess && !ranks; }
  /// Whether this process gets the results: among ranks only the first one does.
  bool hasResults() const { return !ranks || ranks->rank() == 0; }
};

/// The levels and counts of `--shape`. Nothing without the option, or after reporting that it is
/// invalid.
std::optional<parts::MachineShape> shapeGiven(Session &session, uint32_t mostParts);

/// The shape of this run. Nothing without `--shape`, or after reporting that it cannot be run.
std::optional<RunShape> shapeOfRun(Session &session);

/// A placed program, and the number of parts at each of its levels.
struct OnShape {
  PlacedProgram placed;
  parts::MachineShape shape;
  std::vector<uint32_t> counts;
};

/// Places a program. Nothing, with the reason, if its header places no array or its placements
/// contradict each other.
std::optional<PlacedProgram> placedProgram(const CheckedProgram &program, const CallableDecl &decl,
                                           std::string &why);

/// Distributes a program over the shape. Nothing, with the reason, if that is impossible.
std::optional<OnShape> layOut(const CheckedProgram &program, const CallableDecl &decl,
                              const parts::MachineShape &shape, std::string &why);

/// The words that give an entry the numbers of parts that it mentions (`chips=4`), as the shape of the run has them; without those
/// that `words` have already.
std::vector<std::string> countWords(const CheckedProgram &program, const CallableDecl &decl,
                                    const RunShape &shape, const std::vector<std::string> &words);

/// Starts the program on ranks and waits until they have ended. Reports a failure that no rank has
/// reported.
ExitCode startRanks(Session &session, const CheckedProgram &program, const CallableDecl &decl,
                    const RunShape &shape);

/// Runs a program on its parts and returns the results as whole values. `target` is what computes between movements: on a chip each part is a
/// simulated one. `files` are the arrays that
/// each rank reads and writes itself; null for runs in one process.
reference::RunResult runOnShape(Session &session, const Target &target,
                                const CheckedProgram &program, const CallableDecl &decl,
                                std::vector<reference::Value> args,
                                const reference::RunOptions &options, const RunShape &shape,
                                parts::PartFiles *files);

} // namespace ptl
