#pragma once

#include "runtime/include/ptl.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl::rt {

/// A dense row-major array with memory of its own, aligned to PTL_RT_ALIGNMENT.
class OwnedArray {
public:
  OwnedArray() = default;

  /// Memory for an array of this shape, all zero; nullopt if it cannot be had.
  static std::optional<OwnedArray> make(PtlElem elem, std::vector<int64_t> extents);

  /// The same without touching the memory: for arrays whose values do not matter.
  static std::optional<OwnedArray> reserve(PtlElem elem, std::vector<int64_t> extents);

  PtlElem elem() const { return elem_; }
  const std::vector<int64_t> &extents() const { return extents_; }
  int64_t count() const { return count_; }
  int64_t bytes() const;
  void *data() const { return data_.get(); }

  /// Describes this array; valid while it lives and is not moved.
  PtlArray view() const;

  /// Takes the bits as another element type of the same width: files hold `bf16` and `f8` as
  /// unsigned integers. False, and nothing changes, if the two do not fit.
  bool reinterpretAs(PtlElem elem);

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  PtlElem elem_ = PTL_F32;
  std::vector<int64_t> extents_;
  std::vector<int64_t> strides_;
  int64_t count_ = 0;
  std::unique_ptr<void, Free> data_;
};

/// "f32[3, 4]".
std::string describe(const OwnedArray &array);

} // namespace ptl::rt
