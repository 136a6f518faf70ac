#pragma once

#include "runtime/context.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptl::rt {

/// One member of a zip archive, according to its directory.
struct ZipMember {
  std::string name;
  uint16_t method = 0; // 0 stored, 8 deflated
  uint32_t crc = 0;
  uint64_t packedSize = 0;
  uint64_t size = 0;
  uint64_t headerOffset = 0;
};

/// Reads the directory of the archive, also with 64-bit sizes.
Failure readZipDirectory(std::span<const uint8_t> bytes, std::vector<ZipMember> &members);

/// The contents of a member, with its checksum verified. Rejects sizes that its compressed data
/// cannot have.
Failure readZipMember(std::span<const uint8_t> bytes, const ZipMember &member,
                      std::vector<uint8_t> &content);

/// The contents of a member that is stored uncompressed, as a view, with its checksum verified;
/// empty, without a failure, if it is compressed.
Failure findStoredMember(std::span<const uint8_t> bytes, const ZipMember &member,
                         std::span<const uint8_t> &content);

/// Appends uncompressed members to an archive in memory; `finish` writes the directory.
class ZipWriter {
public:
  explicit ZipWriter(std::vector<uint8_t> &bytes) : bytes_(bytes) {}
  void add(const std::string &name, std::span<const uint8_t> content);
  /// Fails if the archive needs 64-bit sizes, which are not supported for writing.
  Failure finish();

private:
  std::vector<uint8_t> &bytes_;
  std::vector<ZipMember> members_;
};

} // namespace ptl::rt
