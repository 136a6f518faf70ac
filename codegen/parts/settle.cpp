#include "codegen/parts/settle.h"

namespace ptl::parts {

/// The part of a stage or a task now. Of others, and of stages before their loop runs, it stays as it is.
static void settleOn(LevelPlacement &at, int64_t parts, const DimLookup &number) {
  if (at.unit)
    at.unitLength = evaluate(at.unit, number).value_or(1);
  if (!at.stage)
    return;
  std::optional<int64_t> stage = evaluate(at.stage, number);
  if (!at.stages && stage) {
    // Tasks go round the parts: of equal ones the next goes to the part that has been free for the longest time.
    at.part = static_cast<uint32_t>((*stage % parts + parts) % parts);
    return;
  }
  std::optional<int64_t> stages = at.stages ? evaluate(at.stages, number) : std::nullopt;
  if (!stage || !stages || *stage < 0 || *stages <= *stage)
    return;
  int64_t block = (*stages + parts - 1) / parts;
  at.part = static_cast<uint32_t>(*stage / block);
}

void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number) {
  for (ValueId id = begin; id < end; ++id)
    for (size_t level = 0; level < placed.levels.size(); ++level)
      settleOn(placed.values[id].placement[level], grid.count(level), number);
  for (PlacedParts &parts : placed.parts)
    if (parts.section && begin <= parts.first && parts.first < end)
      settleOn(parts.section->second, grid.count(parts.section->first), number);
}

} // namespace ptl::parts
