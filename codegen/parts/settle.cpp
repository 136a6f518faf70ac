#include "codegen/parts/settle.h"

namespace ptl::parts {

void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number) {
  for (ValueId id = begin; id < end; ++id)
    for (size_t level = 0; level < placed.levels.size(); ++level) {
      LevelPlacement &at = placed.values[id].placement[level];
      if (at.unit)
        at.unitLength = evaluate(at.unit, number).value_or(1);
      if (!at.stage)
        continue;
      std::optional<int64_t> stage = evaluate(at.stage, number);
      int64_t parts = grid.count(level);
      if (!at.stages && stage) {
        // Tasks go round the parts: of equal ones the next goes to the part that has been free for the longest time.
        at.part = static_cast<uint32_t>((*stage % parts + parts) % parts);
        continue;
      }
      std::optional<int64_t> stages = at.stages ? evaluate(at.stages, number) : std::nullopt;
      if (!stage || !stages || *stage < 0 || *stages <= *stage)
        continue; // Not before its loop runs.
      int64_t block = (*stages + parts - 1) / parts;
      at.part = static_cast<uint32_t>(*stage / block);
    }
}

} // namespace ptl::parts
