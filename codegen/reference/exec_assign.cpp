#include "codegen/reference/exec_assign.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/bind.h"
#include "codegen/reference/dim_values.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/eval_index.h"
#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/ops_shape.h"
#include "codegen/reference/place.h"

#include <algorithm>

namespace ptl::reference {

void execLet(RunState &run, const LetStmt &stmt) {
  if (!stmt.value) {
    for (const Local *each : stmt.locals)
      bindLocal(run, *each, undefinedOf(run, *each->type));
    return;
  }
  Value value = eval(run, *stmt.value);
  if (stmt.locals.size() == 1) {
    // A declared array type may repeat what it is given.
    const Type &type = *stmt.locals[0]->type;
    if (type.isArray() && (value.isScalar() || value.isArray()))
      if (std::vector<int64_t> shape = shapeOf(run, type, stmt.span);
          !std::equal(shape.begin(), shape.end(), value.shape().begin(), value.shape().end()))
        value = broadcastValue(value, std::move(shape));
    bindLocal(run, *stmt.locals[0], std::move(value));
    return;
  }
  if (!value.isParts() || value.asParts().size() != stmt.locals.size())
    stop(RunStatus::Fault, "a tuple does not come apart into the names", stmt.span);
  for (size_t i = 0; i < stmt.locals.size(); ++i)
    bindLocal(run, *stmt.locals[i], value.asParts()[i]);
}

void execAssign(RunState &run, const AssignStmt &stmt) {
  Value value = eval(run, *stmt.value);
  if (stmt.place) {
    // Positions are evaluated before the target is taken for writing: they may read it.
    const Value *base = peek(run, *stmt.place->base);
    if (!base || !base->isArray())
      stop(RunStatus::Fault, "the target of an assignment by index is not an array", stmt.span);
    Region region = regionOf(run, *stmt.place, base->shape(), true);
    writeRegion(place(run, *stmt.place->base).mutableArray(), region, value, stmt.mode, stmt.span);
    return;
  }
  Value &target = run.local(*stmt.target);
  if (target.isArray()) {
    std::span<const int64_t> shape = target.shape();
    if (stmt.mode != AssignMode::Set) {
      Region region;
      for (size_t i = 0; i < shape.size(); ++i)
        region.axes.push_back({static_cast<int64_t>(i), 0, 1, shape[i], false, false});
      writeRegion(target.mutableArray(), region, value, stmt.mode, stmt.span);
      return;
    }
    if (!std::equal(shape.begin(), shape.end(), value.shape().begin(), value.shape().end()))
      value = broadcastValue(value, {shape.begin(), shape.end()});
  } else if (stmt.mode != AssignMode::Set && target.isScalar()) {
    Value args[] = {target, value};
    value = elementwise(combiningOp(stmt.mode), args);
  }
  target = std::move(value);
}

} // namespace ptl::reference
