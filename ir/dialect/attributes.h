// Typed accessors of the discardable attributes of the `ptl` dialect: `attrs::pipeline` is declared
// by the row `pipeline` of `ir/ops/attributes.td`. `attrs::pipeline.of(loop)` returns the attribute
// or null, `attrs::pipeline.set(loop, 2)` sets it; with a function and a number, both concern an
// argument. The dialect's verifier rejects attributes with other types or names, or on other
// operations than the row allows.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <type_traits>

namespace ptl::attrs {

/// The operations and arguments that may carry an attribute.
enum Carrier : unsigned {
  Module = 1,
  Function = 2,
  Argument = 4,
  Grid = 8,
  Loop = 16,
  Branch = 32,
  Call = 64,
  Instruction = 128, ///< an operation of the block level
  Operation = 256,   ///< any operation in a function
};

/// The value of an attribute as a C++ type from which a builder can create the attribute.
template <typename AttrT> struct Plain;
template <> struct Plain<mlir::StringAttr> {
  using Type = llvm::StringRef;
  static mlir::StringAttr get(mlir::Builder b, Type text) { return b.getStringAttr(text); }
};
template <> struct Plain<mlir::IntegerAttr> {
  using Type = int64_t;
  static mlir::IntegerAttr get(mlir::Builder b, Type number) { return b.getI64IntegerAttr(number); }
};
template <> struct Plain<mlir::DenseI32ArrayAttr> {
  using Type = llvm::ArrayRef<int32_t>;
  static mlir::DenseI32ArrayAttr get(mlir::Builder b, Type numbers) {
    return b.getDenseI32ArrayAttr(numbers);
  }
};
template <> struct Plain<mlir::DenseI64ArrayAttr> {
  using Type = llvm::ArrayRef<int64_t>;
  static mlir::DenseI64ArrayAttr get(mlir::Builder b, Type numbers) {
    return b.getDenseI64ArrayAttr(numbers);
  }
};
template <> struct Plain<mlir::ArrayAttr> {
  using Type = llvm::ArrayRef<mlir::Attribute>;
  static mlir::ArrayAttr get(mlir::Builder b, Type each) { return b.getArrayAttr(each); }
};
template <> struct Plain<mlir::DictionaryAttr> {
  using Type = llvm::ArrayRef<mlir::NamedAttribute>;
  static mlir::DictionaryAttr get(mlir::Builder b, Type entries) {
    return b.getDictionaryAttr(entries);
  }
};

/// The accessor of one attribute; `Helper` is the class that MLIR generates for it.
template <typename Helper> class Accessor {
public:
  using Type = decltype(std::declval<Helper &>().getAttr(nullptr));
  static constexpr bool isUnit = std::is_same_v<Type, mlir::UnitAttr>;

  /// Its key in dictionaries of attributes, `ptl.pipeline`.
  constexpr llvm::StringLiteral key() const { return Helper::getNameStr(); }
  constexpr operator llvm::StringRef() const { return key(); }

  /// The attribute; null if there is none.
  Type of(mlir::Operation *op) const { return op->getAttrOfType<Type>(key()); }
  Type of(mlir::FunctionOpInterface function, unsigned argument) const {
    return function.getArgAttrOfType<Type>(argument, key());
  }

  bool isOn(mlir::Operation *op) const { return op->hasAttr(key()); }
  bool isOn(mlir::FunctionOpInterface function, unsigned argument) const {
    return static_cast<bool>(of(function, argument));
  }

  void set(mlir::Operation *op, Type value) const { op->setAttr(key(), value); }
  void set(mlir::FunctionOpInterface function, unsigned argument, Type value) const {
    function.setArgAttr(argument, key(), value);
  }
  template <typename P = Plain<Type>> void set(mlir::Operation *op, typename P::Type value) const {
    set(op, P::get(mlir::Builder(op->getContext()), value));
  }
  template <typename P = Plain<Type>>
  void set(mlir::FunctionOpInterface function, unsigned argument, typename P::Type value) const {
    set(function, argument, P::get(mlir::Builder(function.getContext()), value));
  }
  void set(mlir::Operation *op) const
    requires isUnit
  {
    set(op, mlir::UnitAttr::get(op->getContext()));
  }
  void set(mlir::FunctionOpInterface function, unsigned argument) const
    requires isUnit
  {
    set(function, argument, mlir::UnitAttr::get(function.getContext()));
  }

  /// Whether this number is among those of the attribute; false without the attribute.
  bool holds(mlir::Operation *op, int64_t number) const
    requires std::is_same_v<Type, mlir::DenseI64ArrayAttr>
  {
    Type numbers = of(op);
    return numbers && llvm::is_contained(numbers.asArrayRef(), number);
  }

  void remove(mlir::Operation *op) const { op->removeAttr(key()); }
  /// Removes the attribute and returns it; null if there was none.
  Type take(mlir::Operation *op) const {
    return mlir::dyn_cast_or_null<Type>(op->removeAttr(key()));
  }
};

#define PTL_ATTRIBUTE(HELPER, OBJECT, ...)                                                         \
  inline constexpr Accessor<ir::PtlDialect::HELPER##AttrHelper> OBJECT{};
#include "ir/dialect/attributes.inc"
#undef PTL_ATTRIBUTE

/// The first of these attributes that an argument has; null if it has none.
template <typename... Accessors>
mlir::StringAttr firstOf(mlir::FunctionOpInterface function, unsigned argument,
                         const Accessors &...accessors) {
  mlir::StringAttr found;
  static_cast<void>(((found = accessors.of(function, argument)) || ...));
  return found;
}

} // namespace ptl::attrs
