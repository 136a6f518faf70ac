// The walk over the body of a `parallel` over parts, which is a program of each part.
#pragma once

#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/placer.h"

namespace ptl {

/// What the walk does in such a body: arrays that are cut over the level by the dimension of the range stand for the part's own block, and
/// are indexed relative to its beginning.
class PartsWalk {
public:
  explicit PartsWalk(Placer &placer) : p_(placer) {}

  /// Whether a loop is a `parallel` over parts.
  static bool isOver(const ForStmt &stmt);

  void run(const ForStmt &stmt);
  /// Of an index of an array that stands for a block: where its positions count from. Reports an index of elements that the part does not
  /// have. Nothing for other arrays.
  std::optional<IndexOrigin> originOf(const IndexExpr &expr);
  /// The block that the base of such an index stands for.
  ValueId blockOf(const IndexExpr &expr);
  /// A name outside of an index: reports it if the part has only a block of it, or if its elements lie elsewhere.
  ValueId whole(const LocalRefExpr &expr, ValueId id);
  /// Reports an assignment to elements of an array of which the part has no block.
  void requireOwn(const AssignStmt &stmt);

private:
  std::vector<const Local *> namesIn(const Block &block) const;
  std::optional<int64_t> ownAxis(const Placement &placement, std::span<const Dim> shape) const;
  void begin(const ForStmt &stmt, const std::vector<const Local *> &assigned);
  ValueId block(std::optional<ValueId> of, PlacedValue like, int64_t axis);
  void join(const std::vector<const Local *> &assigned);
  [[noreturn]] void refuseElsewhere(Span span, const std::string &what, const std::string &own,
                                    const PlacedValue &value);
  PlacedValue outside(const Local &local) const;
  std::string blocksText(const PlacedValue &value) const;
  std::string ownText(const std::string &name, int64_t axis, size_t rank) const;

  Placer &p_;
};

} // namespace ptl
