// Names that are visible: locals, declarations, imports, built-ins, words.
#include "lsp/ide/completion_items.h"
#include "lsp/ide/describe_signature.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"
#include "lsp/ide/names.h"
#include "lsp/ide/symbols.h"

#include <algorithm>
#include <tuple>

namespace ptl::ide {

bool Collector::fits(std::string_view name, int &score) const {
  // Without a prefix every name fits, and none better than another.
  score = context.prefix.empty() ? 0 : fuzzyScore(context.prefix, name);
  return score >= 0;
}

void Collector::add(CompletionItem item) {
  if (fits(item.filterText(), item.score))
    items.push_back(std::move(item));
}

// ---- Words --------------------------------------------------------------------------------------

void Collector::words(WordGroup group, int rank) {
  bool isName = isNameWord(group);
  for (const Word &word : allWords())
    if (word.group == group)
      add({.label = std::string(word.text),
           .kind = isName ? CompletionKind::Name : CompletionKind::Word,
           .detail = isName ? std::string(word.help) : "",
           .rank = rank,
           .help = isName ? "" : std::string(word.help)});
}

void Collector::namedWords(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (const Word *word = findWord(name))
      add({.label = std::string(name), .rank = 3, .help = std::string(word->help)});
}

void Collector::snippets(Site site) {
  struct Snippet {
    Site site;
    std::string_view label, filter, body, help;
  };
  static constexpr Snippet all[] = {
#define SNIPPET(SITE, LABEL, FILTER, BODY, HELP) {Site::SITE, LABEL, FILTER, BODY, HELP},
#include "lsp/ide/snippets.def"
  };
  for (const Snippet &snippet : all)
    if (snippet.site == site)
      add({.label = std::string(snippet.label),
           .kind = CompletionKind::Snippet,
           .insert = std::string(snippet.body),
           .isSnippet = true,
           .rank = 5,
           .help = std::string(snippet.help),
           .filter = std::string(snippet.filter)});
}

void Collector::machines() {
  std::vector<std::string> names = workspace.options().machines->names();
  names.push_back("reference");
  for (std::string &name : names)
    add({.label = std::move(name), .kind = CompletionKind::Name});
}

/// The core that the cursor's section or kernel is for, by the words before it; empty: not said.
std::string_view Collector::coreAround() const {
  std::string_view core;
  // The last `on` before the cursor is the nearest one around it, since sections do not nest.
  for (TokenIndex i = 1; i < tree.tokens().size() && tree.token(i).begin < context.begin; ++i)
    if (tree.tokenKind(i - 1) == TokenKind::On && findWord(tree.tokenText(i), WordGroup::Core))
      core = tree.tokenText(i);
  return core;
}

/// Adds the pipes of a core; with `others`, the pipes of the other kind of core behind them.
void Collector::pipes(std::string_view core, bool others) {
  // Pipes that fit come first; those of the other core are far down, for events between cores.
  words(WordGroup::Pipe, -60);
  if (others || core != "aiv")
    words(WordGroup::CubePipe, core == "aiv" ? 9 : -60);
  if (others || core != "aic")
    words(WordGroup::VectorPipe, core == "aic" ? 9 : -60);
}

void Collector::units() {
  // Behind a dot only the pipes of that core are meant.
  if (tree.tokenKind(*context.before) == TokenKind::Dot)
    return pipes(tree.tokenText(context.target), false);
  pipes(coreAround(), true);
  words(WordGroup::Core, 10);
}

// ---- Locals -------------------------------------------------------------------------------------

static CompletionKind kindOfLocal(const Tree &tree, NodeId declaration) {
  switch (tree.kind(declaration)) {
  case NodeKind::Param:
  case NodeKind::Result:
    return CompletionKind::Parameter;
  case NodeKind::DimParam:
  case NodeKind::SampledDim:
    return CompletionKind::Dimension;
  case NodeKind::TypeParam:
    return CompletionKind::ElementType;
  case NodeKind::TuneParam:
    return CompletionKind::Tunable;
  case NodeKind::ConstDecl:
    return CompletionKind::Constant;
  default:
    return CompletionKind::Variable;
  }
}

void Collector::describeLocal(CompletionItem &item, NodeId name, const ChunkCheck &check) const {
  auto found = check.program->localOfNode.find(name);
  const Type *type = found == check.program->localOfNode.end() ? nullptr : found->second->type;
  if (item.kind == CompletionKind::Dimension || item.kind == CompletionKind::ElementType)
    item.detail = tree.text(declarationOf(tree, name));
  else if (type && !type->isError())
    item.detail = toString(*check.program->dims, *type);
}

void Collector::locals() {
  const ChunkCheck *check = nullptr;
  int rank = -40; // inner ones first
  for (NodeId name : localsAt(*chunk, context.begin)) {
    // The name that is being bound cannot be used in its own value.
    if (context.binding && tree.node(name).firstToken == context.binding)
      continue;
    CompletionItem item{.label = std::string(tree.text(name)),
                        .kind = kindOfLocal(tree, declarationOf(tree, name)),
                        .rank = std::min(rank++, 0)};
    // A local hides declarations of the same name.
    seen_.insert(item.label);
    if (!fits(item.label, item.score))
      continue;
    // The check takes time, so it waits until something is shown that needs it.
    if (!check)
      check = &workspace.check(file, index);
    describeLocal(item, name, *check);
    auto found = check->program->localOfNode.find(name);
    if (expected_ && found != check->program->localOfNode.end() && found->second->type &&
        isExpected(*found->second->type))
      item.rank -= 45; // before all that are not, behind the names of arguments
    items.push_back(std::move(item));
  }
}

// ---- Declarations -------------------------------------------------------------------------------

CompletionItem Collector::itemOf(DeclSpace space, std::string_view name, const File &module) const {
  CompletionItem item{.label = std::string(name)};
  item.doc = {DocSource::Kind::Declaration, item.label, module.path(), space};
  switch (space) {
  case DeclSpace::Callable:
    item.kind = CompletionKind::Function;
    break;
  case DeclSpace::Struct:
    item.kind = CompletionKind::Struct;
    break;
  case DeclSpace::Alias:
    item.kind = CompletionKind::Alias;
    break;
  case DeclSpace::Const:
    item.kind = CompletionKind::Constant;
    break;
  }
  return item;
}

void Collector::declared(const File &module, DeclSpace space, int rank) {
  // A file may have thousands: items are made of those alone that can be shown.
  struct Candidate {
    int score;
    std::string_view name;
  };
  std::vector<Candidate> candidates;
  int score;
  for (const auto &[name, site] : module.index.of(space))
    if (fits(name, score))
      candidates.push_back({score, name});
  // Only the best are kept; the client asks again when more is typed.
  if (candidates.size() > kMaxCompletions) {
    std::nth_element(candidates.begin(), candidates.begin() + kMaxCompletions, candidates.end(),
                     [](const Candidate &a, const Candidate &b) {
                       return std::tuple(-a.score, a.name) < std::tuple(-b.score, b.name);
                     });
    candidates.resize(kMaxCompletions);
    isTruncated = true;
  }
  for (const Candidate &candidate : candidates) {
    CompletionItem item = itemOf(space, candidate.name, module);
    item.rank = rank;
    item.score = candidate.score;
    items.push_back(std::move(item));
  }
}

bool Collector::isTaken(std::string_view name) const {
  if (seen_.contains(name))
    return true;
  for (DeclSpace space : {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Const})
    if (file.index.find(space, name))
      return true;
  return false;
}

/// Names that imports bind, and the modules themselves.
void Collector::imported(std::initializer_list<DeclSpace> spaces) {
  // A name may be imported from more than one name space, so all that are wanted are tried.
  for (const auto &[name, import] : file.index.names)
    for (DeclSpace space : spaces)
      if (const File *module = workspace.fileOf(import.module);
          module && import.module->find(space, name)) {
        CompletionItem item = itemOf(space, name, *module);
        item.detail = module->index.name;
        seen_.insert(item.label);
        add(std::move(item));
      }
  for (const auto &[name, import] : file.index.modules)
    add({.label = name, .kind = CompletionKind::Module, .rank = 2});
}

/// Public names elsewhere, with the edit that imports them.
void Collector::otherModules(std::initializer_list<DeclSpace> spaces) {
  // Without a letter they would bury the rest.
  if (context.prefix.empty()) {
    hidesImports = true;
    return;
  }
  for (const ImportableModule &module : importableModules(workspace, file)) {
    std::optional<ImportWay> way;
    for (const Export &each : exportsOf(*module.file)) {
      // The way to import is found only once, and only if the module has something to offer.
      int score;
      bool isWanted = std::find(spaces.begin(), spaces.end(), each.space) != spaces.end();
      if (!isWanted || isTaken(each.name) || !fits(each.name, score))
        continue;
      if (!way)
        way = importWay(workspace, file, module);
      CompletionItem item = itemOf(each.space, each.name, *module.file);
      item.detail = module.path;
      // A name that needs a qualifier is less convenient than one that is imported by name.
      item.rank = way->qualifier.empty() ? 8 : 6;
      item.filter = item.label;
      item.label.insert(0, way->qualifier);
      item.insert = item.label;
      item.edits = way->edits(each.name);
      add(std::move(item));
    }
  }
}

// ---- The language -------------------------------------------------------------------------------

void Collector::builtIns() {
  std::string_view last;
  for (const OpRecord &op : allOps()) {
    // Operators and conversions are written in other ways; overloads are listed once.
    if (op.isOperator || op.name == last || op.name.empty() || elemKindByName(op.name) ||
        op.opClass == OpClass::Conversion)
      continue;
    last = op.name;
    for (size_t i = 0; i <= op.aliases.size(); ++i) {
      std::string name(i == 0 ? op.name : op.aliases[i - 1]);
      int score;
      if (!fits(name, score) || isTaken(name) || !seen_.insert(name).second)
        continue;
      items.push_back({.label = name,
                       .kind = CompletionKind::Function,
                       .rank = 3,
                       .help = std::string(op.summary),
                       .doc = {DocSource::Kind::Op, name, "", DeclSpace::Callable},
                       .score = score});
    }
  }
  add({.label = "tiles",
       .kind = CompletionKind::Function,
       .signature = "(range, size)",
       .rank = 3,
       .help = "The tiles of a range: `tiles(N, 64)`."});
}

/// Instructions, where a kernel is written by hand or in sections.
void Collector::blockCalls() {
  bool isManual = false;
  for (const Token &token : tree.tokens())
    // The token may stand anywhere in the chunk, which is cheaper than finding the declaration.
    isManual |= token.kind == TokenKind::Manual || token.kind == TokenKind::On;
  if (isManual)
    for (const std::string &name : blockCallNames())
      if (!isTaken(name))
        add({.label = name, .kind = CompletionKind::Function, .detail = "instruction", .rank = 7});
}

void Collector::elementTypes(int rank) {
  for (const ElemInfo &info : elemInfos)
    add({.label = std::string(info.name), .kind = CompletionKind::ElementType, .rank = rank});
}

void Collector::expression() {
  if (valueOfPartsArgument())
    return;
  // The ranks put what is near before what is far.
  locals();
  words(WordGroup::Expression, 6);
  declared(file, DeclSpace::Const, 1);
  declared(file, DeclSpace::Callable, 2);
  declared(file, DeclSpace::Struct, 2);
  imported({DeclSpace::Const, DeclSpace::Callable, DeclSpace::Struct});
  partsCalls();
  builtIns();
  blockCalls();
  elementTypes(4);
  otherModules({DeclSpace::Const, DeclSpace::Callable, DeclSpace::Struct});
}

void Collector::types() {
  for (NodeId name : localsAt(*chunk, context.begin))
    if (tree.is(declarationOf(tree, name), NodeKind::TypeParam))
      add({.label = std::string(tree.text(name)),
           .kind = CompletionKind::ElementType,
           .detail = std::string(tree.text(declarationOf(tree, name)))});
  elementTypes(1);
  declared(file, DeclSpace::Struct, 0);
  declared(file, DeclSpace::Alias, 0);
  imported({DeclSpace::Struct, DeclSpace::Alias});
  namedWords({"acc"});
  // Without a head the place is in a list of parameters.
  bool isParam = context.head == 0;
  if (isParam)
    namedWords({"inout"});
  otherModules({DeclSpace::Struct, DeclSpace::Alias});
}

// ---- Details ------------------------------------------------------------------------------------

/// The part of a label behind the name.
static std::string behindName(const SignatureLabel &label) {
  size_t open = label.text.find('(');
  return open == std::string::npos ? "" : label.text.substr(open);
}

void Collector::complete(CompletionItem &item) {
  if (item.doc.kind == DocSource::Kind::Declaration) {
    File *module = workspace.find(item.doc.path);
    DeclSite site = module ? module->index.find(item.doc.space, item.doc.name) : DeclSite();
    bool isCalled = item.doc.space == DeclSpace::Callable || item.doc.space == DeclSpace::Struct;
    if (site && isCalled)
      item.signature = behindName(signatureOf(*site.tree, site.node));
  } else if (item.doc.kind == DocSource::Kind::Op) {
    auto records = findOps(item.doc.name);
    if (!records.empty() && !records.front()->signatures.empty())
      item.signature = behindName(signaturesOf(*records.front(), item.doc.name).front());
  }
  // Structs are called to make values, except where a type is wanted.
  bool isCalled = item.kind == CompletionKind::Function ||
                  (item.kind == CompletionKind::Struct && context.site != Site::Type);
  bool takesCall = context.site == Site::Statement || context.site == Site::Expression ||
                   context.site == Site::Argument || context.site == Site::Member;
  // The cursor goes between the parentheses, unless there are some already.
  if (isCalled && takesCall && !context.isFollowedByParen && !item.isSnippet) {
    item.insert = (item.insert.empty() ? item.label : item.insert) + "($0)";
    item.isSnippet = true;
  }
}

} // namespace ptl::ide
