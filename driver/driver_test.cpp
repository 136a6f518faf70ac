#include "driver/bundle.h"
#include "driver/command_line.h"
#include "driver/options.h"
#include "frontend/base/output.h"
#include "machines/machine.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace ptl;

namespace {

ParsedOptions parse(const char *command, std::vector<std::string> arguments) {
  return parseOptions(*findCommand(command), arguments);
}

TEST(Options, everySpellingOfAValue) {
  ParsedOptions parsed =
      parse("check", {"a.ptl", "-Ione", "-I", "two", "--include=three", "--include", "four",
                      "-Wno-x", "-Werror=y", "-MD", "-MF", "d", "-", "--", "-b"});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.values(OptionId::Include),
            (std::vector<std::string>{"one", "two", "three", "four"}));
  EXPECT_EQ(parsed.options.values(OptionId::Warning),
            (std::vector<std::string>{"no-x", "error=y"}));
  EXPECT_EQ(parsed.options.value(OptionId::MakeDepsFile), "d");
  EXPECT_EQ(parsed.options.positional(), (std::vector<std::string>{"a.ptl", "-", "-b"}));
}

TEST(Options, wrongUsageSaysWhat) {
  EXPECT_EQ(parse("check", {"--fxi"}).error, "unknown option `--fxi`; did you mean `--fix`?");
  EXPECT_EQ(parse("check", {"--fix=1"}).error, "unknown option `--fix=1`; did you mean `--fix`?");
  EXPECT_EQ(parse("check", {"-O2"}).error, "`-O2` is not an option of `check`");
  EXPECT_EQ(parse("run", {"-o"}).error, "`-o` needs a value: PATH");
}

TEST(Options, numbersAndSuggestions) {
  EXPECT_EQ(parse("run", {"-O3"}).options.number(OptionId::Optimize), 3);
  EXPECT_EQ(parse("run", {"-O3x"}).options.number(OptionId::Optimize), std::nullopt);
  EXPECT_STREQ(similarCommand("chekc")->name, "check");
  EXPECT_EQ(similarCommand("nonsense"), nullptr);
}

TEST(Options, responseFilesSplitLikeAShell) {
  std::string path = testing::TempDir() + "ptl_response";
  std::ofstream(path) << "check  'a b.ptl'\n-D \"N=\\\"1\\\"\" c\\ d ''";
  std::string argument = "@" + path, program = "ptlc", missing = "@" + path + ".missing", error;
  char *argv[] = {program.data(), argument.data()};
  EXPECT_EQ(expandResponseFiles(2, argv, &error),
            (std::vector<std::string>{"ptlc", "check", "a b.ptl", "-D", "N=\"1\"", "c d", ""}));
  EXPECT_EQ(error, "");
  argv[1] = missing.data();
  expandResponseFiles(2, argv, &error);
  EXPECT_NE(error.find("cannot read the response file"), std::string::npos);
}

TEST(Output, appearsWholeOrNotAtAll) {
  std::string folder = testing::TempDir() + "ptl_output_" + std::to_string(::getpid());
  std::string error, path = folder + "/file";
  EXPECT_FALSE(writeOutput(path, "text", &error));
  EXPECT_EQ(error, "No such file or directory");
  EXPECT_TRUE(writeOutput(folder, "text", &error));
  std::ifstream in(folder);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "text");
  EXPECT_TRUE(writeOutput("/dev/null", "text", &error));
  std::remove(folder.c_str());
}

TEST(Bundle, holdsSourcesCommandAndIr) {
  std::string folder = testing::TempDir() + bundleFolder();
  SourceManager sources;
  sources.add("some/a.ptl", "fn f() {}\n");
  readCommandLine({"ptlc", "build", "some/a.ptl", "-D", "N='4'"});
  EXPECT_EQ(writeBundle(folder, sources, {"passes", "no tile fits", "module {}\n"}), "");
  auto read = [&](const std::string &name) {
    std::ifstream in(folder + "/" + name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(read("some_a.ptl"), "fn f() {}\n");
  EXPECT_EQ(read("failing.mlir"), "module {}\n");
  std::string report = read("report.txt");
  EXPECT_NE(report.find("stage: passes\nmessage: no tile fits\ncommand: 'ptlc' 'build' "
                        R"('some/a.ptl' '-D' 'N='\''4'\''')"),
            report.npos)
      << report;
  EXPECT_EQ(writeBundle(folder + "/none/deeper", sources, {}), "No such file or directory");
  std::filesystem::remove_all(folder);
}

TEST(Machine, builtinsAreValidAndErrorsNameThePlace) {
  std::string error;
  for (const MachineFile &file : builtinMachineFiles())
    EXPECT_TRUE(parseMachine(file.text, &error)) << file.path << ": " << error;
  EXPECT_FALSE(parseMachine("{", &error));
  EXPECT_FALSE(parseMachine("{}", &error));
  EXPECT_EQ(error, "`name` is missing");
  std::string text = builtinMachineFiles().front().text;
  size_t place = text.find("\"cores\": [");
  ASSERT_NE(place, std::string::npos);
  text.replace(place, 10, "\"cores\": [{\"kind\": 3, \"count\": 1}, ");
  EXPECT_FALSE(parseMachine(text, &error));
  EXPECT_EQ(error, "`cores[0].kind` is not a string");
}

} // namespace
