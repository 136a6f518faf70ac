#include "lsp/ide/call_graph.h"

#include "frontend/sema/declarations/check_module.h"

#include <algorithm>
#include <unordered_set>

namespace ptl::ide {

static uint64_t hashOfCalls(const ChunkCheck &check) {
  uint64_t hash = 0;
  auto add = [&](std::string_view text) {
    // The multiplier is 2⁶⁴ divided by the golden ratio, as is usual for mixing hashes. The `+ 1`
    // makes empty names count.
    hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string_view>()(text) + 1;
  };
  for (const ChunkCheck::Calls &calls : check.calls) {
    if (calls.calls.empty())
      continue;
    add(calls.caller->name);
    for (const ChunkCheck::Call &call : calls.calls)
      add(call.callee);
  }
  return hash;
}

static void addCallees(std::vector<std::string> &callees, const ChunkCheck::Calls &calls) {
  for (const ChunkCheck::Call &call : calls.calls)
    if (std::find(callees.begin(), callees.end(), call.callee) == callees.end())
      callees.push_back(call.callee);
}

void CallGraph::checked(FileId chunk, const ChunkCheck &check) {
  uint64_t &hash = hashOf_[chunk], now = hashOfCalls(check);
  if (hash == now)
    return;
  hash = now;
  for (const ChunkCheck::Calls &each : check.calls) {
    std::vector<std::string> &callees = callees_[each.caller->name];
    callees.clear();
    addCallees(callees, each);
    changed_.push_back(each.caller->name);
  }
}

/// Whether calls lead from a declaration to itself. Callers that are gone may make this true where
/// nothing does, never the other way round.
bool CallGraph::leadsBack(const std::string &caller) const {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string_view> open{caller};
  while (!open.empty()) {
    auto found = callees_.find(open.back());
    open.pop_back();
    if (found == callees_.end())
      continue;
    for (const std::string &callee : found->second) {
      if (callee == caller)
        return true;
      if (seen.insert(callee).second)
        open.push_back(callee);
    }
  }
  return false;
}

void CallGraph::findAll(std::span<const Place> places, DiagnosticSink &sink) {
  callees_.clear();
  std::unordered_map<std::string_view, size_t> byName;
  std::vector<CallNode> graph;
  std::vector<const ChunkCheck::Calls *> calls;
  for (const Place &place : places) {
    // Chunks that were not checked yet have no calls to follow.
    if (!place.check)
      continue;
    for (const ChunkCheck::Calls &each : place.check->calls) {
      // Of those with one name the first is meant.
      if (byName.try_emplace(each.caller->name, graph.size()).second)
        addCallees(callees_[each.caller->name], each);
      graph.push_back({each.caller->name, each.caller->nameSpan, {}});
      calls.push_back(&each);
    }
  }
  // Callees in other files are left out: imports have no cycles, so no recursion leads through
  // them.
  for (size_t i = 0; i < graph.size(); ++i)
    for (const ChunkCheck::Call &call : calls[i]->calls)
      if (auto found = byName.find(call.callee); found != byName.end())
        graph[i].calls.push_back({found->second, call.span});
  sink = {};
  reportRecursion(graph, sink, [](size_t) {});
}

void CallGraph::find(std::span<const Place> places, bool areDuplicates, DiagnosticSink &known) {
  // A new cycle goes through a caller whose calls are others; to follow very many of them costs more
  // than to look at all. What is known already holds spans, and names for which two stand.
  constexpr size_t few = 32;
  if (isForgotten_ || areDuplicates || !known.all().empty() || changed_.size() > few ||
      std::any_of(changed_.begin(), changed_.end(),
                  [&](const std::string &caller) { return leadsBack(caller); }))
    findAll(places, known);
  changed_.clear();
  isForgotten_ = false;
}

} // namespace ptl::ide
