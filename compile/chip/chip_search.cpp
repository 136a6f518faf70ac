#include "compile/chip/chip_search.h"

#include <algorithm>

namespace ptl {

block::KernelSearch &ChipSearch::at(size_t kernel) {
  while (kernels_.size() <= kernel) {
    size_t next = kernels_.size(), group = next < groups_.size() ? groups_[next] : 0;
    // A kernel that is new in this tiling starts with the halvings of its group.
    int64_t halvings = group < byGroup_.size() ? byGroup_[group] : 0;
    kernels_.emplace_back(halvings, mayHalveOnceMore(), mayCut_, maySlice_);
  }
  return kernels_[kernel];
}

std::vector<block::LowerOptions> ChipSearch::options() const {
  std::vector<block::LowerOptions> all;
  for (const block::KernelSearch &each : kernels_)
    all.push_back(each.present().options);
  return all;
}

bool ChipSearch::isHalving(size_t kernel) const {
  return kernel < kernels_.size() && kernels_[kernel].present().isHalving;
}

SearchStep ChipSearch::orGiveUp(bool isFound, size_t kernel) {
  if (!isFound) {
    refusal_ = at(kernel).refusal();
    return SearchStep::GiveUp;
  }
  // A kernel that waits for smaller tiles need not be lowered with the present ones.
  return isHalving(kernel) ? SearchStep::GoOn : SearchStep::Lower;
}

SearchStep ChipSearch::afterOverflow(size_t kernel, const Overflow &overflow,
                                     const block::KernelTraits &traits) {
  return orGiveUp(at(kernel).afterOverflow(overflow, traits), kernel);
}

SearchStep ChipSearch::afterUncut(size_t kernel) {
  return orGiveUp(at(kernel).afterUncut(), kernel);
}

SearchStep ChipSearch::afterPlacing() {
  bool any = false;
  for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
    if (!isHalving(kernel))
      continue;
    size_t group = groups_[kernel];
    byGroup_.resize(std::max(byGroup_.size(), group + 1));
    ++byGroup_[group];
    any = true;
  }
  if (!any)
    return SearchStep::GoOn;
  // Groups without an overflow get entries too, so that all of them can be set below.
  byGroup_.resize(std::max(byGroup_.size(), 1 + *std::max_element(groups_.begin(), groups_.end())));
  // Where groups are others than before, their numbers say nothing.
  if (!halvedGroups_.empty() && halvedGroups_ != groups_)
    byGroup_.assign(byGroup_.size(), *std::max_element(byGroup_.begin(), byGroup_.end()));
  halvedGroups_ = groups_;
  // The options were found for other tiles; each kernel starts its list of changes anew.
  kernels_.clear();
  ++tilings_;
  return SearchStep::Tile;
}

} // namespace ptl
