// Small building blocks for emitting code: arithmetic on values that are a scalar or a vector<W> of
// a scalar. Every method picks the operation from the type of its first operand, and constants are
// splatted to the shape of the value they meet, so one formula serves scalars and vectors alike.
#pragma once

#include "codegen/cpu/vector_unit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include <functional>

namespace ptl::cpu {

/// `type` with the shape of `like`: the scalar itself, or a vector of it with as many lanes.
mlir::Type withShapeOf(mlir::Type like, mlir::Type scalar);
/// Number of lanes, 0 for a scalar.
int64_t laneCount(mlir::Type type);
inline mlir::Type scalarOf(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }

class ProductBodies;

/// Emits operations at the builder's insertion point. Cheap to copy.
class Emit {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  /// `unit` lists the instructions that code may use; by default those that every processor has.
  Emit(mlir::OpBuilder &builder, mlir::Location loc, const VectorUnit &unit = {})
      : b(builder), loc(loc), unit(unit) {}

  /// Constants of the type (scalar or vector) of `like`.
  Value real(Type like, double value) const;
  Value integer(Type like, int64_t value) const;
  Value index(int64_t value) const;
  Value i64(int64_t value) const;
  Value i32(int64_t value) const;
  /// All bits zero, of any scalar or vector type.
  Value zero(Type like) const;

  /// Arithmetic on floats or integers by the type of `x`; `x` and `y` agree in type.
  Value add(Value x, Value y) const;
  Value sub(Value x, Value y) const;
  Value mul(Value x, Value y) const;
  Value divf(Value x, Value y) const;
  Value neg(Value x) const;
  Value abs(Value x) const;
  Value fma(Value x, Value y, Value z) const;

  /// Bit operations on integers.
  Value bitAnd(Value x, Value y) const;
  Value bitAnd(Value x, int64_t y) const { return bitAnd(x, integer(x.getType(), y)); }
  Value bitOr(Value x, Value y) const;
  Value bitXor(Value x, Value y) const;
  Value bitNot(Value x) const;
  Value shl(Value x, int64_t amount) const;
  Value shrUnsigned(Value x, int64_t amount) const;

  /// Comparisons, to i1 of the same shape. The ordered ones are false for NaN.
  Value cmpf(mlir::arith::CmpFPredicate predicate, Value x, Value y) const;
  Value cmpf(mlir::arith::CmpFPredicate predicate, Value x, double y) const;
  Value cmpi(mlir::arith::CmpIPredicate predicate, Value x, Value y) const;
  Value cmpi(mlir::arith::CmpIPredicate predicate, Value x, int64_t y) const;
  Value isNan(Value x) const { return cmpf(mlir::arith::CmpFPredicate::UNO, x, x); }
  /// The condition may be a scalar while `x` and `y` are vectors.
  Value select(Value condition, Value x, Value y) const;

  /// Reinterprets bits; `scalar` has the width of x's elements.
  Value bitcast(Value x, Type scalar) const;
  Value extf(Value x, Type scalar) const;
  Value truncf(Value x, Type scalar) const;
  Value extui(Value x, Type scalar) const;
  Value trunci(Value x, Type scalar) const;
  Value sitofp(Value x, Type scalar) const;
  Value fptosi(Value x, Type scalar) const;
  /// Between `index` and an integer type, either way, sign extending.
  Value indexCast(Value x, Type scalar) const;
  /// The scalar `x` in every lane of a vector shaped like `like` (or `x` itself if `like` is
  /// scalar).
  Value splat(Value x, Type like) const;
  Value copySign(Value magnitude, Value sign) const;

  /// A counted loop over [lower, upper); `body` gets the counter (index) and the carried values and
  /// returns the next ones. Control flow is emitted as blocks: the builder must stand at the end of
  /// a block, and emission continues at the end of a new one.
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<Value>(const Emit &, Value counter, mlir::ValueRange)>;
  llvm::SmallVector<Value> loop(Value lower, Value upper, Value step, mlir::ValueRange initial,
                                LoopBody body) const;
  /// A branch with results of `types`; without `otherwise` there are no results.
  using Branch = llvm::function_ref<llvm::SmallVector<Value>(const Emit &)>;
  llvm::SmallVector<Value> branch(Value condition, mlir::TypeRange types, Branch then,
                                  Branch otherwise = nullptr) const;

  /// Declares (once) the C function `callee` in the enclosing module and calls it.
  Value call(llvm::StringRef callee, Type result, mlir::ValueRange operands) const;

  /// Calls an LLVM intrinsic by its name. Without a type it has no result.
  Value intrinsic(llvm::StringRef name, Type result, mlir::ValueRange operands) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  VectorUnit unit;
  /// Selects the functions of products that get bodies; null: all do (product_functions.h).
  ProductBodies *bodies = nullptr;
};

} // namespace ptl::cpu
