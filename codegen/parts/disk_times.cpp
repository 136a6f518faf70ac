#include "codegen/parts/disk_times.h"

#include "codegen/parts/move_steps.h"
#include "frontend/base/elem_type.h"

#include <algorithm>
#include <map>

namespace ptl::parts {

std::optional<double> diskSeconds(const movement::Fabric &fabric,
                                  const std::vector<uint32_t> &chips,
                                  const std::vector<int64_t> &bytes) {
  uint32_t sharing = 1; // chips that share one disk
  for (const movement::FabricLevel &level : fabric.levels) {
    sharing *= level.count;
    if (level.diskRate <= 0)
      continue;
    std::map<uint32_t, double> ofDisks;
    for (size_t part = 0; part < chips.size(); ++part)
      ofDisks[chips[part] / sharing] += static_cast<double>(bytes[part]);
    double most = 0;
    for (const auto &[disk, sum] : ofDisks)
      most = std::max(most, sum);
    // Levels go from the inside out: the innermost one with a disk says how many chips share one.
    return most > 0 ? level.diskLatency + most / level.diskRate : 0;
  }
  return std::nullopt;
}

std::vector<int64_t> savedBytes(const Grid &grid, const Placement &placement,
                                const std::vector<int64_t> &shape, int64_t elementBytes) {
  std::vector<std::optional<movement::Box>> boxes(grid.count());
  for (uint32_t part = 0; part < grid.count(); ++part)
    if (grid.holds(placement, part))
      boxes[part] = grid.boxOf(placement, shape, part);
  std::vector<int64_t> bytes(grid.count());
  for (uint32_t part = 0; part < grid.count(); ++part)
    if (boxes[part]) {
      // Parts with the same box share its saving, each a block of the box (`addPieces` of
      // checkpoints.cpp).
      int64_t owners = std::ranges::count(boxes, boxes[part]);
      bytes[part] = (movement::elementCount(*boxes[part]) * elementBytes + owners - 1) / owners;
    }
  return bytes;
}

double SavedRounds::adds() const {
  int64_t times = saves();
  if (times == 0)
    return 0;
  double round = loop / static_cast<double>(rounds);
  double between = round * static_cast<double>(every);
  double behind = round * static_cast<double>(rounds - times * every);
  // Each checkpoint but the first waits until the previous one has been saved, for as long as the
  // rounds between them do not hide it; the end of the run waits for the last one.
  return static_cast<double>(times - 1) * std::max(0.0, save - between) +
         std::max(0.0, save - behind);
}

std::optional<SaveTime> saveTime(const TimeQuestion &question, const PlacedLoop &loop,
                                 int64_t rounds, double begin, double seconds) {
  std::vector<int64_t> bytes(question.grid.count());
  for (ValueId id = loop.first; id < loop.body(); ++id) {
    const PlacedValue &value = question.placed.values[id];
    std::vector<int64_t> own = savedBytes(question.grid, value.placement, shapeOf(question, {}, id),
                                          elemInfo(value.elem).storageBytes);
    for (size_t part = 0; part < bytes.size(); ++part)
      bytes[part] += own[part];
  }
  std::optional<double> save = diskSeconds(question.fabric, question.chips, bytes);
  if (!save)
    return std::nullopt;
  int64_t every = std::max<int64_t>(numberOf(question, {}, loop.every), 1);
  SavedRounds saved{rounds, every, seconds, *save};
  double round = seconds / static_cast<double>(std::max<int64_t>(rounds, 1));
  return SaveTime{loop.stmt->checkpoint->span,
                  saved.saves(),
                  std::ranges::max(bytes),
                  *save,
                  saved.adds(),
                  begin,
                  round * static_cast<double>(every)};
}

std::optional<uint32_t> homeOfPage(const TimeQuestion &question, const PlacedChoice &choice,
                                   const LoopNumbers &loops) {
  const PlacedPool &pool = question.placed.pools[choice.page->pool];
  const PlacedValue &page = question.placed.values[choice.page->kept];
  std::vector<int64_t> shape = shapeOf(question, loops, choice.page->kept);
  int64_t bytes = 1;
  for (uint32_t part = 0; part < question.grid.count(); ++part)
    if (question.grid.holds(page.placement, part))
      bytes =
          std::max(bytes, movement::elementCount(question.grid.boxOf(page.placement, shape, part)) *
                              elemInfo(page.elem).storageBytes);
  auto number = loops.find(choice.page->counter);
  int64_t parts = question.grid.count(*pool.over);
  // So many pages fit into the memory of one part.
  auto room = static_cast<int64_t>(pool.memory / static_cast<uint64_t>(bytes));
  if (number == loops.end() || number->second < 0 || number->second / parts >= room)
    return std::nullopt;
  return static_cast<uint32_t>(number->second % parts);
}

std::optional<double> readSeconds(const TimeQuestion &question, ValueId id,
                                  const LoopNumbers &loops) {
  const PlacedValue &value = question.placed.values[id];
  std::vector<int64_t> bytes(question.grid.count());
  for (uint32_t part = 0; part < bytes.size(); ++part)
    if (question.grid.holds(value.placement, part))
      bytes[part] = movement::elementCount(
                        question.grid.boxOf(value.placement, shapeOf(question, loops, id), part)) *
                    elemInfo(value.elem).storageBytes;
  return diskSeconds(question.fabric, question.chips, bytes);
}

} // namespace ptl::parts
