#include "lsp/server/placed_text.h"

#include <gtest/gtest.h>
#include <random>

namespace ptl::lsp {
namespace placed_text_test {

std::string written(const std::string &text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

TEST(JsonText, IsWhatTheLibraryWrites) {
  for (const char *text :
       {"", "a", "\n", "a\nb", "\n\n", "let x = 1\n\tlet y = \"s\"\n", "\\", "\x7f", "\x01\r\n",
        "caf\xc3\xa9 \xe2\x86\x92\n", "\xff\n", "\xc3\n\xa9", "a\xe2\x86"})
    EXPECT_EQ(jsonText(text), written(text)) << text;
}

TEST(JsonText, OfRandomTexts) {
  std::mt19937 random(7);
  const std::string letters[] = {
      "a", "Z", " ", "\n", "\"", "\\", "\t", "\xc3\xa9", "\xf0\x9f\x98\x80", std::string(1, '\0')};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (unsigned length = random() % 40; length > 0; --length)
      text += letters[random() % std::size(letters)];
    EXPECT_EQ(jsonText(text), written(text)) << text;
  }
}

} // namespace placed_text_test
} // namespace ptl::lsp
