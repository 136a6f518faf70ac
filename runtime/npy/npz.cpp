#include "runtime/npy/npz.h"

#include "runtime/npy/npy_header.h"
#include "runtime/npy/zip.h"

#include <string_view>

namespace ptl::rt {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string arrayName(const std::string &member) {
  bool has = member.size() >= kSuffix.size() &&
             member.compare(member.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
  return has ? member.substr(0, member.size() - kSuffix.size()) : member;
}

} // namespace

Failure listNpz(std::span<const uint8_t> bytes, std::vector<std::string> &names) {
  names.clear();
  std::vector<ZipMember> members;
  if (Failure failure = readZipDirectory(bytes, members))
    return failure;
  for (const ZipMember &member : members)
    names.push_back(arrayName(member.name));
  return {};
}

Failure readNpz(std::span<const uint8_t> bytes, const std::string &name, OwnedArray &array) {
  std::vector<ZipMember> members;
  if (Failure failure = readZipDirectory(bytes, members))
    return failure;
  std::string known;
  for (const ZipMember &member : members) {
    std::string found = arrayName(member.name);
    known += (known.empty() ? "" : ", ") + found;
    if (found != name)
      continue;
    std::vector<uint8_t> content;
    if (Failure failure = readZipMember(bytes, member, content))
      return failure;
    return readNpy(content, array);
  }
  return fileFailure("the archive has no array `" + name + "`; it has: " + known.substr(0, 400));
}

Failure writeNpz(std::span<const std::pair<std::string, PtlArray>> arrays,
                 std::vector<uint8_t> &bytes) {
  bytes.clear();
  ZipWriter writer(bytes);
  for (const auto &[name, array] : arrays) {
    std::vector<uint8_t> content;
    if (Failure failure = writeNpy(array, content))
      return failure;
    writer.add(name + std::string(kSuffix), content);
  }
  return writer.finish();
}

} // namespace ptl::rt
