#include "compile/tune/source_moves.h"

#include "compile/entry/reach.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <set>

namespace ptl {

namespace {

/// The questions that the moves ask about the syntax of one declaration.
class DeclSyntax {
public:
  explicit DeclSyntax(const CallableDecl &decl) : decl(decl), tree(*decl.module->tree) {}

  const CallableDecl &decl;
  const Tree &tree;

  template <typename Visit> void forEach(NodeId node, NodeKind kind, const Visit &visit) const {
    if (node == kNoNode)
      return;
    if (tree.is(node, kind))
      visit(node);
    for (NodeId child : tree.children(node))
      forEach(child, kind, visit);
  }
  /// All names within a node, whatever they name.
  std::set<std::string> words(NodeId node) const {
    std::set<std::string> found;
    for (NodeKind kind : {NodeKind::NameExpr, NodeKind::Name})
      forEach(node, kind, [&](NodeId name) { found.emplace(tree.text(name)); });
    return found;
  }
  /// The number of times that a name occurs within a node.
  size_t count(const std::string &name, NodeId node) const {
    size_t found = 0;
    for (NodeKind kind : {NodeKind::NameExpr, NodeKind::Name})
      forEach(node, kind, [&](NodeId each) { found += tree.text(each) == name; });
    return found;
  }
  std::string text(NodeId node) const { return std::string(tree.text(node)); }
  uint32_t line(NodeId node) const {
    std::string_view before = tree.fileText().substr(0, tree.span(node).begin);
    return static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  }
  /// The blanks at the beginning of the line on which a node begins.
  std::string indent(NodeId node) const {
    uint32_t begin = lineBegin(node);
    size_t end = tree.fileText().find_first_not_of(" \t", begin);
    return std::string(tree.fileText().substr(begin, end - begin));
  }
  uint32_t lineBegin(NodeId node) const {
    size_t at = tree.fileText().substr(0, tree.span(node).begin).rfind('\n');
    return at == std::string_view::npos ? 0 : static_cast<uint32_t>(at) + 1;
  }
  /// The whole line of a statement that stands on it alone; nullopt if something else is there.
  std::optional<Span> wholeLine(NodeId statement) const {
    std::string_view file = tree.fileText();
    Span span = tree.span(statement);
    uint32_t begin = lineBegin(statement);
    size_t end = file.find('\n', span.end);
    bool isAlone = end != file.npos &&
                   file.substr(begin, span.begin - begin).find_first_not_of(" \t") == file.npos &&
                   file.substr(span.end, end - span.end).find_first_not_of(" \t") == file.npos;
    return isAlone ? std::optional(Span{span.file, begin, static_cast<uint32_t>(end) + 1})
                   : std::nullopt;
  }
  /// A name that does not occur in the file.
  std::string fresh(std::string name) const {
    // An occurrence in a comment counts as well, which does no harm.
    while (tree.fileText().find(name) != std::string_view::npos)
      name += "_";
    return name;
  }
  /// The names that a loop binds and that its body declares or assigns: all that may differ from
  /// round to round.
  std::set<std::string> changing(NodeId loop) const;
  bool isParam(const std::string &name) const {
    return std::any_of(decl.params.begin(), decl.params.end(),
                       [&](const Local *param) { return param->name == name; });
  }
};

} // namespace

static bool areApart(const std::set<std::string> &one, const std::set<std::string> &other) {
  return std::none_of(one.begin(), one.end(),
                      [&](const std::string &each) { return other.contains(each); });
}

std::set<std::string> DeclSyntax::changing(NodeId loop) const {
  std::set<std::string> names;
  auto add = [&](NodeId node) { names.merge(words(node)); };
  // Loops within it count as well: their variables have no value outside.
  for (NodeKind kind : {NodeKind::LoopBinding, NodeKind::LetStmt, NodeKind::VarStmt})
    forEach(loop, kind, [&](NodeId node) { add(tree.child(node, 0)); });
  for (NodeKind kind : {NodeKind::AssignStmt, NodeKind::AtomicStmt})
    forEach(loop, kind, [&](NodeId node) {
      NodeId target = tree.child(node, 0);
      // Writing an element changes the variable.
      while (tree.is(target, NodeKind::IndexExpr) || tree.is(target, NodeKind::MemberExpr))
        target = tree.child(target, 0);
      add(target);
    });
  return names;
}

/// The kernels of the root file that the entry calls.
static std::vector<DeclSyntax> kernelsOf(const CostQuestion &question) {
  std::vector<DeclSyntax> kernels;
  for (const CallableDecl *decl : reachableFrom(*question.bound.binding.decl))
    // Other files are not edited, and manual kernels say themselves when they load.
    if (decl->module == question.program.modules.front().get() && !decl->isBlockLevel &&
        decl->kind == DeclKind::Kernel)
      kernels.emplace_back(*decl);
  return kernels;
}

/// Calls `visit` with each loop of each kernel, except loops that the checker unrolls.
template <typename Visit> static void forEachLoop(const CostQuestion &question, Visit visit) {
  for (const DeclSyntax &syntax : kernelsOf(question))
    syntax.forEach(syntax.decl.syntax, NodeKind::ForStmt, [&](NodeId loop) {
      if (!syntax.tree.has(loop, NodeFlag::Static))
        visit(syntax, loop);
    });
}

static Span insertionAt(Span span) { return {span.file, span.begin, span.begin}; }

// ---- The grid -----------------------------------------------------------------------------------

std::vector<SourceMove> orderMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  for (const DeclSyntax &syntax : kernelsOf(question))
    syntax.forEach(syntax.decl.syntax, NodeKind::ParallelStmt, [&](NodeId loop) {
      NodeId list = LoopView(syntax.tree, loop).bindings();
      std::span<const NodeId> bindings = syntax.tree.children(list);
      // Exchanging neighbours is enough: further orders result from repeated advice.
      for (size_t i = 0; i + 1 < bindings.size(); ++i) {
        NodeId one = bindings[i], other = bindings[i + 1];
        moves.push_back({AdviceKind::Order,
                         "`" + syntax.text(other) + "` before `" + syntax.text(one) +
                             "` in the grid at line " + std::to_string(syntax.line(loop)),
                         syntax.tree.span(list),
                         {{syntax.tree.span(one), syntax.text(other)},
                          {syntax.tree.span(other), syntax.text(one)}}});
      }
    });
  return moves;
}

// ---- Loops --------------------------------------------------------------------------------------

/// Moves each invariant `let` statement directly in the body of the loop before it.
static void hoistLets(const DeclSyntax &syntax, NodeId loop, std::vector<SourceMove> &moves) {
  const Tree &tree = syntax.tree;
  std::set<std::string> changing = syntax.changing(loop);
  for (NodeId statement : tree.children(LoopView(tree, loop).body())) {
    if (!tree.is(statement, NodeKind::LetStmt))
      continue;
    NodeId pattern = tree.child(statement, 0);
    std::optional<Span> line = syntax.wholeLine(statement);
    // Outside the loop the name must not shadow or clash with anything.
    std::string name = syntax.text(pattern);
    if (!line || !tree.is(pattern, NodeKind::Name) ||
        syntax.count(name, syntax.decl.syntax) > syntax.count(name, loop) ||
        !areApart(syntax.words(tree.child(statement, 2)), changing))
      continue;
    Span at = insertionAt(tree.span(loop));
    moves.push_back(
        {AdviceKind::Hoist,
         "hoist `" + name + "` out of the loop at line " + std::to_string(syntax.line(loop)),
         tree.span(statement),
         {{at, syntax.text(statement) + "\n" + syntax.indent(loop)}, {*line, ""}}});
  }
}

/// The accesses to elements of parameters in a loop, except those that are written.
static std::vector<NodeId> loadsIn(const DeclSyntax &syntax, NodeId loop) {
  const Tree &tree = syntax.tree;
  std::vector<NodeId> loads;
  syntax.forEach(LoopView(tree, loop).body(), NodeKind::IndexExpr, [&](NodeId node) {
    NodeId parent = tree.parent(node), base = tree.child(node, 0);
    bool isTarget =
        (tree.is(parent, NodeKind::AssignStmt) || tree.is(parent, NodeKind::AtomicStmt)) &&
        tree.child(parent, 0) == node;
    if (!isTarget && tree.is(base, NodeKind::NameExpr) && syntax.isParam(syntax.text(base)))
      loads.push_back(node);
  });
  return loads;
}

/// Moves each invariant load within an expression before the loop, under a fresh name.
static void hoistLoads(const DeclSyntax &syntax, NodeId loop, std::vector<SourceMove> &moves) {
  const Tree &tree = syntax.tree;
  std::set<std::string> changing = syntax.changing(loop), known;
  std::vector<NodeId> loads = loadsIn(syntax, loop);
  for (NodeId load : loads) {
    std::string text = syntax.text(load);
    // A load that depends on the loop cannot be moved out of it.
    if (!areApart(syntax.words(load), changing) || !known.insert(text).second)
      continue;
    std::string name = syntax.fresh(syntax.text(tree.child(load, 0)) + "_tile");
    SourceMove move{AdviceKind::Hoist,
                    "hoist the load `" + text + "` out of the loop at line " +
                        std::to_string(syntax.line(loop)),
                    tree.span(load),
                    {{insertionAt(tree.span(loop)),
                      "let " + name + " = " + text + "\n" + syntax.indent(loop)}}};
    for (NodeId other : loads)
      if (syntax.text(other) == text)
        move.edits.push_back({tree.span(other), name});
    moves.push_back(std::move(move));
  }
}

std::vector<SourceMove> hoistMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  forEachLoop(question, [&](const DeclSyntax &syntax, NodeId loop) {
    hoistLets(syntax, loop, moves);
    hoistLoads(syntax, loop, moves);
  });
  return moves;
}

/// Replaces the load `a[i, k]` by `a_rows[:, k]`, with `let a_rows: _ @mat = a[i, :]` before the
/// outer loop.
static void keepLoad(const DeclSyntax &syntax, NodeId outer, NodeId inner, NodeId load,
                     std::vector<SourceMove> &moves) {
  const Tree &tree = syntax.tree;
  std::set<std::string> changing = syntax.changing(outer);
  std::set<std::string> own = syntax.words(tree.child(LoopView(tree, inner).bindings(), 0));
  std::string base = syntax.text(tree.child(load, 0)), kept = base + "[", use = "[";
  size_t chunked = 0;
  std::span<const NodeId> slots = tree.children(load);
  for (size_t i = 1; i < slots.size(); ++i) {
    NodeId pattern = tree.child(tree.child(LoopView(tree, inner).bindings(), 0), 0);
    bool isChunk =
        tree.is(slots[i], NodeKind::NameExpr) && syntax.text(slots[i]) == syntax.text(pattern);
    // All other positions must be the same in every round.
    if (!isChunk && !areApart(syntax.words(slots[i]), changing))
      return;
    chunked += isChunk;
    kept += (i > 1 ? ", " : "") + (isChunk ? ":" : syntax.text(slots[i]));
    use += (i > 1 ? ", " : "") + (isChunk ? syntax.text(slots[i]) : ":");
  }
  // The inner loop must walk exactly one axis, and nothing may write the array.
  if (chunked != 1 || changing.contains(base))
    return;
  std::string name = syntax.fresh(base + "_rows");
  moves.push_back(
      {AdviceKind::Keep,
       "keep `" + kept + "]` in L1 over the loop at line " + std::to_string(syntax.line(outer)),
       tree.span(load),
       {{insertionAt(tree.span(outer)),
         "let " + name + ": _ @mat = " + kept + "]\n" + syntax.indent(outer)},
        {tree.span(load), name + use + "]"}}});
}

std::vector<SourceMove> keepMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  forEachLoop(question, [&](const DeclSyntax &syntax, NodeId outer) {
    const Tree &tree = syntax.tree;
    syntax.forEach(LoopView(tree, outer).body(), NodeKind::ForStmt, [&](NodeId inner) {
      if (tree.children(LoopView(tree, inner).bindings()).size() == 1)
        for (NodeId load : loadsIn(syntax, inner))
          keepLoad(syntax, outer, inner, load, moves);
    });
  });
  return moves;
}

// ---- Split K ------------------------------------------------------------------------------------

namespace {

/// The pattern `parallel … { var acc = …; for k in tiles(K, T) { acc += … } c[…] = acc }`.
struct SumLoop {
  NodeId grid, loop, store;
};

} // namespace

static std::optional<SumLoop> sumLoopIn(const DeclSyntax &syntax, NodeId grid) {
  const Tree &tree = syntax.tree;
  std::span<const NodeId> body = tree.children(LoopView(tree, grid).body());
  // Other statements could use the sum before it is complete.
  if (body.size() != 3 || !tree.is(body[0], NodeKind::VarStmt) ||
      !tree.is(body[1], NodeKind::ForStmt) || !tree.is(body[2], NodeKind::AssignStmt))
    return std::nullopt;
  std::string name = syntax.text(tree.child(body[0], 0));
  std::span<const NodeId> rounds = tree.children(LoopView(tree, body[1]).body());
  bool isSum = rounds.size() == 1 && tree.is(rounds[0], NodeKind::AssignStmt) &&
               tree.mainText(rounds[0]) == "+=" && syntax.text(tree.child(rounds[0], 0)) == name;
  bool isStore = tree.mainText(body[2]) == "=" && syntax.text(tree.child(body[2], 1)) == name &&
                 tree.is(tree.child(body[2], 0), NodeKind::IndexExpr);
  return isSum && isStore ? std::optional(SumLoop{grid, body[1], body[2]}) : std::nullopt;
}

/// The result of that name without an initial value, if its elements are `f32`.
static NodeId plainResult(const DeclSyntax &syntax, const std::string &name) {
  NodeId found = kNoNode;
  syntax.forEach(syntax.decl.syntax, NodeKind::Result, [&](NodeId result) {
    const Tree &tree = syntax.tree;
    if (tree.child(result, 0) != kNoNode && syntax.text(tree.child(result, 0)) == name &&
        tree.child(result, 2) == kNoNode && syntax.text(tree.child(result, 1)).starts_with("f32"))
      found = result;
  });
  return found;
}

static void splitSum(const DeclSyntax &syntax, const SumLoop &sum, std::vector<SourceMove> &moves) {
  const Tree &tree = syntax.tree;
  NodeId target = tree.child(tree.child(sum.store, 0), 0);
  NodeId result = plainResult(syntax, syntax.text(target));
  std::span<const NodeId> heads = tree.children(LoopView(tree, sum.loop).bindings());
  NodeId domain = heads.size() == 1 ? tree.child(heads[0], 1) : kNoNode;
  if (result == kNoNode || !tree.is(domain, NodeKind::CallExpr) ||
      tree.children(domain).size() != 3 || syntax.text(tree.child(domain, 0)) != "tiles")
    return;
  NodeId whole = tree.child(domain, 1);
  Span grid = tree.span(LoopView(tree, sum.grid).bindings()), end = tree.span(result);
  Span last{grid.file, grid.end, grid.end}, value{end.file, end.end, end.end};
  std::string name = syntax.fresh("part");
  // Which size is best depends on the chip, so all of them are tried.
  for (int size : {256, 512, 1024, 2048, 4096}) {
    std::string axis = "tiles(" + syntax.text(whole) + ", " + std::to_string(size) + ")";
    moves.push_back({AdviceKind::SplitK,
                     "split the sum at line " + std::to_string(syntax.line(sum.loop)) + ": `" +
                         name + " in " + axis + "` in the grid, and `atomic` adds the parts",
                     tree.span(sum.loop),
                     {{value, " = 0.0"},
                      {last, ", " + name + " in " + axis},
                      {tree.span(whole), name},
                      {insertionAt(tree.span(sum.store)), "atomic "},
                      {tree.mainSpan(sum.store), "+="}}});
  }
}

std::vector<SourceMove> splitMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  for (const DeclSyntax &syntax : kernelsOf(question))
    syntax.forEach(syntax.decl.syntax, NodeKind::ParallelStmt, [&](NodeId grid) {
      if (std::optional<SumLoop> sum = sumLoopIn(syntax, grid))
        splitSum(syntax, *sum, moves);
    });
  return moves;
}

// ---- Products -----------------------------------------------------------------------------------

/// The `a[i, k]` of `f32(a[i, k])`; kNoNode if the node is no conversion to `f32`.
static NodeId convertedTo32(const Tree &tree, NodeId node) {
  while (tree.is(node, NodeKind::ParenExpr))
    node = tree.child(node, 0);
  if (!tree.is(node, NodeKind::CallExpr) || tree.text(tree.child(node, 0)) != "f32")
    return kNoNode;
  std::span<const NodeId> args = CallExprView(tree, node).args();
  return args.size() == 1 && ArgView(tree, args[0]).name() == kNoNode
             ? ArgView(tree, args[0]).value()
             : kNoNode;
}

std::vector<SourceMove> operandMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  for (const DeclSyntax &syntax : kernelsOf(question))
    syntax.forEach(syntax.decl.syntax, NodeKind::BinaryExpr, [&](NodeId product) {
      const Tree &tree = syntax.tree;
      BinaryExprView view(tree, product);
      NodeId left = convertedTo32(tree, view.lhs()), right = convertedTo32(tree, view.rhs());
      if (tree.mainText(product) != "@" || left == kNoNode || right == kNoNode)
        return;
      moves.push_back({AdviceKind::Operands,
                       "`" + syntax.text(left) + " @ " + syntax.text(right) +
                           "`: the product adds up in `f32` without the conversions",
                       tree.span(product),
                       {{tree.span(view.lhs()), syntax.text(left)},
                        {tree.span(view.rhs()), syntax.text(right)}}});
    });
  return moves;
}

// ---- Serial loops -------------------------------------------------------------------------------

/// The text between the braces of a block, indented `less` columns less.
static std::string innerText(const DeclSyntax &syntax, NodeId block, size_t less) {
  std::string text = syntax.text(block).substr(1);
  text.pop_back();
  size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
  if (first == text.npos)
    return "";
  text = text.substr(first, last + 1 - first);
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; ++at) {
    size_t blanks = std::min(text.find_first_not_of(' ', at + 1), text.size()) - at - 1;
    text.erase(at + 1, std::min(less, blanks));
  }
  return text;
}

/// Whether each statement of a loop stores only the part of an array that the loop variable names,
/// so that its rounds are independent of each other.
static bool storesOwnParts(const DeclSyntax &syntax, NodeId loop, const std::string &variable) {
  const Tree &tree = syntax.tree;
  bool isOwn = true;
  syntax.forEach(LoopView(tree, loop).body(), NodeKind::AtomicStmt, [&](NodeId) { isOwn = false; });
  for (NodeId statement : tree.children(LoopView(tree, loop).body())) {
    if (tree.is(statement, NodeKind::LetStmt))
      continue;
    NodeId target = tree.is(statement, NodeKind::AssignStmt) ? tree.child(statement, 0) : kNoNode;
    if (target == kNoNode || !tree.is(target, NodeKind::IndexExpr) ||
        tree.mainText(statement) != "=")
      return false;
    // A stored array must not be read in another round.
    isOwn &= syntax.count(syntax.text(tree.child(target, 0)), loop) == 1;
    std::span<const NodeId> indices = IndexExprView(tree, target).indices();
    isOwn &= std::any_of(indices.begin(), indices.end(), [&](NodeId index) {
      return tree.is(index, NodeKind::NameExpr) && syntax.text(index) == variable;
    });
  }
  return isOwn;
}

std::vector<SourceMove> parallelMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  for (const DeclSyntax &syntax : kernelsOf(question))
    syntax.forEach(syntax.decl.syntax, NodeKind::ParallelStmt, [&](NodeId grid) {
      const Tree &tree = syntax.tree;
      std::span<const NodeId> body = tree.children(LoopView(tree, grid).body());
      // Only `let` may stand before the loop, because it is repeated for each point of the new
      // axis.
      bool isPlain = !body.empty() && tree.is(body.back(), NodeKind::ForStmt) &&
                     !tree.has(body.back(), NodeFlag::Static);
      for (size_t i = 0; i + 1 < body.size(); ++i)
        isPlain &= tree.is(body[i], NodeKind::LetStmt);
      if (!isPlain)
        return;
      NodeId loop = body.back();
      NodeId bindings = LoopView(tree, loop).bindings(), axes = LoopView(tree, grid).bindings();
      std::span<const NodeId> variables = tree.children(bindings);
      if (variables.size() != 1 ||
          !storesOwnParts(syntax, loop, syntax.text(tree.child(variables[0], 0))))
        return;
      Span behind = tree.span(axes);
      behind.begin = behind.end;
      size_t deeper = syntax.indent(loop).size() -
                      std::min(syntax.indent(loop).size(), syntax.indent(grid).size());
      moves.push_back(
          {AdviceKind::Parallel,
           "make the loop at line " + std::to_string(syntax.line(loop)) +
               " an axis of the grid: `" + syntax.text(axes) + ", " + syntax.text(bindings) + "`",
           tree.span(loop),
           {{behind, ", " + syntax.text(bindings)},
            {tree.span(loop), innerText(syntax, LoopView(tree, loop).body(), deeper)}}});
    });
  return moves;
}

// ---- Schedules of programs ----------------------------------------------------------------------

std::vector<std::string> tiledDims(const CheckedProgram &program, const CallableDecl &decl,
                                   const std::string &name) {
  std::vector<std::string> dims;
  for (const Local *local : decl.locals) {
    if (local->name != name || !local->type || !local->type->isArray())
      continue;
    for (const Extent &extent : local->type->extents)
      for (const DimParam &dim : decl.dims)
        if (dim.name == program.dims->toString(extent.length))
          dims.push_back(dim.name);
    bool areAll = dims.size() == local->type->extents.size();
    return areAll && dims.size() == 2 && dims[0] != dims[1] ? dims : std::vector<std::string>();
  }
  return dims;
}

std::vector<SourceMove> unscheduleMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  const CallableDecl &decl = *question.bound.binding.decl;
  DeclSyntax syntax(decl);
  const Tree &tree = syntax.tree;
  syntax.forEach(tree.root(), NodeKind::ScheduleDecl, [&](NodeId schedule) {
    if (syntax.text(ScheduleDeclView(tree, schedule).callee()) != decl.name)
      return;
    for (NodeId item : ScheduleDeclView(tree, schedule).items()) {
      std::optional<Span> line = syntax.wholeLine(item);
      if (tree.is(item, NodeKind::SplitItem))
        moves.push_back(
            {AdviceKind::Fuse,
             "leave out `" + syntax.text(item) + "` in the schedule of `" + decl.name + "`",
             tree.span(item),
             {{line.value_or(tree.span(item)), ""}}});
    }
  });
  return moves;
}

std::vector<SourceMove> scheduleMoves(const CostQuestion &question) {
  std::vector<SourceMove> moves;
  const CallableDecl &decl = *question.bound.binding.decl;
  for (const auto &module : question.program.modules)
    for (const ScheduleDecl *schedule : module->schedules)
      // The program has a schedule already, which is its author's choice.
      if (schedule->target == &decl)
        return moves;
  if (decl.kind != DeclKind::Program)
    return moves;
  DeclSyntax syntax(decl);
  const Tree &tree = syntax.tree;
  Span span = tree.span(decl.syntax);
  std::vector<NodeId> lets;
  syntax.forEach(CallableView(tree, decl.syntax).body(), NodeKind::LetStmt, [&](NodeId let) {
    if (tree.is(tree.child(let, 0), NodeKind::Name))
      lets.push_back(let);
  });
  auto add = [&](AdviceKind kind, NodeId at, const std::string &item) {
    moves.push_back(
        {kind,
         "`" + item + "` in a schedule of `" + decl.name + "`",
         tree.span(at),
         {{{span.file, span.end, span.end},
           "\n\nschedule " + decl.name + " on " + question.machine.name + " { " + item + " }"}}});
  };
  // Each move is compiled and simulated, and there is one for each pair of values.
  constexpr size_t most = 12;
  size_t tiled = 0;
  for (size_t i = 0; i < std::min(lets.size(), most); ++i) {
    std::string name = syntax.text(tree.child(lets[i], 0));
    add(AdviceKind::Split, lets[i], "split after " + name);
    std::vector<std::string> dims = tiledDims(question.program, decl, name);
    constexpr size_t mostTiled = 2; // Only for so many values are all tile sizes tried.
    for (int rows : {8, 16, 32, 64, 128})
      for (int columns : {128, 256, 512, 1024, 2048})
        if (!dims.empty() && tiled < mostTiled)
          add(AdviceKind::Tiles, lets[i],
              name + " { tile " + dims[0] + " by " + std::to_string(rows) + ", " + dims[1] +
                  " by " + std::to_string(columns) + " }");
    tiled += !dims.empty();
    for (size_t j = i + 1; j < std::min(lets.size(), most); ++j)
      if (syntax.words(tree.child(lets[j], 2)).contains(name))
        add(AdviceKind::Fuse, lets[j], "fuse " + name + ", " + syntax.text(tree.child(lets[j], 0)));
  }
  return moves;
}

} // namespace ptl
