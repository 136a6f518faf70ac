#include "frontend/sema/declarations/check_module.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/declarations/bind_import.h"
#include "frontend/sema/names/foreign_names.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

namespace fs = std::filesystem;

// ---- Names --------------------------------------------------------------------------------------

std::vector<NamedDecl> namedDecls(const Tree &tree) {
  std::vector<NamedDecl> decls;
  for (NodeId item : tree.children(tree.root())) {
    NamedDecl decl;
    if (!isNamed(tree, item, decl.space))
      continue;
    decl.node = item;
    decl.name = tree.text(tree.child(item, 0));
    decl.span = tree.span(tree.child(item, 0));
    decls.push_back(decl);
  }
  return decls;
}

void reportDuplicates(const std::vector<NamedDecl> &decls, DiagnosticSink &sink) {
  std::array<std::unordered_map<std::string_view, Span>, kDeclSpaces> first;
  auto report = [&](const NamedDecl &decl, Span other) {
    sink.report(DiagId::DuplicateDeclaration, decl.span, {std::string(decl.name)})
        .label(other, "first declared here");
  };
  auto &structs = first[static_cast<size_t>(DeclSpace::Struct)];
  auto declare = [&](const NamedDecl &decl) {
    if (decl.name.empty())
      return;
    auto [slot, isNew] = first[static_cast<size_t>(decl.space)].try_emplace(decl.name, decl.span);
    if (!isNew)
      report(decl, slot->second);
    bool mayClash = decl.space == DeclSpace::Callable || decl.space == DeclSpace::Alias;
    if (auto clash = structs.find(decl.name); mayClash && clash != structs.end())
      report(decl, clash->second);
  };
  // Structs first: they clash with callables and with aliases.
  for (bool isStruct : {true, false})
    for (const NamedDecl &decl : decls)
      if ((decl.space == DeclSpace::Struct) == isStruct)
        declare(decl);
}

uint32_t signatureEnd(const Tree &tree, NodeId node) {
  DeclSpace space;
  if (isNamed(tree, node, space) && space == DeclSpace::Callable)
    if (NodeId body = CallableView(tree, node).body(); body != kNoNode)
      return tree.span(body).begin;
  return tree.span(node).end;
}

bool isMisread(const Tree &tree, NodeId node, std::span<const Diagnostic> diagnostics) {
  DeclSpace space;
  bool isCallable = isNamed(tree, node, space) && space == DeclSpace::Callable;
  if (isCallable && !tree.has(node, NodeFlag::Extern) && CallableView(tree, node).body() == kNoNode)
    return true;
  Span span = tree.span(node);
  return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error && diagnostic.span.file == span.file &&
           span.begin <= diagnostic.span.begin && diagnostic.span.begin <= span.end;
  });
}

// ---- Imports ------------------------------------------------------------------------------------

ImportRequest importRequest(const Tree &tree, NodeId node, const std::string &importer,
                            const CheckOptions &options) {
  NodeId path = ImportDeclView(tree, node).path();
  ImportRequest request;
  request.span = tree.span(path);
  fs::path relative;
  bool isStd = false;
  if (tree.is(path, NodeKind::StringLiteral)) {
    relative = stringLiteralValue(tree.mainText(path));
    request.shown = relative.string();
    request.bound = relative.stem().string();
  } else if (tree.is(path, NodeKind::Path)) {
    for (NodeId part : tree.children(path)) {
      std::string word(tree.text(part));
      // `std` in front is the library, never a folder beside the file.
      if (request.shown.empty() && word == "std")
        isStd = true;
      else
        relative /= word;
      request.shown += (request.shown.empty() ? "" : ".") + word;
      request.bound = word;
    }
    relative += ".ptl";
  } else {
    return request;
  }
  if (isStd) {
    request.places = {fs::path(options.stdPath) / relative};
  } else {
    // A file beside the importing one comes before those in the folders of `-I`.
    request.places = {fs::path(importer).parent_path() / relative};
    for (const std::string &folder : options.importPaths)
      request.places.push_back(fs::path(folder) / relative);
  }
  return request;
}

void reportModuleNotFound(const ImportRequest &request, const std::string &why,
                          DiagnosticSink &sink) {
  auto builder = sink.report(DiagId::ModuleNotFound, request.span, {request.shown});
  for (const fs::path &place : request.places)
    builder.note("looked for `" + place.lexically_normal().string() + "`");
  if (!why.empty())
    builder.note(why);
  std::string_view first = request.shown;
  if (!first.starts_with("std") && isForeignModule(first.substr(0, first.find('.'))))
    builder.help("leave the import out: what other libraries compute is built in, or in `std`");
}

void failNames(const Tree &tree, NodeId node, const ImportRequest &request, FailedImports &failed) {
  if (!forEachListed(tree, node, [&](const std::string &name, Span) { failed.insert(name); }))
    failed.insert(request.bound);
}

void reportImportCycle(const ImportRequest &request, const std::vector<std::string> &cycle,
                       DiagnosticSink &sink) {
  if (cycle.size() == 1) {
    sink.report(DiagId::ImportOfItself, request.span);
    return;
  }
  std::string text;
  for (const std::string &name : cycle)
    text += "`" + name + "` imports ";
  sink.report(DiagId::ImportCycle, request.span, {text + "`" + cycle.front() + "`"});
}

void reportNotInModule(const std::string &module, std::string_view name, Span span, bool isDeclared,
                       const std::vector<std::string> &exports, DiagnosticSink &sink) {
  if (isDeclared) {
    sink.report(DiagId::NotPublic, span, {std::string(name), module})
        .help("write `pub` before its declaration");
    return;
  }
  auto builder = sink.report(DiagId::NotInModule, span, {module, std::string(name)});
  std::string nearest = nearestName(name, exports);
  if (!nearest.empty())
    builder.fix(FixId::Spelling, "did you mean `" + nearest + "`?", {{span, nearest}});
}

void bindImport(const Tree &tree, NodeId node, const ImportRequest &request, ModuleIndex &importer,
                const ModuleIndex &imported, DiagnosticSink &sink) {
  auto isPub = [](const DeclSite &site) { return site.tree->has(site.node, NodeFlag::Pub); };
  auto isExported = [&](const std::string &name, Span span) {
    bool isDeclared = false;
    std::vector<std::string> exports;
    for (const auto &space : imported.spaces) {
      for (const auto &[other, site] : space)
        if (isPub(site))
          exports.push_back(other);
      isDeclared |= space.contains(name);
    }
    if (std::find(exports.begin(), exports.end(), name) != exports.end())
      return true;
    reportNotInModule(imported.name, name, span, isDeclared, exports, sink);
    return false;
  };
  bindNames(tree, node, request, importer.modules, importer.names, importer.failed,
            ModuleIndex::Import{&imported, {}}, sink, isExported);
}

// ---- Recursion ----------------------------------------------------------------------------------

namespace {

/// Depth-first search for calls that lead back; `path` holds the calls from the root.
struct CycleSearch {
  const std::vector<CallNode> &graph;
  DiagnosticSink &sink;
  const std::function<void(size_t)> &onCycle;
  std::vector<uint8_t> colours; ///< 1: on the path, 2: done
  std::vector<size_t> path;
  std::vector<size_t> next; ///< of each callable on the path, the call to look at

  void enter(size_t index) {
    colours[index] = 1;
    path.push_back(index);
    next.push_back(0);
  }

  /// Without recursion of its own: chains of calls are as long as files.
  void visit(size_t root) {
    enter(root);
    while (!path.empty()) {
      size_t index = path.back();
      if (next.back() == graph[index].calls.size()) {
        colours[index] = 2;
        path.pop_back();
        next.pop_back();
        continue;
      }
      const auto &[callee, span] = graph[index].calls[next.back()++];
      if (colours[callee] == 0)
        enter(callee);
      else if (colours[callee] == 1)
        report(callee, span);
    }
  }

  void report(size_t callee, Span span) {
    std::string through;
    auto start = std::find(path.begin(), path.end(), callee);
    for (auto it = start + 1; it < path.end(); ++it)
      through += (through.empty() ? " through `" : ", `") + std::string(graph[*it].name) + "`";
    for (auto it = start; it < path.end(); ++it)
      onCycle(*it);
    sink.report(DiagId::Recursion, span, {std::string(graph[callee].name), through})
        .label(graph[callee].nameSpan, "declared here")
        .help("write a loop: recursion is not supported, because every `fn` is inlined");
  }
};

} // namespace

void reportRecursion(const std::vector<CallNode> &graph, DiagnosticSink &sink,
                     const std::function<void(size_t)> &onCycle) {
  CycleSearch search{graph, sink, onCycle, std::vector<uint8_t>(graph.size()), {}, {}};
  for (size_t index = 0; index < graph.size(); ++index)
    if (search.colours[index] == 0)
      search.visit(index);
}

} // namespace ptl
