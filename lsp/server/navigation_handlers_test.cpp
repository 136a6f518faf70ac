// What the handlers of navigation answer, as the client sees it.
#include "lsp/server/answer_test_util.h"
#include "lsp/server/handlers.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace navigation_handlers_test {

constexpr const char *kUri = "file:///a.ptl";

struct Client {
  explicit Client(const std::string &text) {
    session.client.encoding = Encoding::Utf16;
    session.client.hierarchicalSymbols = true;
    session.workspace.open("/a.ptl", text, 1);
  }
  json at(int line, int character) const {
    return {{"textDocument", {{"uri", kUri}}},
            {"position", {{"line", line}, {"character", character}}}};
  }
  Session session;
};

json range(int line, int from, int to) {
  return {{"start", {{"line", line}, {"character", from}}},
          {"end", {{"line", line}, {"character", to}}}};
}

TEST(NavigationHandlers, SymbolsAreATreeInTheUnitsOfTheClient) {
  Client client(
      "struct S {\n w: f32[4]\n}\n/* 𝄞 */ fn f(x: f32) -> f32 { let a = x ; return a }\n");
  json symbols = parsed(documentSymbol(client.session, client.at(0, 0)));
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0]["name"], "S");
  EXPECT_EQ(symbols[0]["children"][0]["name"], "w");
  EXPECT_EQ(symbols[0]["children"][0]["selectionRange"], range(1, 1, 2));
  EXPECT_EQ(symbols[1]["selectionRange"], range(3, 12, 13));
  EXPECT_EQ(symbols[1]["detail"], "(x: f32) -> f32");
  EXPECT_EQ(symbols[1]["children"][0]["name"], "a");
  // Lines move, the kept text follows.
  client.session.workspace.edit(*client.session.workspace.find("/a.ptl"), {0, 0}, "\n\n");
  symbols = parsed(documentSymbol(client.session, client.at(0, 0)));
  EXPECT_EQ(symbols[1]["selectionRange"], range(5, 12, 13));
  client.session.client.hierarchicalSymbols = false;
  EXPECT_EQ(documentSymbol(client.session, client.at(0, 0))[1]["containerName"], "S");
}

TEST(NavigationHandlers, SymbolsOfLongFilesAreDeclarations) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += "fn f" + std::to_string(i) + "(x: f32) -> f32 {\n let a = x\n return a\n}\n";
  Client client(text);
  json symbols = parsed(documentSymbol(client.session, client.at(0, 0)));
  EXPECT_EQ(symbols.size(), 2000u);
  EXPECT_FALSE(symbols[0].contains("children"));
}

TEST(NavigationHandlers, AnEmptyDocumentHasNoSymbols) {
  Client client("");
  EXPECT_EQ(parsed(documentSymbol(client.session, client.at(0, 0))), json::array());
  EXPECT_EQ(parsed(foldingRange(client.session, client.at(0, 0))), json::array());
}

TEST(NavigationHandlers, DefinitionsAreLinksForThoseWhoTakeThem) {
  Client client("fn f(x: f32) -> f32 { return x }\n");
  json place = definition(client.session, client.at(0, 29));
  EXPECT_EQ(place["uri"], kUri);
  EXPECT_EQ(place["range"], range(0, 5, 6));
  client.session.client.definitionLinks = true;
  json link = definition(client.session, client.at(0, 29));
  EXPECT_EQ(link[0]["originSelectionRange"], range(0, 29, 30));
  EXPECT_EQ(link[0]["targetSelectionRange"], range(0, 5, 6));
  EXPECT_TRUE(definition(client.session, client.at(0, 0)).is_null());
}

TEST(NavigationHandlers, ReferencesLeaveTheDeclarationOutOnRequest) {
  Client client("fn f(x: f32) -> f32 { return x }\n");
  json params = client.at(0, 29);
  EXPECT_EQ(references(client.session, params).size(), 2u);
  params["context"] = {{"includeDeclaration", false}};
  EXPECT_EQ(references(client.session, params).size(), 1u);
}

TEST(NavigationHandlers, RenamingSaysWhyNot) {
  Client client("fn f(x: f32) -> f32 { return exp(x) }\n");
  json params = client.at(0, 5);
  params["newName"] = "let";
  try {
    rename(client.session, params);
    FAIL() << "`let` is a keyword";
  } catch (const RequestError &error) {
    EXPECT_EQ(error.code, kRequestFailed);
    EXPECT_EQ(error.message, "`let` is a keyword");
  }
  EXPECT_THROW(prepareRename(client.session, client.at(0, 30)), RequestError);
  params["newName"] = "y";
  json edits = rename(client.session, params)["changes"][kUri];
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0]["newText"], "y");
}

TEST(NavigationHandlers, CallsAreFollowedByTheItemsOfTheClient) {
  Client client("fn f(x: f32) -> f32 { return x }\nfn g(x: f32) -> f32 { return f(x) }\n");
  json items = prepareCallHierarchy(client.session, client.at(1, 29));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0]["name"], "f");
  json calls = incomingCalls(client.session, {{"item", items[0]}});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["from"]["name"], "g");
  EXPECT_EQ(calls[0]["fromRanges"][0], range(1, 29, 30));
  calls = outgoingCalls(client.session, {{"item", calls[0]["from"]}});
  EXPECT_EQ(calls[0]["to"]["name"], "f");
  EXPECT_EQ(calls[0]["fromRanges"][0], range(1, 29, 30));
}

TEST(NavigationHandlers, SelectionsNest) {
  Client client("fn f(x: f32) -> f32 { return x + 1 }\n");
  json params = client.at(0, 29);
  params["positions"] = json::array({params["position"]});
  json selection = selectionRange(client.session, params)[0];
  EXPECT_EQ(selection["range"], range(0, 29, 30));
  EXPECT_EQ(selection["parent"]["range"], range(0, 29, 34));
}

} // namespace navigation_handlers_test
} // namespace ptl::lsp
