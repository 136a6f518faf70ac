#include "compile/entry/reach.h"
#include "lsp/worker/assembly.h"
#include "lsp/worker/hover.h"
#include "lsp/worker/narrow.h"
#include "lsp/worker/print_ir.h"
#include "lsp/worker/worker.h"

#include "gtest/gtest.h"

#include <unistd.h>

namespace ptl::worker {
namespace {

const char *const kScale = "/// Scales.\n"
                           "kernel scale[N](x: f32[N], s: f32) -> (y: f32[N])\n"
                           "{\n"
                           "    parallel r in tiles(N, 1024) {\n"
                           "        y[r] = x[r] * s\n"
                           "    }\n"
                           "}\n";

Json previewOf(Worker &worker, const std::string &text, const std::string &entry,
               const std::string &stage) {
  Json answer = worker.answer({{"method", "preview"},
                               {"root", "t.ptl"},
                               {"files", {{"t.ptl", text}}},
                               {"entry", entry},
                               {"stage", stage}});
  return answer.value("result", Json::object());
}

TEST(Worker, EveryStageHasTextAndSources) {
  Worker worker({}, {});
  for (const StageInfo &info : stageInfos) {
    if (!info.isShown())
      continue;
    Json result = previewOf(worker, kScale, "scale", std::string(info.name));
    ASSERT_TRUE(truthField(result, "ok", false)) << info.name << dumped(result);
    EXPECT_EQ(textField(result, "languageId"), info.shown.language);
    EXPECT_FALSE(textField(result, "text").empty());
    // A picture of memories is of no line.
    bool isPlain = info.id == StageId::Memory || info.id == StageId::MemorySvg;
    EXPECT_EQ(result["map"].empty(), isPlain) << info.name;
    EXPECT_EQ(textField(result, "text").find("loc("), std::string::npos);
  }
}

TEST(Worker, BindingsMayNameTheirDeclaration) {
  Worker worker({}, {});
  auto boundN = [&](Json bindings) {
    Json answer = worker.answer({{"method", "preview"},
                                 {"root", "t.ptl"},
                                 {"files", {{"t.ptl", kScale}}},
                                 {"entry", "scale"},
                                 {"stage", "built"},
                                 {"bindings", std::move(bindings)}});
    for (const Json &value : answer["result"]["entries"][0]["values"])
      if (value["name"] == "N")
        return value["value"].dump();
    return std::string("not bound");
  };
  std::string fixed = boundN({{"N", 512}});
  EXPECT_NE(fixed, "not bound");
  EXPECT_EQ(boundN({{"scale.N", 512}, {"N", 64}}), fixed);
  EXPECT_EQ(boundN({{"other.N", 512}, {"other.C", 1}}), "not bound");
}

TEST(Worker, AChangeIsOfTheTextThatWasSentBefore) {
  Worker worker({}, {});
  auto ask = [&](Json file) {
    return worker.answer({{"method", "preview"},
                          {"root", "t.ptl"},
                          {"files", {{"t.ptl", std::move(file)}}},
                          {"entry", "scale"},
                          {"stage", "checked"}});
  };
  auto change = [](size_t from, size_t to, const char *text) {
    return Json{{"from", from}, {"to", to}, {"text", text}};
  };
  EXPECT_EQ(textField(ask(change(0, 0, ""))["error"], "code"), "invalid") << "there is none";
  std::string plain = textField(ask(kScale)["result"], "text");
  EXPECT_EQ(textField(ask(change(0, 0, ""))["result"], "text"), plain);
  size_t at = std::string(kScale).find("x[r] * s");
  std::string text = textField(ask(change(at, at + 4, "exp(x[r])"))["result"], "text");
  EXPECT_NE(text.find("exp"), std::string::npos) << text;
  EXPECT_EQ(textField(ask(change(0, 100000, ""))["error"], "code"), "invalid") << "beyond its end";
  EXPECT_EQ(textField(ask(change(at, at + 9, "x[r]"))["result"], "text"), plain);
  worker.answer({{"method", "status"}, {"forget", {"t.ptl"}}});
  EXPECT_EQ(textField(ask(change(0, 0, ""))["error"], "code"), "invalid") << "it was forgotten";
}

TEST(Worker, AnExpressionKeepsItsRange) {
  Worker worker({}, {});
  Json result = previewOf(worker, kScale, "scale", "tile");
  std::string wanted = "x[r] * s";
  auto begin = std::string(kScale).find(wanted);
  bool found = false;
  for (const Json &origin : result["origins"])
    found |= origin[0]["begin"] == begin && origin[0]["end"] == begin + wanted.size();
  EXPECT_TRUE(found) << result["origins"].dump(1);
}

TEST(Worker, StepsAreWatchedAndCanStopTheWork) {
  std::vector<std::string> steps;
  Worker worker({}, [&](const std::string &step) {
    steps.push_back(step);
    return step != "vectorise";
  });
  Json answer = worker.answer({{"method", "preview"},
                               {"root", "t.ptl"},
                               {"files", {{"t.ptl", kScale}}},
                               {"entry", "scale"},
                               {"stage", "asm"}});
  EXPECT_EQ(textField(answer["error"], "code"), "cancelled");
  EXPECT_EQ(steps.front(), "check");
  EXPECT_EQ(steps.back(), "vectorise");
}

TEST(Reach, FollowsCallsInEveryKindOfExpression) {
  auto checked = std::make_unique<Checked>();
  FileId file = checked->sources.add(
      "t.ptl", "fn a(x: f32) -> f32 {\n    return x\n}\n"
               "fn b(x: f32) -> f32 {\n    return if x > 0.0 { a(x) } else { x }\n}\n"
               "fn c(x: f32) -> f32 {\n    return b(x) + a(x)\n}\n"
               "fn d(x: f32) -> f32 {\n    return x\n}\n");
  checked->program = checkFile(checked->sources, file, {}, checked->sink);
  const CallableDecl *entry = findDeclaration(*checked->program, "c", std::nullopt);
  ASSERT_TRUE(entry);
  std::vector<std::string> names;
  for (const CallableDecl *decl : reachableFrom(*entry))
    names.push_back(decl->name);
  EXPECT_EQ(names, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(findDeclaration(*checked->program, "", 50)->name, "b");
}

TEST(Narrow, KeepsWhatIsNamedAndThePlacesOfAll) {
  std::string text = "/// Says é.\nfn a(x: f32) -> f32 {\n    return x\n}\n"
                     "const N = 3\n"
                     "fn b(x: f32) -> f32 {\n    return a(x)\n}\n"
                     "fn c(x: f32) -> f32 {\n    return x\n}\n"
                     "test \"of b\" {\n    expect(b(c(1.0)) > 0.0)\n}\n"
                     "test \"of a\" {\n    expect(a(1.0) > 0.0)\n}\n";
  auto has = [](const std::string &where, const char *what) {
    return where.find(what) != where.npos;
  };
  Narrower narrower;
  std::string forB = narrower.narrowed("t.ptl", text, "b", std::nullopt);
  EXPECT_EQ(forB.size(), text.size());
  EXPECT_EQ(std::count(forB.begin(), forB.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(forB.find("fn b"), text.find("fn b"));
  EXPECT_TRUE(has(forB, "fn a") && has(forB, "const N") && has(forB, "of b") && has(forB, "fn c"));
  EXPECT_FALSE(has(forB, "of a"));
  std::string forC =
      narrower.narrowed("t.ptl", text, "", static_cast<uint32_t>(text.find("fn c") + 1));
  EXPECT_TRUE(has(forC, "fn c") && has(forC, "of b"));
  EXPECT_FALSE(has(forC, "of a"));
  std::string forTest = narrower.narrowed("t.ptl", text, "of a", std::nullopt);
  EXPECT_TRUE(has(forTest, "of a") && has(forTest, "fn a") && has(forTest, "Says"));
  EXPECT_FALSE(has(forTest, "fn b") || has(forTest, "fn c"));
}

PlacedCode placed(const std::string &name, FunctionCodes codes,
                  std::vector<std::vector<Span>> origins) {
  return {name, std::make_shared<FunctionCode>(std::move(codes.at(name))), std::move(origins)};
}

TEST(Narrow, ATextThatChangesIsAsIfItWereNew) {
  std::string text =
      "fn a(x: f32) -> f32 {\n    return x\n}\nfn b(x: f32) -> f32 {\n    return x\n}\n";
  std::vector<std::string> texts = {text, text + "fn c(x: f32) -> f32 {\n    return a(x)\n}\n", "",
                                    text};
  texts.push_back(text.substr(0, 30));
  texts.push_back(text);
  texts.back().replace(text.find("return x"), 8, "return b(x)");
  Narrower narrower;
  for (const std::string &each : texts)
    EXPECT_EQ(narrower.narrowed("t.ptl", each, "a", std::nullopt),
              Narrower().narrowed("t.ptl", each, "a", std::nullopt));
}

TEST(Assembly, DirectivesBecomeTheMap) {
  FunctionCodes codes = splitAssembly(
      "\t.text\n\t.file\t\"ptl\"\nf:\n.Lfunc_begin0:\n\t.cfi_startproc\n"
      "\t.loc\t1 1 0 prologue_end\n\tincq\t%rdi\n\t.loc\t1 0 0\n\tdecq\t%rdi\n.Ltmp1:\n"
      "\t.loc\t1 2 0\n\tretq\n.Lfunc_end0:\n\t.section\t.debug_line,\"\",@progbits\n\t.byte\t1\n",
      {{"f", {}}});
  StageText stage = joined({placed("f", codes, {{{0, 3, 7}}, {{0, 9, 12}}})}, StageId::Asm);
  EXPECT_EQ(stage.text, "f:\n\tincq\t%rdi\n\tdecq\t%rdi\n\tretq\n");
  EXPECT_EQ(stage.map.spans(1).front().begin, 3u);
  EXPECT_TRUE(stage.map.spans(2).empty());
  EXPECT_EQ(stage.map.spans(3).front().begin, 9u);
  EXPECT_EQ(stage.facts[3].op, "retq");
}

TEST(Assembly, FunctionsFromElsewhereGetTheirLabelsAndConstants) {
  // Both were made alone: their labels have the same numbers.
  FunctionCodes f = splitAssembly(".LCPI0_0:\n\t.long\t1\nf:\n.LBB0_1: # Loop BB0_1\n"
                                  "\tjmp\t.LBB0_1\n.Lfunc_end0:\n\t.section\t.rodata\n"
                                  "text:\n\t.asciz\t\"t\"\nother:\n\t.byte\t1\n",
                                  {{"f", {"text"}}});
  FunctionCodes g = splitAssembly(".LCPI0_0:\n\t.long\t2\ng:\n.LBB0_1:\n\tjmp\t.LBB0_1\n"
                                  "\tmovss\t.LCPI0_0(%rip), %xmm0\n.Lfunc_end0:\n"
                                  ".LJTI0_0:\n\t.long\t3\n",
                                  {{"g", {}}});
  StageText stage = joined({placed("f", f, {}), placed("g", g, {})}, StageId::Asm);
  EXPECT_EQ(stage.text,
            ".LCPI0_0:\n\t.long\t1\nf:\n.LBB0_1: # Loop BB0_1\n\tjmp\t.LBB0_1\n\n"
            ".LCPI1_0:\n\t.long\t2\ng:\n.LBB1_1:\n\tjmp\t.LBB1_1\n"
            "\tmovss\t.LCPI1_0(%rip), %xmm0\n.LJTI1_0:\n\t.long\t3\n\ntext:\n\t.asciz\t\"t\"\n");
}

TEST(Functions, OnlyTheChangedOneIsCompiled) {
  std::string text = "fn f(x: f32[64, 64], y: f32[64, 64]) -> f32[64, 64] {\n"
                     "    return exp(x @ y) * 2.0\n}\n";
  std::string changed = text;
  changed.replace(changed.find("2.0"), 3, "3.0");
  std::vector<std::string> steps;
  Worker worker({}, [&](const std::string &step) { return steps.push_back(step), true; });
  for (std::string stage : {"llvm", "asm"}) {
    std::string fresh = textField(
        previewOf(*std::make_unique<Worker>(WorkerOptions(), Watch()), changed, "f", stage),
        "text");
    previewOf(worker, text, "f", stage);
    Json result = previewOf(worker, changed, "f", stage);
    EXPECT_EQ(textField(result, "text"), fresh) << stage;
    // The same code at another place: nothing is left to compile.
    steps.clear();
    std::string moved = textField(previewOf(worker, "\n" + changed, "f", stage), "text");
    EXPECT_EQ(moved, fresh);
    EXPECT_EQ(std::count(steps.begin(), steps.end(), "translate"), 0);
  }
}

TEST(Stage, FoldsFollowBrackets) {
  std::vector<Fold> folds = foldsOf("module {\n  f {\n    a\n  }\n}\n", StageId::Tile);
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[0].end, 3u);
  EXPECT_EQ(folds[1].start, 1u);
}

TEST(Cache, KeepsWhatWasUsedLast) {
  Worker worker({"", size_t(1) << 14, ""}, {});
  for (int i = 0; i < 20; ++i) {
    std::string text = kScale + std::string("// ") + std::to_string(i) + "\n";
    std::string entry = "scale";
    text.replace(text.find("1024"), 4, std::to_string(1024 + i));
    ASSERT_TRUE(truthField(previewOf(worker, text, entry, "vector"), "ok", false));
    worker.tidy();
  }
  Json status = worker.answer({{"method", "status"}})["result"];
  EXPECT_LT(status["cache"]["entries"].get<int>(), 3);
}

TEST(Channel, ReadsFramesAndSkipsGarbage) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string bytes = "Content-Length: 8\r\n\r\n{\"a\": 1}junk\r\n\r\ncontent-length:2\r\nX: y"
                      "\r\n\r\n{}";
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  Channel channel(ends[0], STDOUT_FILENO);
  EXPECT_EQ(channel.read()->at("a"), 1);
  EXPECT_TRUE(channel.read()->is_discarded());
  EXPECT_TRUE(channel.read()->is_object());
  EXPECT_FALSE(channel.read().has_value());
  ::close(ends[0]);
}

} // namespace
} // namespace ptl::worker
