// Arrays as people read them, for compiled programs and for the reference executor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace ptl {

/// The elements of an array in brackets, one pair for each axis, a line for each row. Of an array of more
/// than a thousand elements only both ends of long axes are shown. `element(i)` is the text of the
/// element at offset `i`; strides count elements. No extent may be 0: an empty axis below long ones would
/// still have all their brackets.
template <typename Element> class ArrayText {
public:
  ArrayText(std::span<const int64_t> extents, std::span<const int64_t> strides, Element element)
      : extents_(extents), strides_(strides), element_(element) {
    double count = 1;
    for (int64_t extent : extents)
      count *= static_cast<double>(extent);
    shortens_ = count > kShownInFull;
  }

  std::string text() {
    append(0, 0);
    return std::move(text_);
  }

private:
  static constexpr double kShownInFull = 1000;
  static constexpr int64_t kShownAtEachEnd = 3;

  void append(size_t axis, int64_t offset) {
    if (axis == extents_.size()) {
      text_ += element_(offset);
      return;
    }
    int64_t extent = extents_[axis];
    bool isInner = axis + 1 == extents_.size();
    text_ += '[';
    for (int64_t i = 0; i < extent; ++i) {
      if (i > 0)
        text_ += isInner ? ", " : ",\n" + std::string(axis + 1, ' ');
      if (shortens_ && extent > 2 * kShownAtEachEnd && i == kShownAtEachEnd) {
        text_ += "...";
        i = extent - kShownAtEachEnd - 1;
        continue;
      }
      append(axis + 1, offset + i * strides_[axis]);
    }
    text_ += ']';
  }

  std::span<const int64_t> extents_, strides_;
  Element element_;
  bool shortens_ = false;
  std::string text_;
};

} // namespace ptl
