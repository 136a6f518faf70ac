#include "codegen/pto/popped_tiles.h"

#include "codegen/pto/windows.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace ptl::pto {

namespace {

TileBufType withShape(TileBufType type, int64_t rows, int64_t cols, int64_t validRows,
                      int64_t validCols) {
  return TileBufType::get(type.getContext(), type.getPlace(), rows, cols, type.getElementType(),
                          validRows, validCols, type.getLayout());
}

/// Whether elements of a tile follow each other row by row, without boxes.
bool liesByRows(TileBufType type) {
  return type.getLayout().box == Layout::RowMajor && type.getLayout().inner == Layout::None;
}

/// The first row of the tile, if nothing else of it is read; otherwise null. Slots have rows side by side, as far apart as their
/// valid columns, so that more rows could only be read with the columns that were pushed; and where two cores share
/// a tile, the rows of the second begin behind those of the first.
SubsetOp onlyRowOf(DeclareTileOp tile) {
  SubsetOp row;
  for (Operation *user : tile->getUsers()) {
    if (auto pop = dyn_cast<TPopOp>(user); pop && pop.getSplit() == 0)
      continue;
    auto window = dyn_cast<SubsetOp>(user);
    if (!window || !isConstantIntValue(window.getRow(), 0) ||
        !isConstantIntValue(window.getCol(), 0) || window.getType().getRows() != 1)
      return nullptr;
    bool isAlike =
        !row || (window.getType() == row.getType() && window.getValidRow() == row.getValidRow() &&
                 window.getValidCol() == row.getValidCol());
    if (!isAlike)
      return nullptr;
    row = window;
  }
  if (!row || !liesByRows(tile.getType()) || row.getType().getPlace() != ir::Place::Vec)
    return nullptr;
  // The lengths of the row have to be known before the pop.
  DominanceInfo dominance(tile->getParentOp());
  for (Value length : {row.getValidRow(), row.getValidCol()})
    if (length && !dominance.properlyDominates(length, tile))
      return nullptr;
  return row;
}

std::string lengthText(PtoCode &code, Value length, int64_t constant) {
  return length ? code.name(length) : code.indexConstant(constant);
}

/// PTOAS sets both lengths of a tile or none.
void setLengths(PtoCode &code, Operation *tile, const std::string &rows, const std::string &cols) {
  code.line(tile, "pto.set_validshape " + code.name(tile->getResult(0)) + ", " + rows + ", " +
                      cols + " : " + code.typeOf(tile->getResult(0)));
}

void emitDeclared(PtoCode &code, DeclareTileOp tile, TileBufType type, Value rows, Value cols) {
  const bool isSet = rows || cols;
  std::string rowsText, colsText;
  if (isSet) {
    rowsText = lengthText(code, rows, type.getValidRows());
    colsText = lengthText(code, cols, type.getValidCols());
    type = withShape(type, type.getRows(), type.getCols(), kDynamic, kDynamic);
  }
  if (type != tile.getType())
    code.setTileType(tile, type);
  code.line(tile, code.result(tile) + "pto.declare_tile -> " + code.typeText(type));
  // A declared tile gets its address from a pop and has its lengths set before.
  if (isSet)
    setLengths(code, tile, rowsText, colsText);
}

/// The tile that the window is cut from, without reshapes that only change its lengths: PTOAS takes no windows into reshapes.
Value poppedTileOf(SubsetOp window) {
  Value source = window.getSource();
  while (auto reshape = source.getDefiningOp<TReshapeOp>()) {
    auto from = cast<TileBufType>(reshape.getSource().getType());
    auto to = cast<TileBufType>(source.getType());
    if (withShape(from, to.getRows(), to.getCols(), to.getValidRows(), to.getValidCols()) != to ||
        from.getRows() != to.getRows())
      break;
    source = reshape.getSource();
  }
  return source;
}

/// The length that PTOAS computes for a window, of what is valid in its source from the position on.
struct Length {
  int64_t written; ///< in the type: `kDynamic` where PTOAS computes it in the code
  int64_t value;   ///< `kDynamic` if it is not known here
};

Length lengthOf(int64_t valid, OpFoldResult position, int64_t extent) {
  // Of a source whose lengths are set, PTOAS takes everything.
  if (valid == kDynamic)
    return {kDynamic, extent};
  if (std::optional<int64_t> at = getConstantIntValue(position); at && valid > 0) {
    int64_t length = std::min(extent, valid - *at % valid);
    return {length, length};
  }
  return {kDynamic, extent == 1 && valid > 0 ? 1 : kDynamic};
}

} // namespace

void emitPoppedTile(PtoCode &code, DeclareTileOp tile) {
  SubsetOp row = onlyRowOf(tile);
  if (!row)
    return emitDeclared(code, tile, tile.getType(), tile.getValidRow(), tile.getValidCol());
  emitDeclared(code, tile, row.getType(), row.getValidRow(), row.getValidCol());
  for (Operation *user : tile->getUsers())
    if (auto window = dyn_cast<SubsetOp>(user))
      code.nameAlike(window, tile);
}

void emitPoppedWindow(PtoCode &code, SubsetOp window) {
  // The tile is the window.
  if (code.isNamedAlike(window, window.getSource()))
    return;
  Value popped = poppedTileOf(window);
  TileBufType source = code.tileTypeOf(popped), type = windowType(window);
  Length rows = lengthOf(source.getValidRows(), window.getRow(), type.getRows()),
         cols = lengthOf(source.getValidCols(), window.getCol(), type.getCols());
  const bool isTaken = popped.getDefiningOp<DeclareTileOp>() && liesByRows(source) &&
                       type.getPlace() == ir::Place::Vec;
  const bool isSubset = isTaken && !code.has(PtoasChange::Subview) && rows.value != kDynamic &&
                        cols.value != kDynamic && rows.value == type.getValidRows() &&
                        cols.value == type.getValidCols();
  const bool isAtFront =
      isConstantIntValue(window.getRow(), 0) && isConstantIntValue(window.getCol(), 0);
  // What begins where the tile does is the tile with other lengths.
  if (isTaken && isAtFront && !isSubset) {
    auto seen = withShape(source, source.getRows(), source.getCols(), kDynamic, kDynamic);
    code.setTileType(window, seen);
    code.line(window, code.result(window) + "pto.treshape " + code.name(popped) + " : " +
                          code.typeText(source) + " -> " + code.typeText(seen));
    return setLengths(code, window, lengthText(code, window.getValidRow(), type.getValidRows()),
                      lengthText(code, window.getValidCol(), type.getValidCols()));
  }
  if (!isSubset)
    code.missing(window,
                 "PTOAS has no spelling for this window into a tile whose address a pop gives");
  code.setTileType(window,
                   withShape(type, type.getRows(), type.getCols(), rows.written, cols.written));
  code.line(window, code.result(window) + "pto.subset " + code.name(popped) + "[" +
                        code.name(window.getRow()) + ", " + code.name(window.getCol()) +
                        "] sizes [" + std::to_string(type.getRows()) + ", " +
                        std::to_string(type.getCols()) + "] : " + code.typeText(source));
}

} // namespace ptl::pto
