// Grids as functions of their own.
#include "passes/lower_block/outline.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/task_attribute.h"
#include "passes/analysis/formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// A parameter of a kernel.
struct Argument {
  std::string name, role; ///< role: of arrays
  Value value;
  StringAttr length; ///< the length it is, by its name in types; null: none
};

class Outliner {
public:
  explicit Outliner(ir::ParallelOp grid) : grid_(grid) {}

  llvm::ArrayRef<Argument> collect() {
    collectSteps();
    takeScalars();
    collectArguments();
    return arguments_;
  }

  /// What the kernel computes before its grid, in order: steps of the grid that follow from sizes.
  llvm::ArrayRef<Operation *> beforeGrid() const { return before_.getArrayRef(); }

private:
  static bool isScalar(Operation *op) {
    return op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndex() &&
           op->getNumRegions() == 0 && isPure(op) &&
           llvm::none_of(op->getOperandTypes(), ir::isArrayLike);
  }

  /// Whether it is computed from dimensions alone. Lengths of arrays are passed with the arrays.
  static bool isDimension(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto function =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    if (argument)
      return function && attrs::dim.isOn(function, argument.getArgNumber());
    return isFromDimensions(value.getDefiningOp());
  }
  static bool isFromDimensions(Operation *op) {
    return isScalar(op) &&
           llvm::none_of(op->getUsers(), [](Operation *user) { return isa<ir::AllocOp>(user); }) &&
           llvm::all_of(op->getOperands(), isDimension);
  }

  /// Whether the kernel takes the result from the host. A value that a manual kernel computes may
  /// equal one that the host computes from other arguments of the kernel, or from dimensions.
  bool isTaken(Operation *op, const llvm::SetVector<Value> &given) {
    if (!attrs::manual.isOn(grid_))
      return isFromDimensions(op);
    return isFromDimensions(op) ||
           (isScalar(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
              return given.contains(operand) || matchPattern(operand, m_Constant()) ||
                     isDimension(operand);
            }));
  }

  /// Whether it follows from dimensions. Divisions count, though their divisors must not be 0: that
  /// of a step is none.
  static bool followsFromDimensions(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ir::DimOp>(op))
      return isa<BlockArgument>(op->getOperand(0));
    return !op ? isDimension(value)
               : op->getNumResults() == 1 && value.getType().isIntOrIndex() &&
                     op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                     llvm::all_of(op->getOperands(), followsFromDimensions);
  }

  /// Steps that are computed from sizes, and what these are computed from. They are computed once in
  /// the kernel, before its grid.
  void collectSteps() {
    if (attrs::manual.isOn(grid_))
      return;
    std::function<void(Value)> take = [&](Value value) {
      Operation *made = value.getDefiningOp();
      if (!made || isa<ir::DimOp>(made) || matchPattern(value, m_Constant()) ||
          before_.contains(made))
        return;
      for (Value operand : made->getOperands())
        take(operand);
      before_.insert(made);
    };
    for (Value step : grid_.getSteps())
      if (followsFromDimensions(step))
        take(step);
  }

  /// Scalars that are computed from sizes are computed again in the kernel, because a launch should
  /// only have arguments that the source names, and the prover needs to see how sizes depend on
  /// each other.
  void takeScalars() {
    OpBuilder b(grid_.getContext());
    // A copy may capture operands that can be taken as well, so this goes on until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(grid_->getRegions(), captured);
      for (Value value : captured) {
        Operation *made = value.getDefiningOp();
        if (!made || matchPattern(value, m_Constant()) || before_.contains(made) ||
            !isTaken(made, captured))
          continue;
        b.setInsertionPointToStart(&grid_.getBody().front());
        Operation *copy = b.clone(*made);
        value.replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
          return use.getOwner() != copy && grid_->isProperAncestor(use.getOwner());
        });
        // The copy may use further values from outside.
        changed = true;
      }
    }
  }

  void collectArguments() {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(grid_->getRegions(), captured);
    for (Value operand : grid_->getOperands())
      captured.insert(operand);
    for (Operation *op : before_)
      captured.insert(op->operand_begin(), op->operand_end());
    captured.remove_if([&](Value value) { return before_.contains(value.getDefiningOp()); });
    auto function = grid_->getParentOfType<func::FuncOp>();
    for (BlockArgument argument : function.getArguments())
      if (StringAttr name = givenName(argument))
        // Names that the source has given are kept, so made-up names avoid them.
        taken_.insert(name.getValue());
    llvm::SmallVector<Value> ordered;
    for (Value argument : function.getArguments())
      // The order of the source's arguments is kept.
      if (captured.contains(argument))
        ordered.push_back(argument);
    for (Value value : captured)
      if (!llvm::is_contained(function.getArguments(), value)) // of loops of the host, too
        ordered.push_back(value);
    for (Value value : ordered)
      for (const ir::Extent &extent : ir::extentsOf(value.getType()))
        if (!extent.isConstant())
          // Lengths become arguments under their own names.
          taken_.insert(extent.symbol.getValue());
    for (Value value : ordered)
      if (ir::isArrayLike(value.getType()))
        arguments_.push_back({nameOf(value), roleOf(value), value, {}});
    addLengths(function, ordered);
    for (Value value : ordered)
      if (!ir::isArrayLike(value.getType()) && !matchPattern(value, m_Constant()) &&
          llvm::none_of(arguments_, [&](const Argument &a) { return a.value == value; }))
        arguments_.push_back({nameOf(value), "", value, {}});
  }

  /// The lengths that the types of arrays in global memory name.
  void addLengths(func::FuncOp function, llvm::ArrayRef<Value> values) {
    llvm::SetVector<StringAttr> names;
    for (Value value : values)
      for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(value.getType()))) {
        if (extent.isConstant() || !names.insert(extent.symbol))
          continue;
        Value length = dimension(function, extent.symbol);
        // A length that is no dimension of the entry is asked of the array by the host.
        if (!length) {
          OpBuilder host(grid_);
          length = host.create<ir::DimOp>(grid_.getLoc(), host.getIndexType(), value,
                                          static_cast<int64_t>(axis));
        }
        arguments_.push_back({extent.symbol.str(), "", length, extent.symbol});
      }
  }

  static Value dimension(func::FuncOp function, StringAttr symbol) {
    for (BlockArgument argument : function.getArguments())
      if (attrs::dim.of(function, argument.getArgNumber()) == symbol)
        return argument;
    return {};
  }

  /// The name that the entry gives an argument of its own.
  static StringAttr givenName(BlockArgument argument) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? attrs::firstOf(function, argument.getArgNumber(), attrs::name, attrs::output,
                                     attrs::dim)
                    : StringAttr();
  }

  std::string nameOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (StringAttr name = givenName(argument))
        return name.str();
    if (auto name = dyn_cast<NameLoc>(value.getLoc()))
      return unique(name.getName().str());
    return unique(ir::isArrayLike(value.getType()) ? "t" : "s");
  }

  /// The name, or the first of `name1`, `name2`, ... that is free. Arguments need different names
  /// because readers of a kernel identify its arrays by them.
  std::string unique(const std::string &name) {
    std::string free = name;
    for (unsigned count = 1; !taken_.insert(free).second; ++count)
      free = name + std::to_string(count);
    return free;
  }

  std::string roleOf(Value array) {
    bool written = false, read = false;
    grid_.walk([&](Operation *op) {
      if (auto store = dyn_cast<ir::StoreOp>(op); store && store.getRef() == array)
        written = true;
      else if (auto pointer = dyn_cast<ir::PointerOp>(op); pointer && pointer.getArray() == array) {
        written |= pointer.getRole() != "in";
        read |= pointer.getRole() != "out";
      } else
        // Asking for a length reads no elements.
        read |= llvm::is_contained(op->getOperands(), array) && !isa<ir::DimOp>(op);
    });
    return written ? (read ? "inout" : "out") : "in";
  }

  ir::ParallelOp grid_;
  llvm::SetVector<Operation *> before_;
  llvm::SmallVector<Argument> arguments_;
  llvm::StringSet<> taken_; ///< names of arguments
};

} // namespace

llvm::SmallVector<ir::ParallelOp> kernelGrids(func::FuncOp function) {
  llvm::SmallVector<ir::ParallelOp> grids;
  function.walk<WalkOrder::PreOrder>([&](ir::ParallelOp grid) {
    grids.push_back(grid);
    // Grids within a grid belong to its kernel.
    return WalkResult::skip();
  });
  return grids;
}

std::string kernelName(func::FuncOp function, size_t number, size_t count) {
  llvm::StringRef base = function.getSymName();
  base.consume_front("ptl_");
  return count == 1 ? base.str() : (base + "_" + llvm::Twine(number)).str();
}

/// The relations that hold wherever the host comes to a grid: what it has checked, and the limits of
/// the numbers that it computes from data.
static llvm::SmallVector<Attribute> checkedBefore(ir::ParallelOp grid,
                                                  llvm::ArrayRef<Argument> arguments) {
  llvm::SetVector<Attribute> relations;
  auto add = [&](const std::string &relation) {
    relations.insert(StringAttr::get(grid.getContext(), relation));
  };
  for (Operation *at = grid; !isa<func::FuncOp>(at); at = at->getParentOp())
    for (Operation &before : llvm::make_range(at->getBlock()->begin(), at->getIterator()))
      // A check in front of the grid, or of the loops around it, has held if the grid is reached.
      if (auto check = dyn_cast<ir::CheckOp>(before))
        if (std::string relation = ir::relationOf(check.getCondition()); !relation.empty())
          add(relation);
  for (const Argument &argument : arguments) {
    if (!argument.role.empty() || argument.length || !argument.value.getType().isIntOrIndex())
      continue;
    // Lengths are formulas of dimensions anyway; the limits are those of numbers that come from data.
    auto [least, most] = ir::limitsOf(argument.value);
    if (!least.empty() && least != most)
      add(least + " <= " + argument.name);
    if (!most.empty() && least != most)
      add(argument.name + " <= " + most);
  }
  return relations.takeVector();
}

static func::FuncOp functionFor(ir::ParallelOp grid, llvm::StringRef name, ModuleOp into,
                                llvm::ArrayRef<Argument> arguments,
                                llvm::ArrayRef<Operation *> beforeGrid) {
  OpBuilder b = OpBuilder::atBlockEnd(into.getBody());
  llvm::SmallVector<Value> operands;
  for (const Argument &argument : arguments)
    operands.push_back(argument.value);
  auto function = b.create<func::FuncOp>(
      grid.getLoc(), name, b.getFunctionType(ValueRange(operands).getTypes(), TypeRange()));
  if (llvm::SmallVector<Attribute> checked = checkedBefore(grid, arguments); !checked.empty())
    attrs::checked.set(function, checked);
  Block *entry = function.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto number = static_cast<unsigned>(i);
    // Locations carry the names of the source.
    entry->getArgument(number).setLoc(argument.value.getLoc());
    attrs::name.set(function, number, argument.name);
    if (!argument.role.empty())
      attrs::role.set(function, number, argument.role);
    if (argument.length)
      attrs::length.set(function, number, argument.length);
    else if (std::string formula = argument.role.empty() ? ir::formulaOf(argument.value) : "";
             !formula.empty() && formula != argument.name)
      attrs::formula.set(function, number, formula);
  }
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  mapping.map(operands, function.getArguments());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(grid->getRegions(), captured);
  captured.insert(grid->operand_begin(), grid->operand_end());
  for (Operation *op : beforeGrid)
    captured.insert(op->operand_begin(), op->operand_end());
  auto isBefore = [&](Value value) {
    return llvm::is_contained(beforeGrid, value.getDefiningOp());
  };
  for (Value value : captured)
    if (!mapping.contains(value) && !isBefore(value)) // constants
      b.clone(*value.getDefiningOp(), mapping);
  for (Operation *op : beforeGrid)
    b.clone(*op, mapping);
  b.clone(*grid, mapping);
  b.create<func::ReturnOp>(grid.getLoc());
  return function;
}

func::FuncOp outlineGrid(ir::ParallelOp grid, llvm::StringRef name, ModuleOp into) {
  Outliner outliner(grid);
  llvm::ArrayRef<Argument> arguments = outliner.collect();
  func::FuncOp function = functionFor(grid, name, into, arguments, outliner.beforeGrid());
  llvm::SmallVector<Value> operands;
  for (const Argument &argument : arguments)
    operands.push_back(argument.value);
  OpBuilder b(grid);
  auto launch =
      b.create<ir::LaunchOp>(grid.getLoc(), FlatSymbolRefAttr::get(b.getContext(), name), operands);
  if (ArrayAttr task = attrs::task.of(grid))
    attrs::task.set(launch, task);
  grid.erase();
  return function;
}

ir::ParallelOp gridOf(func::FuncOp outlined) {
  return *outlined.getBody().front().getOps<ir::ParallelOp>().begin();
}

} // namespace ptl::block
