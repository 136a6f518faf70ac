#include "frontend/sema/placement/place_parts.h"

#include "frontend/sema/assigned.h"
#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_section.h"
#include "frontend/sema/walk.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace ptl {

// ---- What the part has -------------------------------------------------------------------------

bool PartsWalk::isOver(const ForStmt &stmt) {
  const auto *tiles = dyn_cast<TilesExpr>(stmt.head.iterable);
  return tiles && !tiles->level.empty();
}

/// The axis that the level of the body cuts, if the blocks are those of its range.
std::optional<int64_t> PartsWalk::ownAxis(const Placement &placement,
                                          std::span<const Dim> shape) const {
  const LevelPlacement &at = placement[own().level];
  if (!at.isCut() || at.unit || shape[shape.size() - static_cast<size_t>(-at.axis)] != own().length)
    return std::nullopt;
  // Of an axis that a level outside of this one has cut the blocks are others. What levels inside cut is a block first.
  bool isCutBefore = std::ranges::any_of(
      placement.begin(), placement.begin() + static_cast<ptrdiff_t>(own().level),
      [&](const LevelPlacement &each) { return each.cuts(at.axis); });
  return isCutBefore ? std::nullopt : std::optional(at.axis);
}

/// The names that a body mentions, each once.
std::vector<const Local *> PartsWalk::namesIn(const Block &block) const {
  std::vector<const Local *> names;
  auto add = [&](const Local *local) {
    if (local && std::ranges::find(names, local) == names.end())
      names.push_back(local);
  };
  std::function<void(const Block *)> visit = [&](const Block *each) {
    auto mentions = [&](const Expr *expr) {
      forEachExpr(expr, [&](const Expr *inner) {
        if (const auto *ref = dyn_cast<LocalRefExpr>(inner))
          add(ref->local);
      });
    };
    for (const Stmt *stmt : each->stmts) {
      if (const auto *assign = dyn_cast<AssignStmt>(stmt))
        add(assign->target);
      forEachPart(*stmt, mentions, visit);
    }
    mentions(each->value);
  };
  visit(&block);
  return names;
}

ValueId PartsWalk::block(std::optional<ValueId> of, PlacedValue like, int64_t axis) {
  PlacedValue made;
  made.kind = PlacedKind::Block;
  made.placement = std::move(like.placement);
  made.placement[own().level] = onEachPart();
  made.shape = std::move(like.shape);
  made.shape[made.shape.size() - static_cast<size_t>(-axis)] = own().extent;
  made.elem = like.elem;
  made.expr = like.expr;
  if (of)
    made.operands = {of};
  return p_.add(std::move(made));
}

// ---- The body ----------------------------------------------------------------------------------

/// A value that is the same on all parts of the level, cut along its only axis that is as long as what the body cuts: each part has its block
/// already. Other values stay as they are.
ValueId PartsWalk::cutAlong(const Body &body, ValueId id) {
  const PlacedValue &value = p_.placed_.values[id];
  auto rank = static_cast<int64_t>(value.shape.size());
  std::optional<int64_t> cut;
  for (int64_t axis = -rank; axis < 0; ++axis)
    if (value.shape[static_cast<size_t>(rank + axis)] == body.length) {
      if (cut)
        return id;
      cut = axis;
    }
  if (!cut || !value.placement[body.level].isWhole() ||
      cutInside(value.placement, body.level, *cut))
    return id;
  Placement placement = value.placement;
  placement[body.level] = {PlacementKind::Cut, *cut};
  return p_.slice(id, placement);
}

/// Parts assign elements of their ranges only, so the variables of which they do are cut.
void PartsWalk::cutAssigned(const Body &body) {
  for (const Stmt *stmt : body.stmt->body->stmts)
    forEachAssigned(*stmt, [&](const Assigned &each) {
      auto found = p_.frame_->locals.find(each.local);
      if (each.place && found != p_.frame_->locals.end())
        found->second = cutAlong(body, found->second);
    });
}

void PartsWalk::begin(const ForStmt &stmt, const std::vector<const Local *> &assigned) {
  for (const Local *local : namesIn(*stmt.body)) {
    auto found = p_.frame_->locals.find(local);
    if (found != p_.frame_->locals.end()) {
      const PlacedValue &value = p_.placed_.values[found->second];
      // What is on another part than that of the section around the body is refused where it is used.
      const LevelPlacement *at = p_.around_ ? &value.placement[p_.around_->level] : nullptr;
      if (at && !at->isWhole() && *at != p_.around_->at)
        continue;
      if (std::optional<int64_t> axis = ownAxis(value.placement, value.shape)) {
        p_.own_.back().blocks[local] = *axis;
        found->second = block(found->second, value, *axis);
      }
      continue;
    }
    auto wanted = p_.wanted_.find(local);
    if (wanted == p_.wanted_.end() || std::ranges::find(assigned, local) == assigned.end())
      continue;
    // The check has found that all elements of a result are written.
    PlacedValue like;
    like.placement = wanted->second;
    like.shape = p_.shapeOf(*local->type);
    like.elem = p_.elemOf(local->type->elem);
    if (std::optional<int64_t> axis = ownAxis(like.placement, like.shape)) {
      p_.own_.back().blocks[local] = *axis;
      p_.frame_->locals[local] = block(std::nullopt, like, *axis);
    }
  }
}

/// A result has the placement of the header, which is known behind the outermost body.
void PartsWalk::joinResult(const Local &local, ValueId id, const Body &body) {
  const PlacedValue &whole = p_.placed_.values[id];
  const Placement &wanted = p_.wanted_.at(&local);
  for (size_t each = 0; each < whole.placement.size(); ++each)
    if (whole.placement[each] != wanted[each]) {
      ReportedValue value{&whole, "`" + local.name + "`", "", std::nullopt};
      p_.reports_.result(each, body.stmt->span, local.name, wanted, whole.shape, value);
      throw Refused();
    }
  p_.placed_.outputs[p_.outputs_.at(&local)] = id;
  p_.bind(local, id);
}

/// Behind the body the blocks that it has made are arrays again.
void PartsWalk::join(size_t number, const std::vector<const Local *> &assigned) {
  std::vector<std::pair<const Local *, ValueId>> made;
  for (const Local *local : assigned)
    if (auto axis = own().blocks.find(local); axis != own().blocks.end()) {
      ValueId now = p_.frame_->locals.at(local);
      // Parts do their bodies one after the other where they share a process: this one keeps what each has made.
      made.emplace_back(local, block(now, p_.placed_.values[now], axis->second));
    }
  p_.placed_.parts[number].end = static_cast<ValueId>(p_.placed_.values.size());
  Body body = std::move(p_.own_.back());
  p_.own_.pop_back();
  p_.section_ = p_.own_.empty()
                    ? std::exchange(p_.around_, std::nullopt)
                    : std::optional(Placer::Section{own().level, onEachPart(), nullptr});
  p_.frame_->locals = body.outside;
  for (auto [local, id] : made) {
    int64_t axis = body.blocks.at(local);
    PlacedValue whole = p_.placed_.values[id];
    whole.kind = PlacedKind::Joined;
    whole.operands = {id};
    whole.shape[whole.shape.size() - static_cast<size_t>(-axis)] = body.length;
    whole.placement[body.level] = {PlacementKind::Cut, axis};
    ValueId joined = p_.add(std::move(whole));
    p_.frame_->locals[local] = joined;
    if (p_.own_.empty() && p_.wanted_.contains(local))
      joinResult(*local, joined, body);
  }
}

/// What is cut, and the symbols of the range that a part has of it.
Placer::OwnBody PartsWalk::bodyOf(const ForStmt &stmt, size_t level) const {
  const auto &tiles = cast<TilesExpr>(*stmt.head.iterable);
  const RangeInfo &range = *stmt.head.range;
  Dim lo = p_.inProgram(tiles.lo->dim), hi = p_.inProgram(tiles.hi->dim);
  Body body;
  body.stmt = &stmt;
  body.level = level;
  body.start = range.start;
  body.extent = range.length;
  body.length = p_.dims_.sub(hi, lo);
  for (size_t each = 0; each < p_.own_.size(); ++each)
    if (p_.own_[each].start == lo && p_.own_[each].extent == body.length)
      body.within = each;
  return body;
}

/// In a section its part, or each part that it is for, has the ranges of the parts below it.
void PartsWalk::enterSection(const ForStmt &stmt, size_t level) {
  p_.around_ = p_.section_;
  if (!p_.around_ || (p_.around_->on && p_.around_->level != level))
    return;
  const std::string &name = p_.placed_.levels[p_.around_->level].name;
  p_.refuse(stmt, "this `parallel`",
            p_.around_->on ? "the section is for a single " + name + " at a time"
                           : "a task runs on a single part");
}

void PartsWalk::run(const ForStmt &stmt) {
  const auto &tiles = cast<TilesExpr>(*stmt.head.iterable);
  auto level = std::ranges::find(p_.placed_.levels, tiles.level, &PlacedLevel::name);
  if (level == p_.placed_.levels.end() || !stmt.head.range)
    throw Refused(); // Reported by the check.
  PlacedMark mark = p_.placed_.mark();
  std::vector<const Local *> assigned;
  addAssigned(stmt.body, assigned);
  const RangeInfo &range = *stmt.head.range;
  Body body = bodyOf(stmt, static_cast<size_t>(level - p_.placed_.levels.begin()));
  PlacedParts parts;
  parts.stmt = &stmt;
  parts.level = body.level;
  parts.base = p_.inProgram(tiles.lo->dim);
  parts.length = body.length;
  parts.start = *range.start.symbol();
  parts.extent = *range.length.symbol();
  parts.number = *range.count.symbol();
  if (!p_.isKnown(parts.length) || !p_.isKnown(parts.base))
    p_.refuse(*tiles.hi, "this `parallel`", "data decide how long its range is");
  if (!body.within && !parts.base.isConstant(0))
    p_.refuse(
        *tiles.hi, "this `parallel`",
        "what it cuts is neither a dimension nor the range of a `parallel` over parts around it");
  cutAssigned(body);
  parts.first = p_.number(parts.length);
  for (SymbolId symbol : {parts.start, parts.extent, parts.number})
    p_.known_.insert(symbol);
  body.outside = p_.frame_->locals;
  if (p_.own_.empty())
    enterSection(stmt, parts.level);
  if (p_.around_)
    parts.section = {p_.around_->level, p_.around_->at};
  p_.own_.push_back(std::move(body));
  p_.section_ = Placer::Section{parts.level, onEachPart(), nullptr};
  p_.placed_.parts.push_back(parts);
  size_t number = p_.placed_.parts.size() - 1;
  const Local *outside = std::exchange(p_.leaves_, nullptr);
  Dim round = std::exchange(p_.round_, Dim());
  ++p_.loopDepth_;
  begin(stmt, assigned);
  p_.sequence({stmt.body->stmts.begin(), stmt.body->stmts.end()});
  --p_.loopDepth_;
  p_.round_ = round;
  p_.leaves_ = outside;
  join(number, assigned);
  for (SymbolId symbol : {parts.start, parts.extent, parts.number})
    p_.known_.erase(symbol);
  // A body that neither leaves nor checks anything does nothing, like a loop.
  bool isSeen =
      p_.placed_.values.size() > p_.placed_.parts[number].end || actsAfter(p_.placed_, mark);
  if (!isSeen)
    p_.placed_.backTo(mark);
}

// ---- Names and indices -------------------------------------------------------------------------

std::string PartsWalk::ownText(const Body &body, const std::string &name, int64_t axis,
                               size_t rank) const {
  std::string text;
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") +
            (i == rank - static_cast<size_t>(-axis) ? body.stmt->head.var->name : std::string(":"));
  return "`" + name + "[" + text + "]`";
}

/// Which elements a part has of arrays unlike this one.
std::string PartsWalk::blocksText(const Body &body, const PlacedValue &value) const {
  std::string length = "`" + p_.dims_.toString(body.length) + "`";
  const LevelPlacement &at = value.placement[body.level];
  bool isAlong =
      at.isCut() && value.shape[value.shape.size() - static_cast<size_t>(-at.axis)] == body.length;
  return isAlong ? "where no level outside of this one cuts " + length +
                       " as well, into blocks of any length"
                 : "those in its block of " + length;
}

void PartsWalk::refuseElsewhere(const Body &body, Span span, const std::string &what,
                                const std::string &own, const PlacedValue &value) {
  p_.reports_.elsewhere(body.level, span, what, own, value);
  throw Refused();
}

/// Whether a name means something from outside of a body, which only has the blocks of it.
bool PartsWalk::isFromOutside(const Body &body, const Local &local) const {
  return body.outside.contains(&local) || p_.wanted_.contains(&local);
}

/// What a name held in front of a body; of a result nothing yet, only where it is to lie.
PlacedValue PartsWalk::outside(const Body &body, const Local &local) const {
  if (auto found = body.outside.find(&local); found != body.outside.end())
    return p_.placed_.values[found->second];
  PlacedValue value;
  value.placement = p_.wanted_.at(&local);
  value.shape = p_.shapeOf(*local.type);
  value.elem = p_.elemOf(local.type->elem);
  return value;
}

/// The item of an index that selects along an axis of the base; null if none is written.
static const IndexItem *itemAlong(const IndexExpr &expr, size_t axis, size_t prefix) {
  size_t next = 0;
  for (const IndexItem &item : expr.items) {
    size_t axes = item.kind == IndexItemKind::NewAxis ? 0
                  : item.kind == IndexItemKind::Rest
                      ? item.restCount + (item.restHasPrefix ? prefix : 0)
                      : 1;
    if (axis < next + axes)
      return &item;
    next += axes;
  }
  return nullptr;
}

/// Whether a position is in the range of a body: where a range begins differs from part to part, so whatever is in it is named relative to
/// its beginning, or to that of a range within it.
bool PartsWalk::isWithin(Dim from, size_t number) const {
  const Body &body = p_.own_[number];
  Dim relative = from ? p_.dims_.sub(from, body.start) : Dim();
  if (relative && !relative.mentions(*body.start.symbol()))
    return true;
  for (size_t inner = number + 1; inner < p_.own_.size(); ++inner)
    if (p_.own_[inner].within == number && isWithin(from, inner))
      return true;
  return false;
}

Dim PartsWalk::startAround(Dim position) const {
  for (size_t number = p_.own_.size(); number-- > 0;)
    if (position && position.mentions(*p_.own_[number].start.symbol()) &&
        isWithin(position, number))
      return p_.own_[number].start;
  return Dim();
}

/// What is to be added to positions along the axis that a body cuts so that they count as its range does: what a body outside has made for itself
/// begins at 0, and so does the block of it that is left here.
Dim PartsWalk::baseOf(const Local &local, int64_t axis, const Body &body) const {
  if (!body.within)
    return p_.dims_.constant(0);
  const Body &outer = p_.own_[*body.within];
  auto cut = outer.blocks.find(&local);
  bool countsAsRange = cut != outer.blocks.end() && cut->second == axis;
  return countsAsRange ? p_.dims_.constant(0) : outer.start;
}

std::vector<IndexOrigin> PartsWalk::originsOf(const IndexExpr &expr) {
  std::vector<IndexOrigin> origins;
  const auto *base = dyn_cast<LocalRefExpr>(expr.base);
  // Of an axis that several bodies cut the innermost one has what is left of it.
  for (size_t number = p_.own_.size(); base && number-- > 0;) {
    const Body &body = p_.own_[number];
    auto cut = body.blocks.find(base->local);
    if (cut == body.blocks.end())
      continue;
    size_t rank = p_.placed_.values[blockOf(expr)].shape.size();
    size_t axis = rank - static_cast<size_t>(-cut->second);
    if (std::ranges::find(origins, axis, &IndexOrigin::axis) != origins.end())
      continue;
    const IndexItem *item = itemAlong(expr, axis, p_.frame_->prefix.size());
    Dim from = !item                                               ? Dim()
               : item->kind == IndexItemKind::Position             ? item->value->dim
               : item->kind == IndexItemKind::Range && item->range ? item->range->start
                                                                   : Dim();
    Dim countsFrom = baseOf(*base->local, cut->second, body);
    if (!from || !isWithin(p_.dims_.add(p_.inProgram(from), countsFrom), number))
      refuseElsewhere(body, expr.span, "`" + std::string(p_.tree_.text(expr.syntax)) + "`",
                      ownText(body, base->local->name, cut->second, rank),
                      outside(body, *base->local));
    origins.push_back({axis, p_.dims_.sub(body.start, countsFrom), body.extent});
  }
  return origins;
}

ValueId PartsWalk::blockOf(const IndexExpr &expr) {
  return p_.frame_->locals.at(cast<LocalRefExpr>(*expr.base).local);
}

ValueId PartsWalk::whole(const LocalRefExpr &expr, ValueId id) {
  const Local &local = *expr.local;
  if (p_.around_) {
    std::swap(p_.section_, p_.around_);
    SectionWalk(p_).onThisPart(expr, id);
    std::swap(p_.section_, p_.around_);
  }
  for (const Body &body : std::views::reverse(p_.own_)) {
    const PlacedValue &value = p_.placed_.values[id];
    if (auto own = body.blocks.find(&local); own != body.blocks.end())
      refuseElsewhere(body, p_.spanOf(expr), "`" + local.name + "`",
                      ownText(body, local.name, own->second, value.shape.size()),
                      outside(body, local));
    const LevelPlacement &at = value.placement[body.level];
    if (!at.isWhole() && !at.isOwn)
      refuseElsewhere(body, p_.spanOf(expr), "`" + local.name + "`", blocksText(body, value),
                      value);
  }
  return id;
}

void PartsWalk::requireOwn(const AssignStmt &stmt) {
  const Local &local = *stmt.target;
  for (const Body &body : p_.own_)
    if (isFromOutside(body, local) && !body.blocks.contains(&local)) {
      PlacedValue value = outside(body, local);
      refuseElsewhere(body, stmt.span, "`" + local.name + "`",
                      blocksText(body, value) + ", and assigns no others", value);
    }
}

} // namespace ptl
