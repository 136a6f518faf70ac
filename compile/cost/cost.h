// Computes the cost of an entry on a chip, for each place of its source; for this processor it is a
// lower bound of the time (processor_cost.h). Editors show it in lenses, hints and hovers,
// `ptl/cost` answers with it, and `ptlc check --cost` prints it.
#pragma once

#include "compile/call/example_call.h"
#include "compile/cost/symbolic_cost.h"
#include "machines/costs.h"
#include "passes/analysis/program_storage.h"
#include "runtime/sim/time/estimate.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace ptl {

/// The work of a statement on this processor, and the least time that it takes.
struct StatementWork {
  double reads = 0, writes = 0; ///< bytes of arrays in memory
  double operations = 0;        ///< a multiply-add is two; a function such as `exp` several
  double moveUs = 0, computeUs = 0;
  /// The limiting resource: `memory`, `cache`, `f32 multiply-adds` (or of another type),
  /// `functions`, `arithmetic`.
  std::string by;

  double us() const { return moveUs > computeUs ? moveUs : computeUs; }
};

/// A statement, or a loop with everything in it.
struct StatementCost {
  Span span;
  std::string kind;    ///< `loop`, `statement`, `section`
  double us = 0;       ///< on the critical path
  double busyUs = 0;   ///< of all pipes of all cores
  uint64_t count = 0;  ///< instructions
  bool isLeaf = false; ///< contains no other statement
  Formula rounds = {}; ///< of a loop, if sizes alone determine it
  std::optional<StatementParts> parts = {};
  std::optional<StatementWork> work = {}; ///< of this processor
};

struct CostHint {
  std::string text;
  Span span = kNoSpan;
  double gain = 0; ///< share of the time that would be saved, computed by a second run; 0: unknown
};

/// A change of the source that makes the entry faster. It has been tried: the changed program
/// passes the checker and the prover, and `us` is its time for the same call
/// (compile/tune/advice.h).
struct CostAdvice {
  std::string kind; ///< of `advice_kinds.def`
  std::string text; ///< the change with its values: "`tiles(M, 128)`, `tiles(N, 256)`"
  Span span = kNoSpan;
  double us = 0;
  std::vector<TextEdit> edits; ///< of the root file
};

/// The times of an entry with other values of a number in its source, as far as they were tried:
/// for each value the least time over all other changes that were tried with it.
struct NumberTimes {
  std::string name; ///< `BM`, `tiles(M, ..)`
  Span span = kNoSpan;
  int64_t present = 0;
  std::vector<std::pair<int64_t, double>> times; ///< values in ascending order, and us
};

/// A lower bound of the time: the time of the work itself if it were spread evenly over all cores.
struct Roofline {
  double us = 0;
  std::string by; ///< `cube`, `vector`, `L2`, `memory`
};

struct Cost {
  std::string entry, target;
  std::vector<ExampleSize> sizes;
  std::vector<AssumedElements> elements;  ///< of arrays whose data may decide how long it takes
  std::vector<AssumedDecision> decisions; ///< decisions of the host by data that were not given
  std::string unknown;                    ///< why no time is known; empty if a time is known
  bool isLeast = false;                   ///< `us` is a lower bound: for this processor
  std::string machineText;                ///< the rates that this was computed with
  /// everything was simulated; otherwise the first rounds of loops represent the others
  bool exact = false;
  double us = 0;
  uint64_t operations = 0; ///< of a simulation of everything
  std::string bound;       ///< `cube-bound 87 %`
  std::string formula;     ///< `us` as a formula of the sizes (`timeFormula`); may be empty
  Roofline roofline;
  std::vector<rt::sim::PipeUse> pipes;
  int64_t groups = 0, groupsOfChip = 0;                 ///< core groups with work, and all
  ir::ProgramStorage storage;                           ///< of intermediate arrays, as formulas
  std::string storageUnknown;                           ///< why `storage` is unknown
  std::optional<rt::sim::StorageUse> storageUse;        ///< with these sizes
  std::vector<std::pair<std::string, double>> launches; ///< kernels in order, in us
  std::vector<std::pair<std::string, double>> path;     ///< us of the critical path by part
  std::vector<StatementCost> statements;                ///< in the order of the source
  std::vector<CostHint> hints;                          ///< only if requested
  std::vector<CostAdvice> advice;                       ///< only if requested; the best first
  std::vector<NumberTimes> tried;                       ///< during the search for advice

  double share(double ofUs) const { return us > 0 ? ofUs / us : 0; }
  /// The statement, or the innermost loop, with at least half of the time; null if there is none.
  const StatementCost *dominantStatement() const;
  const StatementCost *dominantLoop() const;
};

struct CostQuestion {
  const CheckedProgram &program;
  const SourceManager &sources;
  const BoundEntry &bound;
  const Machine &machine;
  const MachineCosts &costs;
  ExampleSizes sizes;
  bool hints = false;     ///< compute possible improvements as well, which takes several runs
  bool timeAlone = false; ///< only the time, its call and `operations` are needed
};

/// The cost of an entry that has been lowered for the machine. `reach` has the declarations that it
/// calls, whose statements are listed.
Cost costOf(const CostQuestion &question, const ChipProgram &program);

/// The time of the whole call in microseconds, where an estimate would simulate only the first
/// rounds of long loops. Nothing if that takes more than `mostOperations` operations, or no time is
/// known.
std::optional<double> simulatedTime(const CostQuestion &question, const ChipProgram &program,
                                    uint64_t mostOperations);

/// A simulated run of such a call, with the possible gains if `hints` is set. Runs of more than
/// `mostOperations` operations contain only the first rounds of their loops, and `isPart` is set.
/// Returns nothing, with the reason, if no time is known.
std::optional<rt::sim::Report> timelineOf(const CostQuestion &question, const ChipProgram &program,
                                          uint64_t mostOperations, bool &isPart,
                                          std::string &problem);

/// Fills in a cost from a run with the sizes in it. `bytes` is the size of all arguments.
void reportCost(Cost &cost, const rt::sim::Estimate &estimate, const CheckedProgram &program,
                const ir::EntryBinding &binding, const Machine &machine, const MachineCosts &costs,
                int64_t bytes);

} // namespace ptl
