// Finds changes of the source with which an entry takes less time on a chip. Each is tried before it is
// told: the changed text is checked, compiled and proved, its time is estimated for the same call, and
// where the form of a change does not keep the values by itself, both programs are run.
#pragma once

#include "compile/compiler_options.h"
#include "compile/cost/cost.h"

#include <functional>

namespace ptl {

/// One entry per row of `advice_kinds.def`, which says what each is.
enum class AdviceKind : uint8_t {
#define ADVICE(NAME, ID, RUNS, LEAST, WHAT) NAME,
#include "compile/tune/advice_kinds.def"
};

struct AdviceInfo {
  AdviceKind kind;
  const char *id;   ///< `core-groups`
  bool runs;        ///< both programs are run and compared
  double least;     ///< changes that save a smaller share of the time are not told
  const char *what; ///< what is changed
};
/// All rows, in order of the table.
const std::vector<AdviceInfo> &allAdviceInfos();
const AdviceInfo &adviceInfo(AdviceKind kind);

struct AdviceLimits {
  size_t mostTries = 160; ///< programs that are compiled
  /// Asked before every try; true ends the search, and what was found is told. Null: never.
  std::function<bool()> isOver = {};
};

/// Fills in the advice for an entry, the best first, and what was tried. `cost` is what it takes now;
/// `options` are those that it was compiled with, and have `chip` and `recheck`. There is none where no
/// time is known, for entries outside the root file, and for kernels at block level.
void advise(Cost &cost, const CostQuestion &question, const CompilerOptions &options,
            const AdviceLimits &limits);

} // namespace ptl
