#include "frontend/sema/placement/level_counts.h"

#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <set>

namespace ptl {

std::string countName(std::string_view level) { return std::string(level) + "s"; }

bool isCountName(std::string_view name) {
  constexpr std::string_view levels[] = {"chip", "host", "pod", "superpod", "cluster"};
  return std::ranges::any_of(levels,
                             [&](std::string_view level) { return countName(level) == name; });
}

namespace {

/// How a program uses the names that could be numbers of parts.
struct NamesUsed {
  std::set<std::string_view> read;     ///< as values or dimensions
  std::set<std::string_view> declared; ///< by the program itself
  std::set<std::string_view> levels;   ///< over which a `parts` goes
};

class CountNames {
public:
  CountNames(const Tree &tree, NodeId decl) : tree_(tree), decl_(decl) {}

  NamesUsed run() {
    const Node &node = tree_.node(decl_);
    for (TokenIndex token = node.firstToken; token < node.endToken; ++token)
      if (tree_.tokenKind(token) == TokenKind::Identifier)
        add(tree_.tokenText(token), tree_.nodeAt(tree_.token(token).begin));
    return std::move(used_);
  }

private:
  void add(std::string_view name, NodeId node) {
    if (tree_.is(node, NodeKind::Name)) {
      if (isDeclaration(node))
        used_.declared.insert(name);
      return;
    }
    if (!tree_.is(node, NodeKind::NameExpr))
      return;
    NodeId parent = tree_.parent(node);
    if (tree_.is(parent, NodeKind::ListExpr))
      parent = tree_.parent(parent);
    if (tree_.is(parent, NodeKind::Arg) && namesLevels(parent)) {
      // A level, which is no value.
      NodeId call = tree_.parent(parent);
      if (tree_.is(call, NodeKind::CallExpr) &&
          tree_.text(CallExprView(tree_, call).callee()) == "parts")
        used_.levels.insert(name);
      return;
    }
    bool isCallee = tree_.is(parent, NodeKind::CallExpr) && tree_.child(parent, 0) == node;
    if (!isCallee)
      used_.read.insert(name);
  }

  bool namesLevels(NodeId arg) const {
    NodeId name = ArgView(tree_, arg).name();
    return name != kNoNode && tree_.text(name) == "over";
  }

  bool isDeclaration(NodeId name) const {
    switch (tree_.kind(tree_.parent(name))) {
    case NodeKind::TypeParam:
    case NodeKind::DimParam:
    case NodeKind::TuneParam:
    case NodeKind::Param:
    case NodeKind::Result:
    case NodeKind::LetStmt:
    case NodeKind::VarStmt:
    case NodeKind::TuplePattern:
    case NodeKind::LoopBinding:
    case NodeKind::PipeStmt:
      return true;
    default:
      return false;
    }
  }

  const Tree &tree_;
  NodeId decl_;
  NamesUsed used_;
};

class CountDeclarer {
public:
  CountDeclarer(Context &ctx, std::vector<PlacedLevel> levels, NamesUsed used)
      : ctx_(ctx), levels_(std::move(levels)), used_(std::move(used)) {}

  void run() {
    for (const PlacedLevel &level : levels_)
      if (level.name == level.machineLevel) {
        if (isWanted(countName(level.name)) || used_.levels.contains(level.name))
          addCount(level, countName(level.name));
      } else if (isWanted(level.name) || isWanted(countName(level.machineLevel)) ||
                 used_.levels.contains(level.name)) {
        addCount(level, level.name);
      }
    for (const PlacedLevel &level : levels_)
      if (level.name != level.machineLevel && isWanted(countName(level.machineLevel)))
        addProduct(level.machineLevel);
  }

private:
  /// Whether the program reads a name that nothing else has.
  bool isWanted(const std::string &name) {
    return used_.read.contains(name) && !used_.declared.contains(name) &&
           (isOwn(name) || !lookupValue(ctx_, name));
  }
  bool isOwn(const std::string &name) const {
    const Local *local = ctx_.scope.find(name);
    return local && std::ranges::any_of(ctx_.decl->dims, [&](const DimParam &dim) {
             return dim.local == local && dim.isCount();
           });
  }

  Dim declare(const std::string &name, Dim dim) {
    // One that only a `parts` needs may have a name that the program uses otherwise.
    bool isFree = !used_.declared.contains(name) && !lookupValue(ctx_, name);
    Local *local = declareLocal(ctx_, LocalKind::Dimension, isFree ? name : "", ctx_.decl->nameSpan,
                                intType(ctx_), kNoNode, dim);
    if (!local->symbol)
      return local->dim;
    DimParam param;
    param.name = name;
    param.symbol = *local->symbol;
    param.local = local;
    param.span = ctx_.decl->nameSpan;
    param.level = level_;
    ctx_.decl->dims.push_back(std::move(param));
    ctx_.facts.addLessEqual(ctx_.dims.constant(1), local->dim, ctx_.decl->nameSpan);
    return local->dim;
  }

  void addCount(const PlacedLevel &level, const std::string &name) {
    level_ = level.name;
    ctx_.partCounts[level.name] =
        declare(name, level.count ? ctx_.dims.constant(*level.count) : Dim());
  }

  /// The parts of a level that is a mesh are those of all its axes.
  void addProduct(const std::string &machineLevel) {
    Dim product = ctx_.dims.constant(1);
    for (const PlacedLevel &level : levels_)
      if (level.machineLevel == machineLevel)
        product = ctx_.dims.mul(product, ctx_.partCounts[level.name]);
    if (product)
      declareLocal(ctx_, LocalKind::Dimension, countName(machineLevel), ctx_.decl->nameSpan,
                   intType(ctx_), kNoNode, product);
  }

  Context &ctx_;
  std::vector<PlacedLevel> levels_;
  NamesUsed used_;
  std::string level_;
};

} // namespace

void declareLevelCounts(Context &ctx) {
  NodeId node = ctx.decl->syntax;
  if (!ctx.inProgram() || !isPlaced(ctx.tree, node))
    return;
  // The levels below that of the program count.
  if (NodeId clause = ctx.tree.child(node, 4);
      clause != kNoNode && ctx.tree.is(clause, NodeKind::AtClause))
    ctx.decl->level = ctx.text(AtClauseView(ctx.tree, clause).level());
  DiagnosticSink quiet; // Wrong levels are reported when the program is placed.
  if (std::optional<std::vector<PlacedLevel>> levels = levelsOf(ctx.tree, *ctx.decl, quiet))
    CountDeclarer(ctx, std::move(*levels), CountNames(ctx.tree, node).run()).run();
}

} // namespace ptl
