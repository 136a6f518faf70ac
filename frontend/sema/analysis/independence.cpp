#include "frontend/sema/analysis/independence.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/analysis/apart.h"
#include "frontend/sema/analysis/iterations.h"

#include <algorithm>
#include <cctype>

namespace ptl {

namespace {

struct Conflict {
  const Access *write = nullptr, *other = nullptr;
  size_t head = 0;
};

class IndependenceChecker {
public:
  IndependenceChecker(Context &ctx, const ParallelFrame &frame, DataFacts &data)
      : ctx_(ctx), dims_(ctx.dims), frame_(frame), data_(data), iterations_(ctx.dims, frame) {}
  void run();

private:
  Dim laterDim(IterationPair &pair, Dim dim) { return iterations_.later(pair, dim); }
  IterationPair makePair(size_t head);
  bool addSorted(FactSet &facts, IterationPair &pair, const Contents &contents);
  const Local *unsortedTable(const Contents &contents) const;
  const Local *repeatingTable(const Region &region, const Contents &contents) const;
  AxisSet mapped(IterationPair &pair, const AxisSet &set, bool isLater);
  bool isApart(const Access &earlier, const Access &later, IterationPair &pair);
  void addRounds(IterationValues &known, const Access &earlier, const Access &later,
                 IterationPair &pair, FactSet &facts);
  void addDistinct(IterationValues &known, IterationPair &pair, const FactSet &facts);
  bool followHead(const Access &a, const Access &b, const LoopDomain &domain);
  bool isImpossible(const FactSet &facts, SymbolId distance);
  bool isHeadRange(const AxisSet &set, const LoopDomain &domain);
  void addFactsOf(FactSet &facts, const Access &access, IterationPair &pair, bool isLater);
  bool surelyMeets(const Access &a, const Access &b, size_t head);
  bool overlaps(const AxisSet &a, const AxisSet &b, const DimSubstitution &next,
                const FactSet &facts);
  void checkLocal(const std::vector<const Access *> &accesses);
  bool isCovered(const Access &access, const Access &known) const;
  bool checkPair(const Access &a, const Access &b);
  void report(const Conflict &conflict, bool isProved);
  void explain(DiagnosticBuilder report, const Conflict &conflict, bool isProved);
  std::string settlingFact();
  bool dependsOn(const AxisSet &set, const LoopDomain &domain) const;
  bool dependsOn(const Region &region, const LoopDomain &domain) const;
  bool isInner(SymbolId symbol) const { return iterations_.isInner(symbol); }
  bool isOfHead(SymbolId symbol) const { return iterations_.isOfHead(symbol); }

  Context &ctx_;
  DimContext &dims_;
  const ParallelFrame &frame_;
  DataFacts &data_;
  Iterations iterations_;
  std::vector<std::optional<IterationPair>> pairs_; ///< by head
  std::optional<NearMiss> miss_;
};

} // namespace

// ---- Facts of both ------------------------------------------------------------------------------

/// What two accesses say of arrays holds for both, because both iterations have passed it.
static Contents contentsOf(const Access &a, const Access &b) {
  Contents contents = a.contents;
  contents.add(b.contents);
  return contents;
}

/// Elements of a sorted array at positions in order are in order. False if no array is sorted that
/// was not known to be before the iterations.
bool IndependenceChecker::addSorted(FactSet &facts, IterationPair &pair, const Contents &contents) {
  bool isNew = false;
  // Pairs of symbols for elements of one sorted array are compared, one of each iteration.
  for (const ElementSymbol &a : data_.values.elements)
    for (const ElementSymbol &b : data_.values.elements) {
      if (a.table != b.table || !contents.sorted.contains(a.table))
        continue;
      isNew |= !frame_.contents.sorted.contains(a.table);
      Dim first = dims_.substitute(a.index, pair.earlier), second = laterDim(pair, b.index);
      if (facts.proveLessEqual(first, second).isTrue())
        facts.addLessEqual(dims_.symbolDim(a.symbol), laterDim(pair, dims_.symbolDim(b.symbol)));
    }
  return isNew;
}

IterationPair IndependenceChecker::makePair(size_t head) {
  IterationPair pair = iterations_.pair(head);
  // What sortedness says may contradict the pair itself: then there are no two such iterations.
  addSorted(pair.facts, pair, frame_.contents);
  pair.isImpossible = isImpossible(pair.facts, pair.distance);
  return pair;
}

/// An array that bounds what iterations touch and of which nothing says that it is sorted.
const Local *IndependenceChecker::unsortedTable(const Contents &contents) const {
  for (const ElementSymbol &element : data_.values.elements)
    // Only elements that the iteration itself depends on can differ between iterations.
    if (isInner(element.symbol) && !contents.sorted.contains(element.table))
      return element.table;
  return nullptr;
}

/// An array whose elements say where an access is and of which nothing says that they differ.
const Local *IndependenceChecker::repeatingTable(const Region &region,
                                                 const Contents &contents) const {
  for (const ElementSymbol &element : data_.values.elements) {
    auto isIt = [&](SymbolId symbol) { return symbol == element.symbol; };
    // An element counts if it is the position of a single element or of a part of fixed length.
    bool isUsed = std::any_of(region.axes.begin(), region.axes.end(), [&](const AxisSet &set) {
      return mentions(set.start, isIt) && dims_.sub(set.stop, set.start).isConstant();
    });
    if (isUsed && isInner(element.symbol) && !contents.unique.contains(element.table))
      return element.table;
  }
  return nullptr;
}

AxisSet IndependenceChecker::mapped(IterationPair &pair, const AxisSet &set, bool isLater) {
  return ptl::mapped(set, [&](Dim dim) {
    return isLater ? laterDim(pair, dim) : dims_.substitute(dim, pair.earlier);
  });
}

void IndependenceChecker::addFactsOf(FactSet &facts, const Access &access, IterationPair &pair,
                                     bool isLater) {
  std::vector<Fact> all = access.facts.facts();
  // Facts from outside of the loop hold for both, so only those of the iteration are renamed.
  for (size_t i = frame_.factCount; i < all.size(); ++i) {
    const Fact &fact = all[i];
    Dim a = isLater ? laterDim(pair, fact.a) : dims_.substitute(fact.a, pair.earlier);
    Dim b = isLater ? laterDim(pair, fact.b) : dims_.substitute(fact.b, pair.earlier);
    if (fact.relation == Relation::Equal)
      facts.addEqual(a, b, fact.span);
    else if (fact.relation == Relation::LessEqual)
      facts.addLessEqual(a, b, fact.span);
    else
      facts.addDivides(b, a, fact.span);
  }
}

// ---- Apart --------------------------------------------------------------------------------------

bool IndependenceChecker::isHeadRange(const AxisSet &set, const LoopDomain &domain) {
  if (!set.isInterval() || !set.step.isConstant(1))
    return false;
  if (domain.kind == LoopDomain::Kind::Tiles)
    return set.start.symbol() == domain.start &&
           set.stop == dims_.add(dims_.symbolDim(domain.start), dims_.symbolDim(domain.len));
  return domain.index && set.start.symbol() == *domain.index &&
         dims_.sub(set.stop, set.start).isConstant(1);
}

/// The usual case without a proof: both are indexed by the head itself.
bool IndependenceChecker::followHead(const Access &a, const Access &b, const LoopDomain &domain) {
  const auto &left = a.elements.region.axes, &right = b.elements.region.axes;
  for (size_t i = 0; i < left.size() && i < right.size(); ++i)
    // One axis with the head's own positions is enough, since these differ between iterations.
    if (isHeadRange(widest(left[i]), domain) && isHeadRange(widest(right[i]), domain))
      return true;
  return false;
}

/// Whether the facts contradict each other: `distance`, which is no negative number, would be one,
/// or less than any.
bool IndependenceChecker::isImpossible(const FactSet &facts, SymbolId distance) {
  Dim reduced = facts.reduce(dims_.symbolDim(distance));
  if (!reduced)
    return false;
  // The symbol `any` stands for any number, so nothing is known of it.
  Dim any = dims_.symbolDim(dims_.addSymbol("any", SymbolKind::ScalarValue));
  return reduced.constant().value_or(0) < 0 || facts.proveLessEqual(reduced, any).isTrue();
}

/// Loops with steps inside of an iteration: position `lo + step * n` of round `n`.
void IndependenceChecker::addRounds(IterationValues &known, const Access &earlier,
                                    const Access &later, IterationPair &pair, FactSet &facts) {
  std::vector<Fact> all = earlier.facts.facts(), others = later.facts.facts();
  for (size_t i = frame_.factCount; i < all.size() && i < others.size(); ++i) {
    const Fact &fact = all[i];
    // Loops of both iterations correspond if their facts are the same.
    if (fact.relation != Relation::Divides || others[i].relation != Relation::Divides ||
        fact.a != others[i].a || fact.b != others[i].b || fact.b.isConstant(1))
      continue;
    auto round = [&](Dim position, Dim step) {
      // A multiple of the step is written with the number of the round.
      Dim number = dims_.symbolDim(dims_.addSymbol("n", SymbolKind::ScalarValue));
      facts.addEqual(position, dims_.mul(step, number), fact.span);
      return number;
    };
    Dim first =
        round(dims_.substitute(fact.a, pair.earlier), dims_.substitute(fact.b, pair.earlier));
    known.rounds.push_back({first, round(laterDim(pair, fact.a), laterDim(pair, fact.b))});
  }
  // Loops without steps whose variable is in the positions: their rounds are its values.
  std::vector<SymbolId> found;
  auto look = [&](SymbolId symbol) {
    bool hasStep = std::any_of(all.begin(), all.end(), [&](const Fact &fact) {
      return fact.relation == Relation::Divides && fact.a.mentions(symbol);
    });
    if (isInner(symbol) && !isOfHead(symbol) && !hasStep &&
        dims_.symbol(symbol).kind == SymbolKind::LoopIndex &&
        std::find(found.begin(), found.end(), symbol) == found.end())
      found.push_back(symbol);
  };
  for (const AxisSet &set : earlier.elements.region.axes)
    for (Dim dim : {set.start, set.stop})
      if (dim)
        forEachSymbol(dim, look);
  for (SymbolId symbol : found)
    known.rounds.push_back({dims_.symbolDim(symbol), laterDim(pair, dims_.symbolDim(symbol))});
}

/// Equal elements would mean equal places.
/// Elements of arrays without repetition at places that differ.
void IndependenceChecker::addDistinct(IterationValues &known, IterationPair &pair,
                                      const FactSet &facts) {
  const KnownValues &values = data_.values;
  for (const ElementSymbol &a : values.elements)
    for (const ElementSymbol &b : values.elements) {
      if (a.table != b.table || !known.contents.unique.contains(a.table) || !isInner(a.symbol) ||
          !isInner(b.symbol))
        continue;
      Dim first = dims_.substitute(a.index, pair.earlier), second = laterDim(pair, b.index);
      if (facts.proveLess(first, second).isTrue() || facts.proveLess(second, first).isTrue())
        known.distinct.push_back(
            {dims_.symbolDim(a.symbol), laterDim(pair, dims_.symbolDim(b.symbol))});
    }
}

bool IndependenceChecker::isApart(const Access &earlier, const Access &later, IterationPair &pair) {
  const auto &a = earlier.elements.region.axes;
  const auto &b = later.elements.region.axes;
  // Regions of different rank are of different fields or views, which nothing compares.
  if (a.size() != b.size())
    return false;
  // Each access may have facts of its own, such as the conditions around it.
  FactSet facts = pair.facts;
  addFactsOf(facts, earlier, pair, false);
  addFactsOf(facts, later, pair, true);
  std::vector<AxisPair> axes;
  for (size_t i = 0; i < a.size(); ++i)
    axes.push_back({mapped(pair, widest(a[i]), false), mapped(pair, widest(b[i]), true)});
  Contents contents = contentsOf(earlier, later);
  // What holds before the iterations is in the facts of the pair already.
  bool sortsMore = !frame_.contents.includes(contents) && addSorted(facts, pair, contents);
  IterationValues known{contents, frame_.heads.front().var, {}, {}};
  ApartProof direct(dims_, known);
  // Most pairs are apart by the heads alone, so rounds and distinct elements are added only if
  // needed.
  if (direct.prove(axes, facts))
    return true;
  // The first proof that fails is what the report explains.
  if (!miss_)
    miss_ = direct.miss();
  addRounds(known, earlier, later, pair, facts);
  addDistinct(known, pair, facts);
  if (!known.rounds.empty() || !known.distinct.empty())
    if (ApartProof(dims_, known).prove(axes, facts))
      return true;
  // Conditions that exclude each other: there is no such pair.
  return (earlier.isConditional || later.isConditional || sortsMore) &&
         isImpossible(facts, pair.distance);
}

/// Whether the bounds of a loop speak of certain symbols; those are never its own.
static bool mentionsAny(const LoopDomain &domain, const std::function<bool(SymbolId)> &which) {
  return mentions(domain.lo, which) || mentions(domain.hi, which) || mentions(domain.size, which);
}

// ---- Meeting ------------------------------------------------------------------------------------

/// Also through the bounds of later heads and of loops inside of an iteration.
bool IndependenceChecker::dependsOn(const AxisSet &set, const LoopDomain &domain) const {
  std::function<bool(SymbolId)> own = [&](SymbolId symbol) {
    // What an inner loop computes may depend on anything of its iteration.
    if (domain.isOwn(symbol) || (isInner(symbol) && !isOfHead(symbol)))
      return true;
    return std::any_of(frame_.heads.begin(), frame_.heads.end(), [&](const LoopDomain &head) {
      return &head != &domain && head.isOwn(symbol) && mentionsAny(head, own);
    });
  };
  if (mentions(set.start, own) || mentions(set.stop, own) || mentions(set.step, own))
    return true;
  // A value that is computed after the head's variable may depend on it.
  if (set.kind == AxisSet::Kind::Value && domain.var && set.local->index >= domain.var->index)
    return true;
  return std::any_of(set.index.begin(), set.index.end(),
                     [&](const AxisSet &index) { return dependsOn(index, domain); });
}

bool IndependenceChecker::dependsOn(const Region &region, const LoopDomain &domain) const {
  return std::any_of(region.axes.begin(), region.axes.end(),
                     [&](const AxisSet &set) { return dependsOn(set, domain); });
}

bool IndependenceChecker::overlaps(const AxisSet &a, const AxisSet &b, const DimSubstitution &next,
                                   const FactSet &facts) {
  if (a.kind == AxisSet::Kind::Unknown || b.kind == AxisSet::Kind::Unknown)
    return false;
  if (a.kind == AxisSet::Kind::Full || b.kind == AxisSet::Kind::Full)
    // A whole axis meets every part of it that has elements.
    return a.isInterval() || b.isInterval() || a.kind == b.kind;
  // A value that each iteration computes may be another one in the next iteration.
  if (a == b && a.kind == AxisSet::Kind::Value)
    return frame_.heads.front().var && a.local->index < frame_.heads.front().var->index;
  if (!a.isInterval() || !b.isInterval() || !a.step.isConstant(1) || !b.step.isConstant(1))
    return false;
  // What an iteration computes may be something else in the next one.
  auto isComputed = [&](SymbolId symbol) {
    return isInner(symbol) && !isOfHead(symbol) &&
           dims_.symbol(symbol).kind == SymbolKind::ScalarValue;
  };
  if (mentions(b.start, isComputed) || mentions(b.stop, isComputed))
    return false;
  Dim start = dims_.substitute(b.start, next), stop = dims_.substitute(b.stop, next);
  // Equal intervals are taken to meet, whatever is known of their length.
  if (a.start == start && a.stop == stop)
    return true;
  return facts.proveLess(a.start, stop).isTrue() && facts.proveLess(start, a.stop).isTrue();
}

/// Whether an iteration and the next one, with all else equal, touch a common element.
bool IndependenceChecker::surelyMeets(const Access &a, const Access &b, size_t head) {
  const LoopDomain &domain = frame_.heads[head];
  auto own = [&](SymbolId symbol) { return domain.isOwn(symbol); };
  // A conditional access may not happen, so a conflict is not certain.
  if (a.isConditional || b.isConditional ||
      a.elements.region.axes.size() != b.elements.region.axes.size())
    return false;
  // The next iteration has to exist with all other heads equal.
  for (size_t i = head + 1; i < frame_.heads.size(); ++i)
    if (frame_.heads[i].hasHiddenBounds || mentions(frame_.heads[i].lo, own) ||
        mentions(frame_.heads[i].hi, own))
      return false;
  FactSet facts = a.facts;
  std::vector<Fact> all = b.facts.facts();
  // Facts that mention the head's own symbols may not hold in the next iteration.
  for (size_t i = frame_.factCount; i < all.size(); ++i)
    if (mentions(all[i].a, own) || mentions(all[i].b, own))
      return false;
  DimSubstitution next;
  // The next tile begins where this one ends.
  if (domain.kind == LoopDomain::Kind::Tiles) {
    Dim len = iterations_.freshLike(domain.len);
    next[domain.start] = dims_.add(dims_.symbolDim(domain.start), domain.size);
    next[domain.count] = dims_.add(dims_.symbolDim(domain.count), dims_.constant(1));
    next[domain.len] = len;
    facts.addLessEqual(dims_.constant(1), len);
    // A tile that has a next one is whole.
    facts.addEqual(dims_.symbolDim(domain.len), domain.size);
  } else if (domain.index) {
    next[*domain.index] = dims_.add(dims_.symbolDim(*domain.index), domain.step);
  }
  for (size_t i = 0; i < a.elements.region.axes.size(); ++i)
    if (!overlaps(a.elements.region.axes[i], b.elements.region.axes[i], next, facts))
      return false;
  return true;
}

// ---- Pairs --------------------------------------------------------------------------------------

static std::string placeText(DimContext &dims, const Access &access) {
  const std::string &name = access.elements.local->name;
  return access.elements.region.axes.empty()
             ? name
             : name + "[" + toString(dims, access.elements.region) + "]";
}

static Span spanOf(const Access &access) { return access.elements.span; }

void IndependenceChecker::explain(DiagnosticBuilder report, const Conflict &conflict,
                                  bool isProved) {
  const LoopDomain &domain = frame_.heads[conflict.head];
  std::string name = domain.var ? domain.var->name : "";
  // What takes a whole struct may use each field, whatever it does with them.
  if (conflict.write->elements.field != conflict.other->elements.field) {
    const std::string &local = conflict.write->elements.local->name;
    report.note("a use of all of `" + local + "` counts as one of each of its fields")
        .help("pass the fields that are needed in place of `" + local + "`");
    return;
  }
  // The table of the near miss is the best explanation.
  Contents contents = contentsOf(*conflict.write, *conflict.other);
  const Local *repeating = miss_ ? miss_->table : nullptr;
  repeating = repeating ? repeating : repeatingTable(conflict.write->elements.region, contents);
  if (const Local *table = repeating) {
    report.label(table->span, "values of `" + table->name + "` may repeat")
        .help("state that they differ: `where unique(" + table->name + ")`");
    return;
  }
  if (const Local *table = unsortedTable(contents)) {
    bool boundsBoth =
        std::count_if(data_.values.elements.begin(), data_.values.elements.end(),
                      [&](const ElementSymbol &element) { return element.table == table; }) > 1;
    report.label(table->span,
                 "it is not known that the values are sorted in `" + table->name + "`");
    if (boundsBoth)
      report.help("state that they are in order: `where sorted(" + table->name + ")`");
    else
      report.help("take both bounds from one array of offsets, `off[b]..off[b + 1]`, with `where "
                  "sorted(off)`");
    return;
  }
  // If the place does not depend on the head, each iteration touches it.
  if (!dependsOn(conflict.write->elements.region, domain) &&
      !dependsOn(conflict.other->elements.region, domain)) {
    report.note("the elements do not depend on `" + name + "`")
        .help("index by `" + name + "`, or let the iterations add up with `atomic`");
    return;
  }
  bool isReadAt = !conflict.write->elements.region.axes.empty();
  for (const AxisSet &set : conflict.write->elements.region.axes)
    isReadAt = isReadAt && set.kind != AxisSet::Kind::Unknown && set.kind != AxisSet::Kind::Value;
  if (!isReadAt) {
    report.help(
        "such a position must come from an index array whose values differ: `where unique(…)`");
    return;
  }
  // Where the conflict is certain, any fact that excludes it would be false, so none is suggested.
  std::string fact = isProved ? std::string() : settlingFact();
  report.help(fact.empty()
                  ? "compute the positions that an iteration writes from its own `" + name + "`"
                  : "if it always holds, state it: `" + fact + "`");
}

/// Whether a name stands in a text as a word of its own.
static bool hasWord(const std::string &text, const std::string &word) {
  auto isPart = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !isPart(at - 1)) && !isPart(at + word.size()))
      return true;
  return false;
}

/// The `where` or `assert` that would settle the proof that came nearest; empty when it would speak
/// of one iteration.
std::string IndependenceChecker::settlingFact() {
  if (!miss_)
    return {};
  // The next iteration is the nearest one.
  // The message speaks of the next iteration, since that is the one to look at.
  DimSubstitution next = {{miss_->distance, dims_.constant(0)}};
  Verdict &verdict = miss_->verdict;
  verdict.a = dims_.substitute(verdict.a, next);
  verdict.b = dims_.substitute(verdict.b, next);
  MissingFact missing = missingFact(miss_->facts, verdict);
  bool isOutside = true;
  auto look = [&](SymbolId symbol) {
    isOutside = isOutside && !(isInner(symbol) && hasWord(missing.text, dims_.symbol(symbol).name));
  };
  forEachSymbol(verdict.a, look);
  forEachSymbol(verdict.b, look);
  // A fact about a value of one iteration cannot be stated outside of it.
  if (!isOutside || missing.text.find('\'') != std::string::npos)
    return {};
  return missing.isWhere ? "where " + missing.text : "assert(" + missing.text + ")";
}

void IndependenceChecker::report(const Conflict &conflict, bool isProved) {
  const Access &write = *conflict.write, &other = *conflict.other;
  std::string what = other.isWrite ? "write the same elements of" : "read what others write of";
  const std::string &local = write.elements.local->name;
  auto report =
      ctx_.sink.report(isProved ? DiagId::IterationsConflict : DiagId::IterationsMayConflict,
                       spanOf(write), {what, local});
  const LoopDomain &domain = frame_.heads[conflict.head];
  if (&write != &other)
    report.label(spanOf(other), other.isWrite ? "also written here" : "read here");
  std::string name = domain.var ? "`" + domain.var->name + "`" : "one variable";
  report.label(domain.span, "for two values of " + name);
  if (isProved && dependsOn(write.elements.region, domain))
    report.note("an iteration touches `" + placeText(dims_, write) + "`, " +
                (&write == &other ? "and the next one part of it"
                                  : "another `" + placeText(dims_, other) + "`"));
  explain(report, conflict, isProved);
}

/// False when a problem was reported.
bool IndependenceChecker::checkPair(const Access &a, const Access &b) {
  const Access &write = a.isWrite ? a : b;
  const Access &other = a.isWrite ? b : a;
  // Each head alone is looked at with all others free.
  for (size_t head = 0; head < frame_.heads.size(); ++head) {
    if (frame_.heads[head].kind == LoopDomain::Kind::List || followHead(a, b, frame_.heads[head]))
      continue;
    pairs_.resize(frame_.heads.size());
    // The pair of iterations is the same for all accesses of a head.
    if (!pairs_[head])
      pairs_[head] = makePair(head);
    miss_.reset();
    bool apart = pairs_[head]->isImpossible;
    // For two different accesses either iteration may come first.
    apart = apart || (isApart(a, b, *pairs_[head]) && (&a == &b || isApart(b, a, *pairs_[head])));
    if (apart)
      continue;
    if (miss_)
      miss_->distance = pairs_[head]->distance;
    bool isProved = surelyMeets(a, b, head) || (&a != &b && surelyMeets(b, a, head));
    data_.reported.insert(write.elements.local);
    report({&write, &other, head}, isProved);
    return false;
  }
  return true;
}

/// Whether two accesses to one local can have elements in common: a whole struct has those of all
/// of its fields, which are apart from each other.
static bool shareField(const Access &a, const Access &b) {
  int32_t left = a.elements.field, right = b.elements.field;
  return left == right || left < 0 || right < 0;
}

/// All accesses to one array or struct.
void IndependenceChecker::checkLocal(const std::vector<const Access *> &accesses) {
  // Writes against writes first: that is the nearer cause.
  for (bool withReads : {false, true})
    for (size_t i = 0; i < accesses.size(); ++i)
      for (size_t j = i; j < accesses.size(); ++j) {
        const Access &a = *accesses[i], &b = *accesses[j];
        bool isAsked = withReads ? a.isWrite != b.isWrite : a.isWrite && b.isWrite;
        // Two reads never conflict, and atomic additions commute.
        if (isAsked && !a.isAtomic && !b.isAtomic && shareField(a, b) && !checkPair(a, b))
          return;
      }
}

/// Whether an access adds nothing to one before it: the same elements, touched in every iteration,
/// and nothing known there that is not known here too. What holds only in a loop around the known
/// one must not excuse an access outside of it.
bool IndependenceChecker::isCovered(const Access &access, const Access &known) const {
  if (known.isConditional || known.isWrite != access.isWrite || known.isAtomic != access.isAtomic ||
      known.elements.field != access.elements.field ||
      known.elements.region != access.elements.region || !access.contents.includes(known.contents))
    return false;
  std::vector<Fact> here = access.facts.facts(), there = known.facts.facts();
  auto isSame = [](const Fact &a, const Fact &b) {
    return a.relation == b.relation && a.a == b.a && a.b == b.b;
  };
  // The facts from outside of the loop are those of all.
  return std::all_of(there.begin() + static_cast<ptrdiff_t>(frame_.factCount), there.end(),
                     [&](const Fact &fact) {
                       return std::any_of(here.begin(), here.end(),
                                          [&](const Fact &other) { return isSame(fact, other); });
                     });
}

void IndependenceChecker::run() {
  std::vector<std::vector<const Access *>> groups;
  for (const Access &access : frame_.accesses) {
    // Accesses are grouped by what they touch, since others cannot conflict.
    auto isSame = [&](const std::vector<const Access *> &group) {
      return group.front()->elements.local == access.elements.local;
    };
    auto group = std::find_if(groups.begin(), groups.end(), isSame);
    if (group == groups.end())
      group = groups.insert(groups.end(), std::vector<const Access *>());
    bool isKnown = std::any_of(group->begin(), group->end(),
                               [&](const Access *known) { return isCovered(access, *known); });
    if (!isKnown)
      group->push_back(&access);
  }
  for (const auto &group : groups)
    // One report for each array is enough.
    if (!data_.reported.contains(group.front()->elements.local))
      checkLocal(group);
}

void checkIndependence(Context &ctx, const ParallelFrame &frame, DataFacts &data) {
  if (!frame.accesses.empty())
    IndependenceChecker(ctx, frame, data).run();
}

} // namespace ptl
