// Lists callers and callees of callables; tests and benches are callers, too.
#pragma once

#include "lsp/ide/navigation.h"

namespace ptl::ide {

/// A callable, test, property or bench.
struct CallItem {
  std::string name;
  SymbolType type = SymbolType::Fn; ///< `Word` for a test, property or bench
  Location whole;
  Location selection; ///< its name
};

struct Calls {
  CallItem item;             ///< the caller, or the callee
  std::vector<Range> places; ///< of the callee's name, in the caller's file
};

/// The callable that the name at a byte refers to, or the test whose text is there.
std::optional<CallItem> callItemAt(Workspace &workspace, File &file, uint32_t offset);
/// Its callers, in the files that are known and those in `paths`.
std::vector<Calls> incomingCalls(Workspace &workspace, File &file, uint32_t offset,
                                 std::span<const std::string> paths);
/// The callables that it calls, in the order of the first calls.
std::vector<Calls> outgoingCalls(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide
