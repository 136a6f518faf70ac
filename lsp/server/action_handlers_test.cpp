// Code actions, formatting and lenses as requests.
#include "lsp/ide/code_actions.h"
#include "lsp/server/answer_test_util.h"
#include "lsp/server/capabilities.h"
#include "lsp/server/handlers.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace action_handlers_test {

const char *const kUri = "file:///actions.ptl";

void open(Session &session, const std::string &text) {
  session.workspace.open("/actions.ptl", text, 3);
}

json at(uint32_t line, uint32_t from, uint32_t to) {
  return {{"textDocument", {{"uri", kUri}}},
          {"range",
           {{"start", {{"line", line}, {"character", from}}},
            {"end", {{"line", line}, {"character", to}}}}},
          {"context", {{"diagnostics", json::array()}}}};
}

json titled(const json &actions, const std::string &title) {
  for (const json &action : actions)
    if (action.at("title").get<std::string>().starts_with(title))
      return action;
  return nullptr;
}

TEST(ActionHandlers, AllKindsAreAdvertised) {
  json kinds = serverCapabilities({}).at("codeActionProvider").at("codeActionKinds");
  json expected = {
#define ACTION_KIND(NAME, ID) ID,
#include "lsp/ide/actions/action_kinds.def"
#undef ACTION_KIND
  };
  EXPECT_EQ(kinds, expected);
}

const char *const kSource =
    "fn f(x: f32[4]) -> f32[4] {\n    let y = exp(x)\n    return y + sqrtt(x)\n}\n";

TEST(ActionHandlers, EditsComeWhenAnActionIsResolved) {
  Session session;
  session.client.codeActionLiterals = session.client.resolvesActions = true;
  open(session, kSource);
  json action = titled(codeAction(session, at(1, 8, 8)), "Write the type");
  ASSERT_TRUE(action.is_object());
  EXPECT_FALSE(action.contains("edit"));
  json edit = resolveCodeAction(session, action).at("edit");
  EXPECT_EQ(edit.at("changes").at(kUri).at(0).at("newText"), ": f32[4]");
  session.workspace.open("/actions.ptl", "\n", 4);
  EXPECT_THROW(resolveCodeAction(session, action), RequestError);
}

TEST(ActionHandlers, OtherClientsGetEditsOrCommands) {
  Session session;
  session.client.codeActionLiterals = true;
  open(session, kSource);
  EXPECT_TRUE(titled(codeAction(session, at(1, 8, 8)), "Write the type").contains("edit"));
  session.client.codeActionLiterals = false;
  json command = titled(codeAction(session, at(1, 8, 8)), "Write the type");
  EXPECT_EQ(command.at("command"), "ptl.server.applyEdit");
}

TEST(ActionHandlers, FixesCarryTheDiagnosticsOfTheClient) {
  Session session;
  session.client.codeActionLiterals = true;
  open(session, kSource);
  json params = at(2, 16, 16);
  params["range"]["start"]["character"] = 15;
  json diagnostic = {
      {"code", "E0202"},
      {"range",
       {{"start", {{"line", 2}, {"character", 15}}}, {"end", {{"line", 2}, {"character", 20}}}}},
      {"message", "as it was sent"}};
  params["context"]["diagnostics"] = json::array({diagnostic});
  json fix = titled(codeAction(session, params), "Change to `sqrt`");
  ASSERT_TRUE(fix.is_object());
  EXPECT_EQ(fix.at("diagnostics"), json::array({diagnostic}));
}

TEST(ActionHandlers, OnlyCertainFixesArePreferredAndMadeAtOnce) {
  Session session;
  session.client.codeActionLiterals = true;
  open(session, kSource);
  json guess = titled(codeAction(session, at(2, 16, 16)), "Change to `sqrt`");
  ASSERT_TRUE(guess.is_object());
  EXPECT_EQ(guess.at("title"), "Change to `sqrt` if that is meant");
  EXPECT_FALSE(guess.contains("isPreferred"));
  open(session, "fn f(a: bool, b: bool) -> bool {\n    return a && b\n}\n");
  json certain = titled(codeAction(session, at(1, 14, 14)), "Write `and`");
  ASSERT_TRUE(certain.is_object());
  EXPECT_EQ(certain.at("title"), "Write `and`");
  EXPECT_EQ(certain.at("isPreferred"), true);
}

TEST(ActionHandlers, ReasonsWhereTheClientShowsThem) {
  Session session;
  session.client.codeActionLiterals = true;
  open(session, kSource);
  EXPECT_TRUE(titled(codeAction(session, at(1, 6, 12)), "Extract `fn`").is_null());
  session.client.disabledActions = true;
  json action = titled(codeAction(session, at(1, 6, 12)), "Extract `fn`");
  ASSERT_TRUE(action.is_object());
  EXPECT_FALSE(action.at("disabled").at("reason").get<std::string>().empty());
}

TEST(ActionHandlers, LensesNameCommandsOfTheClientOrTheServer) {
  Session session;
  open(session, "kernel k(x: f32[4]) -> (y: f32[4])\n{\n}\ntest \"t\" {\n}\n");
  json lenses = parsed(codeLens(session, {{"textDocument", {{"uri", kUri}}}}));
  ASSERT_EQ(lenses.size(), 4u);
  EXPECT_EQ(lenses[3].at("command").at("command"), "ptl.chooseTargets") << "no chip is chosen";
  EXPECT_EQ(lenses[3].at("command").at("arguments"), json::array({kUri}));
  EXPECT_EQ(resolveCodeLens(session, lenses[1]).at("command").at("title"), "0 references");
  EXPECT_EQ(lenses[0].at("command").at("command"), "ptl.showPreview");
  EXPECT_EQ(lenses[0].at("command").at("arguments"), json({kUri, "k", "tile"}));
  EXPECT_EQ(lenses[2].at("command").at("command"), "ptl.runTest");
  session.settings.lensCommands = "server";
  session.settings.referenceLenses = false;
  lenses = parsed(codeLens(session, {{"textDocument", {{"uri", kUri}}}}));
  ASSERT_EQ(lenses.size(), 2u);
  EXPECT_EQ(lenses[1].at("command").at("command"), "ptl.server.runTest");
}

TEST(ActionHandlers, Formatting) {
  Session session;
  open(session, "fn f(x:f32)->f32 {\n\n  return x\n}\n");
  json params = {{"textDocument", {{"uri", kUri}}}};
  EXPECT_GT(formatting(session, params).size(), 2u);
  params["range"] = {{"start", {{"line", 2}, {"character", 0}}},
                     {"end", {{"line", 2}, {"character", 3}}}};
  EXPECT_EQ(rangeFormatting(session, params).size(), 1u);
  params["position"] = {{"line", 1}, {"character", 0}};
  params["ch"] = "\n";
  EXPECT_EQ(onTypeFormatting(session, params).at(0).at("newText"), "    ");
}

} // namespace action_handlers_test
} // namespace ptl::lsp
