// The context of the lowering: what values are bound to, and scopes.
#include "codegen/cpu/lowering.h"

#include "codegen/cpu/program_storage.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::cpu {

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Lowering::Lowering(ModuleOp source, ModuleOp target, const VectorUnit &unit)
    : builder(source.getContext()), e(builder, source.getLoc(), unit), source(source),
      target(target), maxLanes(unit.bytes / 4) {}

void Lowering::fail(Operation *op, const Twine &message) {
  // Emission goes on, so that one run reports everything that cannot be lowered.
  failed = true;
  if (op)
    op->emitError() << message << ": " << op->getName();
  else
    source.emitError() << message;
}

void Lowering::bindView(Value key, const View &view) {
  if (isOrchestrating())
    recordBytes(view.data, key.getType());
  if (program.ownViews && !views.count(key))
    // The extents are kept, because they are needed after the task as well.
    program.ownViews->push_back({key, extents.lookup(key)});
  // A value that is computed within a loop or an arm is not available behind it, so it is forgotten
  // at the end of the scope.
  if (scopeDepth > 0 && !views.count(key))
    remember([this, key, known = extents.count(key) > 0, before = extents.lookup(key)] {
      views.erase(key);
      if (known)
        extents[key] = before;
      else
        extents.erase(key);
    });
  views[key] = view;
  extents[key] = view.extents;
  if (isa<ir::RefType>(key.getType()))
    program.refs[view.data] = key;
}

Scope::~Scope() {
  // The order is reversed, since a later entry may have replaced an earlier one.
  while (l_.undos.size() > size_) {
    l_.undos.back()();
    l_.undos.pop_back();
  }
  --l_.scopeDepth;
}

} // namespace ptl::cpu
