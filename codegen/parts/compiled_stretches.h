// Which stretches of a program other code than the reference executor can compute, and what they take.
#pragma once

#include "codegen/parts/part_source.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace ptl::parts {

/// The stretches of a run, and what each value is to them.
struct CompiledStretches {
  std::vector<Stretch> stretches;
  std::vector<std::optional<size_t>> home; ///< by value: the stretch that computes it
  /// By value: made only if something that the reference executor computes needs it, because stretches repeat it in place, or
  /// because nothing uses this result of an operation that has others.
  std::vector<bool> onDemand;
};

/// Why the reference executor computes a stretch.
enum class LeftBecause : uint8_t { IsSmall, HasNoElements, HasNoText, IsRefused };
inline constexpr size_t kLeftReasons = 4;

/// How far a stretch is in the present round, and who has computed it how often so far.
struct StretchProgress {
  bool isPutOff = false;                         ///< its values are not made one by one
  bool isComplete = false;                       ///< all of its values have had their turn
  std::vector<bool> isDone = {};                 ///< by part
  std::vector<std::optional<bool>> isWorth = {}; ///< by part, if that is the same in all rounds
  uint64_t compiled = 0;
  std::array<uint64_t, kLeftReasons> left = {}; ///< by `LeftBecause`
};

/// `alone` are values that are also computed in pieces. `withCalls` is false if what a call does can be seen outside, so that no call may
/// be executed twice.
CompiledStretches compiledStretchesOf(const PlacedProgram &placed, std::vector<ValueId> alone,
                                      bool withCalls);

/// About how many nanoseconds the reference executor needs for a stretch.
double referenceTime(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents);

/// Whether all positions of a stretch lie in their arrays. If not, the reference executor says so.
bool staysInside(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                 const NumberOf &number);

/// Calls `visit` with each dimension that the text of a stretch depends on.
void forEachDim(const PlacedProgram &placed, const Stretch &stretch,
                const std::function<void(Dim)> &visit);

} // namespace ptl::parts
