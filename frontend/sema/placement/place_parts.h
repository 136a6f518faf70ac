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
  /// Of an index of an array that stands for a block: where its positions count from, for each axis that is cut. Reports an index of elements
  /// that the part does not have. Nothing for other arrays.
  std::vector<IndexOrigin> originsOf(const IndexExpr &expr);
  /// The block that the base of such an index stands for.
  ValueId blockOf(const IndexExpr &expr);
  /// A name outside of an index: reports it if the part has only a block of it, or if its elements lie elsewhere.
  ValueId whole(const LocalRefExpr &expr, ValueId id);
  /// Of a position within the range of a body, counted from its beginning: that beginning. None elsewhere.
  Dim startAround(Dim position) const;
  /// Reports an assignment to elements of an array of which the part has no block.
  void requireOwn(const AssignStmt &stmt);

private:
  void enterSection(const ForStmt &stmt, size_t level);
  using Body = Placer::OwnBody;

  const Body &own() const { return p_.own_.back(); }
  std::vector<const Local *> namesIn(const Block &block) const;
  std::optional<int64_t> ownAxis(const Placement &placement, std::span<const Dim> shape) const;
  Body bodyOf(const ForStmt &stmt, size_t level) const;
  ValueId cutAlong(const Body &body, ValueId id);
  void cutAssigned(const Body &body);
  void begin(const ForStmt &stmt, const std::vector<const Local *> &assigned);
  ValueId block(std::optional<ValueId> of, PlacedValue like, int64_t axis);
  void join(size_t number, const std::vector<const Local *> &assigned);
  void joinResult(const Local &local, ValueId id, const Body &body);
  bool isWithin(Dim from, size_t number) const;
  Dim baseOf(const Local &local, int64_t axis, const Body &body) const;
  bool isFromOutside(const Body &body, const Local &local) const;
  [[noreturn]] void refuseElsewhere(const Body &body, Span span, const std::string &what,
                                    const std::string &own, const PlacedValue &value);
  PlacedValue outside(const Body &body, const Local &local) const;
  std::string blocksText(const Body &body, const PlacedValue &value) const;
  std::string ownText(const Body &body, const std::string &name, int64_t axis, size_t rank) const;

  Placer &p_;
};

} // namespace ptl
