// A call of a built-in whose arguments have been checked and sorted by kind: the data that the
// steps of its check pass on.
#pragma once

#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/convert.h"
#include "ir/ops/op_table.h"

namespace ptl {

struct OpCall {
  const OpRecord *op = nullptr;
  NodeId node = kNoNode;
  Span span;
  std::vector<Operand>
      values; ///< one per `Value` parameter, in order; variadic ones all, at the place of theirs
  std::vector<size_t>
      operandIndex; ///< parallel to `values`: the signature's operand; empty: one by one
  /// parallel to `values`: false for an optional argument that is missing
  std::vector<bool> given;
  std::optional<Elem> named;      ///< `elem` of the signature
  const Type *arrayArg = nullptr; ///< `ArrayType` argument
  std::optional<Elem>
      expected; ///< element type that the context expects: for constants without any other
  std::optional<std::vector<int64_t>> axes; ///< as written
  std::vector<Span> axisSpans;
  std::vector<std::pair<std::string_view, Extent>> dims;  ///< `Dim` parameters
  std::vector<std::pair<std::string_view, Shape>> shapes; ///< `Dims` parameters
  std::vector<std::pair<std::string_view, Expr *>>
      others;                                           ///< `Range`, `Enum`, `BoolConst`, `Text` …
  std::vector<std::pair<std::string_view, Span>> spans; ///< of every argument, by parameter
  bool hasErrors = false;

  Expr *other(std::string_view name) const;
  const Shape *shape(std::string_view name) const;
  const Extent *dim(std::string_view name) const;
  Span spanOf(std::string_view name) const;
};

/// The result of finding a signature.
struct OpMatch {
  const Signature *signature = nullptr; ///< null: none matches, which has been reported
  std::vector<Elem> elems;              ///< of the element variables
  /// parallel to `OpCall::values`; null for a missing argument
  std::vector<Expr *> values;
  std::vector<const Type *> results; ///< the error type if the signature has `[?]`
};

/// Axes counted from the end, sorted. Axes that do not exist or occur twice are reported.
std::optional<std::vector<int64_t>> normalizeAxes(Context &ctx, const OpCall &call,
                                                  const Shape &shape);

} // namespace ptl
