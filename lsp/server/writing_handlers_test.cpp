#include "lsp/server/handlers.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace writing_handlers_test {

constexpr std::string_view kText = R"(/// Doubles.
fn twice[N](x: f32[N], times: f32 = 2.0) -> f32[N] {
    return x * times
}

kernel k[N](x: f32[N]) -> (y: f32[N])
tune B = 64
{
    parallel i in tiles(N, B) {
        let v = twice(x[i], 3.0)
        y[i] = tw
    }
}
)";

struct Requests : testing::Test {
  Session session;
  json params = {{"textDocument", {{"uri", "file:///test/writing.ptl"}}}};

  Requests() {
    session.client.snippets = true;
    session.workspace.open("/test/writing.ptl", std::string(kText), 1);
  }
  json at(int line, int character) {
    json result = params;
    result["position"] = {{"line", line}, {"character", character}};
    return result;
  }
  json itemOf(std::string_view label) {
    json answer = completion(session, at(10, 17));
    for (const json &item : answer["items"])
      if (item["label"] == label)
        return item;
    return nullptr;
  }
};

TEST_F(Requests, HoverIsPlainWhereMarkdownIsNotShown) {
  json answer = hover(session, at(9, 12));
  EXPECT_EQ(answer["contents"]["kind"], "plaintext");
  EXPECT_EQ(answer["contents"]["value"].get<std::string>().substr(0, 13), "let v: f32[i]");
  EXPECT_EQ(answer["range"]["start"], (json{{"line", 9}, {"character", 12}}));
  EXPECT_TRUE(hover(session, at(4, 0)).is_null());
}

TEST_F(Requests, CompletionAndItsDocumentation) {
  json item = itemOf("twice");
  ASSERT_TRUE(item.is_object());
  EXPECT_EQ(item["textEdit"]["newText"], "twice($0)");
  EXPECT_EQ(item["insertTextFormat"], 2);
  EXPECT_EQ(item["detail"], "twice(x: f32[N], times: f32 = 2.0) -> f32[N]");
  std::string documentation = resolveCompletion(session, item)["documentation"]["value"];
  EXPECT_NE(documentation.find("Doubles."), documentation.npos);
}

TEST_F(Requests, CompletionWithoutSnippets) {
  session.client.snippets = false;
  json item = itemOf("twice");
  EXPECT_EQ(item["textEdit"]["newText"], "twice");
  EXPECT_FALSE(item.contains("insertTextFormat"));
}

TEST_F(Requests, SignatureHelp) {
  json help = signatureHelp(session, at(9, 29));
  EXPECT_EQ(help["activeParameter"], 1);
  EXPECT_EQ(help["signatures"][0]["label"], "twice(x: f32[N], times: f32 = 2.0) -> f32[N]");
  EXPECT_EQ(help["signatures"][0]["parameters"][1]["label"], (json{17, 33}));
}

/// Of all lines.
json hintsOf(Session &session, json params) {
  params["range"] = {{"start", {{"line", 0}, {"character", 0}}},
                     {"end", {{"line", 99}, {"character", 0}}}};
  json answer = inlayHints(session, params);
  const auto &bytes = answer.get_binary();
  return json::parse(bytes.begin(), bytes.end());
}

TEST_F(Requests, HintsAreResolved) {
  json hints = hintsOf(session, params);
  ASSERT_EQ(hints.size(), 3u);
  EXPECT_EQ(hints[1]["label"][1]["location"]["range"]["start"]["line"], 8);
  json type = resolveInlayHint(session, hints[1]);
  EXPECT_EQ(type["label"], hints[1]["label"]);
  EXPECT_EQ(type["label"][0]["value"], ": f32[");
  EXPECT_EQ(type["textEdits"][0]["newText"], ": f32[i]");
  EXPECT_TRUE(type.contains("tooltip"));
  // The declaration moves, then it changes.
  session.workspace.edit(session.file(params), {0, 0}, "// A line.\n");
  json moved = resolveInlayHint(session, hints[1]);
  EXPECT_EQ(moved["textEdits"][0]["range"]["start"]["line"], 10);
  uint32_t end = session.file(params).document.size();
  session.workspace.edit(session.file(params), {end - 3, end - 3}, " ");
  EXPECT_EQ(resolveInlayHint(session, hints[1]), hints[1]);
}

TEST_F(Requests, HintsSayWhereTheyLeadWhenTheyAreResolved) {
  session.client.resolvesHintLocations = true;
  json hints = hintsOf(session, params);
  EXPECT_FALSE(hints[1]["label"][1].contains("location"));
  json type = resolveInlayHint(session, hints[1]);
  EXPECT_EQ(type["label"][1]["location"]["range"]["start"]["line"], 8);
}

TEST_F(Requests, HintsAfterEditsAreThoseOfTheText) {
  ide::File &file = session.file(params);
  json before = hintsOf(session, params);
  session.workspace.edit(file, {0, 0}, "// A line.\n");
  json after = hintsOf(session, params);
  EXPECT_EQ(after[1]["position"]["line"], before[1]["position"]["line"].get<int>() + 1);
  // The signature of another declaration says what it is now.
  std::string text = file.document.text();
  auto at = static_cast<uint32_t>(text.find("f32[N] {"));
  session.workspace.edit(file, {at, at + 3}, "f16");
  json changed = hintsOf(session, params);
  EXPECT_EQ(changed[1]["label"][0]["value"], ": f16[");
  session.settings.typeHints = false;
  EXPECT_EQ(hintsOf(session, params).size(), 2u);
}

TEST_F(Requests, HintsOfAPartOfADeclaration) {
  json all = hintsOf(session, params), first = params;
  for (size_t i = 0; i < all.size(); ++i) {
    first["range"] = {{"start", all[i]["position"]}, {"end", all[i]["position"]}};
    json answer = inlayHints(session, first);
    const auto &bytes = answer.get_binary();
    json found = json::parse(bytes.begin(), bytes.end());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], all[i]);
  }
}

} // namespace writing_handlers_test
} // namespace ptl::lsp
