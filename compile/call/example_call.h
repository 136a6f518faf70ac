// The call for which the cost of an entry is estimated; only lengths matter. They come from the
// request, from benches in the file, or are assumed, and the call records the origin of each.
#pragma once

#include "compile/call/assumed_elements.h"
#include "compile/entry/binding.h"
#include "compile/simulate/chip_runner.h"

#include <map>

namespace ptl {

/// A length or an integer of one call.
struct ExampleSize {
  std::string name; ///< of the dimension or parameter; `..` for a leading axis
  int64_t value = 0;
  std::string why; ///< `asked for`, `bench "…"`, `assumed`, `default`

  /// Neither the request nor a bench has it.
  bool isAssumed() const { return why == "assumed" || why == "default"; }
};

/// Lengths by name: `S`, or `f.S` for the declaration `f` alone.
using ExampleSizes = std::map<std::string, int64_t>;

/// The values of a request for one declaration that are integers.
ExampleSizes sizesWanted(const CallableDecl &decl, const Wanted &wanted);

/// The sizes that determine static dimensions, which are bound together with everything else in
/// `wanted`.
Wanted staticSizes(const CallableDecl &decl, const ExampleSizes &wanted);

/// The arguments of an entry on a chip. Arrays have no data unless it may decide how long the entry
/// takes.
struct ExampleCall {
  std::vector<ExampleSize> sizes;
  std::vector<AssumedElements> elements;     ///< of the arrays in `data`
  std::map<size_t, rt::OwnedArray> data;     ///< by number of the array
  std::vector<std::vector<int64_t>> extents; ///< of the arrays, then of the outputs
  std::vector<int32_t> elems;                ///< of these
  std::vector<PtlScalar> scalars;
  std::vector<bool> assumedScalars;        ///< see `ChipRun`
  std::vector<int64_t> lengths;            ///< leading axes, then dimensions
  std::map<std::string, int64_t> examples; ///< see `ChipRun`
  int64_t bytes = 0;                       ///< of all arrays

  /// Gives all arguments random elements that have none, and outputs room for theirs, so that the
  /// call can be run with values. `entry`: as for `exampleCall`. False: there is not enough memory.
  bool draw(const rt::Entry &entry);

  /// Runs the call; `how` has the remaining settings.
  rt::Failure run(ChipRunner &runner, const ChipRun &how) const;
};

/// The call for which an entry's cost is estimated. `entry` describes the declaration of `bound`.
/// Returns nothing, with the reason, if a length cannot be computed.
std::optional<ExampleCall> exampleCall(const CheckedProgram &program, const BoundEntry &bound,
                                       const rt::Entry &entry, const ExampleSizes &wanted,
                                       std::string &problem);

} // namespace ptl
