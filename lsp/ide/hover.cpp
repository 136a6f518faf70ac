#include "lsp/ide/hover.h"
#include "frontend/syntax/kinds.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/placement_text.h"
#include "frontend/sema/placement/pool_call.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/describe.h"
#include "lsp/ide/describe_signature.h"
#include "lsp/ide/symbol.h"
#include "lsp/ide/symbol_at.h"
#include "lsp/ide/words.h"

#include <algorithm>

namespace ptl::ide {
namespace {

/// Writes the hover of one symbol or expression.
class Writer {
public:
  Writer(Workspace &workspace, File &file, size_t place, const ChunkCheck &check)
      : workspace_(workspace), file_(file), place_(file.document.places()[place]), check_(check),
        tree_(*place_.chunk->tree) {}

  std::string symbol(const Symbol &symbol);
  std::string expression(const Expr &expr, NodeId node);

private:
  DimContext &dims() const { return *check_.program->dims; }
  std::string local(const Symbol &symbol);
  std::string builtIn(const Symbol &symbol);
  std::string hardware(const Symbol &symbol);
  std::string word(const Symbol &symbol, std::string_view kind, WordGroup group);
  std::string declarationHead(const Symbol &symbol);
  std::string moduleOf(const Symbol &symbol);
  void fact(std::string text) {
    if (!text.empty())
      facts_ += "\n- " + std::move(text);
  }
  void typeFacts(const Type &type, const CallableDecl *callable);
  void rangeFact(const RangeInfo &range, const CallableDecl *callable);
  void defaultsFact(const CallableDecl *callable, Dim dim);
  void liveFact(const Symbol &symbol);
  void whereFacts(const Symbol &symbol);
  void placementFacts(const PlacedProgram &placed, std::optional<ValueId> value);
  void movementFacts(const Expr &expr, const PlacedProgram *placed);
  void poolFacts(const Expr &expr, const PlacedProgram *placed);
  std::string finish(std::string head) {
    return facts_.empty() ? head : std::move(head) + "\n" + facts_;
  }

  Workspace &workspace_;
  File &file_;
  const Place &place_;
  const ChunkCheck &check_;
  const Tree &tree_;
  std::string facts_;
};

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// ---- Facts about values -------------------------------------------------------------------------

std::string quoted(const DimContext &dims, Dim dim) { return code(dims.toString(dim)); }

/// The values that a text about `dim` was computed with: `BQ = 64, BK = 128`.
std::string usedDefaults(DimContext &dims, const CallableDecl *callable, Dim dim) {
  std::vector<SymbolId> symbols;
  forEachSymbol(dim, [&](SymbolId symbol) { symbols.push_back(symbol); });
  std::string text;
  for (const auto &[symbol, value] : tunableDefaults(dims, callable))
    if (std::find(symbols.begin(), symbols.end(), symbol) != symbols.end())
      text += (text.empty() ? "" : ", ") + dims.symbol(symbol).name + " = " + dims.toString(value);
  return text;
}

void Writer::rangeFact(const RangeInfo &range, const CallableDecl *callable) {
  if (range.name.empty())
    return;
  // A tile has a size, while another range has a length.
  Dim amount = range.size ? range.size : range.length;
  std::string used = usedDefaults(dims(), callable, amount);
  std::string shown = dims().toString(amount);
  // If the amount is a tunable itself, its value says everything.
  if (amount.symbol() && !used.empty())
    shown = used;
  else if (!used.empty())
    shown += " with " + used;
  std::string text = code(range.name) + ": ";
  if (range.size) {
    text += "tile of " + code(shown) + " positions";
    // The last tile is shorter unless the length is known to be the size.
    if (!range.length.isConstant() && range.length != range.size)
      text += ", the last may be shorter";
  } else {
    text += code(shown) + " positions from " + quoted(dims(), range.start);
  }
  fact(text);
}

void Writer::typeFacts(const Type &type, const CallableDecl *callable) {
  if (type.isArray()) {
    Dim size = byteSize(dims(), type);
    std::string text = sizeText(dims(), type, tunableDefaults(dims(), callable));
    bool isBound = false;
    for (const Extent &extent : type.extents)
      // A length below its capacity makes the size an upper bound.
      isBound |= extent.capacity && extent.capacity != extent.length;
    std::string used = usedDefaults(dims(), callable, size);
    // A product of dimensions would be read as emphasis.
    if (text.find('*') != text.npos)
      text = code(text);
    if (!text.empty())
      fact((isBound ? "at most " : "") + text + (used.empty() ? "" : " with " + code(used)));
    if (type.place != ptl::Place::Inferred)
      if (const Word *word = findWord(placeName(type.place), WordGroup::Place))
        fact("in `@" + std::string(word->text) + "`: " + std::string(word->help));
    if (type.layout != Layout::Inferred)
      if (const Word *word = findWord(layoutName(type.layout), WordGroup::Layout))
        fact("layout " + code(word->text) + ": " + std::string(word->help));
    for (const Extent &extent : type.extents)
      if (extent.range)
        rangeFact(*extent.range, callable);
  }
  if (type.kind == TypeKind::Range && type.range)
    rangeFact(*type.range, callable);
}

/// Where an array of a program lies, what one part has of it, and why it is partial.
void Writer::placementFacts(const PlacedProgram &placed, std::optional<ValueId> value) {
  if (!value)
    return;
  std::string where = placementText(dims(), placed, *value);
  if (where.empty())
    return fact("the same on every part");
  fact("lies" + where + ": a part has " + code(partTypeText(dims(), placed, *value)) + ", " +
       code(partBytesText(dims(), placed, *value)));
  fact(partialText(dims(), placed, tree_, *value));
}

/// What a movement does, and what it sends.
void Writer::movementFacts(const Expr &expr, const PlacedProgram *placed) {
  const MovementRecord *movement = movementOf(tree_, expr);
  if (!movement)
    return;
  fact(code(movement->name) + " " + std::string(movement->doc));
  std::optional<ValueId> value = placed ? placedValue(*placed, expr) : std::nullopt;
  if (!value)
    return;
  const PlacedValue &moved = placed->values[*value];
  const PlacedValue &source = placed->values[*moved.operands[0]];
  fact(code(sentText(dims(), placed->levels, moved.level, source, *movement)));
}

/// What a word of a pool does, and what the keys of its pages are made of.
void Writer::poolFacts(const Expr &expr, const PlacedProgram *placed) {
  const PoolUse *use = poolUseOf(&expr);
  if (!use)
    return;
  constexpr std::string_view what[] = {
      "keeps pages from run to run: `if p < find(kv, rows) { kv[p] } else { keep(kv, page) }`",
      "the number of leading pages of these rows that the pool already has",
      "the stored page of that number", "returns the page and stores it in the pool"};
  fact(std::string(what[static_cast<size_t>(use->kind)]));
  if (!placed || use->kind != PoolUse::Kind::Keep)
    return;
  for (const PlacedChoice &choice : placed->choices) {
    if (!choice.page || choice.page->keep != &expr)
      continue;
    std::string key = "its key is made of the program, its parts, and the rows up to its own";
    for (ValueId id : choice.page->source.arguments)
      key += ", " + code(placed->values[id].param->name);
    for (SymbolId number : choice.page->source.numbers)
      key += ", " + code(dims().symbol(number).name);
    fact(key);
  }
}

/// From the first to the last line that speaks of a local; loops that come back to it whole.
void Writer::liveFact(const Symbol &symbol) {
  const Chunk &chunk = *place_.chunk;
  // Uses in another chunk are not known here.
  if (!symbol.chunk || symbol.chunk->id() != chunk.id())
    return;
  uint32_t begin = tree_.span(symbol.nameNode).begin, end = begin;
  size_t reads = 0, writes = 0;
  for (const NameUse &use : namesOf(chunk).uses) {
    if (use.space != NameSpace::Local || use.target != symbol.nameNode)
      continue;
    reads += use.access == Access::Read;
    writes += use.access == Access::Write;
    end = std::max(end, use.end);
    for (NodeId node = use.node; node != kNoNode; node = tree_.parent(node)) {
      bool loops = tree_.is(node, NodeKind::ForStmt) || tree_.is(node, NodeKind::ParallelStmt) ||
                   tree_.is(node, NodeKind::WhileStmt);
      // A loop that begins behind the declaration may come back to the use, so the value lives
      // until its end.
      if (loops && tree_.span(node).begin > begin)
        end = std::max(end, tree_.span(node).end);
    }
  }
  auto lineOf = [&](uint32_t offset) {
    return std::to_string(place_.line + chunk.file.lineColumn(offset).line);
  };
  std::string first = lineOf(begin), last = lineOf(end);
  std::string text =
      first == last ? "live on line " + first : "live on lines " + first + "–" + last;
  text += ", read " + std::to_string(reads) + (reads == 1 ? " time" : " times");
  if (writes)
    text += ", written " + std::to_string(writes) + (writes == 1 ? " time" : " times");
  fact(text);
}

/// The conditions of the header that speak of a name.
void Writer::whereFacts(const Symbol &symbol) {
  if (!symbol.chunk)
    return;
  const Tree &tree = symbol.tree();
  NodeId decl = enclosingDecl(tree, symbol.nameNode);
  bool isCallable = tree.is(decl, NodeKind::FnDecl) || tree.is(decl, NodeKind::KernelDecl) ||
                    tree.is(decl, NodeKind::ProgramDecl);
  NodeId where = isCallable ? CallableView(tree, decl).where() : kNoNode;
  if (where == kNoNode)
    return;
  for (NodeId condition : tree.children(where)) {
    Span span = tree.span(condition);
    // One use in a condition is enough to show it.
    for (const NameUse &use : namesOf(*symbol.chunk).uses)
      if (use.target == symbol.nameNode && use.begin >= span.begin && use.end <= span.end) {
        fact("where " + code(tree.text(condition)));
        break;
      }
  }
}

// ---- Names --------------------------------------------------------------------------------------

std::string Writer::declarationHead(const Symbol &symbol) {
  std::string type;
  const Type *known = symbol.local ? symbol.local->type : nullptr;
  // The type of a range says nothing beyond the facts below.
  if (known && !known->isError() && known->kind != TypeKind::Range)
    type = ": " + toString(dims(), *known);
  switch (symbol.type) {
  case SymbolType::Let:
    return "let " + symbol.name + type;
  case SymbolType::Var:
    return "var " + symbol.name + type;
  case SymbolType::LocalConst:
    return "const " + symbol.name + type;
  case SymbolType::Loop:
  case SymbolType::Param:
  case SymbolType::Output:
    if (!type.empty())
      return symbol.name + type;
    [[fallthrough]];
  default:
    // Without a type the text of the declaration is shown.
    break;
  }
  const Tree &tree = symbol.tree();
  std::string_view text = tree.text(symbol.declNode);
  // A declaration with a body is shown by its head.
  return (symbol.type == SymbolType::Tunable ? "tune " : "") +
         std::string(text.substr(0, std::min(text.find('{'), text.find('\n'))));
}

std::string Writer::local(const Symbol &symbol) {
  std::string head = codeBlock(declarationHead(symbol)) + "\n" + std::string(words(symbol.type));
  const CallableDecl *callable = callableAt(*check_.program, tree_.span(symbol.node).begin);
  // The callable of this chunk encloses the symbol only if that is in the chunk too.
  if (callable && !callable->name.empty() && symbol.chunk &&
      symbol.chunk->id() == place_.chunk->id())
    head += " of " + code(callable->name);
  if (symbol.valueType)
    typeFacts(*symbol.valueType, callable);
  bool isHere = symbol.local && symbol.chunk && symbol.chunk->id() == place_.chunk->id();
  if (const PlacedProgram *placed =
          isHere ? placedAt(check_, tree_.span(symbol.node).begin) : nullptr)
    placementFacts(*placed, placedValue(*placed, *symbol.local));
  // A name that is a plain symbol would only repeat itself.
  if (symbol.local && symbol.local->dim && !symbol.local->dim.symbol())
    fact("is " + quoted(dims(), symbol.local->dim));
  if (symbol.type == SymbolType::Tunable && callable)
    for (const Tunable &tunable : callable->tunables)
      if (tunable.local == symbol.local) {
        std::string values;
        for (int64_t value : tunable.domain)
          values += (values.empty() ? "" : ", ") + std::to_string(value);
        fact("default " + code(tunable.isBool ? (tunable.defaultValue ? "true" : "false")
                                              : std::to_string(tunable.defaultValue)));
        fact(values.empty() ? "not searched by `ptlc tune`" : "searched among " + code(values));
      }
  if (symbol.type == SymbolType::Dimension)
    fact(symbol.chunk && symbol.tree().has(symbol.declNode, NodeFlag::Static)
             ? "known at compile time"
             : "");
  if (symbol.chunk->id() == place_.chunk->id() && tree_.is(symbol.declNode, NodeKind::LetStmt)) {
    NodeId value = LetStmtView(tree_, symbol.declNode).value();
    int64_t copies = pipelineCopies(*check_.program, tree_, symbol.nameNode, value);
    if (copies > 1)
      fact(std::to_string(copies) + " buffers: the loop is pipelined");
  }
  whereFacts(symbol);
  if (symbol.type == SymbolType::Let || symbol.type == SymbolType::Var ||
      symbol.type == SymbolType::Loop)
    liveFact(symbol);
  return finish(std::move(head));
}

std::string Writer::moduleOf(const Symbol &symbol) {
  return symbol.file && symbol.file != &file_ ? symbol.file->index.name : "";
}

/// `max(f32[i, j], axis: -1) -> f32[i, 1]`, `f32[i, j] * f32 -> f32[i, j]` of what was checked.
std::string callText(const DimContext &dims, const OpExpr &op) {
  std::string name(op.op->name);
  // Operators are no words.
  bool isWord = (name[0] | 0x20) >= 'a' && (name[0] | 0x20) <= 'z';
  // Operators may have optional arguments (`precision`), which only calls give.
  auto isGiven = [&](size_t i) { return op.args.size() > i && op.args[i]; };
  // With a third argument even an operator is written as a call.
  if (!isWord && isGiven(0) && !isGiven(2)) {
    std::string first = toString(dims, *op.args[0]->type), result = toString(dims, *op.type);
    if (isGiven(1))
      return first + " " + name + " " + toString(dims, *op.args[1]->type) + " -> " + result;
    return (name[0] == '.' ? first + name : name + " " + first) + " -> " + result;
  }
  std::string args;
  auto add = [&](const std::string &text) { args += (args.empty() ? "" : ", ") + text; };

  for (const Expr *arg : op.args) {
    if (arg && !arg->type->isError())
      add(toString(dims, *arg->type));
  }
  for (const Expr *arg : op.rest)
    add(toString(dims, *arg->type));
  // Axes are stored apart from operands.
  if (!op.axes.empty()) {
    std::string axes;
    for (int64_t axis : op.axes)
      axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
    add("axis: " + (op.axes.size() == 1 ? axes : "[" + axes + "]"));
  }
  if (args.empty())
    args = "…";
  return name + "(" + args + ") -> " + toString(dims, *op.type);
}

std::string Writer::builtIn(const Symbol &symbol) {
  if (!symbol.op)
    return code(symbol.name) + ": " + std::string(words(symbol.type));
  std::string text;
  const CallableDecl *callable = callableAt(*check_.program, tree_.span(symbol.node).begin);
  const Expr *expr = symbol.expr;
  // The check knows what stands in parentheses by these.
  for (NodeId node = symbol.node; !expr && tree_.is(tree_.parent(node), NodeKind::ParenExpr);) {
    node = tree_.parent(node);
    auto found = check_.program->exprOfNode.find(node);
    expr = found == check_.program->exprOfNode.end() ? nullptr : found->second;
  }
  if (expr && !expr->type->isError()) {
    text = expr->kind == ExprKind::Op ? callText(dims(), cast<OpExpr>(*expr))
                                      : symbol.name + " -> " + toString(dims(), *expr->type);
    text = codeBlock(text) + "\n";
    typeFacts(*expr->type, callable);
    text += facts_.empty() ? "" : facts_ + "\n\n";
    facts_.clear();
  }
  // The facts belong to this call, so they stand before the general help.
  return text + opMarkdown(*symbol.op, symbol.name);
}

std::string Writer::word(const Symbol &symbol, std::string_view kind, WordGroup group) {
  const Word *found = findWord(symbol.name, group);
  std::string text = "**" + code(symbol.name) + "**: " + std::string(kind);
  return found ? text + ", " + std::string(found->help) : text;
}

/// What a number of parts counts.
static std::string countedBy(const std::string &name) {
  std::string level = name.substr(0, name.size() - 1);
  return findWord(level, WordGroup::Level) ? "of the level " + code(level)
                                           : "along the axis " + code(name) + " of the mesh";
}

std::string Writer::hardware(const Symbol &symbol) {
  switch (symbol.type) {
  case SymbolType::Place:
    return word(symbol, "place", WordGroup::Place);
  case SymbolType::Layout:
    return word(symbol, "layout", WordGroup::Layout);
  case SymbolType::Core:
    return word(symbol, "core", WordGroup::Core);
  case SymbolType::Unit:
    // Pipes of each kind of core have their own groups.
    for (WordGroup group : {WordGroup::Pipe, WordGroup::CubePipe, WordGroup::VectorPipe})
      if (findWord(symbol.name, group))
        return word(symbol, "pipe of the machine", group);
    return word(symbol, "core", WordGroup::Core);
  case SymbolType::Level:
    // As a value it is a number.
    if (std::string level = countedBy(symbol.name);
        tree_.is(symbol.node, NodeKind::NameExpr) && !findWord(symbol.name, WordGroup::Level))
      return "**" + code(symbol.name) + "**: the number of parts " + level +
             ", at least 1, which is known when the program starts";
    return word(symbol, "level of the machine", WordGroup::Level);
  case SymbolType::Tag:
  case SymbolType::OpParam: {
    std::string text = "**" + code(symbol.name) + "**: " + std::string(words(symbol.type));
    if (symbol.op)
      text += " of " + code(symbol.op->name);
    if (symbol.param && !symbol.param->doc.empty())
      text += "\n\n" + std::string(symbol.param->doc);
    return text;
  }
  case SymbolType::ElementType: {
    auto kind = elemKindByName(symbol.name);
    if (!kind)
      return "";
    const ElemInfo &info = elemInfo(*kind);
    std::string text = "**" + code(symbol.name) + "**: " + std::to_string(info.bits) + " bits, " +
                       std::to_string(info.storageBytes) + " B in memory, products accumulate in " +
                       code(elemName(info.acc));
    if (info.mantissaBits)
      text += ", " + std::to_string(info.exponentBits) + " bits of exponent and " +
              std::to_string(info.mantissaBits) + " of fraction";
    return text;
  }
  default: {
    const Word *found = findWord(symbol.name);
    std::string text = "**" + code(symbol.name) + "**";
    return found ? text + ": " + std::string(found->help)
                 : text + ": " + std::string(words(symbol.type));
  }
  }
}

/// Explains a field of a range.
std::string rangeField(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> fields[] = {
      {"start", "the first position of the range"},
      {"end", "the position after the last one of the range"},
      {"len", "the number of positions in the range"},
      {"size", "the size of the tiles; the last may be shorter"},
      {"count", "the number of the tile, from 0"}};
  for (const auto &[field, text] : fields)
    if (field == name)
      return "**" + code(name) + "**: " + std::string(text);
  return "";
}

std::string Writer::symbol(const Symbol &symbol) {
  if (symbol.type == SymbolType::BuiltIn)
    return builtIn(symbol);
  if (symbol.type == SymbolType::Module)
    return codeBlock("import " + symbol.name) + "\nmodule " + code(symbol.file->path());
  if (symbol.type == SymbolType::RangeField) {
    std::string text = rangeField(symbol.name);
    if (symbol.expr && symbol.expr->dim)
      text += "\n- is " + quoted(dims(), symbol.expr->dim);
    return text;
  }
  if (!symbol.chunk)
    return hardware(symbol);
  if (isLocal(symbol.type))
    return local(symbol);
  const Tree &tree = symbol.tree();
  if (symbol.type == SymbolType::Field) {
    if (symbol.valueType)
      typeFacts(*symbol.valueType, nullptr);
    return finish(codeBlock(tree.text(symbol.declNode)) + "\nfield of " +
                  code(tree.text(tree.child(tree.parent(symbol.declNode), 0))));
  }
  std::string text = declarationMarkdown(tree, symbol.declNode, moduleOf(symbol));
  if (symbol.type == SymbolType::Const && symbol.expr)
    if (std::string value = valueText(*symbol.expr); !value.empty())
      fact("is " + code(value));
  if (symbol.expr && symbol.expr->kind == ExprKind::Call && !symbol.expr->type->isError()) {
    fact("gives " + code(toString(dims(), *symbol.expr->type)));
    typeFacts(*symbol.expr->type, callableAt(*check_.program, tree_.span(symbol.node).begin));
  }
  return finish(std::move(text));
}

std::string Writer::expression(const Expr &expr, NodeId node) {
  if (expr.type->isError() || expr.type->kind == TypeKind::Void)
    return "";
  std::string source(tree_.text(node));
  constexpr size_t mostShown = 60;
  // A long expression is cut, because the client shows it in one line.
  if (size_t cut = source.find('\n'); cut != source.npos || source.size() > mostShown)
    source = source.substr(0, std::min(cut, mostShown)) + " …";
  std::string head = codeBlock(source + ": " + toString(dims(), *expr.type));
  const CallableDecl *callable = callableAt(*check_.program, tree_.span(node).begin);
  typeFacts(*expr.type, callable);
  const PlacedProgram *placed = placedAt(check_, tree_.span(node).begin);
  movementFacts(expr, placed);
  poolFacts(expr, placed);
  if (placed)
    placementFacts(*placed, placedValue(*placed, expr));
  // A value that is the source itself is no news.
  if (std::string value = valueText(expr); !value.empty() && value != source)
    fact("is " + code(value));
  else if (expr.dim && !expr.dim.isConstant())
    fact("is " + quoted(dims(), expr.dim));
  return finish(std::move(head));
}

} // namespace

/// The innermost expression around a byte that the check knows.
static std::optional<Hover> expressionAt(Workspace &workspace, File &file, uint32_t offset) {
  size_t index = file.document.placeAt(offset);
  const ChunkCheck &check = workspace.check(file, index);
  const Place &place = file.document.places()[index];
  const Tree &tree = *place.chunk->tree;
  uint32_t own = std::min(offset - place.begin, place.chunk->size());
  // Outside of expressions there is nothing to show.
  for (NodeId node = tree.nodeAt(own); node != kNoNode; node = tree.parent(node)) {
    NodeKind kind = tree.kind(node);
    if (kind == NodeKind::Block || isDeclaration(kind))
      return std::nullopt;
    auto found = check.program->exprOfNode.find(node);
    if (found == check.program->exprOfNode.end())
      continue;
    std::string text = Writer(workspace, file, index, check).expression(*found->second, node);
    Span span = tree.span(node);
    // The place may lie beyond the expression, in the space behind it.
    if (text.empty() || own < span.begin || own > span.end)
      return std::nullopt;
    return Hover{text, {place.begin + span.begin, place.begin + span.end}};
  }
  return std::nullopt;
}

std::optional<Hover> hoverAt(Workspace &workspace, File &file, uint32_t offset) {
  offset = std::min(offset, file.document.size());
  // A name comes first; an expression around it is shown where there is none.
  if (auto symbol = symbolAt(workspace, file, offset)) {
    std::string text = Writer(workspace, file, symbol->place, *symbol->check).symbol(*symbol);
    if (!text.empty())
      return Hover{std::move(text), symbol->range};
  }
  return expressionAt(workspace, file, offset);
}

} // namespace ptl::ide
