#include "codegen/source/tile_source.h"

#include "codegen/source/entry.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/origins.h"
#include "codegen/source/tile_folds.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_statements.h"
#include "codegen/source/tile_stores.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

std::string Entry::header(const char *kind, const std::function<std::string(Type)> &typeText,
                          const std::map<std::string, std::string> &initial) {
  std::vector<std::string> params, results;
  for (BlockArgument argument : function.getArguments()) {
    if (std::string name = attribute(argument, attrs::name); !name.empty()) {
      bool isInout = isa<ir::RefType>(argument.getType());
      params.push_back(name + ": " + (isInout ? "inout " : "") + typeText(argument.getType()));
      if (auto strides = facts.strides.find(name); strides != facts.strides.end())
        params.back() += " strides " + strides->second;
      params.back() += defaultText(facts, name, argument.getType());
    }
    if (std::string name = attribute(argument, attrs::output); !name.empty()) {
      auto value = initial.find(name);
      results.push_back(name + ": " + typeText(argument.getType()) +
                        (value == initial.end() ? "" : " = " + value->second));
    }
  }
  std::string text = docLines(facts.doc) + (facts.isPub ? "pub " : "") + kind + " " + facts.name;
  if (!dims.empty())
    text += "[" + llvm::join(dims, ", ") + "]";
  text += "(" + llvm::join(params, ", ") + ")";
  if (!results.empty())
    text += " -> (" + llvm::join(results, ", ") + ")";
  text += "\n";
  if (!facts.wheres.empty())
    text += "where " + llvm::join(facts.wheres, ", ") + "\n";
  return text;
}

namespace {

// ---- A kernel stays a kernel --------------------------------------------------------------------

class KernelEntry : public BodyKind {
public:
  KernelEntry(Entry &entry, Unwritable unwritable)
      : entry_(entry), code_(*this, ArrayUse::Indexed, std::move(unwritable)) {}

  std::string print() {
    run();
    code_.startAgain();
    initial_.clear();
    run();
    return entry_.header(
               "kernel", [&](Type type) { return typeText(code_, type); }, initial_) +
           "{\n" + code_.takeText() + "}\n" + schedule();
  }

private:
  /// The items that only a schedule can express.
  std::string schedule() {
    std::vector<std::string> items;
    entry_.function.walk([&](ir::MatmulOp product) {
      auto l0 = attrs::l0.of(product);
      std::string label = block::nameOf(product.getLoc());
      for (Operation *user : product->getUsers())
        if (label.empty() && isa<ir::CastOp>(user))
          label = block::nameOf(user->getLoc());
      if (!l0 || label.empty())
        return;
      std::vector<std::string> sizes;
      for (int64_t size : cast<DenseI64ArrayAttr>(l0[0]).asArrayRef())
        sizes.push_back(std::to_string(size));
      items.push_back(label + " { l0 " + llvm::join(sizes, ", ") + " }");
    });
    if (auto cores = attrs::cores.of(entry_.function))
      items.push_back("cores " + std::to_string(cores.getInt()));
    if (items.empty())
      return "";
    return "\nschedule " + entry_.facts.name + " on " + entry_.facts.target + " {\n" +
           llvm::join(items, "\n") + "\n}\n";
  }

  void run() {
    for (BlockArgument argument : entry_.function.getArguments())
      for (llvm::StringRef kind : {attrs::name.key(), attrs::output.key(), attrs::dim.key()})
        if (std::string name = entry_.attribute(argument, kind); !name.empty()) {
          code_.names().reserve(name);
          if (ir::rankOf(argument.getType()) > 0)
            code_.knowGlobal(argument, name);
          else
            code_.know(argument, name);
        }
    printBlock(code_, entry_.function.getBody().front());
  }

  bool keepsOrder() const override { return entry_.facts.placeOf != nullptr; }
  std::string placeOf(Value tile) const override {
    return entry_.facts.placeOf ? entry_.facts.placeOf(tile) : "";
  }

  /// An output that is filled before the grids has an initial value.
  bool special(Operation *op) override {
    if (entry_.isRequirement(op))
      return true;
    auto store = dyn_cast<ir::StoreOp>(op);
    if (isa<ir::ParallelOp, scf::IfOp>(op))
      store = filling(op);
    else if (!store || store->getParentOp() != entry_.function)
      return false;
    if (!store)
      return false;
    Value filled = store.getValue();
    if (Operation *full = filled.getDefiningOp(); full && filledWith(full))
      filled = filledWith(full);
    initial_[code_.known(store.getRef()).text] = storedText(code_, store, filled).text;
    return true;
  }

  /// The constant in each element, also of a view of what has it; null if it is none.
  static Value filledWith(Operation *op) {
    auto slice = dyn_cast<ir::SliceOp>(op);
    bool isView = isa<ir::ReshapeOp, ir::NewAxisOp>(op) || (slice && !slice.getOutside());
    if (isView) {
      Operation *viewed = op->getOperand(0).getDefiningOp();
      return viewed ? filledWith(viewed) : Value();
    }
    const OpRecord *record = ir::recordOf(op);
    if (!record || record->id != OpId::Full)
      return {};
    for (Value operand : op->getOperands())
      if (Operation *made = operand.getDefiningOp();
          made && made->hasTrait<OpTrait::ConstantLike>() &&
          operand.getType() == ir::elementTypeOf(op->getResult(0).getType()))
        return operand;
    return {};
  }

  /// The constant store that is all that a grid does; null if it does something else.
  static ir::StoreOp constantStore(ir::ParallelOp grid) {
    ir::StoreOp only;
    bool isPlain = true;
    grid->walk([&](Operation *inner) {
      if (auto store = dyn_cast<ir::StoreOp>(inner)) {
        isPlain &= !only && !store.getAtomic();
        only = store;
      } else if (inner != grid && !isPositionOp(inner) && !filledWith(inner) &&
                 !inner->hasTrait<OpTrait::ConstantLike>() &&
                 !inner->hasTrait<OpTrait::IsTerminator>()) {
        isPlain = false;
      }
    });
    Operation *value = only && isPlain ? only.getValue().getDefiningOp() : nullptr;
    if (!value || !(filledWith(value) || value->hasTrait<OpTrait::ConstantLike>()) ||
        !isa<BlockArgument>(only.getRef()))
      return {};
    return only;
  }

  /// The same of a grid, or of a branch whose arms all store the same constant, each by a grid or a
  /// branch of its own: such arms differ in the shape of their tiles.
  static ir::StoreOp constantStore(Operation *op) {
    if (auto grid = dyn_cast<ir::ParallelOp>(op))
      return constantStore(grid);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || branch.getNumResults() > 0)
      return {};
    ir::StoreOp common;
    for (Region &arm : branch->getRegions()) {
      ir::StoreOp own;
      for (Operation &inner : arm.getOps()) {
        if (isPositionOp(&inner) || inner.hasTrait<OpTrait::ConstantLike>() ||
            inner.hasTrait<OpTrait::IsTerminator>())
          continue;
        ir::StoreOp store = own ? ir::StoreOp() : constantStore(&inner);
        if (!store)
          return {};
        own = store;
      }
      if (!own || (common && (own.getRef() != common.getRef() ||
                              constantOf(own.getValue()) != constantOf(common.getValue()))))
        return {};
      common = own;
    }
    return common;
  }

  /// The constant in each element, as an attribute; null if it is none.
  static Attribute constantOf(Value filled) {
    Operation *full = filled.getDefiningOp();
    if (Value element = full ? filledWith(full) : Value())
      filled = element;
    Attribute constant;
    matchPattern(filled, m_Constant(&constant));
    return constant;
  }

  /// The store of a grid, or branch, that only fills an output, before anything else is done with it.
  static ir::StoreOp filling(Operation *op) {
    ir::StoreOp only = constantStore(op);
    if (!only)
      return {};
    bool isFirst = true, isAlone = true;
    for (Operation *user : only.getRef().getUsers()) {
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      isFirst &= isa<ir::DimOp>(user) || here == op || (here && op->isBeforeInBlock(here));
      isAlone &= here == op;
    }
    // A kernel that does nothing but that is its grid.
    return isFirst && !isAlone ? only : ir::StoreOp();
  }

  Entry &entry_;
  BodyCode code_;
  std::map<std::string, std::string> initial_;
};

} // namespace

/// Removes operations that only requirements and checks of bounds use. Requirements are in the
/// header, and checks of bounds are made again.
static void dropRequirements(func::FuncOp function, Entry &entry) {
  llvm::SmallVector<Operation *> checks;
  function.walk([&](ir::CheckOp check) {
    for (Operation *outer = check->getParentOp(); outer && isMadeAgain(check);
         outer = outer->getParentOp())
      if (auto grid = dyn_cast<ir::ParallelOp>(outer); grid && isAboutPositions(check, grid))
        attrs::checksBounds.set(grid);
  });
  function.walk([&](ir::CheckOp check) {
    if (isMadeAgain(check) || isBoundOfGrid(check) || entry.isRequirement(check))
      checks.push_back(check);
  });
  for (Operation *check : checks) {
    noteConversions(cast<ir::CheckOp>(check));
    check->erase();
  }
  // What only a check used may have been the only user of something else, so this goes on until
  // nothing changes.
  for (bool changed = !checks.empty(); changed;) {
    llvm::SetVector<Operation *> dead;
    function.walk([&](ir::AllocOp alloc) {
      bool isUnread = llvm::all_of(alloc->getUsers(), [&](Operation *user) {
        auto store = dyn_cast<ir::StoreOp>(user);
        return (store && store.getRef() == alloc) || isa<ir::DimOp>(user);
      });
      for (Operation *user : alloc->getUsers())
        if (isUnread && isa<ir::StoreOp>(user))
          dead.insert(user);
    });
    changed = !dead.empty();
    for (Operation *store : dead)
      store->erase();
    function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      auto grid = dyn_cast<ir::ParallelOp>(op);
      bool isIdle = grid && grid.getBody().front().without_terminator().empty();
      bool isUnused = isa<ir::AllocOp>(op) && op->use_empty();
      if (!isIdle && !isUnused && !isOpTriviallyDead(op))
        return;
      op->erase();
      changed = true;
    });
  }
}

/// Gives computed lengths of storage the names by which types speak of them, where they have lost
/// them: what is computed twice is computed once, and the one that is left may have no name.
/// Dimensions of the entry have theirs.
static void nameLengths(func::FuncOp function, llvm::ArrayRef<std::string> dims) {
  function.walk([&](ir::AllocOp alloc) {
    size_t next = 0;
    for (const ir::Extent &extent : ir::extentsOf(alloc.getType())) {
      if (extent.isConstant())
        continue;
      Operation *made = alloc.getLengths()[next++].getDefiningOp();
      bool isOpen = made && isIdentifier(extent.symbol.getValue()) &&
                    !llvm::is_contained(dims, extent.symbol.getValue());
      if (isOpen && block::nameOf(made->getLoc()).empty())
        made->setLoc(NameLoc::get(extent.symbol, made->getLoc()));
    }
  });
}

SourceResult printTiles(func::FuncOp function, const EntryFacts &facts) {
  SourceResult result{"", "", function.getLoc()};
  Unwritable unwritable = firstProblemOf(result);
  Entry entry(function, facts);
  dropRequirements(function, entry);
  nameLengths(function, entry.dims);
  entry.findNamesInTypes();
  std::string folds = declareFolds(function, facts.name, unwritable);
  auto kind = attrs::kind.of(function);
  result.text =
      folds + (kind && kind.getValue() == "kernel" ? KernelEntry(entry, unwritable).print()
                                                   : ProgramEntry(entry, unwritable).print());
  if (!result.problem.empty())
    result.text.clear();
  return result;
}

} // namespace ptl::source
