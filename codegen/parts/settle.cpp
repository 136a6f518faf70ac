#include "codegen/parts/settle.h"

namespace ptl::parts {

void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number) {
  for (ValueId id = begin; id < end; ++id)
    for (size_t level = 0; level < placed.levels.size(); ++level) {
      LevelPlacement &at = placed.values[id].placement[level];
      if (!at.stage)
        continue;
      std::optional<int64_t> stage = evaluate(at.stage, number),
                             stages = evaluate(at.stages, number);
      if (!stage || !stages || *stage < 0 || *stages <= *stage)
        continue; // The number of the stage is not known before its loop runs.
      // Stages are dealt to the parts in blocks of equal length, the last one shorter.
      int64_t count = grid.count(level), block = (*stages + count - 1) / count;
      at.part = static_cast<uint32_t>(*stage / block);
    }
}

} // namespace ptl::parts
