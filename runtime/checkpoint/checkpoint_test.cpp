// Checkpoints on the disk: what was saved is read back by any boxes, and whatever is cut or changed in them
// is noticed.
#include "frontend/base/folder_test_util.h"
#include "runtime/checkpoint/durable_files.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/saver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>

namespace ptl::checkpoint {
namespace {

namespace fs = std::filesystem;
using movement::Box;

class Checkpoints : public FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    folder_ = folder_ + "/run";
    ASSERT_EQ(makeFolder(folder_), "");
  }
  void TearDown() override {
    folder_ = fs::path(folder_).parent_path();
    FolderTest::TearDown();
  }

  static FileContents::Array rows(int begin, int end, float plus) {
    FileContents::Array array{"w", "f32", {end - begin, 3}, {}};
    std::vector<float> numbers(static_cast<size_t>(end - begin) * 3);
    std::iota(numbers.begin(), numbers.end(), static_cast<float>(begin * 3) + plus);
    array.bytes.resize(numbers.size() * sizeof(float));
    std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
    return array;
  }

  /// `w: f32[5, 3]`, whose element `i` is `i + plus`, in three files; and an `int`, which is `next`.
  static Snapshot snapshot(int64_t next, std::vector<size_t> parts = {0, 1, 2}) {
    auto plus = static_cast<float>(next);
    constexpr int from[] = {0, 2, 4, 5};
    Snapshot made;
    made.manifest = {"train", "step", next, "chip=3", {{"N", 5}}, {}, {}, {}};
    made.manifest.state = {{"w", "f32", {5, 3}}, {"count", "int", {}}};
    for (size_t part = 0; part < 3; ++part) {
      made.manifest.files.push_back({"part-" + std::to_string(part) + ".safetensors", 0, 0});
      made.manifest.pieces.push_back({0, part, "w", {{from[part], from[part + 1]}, {0, 3}}});
    }
    made.manifest.pieces.push_back({1, 1, "count", {}});
    for (size_t part : parts) {
      FileContents file{made.manifest.files[part].name, {rows(from[part], from[part + 1], plus)}};
      if (part == 1) {
        FileContents::Array &count = file.arrays.emplace_back();
        count = {"count", "int", {}, std::vector<uint8_t>(sizeof next)};
        std::memcpy(count.bytes.data(), &next, sizeof next);
      }
      made.files.push_back(std::move(file));
    }
    return made;
  }

  void saveWhole(int64_t next, size_t keep = 2) {
    Saver saver(folder_, "here", true, keep);
    ASSERT_EQ(saver.begin(snapshot(next)), "");
    ASSERT_EQ(saver.finish(), "");
  }

  std::string wrongWith(int64_t next) const {
    std::string why, place = folder_ + "/" + nameOf(next);
    auto manifest = readManifest(place, why);
    return manifest ? verify(place, *manifest, 0, 1) : why;
  }
};

TEST_F(Checkpoints, AreReadByAnyBoxes) {
  saveWhole(100);
  EXPECT_EQ(checkpointsIn(folder_), std::vector<int64_t>{100});
  std::string why, place = folder_ + "/step-100";
  auto manifest = readManifest(place, why);
  ASSERT_TRUE(manifest) << why;
  EXPECT_EQ(manifest->sizes.at("N"), 5);
  for (int64_t top = 0; top <= 5; ++top)
    for (int64_t bottom = top; bottom <= 5; ++bottom)
      for (int64_t left = 0; left <= 3; ++left)
        for (int64_t right = left; right <= 3; ++right) {
          std::vector<uint8_t> bytes;
          ASSERT_EQ(readBox(place, *manifest, 0, {{top, bottom}, {left, right}}, bytes), "");
          ASSERT_EQ(bytes.size(),
                    static_cast<size_t>((bottom - top) * (right - left)) * sizeof(float));
          for (int64_t row = top, at = 0; row < bottom; ++row)
            for (int64_t column = left; column < right; ++column, ++at) {
              float number = 0;
              std::memcpy(&number, bytes.data() + at * 4, sizeof number);
              EXPECT_EQ(number, static_cast<float>(row * 3 + column + 100));
            }
        }
  std::vector<uint8_t> count;
  ASSERT_EQ(readBox(place, *manifest, 1, {}, count), "");
  int64_t number = 0;
  ASSERT_EQ(count.size(), sizeof number);
  std::memcpy(&number, count.data(), sizeof number);
  EXPECT_EQ(number, 100);
}

/// Every bit of every file, every length that it may be cut to, a byte more, and the file missing.
TEST_F(Checkpoints, NoticeEveryDamage) {
  saveWhole(100);
  ASSERT_EQ(wrongWith(100), "");
  size_t files = 0;
  for (const auto &entry : fs::directory_iterator(folder_ + "/step-100")) {
    std::string path = entry.path().string(), text;
    ASSERT_EQ(readFile(path, text), "");
    auto put = [&](size_t at, char byte) {
      std::FILE *file = std::fopen(path.c_str(), "r+b");
      std::fseek(file, static_cast<long>(at), SEEK_SET);
      std::fputc(byte, file);
      std::fclose(file);
    };
    for (size_t bit = 0; bit < text.size() * 8; ++bit) {
      put(bit / 8, static_cast<char>(text[bit / 8] ^ (1 << bit % 8)));
      ASSERT_NE(wrongWith(100), "") << path << ", bit " << bit;
      put(bit / 8, text[bit / 8]);
    }
    put(text.size(), ' ');
    ASSERT_NE(wrongWith(100), "") << path << ", a byte more";
    fs::resize_file(path, text.size());
    ASSERT_EQ(wrongWith(100), "");
    for (size_t size = text.size(); size-- > 0;) {
      fs::resize_file(path, size);
      ASSERT_NE(wrongWith(100), "") << path << ", " << size << " bytes";
    }
    fs::remove(path);
    ASSERT_NE(wrongWith(100), "") << path;
    ASSERT_EQ(writeFile(path, text), "");
    ++files;
  }
  EXPECT_EQ(files, 4u); // Seals are gone, and nothing else is left.
  EXPECT_EQ(wrongWith(100), "");
}

TEST_F(Checkpoints, AManifestThatContradictsItselfIsRefused) {
  Manifest whole = snapshot(100).manifest;
  std::string why;
  ASSERT_TRUE(parseManifest(textOf(whole), why)) << why;
  auto refuses = [&](auto change, const std::string &reason) {
    Manifest wrong = whole;
    change(wrong);
    why.clear();
    EXPECT_FALSE(parseManifest(textOf(wrong), why));
    EXPECT_NE(why.find(reason), std::string::npos) << why;
  };
  refuses([](Manifest &m) { m.pieces.erase(m.pieces.begin()); }, "do not cover it");
  refuses([](Manifest &m) { m.pieces[1].box[0].begin = 1; }, "overlap");
  refuses([](Manifest &m) { m.pieces[2].box[0].end = 6; }, "outside");
  refuses([](Manifest &m) { m.pieces[2].file = 3; }, "an unknown variable or file");
  refuses([](Manifest &m) { m.state[0].elem = "f33"; }, "an unknown type");
  refuses([](Manifest &m) { m.files[0].name = "../else"; }, "outside of its folder");
}

TEST_F(Checkpoints, TheLastOnesStay) {
  for (int64_t next : {10, 20, 30, 100})
    saveWhole(next, 3);
  EXPECT_EQ(checkpointsIn(folder_), (std::vector<int64_t>{100, 30, 20}));
  saveWhole(110, 1);
  EXPECT_EQ(checkpointsIn(folder_), std::vector<int64_t>{110});
  EXPECT_EQ(wrongWith(110), "");
}

/// Three processes, each with its file; the first commits when all are there.
TEST_F(Checkpoints, AreCommittedWhenAllFilesAreThere) {
  Saver first(folder_, "here", true, 2);
  ASSERT_EQ(first.begin(snapshot(5, {0})), "");
  Saver second(folder_, "here", false, 2);
  ASSERT_EQ(second.begin(snapshot(5, {1})), "");
  ASSERT_EQ(second.finish(), "");
  EXPECT_TRUE(checkpointsIn(folder_).empty());
  Saver third(folder_, "here", false, 2);
  ASSERT_EQ(third.begin(snapshot(5, {2})), "");
  ASSERT_EQ(third.finish(), "");
  ASSERT_EQ(first.finish(), "");
  EXPECT_EQ(wrongWith(5), "");
}

/// One that another process never wrote is left, and not taken for a checkpoint.
TEST_F(Checkpoints, AnUnfinishedOneIsNone) {
  {
    Saver first(folder_, "here", true, 2);
    ASSERT_EQ(first.begin(snapshot(5, {0, 2})), "");
  }
  EXPECT_TRUE(checkpointsIn(folder_).empty());
  EXPECT_TRUE(fs::exists(folder_ + "/" + unfinishedName(5, "here")));
  removeUnfinished(folder_);
  EXPECT_TRUE(fs::is_empty(folder_));
}

/// What cannot be written is said, and nothing is committed.
TEST_F(Checkpoints, AFailureIsSaid) {
  ASSERT_EQ(writeFile(folder_ + "/" + unfinishedName(5, "here"), "a file"), "");
  Saver saver(folder_, "here", true, 2);
  ASSERT_EQ(saver.begin(snapshot(5)), "");
  EXPECT_NE(saver.finish(), "");
  EXPECT_NE(saver.begin(snapshot(6)), "");
  EXPECT_TRUE(checkpointsIn(folder_).empty());
}

TEST_F(Checkpoints, ADamagedOneIsPutAside) {
  saveWhole(10);
  saveWhole(20);
  putAside(folder_, 20);
  EXPECT_EQ(checkpointsIn(folder_), std::vector<int64_t>{10});
  saveWhole(20);
  EXPECT_EQ(checkpointsIn(folder_), (std::vector<int64_t>{20, 10}));
}

TEST_F(Checkpoints, AFolderBelongsToOneRun) {
  std::string why;
  auto lock = FolderLock::take(folder_, why);
  ASSERT_TRUE(lock) << why;
  EXPECT_FALSE(FolderLock::take(folder_, why));
  EXPECT_NE(why.find("another run"), std::string::npos) << why;
  lock.reset();
  EXPECT_TRUE(FolderLock::take(folder_, why)) << why;
}

} // namespace
} // namespace ptl::checkpoint
