#pragma once

#include "runtime/npy/file_bytes.h"
#include "runtime/npy/owned_array.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace ptl::rt {

/// The positions of one axis, the end excluded.
using AxisPart = std::pair<int64_t, int64_t>;

/// An array in a file, of which all or a part is read: "x.npy", "x.npz" and "x.safetensors" with
/// exactly one array, "x.npz:name", "x.safetensors:name", and "model.safetensors.index.json:name"
/// for one of several files beside the index. Messages start with the path.
class ArrayFile {
public:
  ArrayFile() = default;
  ArrayFile(const ArrayFile &) = delete;

  Failure open(const std::string &path);

  PtlElem elem() const { return elem_; }
  const std::vector<int64_t> &extents() const { return extents_; }

  Failure read(OwnedArray &array) const;
  /// Reads a part of the array, which must lie inside it, as a dense array. Only the part is
  /// loaded, unless the file is compressed, or has another order of bytes or axes.
  Failure read(std::span<const AxisPart> part, OwnedArray &array) const;

private:
  Failure take(const std::string &path, const std::string &name);
  Failure takeNpy(std::span<const uint8_t> bytes);
  Failure takeMember(std::string name);
  Failure takeTensor(const std::string &name);

  std::string path_;
  FileBytes file_;
  PtlElem elem_ = PTL_F32;
  std::vector<int64_t> extents_;
  const uint8_t *data_ = nullptr;   ///< dense and row-major, in the mapped file
  std::optional<OwnedArray> whole_; ///< of a file without such data
};

} // namespace ptl::rt
