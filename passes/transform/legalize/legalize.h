// The common parts of the files of `ptl-legalize`: the types that a machine's instructions support,
// a builder of tile expressions, and the rewrites, one per operation.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

namespace ptl::ir::legalize {

/// The types that the instructions of a machine support.
class Target {
public:
  explicit Target(const Machine &machine) : machine_(machine) {}
  /// Whether the instruction (`tadd`) works on tiles of this element type.
  bool has(llvm::StringRef instruction, mlir::Type elem) const;
  /// Whether a single conversion instruction converts one type to the other.
  bool converts(mlir::Type from, mlir::Type to) const;

private:
  const Machine &machine_;
};

/// An operand: a value, or a number that becomes a constant of the other operand's element type.
struct Arg {
  mlir::Value value;
  double number = 0;

  Arg(mlir::Value value) : value(value) {}
  Arg(double number) : number(number) {}
  Arg(int number) : number(number) {}
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline mlir::Type elem(mlir::Value value) { return elementTypeOf(value.getType()); }
inline bool isArray(mlir::Value value) { return mlir::isa<ArrayType>(value.getType()); }
inline bool isReal(mlir::Type type) { return mlir::isa<mlir::FloatType>(type); }
inline bool isBool(mlir::Type type) { return type.isInteger(1); }
inline bool isUnsigned(mlir::Type type) { return type.isUnsignedInteger(); }
/// Bits of an integer type other than bool; 0 for others.
inline unsigned intBits(mlir::Type type) {
  return mlir::isa<mlir::IntegerType>(type) && !isBool(type) ? type.getIntOrFloatBitWidth() : 0;
}
/// The value of all elements, if it is a known constant.
std::optional<double> constantOf(mlir::Value value);

/// Emits operations of the `ptl` dialect on tiles and scalars in front of one operation: constants,
/// conversions, changes of shape.
class TileBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  TileBuilder(mlir::PatternRewriter &rewriter, mlir::Operation *before, const Target &target)
      : r(rewriter), loc(before->getLoc()), target(target) {}

  Type f16() const { return r.getF16Type(); }
  Type f32() const { return r.getF32Type(); }
  Type i16() const { return r.getIntegerType(16); }
  Type i32() const { return r.getIntegerType(32); }
  Type i1() const { return r.getI1Type(); }
  /// The signed integer type as wide as `type`.
  Type bitsOf(Type type) const { return r.getIntegerType(type.getIntOrFloatBitWidth()); }

  /// A scalar constant; integers are taken modulo 2^width.
  Value number(Type elem, double value) const;
  Value index(int64_t value) const;

  Value convert(Value x, Type to, llvm::StringRef round = "even", bool saturate = false) const;
  Value bitcast(Value x, Type to) const;
  /// Converts a shorter float to `f32`, `f16` and so on; without rounding if a rewrite had narrowed
  /// it.
  Value widen(Value x, Type to) const;
  /// Rounds the result of a rewrite to its original type; `widen` undoes that.
  Value narrow(Value x, Type to) const;

  /// Broadcasts `x` to these extents, one axis at a time (with lengths from `operands`); returns
  /// `x` if it has them already.
  Value spread(Value x, llvm::ArrayRef<Extent> extents, mlir::ValueRange operands) const;
  Value broadcastTo(Value x, Value like) const {
    return spread(x, extentsOf(like.getType()), like);
  }
  /// An array of these extents (lengths from `operands`) with all elements equal.
  Value full(Value scalar, llvm::ArrayRef<Extent> extents, mlir::ValueRange operands) const;
  Value full(Value scalar, Value like) const {
    return full(scalar, extentsOf(like.getType()), like);
  }
  Value newAxis(Value x, llvm::ArrayRef<int64_t> axes) const;
  Value transpose(Value x, llvm::ArrayRef<int64_t> axes) const;
  /// Reshapes in row-major order; one extent and length per axis.
  Value reshape(Value x, llvm::ArrayRef<Extent> extents, mlir::ValueRange lengths) const;
  /// The length of an axis.
  Value length(Value x, int64_t axis) const;
  /// Removes `axes`, whose extents are 1; the result is a scalar if no axis remains.
  Value dropAxes(Value x, llvm::ArrayRef<int64_t> axes) const;
  /// Positions along `axis` of `like`, as `i32`, with extent 1 along the other axes.
  Value positions(Value like, int64_t axis) const;

  /// Creates an operation by its name; the result has the operands' extents, broadcast.
  Value make(llvm::StringRef name, Type elem, mlir::ValueRange operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) const;
  /// The extents after broadcasting these operands.
  static llvm::SmallVector<Extent> broadcastExtents(mlir::ValueRange operands);
  /// Clones `op` with other operands, and another element type of its results.
  Value cloneWith(mlir::Operation *op, mlir::ValueRange operands, Type elem) const;
  /// Marks `value`'s operation as legal, so that it is not rewritten because of its types.
  Value asInstruction(Value value) const;

  mlir::PatternRewriter &r;
  mlir::Location loc;
  const Target &target;
};

/// A builder that also has arithmetic. The element type of a result is that of its first value
/// operand (`bool` for comparisons); its extents are those of the operands, broadcast.
class Tiles : public TileBuilder {
public:
  using TileBuilder::TileBuilder;

  Value add(Arg a, Arg b) const { return binary(AddOp::getOperationName(), a, b); }
  Value sub(Arg a, Arg b) const { return binary(SubOp::getOperationName(), a, b); }
  Value mul(Arg a, Arg b) const { return binary(MulOp::getOperationName(), a, b); }
  Value div(Arg a, Arg b) const { return binary(DivOp::getOperationName(), a, b); }
  Value max(Arg a, Arg b) const { return binary(MaxOp::getOperationName(), a, b); }
  Value min(Arg a, Arg b) const { return binary(MinOp::getOperationName(), a, b); }
  Value bitAnd(Arg a, Arg b) const { return binary(BitAndOp::getOperationName(), a, b); }
  Value bitOr(Arg a, Arg b) const { return binary(BitOrOp::getOperationName(), a, b); }
  Value bitXor(Arg a, Arg b) const { return binary(BitXorOp::getOperationName(), a, b); }
  Value bitNot(Value a) const { return bitXor(a, -1); }
  /// The count must be known to be legal.
  Value shl(Value a, Arg count) const;
  Value shr(Value a, Arg count) const;
  /// A logical shift of a signed integer type.
  Value shrUnsigned(Value a, int count) const;

  Value neg(Value a) const { return unary(NegOp::getOperationName(), a); }
  Value abs(Value a) const { return unary(AbsOp::getOperationName(), a); }
  Value exp(Value a) const { return unary(ExpOp::getOperationName(), a); }
  Value log(Value a) const { return unary(LogOp::getOperationName(), a); }
  Value sqrt(Value a) const { return unary(SqrtOp::getOperationName(), a); }
  Value round(Value a) const { return unary(RoundOp::getOperationName(), a); }
  Value trunc(Value a) const { return unary(TruncOp::getOperationName(), a); }
  /// The polynomial with these coefficients, constant term first.
  Value poly(Value x, llvm::ArrayRef<double> coefficients) const;
  /// x + x z p(z) with z = x * x: a series of odd powers that begins with x, so it is exact near 0.
  Value oddPoly(Value x, Value z, llvm::ArrayRef<double> coefficients) const;

  Value lt(Arg a, Arg b) const { return compare(LtOp::getOperationName(), a, b); }
  Value le(Arg a, Arg b) const { return compare(LeOp::getOperationName(), a, b); }
  Value gt(Arg a, Arg b) const { return compare(GtOp::getOperationName(), a, b); }
  Value ge(Arg a, Arg b) const { return compare(GeOp::getOperationName(), a, b); }
  Value eq(Arg a, Arg b) const { return compare(EqOp::getOperationName(), a, b); }
  Value ne(Arg a, Arg b) const { return compare(NeOp::getOperationName(), a, b); }
  Value both(Value a, Value b) const { return binary(AndOp::getOperationName(), a, b); }
  Value either(Value a, Value b) const { return binary(OrOp::getOperationName(), a, b); }
  Value negated(Value a) const { return unary(NotOp::getOperationName(), a); }
  /// Precondition: at least one of `a` and `b` is a value.
  Value select(Value condition, Arg a, Arg b) const;
  /// Selects between two constants of a type that no operand has.
  Value choose(Value condition, Type elem, double a, double b) const {
    return select(condition, number(elem, a), number(elem, b));
  }

private:
  Value binary(llvm::StringRef name, Arg a, Arg b) const;
  Value compare(llvm::StringRef name, Arg a, Arg b) const;
  Value unary(llvm::StringRef name, Value a) const { return make(name, elem(a), a); }
};

/// Rewrites an operation: returns the value that replaces its result, or null if it is unchanged.
using Rewrite = mlir::Value (*)(const Tiles &, mlir::Operation *);
struct Row {
  llvm::StringLiteral name;
  Rewrite rewrite;
};

/// The extents with the axes from `begin` to `end` merged into one, and their lengths.
struct Merged {
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<mlir::Value> lengths;
};

/// `op` on wider floats, for element types that neither an instruction nor a rewrite of `op`
/// supports; null if its operands are wide enough already.
mlir::Value onWiderFloats(const Tiles &t, mlir::Operation *op);
/// Applies a formula for `f32` to shorter floats as well.
template <mlir::Value (*Formula)(const Tiles &, mlir::Value)>
mlir::Value inSingle(const Tiles &t, mlir::Operation *op) {
  if (mlir::Value wide = onWiderFloats(t, op))
    return wide;
  return elem(op->getOperand(0)).isF32() ? Formula(t, op->getOperand(0)) : mlir::Value();
}
/// `magnitude`, negated if `x` is negative.
inline mlir::Value withSignOf(const Tiles &t, mlir::Value x, mlir::Value magnitude) {
  return t.select(t.lt(x, 0), t.neg(magnitude), magnitude);
}

} // namespace ptl::ir::legalize
