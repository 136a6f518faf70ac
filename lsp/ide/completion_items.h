// Collects the items of a completion; one function per source of items. See completion.h.
#pragma once

#include "lsp/ide/call_context.h"
#include "lsp/ide/completion.h"
#include "lsp/ide/completion_context.h"
#include "lsp/ide/describe.h"
#include "lsp/ide/module_exports.h"
#include "lsp/ide/words.h"

#include "lsp/ide/symbol.h"

#include <initializer_list>
#include <set>
#include <string>

namespace ptl::ide {

class Collector {
public:
  Collector(Workspace &workspace, File &file, size_t index, const CompletionContext &context)
      : context(context), workspace(workspace), file(file), index(index),
        chunk(file.document.places()[index].chunk), tree(*chunk->tree) {}

  /// Collects what fits the site and the prefix.
  void collect();
  /// Adds to an item that is shown the parts that take longer to compute.
  void complete(CompletionItem &item);

  const CompletionContext &context;
  std::vector<CompletionItem> items;
  bool hidesImports = false; ///< names of other files were left out because there is no prefix
  bool isTruncated = false;  ///< there are more items than are returned
  Workspace &workspace;
  File &file;

private:
  bool followsHead() const;

  // completion_items.cpp
  bool fits(std::string_view name, int &score) const;
  void add(CompletionItem item);
  void words(WordGroup group, int rank);
  void namedWords(std::initializer_list<std::string_view> names);
  void snippets(Site site);
  void machines();
  void units();
  void pipes(std::string_view core, bool others);
  std::string_view coreAround() const;
  void expression();
  void locals();
  /// Whether an item from a nearer scope has the name.
  bool isTaken(std::string_view name) const;
  void declared(const File &module, DeclSpace space, int rank);
  void imported(std::initializer_list<DeclSpace> spaces);
  void otherModules(std::initializer_list<DeclSpace> spaces);
  void builtIns();
  void blockCalls();
  void elementTypes(int rank);
  void types();
  CompletionItem itemOf(DeclSpace space, std::string_view name, const File &module) const;
  void describeLocal(CompletionItem &item, NodeId name, const ChunkCheck &check) const;

  // completion_parts.cpp
  /// Movements and the calls on pools.
  void partsCalls();
  void argumentsOfPartsCall(std::string_view callee, const CallContext &call);
  /// Adds the possible values of `over:` and `how:` of a movement; whether such a value is being
  /// typed.
  bool valueOfPartsArgument();

  // completion_members.cpp
  void arguments();
  void argumentsOf(const Symbol &callee, const CallContext &call);
  void expect(const Symbol &callee, const CallContext &call);
  void members();
  bool membersOf(const Type &type);
  const Type *typeBefore(TokenIndex last);
  void tags();
  void importSites();
  void importNames();
  void scheduleTargets();
  void scheduleItems();

  /// The type that the argument being typed should have, as far as its parameter determines it.
  struct Expected {
    bool isArray = false;
    std::string_view elem; ///< as written; empty: any
  };
  bool isExpected(const Type &type) const;

  std::optional<Expected> expected_;
  size_t index;
  std::shared_ptr<const Chunk> chunk;
  const Tree &tree;
  std::set<std::string, std::less<>> seen_;
};

} // namespace ptl::ide
