#include "codegen/source/tile_kernels.h"

#include "codegen/source/entry.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/origins.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_loops.h"
#include "codegen/source/tile_ranges.h"
#include "ir/dialect/attributes.h"

#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace ptl::source {

llvm::SmallVector<Value> storedRefs(ir::ParallelOp grid) {
  llvm::SmallVector<Value> refs;
  grid->walk([&](ir::StoreOp store) {
    if (!llvm::is_contained(refs, store.getRef()))
      refs.push_back(store.getRef());
  });
  return refs;
}

// ---- The declaration ----------------------------------------------------------------------------

std::string docLines(const std::string &doc) {
  std::string text;
  for (size_t begin = 0; begin < doc.size();) {
    size_t end = std::min(doc.find('\n', begin), doc.size());
    text += end == begin ? "///\n" : "/// " + doc.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

std::string OutlinedKernel::text(const std::string &name) const {
  std::vector<std::string> params, results;
  for (const Argument &argument : arguments)
    params.push_back(argument.name + ": " + (argument.isInout ? "inout " : "") + argument.type +
                     argument.fallback);
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(outputNames[i] + ": " + outputs[i].second);
  std::string text = word + " " + name;
  if (!dims.empty())
    text += "[" + llvm::join(dims, ", ") + "]";
  text += "(" + llvm::join(params, ", ") + ")";
  if (!results.empty())
    text += " -> (" + llvm::join(results, ", ") + ")";
  if (!clause.empty())
    text += " " + clause;
  text += "\n";
  if (!wheres.empty())
    text += "where " + llvm::join(wheres, ", ") + "\n";
  return text + "{\n" + body + "}\n";
}

/// The names that lines of a body declare, in their order. An event's comment, which names what is read and written, is left out of the line.
static std::string declaredNames(const std::string &body, std::vector<std::string> &names) {
  std::string kept;
  for (llvm::StringRef rest = body, line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    llvm::StringRef words = line.ltrim(), comment;
    auto [keyword, name] = words.split(' ');
    if (llvm::is_contained({"buffer", "let", "var", "event", "for"}, keyword))
      names.push_back(name.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str());
    if (keyword == "event")
      std::tie(line, comment) = line.split("  // ");
    kept += line.str() + "\n";
  }
  return kept;
}

std::string OutlinedKernel::key() const {
  // Names of arguments and within the body do not matter, so equal kernels that are called with other arrays are
  // printed once.
  std::map<std::string, std::string> names;
  std::vector<std::string> declared;
  for (const Argument &argument : arguments)
    declared.push_back(argument.name);
  declared.insert(declared.end(), outputNames.begin(), outputNames.end());
  // Places of the source do not matter either.
  std::string kept = declaredNames(takeOrigins(text("%")).text(), declared);
  // Words that are printed are no names.
  if (kept.find('"') != std::string::npos)
    return kept;
  for (const std::string &name : declared)
    names.try_emplace(name, "%" + std::to_string(names.size()));
  return renamed(kept, names);
}

// ---- The body -----------------------------------------------------------------------------------

bool KernelBody::isInside(Operation *op) const {
  return llvm::any_of(grids_, [&](ir::ParallelOp grid) { return grid->isAncestor(op); });
}

bool writes(Operation *op, Value ref) {
  return op
      ->walk([&](Operation *inner) {
        auto store = dyn_cast<ir::StoreOp>(inner);
        bool mayWrite =
            store ? store.getRef() == ref
                  : isa<ir::LaunchOp>(inner) && llvm::is_contained(inner->getOperands(), ref);
        return mayWrite ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a load takes all of an array as it is.
static bool isWhole(ir::LoadOp load) {
  return !load.getOutside() && load.getSteps().empty() &&
         llvm::all_of(load.getOffsets(),
                      [](Value offset) { return getConstantIntValue(offset) == 0; }) &&
         llvm::equal(ir::extentsOf(load.getType()), ir::extentsOf(load.getRef().getType()));
}

/// Whether the only store of a grid to an array writes the box that is read of it.
static bool writesBox(ir::ParallelOp grid, Value ref, ir::SliceOp read) {
  bool isSame = true;
  grid->walk([&](ir::StoreOp store) {
    if (store.getRef() == ref)
      isSame &= !store.getIndex() && llvm::equal(store.getOffsets(), read.getOffsets()) &&
                llvm::equal(store.getLengths(), read.getLengths()) &&
                llvm::equal(store.getSteps(), read.getSteps());
  });
  return isSame && !read.getOutside();
}

Value storageRead(Value value, llvm::ArrayRef<ir::ParallelOp> grids) {
  auto load = value.getDefiningOp<ir::LoadOp>();
  if (!load || !isWhole(load))
    return {};
  Value ref = load.getRef();
  const auto *writer = llvm::find_if(grids, [&](ir::ParallelOp grid) { return writes(grid, ref); });
  if (writer == grids.end())
    return {};
  // Nothing writes between the load and the grids, which are not repeated.
  for (Operation *at = grids.front(); at->getBlock() != load->getBlock(); at = at->getParentOp())
    if (!isa<scf::IfOp>(at->getParentOp()))
      return {};
  Operation *first = load->getBlock()->findAncestorOpInBlock(*grids.front());
  for (Operation *op = load->getNextNode(); op != first; op = op->getNextNode())
    if (!op || writes(op, ref))
      return {};
  // Nor do the grids, before the one that writes, and there each point reads what it writes.
  bool isAsBefore = llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto read = dyn_cast<ir::SliceOp>(user);
    const auto *reader =
        llvm::find_if(grids, [&](ir::ParallelOp grid) { return grid->isAncestor(user); });
    return isa<ir::DimOp>(user) || reader == grids.end() || reader < writer ||
           (reader == writer && read && writesBox(*writer, ref, read));
  });
  return isAsBefore ? ref : Value();
}

bool KernelBody::readsChanged(Operation *op) {
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return bool(storageRead(operand, grids_)); });
}

std::optional<Expression> KernelBody::foreign(Value value) {
  if (Value storage = storageRead(value, grids_)) {
    std::string name = code_.isKnown(storage) ? code_.known(storage).text : foreign(storage)->text;
    code_.knowGlobal(value, name);
    return code_.known(value);
  }
  Operation *owner = value.getDefiningOp();
  if (!owner)
    owner = cast<BlockArgument>(value).getOwner()->getParentOp();
  bool isOwn = isInside(owner);
  // A length that a type speaks of goes by that name, and becomes a dimension.
  if (std::string name = isOwn ? "" : lengthNameOf(value, inTypes_); !name.empty()) {
    lengths_.insert(name);
    code_.know(value, name);
    return code_.known(value);
  }
  if (Operation *op = value.getDefiningOp(); op && !isOwn) {
    // Cheap operations on the outside are repeated inside instead of passed.
    isOwn = isPositionOp(op) || op->hasTrait<OpTrait::ConstantLike>() || isCheap(op);
  }
  if (isOwn)
    return std::nullopt;
  if (auto function = dyn_cast<func::FuncOp>(owner)) {
    auto argument = cast<BlockArgument>(value);
    // A dimension of the entry is a dimension of the kernel.
    if (auto dim = attrs::dim.of(function, argument.getArgNumber())) {
      code_.know(value, dim.str());
      return code_.known(value);
    }
  }
  bool isArray = ir::rankOf(value.getType()) > 0;
  bool isStored =
      isa<ir::RefType>(value.getType()) && llvm::any_of(grids_, [&](ir::ParallelOp grid) {
        return llvm::is_contained(storedRefs(grid), value);
      });
  std::string name = code_.names().fresh(nameOf_(value));
  std::string type = typeText(code_, value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value); argument && isArray)
    // Strides belong to the types of arrays that the entry was given.
    if (auto strides = facts_.strides.find(nameOf_(value)); strides != facts_.strides.end())
      type += " strides " + strides->second;
  // An output that is only written becomes a result; others that are stored are `inout`.
  if (isStored && isOutput_(value))
    outputs_.emplace_back(value, type);
  else
    arguments_.push_back({value, name, type, isStored});
  if (isArray)
    code_.knowGlobal(value, name);
  else
    code_.know(value, name);
  return code_.known(value);
}

/// Whether positions outside of the grids decide what an operation computes, wherever it stands.
bool KernelBody::isSameForAll(Operation *op) const {
  return !isInside(op) || (isPositionOp(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                             Operation *made = operand.getDefiningOp();
                             return made ? made->hasTrait<OpTrait::ConstantLike>() ||
                                               isSameForAll(made)
                                         : !isInside(operand.getParentBlock()->getParentOp());
                           }));
}

std::string *KernelBody::prologueFor(Operation *op) {
  return isSameForAll(op) ? &prologue_ : nullptr;
}

/// What the types of arrays from outside speak of becomes a dimension, too: `i` of `f32[i + 1, N]`.
void KernelBody::reserveLengths(ir::ParallelOp grid) {
  grid->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isInside(operand.getParentBlock()->getParentOp()))
        for (const ir::Extent &extent : ir::extentsOf(operand.getType()))
          if (extent.symbol)
            for (const std::string &name : identifiersOf(extent.symbol.getValue()))
              code_.names().reserve(name);
  });
}

void KernelBody::run() {
  // The names of dimensions come first, so that no local takes them.
  for (const std::string &dim : dims_)
    code_.names().reserve(dim);
  for (ir::ParallelOp each : grids_)
    reserveLengths(each);
  for (ir::ParallelOp each : grids_)
    printGrid(code_, each);
}

static bool isDataFact(llvm::StringRef condition) {
  return condition.starts_with("unique(") || condition.starts_with("all(") ||
         condition.starts_with("sorted(");
}

/// The names that the types of a kernel's arguments and outputs speak of.
std::set<std::string> KernelBody::namesInTypes(const OutlinedKernel &kernel) const {
  std::set<std::string> names;
  auto read = [&](Value value) {
    for (const ir::Extent &extent : ir::extentsOf(value.getType()))
      if (extent.symbol)
        names.merge(identifiersOf(extent.symbol.getValue()));
  };
  for (const OutlinedKernel::Argument &argument : kernel.arguments) {
    read(argument.value);
    for (const std::string &name : identifiersOf(argument.type))
      if (llvm::is_contained(dims_, name))
        names.insert(name);
  }
  for (const auto &[value, type] : kernel.outputs)
    read(value);
  return names;
}

/// The dimensions that are the whole extent of an argument, so that they need not be passed by name.
static std::set<std::string> boundDims(const OutlinedKernel &kernel) {
  std::set<std::string> bound;
  for (const OutlinedKernel::Argument &argument : kernel.arguments)
    for (const ir::Extent &extent : ir::extentsOf(argument.value.getType()))
      if (extent.symbol && isIdentifier(extent.symbol.getValue()))
        bound.insert(extent.symbol.str());
  return bound;
}

/// The dimensions that its types and its body speak of.
void KernelBody::findDims(OutlinedKernel &kernel) {
  std::set<std::string> inTypes = namesInTypes(kernel), bound = boundDims(kernel);
  std::set<std::string> inBody = identifiersOf(kernel.body);
  for (const std::string &length : lengths_)
    if (inBody.count(length) != 0)
      inTypes.insert(length);
  // Dimensions of the entry keep their order; others come behind.
  for (const std::string &dim : dims_)
    if (inTypes.erase(dim) != 0 || inBody.count(dim) != 0)
      kernel.dims.push_back(dim);
  kernel.dims.insert(kernel.dims.end(), inTypes.begin(), inTypes.end());
  for (const std::string &dim : kernel.dims)
    // What no argument determines is passed by name.
    if (bound.count(dim) == 0)
      kernel.namedDims.push_back(dim);
}

/// Whether an argument of the kernel is an array that the entry was given under this name.
static bool isGiven(const OutlinedKernel &kernel, const std::string &name) {
  return llvm::any_of(kernel.arguments, [&](const OutlinedKernel::Argument &argument) {
    auto own = dyn_cast<BlockArgument>(argument.value);
    auto function = own ? dyn_cast<func::FuncOp>(own.getOwner()->getParentOp()) : func::FuncOp();
    auto given = function ? attrs::name.of(function, own.getArgNumber()) : StringAttr();
    return given && given.getValue() == name && argument.name == name;
  });
}

/// Repeats the requirements of the entry that can be said in the kernel, by its dimensions and the
/// arrays that the entry was given.
void KernelBody::repeatRequirements(OutlinedKernel &kernel) {
  // Only requirements all of whose names are known in the kernel can be repeated there.
  for (const std::string &condition : facts_.wheres)
    if (llvm::all_of(identifiersOf(condition), [&](const std::string &name) {
          return llvm::is_contained(kernel.dims, name) ||
                 (isGiven(kernel, name) && isDataFact(condition));
        }))
      kernel.wheres.push_back(condition);
}

/// The comparisons that all hold where a condition does.
static llvm::SmallVector<arith::CmpIOp> conjunctsOf(Value condition) {
  llvm::SmallVector<arith::CmpIOp> all;
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    all = conjunctsOf(both.getLhs());
    all.append(conjunctsOf(both.getRhs()));
  } else if (auto comparison = condition.getDefiningOp<arith::CmpIOp>()) {
    all.push_back(comparison);
  }
  return all;
}

/// Whether a branch goes on with the length only as far as the constant that it compared it with.
static bool isCutIn(scf::IfOp branch, arith::CmpIOp bound) {
  return llvm::any_of(bound.getLhs().getUsers(), [&](Operation *user) {
    auto least = dyn_cast<arith::MinSIOp>(user);
    return least && branch.getThenRegion().isAncestor(least->getParentRegion()) &&
           llvm::any_of(least->getOperands(), [&](Value operand) {
             return getConstantIntValue(operand) == getConstantIntValue(bound.getRhs());
           });
  });
}

/// Repeats the bounds of dimensions in whose branch of the program the grids are: where `C <= 128`
/// a tile of `min(C, 128)` columns has all of them.
void KernelBody::repeatBranches(OutlinedKernel &kernel) {
  std::vector<std::string> said;
  for (Operation *at = grids_.front(); at; at = at->getParentOp()) {
    auto branch = dyn_cast_or_null<scf::IfOp>(at->getParentOp());
    // Only in the arm that is taken does the condition hold.
    if (!branch || at->getParentRegion() != &branch.getThenRegion())
      continue;
    for (arith::CmpIOp bound : conjunctsOf(branch.getCondition())) {
      std::optional<int64_t> most = getConstantIntValue(bound.getRhs());
      if (bound.getPredicate() != arith::CmpIPredicate::sle || !most || !isCutIn(branch, bound))
        continue;
      std::string length = valueText(code_, bound.getLhs()).as(Precedence::Sum);
      std::string fact = length + " <= " + std::to_string(*most);
      bool isKnown = llvm::all_of(identifiersOf(length), [&](const std::string &name) {
        return llvm::is_contained(kernel.dims, name);
      });
      // Inner branches come first, and say more.
      if (isKnown && !llvm::is_contained(said, length) && !llvm::is_contained(kernel.wheres, fact))
        kernel.wheres.push_back(fact);
      said.push_back(length);
    }
  }
}

/// Requires of arrays of positions what makes the accesses by them right.
void KernelBody::requireOfPositions(OutlinedKernel &kernel) {
  auto nameOf = [&](Value array) { return code_.known(array).text; };
  auto require = [&](const std::string &fact) {
    if (!llvm::is_contained(kernel.wheres, fact))
      kernel.wheres.push_back(fact);
  };
  // Points that write to computed positions are right only if these differ, which the checker wants
  // to be told.
  for (ir::ParallelOp grid : grids_)
    for (Value array : uniqueArrays(grid))
      if (code_.isKnown(array))
        require("unique(" + nameOf(array) + ")");
  for (ir::ParallelOp grid : grids_)
    for (const std::string &fact : factsOfIndices(grid, nameOf))
      require(fact);
}

/// The length that a loop of the host runs up to, from 0 on in steps of 1; empty if it is none that
/// has a name.
static std::string lengthOfLoop(Value position) {
  auto variable = dyn_cast<BlockArgument>(position);
  auto loop = variable ? dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || variable != loop.getInductionVar() ||
      getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1)
    return "";
  // The length is a number, or the dimension that was given as an argument.
  if (std::optional<int64_t> number = getConstantIntValue(loop.getUpperBound()))
    return std::to_string(*number);
  auto given = dyn_cast<BlockArgument>(loop.getUpperBound());
  auto function = given ? dyn_cast<func::FuncOp>(given.getOwner()->getParentOp()) : func::FuncOp();
  auto dim = function ? attrs::dim.of(function, given.getArgNumber()) : StringAttr();
  return dim ? dim.str() : "";
}

/// Adds requirements for positions that a loop of the program passes to the kernel; without them
/// the kernel would check every index computed from these.
void KernelBody::findBounds(OutlinedKernel &kernel) {
  for (ir::ParallelOp grid : grids_)
    for (const std::string &bound : boundsOf(grid, inTypes_))
      kernel.wheres.push_back(bound);
  for (const OutlinedKernel::Argument &argument : kernel.arguments) {
    std::string length = lengthOfLoop(argument.value);
    if (length.empty())
      continue;
    bool isNeeded = false;
    // Only a position that drops an axis needs to lie in it.
    auto look = [&](auto box, Value base) {
      for (int64_t axis : box.getDropped())
        isNeeded |=
            box.getOffsets()[static_cast<size_t>(axis)] == argument.value &&
            extentText(ir::extentsOf(base.getType())[static_cast<size_t>(axis)]).text == length;
    };
    // A requirement that nothing needs would only restrict callers.
    for (ir::ParallelOp grid : grids_)
      forEachBox(grid, look);
    if (!isNeeded)
      continue;
    kernel.wheres.push_back(argument.name + " >= 0");
    kernel.wheres.push_back(argument.name + " < " + length);
  }
}

static bool isOpen(const ir::Extent &extent) {
  return !extent.isConstant() && extent.capacity == ir::Extent::kUnknown;
}

/// Whether a length is at most some constant, as the checker finds it of the text.
static bool isBounded(Value length) {
  if (getConstantIntValue(length))
    return true;
  Operation *op = length.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return false;
  bool left = isBounded(op->getOperand(0)), right = isBounded(op->getOperand(1));
  if (isa<arith::MinSIOp>(op))
    // The smaller of two lengths is bounded if one of them is.
    return left || right;
  // Lengths divide by 1 or more.
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivSIOp, arith::DivUIOp>(op))
    return left;
  return isa<arith::MaxSIOp, arith::AddIOp>(op) && left && right;
}

/// Whether a part of an array has an axis that neither its type nor the tile that cut it bounds.
template <typename OpT> static bool isOpenBox(OpT box) {
  size_t kept = 0;
  for (auto [axis, length] : llvm::enumerate(box.getLengths()))
    if (!llvm::is_contained(box.getDropped(), static_cast<int64_t>(axis)) &&
        isOpen(ir::extentsOf(box.getResult().getType())[kept++]) && !isBounded(length))
      return true;
  return false;
}

/// Whether an array that is made of nothing, or by repeating, has no bound. The lengths of its named extents are its operands.
static bool isOpenArray(Operation *op) {
  auto lengths = llvm::TypeSwitch<Operation *, ValueRange>(op)
                     .Case<ir::IndexOp, ir::BroadcastOp, ir::ZerosOp, ir::OnesOp, ir::FullOp>(
                         [](auto each) { return ValueRange(each.getLengths()); })
                     .Default([](Operation *) { return ValueRange(); });
  if (lengths.empty())
    return false;
  size_t named = 0;
  for (const ir::Extent &extent : ir::extentsOf(op->getResult(0).getType())) {
    if (extent.isConstant())
      continue;
    if (isOpen(extent) && named < lengths.size() && !isBounded(lengths[named]))
      return true;
    ++named;
  }
  return false;
}

static bool hasUnboundedTile(ir::ParallelOp grid) {
  auto isUnbounded = [&](Operation *op) {
    if (auto slice = dyn_cast<ir::SliceOp>(op))
      return isOpenBox(slice);
    if (auto load = dyn_cast<ir::LoadOp>(op))
      return isOpenBox(load);
    if (isOpenArray(op))
      return true;
    // A value from outside must be bounded by its type.
    return !isa<ir::StoreOp, ir::DimOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *made = operand.getDefiningOp();
      bool isOutside = !made || !grid->isAncestor(made);
      return isOutside && llvm::any_of(ir::extentsOf(operand.getType()), isOpen);
    });
  };
  return grid
      ->walk([&](Operation *op) {
        return isUnbounded(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

OutlinedKernel KernelBody::print() {
  // The first run counts how often each position is used, and finds names; the second prints.
  run();
  code_.startAgain();
  arguments_.clear();
  outputs_.clear();
  prologue_.clear();
  run();
  OutlinedKernel kernel;
  kernel.arguments = arguments_;
  kernel.outputs = outputs_;
  for (const auto &[value, type] : outputs_)
    kernel.outputNames.push_back(code_.known(value).text);
  kernel.body = prologue_ + code_.takeText();
  if (llvm::any_of(grids_, hasUnboundedTile))
    kernel.clause = "on core for " + facts_.target;
  findDims(kernel);
  repeatRequirements(kernel);
  repeatBranches(kernel);
  requireOfPositions(kernel);
  findBounds(kernel);
  return kernel;
}

/// A dimension that no argument of a kernel binds, as the caller says it: by the length with which it
/// makes storage for a result, which may have another name here, or none; else by its name.
std::string lengthText(BodyCode &code, const OutlinedKernel &kernel, const std::string &dim) {
  for (const auto &[ref, type] : kernel.outputs) {
    auto alloc = ref.getDefiningOp<ir::AllocOp>();
    if (!alloc)
      continue;
    size_t next = 0;
    for (const ir::Extent &extent : alloc.getType().getExtents()) {
      if (extent.isConstant())
        continue;
      Value length = alloc.getLengths()[next++];
      if (extent.symbol.getValue() == dim)
        return valueText(code, length).text;
    }
  }
  return dim;
}

/// Makes outputs that an earlier kernel has written `inout`.
void keepWritten(OutlinedKernel &kernel, llvm::function_ref<bool(Value)> isWritten) {
  for (size_t i = 0; i < kernel.outputs.size();) {
    auto [ref, type] = kernel.outputs[i];
    if (!isWritten(ref)) {
      ++i;
      continue;
    }
    // What has contents already must be handed in, so that the kernel does not begin with zeros.
    kernel.arguments.push_back({ref, kernel.outputNames[i], type, true});
    kernel.outputs.erase(kernel.outputs.begin() + static_cast<ptrdiff_t>(i));
    kernel.outputNames.erase(kernel.outputNames.begin() + static_cast<ptrdiff_t>(i));
  }
}

} // namespace ptl::source
