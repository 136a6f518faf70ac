#include "codegen/parts/chunk_schedule.h"

#include "frontend/sema/reported.h"

namespace ptl::parts {

void applySchedule(const CheckedProgram &program, std::string_view machine, const DimLookup &size,
                   PlacedProgram &placed) {
  const ScheduleDecl *schedule = applyingSchedule(program, *placed.decl, machine, size);
  if (!schedule)
    return;
  for (const ScheduleDirective &directive : schedule->directives)
    for (const auto &[local, id] : placed.locals)
      if (directive.chunks && local->name == directive.label &&
          placed.values[id].kind == PlacedKind::Move)
        placed.values[id].chunks = directive.chunks;
}

} // namespace ptl::parts
