// Schedules as text, in a source.
#pragma once

#include "compile/tune/tune_entry.h"

namespace ptl {

/// The root file with the values of a point in a schedule for the chip. That is the schedule which
/// applies at present, or one for the chip without `when`; its other items stay. If there is none,
/// a new schedule is added after the declaration, with the items of a schedule for all targets. The
/// result is formatted if the file is.
std::string withSchedule(const CheckedProgram &program, const SourceManager &sources,
                         const CallableDecl &decl, const std::string &machine,
                         const EntryTuning &tuning, const TunePoint &point);

/// The text of a schedule with the values of a point, together with the other items of the present
/// schedule.
std::string scheduleItems(const CheckedProgram &program, const EntryTuning &tuning,
                          const TunePoint &point);

/// The root file with these schedules for the chip after the declaration; they replace those that
/// it has for the chip. Nothing, with the reason, if one of the replaced schedules has an item that
/// no choice covers.
std::optional<std::string> withSchedules(const CheckedProgram &program,
                                         const SourceManager &sources, const CallableDecl &decl,
                                         const std::string &machine, const EntryTuning &tuning,
                                         const std::vector<ScheduleText> &schedules,
                                         std::string &why);

} // namespace ptl
