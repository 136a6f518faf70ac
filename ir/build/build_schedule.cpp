// What the schedule that applies says of values, tasks and grids: in place, or as attributes for
// the passes. What can have no effect on this machine is told.
#include "ir/build/builder.h"

#include "codegen/machines/machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::ir {

// ---- Values -------------------------------------------------------------------------------------

/// The products that a value is computed with, up to other values that have names.
static void findProducts(mlir::Value value, llvm::SetVector<Operation *> &products) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<LoadOp, SliceOp>(op))
    return;
  if (isa<MatmulOp>(op)) {
    products.insert(op);
    return;
  }
  for (mlir::Value operand : op->getOperands())
    if (isa<ArrayType>(operand.getType()) && operand.getDefiningOp() &&
        !isa<NameLoc>(operand.getDefiningOp()->getLoc()))
      findProducts(operand, products);
}

void Builder::scheduleValue(const ScheduleDirective &directive, const Local &local,
                            mlir::Value value) {
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<NamedAttribute> tiles;
  for (size_t i = 0; i < directive.tiles.size(); ++i) {
    const auto &[name, size] = directive.tiles[i];
    std::string item = "tile " + name + " by " + std::to_string(size);
    Dim length;
    for (const DimParam &dim : frame_->decl->dims)
      if (dims_.symbol(dim.symbol).name == name)
        length = rootDim(dims_.symbolDim(dim.symbol));
    std::string key = dims_.toString(length);
    bool isAxis = llvm::any_of(extentsOf(value.getType()), [&](const Extent &extent) {
      return (extent.symbol ? extent.symbol.str() : std::to_string(extent.length)) == key;
    });
    if (!isAxis)
      fail(DiagId::ScheduleCannot, directive.tileSpans[i],
           {item, "`" + local.name + "` has no axis of length `" + name + "`"});
    else if (isa<LoadOp>(op))
      fail(DiagId::ScheduleCannot, directive.tileSpans[i],
           {item, "a kernel computes `" + local.name + "`, whose tiles are its own"});
    else
      tiles.push_back(builder_.getNamedAttr(key, builder_.getI64IntegerAttr(size)));
  }
  if (!tiles.empty())
    op->setAttr("ptl.tile", builder_.getDictionaryAttr(tiles));
  if (directive.place == ptl::Place::Gm)
    op->setAttr("ptl.split", builder_.getUnitAttr());
}

/// How the one product that a value is computed with goes through the operand buffers.
void Builder::pinProduct(const Local &local, mlir::Value value) {
  const ScheduleDecl *schedule = frame_->schedule;
  if (!schedule)
    return;
  auto said = llvm::find_if(schedule->directives, [&](const ScheduleDirective &directive) {
    return directive.label == local.name && directive.l0.size() == 3;
  });
  if (said == schedule->directives.end())
    return;
  const ScheduleDirective &directive = *said;
  std::string item = "l0";
  for (size_t i = 0; i < 3; ++i)
    item += (i ? ", " : " ") + std::to_string(directive.l0[i]);
  llvm::SetVector<Operation *> products;
  findProducts(value, products);
  if (!binding_.chip || binding_.chip->executable)
    fail(DiagId::ScheduleCannot, directive.l0Span,
         {item, "`" + binding_.machine + "` has no operand buffers"});
  else if (products.empty() && local.kind == LocalKind::Var && isa<ZerosOp>(value.getDefiningOp()))
    return; // what is added to it comes later
  else if (products.size() != 1)
    fail(DiagId::ScheduleCannot, directive.l0Span,
         {item, "`" + local.name + "` is computed with " + std::to_string(products.size()) +
                    " products, of which it must be one"});
  else
    products.front()->setAttr("ptl.l0",
                              builder_.getArrayAttr({builder_.getDenseI64ArrayAttr(directive.l0),
                                                     LocationAttr(location(directive.l0Span))}));
}

/// A tile at the place that the schedule gives it; what a program computes is cut into tiles later.
mlir::Value Builder::placed(const ScheduleDirective &directive, const Local &local,
                            mlir::Value value) {
  auto place = static_cast<Place>(directive.place);
  auto type = dyn_cast<ArrayType>(value.getType());
  bool isProgram = frame_->decl->kind == DeclKind::Program;
  if (!type || (isProgram && isa<LoadOp>(value.getDefiningOp()))) {
    fail(DiagId::ScheduleCannot, directive.placeSpan,
         {"place @" + placeName(place).str(),
          "`" + local.name + "` is no tile that is computed here"});
    return value;
  }
  auto name = builder_.getStringAttr(local.name);
  if (isProgram) {
    value.getDefiningOp()->setAttr(
        "ptl.place", builder_.getArrayAttr({builder_.getStringAttr(placeName(place)), name}));
    return value;
  }
  Location at = NameLoc::get(name, location(local.span));
  auto pinned = ArrayType::get(&context_, type.getElementType(), type.getExtents(), place);
  return make<CastOp>(at, pinned, value);
}

/// The value of a `let`, at the place that the schedule gives it, with the rest as attributes of
/// the operation that makes it.
mlir::Value Builder::scheduled(const Local &local, mlir::Value value) {
  Operation *op = value.getDefiningOp();
  const ScheduleDecl *schedule = frame_->schedule;
  if (!op || !schedule)
    return value;
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name)
      scheduleValue(directive, local, value);
  pinProduct(local, value);
  for (const ScheduleLabels &labels : schedule->fuses)
    if (llvm::is_contained(labels.names, local.name))
      op->setAttr("ptl.fuse", builder_.getStringAttr(labels.names.front()));
  if (llvm::is_contained(schedule->splitsAfter.names, local.name))
    op->setAttr("ptl.split", builder_.getUnitAttr());
  for (const ScheduleLabels &labels : schedule->orders)
    if (llvm::is_contained(labels.names, local.name))
      op->setAttr("ptl.order", builder_.getStringAttr(local.name));
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name && directive.place != ptl::Place::Inferred &&
        directive.place != ptl::Place::Gm)
      value = placed(directive, local, value);
  return value;
}

// ---- Grids --------------------------------------------------------------------------------------

/// How many core groups do the points of a kernel.
void Builder::scheduleGrid(ParallelOp grid) {
  const ScheduleDecl *schedule = frame_->schedule;
  if (schedule && schedule->cores > 0 && frame_->decl->kind != DeclKind::Program)
    grid->setAttr("ptl.cores", builder_.getI64IntegerAttr(schedule->cores));
}

// ---- Tasks --------------------------------------------------------------------------------------

namespace {
/// What is computed for one label, and what that needs, in one block.
class Unit {
public:
  explicit Unit(llvm::ArrayRef<Operation *> ops) : block_(ops.front()->getBlock()) {
    for (Operation *op : ops)
      add(op);
    // What is only stored is computed where it is stored.
    for (Operation *op : ops)
      if (op->getNumResults() == 1 && op->getResult(0).hasOneUse())
        if (auto store = dyn_cast<StoreOp>(*op->getResult(0).user_begin());
            store && store->getBlock() == block_)
          add(store);
    // What kernels write is written by the grids that stand before.
    for (size_t i = 0; i < ops_.size(); ++i)
      if (auto load = dyn_cast<LoadOp>(ops_[i]))
        for (Operation *writer : writersOf(load.getRef(), load))
          add(writer);
  }

  Operation *first() const {
    return *llvm::min_element(ops_,
                              [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }
  bool contains(Operation *op) const { return ops_.contains(op); }

  /// All that must come before it, of what stands behind `start`.
  void addNeeds(Operation *start) {
    auto isBehind = [&](Operation *op) {
      return op && op->getBlock() == block_ && !op->isBeforeInBlock(start);
    };
    for (size_t i = 0; i < ops_.size(); ++i) {
      llvm::SetVector<mlir::Value> used(ops_[i]->operand_begin(), ops_[i]->operand_end());
      getUsedValuesDefinedAbove(ops_[i]->getRegions(), used);
      for (mlir::Value value : used) {
        if (isBehind(value.getDefiningOp()))
          add(value.getDefiningOp());
        if (isa<RefType>(value.getType()))
          for (Operation *writer : writersOf(value, ops_[i]))
            if (isBehind(writer))
              add(writer);
      }
    }
  }

  /// Whether what it writes is used by others between `start` and itself.
  bool isEntangled(Operation *start) const {
    auto isOther = [&](Operation *user) {
      Operation *here = block_->findAncestorOpInBlock(*user);
      return here && !ops_.contains(here) && !isa<DimOp>(user) && !here->isBeforeInBlock(start);
    };
    for (Operation *op : ops_)
      for (mlir::Value ref : written(op))
        for (Operation *user : ref.getUsers())
          if (isOther(user) && block_->findAncestorOpInBlock(*user)->isBeforeInBlock(op))
            return true;
    return false;
  }

  void moveBefore(Operation *start) {
    llvm::SmallVector<Operation *> sorted(ops_.begin(), ops_.end());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : sorted)
      if (!op->isBeforeInBlock(start))
        op->moveBefore(start);
  }

private:
  void add(Operation *op) { ops_.insert(op); }

  static llvm::SmallVector<mlir::Value> written(Operation *op) {
    llvm::SmallVector<mlir::Value> refs;
    op->walk([&](StoreOp store) { refs.push_back(store.getRef()); });
    op->walk([&](PointerOp pointer) {
      if (pointer.getRole() != "in")
        refs.push_back(pointer.getArray());
    });
    return refs;
  }

  llvm::SmallVector<Operation *> writersOf(mlir::Value ref, Operation *before) const {
    llvm::SmallVector<Operation *> writers;
    for (Operation *user : ref.getUsers())
      if (Operation *here = block_->findAncestorOpInBlock(*user);
          here && here->isBeforeInBlock(before) && llvm::is_contained(written(here), ref))
        writers.push_back(here);
    return writers;
  }

  mlir::Block *block_;
  llvm::SetVector<Operation *> ops_;
};
} // namespace

/// Puts tasks into the order that the schedule asks for: program order is the order in which they
/// are handed to the scheduler.
void Builder::orderTasks(mlir::Block &in) {
  if (!frame_->schedule || frame_->schedule->orders.empty())
    return;
  llvm::MapVector<StringRef, llvm::SmallVector<Operation *>> ordered;
  in.walk([&](Operation *op) {
    if (auto label = dyn_cast_or_null<StringAttr>(op->removeAttr("ptl.order")))
      ordered[label.getValue()].push_back(op);
  });
  for (const ScheduleLabels &labels : frame_->schedule->orders)
    for (size_t i = 1; i < labels.names.size(); ++i) {
      const auto &earlier = ordered[labels.names[i - 1]], &later = ordered[labels.names[i]];
      std::string item = "order " + labels.names[i - 1] + ", " + labels.names[i];
      auto refuse = [&](const std::string &why) {
        fail(DiagId::ScheduleCannot, labels.spans[i], {item, why});
      };
      if (earlier.empty() || later.empty()) {
        refuse("`" + labels.names[earlier.empty() ? i - 1 : i] + "` is no task");
        continue;
      }
      if (earlier.front()->getBlock() != later.front()->getBlock()) {
        refuse("they stand in different loops or branches");
        continue;
      }
      Unit first(earlier), second(later);
      Operation *start = second.first();
      if (first.first()->isBeforeInBlock(start))
        continue;
      first.addNeeds(start);
      if (first.contains(start) || first.contains(later.back()))
        refuse("`" + labels.names[i - 1] + "` needs `" + labels.names[i] + "`");
      else if (first.isEntangled(start))
        refuse("what `" + labels.names[i - 1] + "` writes is used in between");
      else
        first.moveBefore(start);
    }
}

} // namespace ptl::ir
