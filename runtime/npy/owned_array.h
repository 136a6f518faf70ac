#pragma once

#include "runtime/include/ptl.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl::rt {

/// A dense row-major array that owns its memory, aligned to PTL_RT_ALIGNMENT.
class OwnedArray {
public:
  OwnedArray() = default;

  /// Allocates an array of this shape, filled with zeros; nullopt if there is not enough memory.
  static std::optional<OwnedArray> make(PtlElem elem, std::vector<int64_t> extents);

  /// The same with uninitialised memory, which is not touched.
  static std::optional<OwnedArray> reserve(PtlElem elem, std::vector<int64_t> extents);

  PtlElem elem() const { return elem_; }
  const std::vector<int64_t> &extents() const { return extents_; }
  int64_t count() const { return count_; }
  int64_t bytes() const;
  void *data() const { return data_.get(); }

  /// A view of this array; valid during its lifetime and until it is moved.
  PtlArray view() const;

  /// Changes the element type to another one of the same width without changing the bits: files
  /// hold `bf16` and `f8` as unsigned integers. False, with nothing changed, if the widths differ.
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
