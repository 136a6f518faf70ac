#include "passes/analysis/core_dependence.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// Accesses that nothing has waited for yet.
using State = llvm::SmallVector<GlobalAccess>;

void join(State &into, llvm::ArrayRef<GlobalAccess> from) {
  // The list is a set, so that a second round through a loop adds nothing new.
  for (const GlobalAccess &access : from)
    if (llvm::none_of(into, [&](const GlobalAccess &own) {
          return own.op == access.op && own.array == access.array && own.doer == access.doer &&
                 own.partsFrom == access.partsFrom;
        }))
      into.push_back(access);
}

/// Whether what two accesses touch in common is touched by the same core in both.
bool isSameCore(const GlobalAccess &a, const GlobalAccess &b) {
  if (a.doer != b.doer || a.doer == Doer::EveryVector)
    // Every vector core does the same access, so others may be ahead of this one.
    return false;
  return a.doer != Doer::VectorInParts ||
         (a.partsFrom && a.partsFrom == b.partsFrom && a.partsAxis == b.partsAxis &&
          a.partsName == b.partsName);
}

/// Whether the result depends on which of the two comes first.
bool isOrdered(const GlobalAccess &a, const GlobalAccess &b) {
  return a.array == b.array && (a.writes || b.writes) && !(a.commutes && b.commutes);
}

class Finder {
public:
  Finder(AccessesOf accessesOf, IsOver isOver) : accessesOf_(accessesOf), isOver_(isOver) {}

  void visit(Block &block, State &state) {
    for (Operation &op : block) {
      if (op.getNumRegions())
        visitRegions(op, state);
      else
        visitOp(op, state);
    }
  }

  llvm::SetVector<Operation *> meetings;

private:
  void visitOp(Operation &op, State &state) {
    llvm::SmallVector<GlobalAccess, 2> accesses = accessesOf_(&op);
    // An access that another core did not wait for needs a meeting before this operation.
    bool meets = llvm::any_of(accesses, [&](const GlobalAccess &access) {
      return llvm::any_of(state, [&](const GlobalAccess &before) {
        return isOrdered(before, access) && !isSameCore(before, access) && !isOver_(before, access);
      });
    });
    if (meets) {
      meetings.insert(&op);
      // At a meeting all cores have waited for all others, so nothing from before is open.
      state.clear();
    }
    join(state, accesses);
  }

  /// Afterwards `state` is what any way through the regions leaves.
  void visitRegions(Operation &op, State &state) {
    bool isBranch = isa<scf::IfOp>(op);
    State before = state;
    // Accesses of one round conflict with those of the next; two rounds show all conflicts.
    for (int round = 0; round < (isBranch ? 1 : 2); ++round)
      for (Region &region : op.getRegions()) {
        // Each arm of a branch begins with what was open before it; the regions of a loop follow
        // each other.
        State own = isBranch ? before : state;
        for (Block &block : region)
          visit(block, own);
        if (!isBranch)
          forget(op, own);
        join(state, own);
      }
  }

  /// The places where parts begin in one round are not those of the next, so they are forgotten.
  static void forget(Operation &loop, State &state) {
    for (GlobalAccess &access : state)
      if (auto from = dyn_cast_if_present<Value>(access.partsFrom);
          from && loop.isAncestor(from.getParentBlock()->getParentOp()))
        access.partsFrom = {};
  }

  AccessesOf accessesOf_;
  IsOver isOver_;
};

} // namespace

llvm::SetVector<Operation *> findMeetings(Block &block, AccessesOf accessesOf, IsOver isOver) {
  Finder finder(accessesOf, isOver);
  State state;
  finder.visit(block, state);
  return std::move(finder.meetings);
}

} // namespace ptl::ir
