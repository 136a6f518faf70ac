#pragma once

#include "runtime/context.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// One member of a zip archive, as its directory describes it.
struct ZipMember {
  std::string name;
  uint16_t method = 0; // 0 stored, 8 deflated
  uint32_t crc = 0;
  uint64_t packedSize = 0;
  uint64_t size = 0;
  uint64_t headerOffset = 0;
};

/// The directory of the archive, 64-bit sizes included.
Failure readZipDirectory(std::span<const uint8_t> bytes, std::vector<ZipMember> &members);

/// The content of a member, its checksum verified. Refuses sizes that its packed data cannot reach.
Failure readZipMember(std::span<const uint8_t> bytes, const ZipMember &member,
                      std::vector<uint8_t> &content);

/// The content of a member that is stored as it is, where it lies, its checksum verified; empty and no
/// failure if it is packed.
Failure findStoredMember(std::span<const uint8_t> bytes, const ZipMember &member,
                         std::span<const uint8_t> &content);

/// Appends members to an archive in memory, stored; `finish` writes the directory.
class ZipWriter {
public:
  explicit ZipWriter(std::vector<uint8_t> &bytes) : bytes_(bytes) {}
  void add(const std::string &name, std::span<const uint8_t> content);
  /// Fails when the archive needs 64-bit sizes, which are not written.
  Failure finish();

private:
  std::vector<uint8_t> &bytes_;
  std::vector<ZipMember> members_;
};

} // namespace ptl::rt
