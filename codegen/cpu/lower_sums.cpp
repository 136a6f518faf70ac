// Loops that add up products: the rounds record where their operands lie, and one product of all of
// them follows.
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

#include "passes/analysis/sum_loops.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::cpu {

namespace {
/// Emits the rounds of such a loop.
struct SumEmitter {
  Lowering &l;
  const ir::SumLoops &sum;
  RoundTable table;

  Value rounds(size_t depth, Value count);
  void round(Value position);
};
} // namespace

// An operand in memory, or as rows or columns that lie in lines of their own.
static Value leftInMemory(const ir::SumLoops &sum) {
  Value lines = sum.linesOfLeft();
  return lines ? lines : sum.product->getOperand(0);
}

static Value rightInMemory(const ir::SumLoops &sum) {
  Value lines = sum.linesOfRight();
  return lines ? lines : sum.product->getOperand(1);
}

// Whether C is a matrix of the type in which products are summed, and the operands are matrices in
// memory. Adds the arrays of which they are parts.
static bool isContraction(ir::SumLoops &sum, SmallVectorImpl<Value> &arrays) {
  Value base;
  Operation *product = nullptr;
  return isProductInto(sum.add, base, product) && product == sum.product &&
         arrayType(sum.product.getA()).getRank() == 2 &&
         arrayType(sum.product.getB()).getRank() == 2 && sum.hasNumberedRounds() &&
         sum.isPart(leftInMemory(sum), arrays) && sum.isPart(rightInMemory(sum), arrays);
}

// --- emission ------------------------------------------------------------------------------------

void SumEmitter::round(Value position) {
  auto matrix = [](const View &view, size_t row, size_t column) {
    return MatrixView{view.element, view.data, view.strides[row], view.strides[column]};
  };
  ir::MatmulOp product = sum.product;
  ProductRound next;
  if (auto a = viewOf(l, product.getA())) {
    next.a = matrix(*a, 0, 1);
    next.k = a->extents[1];
  } else {
    View from = *viewOf(l, leftInMemory(sum));
    next.a = matrix(from, 1, 2);
    next.k = from.extents[2];
    next.rows = {from.extents[1], from.strides[0]};
  }
  if (auto b = viewOf(l, product.getB())) {
    next.b = matrix(*b, 0, 1);
  } else {
    View from = *viewOf(l, rightInMemory(sum));
    next.b = matrix(from, 0, 2);
    next.columns = {from.extents[2], from.strides[1]};
  }
  table.store(l.e, position, next);
}

// Returns the number of rounds so far; `count` is their number before this loop.
Value SumEmitter::rounds(size_t depth, Value count) {
  scf::ForOp loop = sum.loops[depth];
  return l.e.loop(scalarOf(l, loop.getLowerBound()), scalarOf(l, loop.getUpperBound()),
                  scalarOf(l, loop.getStep()), count,
                  [&](const Emit &, Value i, ValueRange so) -> SmallVector<Value> {
                    // Values of the body do not dominate the code behind the loop.
                    Scope scope(l);
                    l.bindScalar(loop.getInductionVar(), i);
                    Value now = so[0];
                    for (Operation &op : loop.getBody()->without_terminator()) {
                      l.e.loc = op.getLoc();
                      if (isa<scf::ForOp>(op))
                        now = rounds(depth + 1, now);
                      else if (!sum.sums(&op))
                        lowerOp(l, &op);
                    }
                    if (depth + 1 < sum.loops.size())
                      return {now};
                    round(now);
                    return {l.e.add(now, l.index(1))};
                  })[0];
}

// The most rounds there can be: the table of rounds is allocated before they are counted.
static Value capacityOf(Lowering &l, const ir::SumLoops &sum) {
  const Emit &e = l.e;
  Value rounds = l.index(1);
  for (scf::ForOp loop : sum.loops) {
    Value span = e.sub(scalarOf(l, loop.getUpperBound()), scalarOf(l, loop.getLowerBound()));
    Value step = scalarOf(l, loop.getStep());
    // A loop that does not run has its end before its start, which must not become a huge unsigned
    // number.
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
  // A program computes arrays in tasks, not in its own code.
  std::optional<ir::SumLoops> sum = l.isOrchestrating() ? std::nullopt : ir::SumLoops::of(loop);
  SmallVector<Value> arrays;
  if (!sum || !isContraction(*sum, arrays))
    return false;
  // The rounds only note addresses, so the arrays have to be in memory before the first of them.
  for (Value array : arrays)
    requireView(l, array);
  Value start = loop.getInitArgs()[0];
  // A sum that begins with zeros overwrites C instead of adding to it.
  bool continues = continuesCarried(loop, 0), fresh = !continues && isZero(start);
  View c = continues ? requireView(l, start)
           : fresh   ? allocate(l, arrayType(start).getElementType(), extentsOf(l, start))
                     : carriedBuffer(l, loop, start);
  withScratchScope(l, [&] {
    View memory =
        allocate(l, l.e.b.getI64Type(), {capacityOf(l, *sum), l.index(RoundTable::Words)});
    SumEmitter emitter{l, *sum, {l.context, memory.data, c.extents[0], c.extents[1]}};
    Value count = emitter.rounds(0, l.index(0));
    ir::ArrayType a = arrayType(sum->product.getA()), b = arrayType(sum->product.getB());
    emitter.table.emitSum(l.e, a.getElementType(), b.getElementType(),
                          {c.element, c.data, c.strides[0], c.strides[1]}, count, !fresh);
  });
  l.bindView(loop.getResult(0), c);
  return true;
}

} // namespace ptl::cpu
