#include "passes/lower_block/row_windows.h"

#include "passes/analysis/op_info.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

/// One row, which loses its axis.
static bool isRow(const BoxOperands &in, llvm::ArrayRef<ir::Extent> kept) {
  return kept.size() == 1 && llvm::equal(in.dropped, llvm::ArrayRef<int64_t>{0});
}

/// Rows from a known one on, as many as a buffer of that many rows has behind it. What is dealt to several cores lies otherwise on each.
static bool areRows(const KernelContext &c, const BoxOperands &in,
                    llvm::ArrayRef<ir::Extent> kept) {
  std::optional<int64_t> first = getConstantIntValue(in.offsets[0]);
  int64_t all = capacityOf(c, ir::extentsOf(in.array.getType())[0]);
  return kept.size() == 2 && in.dropped.empty() && first && *first >= 0 &&
         *first + capacityOf(c, kept[0]) <= all && !c.cores.isMixed();
}

std::optional<Tile> rowWindow(KernelContext &c, Operation *op, const Tile &source) {
  BoxOperands in = operandsOf(op);
  llvm::ArrayRef<ir::Extent> axes = ir::extentsOf(in.array.getType()),
                             kept = ir::extentsOf(op->getResult(0).getType());
  bool isPart = source.form == Tile::Form::Whole && in.steps.empty() && !in.outside &&
                axes.size() == 2 && !kept.empty() && axes[1] == kept.back() &&
                !kept.back().isOne() && matchPattern(in.offsets[1], m_Zero()) &&
                (isRow(in, kept) || areRows(c, in, kept));
  // Others see the rows under another shape, which a window has none of.
  bool isReadInRows = llvm::all_of(op->getUsers(), [](Operation *user) {
    return ir::isElementwise(user) || isa<ir::InsertOp, ir::DimOp>(user);
  });
  if (!isPart || !isReadInRows || source.buffer.getDefiningOp<pto::SubsetOp>())
    return std::nullopt;
  Value root = pto::rootOf(source.buffer);
  if (c.slices.contains(root) || root.getDefiningOp<pto::DeclareTileOp>())
    return std::nullopt;
  std::optional<Tile> rows = resultTile(c, op);
  if (!rows)
    return rows;
  pto::TileBufType type = allocateType(c, *rows);
  auto whole = cast<pto::TileBufType>(source.buffer.getType());
  if (rows->form != Tile::Form::Whole || type.getCols() != whole.getCols() ||
      type.getElementType() != whole.getElementType() || type.getLayout() != whole.getLayout())
    return std::nullopt;
  auto valid = [](int64_t known, Value length) {
    return known == pto::kDynamic ? length : Value();
  };
  rows->buffer =
      c.b.create<pto::SubsetOp>(op->getLoc(), type, source.buffer, scalarOf(c, in.offsets[0]),
                                constant(c, 0), valid(type.getValidRows(), rows->extents.validRows),
                                valid(type.getValidCols(), rows->extents.validCols));
  return rows;
}

} // namespace ptl::block
