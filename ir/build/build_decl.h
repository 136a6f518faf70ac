// Builds the parts that the entry and the callees in it have in common: schedules, tunables,
// outputs, bodies.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Reports declarations with element types that the machine lacks.
void checkElementTypes(BuildContext &c, const Frame &frame);
/// The first schedule for this machine, then the first for every machine, whose `when` holds.
const ScheduleDecl *scheduleOf(BuildContext &c, const CallableDecl &decl, const Frame &frame);
/// Sets the tunables of a declaration from `overrides`, the schedule, or the defaults.
void bindTunables(BuildContext &c, Frame &frame, const std::map<std::string, int64_t> &overrides);
/// Stores the initial values of the present declaration's outputs.
void initOutputs(BuildContext &c);
/// The statements of a body; if it has a value, the last one returns it.
std::vector<Stmt *> bodyStmts(BuildContext &c, const ptl::Block &body);
/// Builds the body of a kernel or program, if it is for the machine at hand.
void buildKernelBody(BuildContext &c, const CallableDecl &decl);

} // namespace ptl::ir
