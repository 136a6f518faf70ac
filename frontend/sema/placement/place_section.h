// The walk over the body of a program: sections, each for one part, and what goes from one to another.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

/// What the walk does in a section.
class SectionWalk {
public:
  explicit SectionWalk(Placer &placer) : p_(placer) {}

  /// Statements of a section. What they compute lies on its part, and all that they use does.
  void section(const BlockStmt &stmt);
  /// A value that a section uses, which is the same everywhere or on its part; reports others.
  ValueId onThisPart(const Expr &expr, ValueId id);
  /// `w[s, ..]` in the section of stage `s`, of an array whose first axis counts the stages and is cut over the level.
  std::optional<PlacedValue> ownElement(const IndexExpr &expr);
  /// `submit(f(x), over: chip)`: on the part whose turn it is.
  ValueId task(const ConvertExpr &expr);
  void push(const BlockExpr &call);
  /// What was pushed goes to the part of this section.
  ValueId pop(const BlockExpr &call);
  /// Reports a movement over the level of the section: its part has nobody there to move things with. `over` are the levels of
  /// a movement of rows.
  void moveInSection(const Expr &expr, const MovementRecord &movement,
                     const std::vector<size_t> &over);

private:
  void stages(const BlockStmt &stmt);
  ValueId sent(ValueId id, const LevelPlacement &to, const Expr &expr);

  Placer &p_;
};

} // namespace ptl
