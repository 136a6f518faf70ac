// The fixture of tests that run programs with pools.
#pragma once

#include "codegen/parts/parts_test_util.h"
#include "frontend/base/folder_test_util.h"

#include <filesystem>
#include <string>
#include <unistd.h>

namespace ptl::parts {

/// The checked programs of `testdata/pools.ptl`, and an empty folder for their disks, which is
/// removed after the test.
class ProgramsWithPools : public FolderTest {
protected:
  ProgramsWithPools() : checked_(projectText("codegen/parts/testdata/pools.ptl")) {}

  void SetUp() override {
    ASSERT_TRUE(checked_.ok()) << checked_.errors();
    FolderTest::SetUp();
  }

  CheckedText checked_;
};

} // namespace ptl::parts
