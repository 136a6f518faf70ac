// The pool beside a plain model of what was used last, and under everything that may happen to its files and to
// the processes that share them.
#include "frontend/base/folder_test_util.h"
#include "runtime/pool/pool_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <poll.h>
#include <random>
#include <set>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptl::pool {
namespace {

namespace fs = std::filesystem;

/// The first keys of chain `chain`; chains have their first pages in common in fours and sixteens, as requests
/// that begin alike.
std::vector<Key> chainOf(uint64_t chain, size_t count) {
  std::vector<Key> keys;
  for (uint64_t at = 0; at < count; ++at)
    keys.push_back({at < 2 ? chain / 16 + 1 : at < 4 ? chain / 4 + 1 : chain + 1, at + 1});
  return keys;
}
Key parentOf(std::span<const Key> chain, size_t at) { return at ? chain[at - 1] : kNoKey; }

class PagePools : public FolderTest {
protected:
  std::unique_ptr<PagePool> open(uint32_t slots, std::string *why = nullptr) {
    std::string reason;
    auto pool = PagePool::open(folder_, {kPage, slots, 7}, reason);
    if (why)
      *why = reason;
    else
      EXPECT_TRUE(pool) << reason;
    return pool;
  }
  static void expectPage(PagePool &pool, Key key, bool isThere) {
    std::vector<uint8_t> page(kPage);
    EXPECT_EQ(pool.get(key, page), isThere);
    if (isThere)
      EXPECT_EQ(page, pageOf(key));
  }
};

TEST_F(PagePools, KeepWhatALeastRecentlyUsedListKeeps) {
  for (uint32_t room : {1u, 3u, 20u, 64u}) {
    fs::remove_all(folder_);
    auto pool = open(room);
    Model model(room);
    std::mt19937 dice(room);
    uint64_t found = 0, hits = 0;
    for (int request = 0; request < 1500; ++request) {
      std::vector<Key> chain = chainOf(dice() % 48, 1 + dice() % 7);
      size_t length = pool->longestPrefix(chain), expected = 0;
      while (expected < chain.size() && model.has(chain[expected]))
        ++expected;
      if (expected > 0)
        model.use(chain[expected - 1]);
      ASSERT_EQ(length, expected) << "request " << request << ", room for " << room;
      found += length;
      if (length > 0 && dice() % 2) {
        expectPage(*pool, chain[length - 1], true);
        model.use(chain[length - 1]);
        ++hits;
      }
      for (size_t at = length; at < chain.size(); ++at)
        ASSERT_EQ(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])),
                  model.put(chain[at], parentOf(chain, at)));
      ASSERT_EQ(pool->keys(), model.keys()) << "request " << request << ", room for " << room;
      if (request % 100 == 99)
        pool = open(room);
    }
    EXPECT_GT(found, 0u);
    EXPECT_GT(hits, 0u);
    for (Key key : model.keys())
      expectPage(*pool, key, true);
  }
}

/// Requests that share the beginnings of popular ones, as in traces of services: the pool finds as much of them as a plain cache, in
/// which the blocks of a request count as used from the last one to the first.
TEST_F(PagePools, FindAsMuchOfATraceAsAPlainCache) {
  std::mt19937_64 dice(11);
  // Popularity falls as one over the rank (Zipf).
  constexpr uint64_t kPrompts = 60;
  std::vector<double> weights;
  for (uint64_t rank = 1; rank <= kPrompts; ++rank)
    weights.push_back(1 / static_cast<double>(rank));
  std::discrete_distribution<uint64_t> prompt(weights.begin(), weights.end());
  std::vector<std::vector<Key>> requests;
  for (uint64_t number = 0; number < 600; ++number) {
    uint64_t common = prompt(dice), shared = 1 + dice() % (2 + common % 9);
    std::vector<Key> &keys = requests.emplace_back();
    for (uint64_t at = 0, count = shared + dice() % 4; at < count; ++at)
      keys.push_back({at < shared ? common + 1 : kPrompts + 1 + number, at + 1});
  }
  uint64_t before = 0;
  for (uint32_t room : {13u, 60u, 240u, 4000u}) {
    fs::remove_all(folder_);
    auto pool = open(room);
    std::list<Key> used;
    std::map<Key, std::list<Key>::iterator> places;
    uint64_t found = 0, foundByCache = 0;
    for (const std::vector<Key> &keys : requests) {
      size_t length = pool->longestPrefix(keys);
      found += length;
      for (size_t at = length; at < keys.size(); ++at)
        ASSERT_TRUE(pool->put(keys[at], parentOf(keys, at), pageOf(keys[at])));
      for (size_t at = 0; at < keys.size() && places.contains(keys[at]); ++at)
        ++foundByCache;
      for (size_t at = keys.size(); at-- > 0;) {
        if (auto place = places.find(keys[at]); place != places.end())
          used.erase(place->second);
        used.push_front(keys[at]);
        places[keys[at]] = used.begin();
      }
      for (; used.size() > room; used.pop_back())
        places.erase(used.back());
    }
    EXPECT_EQ(found, foundByCache) << room;
    EXPECT_GT(found, before) << room;
    before = found;
  }
}

TEST_F(PagePools, APageComesWithItsParent) {
  auto pool = open(4);
  std::vector<Key> chain = chainOf(5, 6);
  EXPECT_FALSE(pool->put(chain[1], chain[0], pageOf(chain[1])));
  for (size_t at = 0; at < 4; ++at)
    EXPECT_TRUE(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])));
  EXPECT_FALSE(pool->put(chain[4], chain[3], pageOf(chain[4]))); // Only ancestors could leave.
  EXPECT_EQ(pool->longestPrefix(chain), 4u);
  EXPECT_FALSE(pool->put(kNoKey, kNoKey, pageOf(chain[0])));
  EXPECT_FALSE(pool->put({9, 9}, kNoKey, std::vector<uint8_t>(kPage - 1)));
}

TEST_F(PagePools, AreMadeForOneKindOfPages) {
  open(4);
  std::string why;
  EXPECT_FALSE(PagePool::open(folder_, {kPage + 1, 4, 7}, why));
  EXPECT_NE(why.find("made for other pages"), std::string::npos) << why;
  EXPECT_FALSE(PagePool::open(folder_ + "/else", {0, 4, 7}, why));
  {
    std::ofstream(folder_ + "/file") << "x";
  }
  EXPECT_FALSE(PagePool::open(folder_ + "/file", {kPage, 4, 7}, why));
}

/// A process may be killed in the middle of a record: what came before is there.
TEST_F(PagePools, ALogThatWasCutOpensWithWhatIsBefore) {
  std::vector<Key> chain = chainOf(3, 5);
  {
    auto pool = open(8);
    for (size_t at = 0; at < chain.size(); ++at)
      ASSERT_TRUE(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])));
  }
  auto size = fs::file_size(folder_ + "/log");
  size_t record = size / (chain.size() + 1);
  ASSERT_EQ(size % record, 0u);
  for (uintmax_t left = size; left-- > 0;) {
    fs::resize_file(folder_ + "/log", left);
    auto pool = open(8);
    size_t whole = left / record;
    // Without a first record it is a new pool.
    ASSERT_EQ(pool->keys().size(), whole > 0 ? whole - 1 : 0) << left;
    for (size_t at = 0; at + 1 < whole; ++at)
      expectPage(*pool, chain[at], true);
    pool.reset();
    fs::resize_file(folder_ + "/log", left / record * record);
  }
}

/// A bit that flips is a miss, in a page or in the log, and never another page.
TEST_F(PagePools, AFlippedBitIsAMiss) {
  std::vector<Key> chain = chainOf(3, 5);
  auto fill = [&] {
    fs::remove_all(folder_);
    auto pool = open(8);
    for (size_t at = 0; at < chain.size(); ++at)
      ASSERT_TRUE(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])));
  };
  fill();
  for (const char *name : {"log", "segment-0"}) {
    size_t bytes = fs::file_size(folder_ + "/" + name);
    for (size_t bit = 0; bit < bytes * 8; bit += 13) {
      fill();
      std::fstream file(folder_ + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(bit / 8));
      char byte = static_cast<char>(file.get() ^ (1 << bit % 8));
      file.seekp(static_cast<std::streamoff>(bit / 8));
      file.put(byte);
      file.close();
      std::string why;
      auto pool = open(8, &why);
      if (!pool) // What the pool is made for cannot be read any more.
        continue;
      for (Key key : chain) {
        std::vector<uint8_t> page(kPage);
        if (pool->get(key, page))
          ASSERT_EQ(page, pageOf(key)) << name << " " << bit;
      }
      // What hangs on a page that is lost is lost, too.
      size_t length = pool->longestPrefix(chain);
      ASSERT_EQ(pool->keys().size(), length) << name << " " << bit;
      for (size_t at = length; at < chain.size(); ++at)
        ASSERT_TRUE(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])));
      for (Key key : chain)
        expectPage(*pool, key, true);
    }
  }
}

/// Eight processes at once, each of which is killed somewhere: whatever `put` has said to be there, and nobody
/// has evicted, is there; the order is that of the log; and all pages are what their keys say.
TEST_F(PagePools, SurviveKillsOfAllWhoShareThem) {
  for (uint32_t room : {4096u, 40u}) {
    fs::remove_all(folder_);
    std::set<Key> reported;
    for (int round = 0; round < 4; ++round) {
      std::array<int, 2> pipe{};
      ASSERT_EQ(::pipe(pipe.data()), 0);
      std::vector<pid_t> children;
      for (unsigned child = 0; child < 8; ++child) {
        pid_t process = ::fork();
        if (process == 0) {
          std::string why;
          auto pool = PagePool::open(folder_, {kPage, room, 7}, why);
          std::mt19937 dice(static_cast<unsigned>(round) * 8 + child);
          std::vector<uint8_t> page(kPage);
          while (pool) {
            std::vector<Key> chain = chainOf(dice() % 480, 1 + dice() % 6);
            for (size_t at = pool->longestPrefix(chain); at < chain.size(); ++at)
              if (pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])) &&
                  ::write(pipe[1], &chain[at], sizeof(Key)) != sizeof(Key))
                ::_exit(1);
            Key key = chain[dice() % chain.size()];
            if (pool->get(key, page) && page != pageOf(key)) {
              Key wrong = kNoKey;
              (void)!::write(pipe[1], &wrong, sizeof wrong);
            }
          }
          ::_exit(1);
        }
        children.push_back(process);
      }
      ::close(pipe[1]);
      // They are killed one after the other, each after so many pages more.
      Key key;
      size_t count = 0, next = 0;
      // Once all pages there are have been put, nobody says anything any more.
      auto arrives = [&] {
        pollfd waited{pipe[0], POLLIN, 0};
        while (::poll(&waited, 1, /*timeout in ms=*/500) == 0 && next < children.size())
          ::kill(children[next++], SIGKILL);
        return ::read(pipe[0], &key, sizeof key) == sizeof key;
      };
      while (arrives()) {
        ASSERT_NE(key, kNoKey) << "a wrong page";
        reported.insert(key);
        if (++count % 37 == 0 && next < children.size())
          ::kill(children[next++], SIGKILL);
      }
      ::close(pipe[0]);
      for (pid_t process : children) {
        ::kill(process, SIGKILL);
        int status = 0;
        ::waitpid(process, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << "a process ended by itself";
      }
      auto pool = open(room);
      std::vector<Key> keys = pool->keys();
      std::set<Key> there(keys.begin(), keys.end());
      EXPECT_EQ(there.size(), keys.size());
      EXPECT_LE(there.size(), room);
      for (Key each : keys)
        expectPage(*pool, each, true);
      if (room > 2000) // Nothing had to leave.
        EXPECT_TRUE(std::ranges::includes(there, reported));
      EXPECT_EQ(pool->counts().damaged, 0u);
    }
    EXPECT_GT(reported.size(), 100u);
  }
}

/// The log does not grow for ever, and others notice that it was written anew.
TEST_F(PagePools, TheLogIsWrittenAnew) {
  auto pool = open(8), other = open(8);
  std::vector<Key> chain = chainOf(3, 5);
  for (size_t at = 0; at < chain.size(); ++at)
    ASSERT_TRUE(pool->put(chain[at], parentOf(chain, at), pageOf(chain[at])));
  uintmax_t most = 0;
  for (int times = 0; times < 60000; ++times) {
    ASSERT_EQ(pool->longestPrefix(chain), chain.size());
    if (times % 1000 == 0)
      most = std::max(most, fs::file_size(folder_ + "/log"));
  }
  EXPECT_LT(most, uintmax_t(1) << 21);
  EXPECT_LT(fs::file_size(folder_ + "/log"), uintmax_t(1) << 21);
  EXPECT_EQ(other->keys(), pool->keys());
  for (Key key : chain)
    expectPage(*other, key, true);
  ASSERT_TRUE(other->put({77, 1}, kNoKey, pageOf({77, 1})));
  expectPage(*pool, {77, 1}, true);
  EXPECT_EQ(open(8)->keys(), pool->keys());
}

} // namespace
} // namespace ptl::pool
