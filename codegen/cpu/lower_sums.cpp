// Loops that add up products: the rounds say where their operands lie, and the product of all of them follows.
#include "codegen/cpu/lower_sums.h"
#include "codegen/cpu/carried.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_product.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/product_rounds.h"
#include "codegen/cpu/storage.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::cpu {

namespace {
/// Such loops, from the outermost one in, and what the innermost one adds.
struct Sum {
  SmallVector<scf::ForOp> loops;
  ir::MatmulOp product;
  Operation *add = nullptr;
  /// The right operand before its last two axes were put together; null if they were not.
  Value apart;
  SmallVector<Value> fromOutside; ///< arrays that the operands are parts of

  explicit Sum(scf::ForOp outermost) { loops.push_back(outermost); }
  bool match();

private:
  bool isOutside(Value value) { return loops.front().isDefinedOutsideOfLoop(value); }
  bool hasNumberedRounds(scf::ForOp loop);
  bool descend();
  bool isAddition(Value carried, Value next);
  bool hasPlainBody(scf::ForOp loop);
  bool liesInMemory(Value value);
  bool findRight();
};

/// Emits such loops.
struct SumEmitter {
  Lowering &l;
  Sum &sum;
  RoundTable table;

  Value rounds(size_t depth, Value count);
  void round(Value position);
};
} // namespace

// Whether the number of rounds is known before the loops begin.
bool Sum::hasNumberedRounds(scf::ForOp loop) {
  return llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                      [&](Value bound) { return isOutside(bound); });
}

bool Sum::isAddition(Value carried, Value next) {
  add = next.getDefiningOp();
  Value base;
  Operation *found = nullptr;
  if (!isProductInto(add, base, found) || base != carried || !carried.hasOneUse() ||
      !next.hasOneUse() || add->getBlock() != loops.back().getBody())
    return false;
  product = cast<ir::MatmulOp>(found);
  return arrayType(product.getA()).getRank() == 2 && arrayType(product.getB()).getRank() == 2;
}

bool Sum::descend() {
  while (true) {
    scf::ForOp loop = loops.back();
    if (loop.getNumRegionIterArgs() != 1 || !arrayType(loop.getResult(0)) ||
        !hasNumberedRounds(loop))
      return false;
    Value carried = loop.getRegionIterArg(0), next = loop.getBody()->getTerminator()->getOperand(0);
    auto inner = next.getDefiningOp<scf::ForOp>();
    if (!inner)
      return isAddition(carried, next);
    if (!continuesCarried(inner, 0))
      return false;
    loops.push_back(inner);
  }
}

// Whether a body computes nothing but operands, and leaves alone what is in memory.
bool Sum::hasPlainBody(scf::ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    return llvm::is_contained(loops, dyn_cast<scf::ForOp>(op)) || isa<ir::LoadOp>(op) ||
           (op.getNumRegions() == 0 && isMemoryEffectFree(&op));
  });
}

// Whether a round computes nothing for the value, which still lies in the same place when all rounds are over.
bool Sum::liesInMemory(Value value) {
  if (isOutside(value)) {
    fromOutside.push_back(value);
    return true;
  }
  if (auto load = value.getDefiningOp<ir::LoadOp>())
    return !load.getOutside() && isOutside(load.getRef());
  if (auto slice = value.getDefiningOp<ir::SliceOp>())
    return !slice.getOutside() && liesInMemory(slice.getOperand(0));
  // What is read by a loop inside may be copied before it, unless it costs nothing.
  auto transpose = value.getDefiningOp<ir::TransposeOp>();
  return transpose && transpose->getBlock() == loops.back().getBody() &&
         liesInMemory(transpose->getOperand(0));
}

// The right operand in memory, or as columns that lie in rows of their own.
bool Sum::findRight() {
  Value right = product.getB();
  auto reshape = right.getDefiningOp<ir::ReshapeOp>();
  if (!reshape || isOutside(right))
    return liesInMemory(right);
  ArrayRef<ir::Extent> from = arrayType(reshape.getX()).getExtents(),
                       to = arrayType(right).getExtents();
  apart = reshape.getX();
  return from.size() == 3 && from.front() == to.front() && liesInMemory(apart);
}

bool Sum::match() {
  return descend() && llvm::all_of(loops, [&](scf::ForOp loop) { return hasPlainBody(loop); }) &&
         liesInMemory(product.getA()) && findRight();
}

// --- emission ------------------------------------------------------------------------------------

void SumEmitter::round(Value position) {
  auto matrix = [](const View &view, size_t column) {
    return MatrixView{view.element, view.data, view.strides[0], view.strides[column]};
  };
  View a = *viewOf(l, sum.product.getA());
  ProductRound next{matrix(a, 1), {}, a.extents[1], {}, {}};
  if (auto b = viewOf(l, sum.product.getB())) {
    next.b = matrix(*b, 1);
  } else {
    View from = *viewOf(l, sum.apart);
    next.b = matrix(from, 2);
    next.inner = from.extents[2];
    next.outer = from.strides[1];
  }
  table.store(l.e, position, next);
}

// Returns how many rounds there have been, `count` before this loop.
Value SumEmitter::rounds(size_t depth, Value count) {
  scf::ForOp loop = sum.loops[depth];
  return l.e.loop(scalarOf(l, loop.getLowerBound()), scalarOf(l, loop.getUpperBound()),
                  scalarOf(l, loop.getStep()), count,
                  [&](const Emit &, Value i, ValueRange so) -> SmallVector<Value> {
                    // Values of the body do not dominate what stands behind the loop.
                    Scope scope(l);
                    l.bindScalar(loop.getInductionVar(), i);
                    Value now = so[0];
                    for (Operation &op : loop.getBody()->without_terminator()) {
                      l.e.loc = op.getLoc();
                      if (isa<scf::ForOp>(op))
                        now = rounds(depth + 1, now);
                      else if (&op != sum.product && &op != sum.add)
                        lowerOp(l, &op);
                    }
                    if (depth + 1 < sum.loops.size())
                      return {now};
                    round(now);
                    return {l.e.add(now, l.index(1))};
                  })[0];
}

static Value capacityOf(Lowering &l, Sum &sum) {
  const Emit &e = l.e;
  Value rounds = l.index(1);
  for (scf::ForOp loop : sum.loops) {
    Value span = e.sub(scalarOf(l, loop.getUpperBound()), scalarOf(l, loop.getLowerBound()));
    Value step = scalarOf(l, loop.getStep());
    span = e.b.createOrFold<arith::MaxSIOp>(e.loc, span, l.index(0));
    rounds =
        e.mul(rounds,
              e.b.createOrFold<arith::DivUIOp>(e.loc, e.sub(e.add(span, step), l.index(1)), step));
  }
  return rounds;
}

static bool isZero(Value array) {
  auto full = array.getDefiningOp<ir::FullOp>();
  return array.getDefiningOp<ir::ZerosOp>() ||
         (full && (matchPattern(full->getOperands().back(), m_PosZeroFloat()) ||
                   matchPattern(full->getOperands().back(), m_Zero())));
}

bool lowerSum(Lowering &l, scf::ForOp loop) {
  Sum sum(loop);
  // The code of a program computes arrays as tasks.
  if (l.isOrchestrating() || !sum.match())
    return false;
  for (Value array : sum.fromOutside)
    requireView(l, array);
  Value start = loop.getInitArgs()[0];
  bool continues = continuesCarried(loop, 0), fresh = !continues && isZero(start);
  View c = continues ? requireView(l, start)
           : fresh   ? allocate(l, arrayType(start).getElementType(), extentsOf(l, start))
                     : carriedBuffer(l, loop, start);
  withScratchScope(l, [&] {
    View memory = allocate(l, l.e.b.getI64Type(), {capacityOf(l, sum), l.index(RoundTable::Words)});
    SumEmitter emitter{l, sum, {l.context, memory.data, c.extents[1]}};
    Value count = emitter.rounds(0, l.index(0));
    ir::ArrayType a = arrayType(sum.product.getA()), b = arrayType(sum.product.getB());
    emitter.table.emitSum(l.e, a.getElementType(), b.getElementType(),
                          {c.element, c.data, c.strides[0], c.strides[1]}, c.extents[0], count,
                          !fresh);
  });
  l.bindView(loop.getResult(0), c);
  return true;
}

} // namespace ptl::cpu
