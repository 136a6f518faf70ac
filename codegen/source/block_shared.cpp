#include "codegen/source/block_shared.h"

#include "codegen/source/block_tiles.h"
#include "codegen/source/block_views.h"
#include "codegen/source/tile_expressions.h"
#include "frontend/base/word_char.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <tuple>

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

/// Divisions and bounds inside of a position, which may occur elsewhere, too.
static void forEachPart(BlockCode &code, Dim dim, llvm::function_ref<void(Dim)> body) {
  for (const DimTerm &term : dim.terms())
    for (const DimFactor &factor : term.monomial->factors) {
      if (factor.atom->kind == DimAtomKind::Symbol)
        continue;
      if (Dim atom = code.positions().dims().atomDim(*factor.atom); !(atom == dim))
        body(atom);
      else
        for (Dim operand : factor.atom->operands)
          forEachPart(code, operand, body);
    }
}

static std::string keyOf(Dim dim) { return "#" + std::to_string(dim.id()); }

/// The earlier one of two statements, in the innermost block that has both.
static Operation *earlier(Operation *a, Operation *b) {
  Operation *first = commonAnchor(a, b), *second = commonAnchor(b, a);
  return first->getBlock() == second->getBlock() && second->isBeforeInBlock(first) ? second : first;
}

/// Parts are named no later than the positions that consist of them. They were counted where the first use
/// of a position is, of which others may stand outside of that block.
static void placeParts(BlockCode &code) {
  for (bool changes = true; changes;) {
    changes = false;
    for (SharedText &one : code.shared().all) {
      if (one.kind != SharedText::Kind::Position)
        continue;
      forEachPart(code, one.dim, [&](Dim part) {
        auto found = code.shared().byKey.find(keyOf(part));
        if (found == code.shared().byKey.end())
          return;
        SharedText &own = code.shared().all[found->second];
        Operation *place = earlier(own.anchor, one.anchor);
        changes |= place != own.anchor;
        own.anchor = place;
      });
    }
  }
}

void raiseAnchors(BlockCode &code) {
  placeParts(code);
  for (SharedText &one : code.shared().all) {
    if (one.kind != SharedText::Kind::Position)
      continue;
    Block *block = one.anchor->getBlock();
    Operation *first = &block->front();
    // A position is named as early as all that it consists of is there, so that every use stands
    // behind its name.
    for (Value leaf : code.positions().leavesOf(one.dim))
      if (Operation *made = leaf.getDefiningOp(); made && !isIdentity(made))
        if (Operation *here = block->findAncestorOpInBlock(*made);
            here && first->isBeforeInBlock(here->getNextNode()))
          first = here->getNextNode();
    if (first->isBeforeInBlock(one.anchor))
      one.anchor = first;
  }
}

constexpr size_t kLong = 8; ///< of positions that get a name where they occur twice

static bool needsName(const SharedText &one, const std::string &text) {
  if (isInCondition(one.anchor))
    return false;
  bool isPlain = std::all_of(text.begin(), text.end(), isWordChar);
  switch (one.kind) {
  case SharedText::Kind::Identity:
  case SharedText::Kind::View:
    return true;
  case SharedText::Kind::Position: {
    bool isStart = one.hint == "row" || one.hint == "col";
    return one.count > 1 && !isPlain && (isStart || weightOf(text) >= kLong);
  }
  case SharedText::Kind::Tile: {
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

static void countParts(BlockCode &code, Dim dim) {
  forEachPart(code, dim, [&](Dim part) { dimText(code, part, "n"); });
}

static Expression textOfShared(BlockCode &code, const SharedText &one) {
  switch (one.kind) {
  case SharedText::Kind::Identity:
    return {one.value.getDefiningOp()->getName().stripDialect().str() + "()"};
  case SharedText::Kind::View:
    return tensorViewText(code, one.value);
  case SharedText::Kind::Tile:
    return partText(code, one.value);
  case SharedText::Kind::Position:
    break;
  }
  if (code.isCounting())
    countParts(code, one.dim);
  return code.positions().text(one.dim, [&](Value leaf) { return valueText(code, leaf); });
}

Expression shareText(BlockCode &code, const std::string &key, SharedText one) {
  auto [found, isNew] = code.shared().byKey.try_emplace(key, code.shared().all.size());
  if (isNew)
    code.shared().all.push_back(std::move(one));
  SharedText &own = code.shared().all[found->second];
  if (code.isCounting()) {
    // The first printing only counts uses, and finds the statement in front of which a name would be known to all of them. From the second
    // use on the text itself does not matter.
    own.anchor = own.anchor ? commonAnchor(own.anchor, code.statement()) : code.statement();
    if (own.count++ > 0)
      return {"n"};
    return textOfShared(code, own);
  }
  if (!own.name.empty())
    return {own.name};
  Expression text = textOfShared(code, own);
  if (!needsName(own, text.text))
    return text;
  bool isCount = own.hint == "n" && llvm::StringRef(text.text).starts_with("cdiv(");
  own.name = code.names().fresh(isCount ? "tiles" : own.hint);
  code.line("let " + own.name + " = " + text.text);
  if (own.kind == SharedText::Kind::Position)
    code.positions().abbreviate(own.dim, own.name, code.statement()->getBlock());
  return {own.name};
}

void printSharedBefore(BlockCode &code, Operation *op) {
  if (code.isCounting())
    return;
  struct Here {
    size_t weight;
    std::string text; // of positions
    size_t index;
  };
  std::vector<Here> here;
  for (size_t i = 0; i < code.shared().all.size(); ++i)
    if (SharedText &one = code.shared().all[i]; one.anchor == op && one.name.empty())
      if (std::string text = textOfShared(code, one).text; needsName(one, text)) {
        bool isPosition = one.kind == SharedText::Kind::Position;
        size_t weight = isPosition ? weightOf(text) : 1000;
        here.push_back({weight, isPosition ? std::move(text) : "", i});
      }
  // Short ones come first: longer ones may contain them and then use their names. Others of one weight
  // stand in the order of their texts, which does not depend on how the kernel was written.
  std::stable_sort(here.begin(), here.end(), [](const Here &a, const Here &b) {
    return std::tie(a.weight, a.text) < std::tie(b.weight, b.text);
  });
  for (const auto &[weight, text, index] : here)
    for (const auto &[key, at] : code.shared().byKey)
      if (at == index)
        shareText(code, key, {});
}

Expression dimText(BlockCode &code, Dim dim, const std::string &hint) {
  if (dim.isConstant() || dim.symbol())
    return code.positions().text(dim, [&](Value leaf) { return valueText(code, leaf); });
  std::string key = keyOf(dim);
  if (auto found = code.shared().byKey.find(key); found != code.shared().byKey.end())
    if (SharedText &one = code.shared().all[found->second]; one.hint == "n")
      one.hint = hint;
  return shareText(code, key, {SharedText::Kind::Position, dim, {}, hint});
}

Expression indexText(BlockCode &code, Value value, const char *hint) {
  return dimText(code, code.positions().of(value), hint);
}

} // namespace ptl::source
