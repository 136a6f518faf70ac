// Finds the facts about data that a kernel needs to be right: which arrays of positions hold each
// value once, so that points of a grid write different elements; and which positions that a program
// computes are in bounds.
#include "codegen/source/entry.h"
#include "codegen/source/position_text.h"
#include "ir/dialect/attributes.h"

using namespace mlir;

namespace ptl::source {

/// The array behind views that describe all of its elements.
static Value arrayBehind(Value array) {
  for (;;) {
    Operation *op = array.getDefiningOp();
    // Within a grid a load may be a part; outside of one it is the whole array.
    bool isSame =
        op && (isa<ir::CastOp>(op) || (isa<ir::LoadOp>(op) && ir::rankOf(array.getType()) > 0 &&
                                       op->getParentOfType<ir::ParallelOp>() == nullptr));
    if (!isSame)
      return array;
    array = op->getOperand(0);
  }
}

/// The element of an array that a position is, without conversions; null if it is none.
static Operation *elementAt(Value position) {
  Operation *op = position.getDefiningOp();
  // Conversions do not change which element it is.
  while (op &&
         (isa<ir::ConvertOp>(op) || op->getName().getStringRef().starts_with("arith.index_cast")))
    op = op->getOperand(0).getDefiningOp();
  bool isElement =
      op && isa<ir::LoadOp, ir::SliceOp>(op) && ir::rankOf(op->getResult(0).getType()) == 0;
  return isElement ? op : nullptr;
}

static bool dependsOn(Value value, Value on, Operation *within) {
  if (value == on)
    return true;
  Operation *op = value.getDefiningOp();
  return op && within->isProperAncestor(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, on, within);
         });
}

/// The array of positions through which a store scatters, if the grid reads it from outside; else null.
static Value scatteredBy(ir::StoreOp store, ir::ParallelOp grid) {
  Operation *made = store.getIndex() ? store.getIndex().getDefiningOp() : nullptr;
  while (isa_and_nonnull<ir::CastOp, ir::ConvertOp>(made))
    made = made->getOperand(0).getDefiningOp();
  bool isRead = made && isa<ir::LoadOp, ir::SliceOp>(made) && grid->isAncestor(made);
  return isRead ? made->getOperand(0) : Value();
}

/// Points that differ in a variable must write different elements: by a position that depends on it
/// and is no element of an array, or by elements that all differ.
static void collectUnique(ir::StoreOp store, ir::ParallelOp grid, llvm::SetVector<Value> &arrays) {
  // Atomic updates may hit the same element.
  if (store.getAtomic())
    return;
  if (store.getIndex()) {
    // An index array in a store must name each position once.
    if (Value index = scatteredBy(store, grid))
      arrays.insert(index);
    return;
  }
  // All variables of the grids around the store count.
  llvm::SmallVector<Value> variables;
  for (Operation *outer = store->getParentOp(); outer != grid->getParentOp();
       outer = outer->getParentOp())
    if (auto each = dyn_cast<ir::ParallelOp>(outer))
      llvm::append_range(variables, each.getBody().front().getArguments());
  for (Value variable : variables) {
    auto depends = [&](Value position) { return dependsOn(position, variable, grid); };
    // A position that is computed from the variable directly is different at each of its points.
    if (llvm::any_of(store.getOffsets(),
                     [&](Value offset) { return !elementAt(offset) && depends(offset); }))
      continue;
    // Otherwise the elements by which it writes must differ.
    for (Value offset : store.getOffsets())
      if (Operation *element = elementAt(offset); element && depends(offset))
        arrays.insert(element->getOperand(0));
  }
}

llvm::SetVector<Value> uniqueArrays(ir::ParallelOp grid) {
  llvm::SetVector<Value> arrays;
  grid->walk([&](ir::StoreOp store) { collectUnique(store, grid, arrays); });
  return arrays;
}

bool isUniqueOfGrid(ir::CheckOp check) {
  auto fact = check.getCondition().getDefiningOp<ir::UniqueOp>();
  if (!fact)
    return false;
  Value array = arrayBehind(fact->getOperand(0));
  bool isNeeded = false;
  check->getParentOfType<func::FuncOp>().walk([&](ir::ParallelOp grid) {
    // Inner grids are part of the outermost one.
    if (!grid->getParentOfType<ir::ParallelOp>())
      for (Value needed : uniqueArrays(grid))
        isNeeded |= arrayBehind(needed) == array;
  });
  return isNeeded;
}

bool mustStateUnique(Operation *store, Value index) {
  Value array = arrayBehind(index);
  // What the program computes by expressions the checker looks through; what a launch has computed it knows nothing of. A kernel states what it
  // needs of its parameters.
  if (store->getParentOfType<ir::ParallelOp>() || !array.getDefiningOp<ir::AllocOp>())
    return false;
  return llvm::none_of(
      store->getParentOfType<func::FuncOp>().getOps<ir::CheckOp>(), [&](ir::CheckOp check) {
        auto fact = check.getCondition().getDefiningOp<ir::UniqueOp>();
        return fact && arrayBehind(fact->getOperand(0)) == array &&
               check->isBeforeInBlock(check->getBlock()->findAncestorOpInBlock(*store));
      });
}

// ---- Positions ----------------------------------------------------------------------------------

namespace {
/// `base + r` for the `r` of a grid that runs up to `length`, as an index of an axis.
struct Reach {
  Value base, length;
  ir::Extent axis;
};

/// Polynomials over what the entry and its types give names to.
class NamedPositions {
public:
  explicit NamedPositions(func::FuncOp function) {
    // Names of dimensions make polynomials comparable.
    for (BlockArgument argument : function.getArguments())
      if (auto dim = attrs::dim.of(function, argument.getArgNumber()))
        positions_.knowLength(dim.str(), argument);
  }
  Dim endOf(const Reach &reach) {
    return positions_.add(positions_.of(reach.base), positions_.of(reach.length));
  }
  Dim lengthOf(const ir::Extent &extent) {
    return extent.isConstant() ? positions_.constant(extent.length)
                               : positions_.named(extent.symbol.getValue());
  }
  Dim of(Value value) { return positions_.of(value); }
  bool isOfDimensions(Value value) { return positions_.inNames(value).has_value(); }
  /// Empty: something in it has no name.
  std::string text(Dim dim, const std::set<std::string> &inTypes) {
    bool isNamed = true;
    auto nameOf = [&](Value leaf) -> Expression {
      // A leaf without a name leaves no requirement that could be written.
      if (std::optional<std::string> name = positions_.inNames(leaf))
        return {*name};
      std::string name = lengthNameOf(leaf, inTypes);
      isNamed &= !name.empty();
      return {name};
    };
    std::string text = positions_.text(dim, nameOf).text;
    return isNamed ? text : "";
  }

private:
  Positions positions_;
};
} // namespace

/// Where a grid goes from positions that the program computes on.
static std::vector<Reach> reachesOf(ir::ParallelOp grid) {
  std::vector<Reach> reaches;
  auto lengthOf = [&](Value position) {
    auto variable = dyn_cast<BlockArgument>(position);
    auto own = variable ? dyn_cast<ir::ParallelOp>(variable.getOwner()->getParentOp()) : grid;
    return variable && own && (own == grid || grid->isAncestor(own))
               ? own.getUpper()[variable.getArgNumber()]
               : Value();
  };
  auto look = [&](auto box, Value array) {
    for (auto [axis, offset] : llvm::enumerate(box.getOffsets())) {
      auto sum = offset.template getDefiningOp<arith::AddIOp>();
      // Either operand of the sum may be the variable.
      for (unsigned own = 0; sum && own < 2; ++own)
        if (Value base = sum->getOperand(own), length = lengthOf(sum->getOperand(1 - own));
            length && !grid->isAncestor(base.getParentBlock()->getParentOp()))
          reaches.push_back({base, length, ir::extentsOf(array.getType())[axis]});
    }
  };
  forEachBox(grid, look);
  return reaches;
}

/// Arrays of positions by whose elements a grid indexes an axis.
static std::vector<std::pair<Value, ir::Extent>> indicesOf(ir::ParallelOp grid) {
  std::vector<std::pair<Value, ir::Extent>> indices;
  auto note = [&](Value index, Value array, size_t axis) {
    // An array that the grid makes itself is no argument.
    if (!index.getDefiningOp() || !grid->isAncestor(index.getDefiningOp()))
      indices.emplace_back(index, ir::extentsOf(array.getType())[axis]);
  };
  auto look = [&](auto box, Value array) {
    for (auto [axis, offset] : llvm::enumerate(box.getOffsets()))
      if (Operation *element = elementAt(offset))
        note(element->getOperand(0), array, axis);
  };
  forEachBox(grid, look);
  // Without its bounds a scatter covers no axis.
  grid->walk([&](ir::StoreOp store) {
    if (Value index = scatteredBy(store, grid))
      note(index, store.getRef(), static_cast<size_t>(*store.getIndexAxis()));
  });
  return indices;
}

/// All that a value is computed from, itself included, up to what comes from outside of the grid.
/// Nothing if that cannot be told.
static std::optional<llvm::SetVector<Value>> madeFrom(Value value, ir::ParallelOp grid) {
  llvm::SetVector<Value> all;
  all.insert(value);
  for (size_t next = 0; next < all.size(); ++next) {
    Operation *op = all[next].getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(all[next])) {
      // What loops carry comes from all of their body; their positions come from bounds.
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      bool isCarried = grid->isProperAncestor(argument.getOwner()->getParentOp()) &&
                       !isa<ir::ParallelOp>(argument.getOwner()->getParentOp()) &&
                       (!loop || argument != loop.getInductionVar());
      if (isCarried)
        return std::nullopt;
      continue;
    }
    if (!grid->isProperAncestor(op))
      continue;
    if (op->getNumRegions() != 0)
      return std::nullopt;
    all.insert(op->operand_begin(), op->operand_end());
  }
  return all;
}

bool isAboutPositions(ir::CheckOp check, ir::ParallelOp grid) {
  std::optional<llvm::SetVector<Value>> from = madeFrom(check.getCondition(), grid);
  if (!from)
    return true;
  return llvm::any_of(indicesOf(grid), [&](auto &index) { return from->contains(index.first); }) ||
         llvm::any_of(reachesOf(grid), [&](auto &reach) { return from->contains(reach.base); });
}

std::vector<std::string> factsOfIndices(ir::ParallelOp grid,
                                        llvm::function_ref<std::string(Value)> nameOf) {
  std::vector<std::string> facts;
  // A grid that checks its bounds needs no promise.
  if (attrs::checksBounds.isOn(grid))
    return facts;
  for (auto [array, axis] : indicesOf(grid)) {
    std::string name = nameOf(array);
    std::string length =
        axis.isConstant() ? std::to_string(axis.length) : dimension(axis.symbol.getValue()).text;
    // Both bounds are needed, since elements may be negative.
    for (const std::string &fact : {name + " >= 0", name + " < " + length})
      if (std::string all = "all(" + fact + ")"; !name.empty() && !llvm::is_contained(facts, all))
        facts.push_back(all);
  }
  return facts;
}

/// The condition in `all(array …)` of a requirement that belongs to a check, behind the array;
/// empty if the requirement has another form.
static std::string factOfAll(ir::CheckOp check) {
  llvm::StringRef clause = check.getMessage().split("needs `all(").second.split('`').first;
  if (check.getStatus() != "where" || !clause.consume_back(")"))
    return "";
  llvm::StringRef fact = clause.drop_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  return fact == " >= 0" || fact.starts_with(" < ") ? fact.str() : "";
}

std::vector<std::string> boundsOf(ir::ParallelOp grid, const std::set<std::string> &inTypes) {
  std::vector<std::string> bounds;
  if (attrs::checksBounds.isOn(grid))
    return bounds;
  NamedPositions positions(grid->getParentOfType<func::FuncOp>());
  for (const Reach &reach : reachesOf(grid)) {
    std::string end = positions.text(positions.endOf(reach), inTypes);
    std::string bound = end + " <= " + positions.text(positions.lengthOf(reach.axis), inTypes);
    // A position over dimensions alone is proved by the checker.
    if (!positions.isOfDimensions(reach.base) && !end.empty() && !llvm::is_contained(bounds, bound))
      bounds.push_back(bound);
  }
  return bounds;
}

bool isBoundOfPosition(ir::CheckOp check) {
  // The message names the clause that the check stands for.
  bool isUnique = check.getMessage().contains("needs `unique(") && check.getStatus() == "where";
  if (isUnique || !factOfAll(check).empty())
    return true;
  auto bound = check.getCondition().getDefiningOp<arith::CmpIOp>();
  if (check.getStatus() != "where" || !bound || bound.getPredicate() != arith::CmpIPredicate::sle ||
      !bound.getLhs().getType().isIndex())
    return false;
  NamedPositions positions(check->getParentOfType<func::FuncOp>());
  return !positions.isOfDimensions(bound.getLhs()) && positions.isOfDimensions(bound.getRhs());
}

bool isBoundOfGrid(ir::CheckOp check) {
  auto function = check->getParentOfType<func::FuncOp>();
  auto bound = check.getCondition().getDefiningOp<arith::CmpIOp>();
  std::string ofAll = factOfAll(check);
  if (!isBoundOfPosition(check) || (ofAll.empty() && !bound))
    return false;
  NamedPositions positions(function);
  bool isNeeded = false;
  function.walk([&](ir::ParallelOp grid) {
    // The name of the array does not matter for whether a fact of this form is needed.
    if (!ofAll.empty())
      isNeeded |= llvm::is_contained(factsOfIndices(grid, [](Value) { return "x"; }),
                                     "all(x" + ofAll + ")");
    else
      for (const Reach &reach : reachesOf(grid))
        isNeeded |= positions.endOf(reach) == positions.of(bound.getLhs()) &&
                    positions.lengthOf(reach.axis) == positions.of(bound.getRhs());
  });
  return isNeeded;
}

} // namespace ptl::source
