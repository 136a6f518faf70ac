// `docs/placement.md` is what the rules say; with PTL_UPDATE_DOCS it is written anew.
#include "frontend/sema/placement/placement_table.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace ptl {
namespace {

TEST(PlacementTable, IsThatOfTheDocumentation) {
  const char *path = PTL_SOURCE_DIR "/docs/placement.md";
  if (std::getenv("PTL_UPDATE_DOCS"))
    std::ofstream(path) << placementTable();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), placementTable());
}

} // namespace
} // namespace ptl
