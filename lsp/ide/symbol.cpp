#include "lsp/ide/symbol.h"
#include "frontend/sema/block/checked_block.h"

#include "frontend/sema/placement/distribution.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/words.h"

#include <algorithm>

namespace ptl::ide {

std::string_view words(SymbolType type) {
  static constexpr std::string_view all[] = {
#define SYMBOL(NAME, WORDS) WORDS,
#include "lsp/ide/symbol_kinds.def"
  };
  return all[static_cast<size_t>(type)];
}

bool isSame(const Symbol &a, const Symbol &b) {
  if (a.type != b.type || a.file != b.file)
    return false;
  // Which record of several a call means takes a check.
  if (!a.file)
    return a.name == b.name && a.param == b.param;
  if (!a.chunk || !b.chunk)
    return !a.chunk && !b.chunk;
  // Chunks that were parsed again have other ids, so a symbol is the same only within one version.
  return a.chunk->id() == b.chunk->id() && a.nameNode == b.nameNode;
}

// ---- Declarations -------------------------------------------------------------------------------

static SymbolType typeOfDecl(const Tree &tree, NodeId name, NodeId decl) {
  switch (tree.kind(decl)) {
  case NodeKind::Param:
    return SymbolType::Param;
  case NodeKind::Result:
    return SymbolType::Output;
  case NodeKind::LetStmt:
    return SymbolType::Let;
  case NodeKind::VarStmt:
    return SymbolType::Var;
  case NodeKind::LoopBinding:
    return SymbolType::Loop;
  case NodeKind::DimParam:
  case NodeKind::SampledDim:
    return SymbolType::Dimension;
  case NodeKind::TuneParam:
    return SymbolType::Tunable;
  case NodeKind::TypeParam:
    return SymbolType::TypeParam;
  case NodeKind::BufferStmt:
    return SymbolType::Buffer;
  case NodeKind::EventStmt:
    return SymbolType::Event;
  case NodeKind::PipeStmt:
    return SymbolType::Pipe;
  case NodeKind::TaskStmt:
    return SymbolType::Task;
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
    return SymbolType::Label;
  case NodeKind::FnDecl:
    return SymbolType::Fn;
  case NodeKind::KernelDecl:
    return SymbolType::Kernel;
  case NodeKind::ProgramDecl:
    return SymbolType::Program;
  case NodeKind::StructDecl:
    return SymbolType::Struct;
  case NodeKind::Field:
    return SymbolType::Field;
  case NodeKind::TypeDecl:
    return SymbolType::Alias;
  case NodeKind::ConstDecl:
    return tree.parent(decl) == tree.root() ? SymbolType::Const : SymbolType::LocalConst;
  default:
    return tree.is(name, NodeKind::Name) ? SymbolType::Let : SymbolType::Word;
  }
}

static Symbol declared(File &file, const Place &place, NodeId name) {
  const Tree &tree = *place.chunk->tree;
  Symbol symbol;
  symbol.name = tree.text(name);
  symbol.file = &file;
  symbol.chunk = place.chunk;
  symbol.nameNode = name;
  symbol.declNode = declarationOf(tree, name);
  symbol.type = typeOfDecl(tree, name, symbol.declNode);
  Span at = tree.span(name), whole = tree.span(symbol.declNode);
  symbol.definition = {&file, {place.begin + at.begin, place.begin + at.end}};
  symbol.whole = {&file, {place.begin + whole.begin, place.begin + whole.end}};
  return symbol;
}

static Symbol moduleSymbol(File &file, std::string_view name) {
  Symbol symbol;
  symbol.type = SymbolType::Module;
  symbol.name = name;
  symbol.file = &file;
  symbol.definition = symbol.whole = {&file, {0, 0}};
  return symbol;
}

static Symbol builtIn(SymbolType type, std::string_view name) {
  Symbol symbol;
  symbol.type = type;
  symbol.name = name;
  return symbol;
}

static std::optional<Symbol> declaredIn(File &file, DeclSpace space, std::string_view name) {
  DeclSite site = file.index.find(space, name);
  if (!site)
    return std::nullopt;
  const Place *place = file.document.placeOf(site.tree->file());
  // The index may be of another version than the document.
  if (!place || place->chunk->tree.get() != site.tree)
    return std::nullopt;
  return declared(file, *place, site.tree->child(site.node, 0));
}

std::optional<Symbol> findDeclared(Workspace &workspace, File &file, DeclSpace space,
                                   std::string_view name) {
  if (auto own = declaredIn(file, space, name))
    return own;
  // What the file does not declare may be imported by name.
  auto import = file.index.names.find(name);
  if (import == file.index.names.end())
    return std::nullopt;
  File *module = workspace.fileOf(import->second.module);
  return module ? declaredIn(*module, space, name) : std::nullopt;
}

std::optional<Symbol> declaredAt(Workspace &workspace, Span nameSpan) {
  Location location = workspace.locate(nameSpan);
  File *file = location ? workspace.find(location.file->path()) : nullptr;
  const Place *place = file ? file->document.placeOf(nameSpan.file) : nullptr;
  const NameUse *use = place ? namesOf(*place->chunk).at(nameSpan.begin) : nullptr;
  if (!use || use->begin != nameSpan.begin || use->access != Access::Declare)
    return std::nullopt;
  return declared(*file, *place, use->node);
}

File *importedFile(Workspace &workspace, File &file, const Tree &tree, NodeId importDecl) {
  ImportRequest request = importRequest(tree, importDecl, file.path(), workspace.options());
  for (const auto &path : request.places)
    if (File *imported = workspace.find(path.string()))
      return imported;
  return nullptr;
}

// ---- Look-up ------------------------------------------------------------------------------------

namespace {

constexpr DeclSpace kSpaces[] = {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias,
                                 DeclSpace::Const};

/// The names of one chunk while one of them is looked up.
struct Resolver {
  Workspace &workspace;
  File &file;
  size_t index;
  const Place &place;
  const Tree &tree;
  int depth = 0; ///< of types of values that are looked through

  Resolver(Workspace &workspace, File &file, size_t index, int depth = 0)
      : workspace(workspace), file(file), index(index), place(file.document.places()[index]),
        tree(*place.chunk->tree), depth(depth) {}

  std::optional<Symbol> resolve(const NameUse &use);
  std::optional<Symbol> ofNode(NodeId node);
  std::optional<Symbol> findAny(std::string_view name, std::initializer_list<DeclSpace> spaces);
  std::optional<Symbol> value(const NameUse &use, std::string_view name);
  bool isCount(NodeId decl, std::string_view name) const;
  std::optional<Symbol> callee(const NameUse &use, std::string_view name);
  std::optional<Symbol> inModule(File &module, std::string_view name, DeclSpace first);
  std::optional<Symbol> member(const NameUse &use, std::string_view name);
  std::optional<Symbol> argument(const NameUse &use, std::string_view name);
  std::optional<Symbol> tag(const NameUse &use, std::string_view name);
  std::optional<Symbol> ofTarget(NodeId schedule, std::string_view name, NameSpace space);
  std::optional<Symbol> structOf(NodeId value);
  const Expr *exprOf(NodeId node);
};

} // namespace

std::optional<Symbol> Resolver::ofNode(NodeId node) {
  if (node == kNoNode)
    return std::nullopt;
  const NameUse *use = namesOf(*place.chunk).at(tree.span(node).begin);
  return use && use->node == node ? resolve(*use) : std::nullopt;
}

std::optional<Symbol> Resolver::findAny(std::string_view name,
                                        std::initializer_list<DeclSpace> spaces) {
  for (DeclSpace space : spaces)
    if (auto found = findDeclared(workspace, file, space, name))
      return found;
  return std::nullopt;
}

/// Whether a name is the number of parts of a level of a program: `chips`, or an axis of its mesh.
bool Resolver::isCount(NodeId decl, std::string_view name) const {
  if (!tree.is(decl, NodeKind::ProgramDecl) || !isPlaced(tree, decl))
    return false;
  return isMeshAxis(tree, decl, name) ||
         (name.ends_with('s') && findWord(name.substr(0, name.size() - 1), WordGroup::Level));
}

std::optional<Symbol> Resolver::value(const NameUse &use, std::string_view name) {
  // Conditions of a schedule speak of its target first.
  if (use.schedule != kNoNode)
    for (NameSpace space : {NameSpace::TargetDim, NameSpace::TargetTune})
      if (auto found = ofTarget(use.schedule, name, space))
        return found;
  if (auto found = findAny(name, {DeclSpace::Const}))
    return found;
  if (auto module = file.index.modules.find(name); module != file.index.modules.end())
    if (File *imported = workspace.fileOf(module->second.module))
      return moduleSymbol(*imported, name);
  if (isCount(enclosingDecl(tree, use.node), name))
    return builtIn(SymbolType::Level, name);
  // No value, but what the author may have meant.
  return findAny(name, {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias});
}

/// The record of a call: that which the check chose, else by its arguments, else the first.
static const OpRecord *recordOf(const Tree &tree, NodeId call, std::string_view name,
                                const Expr *expr) {
  // The check has chosen one record of several with that name.
  if (expr && expr->kind == ExprKind::Op)
    if (const auto *op = cast<OpExpr>(expr)->op; op && op->name == name)
      return op;
  // Without a check the number of arguments and their names decide.
  auto records = findOps(name);
  if (records.empty() || !tree.is(call, NodeKind::CallExpr))
    return records.empty() ? nullptr : records.front();
  size_t positional = 0;
  std::vector<std::string_view> named;
  for (NodeId arg : CallExprView(tree, call).args()) {
    NodeId argName = tree.is(arg, NodeKind::Arg) ? ArgView(tree, arg).name() : kNoNode;
    if (argName == kNoNode)
      ++positional;
    else
      named.push_back(tree.text(argName));
  }
  const OpRecord *record = findOp(name, positional, named);
  return record ? record : records.front();
}

static bool isBlockCall(std::string_view name) {
  const std::vector<std::string> &names = blockCallNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<Symbol> Resolver::callee(const NameUse &use, std::string_view name) {
  if (auto found = findAny(name, {DeclSpace::Callable, DeclSpace::Struct}))
    return found;
  if (const OpRecord *op = recordOf(tree, tree.parent(use.node), name, nullptr)) {
    Symbol symbol = builtIn(SymbolType::BuiltIn, name);
    symbol.op = op;
    return symbol;
  }
  if (isBlockCall(name))
    return builtIn(SymbolType::BlockCall, name);
  // These words are no built-ins but are called like them.
  if (name == "tiles" || name == "parts" || name == "acc")
    return builtIn(SymbolType::Keyword, name);
  // What can be no callee is still shown as what it is.
  return findAny(name, {DeclSpace::Alias, DeclSpace::Const});
}

std::optional<Symbol> Resolver::inModule(File &module, std::string_view name, DeclSpace first) {
  if (auto found = declaredIn(module, first, name))
    return found;
  for (DeclSpace space : kSpaces)
    if (auto found = declaredIn(module, space, name))
      return found;
  return std::nullopt;
}

// ---- Fields -------------------------------------------------------------------------------------

const Expr *Resolver::exprOf(NodeId node) {
  const ChunkCheck &check = workspace.check(file, index);
  auto found = check.program->exprOfNode.find(node);
  return found == check.program->exprOfNode.end() ? nullptr : found->second;
}

/// The name of a field or parameter of a declaration; `kNoNode`: none.
static NodeId findIn(const Tree &tree, NodeId decl, std::string_view name,
                     std::initializer_list<NodeKind> kinds) {
  // The search covers the header alone, because bodies have other names.
  std::vector<NodeId> open{decl};
  while (!open.empty()) {
    NodeId node = open.back();
    open.pop_back();
    bool fits = std::find(kinds.begin(), kinds.end(), tree.kind(node)) != kinds.end();
    NodeId own = tree.child(node, 0);
    if (fits && own != kNoNode && tree.text(own) == name)
      return own;
    for (NodeId child : tree.children(node))
      if (child != kNoNode && !tree.is(child, NodeKind::Block))
        open.push_back(child);
  }
  return kNoNode;
}

static std::optional<Symbol> partOf(const Symbol &decl, std::string_view name,
                                    std::initializer_list<NodeKind> kinds) {
  NodeId found = findIn(decl.tree(), decl.declNode, name, kinds);
  const Place *place = found == kNoNode ? nullptr : decl.file->document.placeOf(decl.chunk->id());
  return place ? std::optional(declared(*decl.file, *place, found)) : std::nullopt;
}

/// The struct that a type names, aliases looked through.
static std::optional<Symbol> structOfType(Workspace &workspace, File &file, size_t index,
                                          NodeId type, int depth) {
  Resolver resolver(workspace, file, index, depth);
  const Tree &tree = resolver.tree;
  // An array of structs has the struct as its element.
  if (tree.is(type, NodeKind::ArrayType))
    type = ArrayTypeView(tree, type).base();
  // The depth guards against aliases that lead in a circle.
  if (!tree.is(type, NodeKind::NamedType) || depth > 8)
    return std::nullopt;
  NodeId path = NamedTypeView(tree, type).path();
  if (!tree.is(path, NodeKind::Path))
    return std::nullopt;
  auto named = resolver.ofNode(tree.children(path).back());
  if (named && named->type == SymbolType::Alias)
    return structOfType(workspace, *named->file,
                        named->file->document.placeAt(named->definition.range.begin),
                        TypeDeclView(named->tree(), named->declNode).type(), depth + 1);
  return named && named->type == SymbolType::Struct ? named : std::nullopt;
}

/// The struct that a declared value or field has: by its written type, else by what a `let` is set
/// to.
static std::optional<Symbol> structOfDecl(Workspace &workspace, const Symbol &symbol, int depth) {
  const Tree &tree = symbol.tree();
  bool isBound = symbol.type == SymbolType::Let || symbol.type == SymbolType::Var;
  bool hasType = isBound || symbol.type == SymbolType::Param || symbol.type == SymbolType::Output ||
                 symbol.type == SymbolType::Field;
  size_t place = symbol.file->document.placeAt(symbol.definition.range.begin);
  NodeId type = hasType ? tree.child(symbol.declNode, 1) : kNoNode;
  // A written type is trusted before the value.
  if (type != kNoNode)
    return structOfType(workspace, *symbol.file, place, type, depth);
  // A name within a tuple pattern is only a part of the value.
  bool isWhole = isBound && tree.child(symbol.declNode, 0) == symbol.nameNode;
  return isWhole ? Resolver(workspace, *symbol.file, place, depth)
                       .structOf(tree.child(symbol.declNode, 2))
                 : std::nullopt;
}

/// The struct whose fields a value has: by declarations, which broken text has too, else by the
/// check.
std::optional<Symbol> Resolver::structOf(NodeId value) {
  while (tree.is(value, NodeKind::ParenExpr))
    value = tree.child(value, 0);
  if (depth > 8 || value == kNoNode)
    return std::nullopt;
  Resolver next(workspace, file, index, depth + 1);
  bool isMember = tree.is(value, NodeKind::MemberExpr), isCall = tree.is(value, NodeKind::CallExpr);
  NodeId name = isMember ? tree.child(value, 1) : isCall ? tree.child(value, 0) : value;
  // Of a call through a module the name behind the dot is the callee.
  if (isCall && tree.is(name, NodeKind::MemberExpr))
    name = tree.child(name, 1);
  auto named = next.ofNode(name);
  // A call of a struct makes one.
  if (named && isCall && named->type == SymbolType::Struct)
    return named;
  if (named && named->chunk && !isCall)
    if (auto found = structOfDecl(workspace, *named, depth + 1))
      return found;
  // The check comes last, because it takes time and broken text has none.
  const Expr *expr = exprOf(value);
  if (expr && expr->type->kind == TypeKind::Struct)
    return declaredAt(workspace, expr->type->structDecl->nameSpan);
  return std::nullopt;
}

static bool isRangeField(std::string_view name) {
  static constexpr std::string_view names[] = {"start", "end", "len", "size", "count"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::optional<Symbol> Resolver::member(const NameUse &use, std::string_view name) {
  MemberExprView view(tree, use.target);
  // A member that is called is looked for among callables first.
  bool isCalled = tree.is(tree.parent(use.target), NodeKind::CallExpr) &&
                  tree.child(tree.parent(use.target), 0) == use.target;
  isCalled = isCalled || namesFunction(tree, use.target);
  if (tree.is(view.base(), NodeKind::NameExpr))
    if (auto base = ofNode(view.base()); base && base->type == SymbolType::Module)
      return inModule(*base->file, name, isCalled ? DeclSpace::Callable : DeclSpace::Const);
  // `.T` is written like a field.
  if (name == "T") {
    Symbol symbol = builtIn(SymbolType::BuiltIn, ".T");
    symbol.op = findOp(".T", 1);
    return symbol;
  }
  if (auto decl = structOf(view.base()))
    if (auto field = partOf(*decl, name, {NodeKind::Field}))
      return field;
  // Any value may be a range as far as the text shows.
  if (isRangeField(name))
    return builtIn(SymbolType::RangeField, name);
  return std::nullopt;
}

// ---- Arguments, schedules -----------------------------------------------------------------------

std::optional<Symbol> Resolver::argument(const NameUse &use, std::string_view name) {
  NodeId callee = CallExprView(tree, use.target).callee();
  // A conversion is called by the name of its type.
  if (tree.is(callee, NodeKind::ElementType))
    callee = kNoNode;
  else if (tree.is(callee, NodeKind::MemberExpr))
    callee = MemberExprView(tree, callee).name();
  auto called = ofNode(callee);
  if (called && called->chunk && (isCallable(called->type) || called->type == SymbolType::Struct))
    return partOf(*called, name,
                  {NodeKind::Param, NodeKind::TuneParam, NodeKind::DimParam, NodeKind::TypeParam,
                   NodeKind::Field});
  const OpRecord *op = called ? called->op : nullptr;
  // Conversions to all types take the same arguments as that to `f32`.
  if (!called || called->type == SymbolType::TypeParam)
    op = findOps("f32").empty() ? nullptr : findOps("f32").front();
  if (!op)
    return std::nullopt;
  for (const ptl::OpParam &param : op->params)
    if (param.name == name) {
      Symbol symbol = builtIn(SymbolType::OpParam, name);
      symbol.op = op;
      symbol.param = &param;
      return symbol;
    }
  return std::nullopt;
}

std::optional<Symbol> Resolver::tag(const NameUse &use, std::string_view name) {
  Symbol symbol = builtIn(SymbolType::Tag, name);
  NodeId arg = tree.parent(use.target);
  // A tag belongs to the argument that it is given for.
  if (tree.is(arg, NodeKind::Arg) && ArgView(tree, arg).name() != kNoNode)
    if (auto named = ofNode(ArgView(tree, arg).name())) {
      symbol.op = named->op;
      symbol.param = named->param;
    }
  return symbol;
}

std::optional<Symbol> Resolver::ofTarget(NodeId schedule, std::string_view name, NameSpace space) {
  auto target = targetOf(workspace, file, index, schedule);
  if (!target)
    return std::nullopt;
  if (space == NameSpace::TargetDim)
    return partOf(*target, name, {NodeKind::DimParam});
  if (space == NameSpace::TargetTune)
    return partOf(*target, name, {NodeKind::TuneParam});
  // Labels are found in the text of the target, so this works without a check.
  const Place *place = target->file->document.placeOf(target->chunk->id());
  for (NodeId label : labelsOf(target->tree(), target->declNode))
    if (place && target->tree().text(label) == name)
      return declared(*target->file, *place, label);
  return std::nullopt;
}

std::optional<Symbol> targetOf(Workspace &workspace, File &file, size_t index, NodeId schedule) {
  Resolver resolver(workspace, file, index);
  NodeId path = ScheduleDeclView(resolver.tree, schedule).callee();
  if (!resolver.tree.is(path, NodeKind::Path))
    return std::nullopt;
  auto target = resolver.ofNode(resolver.tree.children(path).back());
  return target && target->chunk && isCallable(target->type) ? target : std::nullopt;
}

// ---- Words --------------------------------------------------------------------------------------

static SymbolType typeOfWord(const Tree &tree, NodeId node) {
  NodeId parent = tree.parent(node);
  if (tree.is(parent, NodeKind::NameList))
    parent = tree.parent(parent);
  switch (tree.kind(parent)) {
  case NodeKind::OnClause:
    return tree.child(parent, 0) == node ? SymbolType::Core : SymbolType::Machine;
  case NodeKind::OnStmt:
    if (tree.child(parent, 0) == node)
      return OnStmtView(tree, parent).part() == kNoNode ? SymbolType::Core : SymbolType::Level;
    return SymbolType::Keyword;
  case NodeKind::ExternSource:
  case NodeKind::ScheduleDecl:
    return SymbolType::Machine;
  case NodeKind::AtClause:
    return tree.child(parent, 0) == node ? SymbolType::Level : SymbolType::Word;
  case NodeKind::CutItem:
  case NodeKind::PartialItem:
  case NodeKind::PartItem:
  case NodeKind::MeshClause:
  case NodeKind::MeshAxis:
    return SymbolType::Level;
  case NodeKind::Place:
    return tree.child(parent, 0) == node ? SymbolType::Place : SymbolType::Layout;
  case NodeKind::Path:
    return SymbolType::Unit;
  case NodeKind::TypeParam:
    return SymbolType::Keyword;
  default:
    return SymbolType::Word;
  }
}

std::optional<Symbol> Resolver::resolve(const NameUse &use) {
  std::string_view name = tree.text(use.node);
  switch (use.space) {
  case NameSpace::Local:
  case NameSpace::Label:
    return declared(file, place, use.target);
  case NameSpace::Declared:
  case NameSpace::FieldDecl:
    return declared(file, place, use.node);
  case NameSpace::Value:
    return value(use, name);
  case NameSpace::Callee:
    return callee(use, name);
  case NameSpace::Type:
    return findAny(name, {DeclSpace::Struct, DeclSpace::Alias, DeclSpace::Callable});
  case NameSpace::Member:
    return member(use, name);
  case NameSpace::Qualified: {
    auto module = ofNode(tree.child(use.target, 0));
    bool isModule = module && module->type == SymbolType::Module;
    return isModule ? inModule(*module->file, name, DeclSpace::Struct) : std::nullopt;
  }
  case NameSpace::Argument:
    return argument(use, name);
  case NameSpace::ImportPath:
  case NameSpace::ImportedName: {
    File *module = importedFile(workspace, file, tree, use.target);
    if (!module)
      return std::nullopt;
    return use.space == NameSpace::ImportPath ? moduleSymbol(*module, module->index.name)
                                              : inModule(*module, name, DeclSpace::Callable);
  }
  case NameSpace::Target: {
    NodeId path = ScheduleDeclView(tree, use.target).callee();
    auto names = tree.children(path);
    if (names.size() == 1)
      return findAny(name, {DeclSpace::Callable});
    auto module = ofNode(names[0]);
    bool isModule = module && module->type == SymbolType::Module;
    return isModule ? inModule(*module->file, name, DeclSpace::Callable) : std::nullopt;
  }
  case NameSpace::TargetLabel:
  case NameSpace::TargetTune:
  case NameSpace::TargetDim:
    return ofTarget(use.target, name, use.space);
  case NameSpace::Tag:
    return tag(use, name);
  case NameSpace::Word:
    return builtIn(typeOfWord(tree, use.node), name);
  }
  return std::nullopt;
}

std::optional<Symbol> resolve(Workspace &workspace, File &file, size_t place, const NameUse &use) {
  Resolver resolver(workspace, file, place);
  auto symbol = resolver.resolve(use);
  if (symbol) {
    uint32_t begin = resolver.place.begin;
    symbol->range = {begin + use.begin, begin + use.end};
    symbol->access = use.access;
    symbol->place = place;
    symbol->node = use.node;
  }
  return symbol;
}

} // namespace ptl::ide
