#include "codegen/pto/pto_code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

PtoCode::PtoCode(func::FuncOp function, const Machine &machine, PtoasVersion version,
                 const TypeAliases &types, std::vector<Finding> &findings)
    : function_(function), machine_(machine), version_(version), types_(types), findings_(findings),
      constants_(function.getContext(), names_, types) {
  names_.keepForTiles(function);
}

// ---- Names and types ---------------------------------------------------------------------------

std::string PtoCode::name(Value value) {
  while (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    value = cast.getOperand(0); // from and to unsigned: scalars have no sign in PTOAS
  if (auto constantOp = value.getDefiningOp<arith::ConstantOp>())
    // Constants have no operation of their own in the text; a use names the one at the head of the
    // function.
    return constant(constantOp.getValue());
  return "%" + names_.of(value);
}

std::string PtoCode::names(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + name(value);
  return text;
}

std::string PtoCode::typed(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + typeOf(value);
  return text;
}

std::string PtoCode::typeOf(Value value) const {
  Type other = tileTypes_.lookup(value);
  return types_.of(other ? other : signless(value.getType()));
}

std::string PtoCode::spelled(Operation *op) const {
  llvm::StringRef own = op->getName().stripDialect();
  return "pto." + std::string(ptoasName(version_, {own.data(), own.size()}));
}

// ---- Lines -------------------------------------------------------------------------------------

void PtoCode::line(Operation *op, const std::string &text) {
  std::optional<SourcePlace> place = placeOf(op);
  // Without a place in the source there is nothing to say, and `loc` is left out.
  if (!place)
    return body_.add(text, place);
  // Most lines are of one file, so its escaped name is kept.
  if (file_.first != place->file) {
    file_ = {place->file, ""};
    llvm::raw_string_ostream out(file_.second);
    llvm::printEscapedString(place->file, out);
  }
  body_.add(text + " loc(\"" + file_.second + "\":" + std::to_string(place->line) + ":" +
                std::to_string(place->column) + ")",
            place);
}

void PtoCode::missing(Operation *op, const std::string &what) {
  findings_.push_back({placeOf(op), 0, what, true});
}

// ---- Tiles -------------------------------------------------------------------------------------

const TileAddress *PtoCode::addressOf(Value tile) const {
  auto found = addresses_.find(tile);
  return found == addresses_.end() ? nullptr : &found->second;
}

TileBufType PtoCode::tileTypeOf(Value tile) const {
  Type other = tileTypes_.lookup(tile);
  return cast<TileBufType>(other ? other : tile.getType());
}

} // namespace ptl::pto
