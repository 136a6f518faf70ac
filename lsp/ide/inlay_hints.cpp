#include "lsp/ide/inlay_hints.h"

#include "frontend/sema/placement/placement_text.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/actions/trial.h"
#include "lsp/ide/call_context.h"
#include "lsp/ide/hover.h"

#include <algorithm>

namespace ptl::ide {
namespace {

/// The hints of one chunk in a range of its bytes.
class Finder {
public:
  Finder(Workspace &workspace, File &file, size_t index, const HintOptions &options)
      : options_(options), check_(workspace.check(file, index)),
        place_(file.document.places()[index]), tree_(*place_.chunk->tree) {}

  void visit(NodeId node, Range range);

  std::vector<InlayHint> hints;

private:
  DimContext &dims() const { return *check_.program->dims; }
  const CallableDecl *callable(uint32_t offset) const {
    return callableAt(*check_.program, offset);
  }
  void add(uint32_t offset, HintKind kind, std::vector<LabelPart> label) {
    hints.push_back({offset, kind, std::move(label)});
  }
  std::string placement(const Local &local, uint32_t offset) const;
  const Local *localOf(NodeId node) const {
    auto found = check_.program->localOfNode.find(node);
    return found == check_.program->localOfNode.end() ? nullptr : found->second;
  }
  const Expr *exprOf(NodeId node) const {
    auto found = check_.program->exprOfNode.find(node);
    return found == check_.program->exprOfNode.end() ? nullptr : found->second;
  }
  void binding(NodeId node);
  void typeHint(NodeId name, NodeId value);
  void loop(NodeId node);
  void call(NodeId node);

  const HintOptions &options_;
  const ChunkCheck &check_;
  const Place &place_;
  const Tree &tree_;
};

bool isLiteral(const Tree &tree, NodeId node) {
  switch (tree.kind(node)) {
  case NodeKind::IntLiteral:
  case NodeKind::SizeLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::BoolLiteral:
  case NodeKind::StringLiteral:
    return true;
  case NodeKind::UnaryExpr:
    return isLiteral(tree, UnaryExprView(tree, node).operand());
  case NodeKind::ListExpr:
    return true;
  default:
    return false;
  }
}

void Finder::typeHint(NodeId name, NodeId value) {
  const Local *local = tree_.is(name, NodeKind::Name) ? localOf(name) : nullptr;
  if (!local || !local->type)
    return;
  const Type &type = *local->type;
  // Other types have no spelling that a hint could show.
  switch (type.kind) {
  case TypeKind::Scalar:
  case TypeKind::Array:
  case TypeKind::Struct:
  case TypeKind::Tuple:
    break;
  default:
    return;
  }
  // The type of a literal is plain to see.
  if (type.isScalar() && value != kNoNode && isLiteral(tree_, value))
    return;
  std::vector<LabelPart> label = typeParts(dims(), type);
  label.insert(label.begin(), LabelPart{": ", {}});
  size_t ofType = label.size();
  uint32_t end = tree_.span(name).end;
  // Sizes depend on tunables, whose defaults are used.
  auto size = type.isArray() ? constantSize(dims(), type, tunableDefaults(dims(), callable(end)))
                             : std::nullopt;
  int64_t count = pipelineCopies(*check_.program, tree_, name, value);
  // A pipelined loop has several copies of a tile.
  if (options_.capacities && (size || count > 1)) {
    std::string times = count > 1 ? " " + std::to_string(count) + " ×" : "";
    label.push_back({times + (size ? " " + bytesText(*size) : ""), {}});
  }
  if (std::string part = placement(*local, end); options_.capacities && !part.empty())
    label.push_back({std::move(part), {}});
  add(end, HintKind::Type, std::move(label));
  hints.back().ofType = ofType;
}

/// ` over chip by F · f32[B, cdiv(F, chips)] · 4*B*cdiv(F, chips) B` where a program places its
/// arrays: what a part has, and its bytes.
std::string Finder::placement(const Local &local, uint32_t offset) const {
  const PlacedProgram *placed = placedAt(check_, offset);
  std::optional<ValueId> value = placed ? placedValue(*placed, local) : std::nullopt;
  std::string where = value ? placementText(dims(), *placed, *value) : std::string();
  if (where.empty())
    return where;
  return where + " · " + partTypeText(dims(), *placed, *value) + " · " +
         partBytesText(dims(), *placed, *value);
}

void Finder::binding(NodeId node) {
  VarStmtView view(tree_, node); // `let` has the same slots
  if (!options_.types || view.type() != kNoNode)
    return;
  if (tree_.is(view.pattern(), NodeKind::TuplePattern)) {
    for (NodeId name : TuplePatternView(tree_, view.pattern()).elements())
      if (name != kNoNode)
        typeHint(name, kNoNode);
  } else {
    typeHint(view.pattern(), view.value());
  }
}

/// `: ≤ 64` where the size of tiles is not written as a number.
void Finder::loop(NodeId node) {
  if (!options_.capacities || !tree_.is(LoopView(tree_, node).bindings(), NodeKind::LoopBindings))
    return;
  for (NodeId each : tree_.children(LoopView(tree_, node).bindings())) {
    if (!tree_.is(each, NodeKind::LoopBinding))
      continue;
    NodeId name = LoopBindingView(tree_, each).pattern();
    const Local *local = tree_.is(name, NodeKind::Name) ? localOf(name) : nullptr;
    if (!local || !local->type || local->type->kind != TypeKind::Range || !local->type->range)
      continue;
    const RangeInfo &range = *local->type->range;
    // The capacity is the tighter bound.
    Dim bound = range.capacity ? range.capacity : range.size;
    // A number in the text needs no hint.
    if (!bound || bound.isConstant())
      continue;
    uint32_t end = tree_.span(name).end;
    auto value = dims().substitute(bound, tunableDefaults(dims(), callable(end))).constant();
    if (!value)
      continue;
    auto symbol = bound.symbol();
    add(end, HintKind::Capacity,
        {{" ≤ ", {}}, {std::to_string(*value), symbol ? dims().symbol(*symbol).span : Span{}}});
  }
}

/// Names where an argument does not say what it is for.
void Finder::call(NodeId node) {
  if (!options_.parameters)
    return;
  CallExprView view(tree_, node);
  const Expr *expr = exprOf(node);
  if (!expr)
    return;
  size_t position = 0;
  for (NodeId arg : view.args()) {
    size_t own = position++;
    if (!tree_.is(arg, NodeKind::Arg) || ArgView(tree_, arg).name() != kNoNode ||
        // Only literals do not say what they are for.
        !isLiteral(tree_, ArgView(tree_, arg).value()))
      continue;
    std::string name;
    Span definition;
    if (expr->kind == ExprKind::Call) {
      const auto &params = cast<CallExpr>(expr)->callee->params;
      if (own < params.size())
        name = params[own]->name, definition = params[own]->span;
    } else if (expr->kind == ExprKind::StructMake) {
      const auto &fields = cast<StructMakeExpr>(expr)->decl->fields;
      if (own < fields.size())
        name = fields[own].name, definition = fields[own].span;
    } else if (expr->kind == ExprKind::Op && cast<OpExpr>(expr)->op) {
      auto params = cast<OpExpr>(expr)->op->params;
      // The operands of a built-in need no names; its options do.
      if (own > 0 && own < params.size() && params[own].kind != ParamKind::Value &&
          !params[own].variadic)
        name = params[own].name;
    }
    if (!name.empty())
      add(tree_.span(arg).begin, HintKind::Parameter, {{name + ":", definition}, {" ", {}}});
  }
}

void Finder::visit(NodeId node, Range range) {
  Span span = tree_.span(node);
  // Subtrees outside of the range are skipped.
  if (span.end < range.begin || span.begin > range.end)
    return;
  switch (tree_.kind(node)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
    binding(node);
    break;
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
    loop(node);
    break;
  case NodeKind::CallExpr:
    call(node);
    break;
  default:
    break;
  }
  for (NodeId child : tree_.children(node))
    if (child != kNoNode)
      visit(child, range);
}

} // namespace

/// The hints in the bytes `range` of a chunk, and perhaps others.
static std::vector<InlayHint> hintsNear(Workspace &workspace, File &file, size_t index, Range range,
                                        const HintOptions &options) {
  Finder finder(workspace, file, index, options);
  finder.visit(file.document.places()[index].chunk->tree->root(), range);
  // Hints are found by statement and sorted by place.
  std::sort(finder.hints.begin(), finder.hints.end(),
            [](const InlayHint &a, const InlayHint &b) { return a.offset < b.offset; });
  return std::move(finder.hints);
}

std::vector<InlayHint> chunkHints(Workspace &workspace, File &file, size_t place,
                                  const HintOptions &options) {
  uint32_t size = file.document.places()[place].chunk->size();
  return hintsNear(workspace, file, place, {0, size}, options);
}

std::vector<InlayHint> inlayHints(Workspace &workspace, File &file, Range range,
                                  const HintOptions &options) {
  std::vector<InlayHint> all;
  size_t last = file.document.placeAt(range.end);
  for (size_t i = file.document.placeAt(range.begin); i <= last; ++i) {
    const Place &place = file.document.places()[i];
    Range own{std::max(range.begin, place.begin) - place.begin,
              std::min(range.end - place.begin, place.chunk->size())};
    uint32_t begin = place.begin;
    for (InlayHint &hint : hintsNear(workspace, file, i, own, options)) {
      hint.offset += begin;
      // A node that overlaps the range may have hints outside of it.
      if (range.contains(hint.offset))
        all.push_back(std::move(hint));
    }
  }
  return all;
}

// ---- Details ------------------------------------------------------------------------------------

/// The type alone, without what stands behind it.
static std::string typeText(const InlayHint &hint) {
  return joined({hint.label.begin(), hint.label.begin() + static_cast<ptrdiff_t>(hint.ofType)});
}

static std::string parameterTooltip(Workspace &workspace, const InlayHint &hint) {
  Location location = workspace.locate(hint.label.front().definition);
  File *declaring = location ? workspace.find(location.file->path()) : nullptr;
  auto hover = declaring ? hoverAt(workspace, *declaring, location.range.begin) : std::nullopt;
  return hover ? hover->markdown : "";
}

std::optional<HintDetails> hintDetails(Workspace &workspace, File &file, uint32_t offset,
                                       HintKind kind) {
  // The hint is found again by its place, because the text may have changed.
  std::vector<InlayHint> hints = inlayHints(workspace, file, {offset, offset}, {});
  auto hint = std::find_if(hints.begin(), hints.end(),
                           [&](const InlayHint &each) { return each.kind == kind; });
  if (hint == hints.end())
    return std::nullopt;
  HintDetails details{hint->label, "", std::nullopt};
  std::string insertion;
  if (kind == HintKind::Parameter) {
    details.tooltip = parameterTooltip(workspace, *hint);
    insertion = joined(hint->label);
  } else if (auto hover = hoverAt(workspace, file, offset)) {
    details.tooltip = hover->markdown;
    if (kind == HintKind::Type)
      insertion = typeText(*hint);
  }
  if (insertion.empty())
    return details;
  size_t index = file.document.placeAt(offset);
  uint32_t own = offset - file.document.places()[index].begin;
  // The hint may be inserted as text only if that would be correct.
  if (tryEdits(workspace, file, index, {{{own, own}, insertion}}).added.empty())
    details.insertion = insertion;
  return details;
}

} // namespace ptl::ide
