#include "codegen/source/entry.h"

#include "codegen/source/stored_whole.h"
#include "codegen/source/tile_boxes.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_folds.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_statements.h"
#include "codegen/source/tile_stores.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

std::string lengthNameOf(Value value, const std::set<std::string> &inTypes) {
  if (!value.getType().isIndex() || !value.getDefiningOp())
    return "";
  std::string name = block::nameOf(value.getLoc());
  return inTypes.count(name) != 0 ? name : "";
}

std::string ProgramEntry::print() {
  run();
  code_.startAgain();
  run();
  std::string header =
      entry_.header("program", [&](Type type) { return typeText(code_, type); }, {});
  return kernels_ + header + "{\n" + code_.takeText() + "}\n";
}

void ProgramEntry::run() {
  // The declaration is printed twice, and the second time begins anew.
  kernels_.clear();
  kernelNames_.clear();
  kernelNamesUsed_ = Names();
  kernelNamesUsed_.reserve(entry_.facts.name);
  for (const std::string &fold : foldNames(entry_.function))
    kernelNamesUsed_.reserve(fold);
  written_.clear();
  choices_.clear();
  launched_.clear();
  for (BlockArgument argument : entry_.function.getArguments())
    // The kinds of names are asked for in this order, and the last one that there is counts.
    for (llvm::StringRef kind : {attrs::name.key(), attrs::output.key(), attrs::dim.key()})
      if (std::string name = entry_.attribute(argument, kind); !name.empty()) {
        code_.names().reserve(name);
        code_.know(argument, name);
        // Storage that is a parameter has contents from the begin on.
        if (kind == attrs::name.key() && isa<ir::RefType>(argument.getType()))
          written_[argument].push_back(nullptr);
      }
  printBlock(code_, entry_.function.getBody().front());
}

/// Whether kernels write a part of an output each: they take it with its contents. Of a kernel of the
/// block level it is not known how much it writes; what a round of a loop launches may be a part.
bool ProgramEntry::isWrittenInParts(BlockArgument output) {
  auto isInLoop = [](Operation *op) {
    return op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>();
  };
  return !entry_.attribute(output, attrs::output).empty() &&
         llvm::any_of(writersOf(output), [&](Operation *writer) {
           auto grid = dyn_cast<ir::ParallelOp>(writer);
           return grid ? !storesWhole(output, groupFrom(grid))
                       : isa<ir::LaunchOp>(writer) && isInLoop(writer);
         });
}

void ProgramEntry::beginAsZeros(BlockArgument output, Operation *at) {
  code_.line(code_.known(output).text + " = zeros(" + typeText(code_, output.getType()) + ")");
  noteWritten(output, at);
}

/// Outputs that a loop writes first, and kernels in parts, need contents before the loop; so do those that a `while` writes where it
/// decides whether to go on, because the checker does not know that it comes there.
void ProgramEntry::beginOutputs(Operation *loop) {
  for (BlockArgument output : entry_.function.getArguments()) {
    bool isInLoop = llvm::any_of(writersOf(output),
                                 [&](Operation *writer) { return loop->isAncestor(writer); });
    if (isInLoop && !isWritten(output, loop) &&
        (isa<scf::WhileOp>(loop) || isWrittenInParts(output)))
      beginAsZeros(output, loop);
  }
}

/// Operations that write storage, grids as a whole.
llvm::SmallVector<Operation *> ProgramEntry::writersOf(Value ref) const {
  llvm::SmallVector<Operation *> writers;
  for (Operation *user : ref.getUsers()) {
    auto store = dyn_cast<ir::StoreOp>(user);
    auto launch = dyn_cast<ir::LaunchOp>(user);
    bool writes =
        launch ? llvm::is_contained(writtenBy(launch), ref) : store && store.getRef() == ref;
    if (!writes)
      continue;
    // A grid counts as one writer, whatever it does inside.
    Operation *writer = user;
    for (Operation *outer = user->getParentOp(); outer; outer = outer->getParentOp())
      if (isa<ir::ParallelOp>(outer))
        writer = outer;
    if (!llvm::is_contained(writers, writer))
      writers.push_back(writer);
  }
  return writers;
}

/// Whether what a load reads stays as it is: everything that writes it stands before.
bool ProgramEntry::readsFinal(Operation *op) {
  auto load = dyn_cast<ir::LoadOp>(op);
  if (!load || !load.getRef().getDefiningOp<ir::AllocOp>())
    return false;
  // Writers in other blocks may run again behind the load, but for arms of branches.
  return llvm::all_of(writersOf(load.getRef()), [&](Operation *writer) {
    while (writer->getBlock() != load->getBlock() && isa<scf::IfOp>(writer->getParentOp()))
      writer = writer->getParentOp();
    return writer->getBlock() == load->getBlock() && writer->isBeforeInBlock(load);
  });
}

/// What a kernel reads of an array that it changes elsewhere is a copy with a name.
std::optional<bool> ProgramEntry::isInlined(Operation *op) {
  auto load = dyn_cast<ir::LoadOp>(op);
  bool isCopied = load && llvm::any_of(load->getUsers(), [&](Operation *user) {
                    if (auto launch = dyn_cast<ir::LaunchOp>(user))
                      return llvm::is_contained(writtenBy(launch), load.getRef());
                    auto grid = user->getParentOfType<ir::ParallelOp>();
                    while (grid && grid->getParentOfType<ir::ParallelOp>())
                      grid = grid->getParentOfType<ir::ParallelOp>();
                    return grid && writes(grid, load.getRef()) &&
                           !storageRead(load.getResult(), groupFrom(grid));
                  });
  return isCopied ? std::optional(false) : std::nullopt;
}

bool ProgramEntry::special(Operation *op) {
  if (entry_.isRequirement(op))
    // Requirements are written in the header.
    return true;
  // Checks that positions differ are part of a `where`.
  if (auto check = dyn_cast<ir::CheckOp>(op); check && isUniqueOfGrid(check))
    return true;
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    beginOutputs(op);
    return false;
  }
  if (auto grid = dyn_cast<ir::ParallelOp>(op))
    return launch(grid), true;
  if (auto each = dyn_cast<ir::LaunchOp>(op))
    return launch(each), true;
  if (auto alloc = dyn_cast<ir::AllocOp>(op))
    return allocate(alloc), true;
  if (auto choice = choices_.find(op); choice != choices_.end()) {
    llvm::SmallVector<Value, 1> refs = choice->second; // branches inside are noted on the way
    choose(cast<scf::IfOp>(op), refs);
    return true;
  }
  if (auto each = dyn_cast<ir::StoreOp>(op))
    return store(each);
  // All of an array is that array, however the lengths are computed.
  if (auto slice = dyn_cast<ir::SliceOp>(op);
      slice && !slice.getOutside() && code_.isKnown(slice.getSource()) &&
      // A variable may change, so its name does not stand for what it was.
      !code_.isVariable(slice.getSource()) &&
      isWholeBox(code_, slice.getSource(), slice.getOffsets(), slice.getLengths(), slice.getSteps(),
                 slice.getDropped())) {
    code_.know(slice.getResult(), code_.known(slice.getSource()).text);
    return true;
  }
  auto load = dyn_cast<ir::LoadOp>(op);
  if (!load || !readsFinal(load) || load.getOutside() ||
      !isWholeBox(code_, load.getRef(), load.getOffsets(), load.getLengths(), load.getSteps(),
                  load.getDropped()))
    return false;
  code_.know(load.getResult(), code_.known(load.getRef()).text);
  return true;
}

/// Whether storage is used within one loop or branch alone, and filled there before anything else.
bool ProgramEntry::beginsInside(ir::AllocOp alloc) {
  // Only true uses count; asking for a length is none.
  llvm::SmallVector<Operation *> users;
  for (Operation *user : alloc->getUsers())
    if (!isa<ir::DimOp>(user))
      users.push_back(user);
  mlir::Block *inner = users.empty() ? alloc->getBlock() : users.front()->getBlock();
  auto holdsAll = [&] {
    return llvm::all_of(users,
                        [&](Operation *user) { return inner->findAncestorOpInBlock(*user); });
  };
  // The search goes outwards to the innermost block that holds all uses and is no grid.
  while (inner != alloc->getBlock() &&
         (isa<ir::ParallelOp>(inner->getParentOp()) ||
          inner->getParentOp()->getParentOfType<ir::ParallelOp>() || !holdsAll()))
    inner = inner->getParentOp()->getBlock();
  if (inner == alloc->getBlock())
    return false;
  // The first use has to fill the storage.
  Operation *first = nullptr;
  for (Operation *user : users)
    if (Operation *here = inner->findAncestorOpInBlock(*user);
        !first || here->isBeforeInBlock(first))
      first = here;
  if (auto launch = dyn_cast<ir::LaunchOp>(first))
    return llvm::any_of(outlined(launch).outputs,
                        [&](const auto &output) { return output.first == alloc.getResult(); });
  auto grid = dyn_cast<ir::ParallelOp>(first);
  if (!grid)
    return false;
  std::vector<ir::ParallelOp> group = groupFrom(grid);
  // The grids must not read what they fill.
  bool isRead = llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    return isa<ir::LoadOp>(user) &&
           llvm::any_of(group, [&](ir::ParallelOp each) { return each->isAncestor(user); });
  });
  return !isRead && storesWhole(alloc, group);
}

/// What is written in one arm of a branch has not been written in the other.
bool ProgramEntry::isWritten(Value ref, Operation *at) const {
  auto found = written_.find(ref);
  auto isBefore = [&](Operation *writer) {
    for (Operation *inside = writer; inside; inside = inside->getParentOp())
      if (auto branch = dyn_cast_or_null<scf::IfOp>(inside->getParentOp());
          branch && branch->isProperAncestor(at))
        return branch.getThenRegion().isAncestor(writer->getParentRegion()) ==
               branch.getThenRegion().isAncestor(at->getParentRegion());
    return true;
  };
  return found != written_.end() && llvm::any_of(found->second, isBefore);
}

/// Whether kernels give it all of its contents.
bool ProgramEntry::fills(Operation *writer, Value ref) {
  if (auto launch = dyn_cast<ir::LaunchOp>(writer))
    return llvm::any_of(outlined(launch).outputs,
                        [&](const auto &output) { return output.first == ref; });
  auto grid = dyn_cast<ir::ParallelOp>(writer);
  return grid && storesWhole(ref, groupFrom(grid));
}

/// Whether these grids are written as one kernel.
bool ProgramEntry::areOneGroup(llvm::ArrayRef<Operation *> grids) {
  auto first = dyn_cast<ir::ParallelOp>(grids.front());
  if (!first)
    return false;
  std::vector<ir::ParallelOp> group = groupFrom(first);
  return llvm::all_of(grids, [&](Operation *grid) { return llvm::is_contained(group, grid); });
}

/// Whether each arm of a branch fills storage once, in grids that are one kernel, by a launch or in a
/// branch of its own that does, and reads nothing of it; `writers` are all that write it.
bool ProgramEntry::fillsInArms(scf::IfOp branch, Value ref, llvm::ArrayRef<Operation *> writers) {
  if (branch->getNumResults() > 0 || branch.getElseRegion().empty())
    return false;
  return llvm::all_of(branch->getRegions(), [&](Region &arm) {
    llvm::SmallVector<Operation *> inside;
    for (Operation *writer : writers)
      if (Operation *here = arm.front().findAncestorOpInBlock(*writer);
          here && !llvm::is_contained(inside, here))
        inside.push_back(here);
    // The group is that of the first grid.
    llvm::sort(inside, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    if (inside.empty() || (inside.size() > 1 && !areOneGroup(inside)))
      return false;
    bool isRead = llvm::any_of(ref.getUsers(), [&](Operation *user) {
      return arm.isAncestor(user->getParentRegion()) && !isa<ir::DimOp>(user) &&
             llvm::none_of(inside, [&](Operation *each) { return each->isAncestor(user); });
    });
    if (auto nested = dyn_cast<scf::IfOp>(inside.front()))
      return !isRead && fillsInArms(nested, ref, writers);
    return !isRead && llvm::is_contained(writers, inside.front()) && fills(inside.front(), ref);
  });
}

/// The branch each arm of which fills storage that only what follows reads: its value.
scf::IfOp ProgramEntry::choiceFor(ir::AllocOp alloc) {
  llvm::SmallVector<Operation *> writers = writersOf(alloc);
  Operation *around =
      writers.empty() ? nullptr : alloc->getBlock()->findAncestorOpInBlock(*writers.front());
  auto branch = dyn_cast_or_null<scf::IfOp>(around);
  bool holdsAll = branch && llvm::all_of(writers, [&](Operation *writer) {
                    return branch->isProperAncestor(writer);
                  });
  return holdsAll && fillsInArms(branch, alloc, writers) ? branch : scf::IfOp();
}

/// Branches that are values: those that fill the storage, one in the arm of another.
void ProgramEntry::noteChoices(scf::IfOp outermost, ir::AllocOp alloc) {
  llvm::SmallVector<Operation *> writers = writersOf(alloc);
  outermost->walk([&](scf::IfOp branch) {
    if (llvm::any_of(writers, [&](Operation *writer) { return branch->isProperAncestor(writer); }))
      choices_[branch].push_back(alloc);
  });
}

void ProgramEntry::choose(scf::IfOp branch, llvm::ArrayRef<Value> refs) {
  std::vector<std::string> names;
  for (Value ref : refs)
    names.push_back(code_.names().fresh(refName(ref)));
  auto listed = [](const std::vector<std::string> &all) {
    return all.size() == 1 ? all.front() : "(" + llvm::join(all, ", ") + ")";
  };
  auto arm = [&](mlir::Block &body) {
    for (Value ref : refs)
      code_.exchangeKnown(ref, std::nullopt);
    printBlock(code_, body);
    std::vector<std::string> made;
    for (Value ref : refs)
      made.push_back(code_.known(ref).text);
    code_.line(listed(made));
    closed(body);
  };
  code_.line("let " + listed(names) + " = if " + valueText(code_, branch.getCondition()).text +
             " {");
  arm(*branch.thenBlock());
  code_.line("} else {");
  arm(*branch.elseBlock());
  code_.line("}");
  for (auto [ref, name] : llvm::zip(refs, names))
    code_.know(ref, name);
}

/// Storage is named where it is written first; where that is further inside, it begins as zeros.
void ProgramEntry::allocate(ir::AllocOp alloc) {
  llvm::SmallVector<Operation *> writers = writersOf(alloc);
  bool isInside = llvm::any_of(
      writers, [&](Operation *writer) { return writer->getBlock() != alloc->getBlock(); });
  // Storage that is first written in its own block is named there.
  if (!isInside || beginsInside(alloc))
    return;
  if (scf::IfOp branch = choiceFor(alloc))
    return noteChoices(branch, alloc);
  // The first writer decides whether zeros are needed.
  Operation *first = nullptr;
  for (Operation *writer : writers) {
    Operation *here = alloc->getBlock()->findAncestorOpInBlock(*writer);
    first = !first || here->isBeforeInBlock(first) ? here : first;
  }
  // An output that the first grid fills needs no initial zeros.
  if (auto grid = dyn_cast<ir::ParallelOp>(first); grid && storesWhole(alloc, groupFrom(grid)))
    return;
  auto launch = dyn_cast<ir::LaunchOp>(first);
  if (launch && llvm::any_of(outlined(launch).outputs,
                             [&](const auto &output) { return output.first == alloc.getResult(); }))
    return;
  code_.var(alloc, {"zeros(" + typeText(code_, alloc.getType()) + ")"}, refName(alloc));
  noteWritten(alloc, alloc);
}

/// The first store makes the variable.
bool ProgramEntry::store(ir::StoreOp store) {
  Value ref = store.getRef();
  // Parameters and storage that has a name are stored to as usual.
  auto alloc = ref.getDefiningOp<ir::AllocOp>();
  bool begins = alloc && !isWritten(ref, store);
  bool isWhole = !store.getIndex() && isWholeBox(code_, ref, store.getOffsets(), store.getLengths(),
                                                 store.getSteps(), store.getDropped());
  // Kernels that write the rest of an output ask for all of it.
  if (auto output = dyn_cast<BlockArgument>(ref);
      output && !isWhole && !isWritten(ref, store) && isWrittenInParts(output))
    beginAsZeros(output, store);
  noteWritten(ref, store);
  if (!begins)
    return false;
  // Several writes need a variable.
  bool isVar = writersOf(ref).size() > 1;
  std::string type = typeText(code_, ref.getType());
  // A partial store needs something to be stored into.
  if (!isWhole) {
    code_.var(ref, {"zeros(" + type + ")"}, refName(ref));
    return false;
  }
  Value stored = store.getValue();
  bool sameShape = ir::rankOf(stored.getType()) == ir::rankOf(ref.getType());
  std::string text = storedText(code_, store, stored).text;
  // A scalar fills the array, and a smaller array is repeated.
  if (ir::rankOf(stored.getType()) == 0)
    text = "full(" + type + ", " + text + ")";
  else if (!sameShape)
    text = "broadcast(" + text + ", " + type.substr(type.find('[')) + ")";
  if (isVar)
    code_.var(ref, {text}, refName(ref));
  else
    code_.let(ref, {text}, refName(ref));
  return true;
}

/// The name of storage: its own, or that of the value that is read from it, or what is stored.
std::string ProgramEntry::refName(Value ref) {
  if (std::string name = block::nameOf(ref.getLoc()); isIdentifier(name))
    return name;
  // A load often carries the name that the source gave to the value.
  for (Operation *user : ref.getUsers())
    if (isa<ir::LoadOp>(user))
      if (std::string name = block::nameOf(user->getLoc()); isIdentifier(name))
        return name;
  for (Operation *user : ref.getUsers())
    if (auto store = dyn_cast<ir::StoreOp>(user);
        store && ir::rankOf(store.getValue().getType()) > 0)
      return wantedName(code_, store.getValue());
  return "t";
}

std::string ProgramEntry::argumentName(Value value) {
  if (std::string name = code_.known(value).text; isIdentifier(name))
    return name;
  if (isa<ir::RefType>(value.getType()))
    return refName(value);
  Operation *op = value.getDefiningOp();
  // Views without a name are called by what they are of.
  while (op && isa<ir::SliceOp, ir::LoadOp, ir::CastOp>(op) &&
         block::nameOf(op->getLoc()).empty()) {
    Value source = op->getOperand(0);
    if (std::string name = code_.known(source).text; isIdentifier(name))
      return name;
    op = source.getDefiningOp();
    value = source;
  }
  return wantedName(code_, value);
}

} // namespace ptl::source
