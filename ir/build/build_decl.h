// Builds the parts that the entry and the callees in it have in common: schedules, tunables,
// outputs, bodies.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Reports locals and results with element types that the machine lacks.
void checkElementTypes(BuildContext &c, const Frame &frame);
/// Reports a value that nobody declares, if it is of such a type: any array, and scalars of the types that are always
/// converted. Other scalars are the host's.
void checkElementType(BuildContext &c, const Type &type, Span span);
/// The schedules of which one applies: those for this machine, then those for every machine.
struct Schedules {
  /// Their `when` is about lengths that are known when the entry is called: the first one that then holds
  /// applies.
  std::vector<const ScheduleDecl *> open;
  const ScheduleDecl *otherwise =
      nullptr; ///< the first whose `when` holds whatever the lengths are
};
Schedules schedulesOf(BuildContext &c, const CallableDecl &decl, const Frame &frame);
/// Where nothing can be decided when the code runs.
inline const ScheduleDecl *scheduleOf(BuildContext &c, const CallableDecl &decl,
                                      const Frame &frame) {
  return schedulesOf(c, decl, frame).otherwise;
}
/// Sets the tunables of a declaration from `overrides`, the schedule, or the defaults.
void bindTunables(BuildContext &c, Frame &frame, const std::map<std::string, int64_t> &overrides);
/// Stores the initial values of the present declaration's outputs.
void initOutputs(BuildContext &c);
/// The statements of a body; if it has a value, the last one returns it.
std::vector<Stmt *> bodyStmts(BuildContext &c, const ptl::Block &body);
/// Builds the body of a kernel or program, if it is for the machine at hand.
void buildKernelBody(BuildContext &c, const CallableDecl &decl);

} // namespace ptl::ir
