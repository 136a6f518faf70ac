// Applies the schedule to values, tasks and grids: in place, or as attributes for the passes. Items
// that can have no effect on this machine are reported.
#include "ir/build/build_schedule.h"
#include "frontend/sema/placement/placement.h"
#include "ir/build/build_dim.h"
#include "ir/dialect/attributes.h"
#include "machines/machine.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::ir {

using NamedAttributes = llvm::SmallVector<mlir::NamedAttribute>;

// ---- Values -------------------------------------------------------------------------------------

/// The products that a value is computed with, up to other values that have names.
static void findProducts(mlir::Value value, llvm::SetVector<Operation *> &products) {
  Operation *op = value.getDefiningOp();
  // What is loaded or cut out of an array was computed somewhere else.
  if (!op || isa<LoadOp, SliceOp>(op))
    return;
  if (isa<MatmulOp>(op)) {
    products.insert(op);
    return;
  }
  for (mlir::Value operand : op->getOperands())
    if (isa<ArrayType>(operand.getType()) && operand.getDefiningOp() &&
        // A value with a name is scheduled under that name.
        !isa<NameLoc>(operand.getDefiningOp()->getLoc()))
      findProducts(operand, products);
}

/// Says of an operation what its function lists about it.
static void noteItem(BuildContext &c, Operation *op, const std::string &label,
                     const std::string &item, Span at, NamedAttributes details = {}) {
  // The number of an item is its position in the list, which the passes use to report what became
  // of it.
  auto number = static_cast<int64_t>(c.items.size());
  details.push_back(c.b.getNamedAttr("label", c.b.getStringAttr(label)));
  details.push_back(c.b.getNamedAttr("item", c.b.getStringAttr(item)));
  details.push_back(c.b.getNamedAttr("at", LocationAttr(c.location(at))));
  c.items.push_back(c.b.getDictionaryAttr(details));
  llvm::SmallVector<int64_t> numbers;
  if (auto before = attrs::item.of(op))
    llvm::append_range(numbers, before.asArrayRef());
  numbers.push_back(number);
  attrs::item.set(op, numbers);
}

void refuse(BuildContext &c, Span at, const std::string &item, const std::string &why) {
  // An item that was refused must not be reported as untaken as well.
  c.frame->taken.insert(at.begin);
  if (c.refused.insert({at.file, at.begin}).second) // a callee may be called several times
    c.fail(DiagId::ScheduleCannot, at, {item, why});
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

static std::string chunksText(const ScheduleDirective &directive) {
  return "chunks " + std::to_string(directive.chunks);
}

static std::string listText(const char *word, const ScheduleLabels &labels) {
  return word + (" " + llvm::join(labels.names, ", "));
}

static void scheduleValue(BuildContext &c, const ScheduleDirective &directive, const Local &local,
                          mlir::Value value) {
  Operation *op = value.getDefiningOp();
  NamedAttributes tiles;
  for (size_t i = 0; i < directive.tiles.size(); ++i) {
    const auto &[name, size] = directive.tiles[i];
    Span at = directive.tileSpans[i];
    Dim length;
    // The schedule names a dimension of the declaration; types speak of the root dimension to which
    // the call bound it.
    for (const DimParam &dim : c.frame->decl->dims)
      if (c.dims.symbol(dim.symbol).name == name)
        length = rootDim(c, c.dims.symbolDim(dim.symbol));
    std::string key = c.dims.toString(length);
    // The length says which axis is meant.
    bool isAxis = llvm::any_of(extentsOf(value.getType()), [&](const Extent &extent) {
      return (extent.symbol ? extent.symbol.str() : std::to_string(extent.length)) == key;
    });
    if (!isAxis) {
      refuse(c, at, tileText(directive, i),
             "`" + local.name + "` has no axis of length `" + name + "`");
    } else if (isa<LoadOp>(op)) {
      // A load is the result of a kernel that a call runs.
      refuse(c, at, tileText(directive, i),
             "a kernel computes `" + local.name + "`, whose tiles are its own");
    } else if (c.isInKernel()) {
      refuse(c, at, tileText(directive, i),
             "it is computed within a kernel, whose tiles are those that it says");
    } else {
      c.frame->taken.insert(at.begin);
      tiles.push_back(c.b.getNamedAttr(key, c.b.getI64IntegerAttr(size)));
      noteItem(c, op, local.name, tileText(directive, i), at,
               {c.b.getNamedAttr("length", c.b.getStringAttr(key)),
                c.b.getNamedAttr("size", c.b.getI64IntegerAttr(size))});
    }
  }
  if (!tiles.empty())
    attrs::tile.set(op, tiles);
  // `place @gm` in a program means that the value is stored, so the kernel ends behind it.
  if (directive.place == ptl::Place::Gm) {
    c.frame->taken.insert(directive.placeSpan.begin);
    attrs::split.set(op);
  }
}

/// Marks values that share a kernel with the same number; all other values have other numbers.
static void fuseValue(BuildContext &c, const Local &local, Operation *op) {
  // A value may be named in one list only, which the checker has made sure of.
  for (const ScheduleLabels &labels : c.frame->schedule->fuses) {
    auto named = llvm::find(labels.names, local.name);
    if (named == labels.names.end())
      continue;
    Span at = labels.spans[static_cast<size_t>(named - labels.names.begin())];
    if (isa<LoadOp>(op) || c.isInKernel()) {
      refuse(c, at, listText("fuse", labels),
             isa<LoadOp>(op) ? "`" + local.name + "` comes from a kernel of its own"
                             : "`" + local.name + "` is computed within a kernel");
      continue;
    }
    c.frame->taken.insert(at.begin);
    // Each call of the declaration has a fusion of its own, so the number depends on the frame.
    auto [number, isNew] = c.fusions.try_emplace({c.frame, &labels}, c.fuseCount);
    c.fuseCount += isNew;
    attrs::fuse.set(op, labels.names.front() + "#" + std::to_string(number->second));
    noteItem(c, op, local.name, listText("fuse", labels), at,
             {c.b.getNamedAttr("fuse", c.b.getI64IntegerAttr(number->second))});
  }
}

namespace {
/// An item about the product that a value is computed with.
struct ProductItem {
  std::string text;
  Span at;
  const char *missing; ///< what this processor lacks for it
};
} // namespace

/// The single product that a value is computed with; null, after a report, if an item cannot be about it.
static Operation *productOf(BuildContext &c, const Local &local, mlir::Value value,
                            const ProductItem &item) {
  llvm::SetVector<Operation *> products;
  findProducts(value, products);
  bool isVariable = local.kind == LocalKind::Var || local.kind == LocalKind::Output;
  // Code for this machine has no use for it, so the item could have no effect.
  if (!c.binding.chip || c.binding.chip->executable) {
    refuse(c, item.at, item.text, "`" + c.binding.machine + "` " + item.missing);
  } else if (products.empty() && isVariable) {
    // A variable is assigned several times; another assignment may have the product.
    c.frame->whyNot[local.name] = "`" + local.name + "` is computed without a product";
  } else if (products.size() != 1) {
    // With several products it would be unclear which one is meant.
    refuse(c, item.at, item.text,
           "`" + local.name + "` is computed with " + std::to_string(products.size()) +
               " products, of which it must be one");
  } else {
    c.frame->taken.insert(item.at.begin);
    return products.front();
  }
  return nullptr;
}

/// Whether `chunks` in a schedule is about products: in programs on parts it is about movements.
static bool cutsProducts(BuildContext &c) {
  const CallableDecl &decl = *c.frame->decl;
  return !decl.module->tree || !isPlaced(*decl.module->tree, decl.syntax);
}

void pinProduct(BuildContext &c, const Local &local, mlir::Value value) {
  const ScheduleDecl *schedule = c.frame->schedule;
  // Without a schedule nothing is said of any value.
  if (!schedule)
    return;
  for (const ScheduleDirective &each : schedule->directives) {
    if (each.label != local.name)
      continue;
    if (each.l0.size() == 3)
      if (Operation *product =
              productOf(c, local, value, {l0Text(each), each.l0Span, "has no operand buffers"}))
        attrs::l0.set(product,
                      {c.b.getDenseI64ArrayAttr(each.l0), LocationAttr(c.location(each.l0Span))});
    if (each.chunks > 0 && cutsProducts(c))
      if (Operation *product =
              productOf(c, local, value,
                        {chunksText(each), each.span, "multiplies whole rows and columns"})) {
        noteItem(c, product, local.name, chunksText(each), each.span,
                 {c.b.getNamedAttr("chunks", c.b.getI64IntegerAttr(each.chunks))});
      }
  }
}

/// A tile at the place that the schedule gives it; what a program computes is cut into tiles later.
static mlir::Value placed(BuildContext &c, const ScheduleDirective &directive, const Local &local,
                          mlir::Value value) {
  auto place = static_cast<Place>(directive.place);
  auto type = dyn_cast<ArrayType>(value.getType());
  // In a program a load stands for what a kernel has made, and that is no tile.
  bool isProgram = c.frame->decl->kind == DeclKind::Program;
  if (!type || (isProgram && isa<LoadOp>(value.getDefiningOp()))) {
    refuse(c, directive.placeSpan, placeText(directive),
           "`" + local.name + "` is no tile that is computed here");
    return value;
  }
  c.frame->taken.insert(directive.placeSpan.begin);
  auto name = c.b.getStringAttr(local.name);
  // Tiles of a program do not exist yet, so the place is noted for the pass that makes them.
  if (isProgram) {
    Operation *op = value.getDefiningOp();
    attrs::place.set(op, {c.b.getStringAttr(placeName(place)), name});
    noteItem(c, op, local.name, placeText(directive), directive.placeSpan);
    return value;
  }
  Location at = NameLoc::get(name, c.location(local.span));
  auto pinned = ArrayType::get(&c.context, type.getElementType(), type.getExtents(), place);
  return c.make<CastOp>(at, pinned, value);
}

/// Whether the schedule says anything of a value by this name.
static bool isScheduled(BuildContext &c, const Local &local) {
  const ScheduleDecl *schedule = c.frame->schedule;
  auto names = [&](const ScheduleLabels &labels) {
    return llvm::is_contained(labels.names, local.name);
  };
  return schedule &&
         (llvm::any_of(schedule->directives,
                       [&](const ScheduleDirective &each) { return each.label == local.name; }) ||
          llvm::any_of(schedule->fuses, names) || llvm::any_of(schedule->orders, names) ||
          names(schedule->splitsAfter));
}

void cannotSchedule(BuildContext &c, const Local &local, const std::string &why) {
  if (isScheduled(c, local))
    // The reason is kept for the case that no other assignment takes the item.
    c.frame->whyNot[local.name] = why;
}

mlir::Value applySchedule(BuildContext &c, const Local &local, mlir::Value value) {
  Operation *op = value.getDefiningOp();
  const ScheduleDecl *schedule = c.frame->schedule;
  if (!schedule || !isScheduled(c, local))
    return value;
  // Without an operation, such as for a parameter, there is nothing that could carry attributes.
  if (!op) {
    cannotSchedule(c, local, "`" + local.name + "` is another name for an existing value");
    return value;
  }
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name)
      scheduleValue(c, directive, local, value);
  pinProduct(c, local, value);
  fuseValue(c, local, op);
  for (size_t i = 0; i < schedule->splitsAfter.names.size(); ++i)
    if (schedule->splitsAfter.names[i] == local.name) {
      Span at = schedule->splitsAfter.spans[i];
      if (c.isInKernel())
        refuse(c, at, "split after " + local.name, "it is computed within a kernel");
      // The item is taken even if it was refused.
      c.frame->taken.insert(at.begin);
      attrs::split.set(op);
    }
  for (const ScheduleLabels &labels : schedule->orders)
    if (llvm::is_contained(labels.names, local.name))
      attrs::order.set(op, local.name);
  // The place comes last: it puts a cast behind the value, and other items are about the operation.
  for (const ScheduleDirective &directive : schedule->directives)
    if (directive.label == local.name && directive.place != ptl::Place::Inferred &&
        directive.place != ptl::Place::Gm)
      value = placed(c, directive, local, value);
  return value;
}

void refuseUntaken(BuildContext &c) {
  const ScheduleDecl *schedule = c.frame->schedule;
  // The fusions of this call end with it.
  std::erase_if(c.fusions, [&](const auto &each) { return each.first.first == c.frame; });
  if (!schedule)
    return;
  auto look = [&](Span at, const std::string &label, const std::string &item) {
    // An item without a label concerns the whole declaration.
    if (label.empty() || c.frame->taken.count(at.begin))
      return;
    auto why = c.frame->whyNot.find(label);
    refuse(c, at, item,
           why != c.frame->whyNot.end() ? why->second
                                        : "`" + label + "` is in code that is not compiled");
  };
  for (const ScheduleDirective &directive : schedule->directives) {
    for (size_t i = 0; i < directive.tiles.size(); ++i)
      look(directive.tileSpans[i], directive.label, tileText(directive, i));
    if (directive.place != ptl::Place::Inferred)
      look(directive.placeSpan, directive.label, placeText(directive));
    if (directive.l0.size() == 3)
      look(directive.l0Span, directive.label, l0Text(directive));
    if (directive.chunks > 0 && cutsProducts(c))
      look(directive.span, directive.label, chunksText(directive));
  }
  for (const ScheduleLabels &labels : schedule->fuses)
    for (size_t i = 0; i < labels.names.size(); ++i)
      look(labels.spans[i], labels.names[i], listText("fuse", labels));
  for (size_t i = 0; i < schedule->splitsAfter.names.size(); ++i)
    look(schedule->splitsAfter.spans[i], schedule->splitsAfter.names[i],
         "split after " + schedule->splitsAfter.names[i]);
  for (const ScheduleLabels &labels : schedule->orders)
    if (c.frame->decl->kind == DeclKind::Fn && !labels.spans.empty())
      refuse(c, labels.spans.front(), listText("order", labels),
             "a `fn` has no tasks of its own: the program that calls it orders them");
  for (const ScheduleModifier &each : schedule->pipelines)
    look(each.span, each.label, "pipeline " + each.label + " " + std::to_string(each.number));
  for (const ScheduleModifier &each : schedule->unrolls)
    look(each.span, each.label,
         "unroll " + each.label + (each.number ? " " + std::to_string(each.number) : ""));
}

// ---- Grids --------------------------------------------------------------------------------------

void scheduleGrid(BuildContext &c, ParallelOp grid) {
  const ScheduleDecl *schedule = c.frame->schedule;
  if (schedule && schedule->cores > 0 && c.frame->decl->kind != DeclKind::Program)
    attrs::cores.set(grid, schedule->cores);
}

void shareCores(BuildContext &c, int64_t cores, mlir::Block &in, Operation *before) {
  auto mark = c.b.getI64IntegerAttr(cores);
  auto first = before ? std::next(mlir::Block::iterator(before)) : in.begin();
  auto last = c.b.getInsertionBlock() == &in ? c.b.getInsertionPoint() : in.end();
  for (Operation &op : llvm::make_range(first, last))
    op.walk([&](Operation *inner) {
      if (!attrs::cores.isOn(inner) && !inner->hasTrait<mlir::OpTrait::ConstantLike>())
        attrs::cores.set(inner, mark);
    });
}

} // namespace ptl::ir
