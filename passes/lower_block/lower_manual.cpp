// From a grid written at block level to a function of its kernel.
#include "passes/lower_block/lower_manual.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/drain_events.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/scalars.h"

#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// The properties of a queue on this machine where the kernel does not state them.
struct QueueShape {
  QueueShape(ir::QueueOp queue, const Machine &machine, int64_t usualHeld)
      : slots(queue.getSlots().value_or(machine.exchange.throughBuffer
                                            ? machine.exchange.slotsTwoWay
                                            : machine.exchange.slotsOneWay)),
        held(queue.getHeld().value_or(usualHeld)) {}
  int64_t slots, held;
};

class ManualLowering {
public:
  ManualLowering(func::FuncOp function, const ManualOptions &options, const Report &report)
      : function_(function), options_(options), report_(report), b_(function.getContext()) {}

  bool run(ir::ParallelOp grid, IRMapping &arguments) {
    copyBody(grid, arguments);
    // Queues and scalars of the other core are gone before anything is made of them.
    takeSections();
    openQueues();
    lowerScalars();
    dropUnused();
    IRRewriter rewriter(b_.getContext());
    DominanceInfo dominance;
    // Positions are computed for each access anew, and most are equal.
    eliminateCommonSubExpressions(rewriter, dominance, function_);
    if (!failed_)
      drainEvents(function_, options_.machine, report_);
    return !failed_;
  }

private:
  void copyBody(ir::ParallelOp grid, IRMapping &arguments) {
    Block &entry = function_.getBody().front();
    b_.setInsertionPointToEnd(&entry);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(grid->getRegions(), captured);
    for (Value value : captured)
      // Whatever else the body uses from outside is an argument of the kernel.
      if (!arguments.contains(value) && value.getDefiningOp() && matchPattern(value, m_Constant()))
        b_.clone(*value.getDefiningOp(), arguments);
    // A manual kernel asks for its core by itself, so the grid's position is not used.
    Value zero = b_.create<arith::ConstantIndexOp>(grid.getLoc(), 0);
    for (BlockArgument argument : grid.getBody().front().getArguments())
      arguments.map(argument, zero);
    for (Operation &op : grid.getBody().front().without_terminator())
      if (auto pointer = dyn_cast<ir::PointerOp>(op))
        arguments.map(pointer.getPointer(), arguments.lookup(pointer.getArray()));
      else
        b_.clone(op, arguments);
    b_.create<func::ReturnOp>(grid.getLoc());
  }

  /// Sections of this core become a part of what is around them, the others vanish.
  void takeSections() {
    llvm::StringRef own = options_.core == CoreKind::Cube ? "aic" : "aiv";
    llvm::SmallVector<ir::SectionOp> sections;
    function_.walk([&](ir::SectionOp section) { sections.push_back(section); });
    // Sections are collected first, because moving their operations would confuse the walk.
    for (ir::SectionOp section : sections) {
      if (section.getCore() == own) {
        Block &body = section.getBody().front();
        section->getBlock()->getOperations().splice(section->getIterator(), body.getOperations());
      }
      section.erase();
    }
  }

  // ---- queues -----------------------------------------------------------------------------------

  void openQueues() {
    llvm::SmallVector<ir::QueueOp> queues;
    function_.walk([&](ir::QueueOp queue) { queues.push_back(queue); });
    // Both sides open all queues at the start, in the same order.
    b_.setInsertionPointToStart(&function_.getBody().front());
    llvm::DenseSet<int64_t> taken;
    for (ir::QueueOp queue : queues)
      if (std::optional<uint64_t> pinned = queue.getFlag())
        for (int64_t each : {0, 1})
          // A queue takes two flags: one for slots that are full, one for those that are free.
          taken.insert(static_cast<int64_t>(*pinned) + each);
    function_.walk([&](Operation *op) {
      auto ids = attrs::ids.of(op); // first, and how many
      if (isa<pto::SyncSetOp, pto::SyncWaitOp>(op) && ids)
        for (int64_t i = 0; i < ids[1]; ++i)
          taken.insert(ids[0] + i);
    });
    int64_t offset = 0, flag = 0;
    for (ir::QueueOp queue : queues) {
      QueueShape shape(queue, options_.machine, options_.options.queueSlots);
      int64_t own = queue.getFlag() ? static_cast<int64_t>(*queue.getFlag()) : -1;
      if (own < 0) {
        // Both cores count in the same order, so they agree on the flags.
        while (taken.contains(flag) || taken.contains(flag + 1))
          flag += 2;
        own = flag;
        flag += 2;
      }
      queue.getPipe().replaceAllUsesWith(openQueue(queue, shape, offset, own));
      offset += shape.slots * static_cast<int64_t>(queue.getBytes());
      queue.erase();
    }
  }

  Value openQueue(ir::QueueOp queue, const QueueShape &shape, int64_t offset, int64_t flag) {
    bool direct = options_.machine.exchange.throughBuffer;
    // The buffer lies with the core that reads from the queue.
    bool consumer = queue.getToVector() == (options_.core == CoreKind::Vector);
    Location loc = queue.getLoc();
    auto number = [&](int64_t value) { return b_.getI32IntegerAttr(static_cast<int32_t>(value)); };
    int64_t bytes = static_cast<int64_t>(queue.getBytes()),
            part = static_cast<int64_t>(queue.getPart());
    auto mask = b_.getI8IntegerAttr(queue.getToVector() ? 1 : 2);
    BoolAttr nosplit = queue.getSplit() ? BoolAttr() : b_.getBoolAttr(true);
    auto type = pto::PipeHandleType::get(b_.getContext());
    Value address;
    if (consumer) {
      std::optional<uint64_t> base = queue.getBase();
      address = b_.create<pto::ReserveBufferOp>(
          loc, b_.getI32Type(), queue.getNameAttr(),
          number(direct ? shape.slots * part : heldBytes(shape.held, bytes, part)),
          b_.getStringAttr(queue.getToVector() ? "vec" : "mat"), b_.getBoolAttr(!base),
          base ? number(static_cast<int64_t>(*base)) : IntegerAttr());
    } else if (direct) {
      address = b_.create<pto::ImportReservedBufferOp>(loc, b_.getI32Type(), queue.getNameAttr(),
                                                       FlatSymbolRefAttr::get(options_.peer));
    } else {
      address = b_.create<arith::ConstantIntOp>(loc, 0, 32);
    }
    if (direct)
      return b_.create<pto::InitializeL2LPipeOp>(loc, type, mask, number(bytes),
                                                 number(shape.slots), IntegerAttr(), number(flag),
                                                 nosplit, address);
    return b_.create<pto::InitializeL2G2LPipeOp>(loc, type, mask, number(bytes),
                                                 number(shape.slots), number(shape.held),
                                                 number(flag), nosplit, ring(loc, offset), address);
  }

  /// Each core group has its own ring in the workspace.
  Value ring(Location loc, int64_t offset) {
    auto constant = [&](int64_t value) { return b_.create<arith::ConstantIndexOp>(loc, value); };
    // The workspace is counted in words of four bytes.
    Value group = b_.create<arith::IndexCastOp>(
        loc, b_.getIndexType(), b_.create<pto::GetBlockIdxOp>(loc, b_.getI64Type()));
    Value first = b_.createOrFold<arith::MulIOp>(loc, group, constant(options_.workspaceBytes / 4));
    first = b_.createOrFold<arith::AddIOp>(loc, first, constant(offset / 4));
    return b_.create<pto::AddPtrOp>(loc, options_.workspace.getType(), options_.workspace, first);
  }

  // ---- scalars ----------------------------------------------------------------------------------

  void lowerScalars() {
    llvm::SmallVector<Operation *> ops;
    function_.walk([&](Operation *op) {
      if (isa_and_nonnull<ir::PtlDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto check = dyn_cast<ir::CheckOp>(op)) {
        // Requirements of the kernel stay for the prover; the host checks them.
        if (op->getBlock() != &function_.getBody().front())
          lowerCheck(check);
        continue;
      }
      b_.setInsertionPoint(op);
      Value result = unsignedConstant(op);
      if (!result && op->getNumResults() == 1)
        result =
            scalarResult(b_, op, llvm::to_vector(op->getOperands()), op->getResult(0).getType());
      if (!result) {
        report_(DiagId::NotOnBlockLevel, op->getLoc(),
                {"`" + op->getName().stripDialect().str() + "` in a manual kernel",
                 options_.machine.name});
        failed_ = true;
        return;
      }
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }

  /// A constant of an unsigned type, for which `arith` has none; null for other operations.
  Value unsignedConstant(Operation *op) {
    IntegerAttr number;
    if (!matchPattern(op, m_Constant(&number)) || !number.getType().isUnsignedInteger())
      return {};
    Type word = b_.getIntegerType(number.getType().getIntOrFloatBitWidth());
    Value plain =
        b_.create<arith::ConstantOp>(op->getLoc(), b_.getIntegerAttr(word, number.getValue()));
    return b_.create<UnrealizedConversionCastOp>(op->getLoc(), number.getType(), plain)
        .getResult(0);
  }

  /// An assertion inside the kernel stops it; bounds are left to the prover.
  void lowerCheck(ir::CheckOp check) {
    if (check.getStatus() == "assert") {
      b_.setInsertionPoint(check);
      Location loc = check.getLoc();
      Value yes = b_.create<arith::ConstantIntOp>(loc, 1, 1);
      Value fails = b_.createOrFold<arith::XOrIOp>(loc, check.getCondition(), yes);
      auto branch = b_.create<scf::IfOp>(loc, fails, /*withElseRegion=*/false);
      b_.setInsertionPointToStart(&branch.getThenRegion().front());
      b_.create<pto::TrapOp>(loc, check.getStatus(), check.getMessage(), check.getValues());
    }
    check.erase();
  }

  /// Removes declarations for both cores that only the other core uses.
  void dropUnused() {
    llvm::SmallVector<Operation *> ops;
    function_.walk([&](Operation *op) {
      if (isa<pto::AllocTileOp, pto::AllocMultiTileOp, pto::MultiTileGetOp, pto::SubsetOp,
              pto::TReshapeOp, pto::BitcastOp>(op))
        ops.push_back(op);
    });
    // Users come behind what they use, so one round is enough.
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
  }

  func::FuncOp function_;
  const ManualOptions &options_;
  const Report &report_;
  OpBuilder b_;
  bool failed_ = false;
};

} // namespace

bool lowerManual(func::FuncOp function, ir::ParallelOp grid, IRMapping &arguments,
                 const ManualOptions &options, const Report &report) {
  return ManualLowering(function, options, report).run(grid, arguments);
}

int64_t queueBytes(ir::ParallelOp grid, const Machine &machine) {
  int64_t total = 0;
  grid.walk([&](ir::QueueOp queue) {
    total += QueueShape(queue, machine, 0).slots * static_cast<int64_t>(queue.getBytes());
  });
  return (total + 511) / 512 * 512;
}

} // namespace ptl::block
