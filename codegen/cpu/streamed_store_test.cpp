// Stores past the caches write what other stores write, wherever a row begins and ends.
#include "codegen/cpu/test_program.h"

#include <cstring>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace streamed_store_test {

constexpr int64_t Never = int64_t(1) << 60;

// z[r, c] = x[r, c] + y[c] by tiles of three rows; `z` also read where `inPlace`.
std::string addRows(const std::string &elem, bool inPlace) {
  auto array = [&](const std::string &shape) { return "!ptl.array<" + elem + "[" + shape + "]"; };
  std::string ref = "!ptl.ref<" + elem + "[R, C], gm>", tile = array("i:3, C") + ", vec>";
  std::string from = inPlace ? "ptl.load %z" : "ptl.slice %x";
  std::string source = inPlace ? ref : array("R, C") + ", gm>";
  return "func.func @f(%x: " + array("R, C") + ", gm> {ptl.name = \"x\"}, %y: " + array("C") +
         ", gm> {ptl.name = \"y\"}, %z: " + ref +
         ", %R: index, %C: index) attributes {ptl.kind = \"kernel\"} {\n"
         "  %c0 = arith.constant 0 : index\n  %c3 = arith.constant 3 : index\n"
         "  ptl.parallel (%i) = (%c0) to (%R) step (%c3) {\n"
         "    %rest = arith.subi %R, %i : index\n    %len = arith.minsi %rest, %c3 : index\n"
         "    %a = " +
         from + "[%i, %c0][%len, %C] drop [] : " + source + " -> " + tile +
         "\n    %s = \"ptl.add\"(%a, %y) : (" + tile + ", " + array("C") + ", gm>) -> " + tile +
         "\n    ptl.store %s, %z[%i, %c0][%len, %C] drop [] : " + tile + ", " + ref +
         "\n  }\n  return\n}\n";
}

bool hasStreams(const std::string &text) {
  auto blocks = blocksOf(text);
  bool found = false, fenced = false;
  if (blocks)
    blocks->walk([&](mlir::Operation *op) {
      if (auto store = mlir::dyn_cast<mlir::LLVM::StoreOp>(op))
        found |= store.getNontemporal();
      if (auto call = mlir::dyn_cast<mlir::LLVM::CallIntrinsicOp>(op))
        fenced |= call.getIntrin() == "llvm.x86.sse.sfence";
    });
  EXPECT_EQ(found, fenced);
  return found;
}

struct Elem {
  const char *name;
  PtlElem code;
  int64_t bytes;
};
const Elem elems[] = {{"f32", PTL_F32, 4}, {"f64", PTL_F64, 8}, {"bf16", PTL_BF16, 2},
                      {"f16", PTL_F16, 2}, {"i8", PTL_I8, 1},   {"ui16", PTL_U16, 2},
                      {"i32", PTL_I32, 4}, {"ui64", PTL_U64, 8}};

TEST(Lowering, StreamedRowsAreThoseOfOtherStores) {
  for (const Elem &elem : elems) {
    SCOPED_TRACE(elem.name);
    std::string text = addRows(elem.name, false);
    EXPECT_EQ(hasStreams(text), testProcessor().vectors.bytes >= 32);
    Program program(text);
    // Elements of the shortest row that is streamed.
    int64_t least = (testProcessor().vectors.bytes < 64 ? 1024 : 2048) / elem.bytes;
    for (int64_t columns : {int64_t(0), int64_t(1), int64_t(17), least - 1, least, least + 1,
                            least + 15, least + 63, 3 * least + 5})
      for (int64_t rows : {0, 1, 4})
        for (int64_t shift : {int64_t(0), int64_t(1), 1 * elem.bytes, 3 * elem.bytes,
                              31 * elem.bytes, 63 * elem.bytes}) {
          SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(columns) +
                       ", from byte " + std::to_string(shift));
          size_t bytes = static_cast<size_t>(rows * columns * elem.bytes);
          // All bit patterns are values, NaN, infinities and zeros of both signs among them.
          std::vector<unsigned char> x(bytes + 8), y(static_cast<size_t>(columns * elem.bytes) + 8);
          for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<unsigned char>(i * 167 + i / 251);
          for (size_t i = 0; i < y.size(); ++i)
            y[i] = static_cast<unsigned char>(i % 5 == 0 ? i * 31 : 0);
          auto run = [&](int64_t from) {
            size_t lead = 64 + static_cast<size_t>(shift);
            std::vector<unsigned char> z(bytes + lead + 64 + 64, 0xA5);
            size_t skew = (64 - reinterpret_cast<uintptr_t>(z.data()) % 64) % 64;
            unsigned char *target = z.data() + skew + lead - 64;
            program.streamedFrom = from;
            EXPECT_EQ(program({Array(elem.code, x.data(), {rows, columns}),
                               Array(elem.code, y.data(), {columns}),
                               Array(elem.code, target, {rows, columns})},
                              {rows, columns}),
                      0);
            for (unsigned char *at = z.data(); at < z.data() + z.size(); ++at)
              if (at < target || at >= target + bytes)
                EXPECT_EQ(*at, 0xA5) << "beyond the edges";
            return std::vector<unsigned char>(target, target + bytes);
          };
          ASSERT_EQ(run(0), run(Never));
        }
  }
}

TEST(Lowering, StorageThatABodyReadsIsNotStreamed) {
  std::string text = addRows("f32", true);
  EXPECT_FALSE(hasStreams(text));
  Program program(text);
  program.streamedFrom = 0;
  std::vector<float> x(4 * 600), y(600, 2.0f), z(4 * 600, 1.0f);
  ASSERT_EQ(program({array(x, {4, 600}), array(y, {600}), array(z, {4, 600})}, {4, 600}), 0);
  for (float value : z)
    ASSERT_EQ(value, 3.0f);
}

// z[c, r] = x[r, c] by tiles of 40 rows of `z`.
std::string turnRows(const std::string &elem) {
  auto array = [&](const std::string &shape) { return "!ptl.array<" + elem + "[" + shape + "]"; };
  std::string ref = "!ptl.ref<" + elem + "[C, R], gm>", source = array("R, C") + ", gm>";
  std::string tile = array("R, i:40") + ", vec>", turned = array("i:40, R") + ", vec>";
  return "func.func @f(%x: " + source + " {ptl.name = \"x\"}, %z: " + ref +
         ", %R: index, %C: index) attributes {ptl.kind = \"kernel\"} {\n"
         "  %c0 = arith.constant 0 : index\n  %c40 = arith.constant 40 : index\n"
         "  ptl.parallel (%i) = (%c0) to (%C) step (%c40) {\n"
         "    %rest = arith.subi %C, %i : index\n    %len = arith.minsi %rest, %c40 : index\n"
         "    %a = ptl.slice %x[%c0, %i][%R, %len] drop [] : " +
         source + " -> " + tile + "\n    %t = ptl.transpose %a {axes = array<i64: 1, 0>} : (" +
         tile + ") -> " + turned + "\n    ptl.store %t, %z[%i, %c0][%len, %R] drop [] : " + turned +
         ", " + ref + "\n  }\n  return\n}\n";
}

TEST(Lowering, TurnedRowsFillTheirPlaceWhateverItBeginsAt) {
  for (const Elem &elem : elems) {
    SCOPED_TRACE(elem.name);
    std::string text = turnRows(elem.name);
    // Only two squares of vectors that fill a line go past the caches.
    EXPECT_EQ(hasStreams(text), testProcessor().vectors.bytes >= 32 && elem.bytes > 1);
    Program program(text);
    for (int64_t rows : {1, 7, 16, 33, 64, 131})
      for (int64_t columns : {1, 15, 40, 57})
        for (int64_t shift :
             {int64_t(0), int64_t(1), 1 * elem.bytes, 3 * elem.bytes, int64_t(16), 63 * elem.bytes})
          for (int64_t from : {int64_t(0), Never}) {
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", from byte " +
                         std::to_string(shift));
            auto size = static_cast<size_t>(elem.bytes);
            size_t bytes = static_cast<size_t>(rows * columns) * size;
            std::vector<unsigned char> x(bytes), z(bytes + 256 + static_cast<size_t>(shift), 0xA5);
            for (size_t i = 0; i < x.size(); ++i)
              x[i] = static_cast<unsigned char>(i * 167 + i / 251);
            size_t skew = (64 - reinterpret_cast<uintptr_t>(z.data()) % 64) % 64;
            unsigned char *target = z.data() + skew + 64 + shift;
            program.streamedFrom = from;
            ASSERT_EQ(program({Array(elem.code, x.data(), {rows, columns}),
                               Array(elem.code, target, {columns, rows})},
                              {rows, columns}),
                      0);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < columns; ++c)
                ASSERT_EQ(std::memcmp(x.data() + static_cast<size_t>(r * columns + c) * size,
                                      target + static_cast<size_t>(c * rows + r) * size, size),
                          0)
                    << r << ", " << c;
            for (unsigned char *at = z.data(); at < z.data() + z.size(); ++at)
              if (at < target || at >= target + bytes)
                ASSERT_EQ(*at, 0xA5) << "beyond the edges";
          }
  }
}

} // namespace streamed_store_test
