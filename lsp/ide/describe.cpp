#include "lsp/ide/describe.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/placement/placement_text.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ptl::ide {

std::string joined(const std::vector<LabelPart> &parts) {
  std::string text;
  for (const LabelPart &part : parts)
    text += part.text;
  return text;
}

// ---- Types --------------------------------------------------------------------------------------

namespace {

/// Finds the names in the text of a type again, in order.
struct PartMaker {
  const DimContext &dims;
  std::vector<LabelPart> parts;

  void plain(std::string text) {
    if (!parts.empty() && parts.back().definition.file == 0)
      parts.back().text += text;
    else
      parts.push_back({std::move(text), {}});
  }
  void link(std::string text, Span definition) {
    if (definition.file == 0)
      return plain(std::move(text));
    parts.push_back({std::move(text), definition});
  }
  void dim(Dim dim) {
    auto symbol = dim.symbol();
    link(dims.toString(dim), symbol ? dims.symbol(*symbol).span : Span{});
  }
  void extent(const Extent &extent) {
    std::string text = toString(dims, extent);
    if (extent.range && text == extent.range->name)
      link(text, extent.range->span);
    else
      dim(extent.length);
  }
  void shape(const Type &type);
  void type(const Type &type);
};

void PartMaker::shape(const Type &type) {
  plain(type.prefix ? "[.." : "[");
  for (size_t i = 0; i < type.extents.size(); ++i) {
    if (i || type.prefix)
      plain(", ");
    extent(type.extents[i]);
  }
  plain("]");
}

void PartMaker::type(const Type &type) {
  std::string text = toString(dims, type);
  if (type.kind == TypeKind::Array) {
    size_t open = text.find('['), close = text.find(']');
    if (type.elem.param)
      link(text.substr(0, open), type.elem.param->span);
    else
      plain(text.substr(0, open));
    shape(type);
    plain(text.substr(close + 1));
  } else if (type.kind == TypeKind::Struct && type.structDecl) {
    link(type.structDecl->name, type.structDecl->nameSpan);
    plain(text.substr(type.structDecl->name.size()));
  } else if (type.kind == TypeKind::Tuple) {
    plain("(");
    for (size_t i = 0; i < type.elements.size(); ++i) {
      if (i)
        plain(", ");
      this->type(*type.elements[i]);
    }
    plain(")");
  } else {
    plain(text);
  }
}

} // namespace

std::vector<LabelPart> typeParts(const DimContext &dims, const Type &type) {
  PartMaker maker{dims, {}};
  maker.type(type);
  return std::move(maker.parts);
}

// ---- Sizes --------------------------------------------------------------------------------------

DimSubstitution tunableDefaults(DimContext &dims, const CallableDecl *callable) {
  DimSubstitution values;
  if (callable)
    for (const Tunable &tunable : callable->tunables)
      if (tunable.local && tunable.local->symbol && !tunable.isBool)
        values[*tunable.local->symbol] = dims.constant(tunable.defaultValue);
  return values;
}

Dim byteSize(DimContext &dims, const Type &type) {
  bool isScalar = type.kind == TypeKind::Scalar;
  bool isArray =
      type.kind == TypeKind::Array || type.kind == TypeKind::Buffer || type.kind == TypeKind::Pipe;
  if ((!isScalar && !isArray) || type.elem.param || type.prefix)
    return {};
  Dim size = dims.constant(elemBytes(type.elem.kind));
  if (isArray)
    for (const Extent &extent : type.extents)
      size = dims.mul(size, extent.capacity ? extent.capacity : extent.length);
  return size;
}

std::string bytesText(int64_t bytes) {
  constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units))
    value /= 1024, ++unit;
  char text[32];
  bool isWhole = value == std::floor(value);
  std::snprintf(text, sizeof text, isWhole ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::optional<int64_t> constantSize(DimContext &dims, const Type &type,
                                    const DimSubstitution &defaults) {
  Dim size = byteSize(dims, type);
  return size ? dims.substitute(size, defaults).constant() : std::nullopt;
}

std::string sizeText(DimContext &dims, const Type &type, const DimSubstitution &defaults) {
  Dim size = byteSize(dims, type);
  if (!size)
    return "";
  size = dims.substitute(size, defaults);
  if (auto bytes = size.constant())
    return bytesText(*bytes);
  return size ? dims.toString(size) + " B" : "";
}

const CallableDecl *callableAt(const CheckedProgram &program, uint32_t offset) {
  if (!program.modules.empty())
    for (const CallableDecl *callable : program.modules[0]->callables)
      if (callable->span.begin <= offset && offset <= callable->span.end)
        return callable;
  return nullptr;
}

const PlacedProgram *placedAt(const ChunkCheck &check, uint32_t offset) {
  // Most chunks have none, and need not be looked into.
  const CallableDecl *decl = check.placed.empty() ? nullptr : callableAt(*check.program, offset);
  for (const PlacedAsFar &each : check.placed)
    if (decl && each.program.decl == decl)
      return &each.program;
  return nullptr;
}

std::optional<ValueId> placedValue(const PlacedProgram &placed, const Local &local) {
  for (const auto &[name, value] : placed.locals)
    if (name == &local)
      return value;
  return std::nullopt;
}

std::optional<ValueId> placedValue(const PlacedProgram &placed, const Expr &expr) {
  if (expr.kind == ExprKind::LocalRef)
    return placedValue(placed, *cast<LocalRefExpr>(expr).local);
  for (ValueId id = 0; id < placed.values.size(); ++id)
    if (const PlacedValue &value = placed.values[id];
        value.expr == &expr && value.kind != PlacedKind::Slice)
      return id;
  return std::nullopt;
}

std::string partBytesText(const DimContext &dims, const PlacedProgram &placed, ValueId value) {
  PartBytes bytes = partBytes(dims, placed, value);
  return bytes.number ? bytesText(*bytes.number) : bytes.text + " B";
}

int64_t pipelineCopies(const CheckedProgram &program, const Tree &tree, NodeId name, NodeId value) {
  auto exprOf = [&](NodeId node) -> const Expr * {
    auto found = program.exprOfNode.find(node);
    return found == program.exprOfNode.end() ? nullptr : found->second;
  };
  const Expr *expr = exprOf(value);
  if (!expr || expr->kind != ExprKind::Index || !cast<IndexExpr>(expr)->isLoad)
    return 1;
  for (NodeId node = tree.parent(name); node != kNoNode; node = tree.parent(node)) {
    if (!tree.is(node, NodeKind::ForStmt))
      continue;
    NodeId depth = LoopView(tree, node).pipeline();
    const Expr *count = exprOf(depth);
    if (count && count->kind == ExprKind::Const)
      return cast<ConstExpr>(count)->intValue;
    return tree.is(depth, NodeKind::IntLiteral) ? std::atoll(std::string(tree.text(depth)).c_str())
                                                : 1;
  }
  return 1;
}

std::string valueText(const Expr &expr) {
  if (expr.kind != ExprKind::Const || !expr.type->isScalar())
    return "";
  const auto &value = cast<ConstExpr>(expr);
  ElemKind kind = expr.type->elem.kind;
  if (expr.type->elem.param || isFloat(kind)) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value.floatValue);
    return text;
  }
  if (kind == ElemKind::Bool)
    return value.intValue ? "true" : "false";
  return kind == ElemKind::U64 ? std::to_string(static_cast<uint64_t>(value.intValue))
                               : std::to_string(value.intValue);
}

} // namespace ptl::ide
