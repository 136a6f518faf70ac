// The constants of a function in `.pto` text: each is defined once, at the head of the function.
#pragma once

#include "codegen/pto/emit_pto.h"
#include "codegen/pto/names.h"
#include "codegen/pto/pto_types.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <map>

namespace ptl::pto {

class PtoConstants {
public:
  /// `names` is the table of the function, so that names of other values differ from those of
  /// constants.
  PtoConstants(mlir::MLIRContext *context, NameTable &names, const TypeAliases &types)
      : context_(context), names_(names), types_(types) {}

  /// The name of a constant, with `%`, derived from its value. Infinities and NaN are computed from
  /// their bits, because PTOAS prints them as invalid C++.
  std::string of(mlir::TypedAttr value);
  std::string ofIndex(int64_t value);
  std::string ofLong(int64_t value);
  /// Adds the definitions of all constants named so far: those of type `index` first, each type in
  /// numeric order, then those that are computed from others.
  void addTo(TextLines &text) const;

private:
  std::string define(mlir::TypedAttr value, const std::string &wanted,
                     const std::string &definition);
  std::string makeOfBits(mlir::FloatAttr value, const std::string &wanted);

  struct Constant {
    std::string name, definition;
    bool isIndex;
    int64_t number;
  };
  mlir::MLIRContext *context_;
  NameTable &names_;
  const TypeAliases &types_;
  std::vector<Constant> constants_;
  std::map<std::string, std::string> known_; ///< names by definition
  std::vector<std::string> made_; ///< definitions after the constants: those computed from bits
  std::string never_;             ///< a condition that is always false, which PTOAS cannot fold
};

} // namespace ptl::pto
