// Gives names to expressions that are written more than once.
#include "codegen/source/block_body.h"
#include "codegen/source/tile_expressions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;

namespace ptl::source {

/// The statement that both statements are, or are in, or that `first` is in and `second` behind.
static Operation *commonAnchor(Operation *first, Operation *second) {
  for (Block *block = first->getBlock(); block;) {
    if (block->findAncestorOpInBlock(*second))
      return block->findAncestorOpInBlock(*first);
    Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return first;
}

/// Operations that compute a condition are in no statement.
static bool isInCondition(Operation *anchor) {
  auto loop = dyn_cast_or_null<scf::WhileOp>(anchor->getParentOp());
  return loop && anchor->getBlock() == loop.getBeforeBody();
}

/// Positions stand at the start of their block, behind what they are computed from.
void BlockBody::raiseAnchors() {
  for (Shared &one : shared_) {
    if (one.kind != Shared::Kind::Position)
      continue;
    Block *block = one.anchor->getBlock();
    Operation *first = &block->front();
    for (Value leaf : positions_.leavesOf(one.dim))
      if (Operation *made = leaf.getDefiningOp(); made && !isIdentity(made))
        if (Operation *here = block->findAncestorOpInBlock(*made);
            here && first->isBeforeInBlock(here->getNextNode()))
          first = here->getNextNode();
    if (first->isBeforeInBlock(one.anchor))
      one.anchor = first;
  }
}

Expression BlockBody::share(const std::string &key, Shared one) {
  auto [found, isNew] = sharedByKey_.try_emplace(key, shared_.size());
  if (isNew)
    shared_.push_back(std::move(one));
  Shared &own = shared_[found->second];
  if (code_.isCounting()) {
    own.anchor = own.anchor ? commonAnchor(own.anchor, code_.statement()) : code_.statement();
    if (own.count++ > 0)
      return {"n"};
    return sharedText(own);
  }
  if (!own.name.empty())
    return {own.name};
  Expression text = sharedText(own);
  if (!needsName(own, text.text))
    return text;
  bool isCount = own.hint == "n" && llvm::StringRef(text.text).starts_with("cdiv(");
  own.name = code_.names().fresh(isCount ? "tiles" : own.hint);
  code_.line("let " + own.name + " = " + text.text);
  if (own.kind == Shared::Kind::Position)
    positions_.abbreviate(own.dim, own.name, code_.statement()->getBlock());
  return {own.name};
}

/// Parts first, so that what they are parts of is written with their names.
void BlockBody::before(Operation *op) {
  if (code_.isCounting())
    return;
  std::vector<std::pair<size_t, size_t>> here;
  for (size_t i = 0; i < shared_.size(); ++i)
    if (Shared &one = shared_[i]; one.anchor == op && one.name.empty())
      if (std::string text = sharedText(one).text; needsName(one, text))
        here.emplace_back(one.kind == Shared::Kind::Position ? weightOf(text) : 1000, i);
  std::stable_sort(here.begin(), here.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto [size, index] : here)
    for (const auto &[key, at] : sharedByKey_)
      if (at == index)
        share(key, {});
}

constexpr size_t kLong = 8; ///< of positions that get a name where they occur twice

bool BlockBody::needsName(const Shared &one, const std::string &text) const {
  if (isInCondition(one.anchor))
    return false;
  bool isPlain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  switch (one.kind) {
  case Shared::Kind::Identity:
  case Shared::Kind::View:
    return true;
  case Shared::Kind::Position: {
    bool isStart = one.hint == "row" || one.hint == "col";
    return one.count > 1 && !isPlain && (isStart || weightOf(text) >= kLong);
  }
  case Shared::Kind::Tile: {
    // A part of what is seen differently is hard to read inside of a call.
    bool isCall = text.find('(') != text.npos;
    return (isCall && text.ends_with("]")) ||
           (one.count > 1 && (isCall || text.find(':') != text.npos));
  }
  }
  return false;
}

bool isIdentity(Operation *op) {
  return isa<pto::GetBlockIdxOp, pto::GetBlockNumOp, pto::GetSubBlockIdxOp, pto::GetSubBlockNumOp>(
      op);
}

Expression BlockBody::sharedText(const Shared &one) {
  switch (one.kind) {
  case Shared::Kind::Identity:
    return {one.value.getDefiningOp()->getName().stripDialect().str() + "()"};
  case Shared::Kind::View:
    return rawView(one.value);
  case Shared::Kind::Tile:
    return partText(one.value);
  case Shared::Kind::Position:
    break;
  }
  if (code_.isCounting())
    countParts(one.dim);
  return positions_.text(one.dim, [&](Value leaf) { return valueText(code_, leaf); });
}

/// Divisions and bounds inside of a position may occur elsewhere, too.
void BlockBody::countParts(Dim dim) {
  for (const DimTerm &term : dim.terms())
    for (const DimFactor &factor : term.monomial->factors) {
      if (factor.atom->kind == DimAtomKind::Symbol)
        continue;
      if (Dim atom = positions_.dims().atomDim(*factor.atom); !(atom == dim))
        dimText(atom, "n");
      else
        for (Dim operand : factor.atom->operands)
          countParts(operand);
    }
}

Expression BlockBody::dimText(Dim dim, const std::string &hint) {
  if (dim.isConstant() || dim.symbol())
    return positions_.text(dim, [&](Value leaf) { return valueText(code_, leaf); });
  std::string key = "#" + std::to_string(dim.id());
  if (auto found = sharedByKey_.find(key); found != sharedByKey_.end())
    if (Shared &one = shared_[found->second]; one.hint == "n")
      one.hint = hint;
  return share(key, {Shared::Kind::Position, dim, {}, hint});
}

std::optional<Expression> BlockBody::positionText(Value value) {
  if (!value.getType().isIndex())
    return std::nullopt;
  Dim dim = positions_.of(value);
  if (positions_.isLeaf(dim, value))
    return std::nullopt;
  return dimText(dim, "n");
}

Expression BlockBody::positionAs(Value value, const char *hint) {
  return dimText(positions_.of(value), hint);
}

} // namespace ptl::source
