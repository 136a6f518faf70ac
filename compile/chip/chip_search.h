// Searches for a way to lower an entry such that all its kernels fit a chip. Each kernel has its
// own list of changes (`passes/lower_block/lower_choices.h`); the tiles of tensor-level code are
// common to all kernels.
#pragma once

#include "passes/lower_block/lower_choices.h"

#include <deque>
#include <utility>

namespace ptl {

/// The next step: place further kernels, lower the present tiles again, tile again, or give up
/// because some kernel cannot fit.
enum class SearchStep : uint8_t { GoOn, Lower, Tile, GiveUp };

class ChipSearch {
public:
  /// `mayHalve`: the tiles come from tensor-level code, so the compiler chose them and may halve
  /// them. `mayCut`: tiles may be executed in parts; tiles that may be halved only once they are as
  /// small as possible. `maySlice`: vector cores may take slices of a tile in a queue. `halvings`:
  /// the initial halvings.
  ChipSearch(bool mayHalve, bool mayCut, bool maySlice = true, std::vector<int64_t> halvings = {})
      : mayHalve_(mayHalve), mayCut_(mayCut), maySlice_(maySlice), byGroup_(std::move(halvings)) {}

  /// How often each group's tiles are halved (`ir::PipelineOptions::halvings`).
  const std::vector<int64_t> &halvings() const { return byGroup_; }
  /// The options with which the kernels are lowered.
  std::vector<block::LowerOptions> options() const;

  /// Records the group of each kernel that has been lowered, as in `block::BlockProgram`.
  void see(const std::vector<size_t> &groups) { groups_ = groups; }
  /// Records that a kernel's buffers do not fit.
  SearchStep afterOverflow(size_t kernel, const Overflow &overflow,
                           const block::KernelTraits &traits);
  /// Records that a kernel's tiles cannot be cut as its options require.
  SearchStep afterUncut(size_t kernel);
  /// Records that all kernels fit except for those whose tiles will be halved. `GoOn` if there are
  /// none of these.
  SearchStep afterPlacing();

  /// Whether a kernel's tiles will be halved, so that placing it now would be useless.
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
  int64_t tilings_ = 0; ///< number of times the tiles were made anew
  std::vector<int64_t> byGroup_;
  std::vector<size_t> groups_; ///< the group of each present kernel
  /// the group of each kernel when tiles were last halved
  std::vector<size_t> halvedGroups_;
  std::deque<block::KernelSearch> kernels_; ///< of the present tiles
  Overflow refusal_;
};

} // namespace ptl
