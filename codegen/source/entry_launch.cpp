// The kernels that the text of a program calls, and the calls.
#include "codegen/source/entry.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/stored_whole.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_positions.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_stores.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

bool ProgramEntry::isOutput(Value ref, llvm::ArrayRef<ir::ParallelOp> grids) {
  if (isWritten(ref, grids.front()))
    return false;
  // Atomic stores add to what is there.
  bool isAtomic = llvm::any_of(ref.getUsers(), [](Operation *user) {
    auto store = dyn_cast<ir::StoreOp>(user);
    return store && store.getAtomic();
  });
  if (isAtomic)
    return false;
  // A kernel of the source says itself what its outputs are.
  return !entry_.facts.kernelAt(grids.front()->getLoc()).empty() || storesWhole(ref, grids);
}

/// Whether a grid stores to one of these arrays and another one updates it by `atomic`, which a
/// kernel may not do besides.
static bool mixesAtomics(llvm::ArrayRef<ir::ParallelOp> grids, ir::ParallelOp next) {
  llvm::SmallDenseSet<Value, 4> plain, atomic;
  auto note = [&](ir::ParallelOp grid) {
    grid->walk(
        [&](ir::StoreOp store) { (store.getAtomic() ? atomic : plain).insert(store.getRef()); });
  };
  llvm::for_each(grids, note);
  note(next);
  return llvm::any_of(plain, [&](Value ref) { return atomic.contains(ref); });
}

/// Grids that follow one another and write the same storage belong together.
std::vector<ir::ParallelOp> ProgramEntry::groupFrom(ir::ParallelOp first) {
  std::vector<ir::ParallelOp> group = {first};
  llvm::SmallVector<Value> refs = storedRefs(first);
  // Only grids with nothing but arithmetic between them can be one kernel.
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (auto next = dyn_cast<ir::ParallelOp>(op)) {
      bool shares =
          llvm::any_of(storedRefs(next), [&](Value ref) { return llvm::is_contained(refs, ref); });
      if (!shares || mixesAtomics(group, next))
        break;
      group.push_back(next);
      for (Value ref : storedRefs(next))
        refs.push_back(ref);
    } else if (!isPositionOp(op) && !op->hasTrait<OpTrait::ConstantLike>()) {
      break;
    }
  }
  return group;
}

void ProgramEntry::launch(ir::ParallelOp first) {
  // The grid was part of an earlier group.
  if (launched_.count(first))
    return;
  std::vector<ir::ParallelOp> group = groupFrom(first);
  launched_.insert(group.begin(), group.end());
  // Names are given before the kernel is printed, so that both sides agree.
  // Its results have the names that they have here.
  for (ir::ParallelOp grid : group)
    for (Value ref : storedRefs(grid))
      if (!code_.isKnown(ref) && isOutput(ref, group))
        code_.know(ref, code_.names().fresh(refName(ref)));
  KernelBody body(
      group, entry_.facts, entry_.dims, entry_.inTypes,
      [&](Value value) { return argumentName(value); },
      [&](Value ref) { return isOutput(ref, group); },
      [&](Operation *op, const std::string &why) { code_.unwritable(op, why); });
  OutlinedKernel kernel = body.print();
  kernel.doc = entry_.facts.kernelDocAt(first.getLoc());
  std::string wanted = entry_.facts.kernelAt(first.getLoc());
  // A kernel without a name is called by what it makes.
  if (wanted.empty()) {
    std::string what = !kernel.outputs.empty() ? refName(kernel.outputs[0].first)
                                               : argumentName(storedRefs(first).front());
    if (!kernel.outputs.empty() && code_.isKnown(kernel.outputs[0].first))
      what = code_.known(kernel.outputs[0].first).text;
    wanted = entry_.facts.name + "_" + what;
  }
  callAs(kernel, wanted, first);
  for (ir::ParallelOp grid : group)
    for (Value ref : storedRefs(grid))
      noteWritten(ref, first);
}

/// Kernels that are alike are written once.
void ProgramEntry::callAs(const OutlinedKernel &kernel, const std::string &wanted, Operation *at) {
  // The key is the text without the name.
  auto [found, isNew] = kernelNames_.try_emplace(kernel.key());
  if (isNew) {
    found->second = kernelNamesUsed_.fresh(wanted);
    kernels_ +=
        docLines(found->second == wanted ? kernel.doc : "") + kernel.text(found->second) + "\n";
  }
  call(kernel, found->second, at);
}

const OutlinedKernel &ProgramEntry::outlined(ir::LaunchOp launch) const {
  auto [found, isNew] = outlined_.try_emplace(launch);
  if (isNew)
    found->second = kernelOfLaunch_(launch);
  return found->second;
}

llvm::SmallVector<Value> ProgramEntry::writtenBy(ir::LaunchOp launch) const {
  const OutlinedKernel &kernel = outlined(launch);
  llvm::SmallVector<Value> refs;
  for (const auto &[ref, type] : kernel.outputs)
    refs.push_back(ref);
  for (const OutlinedKernel::Argument &argument : kernel.arguments)
    if (argument.isInout)
      refs.push_back(argument.value);
  return refs;
}

/// Whether anything but a launch uses storage; what only its length is asked for is not read.
static bool isRead(Value ref, ir::LaunchOp launch) {
  return llvm::any_of(ref.getUsers(),
                      [&](Operation *user) { return user != launch && !isa<ir::DimOp>(user); });
}

void ProgramEntry::launch(ir::LaunchOp launch) {
  OutlinedKernel kernel = outlined(launch);
  keepWritten(kernel, [&](Value ref) { return isWritten(ref, launch); });
  for (const auto &[ref, type] : kernel.outputs)
    if (!code_.isKnown(ref))
      code_.know(ref, code_.names().fresh((isRead(ref, launch) ? "" : "_") + refName(ref)));
  kernel.doc = entry_.facts.kernelDocAt(launch.getLoc());
  std::string wanted = entry_.facts.kernelAt(launch.getLoc());
  if (wanted.empty()) {
    Value written = kernel.outputs.empty() ? Value() : kernel.outputs[0].first;
    for (const OutlinedKernel::Argument &argument : kernel.arguments)
      if (!written && argument.isInout)
        written = argument.value;
    wanted = entry_.facts.name;
    if (written)
      wanted += "_" + argumentName(written);
  }
  callAs(kernel, wanted, launch);
  for (Value ref : writtenBy(launch))
    noteWritten(ref, launch);
}

void ProgramEntry::call(const OutlinedKernel &kernel, const std::string &name, Operation *at) {
  std::vector<std::string> arguments;
  for (const OutlinedKernel::Argument &argument : kernel.arguments) {
    // An `inout` argument must have a value before the call.
    if (argument.isInout && !isWritten(argument.value, at)) {
      bool isAlloc = argument.value.getDefiningOp() != nullptr;
      std::string zeros = "zeros(" + typeText(code_, argument.value.getType()) + ")";
      if (isAlloc)
        code_.var(argument.value, {zeros}, refName(argument.value));
      else
        code_.line(code_.known(argument.value).text + " = " + zeros);
    }
    // A kernel may count with what the program has as an element.
    Expression own = argument.value.getType().isIndex()
                         ? source::positionText(code_, argument.value)
                         : valueText(code_, argument.value);
    arguments.push_back((argument.isInout ? "inout " : "") + own.text);
  }
  for (const std::string &dim : kernel.namedDims)
    arguments.push_back(dim + ": " + lengthText(code_, kernel, dim));
  std::string text = name + "(" + llvm::join(arguments, ", ") + ")";
  if (kernel.outputs.empty())
    return code_.line(text);
  std::vector<std::string> names, copies;
  bool isVar = false;
  for (const auto &[ref, type] : kernel.outputs) {
    bool isAlloc = ref.getDefiningOp() != nullptr;
    bool isChosen = llvm::any_of(choices_, [&, ref = ref](const auto &each) {
      return llvm::is_contained(each.second, ref);
    });
    isVar |= isAlloc && !isChosen && writersOf(ref).size() > 1;
    if (isAlloc) {
      // Storage of this program is bound by the call; parameters are assigned to.
      names.push_back(code_.known(ref).text);
    } else if (kernel.outputs.size() == 1) {
      return code_.line(code_.known(ref).text + " = " + text);
    } else {
      // Several results come as a tuple, so parameters take theirs from names in between.
      names.push_back(code_.names().fresh(code_.known(ref).text + "_new"));
      copies.push_back(code_.known(ref).text + " = " + names.back());
    }
  }
  std::string target = names.size() == 1 ? names[0] : "(" + llvm::join(names, ", ") + ")";
  code_.line((isVar ? "var " : "let ") + target + " = " + text);
  for (const std::string &copy : copies)
    code_.line(copy);
}

} // namespace ptl::source
