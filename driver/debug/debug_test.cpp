// Sessions of the Debug Adapter Protocol: a client's messages lie ready, and what comes back is looked at.
#include "driver/debug/adapter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace ptl::debug {
namespace {

using Json = nlohmann::json;

constexpr const char *kSource = R"(fn scale[C](x: f32[C], by: f32) -> f32[C] {
    let y = x * by
    return y
}

kernel twice[N](x: f32[N]) -> (y: f32[N])
{
    parallel r in tiles(N, 64) {
        let part = x[r]
        y[r] = scale(part, 2.0)
    }
}

property "doubles"[N: 1..300] {
    let x = random(f32[N], seed: 2)
    for i in 0..N { assert(i < 77) }
    expect_equal(twice(x), x + x)
}

test "wrong" {
    var x = ones(f32[3, 2])
    x[1, 0] = 5.0
    if 2 > 1 {
        let inner = 7
        expect(inner == 7)
    }
    expect_equal(sum(x), 0.0)
    expect(true)
}
)";

class DebugAdapter : public testing::Test {
protected:
  void SetUp() override {
    path_ =
        std::filesystem::temp_directory_path() / ("ptl_debug_" + std::to_string(getpid()) + ".ptl");
    std::ofstream(path_) << kSource;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void ask(const std::string &command, Json arguments = Json::object()) {
    Json request = {{"seq", ++asked_},
                    {"type", "request"},
                    {"command", command},
                    {"arguments", std::move(arguments)}};
    std::string text = request.dump();
    input_ += "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
  }
  void begin(Json launch, const std::vector<int> &lines, bool stopsAtFailures = true) {
    launch["program"] = path_.string();
    ask("initialize");
    ask("launch", std::move(launch));
    Json breakpoints = Json::array();
    for (int line : lines)
      breakpoints.push_back({{"line", line}});
    ask("setBreakpoints", {{"source", {{"path", path_.string()}}}, {"breakpoints", breakpoints}});
    ask("setExceptionBreakpoints",
        {{"filters", stopsAtFailures ? Json{"failures"} : Json::array()}});
    ask("configurationDone");
  }

  /// What the adapter says to all that was asked, and to a client that leaves then.
  std::vector<Json> serve() {
    ask("disconnect");
    int in[2], out[2];
    EXPECT_EQ(pipe(in) + pipe(out), 0);
    EXPECT_EQ(write(in[1], input_.data(), input_.size()), static_cast<ssize_t>(input_.size()));
    close(in[1]);
    Channel channel(in[0], out[1]);
    Options options;
    Adapter(options, channel).serve();
    close(out[1]);
    close(in[0]);
    Channel answers(out[0], -1);
    std::vector<Json> all;
    while (auto message = answers.next())
      all.push_back(std::move(*message));
    close(out[0]);
    return all;
  }

  static std::vector<Json> responses(const std::vector<Json> &all, const std::string &command) {
    std::vector<Json> found;
    for (const Json &message : all)
      if (message["type"] == "response" && message["command"] == command)
        found.push_back(message);
    return found;
  }
  /// The reasons of all stops in order.
  static std::string stops(const std::vector<Json> &all) {
    std::string reasons;
    for (const Json &message : all)
      if (message.value("event", "") == "stopped")
        reasons += (reasons.empty() ? "" : " ") + message["body"]["reason"].get<std::string>();
    return reasons;
  }
  static std::string output(const std::vector<Json> &all) {
    std::string text;
    for (const Json &message : all)
      if (message.value("event", "") == "output")
        text += message["body"]["output"].get<std::string>();
    return text;
  }
  /// `name=value` of an answer to `variables`.
  static std::string shown(const Json &response) {
    std::string text;
    for (const Json &each : response["body"]["variables"])
      text += (text.empty() ? "" : "; ") + each["name"].get<std::string>() + "=" +
              each["value"].get<std::string>();
    return text;
  }
  /// The lines of all calls, innermost first.
  static std::string lines(const Json &response) {
    std::string text;
    for (const Json &frame : response["body"]["stackFrames"])
      text += (text.empty() ? "" : " ") + frame["line"].dump();
    return text;
  }

  std::filesystem::path path_;
  std::string input_;
  int asked_ = 0;
};

TEST_F(DebugAdapter, stopsWhereTheSmallestCaseFails) {
  begin({{"test", "doubles"}}, {});
  ask("stackTrace", {{"threadId", 1}});
  ask("scopes", {{"frameId", 1}});
  ask("variables", {{"variablesReference", 1}});
  ask("variables", {{"variablesReference", 2}});
  ask("continue");
  std::vector<Json> all = serve();
  EXPECT_EQ(stops(all), "exception");
  EXPECT_NE(output(all).find("the smallest case that fails: N = 78"), std::string::npos);
  EXPECT_EQ(responses(all, "stackTrace")[0]["body"]["stackFrames"][0]["name"],
            "property \"doubles\"[N = 78]");
  EXPECT_EQ(lines(responses(all, "stackTrace")[0]), "16");
  EXPECT_NE(shown(responses(all, "variables")[0]).find("; i=77"), std::string::npos);
  EXPECT_EQ(shown(responses(all, "variables")[1]), "N=78");
}

TEST_F(DebugAdapter, breakpointsInWhatIsCalled) {
  // Line 7 is a brace: the next statement is the loop.
  begin({{"test", "doubles"}, {"dims", {{"N", 70}}}}, {7, 10, 200});
  ask("continue");                      // from the loop
  ask("stackTrace", {{"threadId", 1}}); // at the first tile
  ask("evaluate", {{"expression", "r"}, {"frameId", 1}});
  ask("evaluate", {{"expression", "r.len"}, {"frameId", 1}});
  ask("stepIn");
  ask("stackTrace", {{"threadId", 1}});
  ask("next");
  ask("evaluate", {{"expression", "y[0]"}, {"frameId", 1}});
  ask("evaluate", {{"expression", "part"}, {"frameId", 2}});
  ask("evaluate", {{"expression", "part"}, {"frameId", 1}}); // of the caller
  ask("stepOut");
  ask("stackTrace", {{"threadId", 1}});
  ask("continue"); // at the tile of six
  ask("evaluate", {{"expression", "r"}, {"frameId", 1}});
  ask("continue");
  std::vector<Json> all = serve();
  EXPECT_EQ(stops(all), "breakpoint breakpoint step step step breakpoint");
  Json set = responses(all, "setBreakpoints")[0]["body"]["breakpoints"];
  EXPECT_EQ(set[0]["line"], 8);
  EXPECT_EQ(set[1]["line"], 10);
  EXPECT_EQ(set[2]["verified"], false);
  std::vector<Json> calls = responses(all, "stackTrace"), values = responses(all, "evaluate");
  EXPECT_EQ(lines(calls[0]), "10 17");
  EXPECT_EQ(values[0]["body"]["result"], "0..64 (tile 0)");
  EXPECT_EQ(values[1]["body"]["result"], "64");
  EXPECT_EQ(lines(calls[1]), "2 10 17");
  EXPECT_EQ(calls[1]["body"]["stackFrames"][0]["name"], "scale[C = 64]");
  EXPECT_EQ(values[2]["success"], true);
  EXPECT_EQ(values[3]["body"]["type"], "f32[64]");
  EXPECT_EQ(values[4]["success"], false);
  EXPECT_EQ(lines(calls[2]), "9 17"); // the next tile
  EXPECT_EQ(values[5]["body"]["result"], "64..70 (tile 1)");
}

TEST_F(DebugAdapter, valuesAndNamesOfBlocks) {
  begin({{"test", "wrong"}, {"stopOnEntry", true}}, {26});
  ask("next");
  ask("next");
  ask("scopes", {{"frameId", 1}});
  ask("variables", {{"variablesReference", 1}});
  ask("variables", {{"variablesReference", (1 << 20) + 1}});
  ask("evaluate", {{"expression", "x[1, -2]"}, {"frameId", 1}});
  ask("evaluate", {{"expression", "x[3]"}, {"frameId", 1}});
  ask("stepIn");
  ask("stepIn");
  ask("scopes", {{"frameId", 1}});
  ask("variables", {{"variablesReference", 1}});
  ask("continue");
  ask("scopes", {{"frameId", 1}}); // `inner` is no more
  ask("variables", {{"variablesReference", 1}});
  ask("continue");
  ask("continue");
  std::vector<Json> all = serve();
  EXPECT_EQ(stops(all), "entry step step step step breakpoint exception");
  std::vector<Json> variables = responses(all, "variables"), values = responses(all, "evaluate");
  EXPECT_EQ(shown(variables[0]), "x=[[1, 1], [5, 1], [1, 1]]");
  EXPECT_EQ(shown(variables[1]), "[0]=[1, 1]; [1]=[5, 1]; [2]=[1, 1]");
  EXPECT_EQ(values[0]["body"]["result"], "5");
  EXPECT_EQ(values[1]["message"], "`3` is outside of `x`, which has 3");
  EXPECT_EQ(shown(variables[2]), "x=[[1, 1], [5, 1], [1, 1]]; inner=7");
  EXPECT_EQ(shown(variables[3]), "x=[[1, 1], [5, 1], [1, 1]]");
  EXPECT_NE(output(all).find("got 10, expected 0"), std::string::npos);
}

TEST_F(DebugAdapter, conditionsAndHits) {
  ask("initialize");
  ask("launch", {{"program", path_.string()}, {"test", "doubles"}, {"dims", {{"N", 300}}}});
  Json second = {{"line", 9}, {"condition", "r.start >= 128"}},
       third = {{"line", 10}, {"hitCondition", "5"}};
  ask("setBreakpoints", {{"source", {{"path", path_.string()}}}, {"breakpoints", {second, third}}});
  ask("setExceptionBreakpoints", {{"filters", Json::array()}});
  ask("configurationDone");
  std::vector<Json> all = serve();
  // The assertion before ends the run.
  EXPECT_EQ(stops(all), "");
  input_.clear();
  begin({{"test", "doubles"}, {"dims", {{"N", 70}}}}, {});
  Json first = {{"line", 9}, {"condition", "r.start >= 64"}};
  input_.clear();
  ask("initialize");
  ask("launch", {{"program", path_.string()}, {"test", "doubles"}, {"dims", {{"N", 70}}}});
  third = {{"line", 2}, {"hitCondition", "2"}};
  Json wrong = {{"line", 8}, {"condition", "nothing"}};
  ask("setBreakpoints",
      {{"source", {{"path", path_.string()}}}, {"breakpoints", {first, third, wrong}}});
  ask("configurationDone");
  for (int i = 0; i < 3; ++i) {
    ask("stackTrace", {{"threadId", 1}});
    ask("continue");
  }
  all = serve();
  std::string places;
  for (const Json &trace : responses(all, "stackTrace"))
    places += lines(trace) + ", ";
  EXPECT_EQ(places, "8 17, 9 17, 2 10 17, ");
  EXPECT_NE(output(all).find("`nothing` has no value here"), std::string::npos);
}

TEST_F(DebugAdapter, whatCannotBeDebugged) {
  begin({{"test", "nothing"}}, {});
  std::vector<Json> all = serve();
  EXPECT_EQ(responses(all, "launch")[0]["message"],
            "there is no test or property `nothing`; there are `doubles`, `wrong`");
  input_.clear();
  std::ofstream(path_) << "test \"t\" { expect(a) }\n";
  begin({}, {});
  ask("evaluate", {{"expression", "x"}});
  ask("stepBack");
  ask("variables", {{"variablesReference", "one"}});
  all = serve();
  EXPECT_NE(responses(all, "launch")[0]["message"].get<std::string>().find("ptl:1:19: "),
            std::string::npos);
  EXPECT_EQ(responses(all, "evaluate")[0]["success"], false);
  EXPECT_EQ(responses(all, "stepBack")[0]["message"], "`stepBack` is not supported");
  EXPECT_EQ(responses(all, "variables")[0]["success"], false);
  EXPECT_EQ(responses(all, "disconnect")[0]["success"], true);
}

} // namespace
} // namespace ptl::debug
