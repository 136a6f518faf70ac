// Checks that the iterations of a `parallel` access disjoint elements. Only for use inside
// `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/loop_domain.h"

namespace ptl {

/// Facts about the contents of arrays, from `where` and `assert`.
struct DataFacts {
  KnownValues values;
  std::unordered_set<const Local *> reported; ///< already reported: one cause, one error
};

/// One read or write of an output or `inout` by an iteration.
struct Access {
  Elements elements;
  bool isWrite = false;
  bool isAtomic = false;
  bool isConditional = false; ///< not in every iteration
  FactSet facts;              ///< that hold there
  Contents contents;          ///< the same of arrays
};

/// A `parallel` with the recorded accesses of its body.
struct ParallelFrame {
  const ParallelStmt *stmt = nullptr;
  std::vector<LoopDomain> heads;
  FactSet outside;      ///< before the heads
  Contents contents;    ///< the same of arrays
  size_t factCount = 0; ///< facts inside before the body begins
  std::vector<Access> accesses;
};

/// Reports iterations that write elements which other iterations read or write: once per array that
/// has no report yet.
void checkIndependence(Context &ctx, const ParallelFrame &frame, DataFacts &data);

} // namespace ptl
