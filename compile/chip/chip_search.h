// Searches for a way to lower an entry so that all its kernels fit a chip. Each kernel goes through
// its own list of changes (`passes/lower_block/lower_choices.h`); the tiles of tensor-level code
// change for all of them.
#pragma once

#include "passes/lower_block/lower_choices.h"

#include <deque>
#include <utility>

namespace ptl {

/// What has to be done next: place other kernels, lower again what has been tiled, tile again, or
/// give up because some kernel cannot fit.
enum class SearchStep : uint8_t { GoOn, Lower, Tile, GiveUp };

class ChipSearch {
public:
  /// `mayHalve`: the tiles are of tensor-level code, so the compiler chose them and may halve them.
  /// `mayCut`: tiles may be done in parts; tiles that may be halved only when they are as small as
  /// possible.
  /// `maySlice`: vector cores may take slices of what stands in a queue. `halvings`: with which it
  /// begins.
  ChipSearch(bool mayHalve, bool mayCut, bool maySlice = true, std::vector<int64_t> halvings = {})
      : mayHalve_(mayHalve), mayCut_(mayCut), maySlice_(maySlice), byGroup_(std::move(halvings)) {}

  /// How often each group's tiles are halved (`ir::PipelineOptions::halvings`).
  const std::vector<int64_t> &halvings() const { return byGroup_; }
  /// The options with which the kernels are lowered.
  std::vector<block::LowerOptions> options() const;

  /// Notes the group of each kernel that has been lowered, as `block::BlockProgram` gives it.
  void see(const std::vector<size_t> &groups) { groups_ = groups; }
  /// Notes that a kernel's buffers do not fit.
  SearchStep afterOverflow(size_t kernel, const Overflow &overflow,
                           const block::KernelTraits &traits);
  /// Notes that a kernel's tiles cannot be cut as its options require.
  SearchStep afterUncut(size_t kernel);
  /// Notes that all kernels fit except for those whose tiles will be halved. `GoOn` if there are
  /// none of these.
  SearchStep afterPlacing();

  /// Whether a kernel's tiles will be halved, so that there is no need to place it now.
  bool isHalving(size_t kernel) const;
  /// The state of the search for a kernel.
  const block::KernelSearch &of(size_t kernel) { return at(kernel); }
  /// After `GiveUp`, the reason.
  const Overflow &refusal() const { return refusal_; }

private:
  block::KernelSearch &at(size_t kernel);
  bool mayHalveOnceMore() const { return mayHalve_ && tilings_ < kMaxHalvings; }
  SearchStep orGiveUp(bool isFound, size_t kernel);

  static constexpr int64_t kMaxHalvings = 5;
  bool mayHalve_, mayCut_, maySlice_;
  int64_t tilings_ = 0; ///< how often tiles were made anew
  std::vector<int64_t> byGroup_;
  std::vector<size_t> groups_;              ///< of the kernels, as they are
  std::vector<size_t> halvedGroups_;        ///< of the kernels, when tiles were halved last
  std::deque<block::KernelSearch> kernels_; ///< of the present tiles
  Overflow refusal_;
};

} // namespace ptl
