#include "frontend/sema/names/foreign_names.h"

#include "frontend/sema/types.h"
#include "ir/ops/op_table.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

struct Row {
  std::string_view name, ours, how;
};
constexpr Row kCalls[] = {
#define FOREIGN_CALL(NAME, OURS, HOW) {NAME, OURS, HOW},
#include "frontend/sema/names/foreign_names.def"
};
constexpr Row kTypes[] = {
#define FOREIGN_TYPE(NAME, OURS, HOW) {NAME, OURS, HOW},
#include "frontend/sema/names/foreign_names.def"
};

TEST(ForeignNames, NameWhatThereIs) {
  for (const Row &row : kCalls) {
    EXPECT_TRUE(findOps(row.name).empty()) << row.name << " is a built-in";
    EXPECT_NE(row.ours.empty(), row.how.empty()) << row.name;
    EXPECT_TRUE(row.ours.empty() || !findOps(row.ours).empty()) << row.ours;
    EXPECT_EQ(foreignCall(row.name)->ours, row.ours) << row.name << " stands there twice";
  }
  for (const Row &row : kTypes) {
    EXPECT_NE(row.ours.empty(), row.how.empty()) << row.name;
    EXPECT_TRUE(row.ours.empty() || elemKindByName(row.ours)) << row.ours;
  }
  EXPECT_EQ(foreignArgument("keepdims")->ours, "keep");
  EXPECT_TRUE(isForeignModule("np"));
  EXPECT_FALSE(foreignCall("exp"));
}

} // namespace
} // namespace ptl
