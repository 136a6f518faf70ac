// The dependences between the items of a body: for each byte the last readers and writers of every
// pipe.
#include "passes/analysis/block_dependence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::pto {

// ---- boxes of global memory ---------------------------------------------------------------------

namespace {
/// A sum of values with factors. Values that no sum is known of stand for themselves.
struct LinearForm {
  int64_t constant = 0;
  std::map<unsigned, std::pair<int64_t, Value>>
      terms; ///< factor and value, by number of the expression

  void add(const LinearForm &other, int64_t factor) {
    constant += factor * other.constant;
    for (auto &[id, term] : other.terms)
      if (auto &mine = terms.try_emplace(id, 0, term.second).first->second;
          (mine.first += factor * term.first) == 0)
        terms.erase(id);
  }
};
} // namespace

static LinearForm linearForm(Value value, ExpressionTable &expressions) {
  // Only sums, differences and products by constants are followed; all else is a term of its own.
  LinearForm form;
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    form.constant = *number;
    return form;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    form = linearForm(op->getOperand(0), expressions);
    form.add(linearForm(op->getOperand(1), expressions), isa<arith::AddIOp>(op) ? 1 : -1);
    return form;
  }
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (unsigned i : {0u, 1u})
      if (std::optional<int64_t> factor = getConstantIntValue(op->getOperand(i));
          factor && *factor) {
        form.add(linearForm(op->getOperand(1 - i), expressions), *factor);
        return form;
      }
  if (isa_and_nonnull<arith::IndexCastOp>(op))
    return linearForm(op->getOperand(0), expressions);
  form.terms[expressions.idOf(value)] = {1, value};
  return form;
}

// The largest that a size can be.
static std::optional<int64_t> boundOf(Value size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return number;
  if (auto least = size.getDefiningOp(); isa_and_nonnull<arith::MinSIOp, arith::MinUIOp>(least)) {
    // A minimum is no larger than either side, so one known side is enough.
    std::optional<int64_t> a = boundOf(least->getOperand(0)), b = boundOf(least->getOperand(1));
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
  return std::nullopt;
}

// Whether a value is the same throughout a block; one that is defined in a nested body changes each
// time.
static bool isFixedIn(Value value, Block *block) {
  return block == value.getParentBlock() ||
         !block->getParentOp()->isAncestor(value.getParentBlock()->getParentOp());
}

// Whether `later - earlier`, of boxes along one axis, keeps them apart. Between iterations: for
// every distance.
static bool apartAlong(LinearForm distance, int64_t earlierSize, int64_t laterSize,
                       const Body &body, bool carried, const LinearForm &offset,
                       ExpressionTable &expressions) {
  // The distance has to be a constant: terms that both offsets have in common cancel out.
  if (!distance.terms.empty())
    return false;
  Value variable = body.loop ? body.block->getArgument(0) : Value();
  int64_t perIteration = 0;
  for (auto &[id, term] : offset.terms) {
    // Each term of the offset has to be the same in both iterations, or to be the loop's variable.
    Value leaf = term.second;
    if (carried && leaf == variable) {
      std::optional<int64_t> step = getConstantIntValue(cast<scf::ForOp>(body.owner).getStep());
      perIteration = step ? *step * term.first : 0;
    } else if (!isFixedIn(leaf, body.block) || (carried && leaf.getParentBlock() == body.block)) {
      return false;
    }
  }
  if (!carried)
    // Within an iteration the boxes are apart if one begins behind the end of the other.
    return distance.constant >= earlierSize || -distance.constant >= laterSize;
  // Between iterations the distance grows with each step, so the next iteration is the nearest one.
  return perIteration > 0   ? perIteration + distance.constant >= earlierSize
         : perIteration < 0 ? -(perIteration + distance.constant) >= laterSize
                            : false;
}

bool BlockProgram::disjoint(const Touch &earlier, const Touch &later, const Body &body,
                            bool carried) {
  // Only boxes of one view can be compared by their offsets.
  PartitionViewOp a = earlier.box, b = later.box;
  if (!a || !b || (carried && !body.loop) ||
      expressions_.idOf(a.getSource()) != expressions_.idOf(b.getSource()))
    return false;
  for (auto [offsetA, offsetB, sizeA, sizeB] :
       llvm::zip_equal(a.getOffsets(), b.getOffsets(), a.getSizes(), b.getSizes())) {
    std::optional<int64_t> boundA = boundOf(sizeA), boundB = boundOf(sizeB);
    if (!boundA || !boundB)
      // Along an axis of unknown size the boxes may meet; another axis may still keep them apart.
      continue;
    LinearForm from = linearForm(offsetA, expressions_),
               distance = linearForm(offsetB, expressions_);
    distance.add(from, -1);
    if (apartAlong(distance, *boundA, *boundB, body, carried, from, expressions_))
      return true;
  }
  return false;
}

// ---- the scan -----------------------------------------------------------------------------------

namespace {
struct Entry {
  const Touch *touch = nullptr;
  int item = -1;
  int round = 0;
};
struct Segment {
  int64_t end;
  std::array<Entry, kNumPipes> reads, writes;       ///< of this iteration
  std::array<Entry, kNumPipes> oldReads, oldWrites; ///< of the one before

  explicit Segment(int64_t end) : end(end) {}
};
struct GlobalState {
  std::array<std::vector<Entry>, kNumPipes> reads, writes;
};
} // namespace

/// Goes over a sequence of items once, or twice for what one iteration leaves to the next.
class DependenceScan {
public:
  DependenceScan(BlockProgram &program, const Body &body) : program_(program), body_(body) {}

  void add(const Item &item) { items_.push_back(&item); }
  std::vector<Dependence> run(bool carried) {
    // The second round meets what the first one left, which gives the dependences between
    // iterations.
    for (round_ = 0; round_ < (carried ? 2 : 1); ++round_) {
      if (round_)
        age();
      for (size_t k = 0; k < items_.size(); ++k) {
        item_ = static_cast<int>(k);
        // All touches are compared before any is entered, since an instruction does not depend on
        // itself.
        for (const Touch &touch : items_[k]->touches)
          query(touch);
        for (const Touch &touch : items_[k]->touches)
          update(touch);
      }
    }
    return std::move(found_);
  }

private:
  using Segments = std::map<int64_t, Segment>;

  void age();
  void clear(Segment &segment) const;
  bool isSure() const { return items_[static_cast<size_t>(item_)]->pipe.has_value(); }
  void query(const Touch &touch);
  void queryGlobal(const Touch &touch);
  void update(const Touch &touch);
  void consider(const Touch &touch, const Entry &entry, bool entryWrites);
  void flush(const Touch &touch);
  Segments::iterator split(Segments &segments, int64_t at);
  int frameOf(const Touch &touch) const {
    return touch.rotation < 0 || static_cast<size_t>(touch.rotation) >= body_.frameOf.size()
               ? -1
               : body_.frameOf[static_cast<size_t>(touch.rotation)];
  }

  BlockProgram &program_;
  const Body &body_;
  std::vector<const Item *> items_;
  std::map<unsigned, Segments> spaces_;
  std::map<unsigned, GlobalState> globals_;
  struct Best {
    Entry entry;
    bool writes = false;
  };
  /// The latest producers of a touch by pipe: of this iteration, of an earlier one, of one with the
  /// same slot.
  std::array<std::array<Best, 3>, kNumPipes> best_;
  std::vector<Dependence> found_;
  int item_ = 0, round_ = 0;
};

void DependenceScan::consider(const Touch &touch, const Entry &entry, bool entryWrites) {
  // The item itself is no producer; pairs within an iteration were found in the first round.
  if (!entry.touch || (entry.round == round_ && entry.item == item_) ||
      (round_ == 1 && entry.round == 1))
    return;
  // A pipe executes in order, so its own accesses need nothing, unless the vector pipe overlaps
  // them.
  if (entry.touch->pipe == touch.pipe &&
      (touch.pipe != Pipe::V || !program_.machine_.vectorBarrier || touch.isGlobal()))
    return;
  bool carried = entry.round != round_;
  // Kind 0 is of this iteration, 1 of an earlier one, 2 of an earlier one with the same slot.
  size_t kind = !carried                                                         ? 0
                : frameOf(touch) >= 0 && frameOf(*entry.touch) == frameOf(touch) ? 2
                                                                                 : 1;
  Best &best = best_[static_cast<size_t>(entry.touch->pipe)][kind];
  // Of one item, a write is the stronger producer: it orders readers and writers alike.
  if (!best.entry.touch || entry.item > best.entry.item ||
      (entry.item == best.entry.item && entryWrites))
    best = {entry, entryWrites};
}

void DependenceScan::flush(const Touch &touch) {
  for (auto &kinds : best_)
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      Best best = std::exchange(kinds[kind], {});
      if (!best.entry.touch)
        continue;
      Hazard hazard = !best.writes ? Hazard::WAR : touch.reads ? Hazard::RAW : Hazard::WAW;
      found_.push_back({best.entry.touch, &touch, best.entry.item, item_, hazard, kind != 0,
                        kind == 2 ? frameOf(touch) : -1});
    }
}

void DependenceScan::queryGlobal(const Touch &touch) {
  // An author's boxes are compared with this number of earlier accesses; those before are assumed
  // to overlap, which bounds the time.
  constexpr int farthest = 64;
  auto lookThrough = [&](const std::vector<Entry> &entries, bool writes) {
    int looked = 0;
    for (const Entry &entry : llvm::reverse(entries)) {
      // The pipe's own earlier accesses are in order, and older ones come before them.
      if (entry.touch->pipe == touch.pipe)
        return;
      bool far = ++looked > farthest;
      if (!far && program_.disjoint(*entry.touch, touch, body_, entry.round != round_))
        continue;
      consider(touch, entry, writes);
      // An item with bodies may not execute this access in each iteration, so it does not replace
      // earlier ones.
      if (far || entry.round != round_ || round_ == 0 ||
          items_[static_cast<size_t>(entry.item)]->pipe)
        return;
    }
  };
  GlobalState &state = globals_[touch.space];
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    lookThrough(state.writes[pipe], true);
    if (touch.writes)
      lookThrough(state.reads[pipe], false);
  }
}

void DependenceScan::query(const Touch &touch) {
  // The other core has waited for the readers of before, so nothing is to be ordered here.
  if (touch.receives)
    return;
  if (touch.isGlobal()) {
    queryGlobal(touch);
  } else {
    Segments &segments = spaces_[touch.space];
    // The segment that begins before the touch may reach into it.
    auto at = segments.upper_bound(touch.begin);
    if (at != segments.begin() && std::prev(at)->second.end > touch.begin)
      --at;
    for (; at != segments.end() && at->first < touch.end; ++at)
      for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
        consider(touch, at->second.writes[pipe], true);
        consider(touch, at->second.oldWrites[pipe], true);
        if (touch.writes) {
          consider(touch, at->second.reads[pipe], false);
          consider(touch, at->second.oldReads[pipe], false);
        }
      }
  }
  flush(touch);
}

DependenceScan::Segments::iterator DependenceScan::split(Segments &segments, int64_t position) {
  auto at = segments.lower_bound(position);
  if (at != segments.begin() && (at == segments.end() || at->first != position)) {
    auto before = std::prev(at);
    if (before->second.end > position) {
      at = segments.emplace_hint(at, position, before->second);
      before->second.end = position;
    }
  }
  return at;
}

// The segment is cut at the position, and both parts keep the same accesses.
// Accesses of this iteration become those of the one before.
void DependenceScan::age() {
  for (auto &[space, segments] : spaces_)
    for (auto &[begin, segment] : segments) {
      segment.oldReads = std::exchange(segment.reads, {});
      segment.oldWrites = std::exchange(segment.writes, {});
    }
}

// All but what this item does itself: that order is its own affair.
void DependenceScan::clear(Segment &segment) const {
  segment.oldReads = {};
  segment.oldWrites = {};
  for (auto *entries : {&segment.reads, &segment.writes})
    for (Entry &entry : *entries)
      if (entry.item != item_)
        entry = {};
}

// A write takes the place of all before it: what follows it also follows them. Not where it may not
// come to pass, in a loop or a branch: then what follows it may have waited for nothing.
void DependenceScan::update(const Touch &touch) {
  Entry entry{&touch, item_, round_};
  size_t pipe = static_cast<size_t>(touch.pipe);
  // These only wait; nobody has to wait for them.
  if (touch.releases || touch.aside)
    return;
  if (touch.isGlobal()) {
    GlobalState &state = globals_[touch.space];
    (touch.writes ? state.writes : state.reads)[pipe].push_back(entry);
    return;
  }
  Segments &segments = spaces_[touch.space];
  // Cutting at both ends makes the segments inside belong to the touch as a whole.
  auto last = split(segments, touch.end);
  auto at = split(segments, touch.begin);
  bool replaces = touch.writes && !touch.receives && isSure();
  // A single write replaces all segments by one, which keeps their number small.
  if (replaces && items_[static_cast<size_t>(item_)]->touches.size() == 1) {
    segments.erase(at, last);
    Segment fresh(touch.end);
    fresh.writes[pipe] = entry;
    segments.emplace(touch.begin, fresh);
    return;
  }
  for (int64_t position = touch.begin; position < touch.end;) {
    auto next = segments.lower_bound(position);
    // A gap between segments has no accesses yet and becomes a segment.
    if (next == segments.end() || next->first != position) {
      int64_t end = next == segments.end() ? touch.end : std::min(touch.end, next->first);
      next = segments.emplace_hint(next, position, Segment(end));
    }
    Segment &segment = next->second;
    if (replaces)
      clear(segment);
    (touch.writes ? segment.writes : segment.reads)[pipe] = entry;
    // The access of this iteration stands for that of the one before on this pipe.
    if (isSure())
      (touch.writes ? segment.oldWrites : segment.oldReads)[pipe] = {};
    position = segment.end;
  }
}

std::vector<Dependence> BlockProgram::dependencesOf(const Body &body) {
  DependenceScan scan(*this, body);
  for (const Item &item : body.items)
    scan.add(item);
  return scan.run(body.loop);
}

std::vector<Dependence> BlockProgram::dependencesOfWhile(const Item &loop) {
  DependenceScan scan(*this, *loop.bodies.back());
  for (auto &body : loop.bodies)
    for (const Item &item : body->items)
      scan.add(item);
  return scan.run(true);
}

} // namespace ptl::pto
