// Records which values instructions read and write.
#include "passes/lower_block/held_values.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/held_values.h"
#include "ir/dialect/instruction_op.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::block {

void HeldValues::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  // Instructions outside of any operation of the source, such as those for queues, hold no value of
  // it.
  if (!starts_.empty() && pto::Instruction(op))
    made_.push_back(op);
}

void HeldValues::setMeetings(Operation *grid, const llvm::DenseSet<Operation *> &meetings,
                             llvm::ArrayRef<Value> pointers) {
  metOver_.assign(pointers.begin(), pointers.end());
  if (!meetings.empty())
    grid->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Each operation knows how many meetings come before it.
      meetings_ += meetings.contains(op);
      met_[op] = meetings_;
    });
}

int32_t HeldValues::numberOf(Value value) {
  auto [entry, isNew] = numbers_.try_emplace(value, static_cast<int32_t>(flows_.size()));
  if (isNew) {
    flows_.emplace_back();
    isMade_.push_back(false);
  }
  return entry->second;
}

void HeldValues::flow(Value from, Value to) {
  int32_t source = numberOf(from);
  auto &all = flows_[static_cast<size_t>(numberOf(to))];
  // Loops report the same flow several times.
  if (!llvm::is_contained(all, source))
    all.push_back(source);
}

/// The values that the blocks of an operation pass on at their ends.
static SmallVector<OperandRange> handedOn(Operation *op) {
  SmallVector<OperandRange> all;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        all.push_back(block.getTerminator()->getOperands());
  return all;
}

static void addArrays(ValueRange values, llvm::SmallVectorImpl<Value> &into) {
  for (Value value : values)
    if (isa<ir::ArrayType>(value.getType()))
      into.push_back(value);
}

// Around loops, and out of branches.
void HeldValues::flowAround(Operation *op) {
  auto each = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (isa<ir::ArrayType>(target.getType()))
        flow(source, target);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    each(loop.getInitArgs(), loop.getRegionIterArgs());
    each(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs());
    each(loop.getRegionIterArgs(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    each(loop.getInits(), loop.getBeforeArguments());
    each(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    // The condition hands the same values to the next round and, where the loop ends, to the results.
    each(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    each(loop.getConditionOp().getArgs(), loop.getResults());
  } else if (isa<scf::IfOp>(op)) {
    for (OperandRange handed : handedOn(op))
      each(handed, op->getResults());
  }
}

void HeldValues::end(Operation *op, BufferOf bufferOf) {
  size_t start = starts_.pop_back_val();
  Values read, written;
  addArrays(op->getOperands(), read);
  addArrays(op->getResults(), written);
  // Copies around loops and branches belong to the operation as a whole.
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op)) {
    flowAround(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addArrays(block.getArguments(), written);
    for (OperandRange handed : handedOn(op))
      addArrays(handed, read);
  } else if (op->getNumRegions()) { // what it runs again and again has other names each time
    made_.truncate(start);
    return;
  } else {
    // A result may hold the values of the operand in whose buffer it is, where nothing is written.
    for (Value result : written)
      for (Value operand : read)
        if (Value buffer = bufferOf(result); buffer && buffer == bufferOf(operand))
          flow(operand, result);
  }
  for (Operation *each : llvm::drop_begin(made_, start)) {
    mark(each, read, written, bufferOf);
    // Only memory that both cores touch needs to be ordered by meetings.
    bool isMetOver = meetings_ && llvm::any_of(each->getOperands(), [&](Value operand) {
                       return isa<pto::PartitionViewType>(operand.getType()) &&
                              llvm::is_contained(metOver_, pto::rootOf(operand));
                     });
    if (isMetOver)
      attrs::met.set(each, {met_.lookup(op), meetings_});
  }
  made_.truncate(start);
}

void HeldValues::mark(Operation *made, const Values &read, const Values &written,
                      BufferOf bufferOf) {
  pto::Instruction instruction(made);
  auto only = [&](const Values &among, Value root) {
    Value found;
    for (Value value : among) {
      // Two values in one buffer cannot be told apart here.
      if (bufferOf(value) != root || value == found)
        continue;
      if (found)
        return Value();
      found = value;
    }
    return found;
  };
  size_t numIns = instruction.ins().size();
  llvm::SmallVector<int32_t> numbers;
  for (auto [i, operand] : llvm::enumerate(made->getOperands())) {
    numbers.push_back(0);
    if (!isa<pto::TileBufType>(operand.getType()))
      continue;
    Value root = pto::rootOf(operand), value;
    auto liesThere = [&](Value each) { return bufferOf(each) == root; };
    // Operands of an instruction are its inputs first, then what it writes.
    bool isRead = i < numIns, isInPlace = llvm::any_of(written, liesThere);
    // A product that continues in an accumulator reads a value that is no operand of it, so that
    // value is not known.
    if (!isRead || (isInPlace && llvm::any_of(read, liesThere)))
      value = only(written, root);
    else if (!isInPlace)
      value = only(read, root);
    if (!value)
      continue;
    numbers.back() = numberOf(value);
    if (!isRead)
      isMade_[static_cast<size_t>(numbers.back())] = true;
  }
  if (llvm::any_of(numbers, [](int32_t number) { return number != 0; }))
    attrs::held.set(made, numbers);
}

const llvm::SmallVector<int32_t> &HeldValues::sourcesOf(int32_t value) {
  auto [entry, isNew] = sources_.try_emplace(value);
  if (!isNew)
    return entry->second;
  llvm::SetVector<int32_t> found;
  found.insert(value);
  bool isKnown = true;
  // The set grows while it is walked, until no further source is found.
  for (size_t i = 0; i < found.size(); ++i) {
    const auto &from = flows_[static_cast<size_t>(found[i])];
    // A source that nothing makes would be data from somewhere else.
    isKnown &= isMade_[static_cast<size_t>(found[i])] || !from.empty();
    found.insert(from.begin(), from.end());
  }
  if (isKnown)
    entry->second.assign(found.begin(), found.end());
  llvm::sort(entry->second);
  return entry->second;
}

void HeldValues::write(func::FuncOp function) {
  function.walk([&](Operation *op) {
    auto marked = attrs::held.of(op);
    pto::Instruction instruction(op);
    if (!marked || !instruction)
      return;
    llvm::SmallVector<int32_t> held;
    for (auto [i, number] : llvm::enumerate(marked.asArrayRef())) {
      size_t at = held.size();
      held.push_back(0);
      if (number != 0 && i >= instruction.ins().size())
        held.push_back(number);
      else if (number != 0)
        llvm::append_range(held, sourcesOf(number));
      // The lists of all operands follow each other, each behind its length.
      held[at] = static_cast<int32_t>(held.size() - at - 1);
    }
    attrs::held.set(op, held);
  });
}

} // namespace ptl::block
