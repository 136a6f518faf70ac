// Builds the common parts of the entry and its callees: schedules, tunables, outputs, bodies.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Reports locals and results whose element types the machine lacks.
void checkElementTypes(BuildContext &c, const Frame &frame);
/// Reports a value without a declaration if the machine lacks its element type: any array, and
/// scalars of the types that are always converted. Other scalars belong to the host.
void checkElementType(BuildContext &c, const Type &type, Span span);
/// The schedules of which one applies: those for this machine come before those for every machine.
struct Schedules {
  /// Schedules whose `when` depends on lengths that are known when the entry is called: the first
  /// whose condition then holds applies.
  std::vector<const ScheduleDecl *> open;
  const ScheduleDecl *otherwise = nullptr; ///< the first whose `when` holds for all lengths
};
Schedules schedulesOf(BuildContext &c, const CallableDecl &decl, const Frame &frame);
/// Where nothing can be decided at run time.
inline const ScheduleDecl *scheduleOf(BuildContext &c, const CallableDecl &decl,
                                      const Frame &frame) {
  return schedulesOf(c, decl, frame).otherwise;
}
/// Sets the tunables of a declaration from `overrides`, the schedule, or the defaults.
void bindTunables(BuildContext &c, Frame &frame, const std::map<std::string, int64_t> &overrides);
/// Stores the initial values of the present declaration's outputs.
void initOutputs(BuildContext &c);
/// The statements of a body; if it has a value, the last statement returns it.
std::vector<Stmt *> bodyStmts(BuildContext &c, const ptl::Block &body);
/// Builds the body of a kernel or program, if it is for the current machine.
void buildKernelBody(BuildContext &c, const CallableDecl &decl);

} // namespace ptl::ir
