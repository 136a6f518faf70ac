#include "runtime/npy/array_file.h"

#include "runtime/array_walk.h"
#include "runtime/npy/npy.h"
#include "runtime/npy/npy_header.h"
#include "runtime/npy/npz.h"
#include "runtime/npy/safetensors.h"
#include "runtime/npy/zip.h"

#include <array>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace ptl::rt {

static bool startsAsZip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] == 'K';
}

Failure ArrayFile::open(const std::string &path) {
  // What follows the name of such a file names an array in it, unless a file is really called so.
  constexpr std::array<std::string_view, 3> holders = {
      ".npz:", ".safetensors:", ".safetensors.index.json:"};
  std::string file = path, name;
  for (std::string_view holder : holders)
    // A file that is really called so wins, because a name of a file may hold a colon.
    if (size_t at = path.find(holder); at != path.npos && access(path.c_str(), F_OK) != 0) {
      file = path.substr(0, at + holder.size() - 1);
      name = path.substr(at + holder.size());
      break;
    }
  path_ = file;
  Failure failure = take(file, name);
  if (failure)
    failure.message = "`" + path_ + "`: " + failure.message;
  return failure;
}

Failure ArrayFile::take(const std::string &path, const std::string &name) {
  // The index says in which of several files a tensor is; paths in it are relative to its own
  // folder.
  if (std::string_view(path).ends_with(".safetensors.index.json")) {
    FileBytes index;
    std::string file;
    if (Failure failure = index.open(path))
      return failure;
    if (Failure failure = fileInIndex(index.bytes(), name, file))
      return failure;
    size_t slash = path.rfind('/');
    path_ = (slash == path.npos ? "" : path.substr(0, slash + 1)) + file;
    if (Failure failure = file_.open(path_))
      return failure;
    return takeTensor(name);
  }
  if (Failure failure = file_.open(path))
    return failure;
  if (startsAsZip(file_.bytes()))
    return takeMember(name);
  if (std::string_view(path).ends_with(".safetensors"))
    return takeTensor(name);
  // A `.npy` file holds one array without a name, so a name can only be a mistake.
  return name.empty() ? takeNpy(file_.bytes()) : fileFailure("this is not a .npz file");
}

Failure ArrayFile::takeNpy(std::span<const uint8_t> bytes) {
  NpyHeader header;
  if (Failure failure = parseNpyHeader(bytes, header))
    return failure;
  OwnedArray array;
  // What is turned round is read as a whole; so is what contradicts itself, which that finds.
  int64_t size = ptl_elem_size(header.elem);
  int64_t count = elementCount(static_cast<int64_t>(header.extents.size()), header.extents.data());
  bool isPlain = !header.bigEndian && !header.fortranOrder && count >= 0 &&
                 static_cast<uint64_t>(count) <=
                     (bytes.size() - header.dataOffset) / static_cast<uint64_t>(size);
  if (!isPlain) {
    if (Failure failure = readNpy(bytes, array))
      return failure;
    whole_ = std::move(array);
  }
  elem_ = header.elem;
  extents_ = header.extents;
  data_ = isPlain ? bytes.data() + header.dataOffset : static_cast<uint8_t *>(whole_->data());
  return {};
}

Failure ArrayFile::takeMember(std::string name) {
  std::span<const uint8_t> bytes = file_.bytes();
  if (name.empty()) {
    std::vector<std::string> names;
    if (Failure failure = listNpz(bytes, names))
      return failure;
    if (names.size() != 1) {
      std::string known;
      for (const std::string &each : names)
        known += (known.empty() ? "" : ", ") + each;
      return fileFailure("the archive holds " + std::to_string(names.size()) +
                         " arrays; add `:name` with one of: " + known.substr(0, 400));
    }
    name = names[0];
  }
  std::vector<ZipMember> members;
  if (Failure failure = readZipDirectory(bytes, members))
    return failure;
  for (const ZipMember &member : members) {
    if (member.name != name && member.name != name + ".npy")
      continue;
    std::span<const uint8_t> stored;
    // A member that is not packed can be mapped, and read in parts; others are unpacked whole.
    if (Failure failure = findStoredMember(bytes, member, stored))
      return failure;
    // An empty span says that the member is packed, and then the reader below unpacks it.
    if (!stored.empty())
      return takeNpy(stored);
    break;
  }
  OwnedArray array;
  if (Failure failure = readNpz(bytes, name, array))
    return failure;
  whole_ = std::move(array);
  elem_ = whole_->elem();
  extents_ = whole_->extents();
  data_ = static_cast<uint8_t *>(whole_->data());
  return {};
}

Failure ArrayFile::takeTensor(const std::string &name) {
  SafeTensor tensor;
  if (Failure failure = findSafetensor(file_.bytes(), name, tensor))
    return failure;
  elem_ = tensor.elem;
  extents_ = tensor.extents;
  // The format is little-endian and row-major, so the elements stay in the mapped file.
  data_ = file_.bytes().data() + tensor.begin;
  return {};
}

Failure ArrayFile::read(OwnedArray &array) const {
  std::vector<AxisPart> all;
  for (int64_t extent : extents_)
    all.push_back({0, extent});
  return read(all, array);
}

Failure ArrayFile::read(std::span<const AxisPart> part, OwnedArray &array) const {
  std::vector<int64_t> extents;
  for (const AxisPart &axis : part)
    extents.push_back(axis.second - axis.first);
  std::optional<OwnedArray> made = OwnedArray::make(elem_, extents);
  if (!made)
    return {PTL_ERROR_MEMORY, "`" + path_ + "`: not enough memory for its elements", "", 0};
  int64_t size = ptl_elem_size(elem_);
  // One piece for all axes from the innermost one on that the part does not have whole.
  size_t outer = extents.size();
  int64_t piece = size;
  for (bool isWhole = true; outer > 0 && isWhole; --outer) {
    piece *= extents[outer - 1];
    isWhole = extents[outer - 1] == extents_[outer - 1];
  }
  auto *out = static_cast<uint8_t *>(made->data());
  // A part with an empty axis has pieces of no bytes, and nothing is copied.
  int64_t pieces = piece ? made->bytes() / piece : 0;
  std::vector<int64_t> at(outer, 0);
  for (int64_t number = 0; number < pieces; ++number, out += piece) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      offset = offset * extents_[axis] + part[axis].first + (axis < outer ? at[axis] : 0);
    std::memcpy(out, data_ + offset * size, static_cast<size_t>(piece));
    // The positions count like the digits of a number: the last axis first, with a carry to the one
    // before.
    for (size_t axis = outer; axis-- > 0;) {
      if (++at[axis] < extents[axis])
        break;
      at[axis] = 0;
    }
  }
  array = std::move(*made);
  return {};
}

} // namespace ptl::rt
