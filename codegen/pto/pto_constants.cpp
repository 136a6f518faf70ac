#include "codegen/pto/pto_constants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// `c16`, `c0_i64`, `c1.5_f32`, `true`: names hold no sign.
std::string constantName(TypedAttr value, const std::string &digits, const std::string &type) {
  if (value.getType().isInteger(1))
    return digits;
  std::string name = "c" + digits;
  if (auto real = dyn_cast<FloatAttr>(value)) {
    llvm::SmallString<16> shortest;
    real.getValue().toString(shortest, /*FormatPrecision=*/4, /*FormatMaxPadding=*/8);
    name = "c" + shortest.str().str();
  } else if (!isa<IntegerAttr>(value)) {
    name = "counts";
  }
  if (!value.getType().isIndex())
    name += "_" + type;
  for (char &c : name)
    if (c == '-')
      c = 'm';
  llvm::erase(name, '+');
  return name;
}

} // namespace

std::string PtoConstants::of(TypedAttr value) {
  std::string digits;
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    // MLIR spells constants of `i1` as words, without a type.
    if (value.getType().isInteger(1))
      digits = integer.getValue().isZero() ? "false" : "true";
    else
      digits = std::to_string(integer.getValue().getSExtValue());
  } else {
    llvm::raw_string_ostream out(digits);
    value.print(out, /*elideType=*/true);
  }
  std::string type = types_.of(value.getType());
  std::string definition =
      "arith.constant " + digits + (value.getType().isInteger(1) ? std::string() : " : " + type);
  // The definition is the key, so that equal numbers of different types stay apart.
  std::string &known = known_[definition];
  // Constants are defined once per function, in front of its body.
  if (known.empty())
    known = define(value, constantName(value, digits, type), definition);
  return "%" + known;
}

/// Notes the definition of a constant that has none yet, and returns its name.
std::string PtoConstants::define(TypedAttr value, const std::string &wanted,
                                 const std::string &definition) {
  // PTOAS prints infinities and NaN as C++ that does not compile.
  auto real = dyn_cast<FloatAttr>(value);
  if (real && !real.getValue().isFinite())
    return makeOfBits(real, wanted);
  std::string name = names_.fresh(wanted);
  // Numbers of more than 64 bits are sorted as 0.
  auto integer = dyn_cast<IntegerAttr>(value);
  bool small = integer && integer.getValue().getBitWidth() <= 64;
  constants_.push_back(
      {name, definition, value.getType().isIndex(), small ? integer.getValue().getSExtValue() : 0});
  return name;
}

/// A number that PTOAS prints as C++ that does not compile: the bits of an integer, which it must
/// not know to be a constant, or it makes the number of them.
std::string PtoConstants::makeOfBits(FloatAttr value, const std::string &wanted) {
  llvm::APInt bits = value.getValue().bitcastToAPInt();
  auto word = IntegerType::get(context_, bits.getBitWidth());
  std::string type = types_.of(word);
  // The condition is false, because there always is a core, but PTOAS does not know that.
  if (never_.empty()) {
    std::string cores = "%" + names_.fresh("cores");
    never_ = "%" + names_.fresh("never");
    made_.push_back(cores + " = pto.get_block_num");
    made_.push_back(never_ + " = arith.cmpi slt, " + cores + ", " + ofLong(0) + " : i64");
  }
  std::string chosen = "%" + names_.fresh(wanted + "_bits"), name = names_.fresh(wanted);
  made_.push_back(chosen + " = arith.select " + never_ + ", " + of(IntegerAttr::get(word, 0)) +
                  ", " + of(IntegerAttr::get(word, bits)) + " : " + type);
  made_.push_back("%" + name + " = arith.bitcast " + chosen + " : " + type + " to " +
                  types_.of(value.getType()));
  return name;
}

std::string PtoConstants::ofIndex(int64_t value) {
  return of(IntegerAttr::get(IndexType::get(context_), value));
}

std::string PtoConstants::ofLong(int64_t value) {
  return of(IntegerAttr::get(IntegerType::get(context_, 64), value));
}

void PtoConstants::addTo(TextLines &text) const {
  std::vector<Constant> sorted = constants_;
  llvm::stable_sort(sorted, [](const Constant &a, const Constant &b) {
    return a.isIndex != b.isIndex ? a.isIndex : a.number < b.number;
  });
  for (const Constant &constant : sorted)
    text.add("%" + constant.name + " = " + constant.definition);
  // These use constants, so they stand behind them.
  for (const std::string &line : made_)
    text.add(line);
}

} // namespace ptl::pto
