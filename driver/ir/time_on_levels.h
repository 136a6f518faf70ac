// Predicts the time of a placed program on a machine of many chips, for `ptlc sim --target cloudmatrix384`
// and `ptlc check --cost`.
#pragma once

#include "codegen/parts/time_parts.h"
#include "driver/session.h"
#include "driver/target.h"
#include "machines/levels.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// The program, its sizes by name, and the number of parts at each level; without `shape` the whole
/// machine.
struct LevelsQuestion {
  const CheckedProgram &program;
  const CallableDecl &decl;
  const Target &target;
  const MachineLevels &levels;
  std::map<std::string, int64_t> sizes;
  std::optional<parts::MachineShape> shape;
  bool assumesSizes = false; ///< missing sizes are assumed; else they are an error
  bool keepsCarried = false;
};

struct TimedOnLevels {
  std::string entry, machine;
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<std::string> assumed; ///< the names of the sizes that were assumed
  PlacedProgram placed;
  std::vector<uint32_t> counts;
  std::unique_ptr<parts::Grid> grid;
  movement::Fabric fabric;
  std::vector<uint32_t> chips; ///< the chip of each part
  parts::PartsTime time;
  std::string notComputed; ///< why the time of some computation is unknown; empty if all are known
};

/// Null after reporting why there is no time.
std::unique_ptr<TimedOnLevels> timeOnLevels(Session &session, const LevelsQuestion &question);

/// A text for people: the time, and for each movement its bytes, its time and how much it adds.
std::string levelsText(const TimedOnLevels &timed, const SourceManager &sources);
/// The same as JSON (docs/schemas/levels.json).
std::string levelsJson(const TimedOnLevels &timed, const SourceManager &sources);
/// A trace for Perfetto and Chrome: the computations and movements of each part, and the ports of
/// each level.
std::string levelsTrace(const TimedOnLevels &timed, const SourceManager &sources);
/// The trace as a page for a browser.
std::string levelsPage(const TimedOnLevels &timed, const SourceManager &sources);
/// The trace by lane (docs/schemas/lanes.json).
std::string levelsLanes(const TimedOnLevels &timed, const SourceManager &sources);

} // namespace ptl
