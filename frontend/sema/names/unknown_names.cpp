// Diagnostics for undeclared names, and the names that are suggested.
#include "frontend/sema/names/unknown_names.h"

#include "frontend/sema/declarations/on_demand.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/foreign_names.h"
#include "frontend/sema/names/library_names.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/placement/level_counts.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/instruction_table.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ptl {

// Long names are pasted, not mistyped.
static constexpr size_t kLongestName = 64, kMostDistance = 4;

/// Edit distance with transpositions, given up at `limit`.
static size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit)
    return limit + 1;
  using Row = std::array<uint8_t, kLongestName + kMostDistance + 1>;
  Row rows[3];
  Row *before = &rows[0], *row = &rows[1], *next = &rows[2];
  for (size_t j = 0; j <= b.size(); ++j)
    (*row)[j] = static_cast<uint8_t>(j);
  // Three rows of the table are enough: a transposition looks two rows back. A name has at most
  // `kLongestName` letters here, so the distances fit in 8 bits.
  for (size_t i = 1; i <= a.size(); ++i) {
    (*next)[0] = static_cast<uint8_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t least = std::min<size_t>(
          {(*row)[j] + 1u, (*next)[j - 1] + 1u, (*row)[j - 1] + (a[i - 1] != b[j - 1] ? 1u : 0u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min<size_t>(least, (*before)[j - 2] + 1u);
      (*next)[j] = static_cast<uint8_t>(least);
    }
    Row *oldest = before;
    before = row;
    row = next;
    next = oldest;
  }
  return (*row)[b.size()];
}

/// A bit for each character of a text, by its code modulo 64.
static uint64_t charactersOf(std::string_view text) {
  uint64_t bits = 0;
  for (char c : text)
    bits |= uint64_t(1) << (static_cast<unsigned char>(c) % 64);
  return bits;
}

NearestName::NearestName(std::string_view name)
    : name_(name), characters_(charactersOf(name)), bestDistance_((name.size() <= 2   ? 1
                                                                   : name.size() <= 6 ? 2
                                                                                      : 3) +
                                                                  1) {}

void NearestName::offer(std::string_view candidate) {
  if (name_.size() > kLongestName || candidate.size() > name_.size() + bestDistance_ ||
      name_.size() > candidate.size() + bestDistance_)
    return;
  // Each change mends at most one character that the other name does not have.
  uint64_t characters = charactersOf(candidate);
  auto lacks = [&](uint64_t bits) {
    return static_cast<size_t>(std::popcount(bits)) > bestDistance_;
  };
  if (lacks(characters_ & ~characters) || lacks(characters & ~characters_))
    return;
  size_t d = distance(name_, candidate, bestDistance_);
  // A name that has to be written anew as a whole is no slip of this one.
  bool allDiffers = d >= std::max(name_.size(), candidate.size());
  // Of names as near the first by the alphabet counts, since their order here is that of hash
  // tables.
  if (!allDiffers &&
      (d < bestDistance_ || (d == bestDistance_ && !best_.empty() && candidate < best_))) {
    bestDistance_ = d;
    best_ = candidate;
  }
}

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  NearestName nearest(name);
  for (const std::string &candidate : candidates)
    nearest.offer(candidate);
  return nearest.best();
}

/// Offers what a module has that is imported as a whole, or else what the library has; false if
/// neither knows the name. A constant is never certain: `E` may be meant as a dimension.
static bool suggestModules(Context &ctx, DiagnosticBuilder builder, std::string_view name,
                           Span span, std::initializer_list<DeclSpace> spaces) {
  auto isWanted = [&](DeclSpace space) {
    return std::find(spaces.begin(), spaces.end(), space) != spaces.end();
  };
  std::vector<std::string> bound;
  for (const std::string &each : importedModules(ctx.state, ctx.moduleScope))
    if (const CheckedModule *module = findImportedModule(ctx.state, ctx.moduleScope, each);
        module && moduleExports(ctx, *module, name))
      bound.push_back(each);
  // The imports are kept in a hash table, and reports must not depend on its order.
  std::sort(bound.begin(), bound.end());
  bool isCallable = isWanted(DeclSpace::Callable);
  for (const std::string &module : bound) {
    std::string whole = module + "." + std::string(name);
    builder.fix(isCallable && bound.size() == 1 ? FixId::Qualify : FixId::ImportOneOf,
                "write `" + whole + "`", std::vector<TextEdit>{{span, whole}});
  }
  if (!bound.empty())
    return true;
  std::vector<const LibraryExport *> found;
  for (const LibraryExport &each : ctx.state.options.exports->in(ctx.state.options.stdPath))
    if (each.name == name && isWanted(each.space))
      found.push_back(&each);
  for (const LibraryExport *each : found)
    builder.fix(isCallable && found.size() == 1 ? FixId::ImportName : FixId::ImportOneOf,
                "import it: `import " + each->module + ": " + each->name + "`",
                ImportNeed{each->module, each->name});
  return !found.empty();
}

/// Offers what another library's name stands for; false if it is none.
static bool suggestForeign(DiagnosticBuilder builder, const ForeignName *foreign, Span span) {
  if (!foreign)
    return false;
  if (foreign->ours.empty())
    builder.help(std::string(foreign->how));
  else
    builder.fix(FixId::ForeignName, "write `" + std::string(foreign->ours) + "`",
                std::vector<TextEdit>{{span, std::string(foreign->ours)}});
  return true;
}

/// `np.exp`, `tl.dot`, `torch.pi`: built-ins stand in no module.
static void suggestWithoutModule(Context &ctx, DiagnosticBuilder builder, std::string_view member,
                                 Span whole) {
  if (!findOps(member).empty() || lookupCallable(ctx, member)) {
    builder.fix(FixId::ForeignName, "built-ins are in no module: `" + std::string(member) + "`",
                std::vector<TextEdit>{{whole, std::string(member)}});
    return;
  }
  const ForeignName *foreign = foreignCall(member);
  foreign = foreign ? foreign : foreignType(member);
  foreign = foreign ? foreign : foreignValue(member);
  if (suggestForeign(builder, foreign, whole))
    return;
  // Two changes are needed, an import and the name alone.
  for (const LibraryExport &each : ctx.state.options.exports->in(ctx.state.options.stdPath))
    if (each.name == member && each.space == DeclSpace::Callable) {
      builder.help("write `" + each.name + "`, with `import " + each.module + ": " + each.name +
                   "` at the top of the file");
      return;
    }
  builder.help("built-ins are in no module: `exp(x)`; `import std.nn` binds one of the library");
}

/// Where the import of a name has failed, that is the mistake, and not each use.
static bool isOfFailedImport(Context &ctx, DiagnosticBuilder &builder, std::string_view name) {
  if (!isFailedImport(ctx.moduleScope, name))
    return false;
  builder.consequence();
  return true;
}

bool reportUnknownModule(Context &ctx, std::string_view module, std::string_view member, Span span,
                         Span whole) {
  std::vector<std::string> names;
  const std::string path = "std." + std::string(module);
  for (const LibraryExport &each : ctx.state.options.exports->in(ctx.state.options.stdPath))
    if (each.module == path)
      names.push_back(each.name);
  if (names.empty() && !isForeignModule(module))
    return false;
  auto builder = ctx.sink.report(DiagId::UnknownName, span, {std::string(module)});
  if (isOfFailedImport(ctx, builder, module))
    return true;
  if (std::find(names.begin(), names.end(), member) != names.end()) {
    builder.fix(FixId::ImportName, "import it: `import " + path + "`", ImportNeed{path, ""});
    return true;
  }
  suggestWithoutModule(ctx, builder, member, whole);
  return true;
}

/// Offers a name, if there is one.
static bool suggest(DiagnosticBuilder &builder, Span span, std::string nearest,
                    std::string_view prefix = "") {
  if (nearest.empty())
    return false;
  nearest.insert(0, prefix);
  builder.fix(FixId::Spelling, "did you mean `" + nearest + "`?", {{span, nearest}});
  return true;
}

bool suggestNearest(DiagnosticBuilder &builder, Span span, std::string_view name,
                    const std::vector<std::string> &candidates, std::string_view prefix) {
  return suggest(builder, span, nearestName(name, candidates), prefix);
}

/// Names that may stand where one was not found.
static void offerDeclared(NearestName &nearest, Context &ctx,
                          std::initializer_list<DeclSpace> spaces) {
  for (DeclSpace space : spaces)
    forEachDeclared(ctx.state, ctx.moduleScope, space,
                    [&](std::string_view name) { nearest.offer(name); });
}

static void offerImported(NearestName &nearest, Context &ctx) {
  forEachImportedName(ctx.state, ctx.moduleScope,
                      [&](std::string_view name) { nearest.offer(name); });
}

/// The `left` of `x @left`.
static bool isPlaceOperand(Context &ctx, std::string_view name, Span span) {
  std::string_view before = ctx.tree.fileText().substr(0, span.begin);
  return placeByName(name) != Place::Inferred && before.ends_with('@');
}

/// Whether the name is the whole left side of an `=`.
static bool isAssigned(Context &ctx, Span span) {
  NodeId node = ctx.tree.nodeAt(span.begin);
  while (node != kNoNode && ctx.tree.span(node) == span && !ctx.tree.is(node, NodeKind::AssignStmt))
    node = ctx.tree.parent(node);
  return node != kNoNode && ctx.tree.is(node, NodeKind::AssignStmt) &&
         ctx.tree.mainText(node) == "=" && ctx.tree.span(node).begin == span.begin;
}

void reportUnknownValue(Context &ctx, std::string_view name, Span span) {
  auto builder = ctx.sink.report(DiagId::UnknownName, span, {std::string(name)});
  if (isOfFailedImport(ctx, builder, name))
    return;
  if (lookupCallable(ctx, name) || !findOps(name).empty()) {
    builder.help("`" + std::string(name) + "` is a function: call it, `" + std::string(name) +
                 "(…)`");
    return;
  }
  if (ctx.inProgram() && isCountName(name)) {
    std::string level(name.substr(0, name.size() - 1));
    builder.help("the number of " + std::string(name) +
                 " is known in a program whose header places arrays "
                 "over `" +
                 level + "`");
    return;
  }
  if (isPlaceOperand(ctx, name, span)) {
    builder.help(
        "in an expression `@` is the matrix product; a place belongs to a type: `let a: _ @" +
        std::string(name) + " = …`");
    return;
  }
  if (isAssigned(ctx, span)) {
    std::string text(name);
    builder.help("declare a new name with `let " + text + " = …`, or `var " + text +
                 " = …` if it changes");
  }
  if (suggestForeign(builder, foreignValue(name), span) ||
      suggestModules(ctx, builder, name, span, {DeclSpace::Const}))
    return;
  NearestName nearest(name);
  for (const std::string &local : ctx.scope.names())
    nearest.offer(local);
  offerDeclared(nearest, ctx, {DeclSpace::Const});
  for (const std::string &module : importedModules(ctx.state, ctx.moduleScope))
    nearest.offer(module);
  suggest(builder, span, nearest.best());
}

/// The edit that adds a dimension to the header around `span`; none outside of headers.
static std::optional<TextEdit> declareDim(Context &ctx, std::string_view name, Span span) {
  NodeId node = ctx.tree.nodeAt(span.begin);
  while (node != kNoNode && !ctx.tree.is(node, NodeKind::FnDecl) &&
         !ctx.tree.is(node, NodeKind::KernelDecl) && !ctx.tree.is(node, NodeKind::ProgramDecl))
    node = ctx.tree.parent(node);
  if (node == kNoNode)
    return std::nullopt;
  CallableView view(ctx.tree, node);
  if (view.body() != kNoNode && span.begin >= ctx.span(view.body()).begin)
    return std::nullopt;
  if (view.generics() == kNoNode) {
    uint32_t end = ctx.span(view.name()).end;
    return TextEdit{{span.file, end, end}, "[" + std::string(name) + "]"};
  }
  uint32_t end = ctx.span(view.generics()).end - 1;
  return TextEdit{{span.file, end, end}, ", " + std::string(name)};
}

void reportUnknownDim(Context &ctx, std::string_view name, Span span) {
  size_t before = ctx.sink.all().size();
  reportUnknownValue(ctx, name, span);
  if (ctx.sink.all().size() == before)
    return;
  if (auto edit = declareDim(ctx, name, span))
    DiagnosticBuilder(&ctx.sink.all().back())
        .fix(FixId::DeclareDimension,
             "declare the dimension `" + std::string(name) + "` in brackets after the name",
             {std::move(*edit)});
}

void reportUnknownCallable(Context &ctx, std::string_view name, Span span) {
  auto builder = ctx.sink.report(DiagId::UnknownFunction, span, {std::string(name)});
  if (isOfFailedImport(ctx, builder, name))
    return;
  if (const Local *local = ctx.scope.find(name)) {
    builder.label(local->span, "a " + std::string(localKindName(local->kind)) +
                                   " of that name is declared here, but values cannot be called");
    return;
  }
  if (suggestModules(ctx, builder, name, span, {DeclSpace::Callable, DeclSpace::Struct}))
    return;
  const ForeignName *foreign = foreignCall(name);
  if (suggestForeign(builder, foreign ? foreign : foreignType(name), span))
    return;
  NearestName nearest(name);
  offerImported(nearest, ctx);
  offerDeclared(nearest, ctx, {DeclSpace::Callable, DeclSpace::Struct});
  for (const OpRecord &op : allOps())
    if (!op.isOperator)
      nearest.offer(op.name);
  if (ctx.isKind(DeclKind::ManualKernel))
    for (const InstructionInfo &info : instructions)
      nearest.offer(info.mnemonic);
  suggest(builder, span, nearest.best());
}

void reportUnknownType(Context &ctx, std::string_view name, Span span) {
  auto builder = ctx.sink.report(DiagId::UnknownType, span, {std::string(name)});
  if (isOfFailedImport(ctx, builder, name))
    return;
  if (const Local *local = ctx.scope.find(name)) {
    std::string text(name);
    builder.help(local->kind == LocalKind::Dimension
                     ? "`" + text + "` is a dimension; an element type has a kind, as in `[" +
                           text + ": float]`"
                     : "`" + text + "` is a value; types are element types, structs and aliases");
    return;
  }
  if (suggestForeign(builder, foreignType(name), span) ||
      suggestModules(ctx, builder, name, span, {DeclSpace::Struct, DeclSpace::Alias}))
    return;
  NearestName nearest(name);
  offerImported(nearest, ctx);
  offerDeclared(nearest, ctx, {DeclSpace::Struct, DeclSpace::Alias});
  for (const TypeParam *param : ctx.typeParams)
    nearest.offer(param->name);
  for (const ElemInfo &info : elemInfos)
    nearest.offer(info.name);
  suggest(builder, span, nearest.best());
}

} // namespace ptl
