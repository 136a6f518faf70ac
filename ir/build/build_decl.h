// What the entry and the callees in it have in common: schedules, tunables, outputs, bodies.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Reports what a declaration declares with element types that the machine lacks.
void checkElementTypes(BuildContext &c, const Frame &frame);
/// The first schedule for this machine, then the first for every machine, whose `when` holds.
const ScheduleDecl *scheduleOf(BuildContext &c, const CallableDecl &decl, const Frame &frame);
/// Gives the tunables of a declaration their values: `overrides`, the schedule's, or the defaults.
void bindTunables(BuildContext &c, Frame &frame, const std::map<std::string, int64_t> &overrides);
/// Stores what the present declaration's outputs begin with.
void initOutputs(BuildContext &c);
/// The statements of a body whose value, if it has one, is returned.
std::vector<Stmt *> bodyStmts(BuildContext &c, const ptl::Block &body);
/// The body of a kernel or program, if it is for the machine at hand.
void buildKernelBody(BuildContext &c, const CallableDecl &decl);

} // namespace ptl::ir
