// The fixture of tests that run programs with pools.
#pragma once

#include "codegen/parts/parts_test_util.h"

#include <filesystem>
#include <string>
#include <unistd.h>

namespace ptl::parts {

/// The checked programs of `testdata/pools.ptl`, and an empty folder for their disks, which is
/// removed after the test.
class ProgramsWithPools : public testing::Test {
protected:
  ProgramsWithPools() : checked_(projectText("codegen/parts/testdata/pools.ptl")) {}

  void SetUp() override {
    ASSERT_TRUE(checked_.ok()) << checked_.errors();
    std::string name = std::filesystem::temp_directory_path() / "ptl-pools-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CheckedText checked_;
  std::string folder_;
};

} // namespace ptl::parts
