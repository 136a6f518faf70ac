#include "frontend/sema/placement/place_parts.h"

#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/walk.h"

#include <algorithm>
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
  const LevelPlacement &at = placement[p_.section_->level];
  if (!at.isCut() || at.unit ||
      shape[shape.size() - static_cast<size_t>(-at.axis)] != p_.own_->length)
    return std::nullopt;
  // Of an axis that another level cuts as well the blocks are others.
  auto cuts = std::ranges::count_if(placement,
                                    [&](const LevelPlacement &each) { return each.cuts(at.axis); });
  return cuts == 1 ? std::optional(at.axis) : std::nullopt;
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
  made.placement[p_.section_->level] = onEachPart();
  made.shape = std::move(like.shape);
  made.shape[made.shape.size() - static_cast<size_t>(-axis)] = p_.own_->extent;
  made.elem = like.elem;
  made.expr = like.expr;
  if (of)
    made.operands = {of};
  return p_.add(std::move(made));
}

// ---- The body ----------------------------------------------------------------------------------

void PartsWalk::begin(const ForStmt &stmt, const std::vector<const Local *> &assigned) {
  for (const Local *local : namesIn(*stmt.body)) {
    auto found = p_.frame_->locals.find(local);
    if (found != p_.frame_->locals.end()) {
      const PlacedValue &value = p_.placed_.values[found->second];
      if (std::optional<int64_t> axis = ownAxis(value.placement, value.shape)) {
        p_.own_->blocks[local] = *axis;
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
      p_.own_->blocks[local] = *axis;
      p_.frame_->locals[local] = block(std::nullopt, like, *axis);
    }
  }
}

/// Behind the body the blocks that it has made are arrays again.
void PartsWalk::join(const std::vector<const Local *> &assigned) {
  std::vector<std::pair<const Local *, ValueId>> made;
  for (const Local *local : assigned)
    if (auto axis = p_.own_->blocks.find(local); axis != p_.own_->blocks.end()) {
      ValueId now = p_.frame_->locals.at(local);
      // Parts do their bodies one after the other where they share a process: this one keeps what each has made.
      made.emplace_back(local, block(now, p_.placed_.values[now], axis->second));
    }
  p_.placed_.parts.back().end = static_cast<ValueId>(p_.placed_.values.size());
  size_t level = std::exchange(p_.section_, std::nullopt)->level;
  Placer::OwnBody body = *std::exchange(p_.own_, std::nullopt);
  p_.frame_->locals = body.outside;
  for (auto [local, id] : made) {
    int64_t axis = body.blocks.at(local);
    PlacedValue whole = p_.placed_.values[id];
    whole.kind = PlacedKind::Joined;
    whole.operands = {id};
    whole.shape[whole.shape.size() - static_cast<size_t>(-axis)] = body.length;
    whole.placement[level] = {PlacementKind::Cut, axis};
    auto wanted = p_.wanted_.find(local);
    bool isResult = wanted != p_.wanted_.end();
    for (size_t each = 0; isResult && each < whole.placement.size(); ++each)
      if (whole.placement[each] != wanted->second[each]) {
        ReportedValue value{&whole, "`" + local->name + "`", "", std::nullopt};
        p_.reports_.result(each, body.stmt->span, local->name, wanted->second, whole.shape, value);
        throw Refused();
      }
    ValueId joined = p_.add(std::move(whole));
    p_.frame_->locals[local] = joined;
    if (isResult) {
      p_.placed_.outputs[p_.outputs_.at(local)] = joined;
      p_.bind(*local, joined);
    }
  }
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
  PlacedParts parts;
  parts.stmt = &stmt;
  parts.level = static_cast<size_t>(level - p_.placed_.levels.begin());
  parts.length = p_.inProgram(tiles.hi->dim);
  parts.start = *range.start.symbol();
  parts.extent = *range.length.symbol();
  parts.number = *range.count.symbol();
  if (!p_.isKnown(parts.length))
    p_.refuse(*tiles.hi, "this `parallel`", "data decide how long its range is");
  parts.first = p_.number(tiles.hi->dim);
  for (SymbolId symbol : {parts.start, parts.extent, parts.number})
    p_.known_.insert(symbol);
  p_.section_ = Placer::Section{parts.level, onEachPart(), nullptr};
  p_.own_ = Placer::OwnBody{&stmt, range.start, range.length, parts.length, p_.frame_->locals, {}};
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
  join(assigned);
  for (SymbolId symbol : {parts.start, parts.extent, parts.number})
    p_.known_.erase(symbol);
  // A body that neither leaves nor checks anything does nothing, like a loop.
  bool isSeen = p_.placed_.values.size() > p_.placed_.parts[number].end ||
                p_.placed_.asserts.size() > mark.asserts;
  if (!isSeen)
    p_.placed_.backTo(mark);
}

// ---- Names and indices -------------------------------------------------------------------------

std::string PartsWalk::ownText(const std::string &name, int64_t axis, size_t rank) const {
  std::string text;
  for (size_t i = 0; i < rank; ++i)
    text +=
        (i ? ", " : "") +
        (i == rank - static_cast<size_t>(-axis) ? p_.own_->stmt->head.var->name : std::string(":"));
  return "`" + name + "[" + text + "]`";
}

/// Which elements a part has of arrays unlike this one.
std::string PartsWalk::blocksText(const PlacedValue &value) const {
  std::string length = "`" + p_.dims_.toString(p_.own_->length) + "`";
  const LevelPlacement &at = value.placement[p_.section_->level];
  bool isAlong = at.isCut() &&
                 value.shape[value.shape.size() - static_cast<size_t>(-at.axis)] == p_.own_->length;
  return isAlong ? "where this level alone cuts " + length + ", into blocks of any length"
                 : "those in its block of " + length;
}

void PartsWalk::refuseElsewhere(Span span, const std::string &what, const std::string &own,
                                const PlacedValue &value) {
  p_.reports_.elsewhere(p_.section_->level, span, what, own, value);
  throw Refused();
}

/// What a name held in front of the body; of a result nothing yet, only where it is to lie.
PlacedValue PartsWalk::outside(const Local &local) const {
  if (auto found = p_.own_->outside.find(&local); found != p_.own_->outside.end())
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

std::optional<IndexOrigin> PartsWalk::originOf(const IndexExpr &expr) {
  const auto *base = dyn_cast<LocalRefExpr>(expr.base);
  if (!p_.own_ || !base || !p_.own_->blocks.contains(base->local))
    return std::nullopt;
  int64_t cut = p_.own_->blocks.at(base->local);
  size_t rank = p_.placed_.values[blockOf(expr)].shape.size();
  size_t axis = rank - static_cast<size_t>(-cut);
  const IndexItem *item = itemAlong(expr, axis, p_.frame_->prefix.size());
  Dim from = !item                                               ? Dim()
             : item->kind == IndexItemKind::Position             ? item->value->dim
             : item->kind == IndexItemKind::Range && item->range ? item->range->start
                                                                 : Dim();
  // Where the part's range begins differs from part to part, so whatever is in it is named relative to its beginning.
  Dim within = from ? p_.dims_.sub(p_.inProgram(from), p_.own_->start) : Dim();
  if (!within || within.mentions(*p_.own_->start.symbol()))
    refuseElsewhere(expr.span, "`" + std::string(p_.tree_.text(expr.syntax)) + "`",
                    ownText(base->local->name, cut, rank), outside(*base->local));
  return IndexOrigin{axis, p_.own_->start, p_.own_->extent};
}

ValueId PartsWalk::blockOf(const IndexExpr &expr) {
  return p_.frame_->locals.at(cast<LocalRefExpr>(*expr.base).local);
}

ValueId PartsWalk::whole(const LocalRefExpr &expr, ValueId id) {
  const Local &local = *expr.local;
  if (auto own = p_.own_->blocks.find(&local); own != p_.own_->blocks.end())
    refuseElsewhere(p_.spanOf(expr), "`" + local.name + "`",
                    ownText(local.name, own->second, p_.placed_.values[id].shape.size()),
                    outside(local));
  const LevelPlacement &at = p_.placed_.values[id].placement[p_.section_->level];
  if (at.isWhole() || at.isOwn)
    return id;
  refuseElsewhere(p_.spanOf(expr), "`" + local.name + "`", blocksText(p_.placed_.values[id]),
                  p_.placed_.values[id]);
}

void PartsWalk::requireOwn(const AssignStmt &stmt) {
  const Local &local = *stmt.target;
  bool isFromOutside =
      p_.own_ && (p_.own_->outside.contains(&local) || p_.wanted_.contains(&local));
  if (isFromOutside && !p_.own_->blocks.contains(&local))
    refuseElsewhere(stmt.span, "`" + local.name + "`",
                    blocksText(outside(local)) + ", and assigns no others", outside(local));
}

} // namespace ptl
