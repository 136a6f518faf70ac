// Checks that fail, and how a function is left.
#include "codegen/cpu/lower_check.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/runtime_values.h"

#include "runtime/abi/check_status.h"

using namespace mlir;

namespace ptl::cpu {

Block *exitBlock(Lowering &l) {
  const Emit &e = l.e;
  // All ways out of a function share one block, which keeps its code small.
  if (l.exit)
    return l.exit;
  OpBuilder::InsertionGuard guard(e.b);
  Region &region = l.function.getBody();
  l.exit = e.b.createBlock(&region, region.end());
  if (l.function.getNumResults() == 0) {
    e.b.create<func::ReturnOp>(e.loc);
  } else {
    // The runtime's context holds the status; it begins with it.
    Value status = e.b.create<LLVM::LoadOp>(e.loc, e.b.getI32Type(), l.context);
    e.b.create<func::ReturnOp>(e.loc, status);
  }
  return l.exit;
}

void leaveUnless(Lowering &l, Value condition) {
  const Emit &e = l.e;
  Block *current = e.b.getInsertionBlock();
  Block *next = e.b.createBlock(current->getParent(), std::next(Region::iterator(current)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::CondBranchOp>(e.loc, condition, next, exitBlock(l));
  e.b.setInsertionPointToEnd(next);
}

static FileLineColLoc fileLocation(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

static void emitFailure(Lowering &l, Location loc, int32_t status, StringRef message,
                        ValueRange values) {
  const Emit &e = l.e;
  Value cells = valueArray(l, "", values);
  FileLineColLoc file = fileLocation(loc);
  Value name = file ? textConstant(l, file.getFilename())
                    : e.b.create<LLVM::ZeroOp>(e.loc, pointerType(e.b.getContext())).getResult();
  e.call("ptl_rt_fail", {},
         {l.context, e.i32(status), name, e.i32(file ? file.getLine() : 0),
          textConstant(l, message), cells, e.i32(static_cast<int64_t>(values.size()))});
}

void lowerCheck(Lowering &l, ir::CheckOp op) {
  const Emit &e = l.e;
  Value condition = scalarOf(l, op.getCondition());
  // A check that is known to hold needs no code.
  if (constantOf(condition).value_or(0) != 0)
    return;
  Region *region = e.b.getInsertionBlock()->getParent();
  Block *current = e.b.getInsertionBlock();
  // The call that reports the failure is kept out of the straight path.
  Block *bad = e.b.createBlock(region, std::next(Region::iterator(current)));
  Block *good = e.b.createBlock(region, std::next(Region::iterator(bad)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::CondBranchOp>(e.loc, condition, good, bad);
  e.b.setInsertionPointToEnd(bad);
  emitFailure(l, op.getLoc(), rt::statusOfCheck(op.getStatus()), op.getMessage(), op.getValues());
  e.b.create<cf::BranchOp>(e.loc, exitBlock(l));
  e.b.setInsertionPointToEnd(good);
}

} // namespace ptl::cpu
