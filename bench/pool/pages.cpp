// Pages in the pool beside RocksDB, on the same folder: `ptl_pool_bench FOLDER [MIB]` writes and reads pages of 64 KiB to 4 MiB, MIB of them in
// all (default 512), and prints the best rate of three rounds. Neither waits for the disk. What is read is compared with what was written.
// `ptl_pool_bench --trace FILE BLOCKS ...` prints how many blocks of a trace of requests pools with room for so many find (`trace.py`). A request
// is a line of JSON with `hash_ids`, as Mooncake publishes them.
#include "common/tool_number.h"
#include "runtime/pool/page_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>
#ifdef PTL_BENCH_ROCKSDB
#include <rocksdb/db.h>
#endif

using namespace ptl::pool;

namespace {

using Page = std::vector<uint8_t>;

Key keyOf(uint64_t number) { return {number * 0x9e3779b97f4a7c15 + 1, number}; }

/// A page that nothing compresses, and that only its number makes.
void fill(Page &page, uint64_t number) {
  uint64_t state = number * 2 + 1;
  for (size_t i = 0; i + 8 <= page.size(); i += 8) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::memcpy(&page[i], &state, 8);
  }
}

/// Something that keeps pages. False: the page could not be written, or is not there.
struct Store {
  std::string name;
  std::function<bool(uint64_t, const Page &)> put;
  std::function<bool(uint64_t, Page &)> get;
};

double seconds(const std::function<void()> &what) {
  auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Rates {
  double write = 0, read = 0; ///< bytes per second
};

/// Writes all pages, and reads them in an order that is drawn.
bool measure(Store &store, size_t pageBytes, uint64_t pages, Rates &best) {
  std::vector<Page> written(16, Page(pageBytes)); // Making pages is no part of the time.
  double writing = 0;
  for (uint64_t first = 0; first < pages; first += written.size()) {
    uint64_t count = std::min<uint64_t>(written.size(), pages - first);
    for (uint64_t i = 0; i < count; ++i)
      fill(written[i], first + i);
    bool isKept = true;
    writing += seconds([&] {
      for (uint64_t i = 0; i < count; ++i)
        isKept &= store.put(first + i, written[i]);
    });
    if (!isKept)
      return false;
  }
  std::vector<uint64_t> order(pages);
  for (uint64_t i = 0; i < pages; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  double reading = 0;
  Page page(pageBytes), wanted(pageBytes);
  for (uint64_t number : order) {
    bool isThere = false;
    reading += seconds([&] { isThere = store.get(number, page); });
    fill(wanted, number);
    if (!isThere || page != wanted)
      return false;
  }
  double bytes = static_cast<double>(pageBytes * pages);
  best.write = std::max(best.write, bytes / writing);
  best.read = std::max(best.read, bytes / reading);
  return true;
}

Store poolStore(const std::string &folder, size_t pageBytes, uint64_t pages) {
  std::string why;
  PoolShape shape{static_cast<uint32_t>(pageBytes), static_cast<uint32_t>(pages)};
  std::shared_ptr<PagePool> pool = PagePool::open(folder + "/pool", shape, why);
  if (!pool) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
  return {
      "pool",
      [pool](uint64_t number, const Page &page) { return pool->put(keyOf(number), kNoKey, page); },
      [pool](uint64_t number, Page &page) { return pool->get(keyOf(number), page); }};
}

#ifdef PTL_BENCH_ROCKSDB
/// With blobs in files of their own, which are not written again when keys are sorted.
Store rocksStore(const std::string &folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.enable_blob_files = true;
  options.min_blob_size = 1024;
  options.compression = rocksdb::kNoCompression;
  rocksdb::DB *opened = nullptr;
  if (auto status = rocksdb::DB::Open(options, folder + "/rocksdb", &opened); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
  std::shared_ptr<rocksdb::DB> db(opened);
  auto slice = [](uint64_t number) {
    Key key = keyOf(number);
    return std::string(reinterpret_cast<const char *>(&key), sizeof key);
  };
  return {"rocksdb",
          [=](uint64_t number, const Page &page) {
            return db
                ->Put({}, slice(number),
                      rocksdb::Slice(reinterpret_cast<const char *>(page.data()), page.size()))
                .ok();
          },
          [=](uint64_t number, Page &page) {
            rocksdb::PinnableSlice found;
            if (!db->Get({}, db->DefaultColumnFamily(), slice(number), &found).ok() ||
                found.size() != page.size())
              return false;
            std::memcpy(page.data(), found.data(), page.size());
            return true;
          }};
}
#endif

int besides(const std::string &root, uint64_t bytes) {
  constexpr int kRounds = 3;
  std::printf("%-10s %8s %8s   %12s %12s\n", "store", "page KiB", "pages", "write MB/s",
              "read MB/s");
  for (size_t pageBytes : {64u << 10, 128u << 10, 256u << 10, 1u << 20, 4u << 20}) {
    uint64_t pages = std::max<uint64_t>(bytes / pageBytes, 1);
    std::vector<std::pair<std::string, std::function<Store(const std::string &)>>> stores = {
        {"pool", [=](const std::string &folder) { return poolStore(folder, pageBytes, pages); }}};
#ifdef PTL_BENCH_ROCKSDB
    stores.emplace_back("rocksdb", rocksStore);
#endif
    for (auto &[name, make] : stores) {
      Rates best;
      for (int round = 0; round < kRounds; ++round) {
        std::string folder = root + "/ptl-pool-bench";
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        Store store = make(folder);
        if (!measure(store, pageBytes, pages, best)) {
          std::fprintf(stderr, "%s lost a page\n", name.c_str());
          return 1;
        }
        store = {};
        std::filesystem::remove_all(folder);
      }
      std::printf("%-10s %8zu %8llu   %12.0f %12.0f\n", name.c_str(), pageBytes >> 10,
                  static_cast<unsigned long long>(pages), best.write / 1e6, best.read / 1e6);
      std::fflush(stdout);
    }
  }
#ifndef PTL_BENCH_ROCKSDB
  std::printf("absent: rocksdb (librocksdb-dev was not there when this was built)\n");
#endif
  return 0;
}

// ---- Traces ------------------------------------------------------------------------------------

/// The blocks of each request, which form a chain.
std::vector<std::vector<uint64_t>> requestsOf(const std::string &path) {
  std::vector<std::vector<uint64_t>> requests;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty())
      requests.push_back(nlohmann::json::parse(line)["hash_ids"].get<std::vector<uint64_t>>());
  return requests;
}

struct Found {
  uint64_t blocks = 0;
  std::string why; ///< what was wrong; empty if nothing was
};

/// The blocks at the front of requests that a pool with room for so many has. Its files hold small pages, which stand for those of a model; what
/// is found is read and compared. A request keeps what it has not found, in order, as far as there is room.
Found foundBy(const std::vector<std::vector<uint64_t>> &requests, uint32_t room,
              const std::string &folder) {
  constexpr uint32_t kPageBytes = 64;
  Found found;
  auto pool = PagePool::open(folder, {kPageBytes, room}, found.why);
  if (!pool)
    return found;
  Page page(kPageBytes), wanted(kPageBytes);
  for (const std::vector<uint64_t> &request : requests) {
    std::vector<Key> keys;
    for (uint64_t block : request)
      keys.push_back(keyOf(block));
    size_t count = pool->longestPrefix(keys);
    found.blocks += count;
    for (size_t at = 0; at < count; ++at) {
      fill(wanted, request[at]);
      if (!pool->get(keys[at], page) || page != wanted)
        found.why = "a page that was kept is not what it was";
    }
    for (size_t at = count; at < keys.size(); ++at) {
      fill(wanted, request[at]);
      if (!pool->put(keys[at], at ? keys[at - 1] : kNoKey, wanted))
        break;
    }
  }
  return found;
}

/// One line for each number of blocks: the number, and how many blocks were found.
int traced(const std::string &path, const std::vector<std::string> &rooms) {
  std::vector<std::vector<uint64_t>> requests = requestsOf(path);
  std::string folder = std::filesystem::temp_directory_path() / "ptl-pool-trace-XXXXXX";
  if (requests.empty() || !::mkdtemp(folder.data())) {
    std::fprintf(stderr, "%s has no requests, or no folder can be made for a pool\n", path.c_str());
    return 1;
  }
  std::string why;
  for (const std::string &room : rooms) {
    Found found = foundBy(requests, ptl::toolNumber<uint32_t>("BLOCKS", room), folder + "/" + room);
    if (why = found.why; !why.empty())
      break;
    std::printf("%s %llu\n", room.c_str(), static_cast<unsigned long long>(found.blocks));
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  if (!why.empty())
    std::fprintf(stderr, "%s\n", why.c_str());
  return why.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 3 && std::strcmp(argv[1], "--trace") == 0)
    return traced(argv[2], {argv + 3, argv + argc});
  if (argc < 2) {
    std::fprintf(stderr, "ptl_pool_bench FOLDER [MIB] | --trace FILE BLOCKS ...\n");
    return 2;
  }
  return besides(argv[1], (argc > 2 ? ptl::toolNumber<uint64_t>("MIB", argv[2]) : 512) << 20);
}
