#pragma once

#include "runtime/elem.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// An expression of the manifest over dimensions, scalar parameters and elements of arrays. Names
/// are resolved when it is parsed: `index` is the number of the dimension, of the scalar parameter
/// or of the array parameter of the entry.
struct Expr {
  enum class Op {
    Const,
    Float,
    Dim,
    Scalar,
    Elem,
    Add,
    Sub,
    Mul,
    FloorDiv,
    TruncDiv,
    CeilDiv,
    ExactDiv,
    Mod,
    Rem,
    Min,
    Max,
    Neg,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
    All,
    Unique,
    Sorted,
  };

  Op op = Op::Const;
  int64_t constant = 0;
  double floating = 0.0;
  int index = -1;
  std::vector<Expr> args;
};

/// Resolves the names of an entry while its manifest is parsed; each function returns the index, or
/// -1.
struct ExprNames {
  std::function<int(const std::string &)> dim;
  std::function<int(const std::string &)> scalar;
  std::function<int(const std::string &)> array;
};

class DataBounds;

/// The values of names. Dimensions may be unknown as yet.
struct ExprValues {
  std::span<const std::optional<int64_t>> dims;
  std::span<const PtlScalar> scalars;
  std::span<const int32_t> scalarElems;
  std::span<const PtlArray *const> arrays;
  /// The element for which `Elem` stands inside `All`.
  const void *element = nullptr;
  /// A cache of the bounds of arrays, shared by facts about data; may be null.
  DataBounds *bounds = nullptr;
};

/// The value; booleans are 0 or 1. nullopt if a name has no value, a division is by zero, or a
/// result does not fit 64 bits. If a fact about data is false, `detail` says which element violates
/// it.
std::optional<Number> evaluate(const Expr &expr, const ExprValues &values,
                               std::string *detail = nullptr);

/// The value of an operator with two operands, except `And` and `Or`.
std::optional<Number> combine(Expr::Op op, const Number &a, const Number &b);
bool isTrue(const Number &number);

/// The same for sizes: also nullopt if the value is not an integer.
std::optional<int64_t> evaluateInt(const Expr &expr, const ExprValues &values);

/// Solves `expr == value` for its only unknown dimension, if that occurs in sums and products
/// alone: the dimension and its value.
struct Solution {
  int dim;
  int64_t value;
};
std::optional<Solution> solve(const Expr &expr, int64_t value, const ExprValues &values);

/// Calls `visit` with each dimension, scalar and element in the expression, in order.
void forEachName(const Expr &expr, const std::function<void(const Expr &)> &visit);
/// Whether the value depends on elements of arrays.
bool readsElements(const Expr &expr);
/// Calls `visit` with the index of each dimension in the expression.
void forEachDim(const Expr &expr, const std::function<void(int)> &visit);

} // namespace ptl::rt
