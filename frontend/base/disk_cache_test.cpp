#include "frontend/base/disk_cache.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptl {
namespace {

class DiskCacheTest : public testing::Test {
protected:
  DiskCacheTest() {
    char path[] = "/tmp/ptl-cache-XXXXXX";
    folder = std::string(::mkdtemp(path)) + "/made/when/needed";
  }
  ~DiskCacheTest() override { DiskCache(folder).clear(); }

  std::string pathOf(const std::string &key) const { return folder + "/" + key + ".code"; }
  std::string bytesOf(const std::string &key) const {
    std::ifstream file(pathOf(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string &key, const std::string &bytes) const {
    std::ofstream(pathOf(key), std::ios::binary | std::ios::trunc) << bytes;
    ::chmod(pathOf(key).c_str(), 0600);
  }
  void usedAt(const std::string &key, time_t second) const {
    timespec times[2] = {{second, 0}, {second, 0}};
    ::utimensat(AT_FDCWD, pathOf(key).c_str(), times, 0);
  }

  std::string folder;
};

TEST_F(DiskCacheTest, keepsValuesOfAnyBytes) {
  DiskCache cache(folder);
  std::string value("a\0\xff\n", 4);
  EXPECT_EQ(cache.find("k1"), std::nullopt);
  cache.store("k1", value);
  cache.store("k2", "");
  EXPECT_EQ(DiskCache(folder).find("k1"), value);
  EXPECT_EQ(cache.find("k2"), "");
  cache.store("k1", "other");
  EXPECT_EQ(cache.find("k1"), "other");
  EXPECT_EQ(cache.usage().files, 2U);
  EXPECT_EQ(cache.clear().files, 2U);
  EXPECT_EQ(cache.find("k1"), std::nullopt);
}

TEST_F(DiskCacheTest, changedAndTruncatedFilesAreMisses) {
  DiskCache cache(folder);
  cache.store("k", "the value");
  const std::string whole = bytesOf("k");
  for (size_t size = 0; size < whole.size(); ++size) {
    write("k", whole.substr(0, size));
    EXPECT_EQ(cache.find("k"), std::nullopt) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    write("k", changed);
    EXPECT_EQ(cache.find("k"), std::nullopt) << at;
  }
  write("k", whole + "more");
  EXPECT_EQ(cache.find("k"), std::nullopt);
  write("other", whole); // of another key
  EXPECT_EQ(cache.find("other"), std::nullopt);
  cache.store("k", "the value");
  EXPECT_EQ(cache.find("k"), "the value");
}

TEST_F(DiskCacheTest, theLeastRecentlyUsedGoesFirst) {
  std::string value(1000, 'v');
  DiskCache cache(folder, 3500); // three values with their headers
  for (const char *key : {"a", "b", "c"})
    cache.store(key, value);
  usedAt("a", 100);
  usedAt("b", 200);
  usedAt("c", 300);
  EXPECT_TRUE(cache.find("a")); // now the most recently used
  cache.store("d", value);
  EXPECT_FALSE(cache.find("b"));
  for (const char *key : {"a", "c", "d"})
    EXPECT_TRUE(cache.find(key)) << key;
  EXPECT_LE(cache.usage().bytes, 3500U);
  cache.store("large", std::string(4000, 'v'));
  EXPECT_FALSE(cache.find("large"));
  EXPECT_TRUE(cache.find("d"));
}

TEST_F(DiskCacheTest, whatOthersMayWriteIsNotBelieved) {
  DiskCache cache(folder);
  cache.store("k", "v");
  ::chmod(pathOf("k").c_str(), 0666);
  EXPECT_EQ(cache.find("k"), std::nullopt);
  ::chmod(pathOf("k").c_str(), 0600);
  EXPECT_EQ(cache.find("k"), "v");
  ::chmod(folder.c_str(), 0777);
  EXPECT_EQ(cache.find("k"), std::nullopt);
  ::chmod(folder.c_str(), 0700);
}

TEST_F(DiskCacheTest, aFolderThatCannotBeIsAnEmptyCache) {
  DiskCache cache("/dev/null/ptl");
  cache.store("k", "v");
  EXPECT_EQ(cache.find("k"), std::nullopt);
  EXPECT_EQ(cache.usage().files, 0U);
}

/// Several processes write and read the same keys while some are killed: what is found is whole.
TEST_F(DiskCacheTest, processesAtOnceAndKilledWhileWriting) {
  auto valueOf = [](int key, int writer) {
    return std::string(50'000 + key, static_cast<char>('a' + writer));
  };
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 4; ++writer) {
    pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache(folder, 400'000); // removes values all the time
      for (int i = 0;; ++i)
        cache.store("k" + std::to_string(i % 12), valueOf(i % 12, writer));
    }
    writers.push_back(child);
  }
  DiskCache cache(folder, 400'000);
  // On a loaded machine the writers may begin late, so the first value is waited for.
  for (int pause = 0; pause < 60'000 && !cache.find("k0"); ++pause)
    ::usleep(1000);
  size_t found = 0;
  for (size_t round = 0; round < 3000; ++round) {
    int key = static_cast<int>(round % 12);
    if (std::optional<std::string> value = cache.find("k" + std::to_string(key))) {
      ++found;
      ASSERT_EQ(*value, valueOf(key, value->front() - 'a'));
    }
    if (round % 700 == 699)
      ::kill(writers[round / 700], SIGKILL);
  }
  for (pid_t writer : writers) {
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
  }
  EXPECT_GT(found, 0U);
}

TEST(DiskCacheOfUser, followsTheEnvironment) {
  ::setenv("PTL_CACHE", "off", 1);
  EXPECT_EQ(DiskCache::ofUser(), nullptr);
  ::setenv("PTL_CACHE", "/some/where", 1);
  ::setenv("PTL_CACHE_LIMIT", "3", 1);
  EXPECT_EQ(DiskCache::ofUser()->folder(), "/some/where");
  EXPECT_EQ(DiskCache::ofUser()->limit(), uint64_t(3) << 20);
  ::unsetenv("PTL_CACHE");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  ::setenv("PTL_CACHE_LIMIT", "much", 1);
  EXPECT_EQ(DiskCache::ofUser()->folder(), "/xdg/ptl");
  EXPECT_EQ(DiskCache::ofUser()->limit(), DiskCache::kDefaultLimit);
}

} // namespace
} // namespace ptl
