// What the schedule that applies says of values, tasks and grids: in place, or as attributes for
// the passes. Items that can have no effect on this machine are reported.
#include "ir/build/builder.h"

#include "ir/dialect/schedule_attributes.h"
#include "machines/machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

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

/// Says of an operation what its function lists about it.
void Builder::noteItem(Operation *op, const std::string &label, const std::string &item, Span at,
                       NamedAttributes details) {
  auto number = static_cast<int64_t>(items_.size());
  details.push_back(builder_.getNamedAttr("label", builder_.getStringAttr(label)));
  details.push_back(builder_.getNamedAttr("item", builder_.getStringAttr(item)));
  details.push_back(builder_.getNamedAttr("at", LocationAttr(location(at))));
  items_.push_back(builder_.getDictionaryAttr(details));
  llvm::SmallVector<int64_t> numbers;
  if (auto before = op->getAttrOfType<DenseI64ArrayAttr>(kItemNumbersAttribute))
    llvm::append_range(numbers, before.asArrayRef());
  numbers.push_back(number);
  op->setAttr(kItemNumbersAttribute, builder_.getDenseI64ArrayAttr(numbers));
}

void Builder::refuse(Span at, const std::string &item, const std::string &why) {
  frame_->taken.insert(at.begin);
  if (refused_.insert({at.file, at.begin}).second) // a callee may be called several times
    fail(DiagId::ScheduleCannot, at, {item, why});
}

static std::string tileText(const ScheduleDirective &directive, size_t i) {
  return "tile " + directive.tiles[i].first + " by " + std::to_string(directive.tiles[i].second);
}

static std::string placeText(const ScheduleDirective &directive) {
  return "place @" + placeName(static_cast<Place>(directive.place)).str();
}

static std::string l0Text(const ScheduleDirective &directive) {
  std::string text = "l0";
  for (auto [i, size] : llvm::enumerate(directive.l0))
    text += (i ? ", " : " ") + std::to_string(size);
  return text;
}

static std::string listText(const char *word, const ScheduleLabels &labels) {
  return word + (" " + llvm::join(labels.names, ", "));
}

void Builder::scheduleValue(const ScheduleDirective &directive, const Local &local,
                            mlir::Value value) {
  Operation *op = value.getDefiningOp();
  NamedAttributes tiles;
  for (size_t i = 0; i < directive.tiles.size(); ++i) {
    const auto &[name, size] = directive.tiles[i];
    Span at = directive.tileSpans[i];
    Dim length;
    for (const DimParam &dim : frame_->decl->dims)
      if (dims_.symbol(dim.symbol).name == name)
        length = rootDim(dims_.symbolDim(dim.symbol));
    std::string key = dims_.toString(length);
    bool isAxis = llvm::any_of(extentsOf(value.getType()), [&](const Extent &extent) {
      return (extent.symbol ? extent.symbol.str() : std::to_string(extent.length)) == key;
    });
    if (!isAxis) {
      refuse(at, tileText(directive, i),
             "`" + local.name + "` has no axis of length `" + name + "`");
    } else if (isa<LoadOp>(op)) {
      refuse(at, tileText(directive, i),
             "a kernel computes `" + local.name + "`, whose tiles are its own");
    } else if (op->getParentOfType<ParallelOp>()) {
      refuse(at, tileText(directive, i),
             "it is computed within a kernel, whose tiles are those that it says");
    } else {
      frame_->taken.insert(at.begin);
      tiles.push_back(builder_.getNamedAttr(key, builder_.getI64IntegerAttr(size)));
      noteItem(op, local.name, tileText(directive, i), at,
               {builder_.getNamedAttr("length", builder_.getStringAttr(key)),
                builder_.getNamedAttr("size", builder_.getI64IntegerAttr(size))});
    }
  }
  if (!tiles.empty())
    op->setAttr("ptl.tile", builder_.getDictionaryAttr(tiles));
  if (directive.place == ptl::Place::Gm) {
    frame_->taken.insert(directive.placeSpan.begin);
    op->setAttr("ptl.split", builder_.getUnitAttr());
  }
}

/// What shares a kernel has the same mark, and everything else another one.
void Builder::fuseValue(const Local &local, Operation *op) {
  for (const ScheduleLabels &labels : frame_->schedule->fuses) {
    auto named = llvm::find(labels.names, local.name);
    if (named == labels.names.end())
      continue;
    Span at = labels.spans[static_cast<size_t>(named - labels.names.begin())];
    if (isa<LoadOp>(op) || op->getParentOfType<ParallelOp>()) {
      refuse(at, listText("fuse", labels),
             isa<LoadOp>(op) ? "`" + local.name + "` comes from a kernel of its own"
                             : "`" + local.name + "` is computed within a kernel");
      continue;
    }
    frame_->taken.insert(at.begin);
    auto [number, isNew] = fusions_.try_emplace({frame_, &labels}, fuseCount_);
    fuseCount_ += isNew;
    op->setAttr("ptl.fuse", builder_.getStringAttr(labels.names.front() + "#" +
                                                   std::to_string(number->second)));
    noteItem(op, local.name, listText("fuse", labels), at,
             {builder_.getNamedAttr("fuse", builder_.getI64IntegerAttr(number->second))});
  }
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
  llvm::SetVector<Operation *> products;
  findProducts(value, products);
  bool isVariable = local.kind == LocalKind::Var || local.kind == LocalKind::Output;
  if (!binding_.chip || binding_.chip->executable) {
    refuse(directive.l0Span, l0Text(directive),
           "`" + binding_.machine + "` has no operand buffers");
  } else if (products.empty() && isVariable) {
    frame_->whyNot[local.name] = "`" + local.name + "` is computed without a product";
  } else if (products.size() != 1) {
    refuse(directive.l0Span, l0Text(directive),
           "`" + local.name + "` is computed with " + std::to_string(products.size()) +
               " products, of which it must be one");
  } else {
    frame_->taken.insert(directive.l0Span.begin);
    products.front()->setAttr("ptl.l0",
                              builder_.getArrayAttr({builder_.getDenseI64ArrayAttr(directive.l0),
                                                     LocationAttr(location(directive.l0Span))}));
  }
}

/// A tile at the place that the schedule gives it; what a program computes is cut into tiles later.
mlir::Value Builder::placed(const ScheduleDirective &directive, const Local &local,
                            mlir::Value value) {
  auto place = static_cast<Place>(directive.place);
  auto type = dyn_cast<ArrayType>(value.getType());
  bool isProgram = frame_->decl->kind == DeclKind::Program;
  if (!type || (isProgram && isa<LoadOp>(value.getDefiningOp()))) {
    refuse(directive.placeSpan, placeText(directive),
           "`" + local.name + "` is no tile that is computed here");
    return value;
  }
  frame_->taken.insert(directive.placeSpan.begin);
  auto name = builder_.getStringAttr(local.name);
  if (isProgram) {
    Operation *op = value.getDefiningOp();
    op->setAttr("ptl.place",
                builder_.getArrayAttr({builder_.getStringAttr(placeName(place)), name}));
    noteItem(op, local.name, placeText(directive), directive.placeSpan);
    return value;
  }
  Location at = NameLoc::get(name, location(local.span));
  auto pinned = ArrayType::get(&context_, type.getElementType(), type.getExtents(), place);
  return make<CastOp>(at, pinned, value);
}

/// Whether the schedule says anything of a value by this name.
bool Builder::isScheduled(const Local &local) const {
  const ScheduleDecl *schedule = frame_->schedule;
  auto names = [&](const ScheduleLabels &labels) {
    return llvm::is_contained(labels.names, local.name);
  };
  return schedule &&
         (llvm::any_of(schedule->directives,
                       [&](const ScheduleDirective &each) { return each.label == local.name; }) ||
          llvm::any_of(schedule->fuses, names) || llvm::any_of(schedule->orders, names) ||
          names(schedule->splitsAfter));
}

void Builder::cannotSchedule(const Local &local, const std::string &why) {
  if (isScheduled(local))
    frame_->whyNot[local.name] = why;
}

/// The value of a `let`, at the place that the schedule gives it, with the rest as attributes of
/// the operation that makes it.
mlir::Value Builder::scheduled(const Local &local, mlir::Value value) {
  Operation *op = value.getDefiningOp();
  const ScheduleDecl *schedule = frame_->schedule;
  if (!schedule || !isScheduled(local))
    return value;
  if (!op) {
    cannotSchedule(local, "`" + local.name + "` is another name for what is there already");
    return value;
  }
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name)
      scheduleValue(directive, local, value);
  pinProduct(local, value);
  fuseValue(local, op);
  for (size_t i = 0; i < schedule->splitsAfter.names.size(); ++i)
    if (schedule->splitsAfter.names[i] == local.name) {
      Span at = schedule->splitsAfter.spans[i];
      if (op->getParentOfType<ParallelOp>())
        refuse(at, "split after " + local.name, "it is computed within a kernel");
      frame_->taken.insert(at.begin);
      op->setAttr("ptl.split", builder_.getUnitAttr());
    }
  for (const ScheduleLabels &labels : schedule->orders)
    if (llvm::is_contained(labels.names, local.name))
      op->setAttr("ptl.order", builder_.getStringAttr(local.name));
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name && directive.place != ptl::Place::Inferred &&
        directive.place != ptl::Place::Gm)
      value = placed(directive, local, value);
  return value;
}

/// What the present declaration's schedule says, and nothing came of.
void Builder::refuseUntaken() {
  const ScheduleDecl *schedule = frame_->schedule;
  std::erase_if(fusions_, [&](const auto &each) { return each.first.first == frame_; });
  if (!schedule)
    return;
  auto look = [&](Span at, const std::string &label, const std::string &item) {
    if (label.empty() || frame_->taken.count(at.begin))
      return;
    auto why = frame_->whyNot.find(label);
    refuse(at, item,
           why != frame_->whyNot.end() ? why->second
                                       : "`" + label + "` is in code that is not compiled");
  };
  for (const ScheduleDirective &directive : schedule->directives) {
    for (size_t i = 0; i < directive.tiles.size(); ++i)
      look(directive.tileSpans[i], directive.label, tileText(directive, i));
    if (directive.place != ptl::Place::Inferred)
      look(directive.placeSpan, directive.label, placeText(directive));
    if (directive.l0.size() == 3)
      look(directive.l0Span, directive.label, l0Text(directive));
  }
  for (const ScheduleLabels &labels : schedule->fuses)
    for (size_t i = 0; i < labels.names.size(); ++i)
      look(labels.spans[i], labels.names[i], listText("fuse", labels));
  for (size_t i = 0; i < schedule->splitsAfter.names.size(); ++i)
    look(schedule->splitsAfter.spans[i], schedule->splitsAfter.names[i],
         "split after " + schedule->splitsAfter.names[i]);
  for (const ScheduleLabels &labels : schedule->orders)
    if (frame_->decl->kind == DeclKind::Fn && !labels.spans.empty())
      refuse(labels.spans.front(), listText("order", labels),
             "a `fn` has no tasks of its own: the program that calls it orders them");
  for (const ScheduleModifier &each : schedule->pipelines)
    look(each.span, each.label, "pipeline " + each.label + " " + std::to_string(each.number));
  for (const ScheduleModifier &each : schedule->unrolls)
    look(each.span, each.label,
         "unroll " + each.label + (each.number ? " " + std::to_string(each.number) : ""));
}

// ---- Grids --------------------------------------------------------------------------------------

/// How many core groups do the points of a kernel.
void Builder::scheduleGrid(ParallelOp grid) {
  const ScheduleDecl *schedule = frame_->schedule;
  if (schedule && schedule->cores > 0 && frame_->decl->kind != DeclKind::Program)
    grid->setAttr(kCoresAttribute, builder_.getI64IntegerAttr(schedule->cores));
}

void Builder::shareCores(int64_t cores, mlir::Block &in, Operation *before) {
  auto mark = builder_.getI64IntegerAttr(cores);
  auto first = before ? std::next(mlir::Block::iterator(before)) : in.begin();
  auto last = builder_.getInsertionBlock() == &in ? builder_.getInsertionPoint() : in.end();
  for (Operation &op : llvm::make_range(first, last))
    op.walk([&](Operation *inner) {
      if (!inner->hasAttr(kCoresAttribute) && !inner->hasTrait<mlir::OpTrait::ConstantLike>())
        inner->setAttr(kCoresAttribute, mark);
    });
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
