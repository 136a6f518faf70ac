// Bytes as an array file: readNpy and the .npz reader never crash, never take more memory than the
// file justifies, and what they accept can be written and read back the same.
#include "runtime/npy/npy.h"
#include "runtime/npy/npz.h"

#include <cstdlib>
#include <cstring>

namespace {

void roundTrip(const ptl::rt::OwnedArray &array) {
  std::vector<uint8_t> written;
  ptl::rt::OwnedArray again;
  if (ptl::rt::writeNpy(array.view(), written) || ptl::rt::readNpy(written, again))
    std::abort();
  bool same = again.elem() == array.elem() && again.extents() == array.extents() &&
              std::memcmp(again.data(), array.data(), array.bytes()) == 0;
  if (!same)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const uint8_t> bytes(data, size);
  ptl::rt::OwnedArray array;
  if (!ptl::rt::readNpy(bytes, array))
    roundTrip(array);
  std::vector<std::string> names;
  if (ptl::rt::listNpz(bytes, names))
    return 0;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    if (!ptl::rt::readNpz(bytes, names[i], array))
      roundTrip(array);
  return 0;
}
