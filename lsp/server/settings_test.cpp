// Values of the settings that are no numbers are ignored, and said to be.
#include "lsp/server/capabilities.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace {

TEST(Settings, NumbersAreReadWholeOrIgnored) {
  Settings own;
  CheckOptions options;
  std::vector<std::string> problems = applySettings(
      json{
          {"sizes", {{"N", 4096}, {"M", "12"}, {"K", "12x"}, {"f", {{"S", 1.5}}}}},
          {"defines", {{"HEADS", 8}, {"WIDE", true}, {"WRONG", "12x"}}},
          {"preview", {{"bindings", {{"softmax.T", "f16"}, {"softmax.C", "512"}, {"B", "many"}}}}}},
      own, options);
  EXPECT_EQ(own.sizes, (json{{"N", 4096}, {"M", 12}}));
  EXPECT_EQ(own.bindings, (json{{"softmax.T", "f16"}, {"softmax.C", 512}}));
  EXPECT_EQ(options.defines, (std::map<std::string, int64_t>{{"HEADS", 8}, {"WIDE", 1}}));
  std::string all;
  for (const std::string &problem : problems)
    all += problem + "\n";
  EXPECT_EQ(problems.size(), 4u) << all;
  for (const char *text : {"`ptl.sizes` of `K`", "`12x`", "`f.S`", "`1.5`",
                           "`ptl.defines` of `WRONG`", "`ptl.preview.bindings` of `B`", "`many`"})
    EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
}

} // namespace
} // namespace ptl::lsp
