#include "runtime/abi/kernel_abi.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace {

TEST(MatrixRegisters, areGrantedByNoSystemOnAProcessorWithoutThem) {
  std::ifstream file("/proc/cpuinfo");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  int32_t granted = ptl_rt_matrix_registers();
  if (text.find("amx_tile") == std::string::npos)
    EXPECT_EQ(granted, 0);
  else
    EXPECT_TRUE(granted == 0 || granted == 1);
  EXPECT_EQ(ptl_rt_matrix_registers(), granted) << "the answer stays";
}

} // namespace
