#include "codegen/source/block_tiles.h"

#include "codegen/source/block_shared.h"
#include "codegen/source/block_views.h"
#include "codegen/source/op_kinds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

Value bufferOf(Value tile) {
  Value root = pto::rootOf(tile);
  // A slot is a part of its ring.
  auto slot = root.getDefiningOp<pto::MultiTileGetOp>();
  return slot ? slot.getSource() : root;
}

bool isSameTile(Operation *op) {
  if (auto window = dyn_cast_or_null<pto::SubsetOp>(op)) {
    auto to = cast<pto::TileBufType>(window.getType()),
         from = cast<pto::TileBufType>(window.getSource().getType());
    return getConstantIntValue(window.getRow()) == 0 && getConstantIntValue(window.getCol()) == 0 &&
           // The window begins at the corner and has the same shape.
           to.getRows() == from.getRows() && to.getCols() == from.getCols();
  }
  auto shaped = dyn_cast_or_null<pto::TReshapeOp>(op);
  if (!shaped)
    return false;
  auto to = cast<pto::TileBufType>(shaped.getType()),
       from = cast<pto::TileBufType>(shaped.getSource().getType());
  // A reshape to the same type only changes what is valid.
  return to.withValid(to.getRows(), to.getCols()) == from.withValid(from.getRows(), from.getCols());
}

static std::pair<Value, Value> validOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::pair<Value, Value>>(op)
      .Case<pto::AllocTileOp, pto::MultiTileGetOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp,
            pto::DeclareTileOp>(
          [](auto tile) { return std::pair(tile.getValidRow(), tile.getValidCol()); })
      .Default([](Operation *) { return std::pair<Value, Value>(); });
}

bool isAllValid(BlockCode &code, Operation *op, pto::TileBufType type) {
  auto [rows, cols] = validOf(op);
  auto isAll = [&](Value given, int64_t fixed, int64_t all) {
    return given ? code.positions().of(given).isConstant(all) : fixed == all;
  };
  return isAll(rows, type.getValidRows(), type.getRows()) &&
         isAll(cols, type.getValidCols(), type.getCols());
}

std::string shapeText(pto::TileBufType type) {
  return elementText(type.getElementType()) + "[" + std::to_string(type.getRows()) + ", " +
         std::to_string(type.getCols()) + "]";
}

static std::string addressKey(Value value) {
  // The address of the value is its identity within this run.
  return std::to_string(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()));
}

static std::string wholeKey(BlockCode &code, Value tile) {
  // Equal keys stand for equal tiles, whichever operations made them.
  Operation *op = tile.getDefiningOp();
  auto position = [&](Value value) { return std::to_string(code.positions().of(value).id()); };
  std::string type = shapeText(cast<pto::TileBufType>(tile.getType())) +
                     pto::layoutName(cast<pto::TileBufType>(tile.getType()).getLayout()).str();
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<pto::MultiTileGetOp>([&](pto::MultiTileGetOp get) {
        return addressKey(get.getSource()) + "[" + position(get.getSlot()) + "]";
      })
      .Case<pto::SubsetOp>([&](pto::SubsetOp window) {
        if (isSameTile(op))
          return wholeKey(code, window.getSource());
        return wholeKey(code, window.getSource()) + "[" + position(window.getRow()) + "," +
               position(window.getCol()) + "]" + type;
      })
      .Case<pto::TReshapeOp, pto::BitcastOp>([&](auto shaped) {
        return wholeKey(code, shaped.getSource()) + (isSameTile(op) ? "" : "~" + type);
      })
      .Default([&](Operation *) { return addressKey(tile); });
}

static std::string tileKey(BlockCode &code, Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto [rows, cols] = validOf(tile.getDefiningOp());
  auto length = [&](Value given, int64_t fixed) {
    Dim dim = given ? code.positions().of(given) : code.positions().constant(fixed);
    return "#" + std::to_string(dim.id());
  };
  return wholeKey(code, tile) + "(" + length(rows, type.getValidRows()) + "," +
         length(cols, type.getValidCols()) + ")";
}

static std::string windowText(BlockCode &code, pto::SubsetOp window, Dim rows, Dim cols);

/// The tile as if all of it were valid.
static Expression wholeText(BlockCode &code, Value tile) {
  Operation *op = tile.getDefiningOp();
  // A buffer or popped tile has a name.
  if (auto found = code.roots().find(tile); found != code.roots().end())
    return {found->second.name};
  if (isSameTile(op))
    return wholeText(code, op->getOperand(0));
  auto type = cast<pto::TileBufType>(tile.getType());
  return llvm::TypeSwitch<Operation *, Expression>(op)
      .Case<pto::MultiTileGetOp>([&](pto::MultiTileGetOp get) {
        return Expression{code.roots()[get.getSource()].name + "[" +
                          indexText(code, get.getSlot(), "turn").text + "]"};
      })
      .Case<pto::SubsetOp>([&](pto::SubsetOp window) {
        return Expression{windowText(code, window, code.positions().constant(type.getRows()),
                                     code.positions().constant(type.getCols()))};
      })
      .Case<pto::TReshapeOp, pto::BitcastOp>([&](auto shaped) {
        auto source = cast<pto::TileBufType>(shaped.getSource().getType());
        std::string text = wholeText(code, shaped.getSource()).text;
        bool sameElement = source.getElementType() == type.getElementType(),
             sameLayout = source.getLayout() == type.getLayout();
        // A change of type and a change of shape are two steps in the source.
        if (!sameElement)
          text = "bitcast(" + text + ", " + shapeText(type) + ")";
        if (!sameLayout || sameElement)
          text = "treshape(" + text + ", " + shapeText(type) +
                 (sameLayout ? ")" : ", layout: ." + pto::layoutName(type.getLayout()).str() + ")");
        return Expression{text};
      })
      .Default([&](Operation *) {
        code.unwritable(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
        return Expression{"0"};
      });
}

/// A window of `rows` x `cols` elements.
static std::string windowText(BlockCode &code, pto::SubsetOp window, Dim rows, Dim cols) {
  auto source = cast<pto::TileBufType>(window.getSource().getType());
  auto axis = [&](Value offset, Dim size, int64_t whole, const char *hint) {
    Dim start = code.positions().of(offset);
    // A window of the whole axis is a colon.
    return start.isConstant(0) && size.isConstant(whole) ? std::string(":")
                                                         : spanText(code, start, size, hint, "n");
  };
  return wholeText(code, window.getSource()).text + "[" +
         axis(window.getRow(), rows, source.getRows(), "row") + ", " +
         axis(window.getCol(), cols, source.getCols(), "col") + "]";
}

/// The window that a tile is, if its rows lie further apart than they are long; else null. Then `treshape` would see other bytes, since
/// what it gives lies densely.
static pto::SubsetOp windowWithGaps(Value tile) {
  Operation *made = tile.getDefiningOp();
  while (isSameTile(made))
    made = made->getOperand(0).getDefiningOp();
  auto window = dyn_cast_or_null<pto::SubsetOp>(made);
  if (!window)
    return {};
  auto type = cast<pto::TileBufType>(window.getType()),
       source = cast<pto::TileBufType>(window.getSource().getType());
  return type.getRows() > 1 && type.getCols() != source.getCols() ? window : pto::SubsetOp();
}

/// With a slice that says how much is valid; all of it needs none. Fewer rows or columns than the
/// tile has, as numbers, would be a window.
Expression partText(BlockCode &code, Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto [validRows, validCols] = validOf(tile.getDefiningOp());
  std::string whole = wholeText(code, tile).text;
  auto extent = [&](Value given, int64_t fixed, int64_t all,
                    const char *hint) -> std::pair<std::string, bool> {
    Dim length = given ? code.positions().of(given) : code.positions().constant(fixed);
    // All is valid, so no slice is needed.
    if (length.isConstant(all))
      return {"", false};
    return {dimText(code, length, hint).as(Precedence::Or), length.isConstant()};
  };
  auto [rows, fewRows] = extent(validRows, type.getValidRows(), type.getRows(), "rows");
  auto [cols, fewCols] = extent(validCols, type.getValidCols(), type.getCols(), "cols");
  if (rows.empty() && cols.empty())
    return {whole};
  // Instructions see the valid part alone, so a window of just this part is the same to them.
  if (pto::SubsetOp window = fewRows || fewCols ? windowWithGaps(tile) : pto::SubsetOp()) {
    auto length = [&](Value given, int64_t fixed) {
      return given ? code.positions().of(given) : code.positions().constant(fixed);
    };
    return {windowText(code, window, length(validRows, type.getValidRows()),
                       length(validCols, type.getValidCols()))};
  }
  // A constant number of valid rows would read as a window, so it is said by `treshape`.
  if (fewRows || fewCols)
    return {"treshape(" + whole + ", " + shapeText(type) + ", valid: [" +
            (rows.empty() ? std::to_string(type.getRows()) : rows) + ", " +
            (cols.empty() ? std::to_string(type.getCols()) : cols) + "])"};
  return {whole + "[" + (rows.empty() ? ":" : "0:" + rows) + ", " +
          (cols.empty() ? ":" : "0:" + cols) + "]"};
}

Expression tileText(BlockCode &code, Value tile) {
  std::string hint = code.roots()[bufferOf(tile)].base;
  Operation *made = tile.getDefiningOp();
  // The kind of view is taken from the operation that really changes something.
  while (isSameTile(made))
    made = made->getOperand(0).getDefiningOp();
  auto type = cast<pto::TileBufType>(tile.getType());
  if (isa<pto::SubsetOp>(made))
    hint += "_part";
  else if (isa<pto::TReshapeOp, pto::BitcastOp>(made))
    hint += type.getCols() == 1 ? "_column" : type.getRows() == 1 ? "_row" : "_view";
  return shareText(code, "tile " + tileKey(code, tile),
                   {SharedText::Kind::Tile, Dim(), tile, hint});
}

} // namespace ptl::source
