#include "codegen/pto/pto_tiles.h"

#include "ir/dialect/instruction_op.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// The address of `tile` as a value, whose name is made from the tile's.
std::string addressValue(PtoCode &code, Operation *op, const TileAddress &address, Value tile) {
  // An address has a constant part and a computed one; each may be absent.
  if (address.computed.empty())
    return code.longConstant(address.constant);
  // A sum with 0 would be one more line that says nothing.
  if (address.constant == 0)
    return address.computed;
  std::string sum = code.fresh(code.plainName(tile) + "_addr");
  code.line(op, sum + " = arith.addi " + address.computed + ", " +
                    code.longConstant(address.constant) + " : i64");
  return sum;
}

/// PTOAS has the positions and the results of gathers as wide as their tiles, where it knows how
/// wide they are.
bool hidesWidth(Value tile, TileBufType type) {
  if (type.getValidCols() == kDynamic || type.getValidCols() == type.getCols())
    return false;
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    Instruction instruction(user);
    if (!instruction)
      return false;
    return instruction.id() == InstructionId::TGather;
  });
}

} // namespace

void emitTileAt(PtoCode &code, Operation *op, const TileAddress &address, TileBufType type,
                Value rows, Value cols) {
  Value tile = op->getResult(0);
  std::string width = cols ? code.name(cols) : std::string();
  // A width that PTOAS does not know is not taken for that of the tile.
  if (hidesWidth(tile, type)) {
    width = code.indexConstant(type.getValidCols());
    type = TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                            type.getElementType(), type.getValidRows(), kDynamic, type.getLayout());
  }
  code.setAddress(tile, address);
  // The type differs from that of the dialect only in how PTOAS sees it; uses look it up here.
  if (type != tile.getType())
    code.setTileType(tile, type);
  std::string text = " addr = " + addressValue(code, op, address, tile);
  if (rows)
    text += " valid_row = " + code.name(rows);
  if (!width.empty())
    text += " valid_col = " + width;
  code.line(op, code.result(op) + "pto.alloc_tile" + text + " : " + code.typeText(type));
}

PtoOperand asTile(PtoCode &code, Operation *op, Value tile, TileBufType type) {
  const TileAddress *at = code.addressOf(tile);
  // Without a known address the tile stands for itself.
  if (!at)
    return {code.name(tile), code.typeOf(tile)};
  std::string alias = code.fresh(code.plainName(tile) + "_bits");
  std::string address = addressValue(code, op, *at, tile);
  code.line(op, alias + " = pto.alloc_tile addr = " + address + " : " + code.typeText(type));
  return {alias, code.typeText(type)};
}

PtoOperand asBits(PtoCode &code, Operation *op, Value tile, Type element) {
  TileBufType type = code.tileTypeOf(tile);
  // The alias has the elements of the whole tile where the valid part is not constant.
  auto known = [](int64_t valid, int64_t all) { return valid == kDynamic ? all : valid; };
  return asTile(code, op, tile,
                TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                                 element, known(type.getValidRows(), type.getRows()),
                                 known(type.getValidCols(), type.getCols()), type.getLayout()));
}

PtoOperand withoutSign(PtoCode &code, Operation *op, Value tile) {
  Type element = cast<TileBufType>(tile.getType()).getElementType();
  if (signless(element) == element)
    return {code.name(tile), code.typeOf(tile)};
  // The bytes of a popped tile lie where the pop says, so no second tile can be put there.
  if (!code.addressOf(tile))
    code.missing(op, "elements of a popped tile of unsigned integers have no spelling in PTOAS");
  return asBits(code, op, tile, signless(element));
}

std::string scaled(PtoCode &code, Operation *op, const std::string &value, int64_t by,
                   llvm::StringRef wanted) {
  std::string wide = code.fresh((wanted + "_i64").str());
  code.line(op, wide + " = arith.index_cast " + value + " : index to i64");
  std::string product = code.fresh((wanted + "_bytes").str());
  code.line(op, product + " = arith.muli " + wide + ", " + code.longConstant(by) + " : i64");
  return product;
}

} // namespace ptl::pto
