#include "codegen/pto/windows.h"

#include "frontend/base/round_up.h"

namespace ptl::pto {

WindowStrides windowStrides(TileBufType tile) {
  constexpr int64_t boxes = 64; // a multiple of the extents of every box
  return {elementOffset(tile, boxes, 0) / boxes, elementOffset(tile, 0, boxes) / boxes};
}

TileBufType bufferTypeOf(SubsetOp window) {
  while (auto outer = window.getSource().getDefiningOp<SubsetOp>())
    window = outer;
  return window.getSource().getType();
}

TileBufType windowType(SubsetOp op) {
  TileBufType source = bufferTypeOf(op), window = op.getType();
  bool rowMajor = source.getLayout().box == Layout::RowMajor;
  bool isBoxed = source.getLayout().inner != Layout::None;
  // One row needs no stride, and moves between tiles want their shapes alike.
  if (!isBoxed && (rowMajor ? window.getRows() : window.getCols()) == 1)
    return window;
  int64_t rows = rowMajor ? window.getRows() : source.getRows(),
          cols = rowMajor ? source.getCols() : window.getCols();
  return TileBufType::get(window.getContext(), window.getPlace(), rows, cols,
                          window.getElementType(), window.getValidRows(), window.getValidCols(),
                          window.getLayout());
}

int64_t slotStride(MultiTileBufType type, int64_t alignment) {
  return roundUp(type.getSlot().getBytes(), alignment);
}

int64_t slotStride(mlir::Operation *pipe) {
  if (auto global = mlir::dyn_cast<InitializeL2G2LPipeOp>(pipe))
    return global.getSlotSize();
  auto direct = mlir::cast<InitializeL2LPipeOp>(pipe);
  bool isDealt = direct.getDirMask() == 1 && !direct.getNosplit().value_or(false);
  return isDealt ? direct.getSlotSize() / 2 : direct.getSlotSize();
}

} // namespace ptl::pto
