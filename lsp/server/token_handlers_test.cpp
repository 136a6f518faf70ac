// Deltas lead to what a full answer says.
#include "lsp/server/answer_test_util.h"
#include "lsp/server/handlers.h"

#include <gtest/gtest.h>

#include <random>

namespace ptl::lsp {
namespace token_handlers_test {

TEST(SemanticTokens, DeltasAreTheFullAnswer) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text +=
        "fn f" + std::to_string(i) + "[N](x: f32[N]) -> f32[N] {\n    return exp(x) * 0.5\n}\n\n";
  const std::string path = "/test/tokens.ptl";
  Session session;
  ide::File &file = session.workspace.open(path, text, 1);
  json params = {{"textDocument", {{"uri", Session::uri(path)}}}};
  json full = parsed(semanticTokensFull(session, params));
  std::vector<uint32_t> data = full["data"];
  params["previousResultId"] = full["resultId"];
  std::mt19937 random(7);
  constexpr std::string_view pieces[] = {"x",   " ", "\n", "}", "let y = x\n", "fn g() {\n}\n",
                                         "exp("};
  for (int i = 0; i < 300; ++i) {
    uint32_t begin = random() % (file.document.size() + 1), length = random() % 3;
    session.workspace.edit(file, {begin, begin + length}, pieces[random() % std::size(pieces)]);
    json delta = parsed(semanticTokensDelta(session, params));
    params["previousResultId"] = delta["resultId"];
    for (const json &edit : delta["edits"]) {
      auto at = data.begin() + edit["start"].get<ptrdiff_t>();
      at = data.erase(at, at + edit["deleteCount"].get<ptrdiff_t>());
      std::vector<uint32_t> added = edit["data"];
      data.insert(at, added.begin(), added.end());
    }
    Session fresh;
    fresh.workspace.open(path, file.document.text(), 1);
    std::vector<uint32_t> expected = parsed(semanticTokensFull(fresh, params))["data"];
    ASSERT_EQ(data, expected) << "after edit " << i;
  }
}

} // namespace token_handlers_test
} // namespace ptl::lsp
