#include "codegen/parts/chunk_schedule.h"

#include "frontend/sema/reported.h"

namespace ptl::parts {

void applySchedule(const CheckedProgram &program, std::string_view machine, const DimLookup &size,
                   PlacedProgram &placed) {
  const ScheduleDecl *schedule = applyingSchedule(program, *placed.decl, machine, size);
  if (!schedule)
    return;
  for (const ScheduleDirective &directive : schedule->directives)
    for (const auto &[local, id] : placed.locals) {
      PlacedValue &value = placed.values[id];
      if (local->name != directive.label || value.kind != PlacedKind::Move)
        continue;
      if (directive.chunks)
        value.chunks = directive.chunks;
      if (!directive.how.empty())
        value.how = directive.how;
    }
}

} // namespace ptl::parts
