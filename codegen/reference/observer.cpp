#include "codegen/reference/observer.h"

#include "codegen/reference/machine.h"
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

// ---- The machine as observers see it -----------------------------------------------------------

std::vector<ActiveCall> Machine::calls() const {
  std::vector<ActiveCall> calls;
  for (const Frame *frame = frame_; frame; frame = frame->caller)
    calls.push_back({frame->decl, frame->at.file == kNoFile ? frame->decl->nameSpan : frame->at,
                     &frame->locals, &frame->elems, &frame->prefix});
  return calls;
}

std::optional<int64_t> Machine::valueOf(SymbolId symbol) const { return symbolValue(symbol); }

void Machine::noteArm(const void *node, Arm arm) {
  if (options_.observer)
    options_.observer->onArm(node, arm);
}

void Machine::noteCall(const CallableDecl &decl) {
  if (options_.observer)
    options_.observer->onCall(decl, *this);
}

/// The test goes on after it.
void Machine::failExpectation(Span span, std::string message) {
  failed_.push_back({span, std::move(message)});
  if (options_.observer)
    options_.observer->onFailure(span, failed_.back().message, *this);
}

void Machine::noteStop(Frame &frame, const Step &step, Stop &why) {
  // Callees are gone, and so is what `frame_` may point to.
  frame_ = &frame;
  frame.at = step.span;
  if (!std::exchange(why.isObserved, true))
    options_.observer->onFailure(why.span.file == kNoFile ? step.span : why.span, why.message,
                                 *this);
}

} // namespace ptl::reference
