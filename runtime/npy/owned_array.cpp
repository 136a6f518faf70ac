#include "runtime/npy/owned_array.h"

#include "runtime/arena.h"
#include "runtime/array_walk.h"
#include "runtime/format_value.h"

#include <cstring>

namespace ptl::rt {

std::optional<OwnedArray> OwnedArray::make(PtlElem elem, std::vector<int64_t> extents) {
  std::optional<OwnedArray> array = reserve(elem, std::move(extents));
  if (array)
    std::memset(array->data_.get(), 0, static_cast<size_t>(array->bytes()));
  return array;
}

std::optional<OwnedArray> OwnedArray::reserve(PtlElem elem, std::vector<int64_t> extents) {
  OwnedArray array;
  array.elem_ = elem;
  array.extents_ = std::move(extents);
  size_t rank = array.extents_.size();
  array.count_ = elementCount(rank, array.extents_.data());
  int64_t bytes = 0;
  // The shape may come from a file, whose product of extents is limited but whose bytes are not.
  if (__builtin_mul_overflow(array.count_, int64_t(elemInfo(elem)->size()), &bytes))
    return std::nullopt;
  array.strides_.resize(rank);
  int64_t next = 1;
  for (size_t axis = rank; axis-- > 0;) {
    array.strides_[axis] = next;
    // Only the strides of an empty array can fail to fit, and those are never used.
    if (__builtin_mul_overflow(next, std::max<int64_t>(array.extents_[axis], 1), &next))
      next = 1;
  }
  array.data_.reset(allocateAligned(bytes));
  if (!array.data_)
    return std::nullopt;
  return array;
}

int64_t OwnedArray::bytes() const { return count_ * elemInfo(elem_)->size(); }

PtlArray OwnedArray::view() const {
  return {data_.get(), static_cast<int64_t>(extents_.size()), extents_.data(), strides_.data(),
          elem_};
}

bool OwnedArray::reinterpretAs(PtlElem elem) {
  bool fits = sameStorage(elem_, elem) || (elem_ == PTL_U16 && elem == PTL_BF16) ||
              (elem_ == PTL_U8 && (elem == PTL_F8E4M3 || elem == PTL_F8E5M2 || elem == PTL_F8E8M0));
  if (fits)
    elem_ = elem;
  return fits;
}

std::string describe(const OwnedArray &array) {
  return elemName(array.elem()) + formatShape(array.extents().size(), array.extents().data());
}

} // namespace ptl::rt
