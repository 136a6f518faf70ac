// The state of a check that makes declarations when they are looked up. See check_chunk.h.
#pragma once

#include "frontend/sema/check_chunk.h"
#include "frontend/sema/context.h"

#include <unordered_map>

namespace ptl {

struct OnDemand {
  const Tree &target;        ///< the chunk that is checked
  DiagnosticSink quiet = {}; ///< takes what is wrong with other declarations
  std::vector<Dependency> dependencies = {};
  bool readsAllNames = false;
  std::unordered_map<const ModuleIndex *, CheckedModule *> modules = {};
};

/// The module of an index, made on first use.
CheckedModule *moduleOf(ProgramState &state, const ModuleIndex &index);

} // namespace ptl
