// Times of placed programs on a small machine whose computations take the time that a test
// specifies.
#pragma once

#include "codegen/parts/chunk_schedule.h"
#include "codegen/parts/fabric_of.h"
#include "codegen/parts/parts_test_util.h"
#include "codegen/parts/time_parts.h"

namespace ptl::parts {

constexpr double us = 1e-6;

/// Two hosts with up to eight chips.
inline movement::Fabric someFabric() {
  movement::Fabric fabric;
  fabric.levels = {{.name = "chip", .count = 8, .latency = 1 * us, .portRate = 100e9},
                   {.name = "host", .count = 2, .latency = 3 * us, .portRate = 50e9}};
  return fabric;
}

/// What a test specifies besides the program and its shape.
struct TimedHow {
  std::map<std::string, int64_t> sizes = {}; ///< unlisted ones are 64
  /// The seconds of a stretch, given its text.
  std::function<double(const std::string &source)> seconds = [](const std::string &) {
    return 10 * us;
  };
  int64_t mostInLoops = kMostInLoops;
  int64_t foundPages = 0;
  std::optional<int64_t> rounds = {}; ///< of a `while`
  movement::Fabric fabric = someFabric();
};

/// A timed program.
struct Timed {
  Timed(const std::string &text, const std::string &entry, const MachineShape &shape,
        TimedHow how = {})
      : checked(text), fabric(how.fabric) {
    EXPECT_TRUE(checked.ok()) << checked.errors();
    const CallableDecl &decl = *checked.find(entry);
    placed = checked.placed(decl);
    counts = countsOn(placed->levels, shape, why);
    grid.emplace(placed->levels, counts);
    giveCounts(decl, *grid, how.sizes);
    auto size = [&](SymbolId symbol) {
      auto given = how.sizes.find(checked.program->dims->symbol(symbol).name);
      return std::optional<int64_t>(given == how.sizes.end() ? 64 : given->second);
    };
    applySchedule(*checked.program, "", size, *placed);
    TimeQuestion question{*placed,
                          *grid,
                          size,
                          fabric,
                          chipsOf(placed->levels, *grid, fabric, why),
                          [&](const std::string &source) {
                            sources.push_back(source);
                            return how.seconds(source);
                          },
                          false,
                          how.foundPages,
                          how.rounds};
    EXPECT_EQ(why, "");
    time = timeOfParts(question, why, how.mostInLoops);
  }
  double seconds() const { return time ? time->seconds : -1; }

  CheckedText checked;
  std::optional<PlacedProgram> placed;
  std::vector<uint32_t> counts;
  std::optional<Grid> grid;
  movement::Fabric fabric;
  std::vector<std::string> sources;
  std::string why;
  std::optional<PartsTime> time;
};

} // namespace ptl::parts
