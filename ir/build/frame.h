// The state of one declaration while it is built.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "ir/build/build_ir.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptl::ir {

/// The value of a local.
struct Bound {
  enum class Kind : uint8_t { None, Value, Range, Parts };
  Kind kind = Kind::None;
  mlir::Value value;               ///< Value: array, scalar or ref
  mlir::Value start, length, step; ///< Range
  mlir::Value size, count;         ///< Range made by `tiles`
  std::vector<Bound> parts;        ///< Parts: tuples, structs, lists
  /// Value with two elements in a byte (build_packed.h): the type of the array of elements, and the
  /// root length of its last axis. Null for others.
  mlir::Type unpacked;
  Dim lastLength = {};

  static Bound of(mlir::Value value) {
    Bound bound;
    bound.kind = Kind::Value;
    bound.value = value;
    return bound;
  }
};

/// `flatten` appends the values of a bound and its parts, in order; `refill` replaces them.
void flatten(const Bound &bound, llvm::SmallVectorImpl<mlir::Value> &values);
void refill(Bound &bound, mlir::ValueRange values, size_t &next);

/// A declaration that is being built: the entry, or an inlined callee. Dimensions of the
/// declaration map to *root* dimensions, which are over the symbols of the entry and fresh symbols
/// for values that are computed in between.
struct Frame {
  const CallableDecl *decl = nullptr;
  std::vector<Bound> locals;   ///< by `Local::index`
  DimSubstitution roots;       ///< symbols of `decl` → root dimensions
  std::vector<ElemKind> elems; ///< of `decl->typeParams`
  std::vector<Dim> prefix;     ///< root lengths of `..`
  const ScheduleDecl *schedule = nullptr;
  std::set<uint32_t> taken = {}; ///< positions of the schedule's items that have had an effect
  /// by label: why schedule items for it have no effect
  std::map<std::string, std::string> whyNot = {};
  std::optional<mlir::Location> call; ///< where a callee is called; only with ranges
};

} // namespace ptl::ir
