// Completes parts of something that is named already: members, arguments, exports, parts of
// schedules.
#include "lsp/ide/completion_items.h"
#include "lsp/ide/describe_signature.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl::ide {

// ---- Arguments ----------------------------------------------------------------------------------

void Collector::argumentsOf(const Symbol &callee, const CallContext &call) {
  SignatureLabel label = signatureOf(callee.tree(), callee.declNode);
  for (size_t i = call.positional; i < label.params.size(); ++i) {
    const SignatureParam &param = label.params[i];
    if (std::find(call.named.begin(), call.named.end(), param.name) != call.named.end())
      continue;
    add({.label = param.name + ":",
         .kind = CompletionKind::Field,
         .detail = label.text.substr(param.begin, param.end - param.begin),
         .insert = param.name + ": ",
         .rank = -50,
         .help = param.doc});
  }
}

/// Notes what the type of a parameter requires: the element type as written, and whether it has
/// axes.
void Collector::expect(const Symbol &callee, const CallContext &call) {
  const Tree &own = callee.tree();
  if (!isCallable(callee.type))
    return;
  size_t position = 0;
  for (NodeId param : own.children(CallableView(own, callee.declNode).params())) {
    if (!own.is(param, NodeKind::Param))
      continue;
    bool isMeant = call.name.empty() ? position == call.positional
                                     : own.text(ParamView(own, param).name()) == call.name;
    ++position;
    NodeId type = ParamView(own, param).type();
    if (!isMeant || type == kNoNode)
      continue;
    Expected expected;
    expected.isArray = own.is(type, NodeKind::ArrayType);
    NodeId base = expected.isArray ? ArrayTypeView(own, type).base() : type;
    if (own.is(base, NodeKind::ElementType))
      expected.elem = own.text(base);
    else if (!expected.isArray)
      return; // a struct, an alias
    expected_ = expected;
  }
}

bool Collector::isExpected(const Type &type) const {
  if (expected_->isArray ? !type.isArray() : !type.isScalar())
    return false;
  return expected_->elem.empty() ||
         (!type.elem.param && elemInfo(type.elem.kind).name == expected_->elem);
}

void Collector::arguments() {
  auto call = callAround(tree, context.begin);
  if (!call)
    return;
  Callee callee = calleeOf(workspace, file, index, *call);
  if (callee.symbol) {
    expect(*callee.symbol, *call);
    return argumentsOf(*callee.symbol, *call);
  }
  argumentsOfPartsCall(callee.name, *call);
  if (callee.name == "barrier")
    pipes(coreAround(), true);
  for (const OpRecord *op : callee.ops)
    for (const OpParam &param : op->params) {
      bool isNamed =
          std::find(call->named.begin(), call->named.end(), param.name) != call->named.end();
      std::string label = std::string(param.name) + ":";
      if (isNamed || param.kind == ParamKind::Value || !seen_.insert(label).second)
        continue;
      add({.label = label,
           .kind = CompletionKind::Field,
           .insert = std::string(param.name) + ": ",
           .rank = -50,
           .help = std::string(param.doc)});
    }
}

void Collector::tags() {
  auto call = callAround(tree, context.begin);
  if (!call)
    return;
  for (const OpRecord *op : calleeOf(workspace, file, index, *call).ops)
    for (const OpParam &param : op->params) {
      if (!call->name.empty() && param.name != call->name)
        continue;
      for (std::string_view value : param.enumValues)
        if (seen_.insert(std::string(value)).second)
          add({.label = std::string(value),
               .kind = CompletionKind::Tag,
               .detail = std::string(param.name),
               .help = std::string(param.doc)});
    }
}

// ---- Members ------------------------------------------------------------------------------------

/// The type of the value that ends with a token.
const Type *Collector::typeBefore(TokenIndex last) {
  const ChunkCheck &check = workspace.check(file, index);
  const Type *type = nullptr;
  for (NodeId node = tree.nodeAt(tree.token(last).begin); node != kNoNode;
       node = tree.parent(node)) {
    if (tree.node(node).endToken != last + 1)
      break;
    auto found = check.program->exprOfNode.find(node);
    if (found != check.program->exprOfNode.end() && !found->second->type->isError())
      type = found->second->type;
  }
  if (type)
    return type;
  // A name in text that was not checked.
  for (NodeId name : localsAt(*chunk, tree.token(last).begin)) {
    auto found = check.program->localOfNode.find(name);
    if (tree.text(name) == tree.tokenText(last) && found != check.program->localOfNode.end())
      return found->second->type;
  }
  return nullptr;
}

bool Collector::membersOf(const Type &type) {
  const DimContext &dims = *workspace.check(file, index).program->dims;
  if (type.kind == TypeKind::Struct && type.structDecl) {
    for (const StructField &field : type.structDecl->fields)
      add({.label = field.name,
           .kind = CompletionKind::Field,
           .detail = field.type ? toString(dims, *field.type) : ""});
    return true;
  }
  if (type.kind == TypeKind::Array) {
    add({.label = "T", .kind = CompletionKind::Field, .help = "The last two axes swapped."});
    return true;
  }
  return type.kind != TypeKind::Range && !type.isError();
}

void Collector::members() {
  TokenIndex last = context.target;
  bool isPath = last == 0 || tree.tokenKind(last - 1) != TokenKind::Dot;
  auto module = file.index.modules.find(tree.tokenText(last));
  if (isPath && module != file.index.modules.end()) {
    for (const auto &[path, other] : workspace.files())
      if (&other->index == module->second.module)
        for (const Export &each : exportsOf(*other))
          add(itemOf(each.space, each.name, *other));
    return;
  }
  const Type *type = typeBefore(last);
  if (type && membersOf(*type))
    return;
  constexpr std::pair<std::string_view, std::string_view> fields[] = {
      {"start", "The first position."},
      {"end", "The position after the last."},
      {"len", "The number of positions."},
      {"size", "The size of the tiles."},
      {"count", "The index of the tile, from 0."}};
  for (const auto &[name, help] : fields)
    add({.label = std::string(name),
         .kind = CompletionKind::Field,
         .detail = "int",
         .help = std::string(help)});
  if (!type || type->isError())
    add({.label = "T", .kind = CompletionKind::Field, .help = "The last two axes swapped."});
}

// ---- Imports ------------------------------------------------------------------------------------

void Collector::importSites() {
  bool behindDot = tree.tokenKind(*context.before) == TokenKind::Dot;
  std::string parent = behindDot && *context.before > 0
                           ? std::string(tree.tokenText(*context.before - 1)) + "."
                           : "";
  for (const std::string &path : importPaths(workspace, file))
    if (path.starts_with(parent))
      add({.label = path.substr(parent.size()), .kind = CompletionKind::Module});
}

void Collector::importNames() {
  for (NodeId item : tree.children(tree.root())) {
    bool isHere = tree.is(item, NodeKind::ImportDecl) && tree.span(item).begin <= context.begin;
    File *module = isHere ? importedFile(workspace, file, tree, item) : nullptr;
    if (!module)
      continue;
    items.clear();
    for (const Export &each : exportsOf(*module))
      add(itemOf(each.space, each.name, *module));
  }
}

// ---- Schedules ----------------------------------------------------------------------------------

void Collector::scheduleTargets() {
  for (const auto &[name, site] : file.index.of(DeclSpace::Callable))
    if (!site.tree->is(site.node, NodeKind::FnDecl))
      add(itemOf(DeclSpace::Callable, name, file));
  imported({DeclSpace::Callable});
}

void Collector::scheduleItems() {
  words(WordGroup::Schedule, 2);
  namedWords({"split", "pipeline", "unroll"});
  snippets(Site::ScheduleItem);
  // `schedule nn.mlp on …`: the last name of the path.
  TokenIndex name = context.head + 1;
  while (name + 2 < tree.tokens().size() && tree.tokenKind(name + 1) == TokenKind::Dot)
    name += 2;
  auto target = findDeclared(workspace, file, DeclSpace::Callable, tree.tokenText(name));
  if (!target || !target->chunk)
    return;
  const Tree &own = target->tree();
  CallableView view(own, target->declNode);
  auto each = [&](NodeId list, NodeKind kind, CompletionKind as, std::string_view behind) {
    if (list != kNoNode)
      for (NodeId param : own.children(list))
        if (own.is(param, kind)) {
          std::string text(own.text(own.child(param, 0)));
          add({.label = text,
               .kind = as,
               .detail = std::string(own.text(param)),
               .insert = text + std::string(behind)});
        }
  };
  bool isItem = tree.tokenKind(*context.before) != TokenKind::Identifier;
  each(view.tune(), NodeKind::TuneParam, CompletionKind::Tunable, isItem ? " = " : "");
  each(view.generics(), NodeKind::DimParam, CompletionKind::Dimension, "");
  for (NodeId label : labelsOf(own, target->declNode))
    if (seen_.insert(std::string(own.text(label))).second)
      add({.label = std::string(own.text(label)),
           .kind = CompletionKind::Name,
           .detail = "label",
           .rank = 1});
}

} // namespace ptl::ide
