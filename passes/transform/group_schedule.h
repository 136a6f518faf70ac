// What a schedule says of groups of tensor-level operations, for every pass that makes grids of
// them: `tile` and `fuse` arrive as attributes of the operations that they name.
#pragma once

#include "ir/dialect/attributes.h"
#include "ir/dialect/task_attribute.h"
#include "passes/transform/root_storage.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <vector>

namespace ptl::ir {

/// A length as schedules name it: `B`, or its number.
inline std::string lengthName(const Extent &extent) {
  return extent.symbol ? extent.symbol.str() : std::to_string(extent.length);
}

/// A size that a schedule gives for an axis of that extent: `tile B by 128`.
template <typename Members>
std::optional<int64_t> scheduledStep(const Members &members, const Extent &extent) {
  for (mlir::Operation *member : members) {
    auto sizes = attrs::tile.of(member);
    auto size = sizes ? mlir::dyn_cast_or_null<mlir::IntegerAttr>(sizes.get(lengthName(extent)))
                      : mlir::IntegerAttr();
    if (size)
      return size.getInt();
  }
  return std::nullopt;
}

/// Whether an operation must not be computed with the root of a group: `split` after it, or one is
/// of a `task` block that the other is not of, or other cores do it.
inline bool keptApart(mlir::Operation *op, mlir::Operation *root) {
  return attrs::split.isOn(op) || attrs::task.of(op) != attrs::task.of(root) ||
         attrs::cores.of(op) != attrs::cores.of(root);
}

/// What is made of an operation belongs to its task and its cores.
inline void takeMarks(mlir::Operation *made, const mlir::NamedAttrList &of) {
  for (llvm::StringRef name : {attrs::task.key(), attrs::cores.key()})
    if (mlir::Attribute mark = of.get(name); mark && !made->hasAttr(name))
      made->setAttr(name, mark);
}
inline void takeMarks(mlir::Operation *made, mlir::Operation *of) {
  takeMarks(made, mlir::NamedAttrList(of->getAttrDictionary()));
}

/// What `rewrite` puts before or in the place of an operation is of its task and its cores.
template <typename Rewrite> void keepingMarks(mlir::Operation *op, Rewrite rewrite) {
  mlir::Block *block = op->getBlock();
  mlir::Operation *before = op->getPrevNode(), *behind = op->getNextNode();
  mlir::NamedAttrList marks(op->getAttrDictionary());
  rewrite();
  mlir::Operation *made = before ? before->getNextNode() : &block->front();
  for (; made && made != behind; made = made->getNextNode())
    takeMarks(made, marks);
}

/// What the groups that `fuse` joins have in common; null: nothing is said of this one.
template <typename Group> mlir::Attribute fuseLabel(const Group &group) {
  for (mlir::Operation *member : group.members())
    if (mlir::Attribute label = attrs::fuse.of(member))
      return label;
  return {};
}

/// The group, and those behind it that a schedule fuses with it and that nothing in between keeps
/// apart. `groups`: those of `block`, last ones first; `mayShare`: whether two can share a grid.
template <typename Group, typename Groups, typename MayShare>
std::vector<Group *> fusedWith(Group *group, const Groups &groups, mlir::Block &block,
                               MayShare mayShare) {
  std::vector<Group *> fused{group};
  mlir::Attribute label = fuseLabel(*group);
  if (!label)
    return fused;
  for (auto &other : llvm::reverse(groups)) {
    if (other.get() == group || fuseLabel(*other) != label || !mayShare(*group, *other) ||
        !group->root()->isBeforeInBlock(other->root()))
      continue;
    bool apart = llvm::any_of(fused, [&](Group *earlier) {
      return llvm::any_of(earlier->root()->getUsers(), [&](mlir::Operation *user) {
        mlir::Operation *inBlock = block.findAncestorOpInBlock(*user);
        return !earlier->contains(user) && user != onlyStore(earlier->root()) && inBlock &&
               (inBlock == other->root() || inBlock->isBeforeInBlock(other->root()));
      });
    });
    auto maySettle = [&](Group *each) { return mayStoreBehind(each->root(), other->root()); };
    if (!apart && llvm::all_of(fused, maySettle) && maySettle(other.get()))
      fused.push_back(other.get());
  }
  return fused;
}

} // namespace ptl::ir
