// The walk over sections of a program, each for one part, and over the values that pass between
// them.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

/// What the walk does in a section.
class SectionWalk {
public:
  explicit SectionWalk(Placer &placer) : p_(placer) {}

  /// Walks the statements of a section. Their results lie on its part, and so must everything that
  /// they use.
  void section(const BlockStmt &stmt);
  /// A value that a section uses: it must be the same everywhere, or lie on the section's part;
  /// otherwise reports it.
  ValueId onThisPart(const Expr &expr, ValueId id);
  /// `w[s, ..]` in the section of stage `s`, of an array whose first axis is the stages and is cut
  /// over the level.
  std::optional<PlacedValue> ownElement(const IndexExpr &expr);
  /// The variable of an assignment `kept[s, ..] = row` in the section of stage `s`, cut over the level so that each stage has its
  /// element; nothing outside of stages.
  std::optional<ValueId> ofStages(const AssignStmt &stmt);
  /// A value that all parts have, or the part of the section, on that part.
  ValueId onItsPart(ValueId id);
  /// `submit(f(x), over: chip)`: on the part whose turn it is.
  ValueId task(const ConvertExpr &expr);
  void push(const BlockExpr &call);
  /// Places the popped value, which was pushed elsewhere, on the part of this section.
  ValueId pop(const BlockExpr &call);
  /// Reports a movement over the level of the section, whose single part has no partner there.
  /// `over` are the levels of a movement of rows.
  void moveInSection(const Expr &expr, const MovementRecord &movement,
                     const std::vector<size_t> &over);

private:
  void stages(const BlockStmt &stmt);
  ValueId sent(ValueId id, const LevelPlacement &to, const Expr &expr);
  std::vector<size_t> levelsOfParts() const;

  Placer &p_;
};

} // namespace ptl
