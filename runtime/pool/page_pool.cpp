#include "runtime/pool/page_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace ptl::pool {

enum class RecordKind : uint32_t {
  Shape = 1, ///< the first one: slots, `checksum` bytes of a page, `key.low` slots of a segment
  Put,       ///< the page is in the slot
  Evict,     ///< the page is gone
  Use,       ///< it and its ancestors were used
};

struct LogRecord {
  RecordKind kind = RecordKind::Use;
  uint32_t slot = 0;
  Key key, parent;
  uint32_t pageChecksum = 0;
  uint32_t checksum = 0; ///< of all before
};
static_assert(sizeof(LogRecord) == 48);

static uint32_t checksumOfRecord(const LogRecord &record) {
  return static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef *>(&record), offsetof(LogRecord, checksum)));
}

// ---- Turns -------------------------------------------------------------------------------------

/// One operation at a time, over all processes: the system gives the lock back however one ends.
class PagePool::Turn {
public:
  explicit Turn(PagePool &pool) : pool_(pool), lock_(pool.mutex_) {
    while (::flock(pool.lock_, LOCK_EX) != 0 && errno == EINTR)
      ;
    // Other processes have gone on since the last turn, so what they did is read before anything is
    // decided.
    isWell_ = pool.catchUp();
  }
  ~Turn() { ::flock(pool_.lock_, LOCK_UN); }
  Turn(const Turn &) = delete;
  explicit operator bool() const { return isWell_; }

private:
  PagePool &pool_;
  std::lock_guard<std::mutex> lock_;
  bool isWell_ = false;
};

// ---- Opening -----------------------------------------------------------------------------------

std::unique_ptr<PagePool> PagePool::open(const std::string &folder, PoolShape shape,
                                         std::string &why) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::unique_ptr<PagePool> pool(new PagePool(folder, shape));
  if (shape.pageBytes == 0 || shape.slots == 0 || shape.slotsPerSegment == 0) {
    why = "a pool has pages, and room for at least one";
    return nullptr;
  }
  pool->lock_ = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (error || pool->lock_ < 0) {
    why = "the pool `" + folder +
          "` cannot be made: " + (error ? error.message() : std::string(std::strerror(errno)));
    return nullptr;
  }
  // The first turn reads the log, or begins it where there is none.
  if (Turn turn(*pool); !turn) {
    why = pool->log_ < 0 ? "`" + folder + "/log` cannot be opened: " + std::strerror(errno)
                         : "the pool `" + folder + "` was made for other pages";
    return nullptr;
  }
  return pool;
}

PagePool::~PagePool() {
  for (int file : segments_)
    if (file >= 0)
      ::close(file);
  for (int file : {lock_, log_})
    if (file >= 0)
      ::close(file);
}

void PagePool::forget() {
  index_.clear(shape_.slots);
  logEnd_ = 0;
}

/// Opens the log. Another process may have replaced it by a new file, which is then read from its beginning.
bool PagePool::openLog() {
  std::string path = folder_ + "/log";
  struct stat there, mine;
  if (log_ >= 0 && ::stat(path.c_str(), &there) == 0 && ::fstat(log_, &mine) == 0 &&
      there.st_ino == mine.st_ino && there.st_dev == mine.st_dev)
    return true;
  if (log_ >= 0)
    ::close(log_);
  // A new file says everything anew, so what is known of the old one must not stay.
  log_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  forget();
  return log_ >= 0;
}

/// Everything that others have done. A record that a process has begun when it was killed is cut off.
bool PagePool::catchUp() {
  if (!openLog())
    return false;
  replay();
  if (logEnd_ > 0)
    return true;
  // The first record says what the pool is made for.
  LogRecord record{
      RecordKind::Shape, shape_.slots, {shape_.pageBytes, shape_.slotsPerSegment}, {}, 0, 0};
  struct stat status;
  // A log with contents of which none could be read is that of a pool for other pages.
  return ::fstat(log_, &status) == 0 && status.st_size == 0 && append(record);
}

void PagePool::replay() {
  constexpr size_t kMost = 1024;
  std::vector<LogRecord> records(kMost);
  for (bool isEnd = false; !isEnd;) {
    ssize_t size =
        ::pread(log_, records.data(), kMost * sizeof(LogRecord), static_cast<off_t>(logEnd_));
    isEnd = size < static_cast<ssize_t>(kMost * sizeof(LogRecord));
    for (size_t at = 0; at * sizeof(LogRecord) < static_cast<size_t>(std::max<ssize_t>(size, 0));
         ++at) {
      const LogRecord &record = records[at];
      // A process that was killed while it wrote may have left a part of a record; the log ends
      // before it.
      bool isWhole = (at + 1) * sizeof(LogRecord) <= static_cast<size_t>(size) &&
                     record.checksum == checksumOfRecord(record);
      bool isOther = isWhole && record.kind == RecordKind::Shape &&
                     PoolShape{static_cast<uint32_t>(record.key.high), record.slot,
                               static_cast<uint32_t>(record.key.low)} != shape_;
      // A pool of other pages is left as it is; the caller finds no record of its own and fails.
      if (isOther)
        return;
      if (!isWhole) {
        (void)!::ftruncate(log_, static_cast<off_t>(logEnd_));
        return;
      }
      apply(record);
      logEnd_ += sizeof record;
    }
  }
}

void PagePool::apply(const LogRecord &record) {
  switch (record.kind) {
  case RecordKind::Put:
    index_.insert(record.key, {record.parent, record.slot, record.pageChecksum, {}});
    return;
  case RecordKind::Evict:
    index_.remove(record.key);
    return;
  case RecordKind::Use:
    index_.touch(record.key);
    return;
  case RecordKind::Shape:
    return;
  }
}

bool PagePool::append(LogRecord record) {
  record.checksum = checksumOfRecord(record);
  if (::pwrite(log_, &record, sizeof record, static_cast<off_t>(logEnd_)) != sizeof record) {
    (void)!::ftruncate(log_, static_cast<off_t>(logEnd_));
    return false;
  }
  logEnd_ += sizeof record;
  apply(record);
  // The log is written anew when most of it is about pages that are gone.
  uint64_t live = sizeof record * (index_.size() + 1);
  constexpr uint64_t kMostDead = uint64_t(1) << 20;
  return logEnd_ < 2 * live + kMostDead || compact();
}

/// The log of what is there, what was used last at the end: read again it gives the same order.
bool PagePool::compact() {
  std::vector<LogRecord> records = {
      {RecordKind::Shape, shape_.slots, {shape_.pageBytes, shape_.slotsPerSegment}, {}, 0, 0}};
  for (auto key = index_.ages().rbegin(); key != index_.ages().rend(); ++key) {
    const PageIndex::Entry &entry = *index_.find(*key);
    records.push_back({RecordKind::Put, entry.slot, *key, entry.parent, entry.checksum, 0});
  }
  for (LogRecord &record : records)
    record.checksum = checksumOfRecord(record);
  // The new log replaces the old one by a rename: a process that is killed here leaves one of them, whole.
  std::string path = folder_ + "/log.new";
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  auto size = static_cast<ssize_t>(records.size() * sizeof(LogRecord));
  bool isWell = file >= 0 && ::write(file, records.data(), static_cast<size_t>(size)) == size &&
                ::fsync(file) == 0 && std::rename(path.c_str(), (folder_ + "/log").c_str()) == 0;
  if (!isWell) {
    if (file >= 0)
      ::close(file);
    return true; // The old log goes on.
  }
  ::close(log_);
  log_ = file;
  logEnd_ = static_cast<uint64_t>(size);
  return true;
}

// ---- Room -----------------------------------------------------------------------------------

/// Takes a page out with all that hangs on it.
bool PagePool::drop(Key key) {
  std::vector<Key> gone = index_.withDescendants(key);
  return std::ranges::all_of(
      gone, [&](Key each) { return append({RecordKind::Evict, 0, each, {}, 0, 0}); });
}

/// Evicts what was not used for the longest time, but no ancestor of what is to come.
bool PagePool::makeRoom(Key parent) {
  if (index_.freeSlot())
    return true;
  std::optional<Key> leaving = index_.leaving(parent);
  counts_.evicted += leaving.has_value();
  // The oldest page has no children, because a page is never older than they are; so one record is
  // enough.
  return leaving && append({RecordKind::Evict, 0, *leaving, {}, 0, 0});
}

// ---- Pages -------------------------------------------------------------------------------------

/// The file of a slot, with room for all its pages.
int PagePool::segment(uint32_t slot) {
  size_t number = slot / shape_.slotsPerSegment;
  segments_.resize(std::max(segments_.size(), number + 1), -1);
  if (segments_[number] < 0) {
    std::string path = folder_ + "/segment-" + std::to_string(number);
    int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    // The last segment may have fewer slots than the others.
    uint32_t first = static_cast<uint32_t>(number) * shape_.slotsPerSegment;
    uint64_t pages = std::min(shape_.slotsPerSegment, shape_.slots - first);
    if (file >= 0 &&
        ::posix_fallocate(file, 0, static_cast<off_t>(pages * shape_.pageBytes)) != 0) {
      ::close(file);
      file = -1;
    }
    segments_[number] = file;
  }
  return segments_[number];
}

/// Reads a page, or writes one.
bool PagePool::transfer(uint32_t slot, uint8_t *to, const uint8_t *from) {
  int file = segment(slot);
  uint64_t begin = uint64_t(slot % shape_.slotsPerSegment) * shape_.pageBytes;
  for (size_t at = 0; file >= 0 && at < shape_.pageBytes;) {
    size_t left = shape_.pageBytes - at;
    auto place = static_cast<off_t>(begin + at);
    ssize_t done =
        to ? ::pread(file, to + at, left, place) : ::pwrite(file, from + at, left, place);
    // Room was reserved before, so a file that ends here was cut by somebody else.
    if (done == 0 || (done < 0 && errno != EINTR))
      return false;
    at += static_cast<size_t>(std::max<ssize_t>(done, 0));
  }
  return file >= 0;
}

uint32_t PagePool::checksumOf(Key key, std::span<const uint8_t> page) const {
  uLong sum = ::crc32_z(0, reinterpret_cast<const Bytef *>(&key), sizeof key);
  return static_cast<uint32_t>(::crc32_z(sum, page.data(), page.size()));
}

bool PagePool::put(Key key, Key parent, std::span<const uint8_t> page) {
  Turn turn(*this);
  if (!turn || page.size() != shape_.pageBytes || key == kNoKey)
    return false;
  if (index_.find(key))
    return append({RecordKind::Use, 0, key, {}, 0, 0});
  // Without the pages before it, a page would never be found.
  if ((parent != kNoKey && !index_.find(parent)) || !makeRoom(parent))
    return false;
  uint32_t slot = *index_.freeSlot(), checksum = checksumOf(key, page);
  // The page comes before its record: who is killed between them leaves a free slot.
  if (!transfer(slot, nullptr, page.data()) ||
      !append({RecordKind::Put, slot, key, parent, checksum, 0}))
    return false;
  ++counts_.kept;
  return true;
}

bool PagePool::get(Key key, std::span<uint8_t> page) {
  Turn turn(*this);
  const PageIndex::Entry *found = turn ? index_.find(key) : nullptr;
  if (!found || page.size() != shape_.pageBytes) {
    ++counts_.misses;
    return false;
  }
  if (!transfer(found->slot, page.data(), nullptr) || checksumOf(key, page) != found->checksum) {
    // The pages behind a damaged one are of no use without it.
    ++counts_.damaged;
    ++counts_.misses;
    drop(key);
    return false;
  }
  ++counts_.hits;
  append({RecordKind::Use, 0, key, {}, 0, 0});
  return true;
}

bool PagePool::use(Key key) {
  Turn turn(*this);
  return turn && index_.find(key) && append({RecordKind::Use, 0, key, {}, 0, 0});
}

size_t PagePool::longestPrefix(std::span<const Key> keys) {
  Turn turn(*this);
  size_t count = 0;
  while (turn && count < keys.size() && index_.find(keys[count]))
    ++count;
  // The use of a page is one of all its ancestors.
  if (count > 0)
    append({RecordKind::Use, 0, keys[count - 1], {}, 0, 0});
  return count;
}

std::vector<Key> PagePool::keys() {
  Turn turn(*this);
  return {index_.ages().begin(), index_.ages().end()};
}

} // namespace ptl::pool
