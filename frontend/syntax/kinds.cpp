// What the table of node kinds says, as functions; and the dump, which needs nothing else.

#include "frontend/syntax/kinds.h"

#include <algorithm>

namespace ptl {
namespace {

struct KindInfo {
  std::string_view name;
  std::vector<std::string_view> slots;
};

const std::vector<KindInfo> &kindInfos() {
  static const std::vector<KindInfo> infos = {
#define SLOT(I, NAME) #NAME,
#define OPT(I, NAME) #NAME,
#define LIST(I, NAME) #NAME,
#define NODE(KIND, SLOTS) {#KIND, {SLOTS}},
#include "frontend/syntax/node_kinds.def"
  };
  return infos;
}

constexpr struct {
  NodeFlag flag;
  const char *name;
} kFlagNames[] = {{NodeFlag::Pub, " pub"},
                  {NodeFlag::Manual, " manual"},
                  {NodeFlag::Extern, " extern"},
                  {NodeFlag::Static, " static"},
                  {NodeFlag::Inout, " inout"}};

void dumpNode(const Tree &tree, NodeId id, std::string_view slot, unsigned depth,
              std::string &out) {
  out.append(depth * 2, ' ');
  if (!slot.empty())
    out.append(slot).append(": ");
  NodeKind kind = tree.kind(id);
  out += kindName(kind);
  for (const auto &[flag, name] : kFlagNames)
    if (tree.has(id, flag))
      out += name;
  const Node &n = tree.node(id);
  if (n.childCount == 0 || n.mainToken != n.firstToken)
    if (n.firstToken < n.endToken)
      out.append(" `").append(tree.mainText(id)).append("`");
  out += '\n';
  auto children = tree.children(id);
  for (uint32_t i = 0; i < children.size(); ++i)
    if (children[i] != kNoNode)
      dumpNode(tree, children[i], slotName(kind, i), depth + 1, out);
}

} // namespace

std::string_view kindName(NodeKind kind) { return kindInfos()[static_cast<size_t>(kind)].name; }

std::string_view slotName(NodeKind kind, uint32_t index) {
  const auto &slots = kindInfos()[static_cast<size_t>(kind)].slots;
  return slots.empty() ? "" : slots[std::min<size_t>(index, slots.size() - 1)];
}

std::string dump(const Tree &tree) {
  std::string out;
  dumpNode(tree, tree.root(), "", 0, out);
  return out;
}

bool isDeclaration(NodeKind kind) {
  return kind >= NodeKind::ImportDecl && kind <= NodeKind::StructDecl;
}

bool isType(NodeKind kind) {
  switch (kind) {
  case NodeKind::ElementType:
  case NodeKind::NamedType:
  case NodeKind::AccType:
  case NodeKind::InferredType:
  case NodeKind::ArrayType:
  case NodeKind::TupleType:
    return true;
  default:
    return false;
  }
}

} // namespace ptl
