// The search for a way in which all kernels of an entry fit a chip: each kernel by its own list of
// changes (`passes/lower_block/lower_choices.h`), the tiles of tensor-level code for all of them.
#pragma once

#include "passes/lower_block/lower_choices.h"

#include <deque>

namespace ptl {

/// What is to be done next: place other kernels, lower what is tiled again, tile it again, or give
/// up, since a kernel fits in no way.
enum class SearchStep : uint8_t { GoOn, Lower, Tile, GiveUp };

class ChipSearch {
public:
  /// `mayHalve`: the tiles are the compiler's own, of tensor-level code. `mayCut`: tiles may be
  /// done in parts, these once they are as small as they become.
  ChipSearch(bool mayHalve, bool mayCut) : mayHalve_(mayHalve), mayCut_(mayCut) {}

  /// How tiles of tensor-level code are to be made (`ir::PipelineOptions::halvings`).
  const std::vector<int64_t> &halvings() const { return byGroup_; }
  /// How the kernels are to be lowered.
  std::vector<block::LowerOptions> options() const;

  /// The group of each kernel of what has been lowered, as `block::BlockProgram` says.
  void see(const std::vector<size_t> &groups) { groups_ = groups; }
  /// A kernel's buffers do not fit.
  SearchStep afterOverflow(size_t kernel, const Overflow &overflow,
                           const block::KernelTraits &traits);
  /// Its tiles cannot be cut as its options say.
  SearchStep afterUncut(size_t kernel);
  /// All kernels fit but for those whose tiles are going to be halved. `GoOn`: there are none.
  SearchStep afterPlacing();

  /// Its tiles are going to be halved: there is no need to place it.
  bool isHalving(size_t kernel) const;
  /// What is known of the way of a kernel.
  const block::KernelSearch &of(size_t kernel) { return at(kernel); }
  /// Why there is none, after `GiveUp`.
  const Overflow &refusal() const { return refusal_; }

private:
  block::KernelSearch &at(size_t kernel);
  bool mayHalveOnceMore() const { return mayHalve_ && tilings_ < kMaxHalvings; }
  SearchStep orGiveUp(bool isFound, size_t kernel);

  static constexpr int64_t kMaxHalvings = 4;
  bool mayHalve_, mayCut_;
  int64_t tilings_ = 0; ///< how often tiles were made anew
  std::vector<int64_t> byGroup_;
  std::vector<size_t> groups_;              ///< of the kernels, as they are
  std::vector<size_t> halvedGroups_;        ///< of the kernels, when tiles were halved last
  std::deque<block::KernelSearch> kernels_; ///< of the present tiles
  Overflow refusal_;
};

} // namespace ptl
