#include "frontend/sema/analysis/iterations.h"

#include <algorithm>

namespace ptl {

Iterations::Iterations(DimContext &dims, const ParallelFrame &frame) : dims_(dims), frame_(frame) {
  for (const LoopDomain &head : frame.heads)
    if (auto symbol = head.firstSymbol(); symbol && (!first_ || *symbol < *first_))
      first_ = symbol;
}

bool Iterations::isOfHead(SymbolId symbol) const {
  return std::any_of(frame_.heads.begin(), frame_.heads.end(),
                     [&](const LoopDomain &head) { return head.isOwn(symbol); });
}

Dim Iterations::freshLike(SymbolId symbol) const {
  Symbol like = dims_.symbol(symbol);
  return dims_.symbolDim(dims_.addSymbol(like.name + "'", like.kind, like.span));
}

Dim Iterations::later(IterationPair &pair, Dim dim) const {
  if (!dim)
    return dim;
  forEachSymbol(dim, [&](SymbolId symbol) {
    if (isInner(symbol) && !pair.later.contains(symbol))
      pair.later[symbol] = freshLike(symbol);
  });
  return dims_.substitute(dim, pair.later);
}

/// The head in which they differ: the later one is `1 + d` steps on.
void Iterations::moveOn(IterationPair &pair, const LoopDomain &domain) const {
  pair.distance = dims_.addSymbol("d'", SymbolKind::RangeCount);
  Dim ahead = dims_.add(dims_.constant(1), dims_.symbolDim(pair.distance));
  FactSet &facts = pair.facts;
  if (domain.kind != LoopDomain::Kind::Tiles) {
    if (!domain.index)
      return;
    domain.addFacts(facts);
    Dim later = dims_.add(dims_.symbolDim(*domain.index), dims_.mul(domain.step, ahead));
    pair.later[*domain.index] = later;
    if (domain.kind == LoopDomain::Kind::Index)
      facts.addLess(later, domain.hi, domain.span);
    return;
  }
  // The earlier range is not the last one, so it is full.
  Dim start = dims_.symbolDim(domain.start), count = dims_.symbolDim(domain.count);
  Dim laterStart = dims_.add(start, dims_.mul(domain.size, ahead));
  Dim laterLen = freshLike(domain.len);
  pair.earlier[domain.len] = domain.size;
  pair.later[domain.start] = laterStart;
  pair.later[domain.count] = dims_.add(count, ahead);
  pair.later[domain.len] = laterLen;
  Dim one = dims_.constant(1);
  facts.addLessEqual(one, domain.size, domain.span);
  facts.addLessEqual(one, laterLen, domain.span);
  facts.addLessEqual(laterLen, domain.size, domain.span);
  facts.addLessEqual(domain.lo, start, domain.span);
  facts.addLessEqual(dims_.add(laterStart, laterLen), domain.hi, domain.span);
  facts.addEqual(start, dims_.add(domain.lo, dims_.mul(domain.size, count)), domain.span);
  if (facts.proveDivides(domain.size, dims_.sub(domain.hi, domain.lo)).isTrue())
    facts.addEqual(laterLen, domain.size, domain.span);
}

/// A head behind the one whose variable differs: its variable may have any value in either iteration.
void Iterations::addLaterHead(IterationPair &pair, const LoopDomain &domain) const {
  LoopDomain earlier = domain;
  // Inner loops of both iterations run over their own bounds, which may depend on the outer loop.
  for (Dim *dim : {&earlier.lo, &earlier.hi, &earlier.step, &earlier.size})
    *dim = *dim ? dims_.substitute(*dim, pair.earlier) : *dim;
  earlier.addFacts(pair.facts);
  LoopDomain later = domain;
  later.lo = this->later(pair, domain.lo);
  later.hi = this->later(pair, domain.hi);
  later.step = this->later(pair, domain.step);
  later.size = this->later(pair, domain.size);
  auto fresh = [&](SymbolId symbol) {
    return this->later(pair, dims_.symbolDim(symbol)).symbol().value_or(symbol);
  };
  if (domain.index)
    later.index = fresh(*domain.index);
  if (domain.kind == LoopDomain::Kind::Tiles) {
    later.start = fresh(domain.start);
    later.len = fresh(domain.len);
    later.count = fresh(domain.count);
  }
  later.addFacts(pair.facts);
}

IterationPair Iterations::pair(size_t head) const {
  IterationPair pair{head, {}, {}, frame_.outside, {}, false};
  auto share = [&](SymbolId symbol) { pair.later.emplace(symbol, dims_.symbolDim(symbol)); };
  // Heads outside of this one have the same value in both iterations: a pair that differs there is
  // the matter of that outer head.
  for (size_t i = 0; i <= head; ++i) {
    const LoopDomain &domain = frame_.heads[i];
    for (Dim dim : {domain.lo, domain.hi, domain.step, domain.size})
      if (dim)
        forEachSymbol(dim, share);
    if (i == head)
      break;
    if (domain.index)
      share(*domain.index);
    if (domain.kind == LoopDomain::Kind::Tiles)
      for (SymbolId symbol : {domain.start, domain.len, domain.count})
        share(symbol);
    domain.addFacts(pair.facts);
  }
  moveOn(pair, frame_.heads[head]);
  for (size_t i = head + 1; i < frame_.heads.size(); ++i)
    addLaterHead(pair, frame_.heads[i]);
  return pair;
}

} // namespace ptl
