#include "codegen/reference/observer.h"

#include "frontend/sema/walk.h"

namespace ptl::reference {

std::string_view armName(Arm arm) {
  switch (arm) {
  case Arm::Then:
    return "then";
  case Arm::Else:
    return "else";
  case Arm::Right:
    return "right side";
  case Arm::OnlyLeft:
    return "left side decides";
  case Arm::WholeTile:
    return "a whole tile";
  case Arm::PartOfTile:
    return "a part of a tile";
  case Arm::NoTile:
    return "no tile";
  }
  return {};
}

Step stepOf(const Stmt &stmt) {
  Step step{&stmt, stmt.span};
  // The first block begins where the head ends.
  bool isFirst = true;
  forEachPart(
      stmt, [](const Expr *) {},
      [&](const Block *block) {
        if (isFirst && block->span.begin > stmt.span.begin)
          step.span.end = block->span.begin;
        isFirst = false;
      });
  return step;
}

Step stepOf(const Expr &value) { return {&value, value.span}; }

} // namespace ptl::reference
