#include "runtime/npy/zip.h"

#include "runtime/npy/npy_header.h"

#include <algorithm>
#include <optional>
#include <zlib.h>

namespace ptl::rt {
namespace {

constexpr uint32_t kMemberSignature = 0x04034b50;
constexpr uint32_t kDirectorySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint64_t kMemberHeaderSize = 30;
constexpr uint64_t kDirectoryRowSize = 46;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kLocator64Size = 20;
constexpr uint64_t kLongestComment = 65535;
constexpr uint64_t kMaxMembers = 1 << 16;
// No deflate stream grows by more than this.
constexpr uint64_t kHighestRatio = 1032;

/// Little-endian numbers at offsets that are known to lie inside.
class Fields {
public:
  explicit Fields(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  uint64_t get(uint64_t offset, int size) const {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i)
      value |= uint64_t(bytes_[offset + i]) << (8 * i);
    return value;
  }
  uint16_t u16(uint64_t offset) const { return static_cast<uint16_t>(get(offset, 2)); }
  uint32_t u32(uint64_t offset) const { return static_cast<uint32_t>(get(offset, 4)); }
  uint64_t u64(uint64_t offset) const { return get(offset, 8); }

private:
  std::span<const uint8_t> bytes_;
};

struct Directory {
  uint64_t offset = 0;
  uint64_t count = 0;
};

std::optional<uint64_t> findEnd(std::span<const uint8_t> bytes) {
  if (bytes.size() < kEndSize)
    return std::nullopt;
  Fields fields(bytes);
  uint64_t last = bytes.size() - kEndSize;
  uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
  // A comment of any length may follow the end, so its signature is looked for from behind.
  for (uint64_t at = last + 1; at-- > first;)
    if (fields.u32(at) == kEndSignature)
      return at;
  return std::nullopt;
}

Failure findDirectory(std::span<const uint8_t> bytes, Directory &directory) {
  std::optional<uint64_t> end = findEnd(bytes);
  if (!end)
    return fileFailure("this is not a .npz file: it has no zip directory");
  Fields fields(bytes);
  directory = {fields.u32(*end + 16), fields.u16(*end + 10)};
  // What does not fit the old fields is all ones there, and stands in a second directory of the
  // zip64 form, which a locator in front of the end points to.
  bool wide = directory.offset == UINT32_MAX || directory.count == UINT16_MAX;
  // Numbers that are just as large as the mark are possible without the wide form, so its absence
  // is no error.
  if (!wide || *end < kLocator64Size)
    return {};
  uint64_t locator = *end - kLocator64Size;
  if (fields.u32(locator) != kLocator64Signature)
    return {};
  uint64_t end64 = fields.u64(locator + 8);
  if (!fields.holds(end64, kEnd64Size) || fields.u32(end64) != kEnd64Signature)
    return fileFailure("the zip directory is damaged");
  directory = {fields.u64(end64 + 48), fields.u64(end64 + 32)};
  return {};
}

/// Replaces sizes that did not fit 32 bits by those of the extra field `extra`.
bool widen(const Fields &fields, uint64_t extra, uint64_t length, ZipMember &member) {
  uint64_t end = extra + length;
  while (end - extra >= 4) {
    uint64_t size = fields.u16(extra + 2);
    // Each length comes from the file and may reach beyond the field.
    if (size > end - extra - 4)
      return false;
    if (fields.u16(extra) == 1) {
      uint64_t at = extra + 4, last = at + size;
      // The extra field holds only those that did not fit, in this order.
      for (uint64_t *field : {&member.size, &member.packedSize, &member.headerOffset}) {
        if (*field != UINT32_MAX)
          continue;
        if (last - at < 8)
          return false;
        *field = fields.u64(at);
        at += 8;
      }
    }
    extra += 4 + size;
  }
  return true;
}

Failure inflateInto(std::span<const uint8_t> packed, std::vector<uint8_t> &content) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return {PTL_ERROR_MEMORY, "not enough memory to unpack the file", "", 0};
  // zlib counts in 32 bits, so both sides are fed in pieces.
  constexpr uint64_t piece = 1u << 30;
  uint64_t read = 0, written = 0;
  int status = Z_OK;
  uint8_t beyond = 0; // a stream longer than it says writes here
  while (status == Z_OK) {
    uint64_t in = std::min<uint64_t>(packed.size() - read, piece);
    uint64_t out = std::min<uint64_t>(content.size() - written, piece);
    bool full = out == 0;
    stream.next_in = const_cast<Bytef *>(packed.data() + read);
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = full ? &beyond : content.data() + written;
    stream.avail_out = full ? 1 : static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    uint64_t produced = (full ? 1 : out) - stream.avail_out;
    if (full && produced > 0)
      status = Z_DATA_ERROR;
    else
      written += produced;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || written != content.size())
    return fileFailure("the packed data is damaged");
  return {};
}

void put(std::vector<uint8_t> &bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// The fields that a member's own header and its row in the directory share.
void putCommon(std::vector<uint8_t> &bytes, const ZipMember &member) {
  put(bytes, 20, 2); // version needed
  put(bytes, 0, 2);  // flags
  put(bytes, member.method, 2);
  put(bytes, 0, 2);    // time
  put(bytes, 0x21, 2); // date: 1980-01-01, so that equal arrays make equal files
  put(bytes, member.crc, 4);
  put(bytes, member.packedSize, 4);
  put(bytes, member.size, 4);
  put(bytes, member.name.size(), 2);
  put(bytes, 0, 2); // extra
}

uint32_t checksum(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(crc32(0, nullptr, 0), bytes.data(), bytes.size()));
}

} // namespace

Failure readZipDirectory(std::span<const uint8_t> bytes, std::vector<ZipMember> &members) {
  members.clear();
  Directory directory;
  if (Failure failure = findDirectory(bytes, directory))
    return failure;
  if (directory.count > kMaxMembers)
    return fileFailure("the zip directory claims " + std::to_string(directory.count) + " members");
  Fields fields(bytes);
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    // Every length comes from the file, so each is checked before what it covers is read.
    if (!fields.holds(at, kDirectoryRowSize) || fields.u32(at) != kDirectorySignature)
      return fileFailure("the zip directory is damaged");
    uint64_t name = fields.u16(at + 28), extra = fields.u16(at + 30), comment = fields.u16(at + 32);
    if (!fields.holds(at + kDirectoryRowSize, name + extra + comment))
      return fileFailure("the zip directory is damaged");
    ZipMember member;
    member.name.assign(reinterpret_cast<const char *>(bytes.data()) + at + kDirectoryRowSize, name);
    member.method = fields.u16(at + 10);
    member.crc = fields.u32(at + 16);
    member.packedSize = fields.u32(at + 20);
    member.size = fields.u32(at + 24);
    member.headerOffset = fields.u32(at + 42);
    // The lowest of the flags says that the member is encrypted.
    bool encrypted = fields.u16(at + 8) & 1;
    if (encrypted || !widen(fields, at + kDirectoryRowSize + name, extra, member))
      return fileFailure(encrypted ? "the archive is encrypted" : "the zip directory is damaged");
    members.push_back(std::move(member));
    at += kDirectoryRowSize + name + extra + comment;
  }
  return {};
}

/// What a member has in the archive, packed or not.
static Failure findMember(std::span<const uint8_t> bytes, const ZipMember &member,
                          std::span<const uint8_t> &packed) {
  Fields fields(bytes);
  uint64_t at = member.headerOffset;
  if (!fields.holds(at, kMemberHeaderSize) || fields.u32(at) != kMemberSignature)
    return fileFailure("a member of the archive is not where the directory says");
  // The header of a member repeats its name and has an extra field of its own, whose lengths differ
  // from those of the directory.
  uint64_t data = at + kMemberHeaderSize + fields.u16(at + 26) + fields.u16(at + 28);
  if (!fields.holds(data, member.packedSize))
    return fileFailure("the file ends inside a member of the archive");
  packed = bytes.subspan(data, member.packedSize);
  bool stored = member.method == 0;
  if (!stored && member.method != 8)
    return fileFailure("packing method " + std::to_string(member.method) + " is not known");
  // Before memory is taken for a member it is checked that its packed bytes can become that many: a
  // small file could claim any size.
  bool possible =
      stored ? member.size == member.packedSize : member.size / kHighestRatio <= member.packedSize;
  if (!possible)
    return fileFailure("a member claims " + std::to_string(member.size) + " bytes, which " +
                       std::to_string(member.packedSize) + " packed bytes cannot hold");
  return {};
}

Failure findStoredMember(std::span<const uint8_t> bytes, const ZipMember &member,
                         std::span<const uint8_t> &content) {
  content = {};
  std::span<const uint8_t> found;
  if (Failure failure = findMember(bytes, member, found))
    return failure;
  if (member.method != 0)
    return {};
  if (checksum(found) != member.crc)
    return fileFailure("the checksum of a member is wrong");
  content = found;
  return {};
}

Failure readZipMember(std::span<const uint8_t> bytes, const ZipMember &member,
                      std::vector<uint8_t> &content) {
  std::span<const uint8_t> packed;
  if (Failure failure = findMember(bytes, member, packed))
    return failure;
  if (member.method == 0) {
    content.assign(packed.begin(), packed.end());
  } else {
    content.resize(member.size);
    if (Failure failure = inflateInto(packed, content))
      return failure;
  }
  if (checksum(content) != member.crc)
    return fileFailure("the checksum of a member is wrong");
  return {};
}

void ZipWriter::add(const std::string &name, std::span<const uint8_t> content) {
  ZipMember member{name, 0, checksum(content), content.size(), content.size(), bytes_.size()};
  put(bytes_, kMemberSignature, 4);
  putCommon(bytes_, member);
  bytes_.insert(bytes_.end(), name.begin(), name.end());
  bytes_.insert(bytes_.end(), content.begin(), content.end());
  members_.push_back(std::move(member));
}

Failure ZipWriter::finish() {
  uint64_t start = bytes_.size();
  for (const ZipMember &member : members_) {
    put(bytes_, kDirectorySignature, 4);
    put(bytes_, 20, 2); // version of the writer
    putCommon(bytes_, member);
    put(bytes_, 0, 6); // comment, disk, attributes of the writer
    put(bytes_, 0, 4); // attributes of its system
    put(bytes_, member.headerOffset, 4);
    bytes_.insert(bytes_.end(), member.name.begin(), member.name.end());
  }
  uint64_t size = bytes_.size() - start;
  // The old form is written, which every reader knows; its fields of 32 bits limit the size.
  if (bytes_.size() > UINT32_MAX || members_.size() >= UINT16_MAX)
    return fileFailure("the arrays are too large for one .npz; write them as .npy");
  put(bytes_, kEndSignature, 4);
  put(bytes_, 0, 4); // disks
  put(bytes_, members_.size(), 2);
  put(bytes_, members_.size(), 2);
  put(bytes_, size, 4);
  put(bytes_, start, 4);
  put(bytes_, 0, 2); // comment
  return {};
}

} // namespace ptl::rt
