// Whether the iterations of a `parallel` touch each other's elements. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/loop_domain.h"

namespace ptl {

/// What `where` and `assert` say about the contents of arrays.
struct DataFacts {
  KnownValues values;
  std::unordered_set<const Local *> reported; ///< had a report: one cause, one error
};

/// One read or write of an output or `inout` by an iteration.
struct Access {
  Elements elements;
  bool isWrite = false;
  bool isAtomic = false;
  bool isConditional = false; ///< not in every iteration
  FactSet facts;              ///< that hold there
};

/// A `parallel` with what its body was seen to do.
struct ParallelFrame {
  const ParallelStmt *stmt = nullptr;
  std::vector<LoopDomain> heads;
  FactSet outside;      ///< before the heads
  size_t factCount = 0; ///< facts inside before the body begins
  std::vector<Access> accesses;
};

/// Reports iterations that write what others read or write, once per array that has no report yet.
void checkIndependence(Context &ctx, const ParallelFrame &frame, DataFacts &data);

} // namespace ptl
