// A folder of its own for each test, which is gone afterwards.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace ptl {

class FolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ptl-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

} // namespace ptl
