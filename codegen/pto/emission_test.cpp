#include "codegen/pto/emit_cpp.h"
#include "codegen/pto/emit_pto.h"
#include "codegen/pto/names.h"
#include "codegen/pto/verify.h"

#include "ir/dialect/pto_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl::pto {
namespace {

constexpr const char *kernelText = R"(
!t = !pto.tile_buf<vec, 16x64xf32>
!slots = !pto.multi_tile_buf<!t, count = 2>
module attributes {pto.target_arch = "a3", ptl.machine = "a3"} {
  func.func @twice(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index {ptl.name = "n"})
      attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>, ptl.kernel = "twice"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %at = arith.constant 256 : i64
    %slots = pto.alloc_multi_tile addr = %at : !slots loc("rows"("k.ptl":3:7))
    scf.for %i = %c0 to %n step %c1 {
      %t = pto.multi_tile_get %slots[%i] : !slots -> !t loc("rows"("k.ptl":4:9))
      %half = pto.subset %t[%c0, %c16] : !t -> !pto.tile_buf<vec, 16x32xf32> loc("part"("k.ptl":5:9))
      pto.tadd ins(%half, %half : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>) outs(%half : !pto.tile_buf<vec, 16x32xf32>) loc("k.ptl":5:9)
      pto.barrier <PIPE_V> {ptl.why = "RAW on part"} loc("k.ptl":6:9)
    } loc("k.ptl":3:3)
    return
  }
}
)";

class Emission : public testing::Test {
protected:
  Emission() {
    mlir::DialectRegistry registry;
    registry.insert<ir::PtlDialect, PtoDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                    mlir::scf::SCFDialect>();
    context_.appendDialectRegistry(registry);
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kernelText, &context_);
    machine_ = *findMachine("a3");
  }

  /// The first line of the text that holds `part`; 0 if none does.
  static unsigned lineWith(const Emitted &text, const std::string &part) {
    size_t at = text.text.find(part);
    if (at == std::string::npos)
      return 0;
    return 1 + static_cast<unsigned>(
                   std::count(text.text.begin(), text.text.begin() + static_cast<long>(at), '\n'));
  }
  static void expectLine(const Emitted &text, const std::string &part, unsigned sourceLine) {
    unsigned line = lineWith(text, part);
    ASSERT_TRUE(line) << part << " is not in\n" << text.text;
    ASSERT_TRUE(text.lines.at(line)) << part;
    EXPECT_EQ(text.lines.at(line)->line, sourceLine) << part;
    EXPECT_EQ(text.lines.at(line)->file, "k.ptl");
  }
  /// A program that writes `message` to standard error, with `%s` its last argument but `skip`, and
  /// fails.
  static std::string tool(const std::string &script) {
    std::string path = testing::TempDir() + "/ptl_tool_" + std::to_string(::getpid());
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Machine machine_;
};

TEST_F(Emission, SlotsAndWindowsAreSpelledOutForOldVersions) {
  ASSERT_TRUE(module_);
  Emitted old = emitPto(*module_, machine_, *PtoasVersion::parse("0.27"));
  EXPECT_TRUE(old.findings.empty());
  EXPECT_EQ(old.text.find("multi_tile"), std::string::npos);
  EXPECT_NE(old.text.find("%part = pto.alloc_tile addr = %part_addr : !vec_f32_16x64_of_16x32"),
            std::string::npos)
      << old.text;
  Emitted recent = emitPto(*module_, machine_, *PtoasVersion::parse("0.57"));
  EXPECT_NE(recent.text.find("pto.multi_tile_get"), std::string::npos);
  EXPECT_FALSE(PtoasVersion::parse("1.2"));
  EXPECT_FALSE(PtoasVersion::parse("0.26"));
  EXPECT_FALSE(PtoasVersion::parse("0.27x"));
}

constexpr const char *versionsText = R"(
!t = !pto.tile_buf<vec, 2x32xf16>
!f = !pto.tile_buf<vec, 1x64xf32>
!i = !pto.tile_buf<vec, 1x64xi32>
!u = !pto.tile_buf<vec, 1x64xui32>
!m = !pto.tile_buf<vec, 2x32xi8>
module attributes {pto.target_arch = "a3", ptl.machine = "a3"} {
  func.func @versions(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index {ptl.name = "n"})
      attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>, ptl.kernel = "versions"} {
    %c3 = arith.constant 3 : i32
    %zero = arith.constant 0.0 : f16
    %half = arith.constant 0x7E00 : f16
    %least = arith.constant 0xFF800000 : f32
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 512 : i64
    %a2 = arith.constant 1024 : i64
    %a3 = arith.constant 1536 : i64
    %a4 = arith.constant 2048 : i64
    %a5 = arith.constant 2560 : i64
    %t = pto.alloc_tile addr = %a0 : !t
    %f = pto.alloc_tile addr = %a1 : !f
    %i = pto.alloc_tile addr = %a2 : !i
    %m = pto.alloc_tile addr = %a3 : !m
    %s = pto.alloc_tile addr = %a4 : !pto.tile_buf<vec, 1x32xi8>
    %w = pto.alloc_tile addr = %a5 : !pto.tile_buf<vec, 1x128xf32>
    %u = pto.alloc_tile addr = %a2 : !u
    %h = pto.alloc_tile addr = %a3 : !pto.tile_buf<vec, 1x32xf32>
    %v = pto.load_scalar %x[%n] : !pto.ptr<f32> -> f32
    pto.store_scalar %v, %x[%n] : !pto.ptr<f32>, f32
    pto.tci ins(%c3 {descending = true} : i32) outs(%i : !i)
    pto.tsels ins(%m, %t, %s, %zero : !m, !t, !pto.tile_buf<vec, 1x32xi8>, f16) outs(%t : !t)
    pto.tsel ins(%m, %t, %t, %s : !m, !t, !t, !pto.tile_buf<vec, 1x32xi8>) outs(%t : !t)
    pto.tcvt ins(%t {rmode = #pto<round_mode RINT>} : !t) outs(%m : !m)
    pto.tcvt ins(%t {rmode = #pto<round_mode RINT>, sat_mode = #pto<saturation_mode OFF>} : !t) outs(%m : !m)
    pto.tsort32 ins(%f, %u : !f, !u) outs(%w : !pto.tile_buf<vec, 1x128xf32>)
    pto.tgather.mask ins(%f {maskPattern = #pto.mask_pattern<P0101>} : !f) outs(%h : !pto.tile_buf<vec, 1x32xf32>)
    pto.texpands ins(%least : f32) outs(%f : !f)
    pto.tadds ins(%f, %least : !f, f32) outs(%f : !f)
    pto.tmaxs ins(%t, %half : !t, f16) outs(%t : !t)
    return
  }
}
)";

/// What each version wants, by the row of the table, with the texts before and since.
TEST_F(Emission, EachVersionGetsWhatItsVerifiersWant) {
  module_ = mlir::parseSourceString<mlir::ModuleOp>(versionsText, &context_);
  ASSERT_TRUE(module_);
  struct Row {
    unsigned since;
    const char *before, *after;
  };
  const Row rows[] = {
      {45, "pto.tci ins(%c3_i32 {descending = true} : i32)", "pto.tci ins(%c3_i32 : i32)"},
      {57, "#pto.mask_pattern<P0101>} : !vec_f32_1x64)", "P0101>} : !vec_f32_1x64, \"row\")"},
      {58, "pto.tci ", "pto.tsetval ins(%at, %number : index, i32) outs(%tile_2 : !vec_i32_1x64)"},
      {58, "%c0_f16 : !vec_i8_2x32, !vec_f16_2x32, !vec_i8_1x32, f16)",
       "%c0_f16 : !vec_i8_2x32, !vec_f16_2x32, !pto.tile_buf<vec, 1x32xf16>, f16)"},
      {58, "!vec_f16_2x32, !vec_i8_1x32) outs(%t", "!pto.tile_buf<vec, 1x8xi32>) outs(%t"},
      {58, "{rmode = #pto<round_mode RINT>}", "sat_mode = #pto<saturation_mode ON>}"},
      {64, "= pto.load_scalar %x", "= pto.load %x"},
      {64, "pto.store_scalar %0", "pto.store %0"}};
  for (unsigned minor = PtoasVersion::kFirst; minor <= PtoasVersion::kLast; ++minor) {
    Emitted text = emitPto(*module_, machine_, PtoasVersion{minor});
    auto has = [&](const char *part) { return text.text.find(part) != std::string::npos; };
    for (const Row &row : rows) {
      if (row.since == 45 && minor >= 58)
        continue; // the next row about `tci`
      EXPECT_EQ(has(row.before), minor < row.since) << minor << ": " << row.before;
      EXPECT_EQ(has(row.after), minor >= row.since) << minor << ": " << row.after << text.text;
    }
    // Only what an expert has asked for that needs scratch is refused, with what to do.
    ASSERT_EQ(text.findings.size(), minor < 58 ? 0u : 1u) << minor;
    if (minor >= 58)
      EXPECT_NE(text.findings[0].message.find("give it a second operand"), std::string::npos);
  }
  EXPECT_FALSE(hasChanged({64}, "a5", PtoasChange::TciByElement));
}

TEST_F(Emission, InfinitiesAndNanAreMadeOfBits) {
  module_ = mlir::parseSourceString<mlir::ModuleOp>(versionsText, &context_);
  ASSERT_TRUE(module_);
  Emitted text = emitPto(*module_, machine_);
  for (const char *part :
       {"pto.texpands ins(%cm8388608_i32 : i32) outs(%tile_1_bits : !vec_i32_1x64)",
        "= arith.select %never, %c0_i32, %cm8388608_i32 : i32",
        "%cmInf_f32 = arith.bitcast %cmInf_f32_bits : i32 to f32",
        "pto.tadds ins(%tile_1, %cmInf_f32 :", "arith.select %never, %c0_i16, %c32256_i16 : i16",
        "%cNaN_f16 = arith.bitcast", "%never = arith.cmpi slt, %cores, %c0_i64 : i64"})
    EXPECT_NE(text.text.find(part), std::string::npos) << part << " is not in\n" << text.text;
  for (const char *part : {"0x", "Inf :", "NaN :"})
    EXPECT_EQ(text.text.find(part), std::string::npos) << part << " is in\n" << text.text;
}

constexpr const char *rowsText = R"(
!three = !pto.tile_buf<vec, 3x64xf32>
!eight = !pto.tile_buf<vec, 8x64xf32>
!column = !pto.tile_buf<vec, 8x1xf32, valid=3x1, blayout=col_major>
module attributes {pto.target_arch = "a3", ptl.machine = "a3"} {
  func.func @rows() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>, ptl.kernel = "rows"} {
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 4096 : i64
    %a2 = arith.constant 8192 : i64
    %x = pto.alloc_tile addr = %a1 : !three loc("x"("k.ptl":3:7))
    %e = pto.alloc_tile addr = %a1 : !eight loc("e"("k.ptl":3:7))
    %s = pto.alloc_tile addr = %a2 : !three loc("s"("k.ptl":3:7))
    %c = pto.alloc_tile addr = %a0 : !column loc("c"("k.ptl":3:7))
    pto.trowsum ins(%x, %s : !three, !three) outs(%c : !column) loc("k.ptl":4:7)
    pto.trowmax ins(%e, %s : !eight, !three) outs(%c : !column) loc("k.ptl":5:7)
    return
  }
}
)";

TEST_F(Emission, WhatIsReducedHasTheRowsOfTheResult) {
  module_ = mlir::parseSourceString<mlir::ModuleOp>(rowsText, &context_);
  ASSERT_TRUE(module_);
  std::string text = emitCpp(*module_, machine_).text;
  EXPECT_NE(text.find("TASSIGN(x_rows, 0x1000)"), std::string::npos) << text;
  EXPECT_NE(text.find("TROWSUM(c, x_rows, s)"), std::string::npos) << text;
  EXPECT_NE(text.find("TROWMAX(c, e, s)"), std::string::npos) << text;
  EXPECT_NE(text.find("Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, 3, 64>"),
            std::string::npos)
      << text;
}

constexpr const char *whileText = R"(
module attributes {pto.target_arch = "a3", ptl.machine = "a3"} {
  func.func @count(%y: !pto.ptr<f32> {ptl.name = "y"}, %n: index {ptl.name = "n"})
      attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>, ptl.kernel = "count"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    scf.for %row = %c0 to %n step %c1 {
      %at, %sum = scf.while (%a = %c0, %s = %zero) : (index, f32) -> (index, f32) {
        %more = arith.cmpi slt, %a, %row : index
        scf.condition(%more) %a, %s : index, f32
      } do {
      ^bb0(%b: index, %t: f32):
        %odd = arith.cmpi eq, %b, %c1 : index
        %u = scf.if %odd -> (f32) {
          %v = arith.addf %t, %one : f32 loc("k.ptl":7:3)
          scf.yield %v : f32
        } else {
          scf.yield %t : f32
        }
        %next = arith.addi %b, %c1 : index
        scf.yield %next, %u : index, f32
      }
      pto.store_scalar %sum, %y[%row] : !pto.ptr<f32>, f32 loc("k.ptl":9:3)
    } loc("k.ptl":5:3)
    return
  }
}
)";

TEST_F(Emission, NestedWhilesAreBlocksForOldVersions) {
  module_ = mlir::parseSourceString<mlir::ModuleOp>(whileText, &context_);
  ASSERT_TRUE(module_);
  Emitted old = emitPto(*module_, machine_, *PtoasVersion::parse("0.58"));
  EXPECT_TRUE(old.findings.empty());
  for (const char *gone : {"scf.while", "scf.for", "arith.addf"})
    EXPECT_EQ(old.text.find(gone), std::string::npos) << old.text;
  for (const char *there : {"cf.cond_br", "^bb1(", "scf.if", "arith.negf", "arith.subf"})
    EXPECT_NE(old.text.find(there), std::string::npos) << old.text;
  expectLine(old, "pto.store_scalar", 9);
  // Lines are of the module that was given, though a copy was printed.
  mlir::Operation *store = nullptr;
  module_->walk([&](StoreScalarOp op) { store = op; });
  EXPECT_EQ(old.lines.at(lineWith(old, "pto.store_scalar"))->operation, store);
  Emitted recent = emitPto(*module_, machine_, *PtoasVersion::parse("0.59"));
  EXPECT_NE(recent.text.find("scf.while"), std::string::npos);
  EXPECT_EQ(recent.text.find("cf.br"), std::string::npos);
}

constexpr const char *gatherText = R"(
!wide = !pto.tile_buf<vec, 5x16xf32, valid=5x8>
!narrow = !pto.tile_buf<vec, 5x16xf32, valid=5x4>
!places = !pto.tile_buf<vec, 5x16xi32, valid=5x4>
module attributes {pto.target_arch = "a3", ptl.machine = "a3"} {
  func.func @even() attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>, ptl.kernel = "even"} {
    %c0 = arith.constant 0 : i64
    %c512 = arith.constant 512 : i64
    %c1024 = arith.constant 1024 : i64
    %a = pto.alloc_tile addr = %c0 : !wide
    %b = pto.alloc_tile addr = %c512 : !narrow
    %i = pto.alloc_tile addr = %c1024 : !places
    pto.tgather ins(%a, %i, %a : !wide, !places, !wide) outs(%b : !narrow)
    return
  }
}
)";

TEST_F(Emission, WidthsOfGathersAreGivenAsValues) {
  module_ = mlir::parseSourceString<mlir::ModuleOp>(gatherText, &context_);
  ASSERT_TRUE(module_);
  Emitted pto = emitPto(*module_, machine_);
  EXPECT_NE(pto.text.find("valid_col = %c4 : !pto.tile_buf<vec, 5x16xf32, valid=5x?>"),
            std::string::npos)
      << pto.text;
}

TEST(Names, WhatCppHasIsLeftToIt) {
  EXPECT_EQ(functionName("softmax"), "softmax");
  for (const char *taken :
       {"half", "double", "exp2", "index", "main", "bsearch", "co_await", "TLOAD", "require"})
    EXPECT_EQ(functionName(taken), std::string(taken) + "_kernel");
  NameTable names(NameTable::Style::Cpp);
  EXPECT_EQ(names.fresh("exp2"), "exp2");
  for (const char *taken : {"nullptr", "bitand", "int64_t", "set_flag", "smaller"})
    EXPECT_EQ(names.fresh(taken), std::string(taken) + "_");
}

TEST_F(Emission, LinesLeadToTheSourceAndBack) {
  Emitted pto = emitPto(*module_, machine_);
  expectLine(pto, "pto.tadd", 5);
  expectLine(pto, "// RAW on part", 6);
  Emitted cpp = emitCpp(*module_, machine_);
  EXPECT_TRUE(cpp.findings.empty());
  expectLine(cpp, "TADD(", 5);
  expectLine(cpp, "for (int64_t", 3);
  EXPECT_FALSE(cpp.lines.at(1));
  std::vector<unsigned> lines = cpp.lines.linesOf("k.ptl", 5);
  EXPECT_NE(std::find(lines.begin(), lines.end(), lineWith(cpp, "TADD(")), lines.end());
}

TEST_F(Emission, LineDirectivesStandWhereTheLineChanges) {
  CppOptions options;
  options.lineDirectives = true;
  options.fileName = "twice.cpp";
  Emitted cpp = emitCpp(*module_, machine_, options);
  unsigned number = 0, directives = 0;
  std::string now = "twice.cpp 0";
  for (llvm::StringRef rest = cpp.text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    ++number;
    if (line.consume_front("#line ")) {
      auto [digits, name] = line.split(' ');
      std::string next = name.trim('"').str() + " " + digits.str();
      EXPECT_NE(next, now);
      if (name == "\"twice.cpp\"")
        EXPECT_EQ(digits.str(), std::to_string(number + 1));
      now = next;
      ++directives;
      continue;
    }
    const SourcePlace *place = cpp.lines.at(number);
    if (place && !line.trim().starts_with("//"))
      EXPECT_EQ(now, place->file + " " + std::to_string(place->line)) << line.str();
  }
  EXPECT_GE(directives, 5u);
}

TEST_F(Emission, ErrorsOfPtoasAreToldAtTheSource) {
  Emitted pto = emitPto(*module_, machine_);
  Verification result =
      verifyPto(pto, tool("echo 'loc(\"k.ptl\":5:9): error: bad' >&2; exit 1"), "a3");
  EXPECT_TRUE(result.ran);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].place->line, 5u);
  EXPECT_EQ(result.findings[0].message, "bad");
  unsigned line = lineWith(pto, "pto.barrier");
  result = verifyPto(
      pto,
      tool("echo \"loc(\\\"$3\\\":" + std::to_string(line) + ":5): error: worse\" >&2; exit 1"),
      "a3");
  ASSERT_EQ(result.findings.size(), 1u);
  ASSERT_TRUE(result.findings[0].place);
  EXPECT_EQ(result.findings[0].place->line, 6u);
  result = verifyPto(pto, tool("kill -SEGV $$"), "a3");
  EXPECT_FALSE(result.accepted);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_TRUE(verifyPto(pto, tool("exit 0"), "a3").accepted);
  EXPECT_FALSE(verifyPto(pto, "/no/such/tool", "a3").ran);
}

TEST_F(Emission, ErrorsInHeadersCountWhereTheTextAskedForThem) {
  Emitted cpp = emitCpp(*module_, machine_);
  std::string folder = testing::TempDir() + "/ptl_isa_" + std::to_string(::getpid());
  ::mkdir(folder.c_str(), 0755);
  ::mkdir((folder + "/pto").c_str(), 0755);
  std::ofstream(folder + "/pto/pto-inst.hpp") << "";
  unsigned line = lineWith(cpp, "TADD(");
  std::string script =
      "for last; do :; done; echo \"/x/TAdd.hpp:7:3: error: no\" >&2; echo \"$last:" +
      std::to_string(line) + ":5: note: in instantiation\" >&2; exit 1";
  Verification result = verifyCpp(cpp, folder, tool(script));
  ASSERT_EQ(result.findings.size(), 1u);
  ASSERT_TRUE(result.findings[0].place);
  EXPECT_EQ(result.findings[0].place->line, 5u);
  EXPECT_EQ(result.findings[0].line, line);
  EXPECT_FALSE(verifyCpp(cpp, testing::TempDir() + "/nothing", tool("exit 0")).ran);
}

} // namespace
} // namespace ptl::pto
