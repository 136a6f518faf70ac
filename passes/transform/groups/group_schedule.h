// The schedule of groups of tensor-level operations, for every pass that makes grids of them:
// `tile` and `fuse` are attributes of the operations that they name.
#pragma once

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/task_attribute.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace ptl::ir {

class OpGroup;

/// A length as schedules name it: `B`, or its number.
inline std::string lengthName(const Extent &extent) {
  return extent.symbol ? extent.symbol.str() : std::to_string(extent.length);
}

/// The tile size that a schedule gives for an axis of a group: `tile B by 128`.
std::optional<int64_t> scheduledStep(const OpGroup &group, int64_t axis);

/// Into how many chunks a schedule cuts the contraction of a product: `c { chunks 8 }`; 1: it stays whole. Nothing once it is cut.
std::optional<int64_t> scheduledChunks(mlir::Operation *op);

/// Notes that the contraction of a product is cut as its schedule says, so that nothing cuts it again; how many chunks there are.
std::optional<int64_t> takeChunks(mlir::Operation *op);

/// Whether a schedule says of an operation how its value is computed: in what tiles, with what, on
/// which cores. A pass that would compute it in another form leaves it alone.
inline bool isScheduled(mlir::Operation *op) {
  return attrs::tile.of(op) || attrs::split.isOn(op) || attrs::fuse.of(op) || attrs::cores.of(op) ||
         scheduledChunks(op);
}

/// Whether an item of a schedule names the value of an operation, which therefore stays one value.
/// The cores of a grid are of all its operations and name none of them.
inline bool isInSchedule(mlir::Operation *op) {
  return attrs::tile.of(op) || attrs::split.isOn(op) || attrs::fuse.of(op) || attrs::item.of(op);
}

/// Whether an operation must not be computed together with the root of a group: `split` after it,
/// different `task` blocks, or different cores.
inline bool keptApart(mlir::Operation *op, mlir::Operation *root) {
  return attrs::split.isOn(op) || attrs::task.of(op) != attrs::task.of(root) ||
         attrs::cores.of(op) != attrs::cores.of(root);
}

/// An operation derived from another one gets its task and its cores.
inline void takeMarks(mlir::Operation *made, const mlir::NamedAttrList &of) {
  for (llvm::StringRef name : {attrs::task.key(), attrs::cores.key()})
    if (mlir::Attribute mark = of.get(name); mark && !made->hasAttr(name))
      made->setAttr(name, mark);
}
inline void takeMarks(mlir::Operation *made, mlir::Operation *of) {
  takeMarks(made, mlir::NamedAttrList(of->getAttrDictionary()));
}

/// Operations that `rewrite` inserts before or instead of an operation get its task and its cores.
template <typename Rewrite> void keepingMarks(mlir::Operation *op, Rewrite rewrite) {
  mlir::Block *block = op->getBlock();
  mlir::Operation *before = op->getPrevNode(), *behind = op->getNextNode();
  mlir::NamedAttrList marks(op->getAttrDictionary());
  rewrite();
  mlir::Operation *made = before ? before->getNextNode() : &block->front();
  for (; made && made != behind; made = made->getNextNode())
    takeMarks(made, marks);
}

} // namespace ptl::ir
