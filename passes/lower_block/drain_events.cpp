// Signals that nobody waits for are waited for at the end of each point, so that the next one finds
// all events clear.
#include "passes/lower_block/drain_events.h"

#include "ir/dialect/attributes.h"

#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"
#include "passes/analysis/left_over.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace mlir;

namespace ptl::block {

namespace {

using Pipes = std::pair<pto::PipeKind, pto::PipeKind>;

/// A set or a wait, with the id as a number or a value.
struct Flag {
  Pipes pipes;
  bool isSet = false;
  int64_t number = -1;
  Value value;
  llvm::ArrayRef<int64_t> range; ///< first id and count, of a computed one
};

std::optional<Flag> flagOf(Operation *op) {
  auto fixed = [](auto flag, bool isSet) {
    return Flag{{flag.getSrcPipe(), flag.getDstPipe()},
                isSet,
                static_cast<int64_t>(flag.getEventId()),
                {},
                {}};
  };
  auto computed = [](auto flag, bool isSet) {
    auto ids = attrs::ids.of(flag);
    return Flag{{flag.getSrcPipe(), flag.getDstPipe()},
                isSet,
                -1,
                flag.getEventId(),
                ids ? ids.asArrayRef() : llvm::ArrayRef<int64_t>()};
  };
  if (auto set = dyn_cast<pto::SetFlagOp>(op))
    return fixed(set, true);
  if (auto wait = dyn_cast<pto::WaitFlagOp>(op))
    return fixed(wait, false);
  if (auto set = dyn_cast<pto::SetFlagDynOp>(op))
    return computed(set, true);
  if (auto wait = dyn_cast<pto::WaitFlagDynOp>(op))
    return computed(wait, false);
  return std::nullopt;
}

/// Sets less waits, by id, of events with a difference.
using Balance = std::map<std::pair<int64_t, const void *>, int64_t>;

class Drainer {
public:
  Drainer(Pipes pipes, const Machine &machine, const Report &report)
      : pipes_(pipes), machine_(machine), report_(report) {}

  /// Adds the waits that are missing at the end of the block that is one point of the grid.
  void run(Block &point) {
    // Most kernels leave nothing set, and need no code for it.
    std::optional<Balance> balance = balanceOf(point);
    if (balance && balance->empty())
      return;
    IRRewriter rewriter(point.getParentOp()->getContext());
    Location loc = point.getTerminator()->getLoc();
    rewriter.setInsertionPointToStart(&point);
    Value none = rewriter.create<arith::ConstantIndexOp>(loc, 0);
    Value pending = thread(rewriter, point, none);
    Operation *end = point.getTerminator();
    if (auto barrier = dyn_cast_or_null<pto::BarrierOp>(end->getPrevNode())) // the point's last
      end = barrier;
    rewriter.setInsertionPoint(end);
    for (int64_t id : ids_)
      waitFor(rewriter, loc, pending, id);
  }

private:
  std::optional<Balance> balanceOf(Block &block) const {
    Balance total;
    for (Operation &op : block) {
      if (std::optional<Flag> flag = flagOf(&op); flag && flag->pipes == pipes_) {
        total[{flag->number, flag->value.getAsOpaquePointer()}] += flag->isSet ? 1 : -1;
        continue;
      }
      if (!hasFlags(&op))
        continue;
      std::optional<Balance> inner;
      if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getElseRegion().empty()) {
        inner = balanceOf(branch.getThenRegion().front());
        std::optional<Balance> other = balanceOf(branch.getElseRegion().front());
        // If the arms differ, the number of events that are set depends on the way that was taken, which only the running kernel knows.
        if (!inner || !other || *inner != *other)
          return std::nullopt;
        for (auto &[id, count] : *inner)
          total[id] += count;
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &body : region)
          // A loop runs an unknown number of times, so each round has to be even.
          if (!(inner = balanceOf(body)) || !inner->empty())
            return std::nullopt;
    }
    // Arms are compared, so an event that one of them sets and waits for must not count.
    std::erase_if(total, [](const auto &entry) { return entry.second == 0; });
    return total;
  }

  bool hasFlags(Operation *op) const {
    return op
        ->walk([&](Operation *inner) {
          std::optional<Flag> flag = flagOf(inner);
          return flag && flag->pipes == pipes_ ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Carries the set of pending ids, a bit each, through a block.
  Value thread(IRRewriter &b, Block &block, Value pending) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (std::optional<Flag> flag = flagOf(&op); flag && flag->pipes == pipes_) {
        b.setInsertionPointAfter(&op);
        pending = toggle(b, op.getLoc(), *flag, pending);
      } else if (hasFlags(&op)) {
        b.setInsertionPoint(&op);
        if (auto loop = dyn_cast<scf::ForOp>(op))
          pending = threadLoop(b, loop, pending);
        else if (auto loop = dyn_cast<scf::WhileOp>(op))
          pending = threadWhile(b, loop, pending);
        else if (auto branch = dyn_cast<scf::IfOp>(op))
          pending = threadIf(b, branch, pending);
        else
          report_(DiagId::NotOnBlockLevel, op.getLoc(),
                  {"`" + op.getName().getStringRef().str() + "` that leaves events set",
                   machine_.name});
      }
    }
    return pending;
  }

  Value toggle(IRRewriter &b, Location loc, const Flag &flag, Value pending) {
    Value bit;
    if (flag.number >= 0) {
      // Only ids that are ever set are waited for at the end.
      ids_.insert(flag.number);
      bit = b.create<arith::ConstantIndexOp>(loc, int64_t(1) << flag.number);
    } else {
      for (int64_t i = 0; flag.range.size() == 2 && i < flag.range[1]; ++i)
        ids_.insert(flag.range[0] + i);
      bit = b.create<arith::ShLIOp>(loc, b.create<arith::ConstantIndexOp>(loc, 1), flag.value);
    }
    // Sets and waits of one id alternate, so that each turns its bit over.
    return b.create<arith::XOrIOp>(loc, pending, bit);
  }

  Value threadLoop(IRRewriter &b, scf::ForOp loop, Value pending) {
    auto yields = [&](OpBuilder &, Location,
                      llvm::ArrayRef<BlockArgument> added) -> llvm::SmallVector<Value> {
      return {thread(b, *loop.getBody(), added[0])};
    };
    FailureOr<LoopLikeOpInterface> made =
        loop.replaceWithAdditionalYields(b, {pending}, false, yields);
    return succeeded(made) ? (*made)->getResults().back() : pending;
  }

  /// The condition may have events of its own, so both regions carry what is pending.
  Value threadWhile(IRRewriter &b, scf::WhileOp loop, Value pending) {
    Location loc = loop.getLoc();
    llvm::SmallVector<Value> inits(loop.getInits());
    inits.push_back(pending);
    llvm::SmallVector<Type> types(loop.getResultTypes());
    types.push_back(pending.getType());
    auto made = b.create<scf::WhileOp>(loc, types, inits);
    made->setAttrs(loop->getAttrs());
    made.getBefore().takeBody(loop.getBefore());
    made.getAfter().takeBody(loop.getAfter());
    Value asked = made.getBeforeBody()->addArgument(pending.getType(), loc);
    asked = thread(b, *made.getBeforeBody(), asked);
    made.getConditionOp().getArgsMutable().append(asked);
    Value done = made.getAfterBody()->addArgument(pending.getType(), loc);
    done = thread(b, *made.getAfterBody(), done);
    made.getYieldOp().getResultsMutable().append(done);
    for (auto [from, to] : llvm::zip(loop.getResults(), made.getResults()))
      from.replaceAllUsesWith(to);
    b.eraseOp(loop);
    return made.getResults().back();
  }

  Value threadIf(IRRewriter &b, scf::IfOp branch, Value pending) {
    llvm::SmallVector<Type> types(branch.getResultTypes());
    types.push_back(pending.getType());
    auto made = b.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), true);
    for (unsigned arm = 0; arm < 2; ++arm) {
      Region &source = branch->getRegion(arm), &target = made->getRegion(arm);
      if (source.empty()) {
        b.setInsertionPointToEnd(&target.front());
        // An arm that does not exist changes nothing.
        b.create<scf::YieldOp>(branch.getLoc(), pending);
        continue;
      }
      target.takeBody(source);
      Value after = thread(b, target.front(), pending);
      Operation *yield = target.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), after);
    }
    for (auto [from, to] : llvm::zip(branch.getResults(), made.getResults()))
      from.replaceAllUsesWith(to);
    Value result = made.getResults().back();
    b.eraseOp(branch);
    return result;
  }

  void waitFor(IRRewriter &b, Location loc, Value pending, int64_t id) {
    OpBuilder::InsertionGuard guard(b);
    Value bit = b.create<arith::AndIOp>(loc, pending,
                                        b.create<arith::ConstantIndexOp>(loc, int64_t(1) << id));
    Value set = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit,
                                        b.create<arith::ConstantIndexOp>(loc, 0));
    auto branch = b.create<scf::IfOp>(loc, set, false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    MLIRContext *context = b.getContext();
    auto wait =
        b.create<pto::WaitFlagOp>(loc, pto::PipeKindAttr::get(context, pipes_.first),
                                  pto::PipeKindAttr::get(context, pipes_.second),
                                  pto::EventIdAttr::get(context, static_cast<pto::EventId>(id)));
    attrs::why.set(wait, ir::kLeftOver);
  }

  Pipes pipes_;
  const Machine &machine_;
  const Report &report_;
  std::set<int64_t> ids_;
};

} // namespace

void drainEvents(func::FuncOp function, const Machine &machine, const Report &report) {
  Block *point = &function.getBody().front();
  function.walk([&](scf::ForOp loop) {
    if (attrs::point.isOn(loop))
      // With several points for each core, every round of this loop is one.
      point = loop.getBody();
  });
  std::set<Pipes> pairs;
  function.walk([&](Operation *op) {
    if (std::optional<Flag> flag = flagOf(op))
      pairs.insert(flag->pipes);
  });
  for (const Pipes &pipes : pairs)
    Drainer(pipes, machine, report).run(*point);
  function.walk([](Operation *op) {
    if (!isa<pto::SyncSetOp, pto::SyncWaitOp>(op)) // `.pto` spells computed ones out
      attrs::ids.remove(op);
    attrs::point.remove(op);
  });
}

} // namespace ptl::block
