// The walk over calls of kernels, and of programs of one chip: they compute with what one part has.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

class KernelWalk {
public:
  explicit KernelWalk(Placer &placer) : p_(placer) {}

  /// One value for each result. The variables of `inout` arguments hold what the call leaves in them afterwards.
  std::vector<ValueId> call(const CallExpr &expr);

private:
  void refuseUnlessRun(const CallExpr &expr);
  PlacedValue argumentsOf(const CallExpr &expr, std::vector<const Expr *> &args);
  ValueId result(const CallExpr &expr, const PlacedValue &made, size_t number, const Type &type);
  void giveBack(const CallExpr &expr, const CallArg &arg, ValueId id);

  Placer &p_;
};

} // namespace ptl
