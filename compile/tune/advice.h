// Finds changes of the source that make an entry faster on a chip. Each is tried before it is
// reported: the changed text is checked, compiled and proved, and its time is estimated for the
// same call. If the kind of change does not guarantee equal values, both programs are run and
// compared.
#pragma once

#include "compile/compiler_options.h"
#include "compile/cost/cost.h"

#include <functional>
#include <optional>

namespace ptl {

/// One entry per row of `advice_kinds.def`, which describes each.
enum class AdviceKind : uint8_t {
#define ADVICE(NAME, ID, RUNS, LEAST, WHAT) NAME,
#include "compile/tune/advice_kinds.def"
};

struct AdviceInfo {
  AdviceKind kind;
  const char *id;   ///< `core-groups`
  bool runs;        ///< both programs are run and compared
  double least;     ///< changes that save a smaller share of the time are not reported
  const char *what; ///< description of the change
};
/// All rows, in order of the table.
const std::vector<AdviceInfo> &allAdviceInfos();
const AdviceInfo &adviceInfo(AdviceKind kind);

struct AdviceLimits {
  size_t mostTries = 160; ///< at most so many programs are compiled
  /// The search ends after this process has used so many seconds of processors, and what was found
  /// so far is reported. A busy machine thus takes longer, and finds the same. Null: no limit.
  std::optional<double> seconds = {};
  /// Asked before every try; true ends the search likewise. Null: never.
  std::function<bool()> isOver = {};
};

/// Fills in the advice for an entry, the best first, and what was tried. `cost` is its present
/// cost; `options` are those that it was compiled with, and have `chip` and `recheck`. There is no
/// advice if no time is known, for entries outside the root file, and for kernels at block level.
void advise(Cost &cost, const CostQuestion &question, const CompilerOptions &options,
            const AdviceLimits &limits);

} // namespace ptl
