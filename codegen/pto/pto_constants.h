// Constants of a function in `.pto` text: they stand at its beginning, each once.
#pragma once

#include "codegen/pto/emit_pto.h"
#include "codegen/pto/names.h"
#include "codegen/pto/pto_types.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <map>

namespace ptl::pto {

class PtoConstants {
public:
  /// The names are those of the function, whose other values avoid those of constants.
  PtoConstants(mlir::MLIRContext *context, NameTable &names, const TypeAliases &types)
      : context_(context), names_(names), types_(types) {}

  /// The name of a constant, with `%`, made after its value. Infinities and NaN are made of their
  /// bits, since PTOAS prints them as C++ that does not compile.
  std::string of(mlir::TypedAttr value);
  std::string ofIndex(int64_t value);
  std::string ofLong(int64_t value);
  /// Adds the definitions of all that were named so far: positions first, each kind in the order of
  /// its numbers, then what is made of these.
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
  std::vector<std::string> made_; ///< lines behind the constants: those that are made of bits
  std::string never_;             ///< a condition that does not hold, which PTOAS cannot know
};

} // namespace ptl::pto
