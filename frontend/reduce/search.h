// The greedy search for the smallest thing that still shows something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ptl {

/// Makes `item` smaller as long as a smaller form is accepted.
///
/// `formsOf(item)` gives the smaller forms of an item, as an object with `size()` and `make(index)`.
/// `judge(batch)` says for each item of a batch whether it is accepted; an empty answer ends the
/// search. A batch has `atOnce` items at most, which `judge` may look at in parallel.
///
/// After a form was accepted the search goes on behind its place in the list and returns to the
/// start last: what was refused before is seldom accepted now. At the end no form of the result is
/// accepted, unless `judge` ended the search.
template <typename Item, typename FormsOf, typename Judge>
Item smallestAccepted(Item item, size_t atOnce, FormsOf formsOf, Judge judge) {
  for (size_t next = 0;;) {
    auto forms = formsOf(item);
    size_t count = forms.size(), tried = 0;
    bool isSmaller = false;
    next = next < count ? next : 0;
    while (tried < count && !isSmaller) {
      size_t size = std::min(atOnce, count - tried);
      std::vector<Item> batch;
      for (size_t i = 0; i < size; ++i)
        batch.push_back(forms.make((next + i) % count));
      std::vector<bool> accepted = judge(batch);
      if (accepted.empty())
        return item;
      auto first = static_cast<size_t>(std::ranges::find(accepted, true) - accepted.begin());
      isSmaller = first < size;
      if (isSmaller)
        item = std::move(batch[first]);
      next = (next + std::min(first, size)) % count;
      tried += size;
    }
    if (!isSmaller)
      return item;
  }
}

} // namespace ptl
