// Builds elementwise operations; operations on types that the IR lacks are expressed by those on
// types that it has.
#pragma once

#include "frontend/base/round_mode.h"
#include "ir/build/build_context.h"
#include "ir/build/build_type.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::ir {

/// Builds elementwise operations on values of one shape, arrays or scalars.
class Elements {
public:
  Elements(BuildContext &c, mlir::Value like, mlir::Location loc)
      : c_(c), like_(like.getType()), loc_(loc) {}

  mlir::Value number(mlir::Type type, int64_t value) const {
    return c_.make<mlir::arith::ConstantOp>(loc_, mlir::IntegerAttr::get(type, value));
  }
  template <typename OpT> mlir::Value make(mlir::Value a, mlir::Value b) const {
    return c_.make<OpT>(loc_, typed(elementTypeOf(a.getType())), a, b);
  }
  template <typename OpT> mlir::Value compare(mlir::Value a, int64_t b) const {
    return c_.make<OpT>(loc_, typed(c_.b.getI1Type()), a, number(elementTypeOf(a.getType()), b));
  }
  template <typename OpT> mlir::Value with(mlir::Value a, int64_t b) const {
    return make<OpT>(a, number(elementTypeOf(a.getType()), b));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    mlir::Type element = elementTypeOf(a.getType());
    return c_.make<SelectOp>(loc_, typed(element), condition, a, b);
  }
  mlir::Value convert(mlir::Value x, mlir::Type element, RoundMode round = RoundMode::Even,
                      bool saturate = false) const {
    if (elementTypeOf(x.getType()) == element)
      return x;
    return c_.make<ConvertOp>(loc_, typed(element), x, roundModeNames[static_cast<size_t>(round)],
                              saturate);
  }
  template <typename OpT> mlir::Value one(mlir::Value x) const {
    return c_.make<OpT>(loc_, typed(elementTypeOf(x.getType())), x);
  }
  template <typename OpT> mlir::Value make(mlir::Value a, mlir::Value b, mlir::Type element) const {
    return c_.make<OpT>(loc_, typed(element), a, b);
  }
  template <typename OpT> mlir::Value compareReal(mlir::Value a, double b) const {
    return make<OpT>(a, real(a, b), bit());
  }
  /// A constant of the element type of a value.
  mlir::Value real(mlir::Value like, double value) const {
    return c_.make<mlir::arith::ConstantOp>(
        loc_, mlir::FloatAttr::get(elementTypeOf(like.getType()), value));
  }
  mlir::Type bit() const { return c_.b.getI1Type(); }
  mlir::Value bitcast(mlir::Value x, mlir::Type element) const {
    return c_.make<BitcastOp>(loc_, typed(element), x);
  }

private:
  mlir::Type typed(mlir::Type element) const {
    auto array = llvm::dyn_cast<ArrayType>(like_);
    if (!array)
      return element;
    return arrayTypeOf(element, array.getExtents());
  }

  BuildContext &c_;
  mlir::Type like_;
  mlir::Location loc_;
};

} // namespace ptl::ir
