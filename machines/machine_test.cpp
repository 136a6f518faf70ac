#include "machines/machine.h"

#include "ir/ops/instruction_table.h"

#include <gtest/gtest.h>

#include <map>

using namespace ptl;

namespace {

std::string errorOf(const std::string &text, std::vector<MachineFile> others = {}) {
  std::string error;
  EXPECT_FALSE(parseMachine(text, &error, others).has_value()) << text;
  EXPECT_FALSE(error.empty()) << text;
  std::string again;
  EXPECT_FALSE(machineJson(text, &again, others).has_value());
  EXPECT_EQ(error, again);
  return error;
}

/// A file on `a2` with these members.
std::string ownFile(const std::string &members) {
  return R"({"name": "own", "base": "a2", )" + members + "}";
}

TEST(Machine, BuiltinFilesAreValid) {
  for (const MachineFile &file : builtinMachineFiles()) {
    std::string error;
    std::optional<Machine> machine = parseMachine(file.text, &error);
    ASSERT_TRUE(machine) << file.path << ": " << error;
    EXPECT_EQ(machine->name, file.path);
    EXPECT_TRUE(findMachine(file.path));
    EXPECT_TRUE(machineJson(file.text, &error));
  }
  EXPECT_EQ(builtinMachineFiles().front().path, "cpu");
  EXPECT_EQ(builtinMachineFiles().size(), 11u);
  EXPECT_FALSE(findMachine("a7"));
  EXPECT_FALSE(findMachine("schema"));
  EXPECT_FALSE(findMachine(""));
}

TEST(Machine, EveryInstructionIsThereOrMissingWithAReason) {
  for (const char *name : {"a2", "a3", "a5"}) {
    Machine machine = *findMachine(name);
    for (const InstructionInfo &info : instructions) {
      std::string why = machine.whyNot(info.mnemonic, {});
      EXPECT_TRUE(machine.instruction(info.mnemonic) || why.find(": ") != why.npos)
          << name << ": " << why;
    }
  }
}

TEST(Machine, SpacesAndMoves) {
  Machine a3 = *findMachine("a3"), a5 = *findMachine("a5"), cpu = *findMachine("cpu");
  EXPECT_EQ(a3.space("vec")->usableBytes(), 184 * 1024);
  EXPECT_EQ(a5.space("vec")->usableBytes(), 240 * 1024);
  EXPECT_EQ(a3.space("acc")->alignment, 512);
  EXPECT_EQ(a3.space("acc")->fractal->rows * a3.space("acc")->fractal->bytes, 1024);
  EXPECT_EQ(a3.space("left")->usualLayout(), "zz");
  EXPECT_EQ(a5.space("left")->usualLayout(), "nz");
  EXPECT_EQ(findMachine("kirinx90")->space("left")->usualLayout(), "zz");
  EXPECT_EQ(a3.space("nowhere"), nullptr);
  EXPECT_EQ(a3.move("acc", "vec"), nullptr);
  EXPECT_EQ(a3.move("acc", "gm")->pipe, "fix");
  EXPECT_EQ(a5.move("vec", "mat")->core, "aiv");
  EXPECT_TRUE(a3.move("acc", "gm")->carries("f32", "bf16"));
  EXPECT_FALSE(a3.move("acc", "gm")->carries("i32", "f16"));
  EXPECT_TRUE(a3.move("acc", "gm")->carriesQuantized("i32", "f16"));
  EXPECT_TRUE(a3.move("gm", "mat")->hasLayouts("nd", "nz"));
  EXPECT_FALSE(a3.move("gm", "vec")->hasLayouts("nd", "nz"));
  EXPECT_TRUE(a3.move("mat", "left")->hasInstruction("textract"));
  using Places = std::vector<std::string>;
  EXPECT_EQ(a3.route("acc", "vec"), (Places{"acc", "gm", "vec"}));
  EXPECT_EQ(a5.route("acc", "vec"), (Places{"acc", "vec"}));
  EXPECT_EQ(a3.route("gm", "left"), (Places{"gm", "mat", "left"}));
  EXPECT_EQ(a5.route("vec", "left"), (Places{"vec", "mat", "left"}));
  EXPECT_TRUE(a3.route("vec", "nowhere").empty());
  EXPECT_TRUE(cpu.moves.empty());
}

TEST(Machine, Synchronisation) {
  Machine a3 = *findMachine("a3"), a5 = *findMachine("a5");
  EXPECT_EQ(a3.events, 8);
  EXPECT_EQ(a3.crossCore.flags, 16);
  EXPECT_EQ(a3.crossCore.reserved, (std::vector<int64_t>{11, 12, 13, 14}));
  EXPECT_TRUE(a3.vectorBarrier);
  EXPECT_FALSE(a5.vectorBarrier);
  EXPECT_FALSE(a3.exchange.throughBuffer);
  EXPECT_TRUE(a5.exchange.throughBuffer);
  EXPECT_EQ(a3.exchange.vectorPerCube, 2);
  EXPECT_EQ(a3.limits.matmulExtent, 4095);
  EXPECT_EQ(a3.core("aiv")->pipes.size(), 4u);
}

TEST(Machine, TypesOfInstructions) {
  Machine a3 = *findMachine("a3"), a5 = *findMachine("a5"), kirin = *findMachine("kirin9030");
  EXPECT_TRUE(a3.supports("tadd", {"f32"}));
  EXPECT_TRUE(a3.supports("tadd", {"f32", "f32", "f32"}));
  EXPECT_FALSE(a3.supports("tadd", {"f32", "f16"}));
  EXPECT_TRUE(a3.supports("tmatmul", {"f16", "f16", "f32"}));
  EXPECT_TRUE(a3.supports("tmatmul", {"f16"}));
  EXPECT_FALSE(a3.supports("tmatmul", {"f16", "f16", "f16"}));
  EXPECT_FALSE(a3.supports("tmatmul", {"f16", "f16", "f32", "f32"}));
  EXPECT_TRUE(kirin.supports("tmatmul", {"f16", "f16", "f16"}));
  EXPECT_FALSE(kirin.supports("tadd", {"bf16"}));
  EXPECT_TRUE(a5.supports("tadd", {"bf16"}));
  EXPECT_TRUE(a3.supports("tcmp.eq", {"i32"}));
  EXPECT_EQ(a3.whyNot("tadd", {"f32"}), "");
  EXPECT_EQ(a3.whyNot("tadd", {"u16"}),
            "`tadd` does not take u16 on a3: it takes i16, i32, f16, f32");
  EXPECT_EQ(a3.whyNot("tmul", {"bf16"}), "`tmul` does not take bf16 on a3: the vector unit has no "
                                         "bf16 arithmetic: convert to f32");
  EXPECT_EQ(a5.whyNot("tcvt", {"i32", "f16"}),
            "`tcvt` does not take i32 f16 on a5: convert to f32 first");
  EXPECT_EQ(a3.whyNot("trandom", {"i32"}),
            "`trandom` is not on a3: only A5 has a random generator");
  EXPECT_EQ(a3.whyNot("tadd", {"f8e4m3"}), "`f8e4m3` is not on a3");
  EXPECT_EQ(a3.whyNot("nonsense", {}), "`nonsense` is not on a3");
}

TEST(Machine, Variants) {
  std::optional<Machine> small = findMachine("a2:910b4");
  ASSERT_TRUE(small);
  EXPECT_EQ(small->core("aic")->count, 20);
  EXPECT_EQ(small->clockMhz, 1500);
  EXPECT_EQ(small->core("aic")->pipes.size(), 6u);
  EXPECT_FALSE(findMachine("a2:nonsense"));
}

TEST(Machine, BaseFillsIn) {
  std::string error;
  std::optional<Machine> own = parseMachine(
      ownFile(R"("summary": "small", "memories": [{"place": "vec", "bytes": 65536}, )"
              R"({"place": "scale", "remove": true}], "moves": [{"from": "mat", "to": "scale", )"
              R"("remove": true}], "instructions": {"tadd": ["f32"], "texp": null}, )"
              R"("clockMhz": null)"),
      &error);
  ASSERT_TRUE(own) << error;
  EXPECT_EQ(own->name, "own");
  EXPECT_EQ(own->space("vec")->usableBytes(), 65536 - 8192);
  EXPECT_EQ(own->space("vec")->alignment, 32);
  EXPECT_EQ(own->space("scale"), nullptr);
  EXPECT_EQ(own->move("mat", "scale"), nullptr);
  EXPECT_TRUE(own->supports("tsub", {"f16"}));
  EXPECT_FALSE(own->supports("tadd", {"f16"}));
  EXPECT_FALSE(own->instruction("texp"));
  EXPECT_EQ(own->clockMhz, 0);
  // Types that it lacks go from all lists.
  own = parseMachine(ownFile(R"("elementTypes": ["f32", "i32"])"), &error);
  ASSERT_TRUE(own) << error;
  EXPECT_FALSE(own->supports("tadd", {"f16"}));
  EXPECT_FALSE(own->instruction("tnot"));
  EXPECT_TRUE(own->move("acc", "gm")->conversions.empty());
  // From another file of the user's.
  own = parseMachine(R"({"name": "third", "base": "own"})", &error,
                     std::vector<MachineFile>{{"x.json", ownFile(R"("clockMhz": 7)")}});
  ASSERT_TRUE(own) << error;
  EXPECT_EQ(own->clockMhz, 7);
}

TEST(Machine, ErrorsNameThePlace) {
  EXPECT_EQ(errorOf("{"), "it is not JSON: line 1, column 2");
  EXPECT_EQ(errorOf("{\n  \"name\": \"a\",\n  oops"), "it is not JSON: line 3, column 3");
  EXPECT_EQ(errorOf("[]"), "the document is not an object");
  EXPECT_EQ(errorOf("null"), "the document is not an object");
  EXPECT_EQ(errorOf("{}"), "`name` is missing");
  EXPECT_EQ(errorOf(R"({"name": "a", "name": "b"})"), "`name` is given twice in one object");
  EXPECT_EQ(errorOf(R"({"base": "a2"})"), "`name` is missing");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": null})"), "`base` is missing");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": "a"})"), "`base` leads back to `a`");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": "b"})"), "`base` is `b`, which is not a machine");
  EXPECT_EQ(errorOf(R"({"name": "a b", "base": "a3"})"),
            "`name` is \"a b\", not a word of letters, digits and `_`");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": "schema"})"),
            "`base` is `schema`, which is not a machine");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": "b"})", {{"b", R"({"name": "b", "base": "a"})"},
                                                      {"a", R"({"name": "a", "base": "b"})"}}),
            "its base `b`: `base` leads back to `a`");
  EXPECT_EQ(errorOf(R"({"name": "a", "base": "b"})", {{"b", R"({"name": "b"})"}}),
            "its base `b`: `summary` is missing");
}

TEST(Machine, ErrorsOfValues) {
  std::map<std::string, std::string> cases = {
      {R"("sumary": "x")", "`sumary` is not a field of a machine"},
      {R"("sumary": null)", "`sumary` is not a field of a machine"},
      {R"("remove": true)", "`remove` is not a field of a machine"},
      {R"("name": null)", "`name` is given twice in one object"},
      {R"("elementTypes": null)", "`elementTypes` is missing"},
      {R"("clockMhz": 1e30)", "`clockMhz` is not an integer"},
      {R"("clockMhz": 1e999)", "it has a number that is too large"},
      {R"("clockMhz": 18446744073709551615)", "`clockMhz` is not an integer"},
      {R"("clockMhz": 0)", "`clockMhz` is 0, less than 1"},
      {R"("elementTypes": ["f33"])", "`elementTypes[0]` is \"f33\", not one of "},
      {R"("elementTypes": [[["f32"]]])", "`elementTypes[0]` is a list, not one of "},
      {R"("memories": [{"place": "vec", "bytes": 1, "alignment": "x"}])",
       "`memories[0].alignment` is not an integer"},
      {R"("memories": [{"place": "vec", "alignment": 48}])",
       "`memories[1].alignment` is 48, which is not a power of two"},
      {R"("memories": [{"place": "vec", "reserved": 200000}])",
       "`memories[1].reserved` is 200000, more than the 196608 bytes of `vec`"},
      {R"("memories": [{"place": "vec", "core": "gpu"}])",
       "`memories[1].core` is `gpu`, which is not among the cores"},
      {R"("memories": [{"bytes": 3}])", "`memories[0].place` is missing"},
      {R"("memories": [{"place": "vec"}, {"place": "vec"}])",
       "`memories[1]` describes `vec` again"},
      {R"("memories": [{"place": "scaleleft", "remove": true}])",
       "`memories[0]` removes an item that the base does not have"},
      {R"("memories": [{"place": "scale", "remove": true}])",
       "`moves[8].to` is `scale`, which is not among the memories"},
      {R"("memories": [{"place": "scaleleft"}])", "`memories[8].bytes` is missing"},
      {R"("moves": [{"from": "gm", "to": "l1"}])", "`moves[0].to` is \"l1\", not one of "},
      {R"("moves": [{"from": "gm", "to": "vec", "pipe": "m"}])",
       "`moves[0].pipe` is `m`, which is not among the pipes of `aiv`"},
      {R"("moves": [{"from": "gm", "to": "vec", "core": "gpu"}])",
       "`moves[0].core` is `gpu`, which is not among the cores"},
      {R"("moves": [{"from": "gm", "to": "vec", "layouts": [["nd"]]}])",
       "`moves[0].layouts[0]` has 1 items, not 2"},
      {R"("moves": [{"from": "gm", "to": "vec", "layouts": [["nd", "zz"]]}])",
       "`moves[0].layouts[0][1]` is `zz`, which is not among the layouts of `vec`"},
      {R"("moves": [{"from": "gm", "to": "vec", "instructions": ["tlod"]}])",
       "`moves[0].instructions[0]` is `tlod`, which is not among the instructions"},
      {R"("moves": [{"from": "gm", "to": "vec", "types": ["f64"]}])",
       "`moves[0].types[0]` is `f64`, which is not among the element types"},
      {R"("instructions": {"tadd": ["f64"]})",
       "`instructions.tadd[0]` is `f64`, which is not among the element types"},
      {R"("instructions": {"tadd": []})", "`instructions.tadd` has no element types"},
      {R"("instructions": {"tadd": [[]]})", "`instructions.tadd[0]` has no element types"},
      {R"("instructions": {"tadd": [["f32", 3]]})", "`instructions.tadd[0][1]` is 3, not one of "},
      {R"("instructions": {"tadd": [{}]})", "`instructions.tadd[0]` is an object, not one of "},
      {R"("missing": {"tadd": "broken"})",
       "`missing.tadd` gives a reason why it is missing, but it is listed in `instructions`"},
      {R"("crossCore": {"reserved": [16]})",
       "`crossCore.reserved[0]` is 16, but there are 16 flags"},
      {R"("variants": [{"name": "910b1", "cores": [{"kind": "gpu", "count": 1}]}])",
       "`variants[0].cores[2].kind` is `gpu`, which is not among the cores"},
      {R"("exchange": {"through": "magic"})", "`exchange.through` is \"magic\", not one of "},
      {R"("costs": {"product": {"cycles": {"f16": "fast"}}})",
       "`costs.product.cycles.f16` is not a number"},
  };
  for (const auto &[members, expected] : cases) {
    std::string error = errorOf(ownFile(members));
    EXPECT_EQ(error.substr(0, expected.size()), expected) << members << ": " << error;
  }
}

/// Whatever stands in a file, it is read or refused.
TEST(Machine, DamagedFilesAreRefused) {
  std::string error;
  std::string deep(200000, '[');
  EXPECT_FALSE(parseMachine(deep, &error));
  EXPECT_FALSE(parseMachine(deep + std::string(200000, ']'), &error));
  EXPECT_FALSE(parseMachine("{\"cores\": " + deep + std::string(200000, ']') + "}", &error));
  EXPECT_FALSE(parseMachine("{\"name\": \"\xff\"}", &error));
  const char *values[] = {"null", "3", "-1", "\"x\"", "[]", "{}", "[null]", "{\"remove\": true}"};
  size_t count = 0;
  for (const MachineFile &file : builtinMachineFiles())
    for (size_t at = file.text.find(": "); at != file.text.npos;
         at = file.text.find(": ", at + 1)) {
      if (++count % 4 != 0)
        continue;
      size_t end = file.text.find_first_of(",}\n", at);
      const char *value = values[at % std::size(values)];
      std::string damaged = file.text.substr(0, at + 2) + value + file.text.substr(end);
      std::optional<Machine> machine = parseMachine(damaged, &error);
      EXPECT_EQ(machine.has_value(), error.empty());
    }
}

} // namespace
