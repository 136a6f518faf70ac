#include "frontend/base/elem_convert.h"
#include "runtime/sim/element.h"
#include "runtime/sim/execution.h"
#include "runtime/sim/load/sim_testing.h"

#include <cmath>
#include <random>

namespace ptl::rt::sim::instructions_test {

using namespace testing;

namespace {

std::vector<float> randomFloats(size_t count, uint32_t seed, float low = -4, float high = 4) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> result(count);
  for (float &value : result)
    value = values(random);
  return result;
}

std::vector<uint16_t> toHalves(const std::vector<float> &values) {
  std::vector<uint16_t> halves;
  for (float value : values)
    halves.push_back(floatToHalf(value));
  return halves;
}

std::string binary(const std::string &name, const std::string &type) {
  return "pto." + name + " ins(%t0, %t1 : " + type + ", " + type + ") outs(%o0 : " + type + ")\n";
}

} // namespace

TEST(SimElement, HalvesAndBfloatsRoundAsTheReferenceDoes) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    double exact = decodeFloat(bits, ElemKind::F16), bexact = decodeFloat(bits, ElemKind::BF16);
    EXPECT_TRUE(halfToFloat(half) == exact || std::isnan(exact)) << bits;
    EXPECT_TRUE(bfloatToFloat(half) == bexact || std::isnan(bexact)) << bits;
    EXPECT_EQ(std::isnan(halfToFloat(half)), std::isnan(exact));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (i % 2)
      value = std::ldexp(static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f,
                         static_cast<int>(random() % 44) - 27);
    if (std::isnan(value))
      continue;
    EXPECT_EQ(floatToHalf(value), encodeFloat(value, ElemKind::F16)) << value;
    EXPECT_EQ(floatToBfloat(value), encodeFloat(value, ElemKind::BF16)) << value;
  }
}

TEST(SimElement, PoisonIsNotANumberInEveryFloat) {
  EXPECT_TRUE(std::isnan(halfToFloat(kPoisonPattern)));
  EXPECT_TRUE(std::isnan(bfloatToFloat(kPoisonPattern)));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(uint32_t(kPoisonPattern) << 16 | kPoisonPattern)));
}

TEST(SimLayout, OffsetsAgreeWithTheDialect) {
  mlir::Builder builder(&context());
  context().loadDialect<pto::PtoDialect>();
  std::pair<mlir::Type, ElemKind> elems[] = {{builder.getI8Type(), ElemKind::I8},
                                             {builder.getF16Type(), ElemKind::F16},
                                             {builder.getF32Type(), ElemKind::F32}};
  for (llvm::StringRef name : {"nd", "dn", "nz", "zn", "zz", "nn", "acc"})
    for (auto [type, elem] : elems)
      for (auto [rows, cols] : {std::pair{16, 32}, {48, 64}, {64, 32}, {128, 96}}) {
        pto::Layout layout = *pto::layoutByName(name);
        auto tile =
            pto::TileBufType::get(&context(), ir::Place::Mat, rows, cols, type, rows, cols, layout);
        Tile mine;
        mine.elem = elem;
        mine.layout = {static_cast<ElementOrder>(layout.box),
                       static_cast<ElementOrder>(layout.inner), layout.fractal, layout.pad};
        mine.rows = mine.bufferRows = mine.validRows = rows;
        mine.cols = mine.bufferCols = mine.validCols = cols;
        EXPECT_EQ(mine.bufferBytes(), tile.getBytes());
        Plane plane{nullptr, &mine, nullptr, elem, rows, cols};
        for (int r = 0; r < rows; ++r) {
          int64_t c = 3;
          plane.forRuns(r, 3, cols - 3, [&](uint8_t *at, int64_t stride, int64_t n) {
            for (int64_t i = 0; i < n; ++i, ++c)
              ASSERT_EQ(reinterpret_cast<int64_t>(at) + i * stride * elemBytes(elem),
                        pto::elementOffset(tile, r, c));
          });
          EXPECT_EQ(c, cols);
        }
      }
}

TEST(SimBinary, FloatsWithTails) {
  Spec tile{8, 64, "f32", "", 7, 61};
  std::vector<float> a = randomFloats(7 * 61, 1), b = randomFloats(7 * 61, 2, 1, 3), c(7 * 61);
  struct Case {
    const char *name;
    float (*f)(float, float);
  };
  Case cases[] = {{"tadd", [](float x, float y) { return x + y; }},
                  {"tsub", [](float x, float y) { return x - y; }},
                  {"tmul", [](float x, float y) { return x * y; }},
                  {"tdiv", [](float x, float y) { return x / y; }},
                  {"tmax", [](float x, float y) { return std::max(x, y); }},
                  {"tmin", [](float x, float y) { return std::min(x, y); }},
                  {"tfmod", [](float x, float y) { return std::fmod(x, y); }}};
  for (const Case &test : cases) {
    Kernel kernel = loadText(vectorKernel({tile, tile}, {tile}, binary(test.name, tile.type())));
    runAll(kernel, {arrayOf(a), arrayOf(b), arrayOf(c)});
    for (size_t i = 0; i < c.size(); ++i)
      EXPECT_EQ(c[i], test.f(a[i], b[i])) << test.name;
  }
}

TEST(SimBinary, HalvesAreRoundedOnce) {
  Spec tile{4, 32, "f16"};
  std::vector<float> x = randomFloats(128, 3), y = randomFloats(128, 4);
  std::vector<uint16_t> a = toHalves(x), b = toHalves(y), c(128);
  Kernel kernel = loadText(vectorKernel({tile, tile}, {tile}, binary("tmul", tile.type())));
  runAll(kernel, {arrayOf(a), arrayOf(b), arrayOf(c)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], floatToHalf(halfToFloat(a[i]) * halfToFloat(b[i])));
}

TEST(SimBinary, IntegersWrapAndShift) {
  Spec tile{1, 32, "i16"};
  std::vector<int16_t> a(32), b(32), c(32);
  for (int i = 0; i < 32; ++i) {
    a[static_cast<size_t>(i)] = static_cast<int16_t>(30000 + i * 77);
    b[static_cast<size_t>(i)] = static_cast<int16_t>(i % 7 + 1);
  }
  runAll(loadText(vectorKernel({tile, tile}, {tile}, binary("tmul", tile.type()))),
         {arrayOf(a), arrayOf(b), arrayOf(c)});
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(c[i], static_cast<int16_t>(a[i] * b[i]));
  runAll(loadText(vectorKernel({tile, tile}, {tile}, binary("tshr", tile.type()))),
         {arrayOf(a), arrayOf(b), arrayOf(c)});
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(c[i], static_cast<int16_t>(a[i] >> b[i]));
}

TEST(SimBinary, ScalarsOnEitherSide) {
  Spec tile{2, 64};
  std::vector<float> a = randomFloats(128, 5, 1, 2), c(128);
  std::string t = tile.type(), k = "%k = arith.constant 3.0 : f32\n";
  runAll(loadText(vectorKernel(
             {tile}, {tile}, "pto.tdivs ins(%t0, %k : " + t + ", f32) outs(%o0 : " + t + ")\n", k)),
         {arrayOf(a), arrayOf(c)});
  EXPECT_EQ(c[5], a[5] / 3);
  runAll(loadText(vectorKernel(
             {tile}, {tile}, "pto.tdivs ins(%k, %t0 : f32, " + t + ") outs(%o0 : " + t + ")\n", k)),
         {arrayOf(a), arrayOf(c)});
  EXPECT_EQ(c[5], 3 / a[5]);
  runAll(loadText(vectorKernel({tile}, {tile},
                               "pto.texpands ins(%k : f32) outs(%o0 : " + t +
                                   ")\npto.barrier <PIPE_V>\n"
                                   "pto.taxpy ins(%t0, %k : " +
                                   t + ", f32) outs(%o0 : " + t + ")\n",
                               k)),
         {arrayOf(a), arrayOf(c)});
  EXPECT_EQ(c[5], 3 + a[5] * 3);
}

TEST(SimExpand, ColumnsAndRows) {
  Spec tile{16, 32, "f32", "", 13, 29}, column{16, 1, "f32", ", blayout=col_major", 13, 1},
      blocks{16, 8, "f32", "", 13, 8}, row{1, 32, "f32", "", 1, 29};
  std::vector<float> a = randomFloats(13 * 29, 6), v = randomFloats(13, 7), w(13 * 8),
                     r = randomFloats(29, 8), c(13 * 29);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = i % 8 ? -99 : v[i / 8];
  auto op = [&](const std::string &name, const Spec &other) {
    return "pto." + name + " ins(%t0, %t1 : " + tile.type() + ", " + other.type() +
           ") outs(%o0 : " + tile.type() + ")\n";
  };
  runAll(loadText(vectorKernel({tile, column}, {tile}, op("trowexpandsub", column))),
         {arrayOf(a), arrayOf(v), arrayOf(c)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], a[i] - v[i / 29]);
  runAll(loadText(vectorKernel({tile, blocks}, {tile}, op("trowexpandexpdif", blocks))),
         {arrayOf(a), arrayOf(w), arrayOf(c)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], std::exp(a[i] - v[i / 29]));
  runAll(loadText(vectorKernel({tile, row}, {tile}, op("tcolexpandmul", row))),
         {arrayOf(a), arrayOf(r), arrayOf(c)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], a[i] * r[i % 29]);
  runAll(loadText(vectorKernel({column}, {tile},
                               "pto.trowexpand ins(%t0 : " + column.type() +
                                   ") outs(%o0 : " + tile.type() + ")\n")),
         {arrayOf(v), arrayOf(c)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], v[i / 29]);
}

TEST(SimUnary, AllOfThem) {
  Spec tile{2, 64};
  std::vector<float> a = randomFloats(128, 9, 0.1f, 3), c(128);
  std::pair<const char *, float (*)(float)> cases[] = {
      {"texp", [](float x) { return std::exp(x); }},
      {"tlog", [](float x) { return std::log(x); }},
      {"tsqrt", [](float x) { return std::sqrt(x); }},
      {"trsqrt", [](float x) { return 1 / std::sqrt(x); }},
      {"trecip", [](float x) { return 1 / x; }},
      {"tneg", [](float x) { return -x; }},
      {"tabs", [](float x) { return std::fabs(x); }},
      {"trelu", [](float x) { return x < 0 ? 0 : x; }}};
  for (auto [name, f] : cases) {
    std::string t = tile.type();
    runAll(loadText(vectorKernel({tile}, {tile},
                                 std::string("pto.") + name + " ins(%t0 : " + t +
                                     ") outs(%o0 : " + t + ")\n")),
           {arrayOf(a), arrayOf(c)});
    for (size_t i = 0; i < c.size(); ++i)
      EXPECT_EQ(c[i], f(a[i])) << name;
  }
}

TEST(SimConvert, RoundsAndSaturates) {
  Spec wide{1, 64}, narrow{1, 64, "i32"}, half{1, 64, "f16"};
  std::vector<float> a = randomFloats(64, 10, -9, 9);
  a[0] = 2.5f;
  a[1] = -2.5f;
  a[2] = 1e20f;
  std::vector<int32_t> c(64);
  auto op = [&](const std::string &mode, const Spec &to) {
    return "pto.tcvt ins(%t0 {rmode = #pto<round_mode " + mode + ">} : " + wide.type() +
           ") outs(%o0 : " + to.type() + ")\n";
  };
  std::pair<const char *, float (*)(float)> modes[] = {
      {"RINT", [](float x) { return std::nearbyint(x); }},
      {"ROUND", [](float x) { return std::round(x); }},
      {"FLOOR", [](float x) { return std::floor(x); }},
      {"CEIL", [](float x) { return std::ceil(x); }},
      {"TRUNC", [](float x) { return std::trunc(x); }}};
  for (auto [name, f] : modes) {
    runAll(loadText(vectorKernel({wide}, {narrow}, op(name, narrow))), {arrayOf(a), arrayOf(c)});
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(c[i], i == 2 ? INT32_MAX : static_cast<int32_t>(f(a[i]))) << name;
  }
  std::vector<uint16_t> h(64);
  runAll(loadText(vectorKernel({wide}, {half}, op("RINT", half))), {arrayOf(a), arrayOf(h)});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(h[i], floatToHalf(a[i]));
  runAll(loadText(vectorKernel({wide}, {half}, op("FLOOR", half))), {arrayOf(a), arrayOf(h)});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(h[i], encodeFloat(a[i], ElemKind::F16, RoundMode::Down));
}

TEST(SimCompare, PacksBitsAndSelectsByThem) {
  Spec tile{3, 64, "f32", "", 3, 61}, mask{3, 32, "i8"}, scratch{1, 32, "i8"};
  std::vector<float> a = randomFloats(3 * 61, 11), b = randomFloats(3 * 61, 12), c(3 * 61);
  std::vector<int8_t> bits(96, 0);
  std::string t = tile.type(), m = mask.type();
  std::string body = "pto.tcmp ins(%t0, %t1 {cmpMode = #pto<cmp lt>} : " + t + ", " + t +
                     ") outs(%o1 : " + m +
                     ")\npto.barrier <PIPE_V>\npto.tsel ins(%o1, %t0, %t1, %o2 : " + m + ", " + t +
                     ", " + t + ", " + scratch.type() + ") outs(%o0 : " + t + ")\n";
  std::vector<int8_t> unused(32);
  runAll(loadText(vectorKernel({tile, tile}, {tile, mask, scratch}, body)),
         {arrayOf(a), arrayOf(b), arrayOf(c), arrayOf(bits), arrayOf(unused)});
  for (size_t i = 0; i < c.size(); ++i) {
    size_t row = i / 61, col = i % 61;
    EXPECT_EQ(c[i], std::min(a[i], b[i]));
    EXPECT_EQ(bits[row * 32 + col / 8] >> (col % 8) & 1, a[i] < b[i]);
  }
}

TEST(SimReduce, RowsAndColumns) {
  Spec tile{8, 64, "f32", "", 7, 50}, column{8, 1, "f32", ", blayout=col_major", 7, 1},
      row{1, 64, "f32", "", 1, 50}, position{8, 1, "i32", ", blayout=col_major", 7, 1},
      scratch{8, 64};
  std::vector<float> a = randomFloats(350, 13), c(7), d(50), s(512);
  std::vector<int32_t> p(7);
  std::string t = tile.type(), x = scratch.type();
  std::string body = "pto.trowsum ins(%t0, %o3 : " + t + ", " + x +
                     ") outs(%o0 : " + column.type() + ")\n" + "pto.tcolmax ins(%t0 : " + t +
                     ") outs(%o1 : " + row.type() + ")\n" + "pto.trowargmax ins(%t0, %o3 : " + t +
                     ", " + x + ") outs(%o2 : " + position.type() + ")\n";
  runAll(loadText(vectorKernel({tile}, {column, row, position, scratch}, body)),
         {arrayOf(a), arrayOf(c), arrayOf(d), arrayOf(p), arrayOf(s)});
  for (size_t r = 0; r < 7; ++r) {
    float sum = 0;
    size_t best = 0;
    for (size_t i = 0; i < 50; ++i) {
      sum += a[r * 50 + i];
      best = a[r * 50 + i] > a[r * 50 + best] ? i : best;
    }
    EXPECT_NEAR(c[r], sum, 1e-4);
    EXPECT_EQ(p[r], static_cast<int32_t>(best));
  }
  for (size_t i = 0; i < 50; ++i) {
    float best = a[i];
    for (size_t r = 1; r < 7; ++r)
      best = std::max(best, a[r * 50 + i]);
    EXPECT_EQ(d[i], best);
  }
}

TEST(SimSelect, OperandsHaveOneElementType) {
  Spec floats{1, 32}, whole{1, 32, "i32"}, mask{1, 32, "ui8"}, scratch{1, 32, "ui8"};
  std::string f = floats.type(), w = whole.type(), m = mask.type(), s = scratch.type();
  auto fault = [&](const std::string &body, const Spec &out) {
    std::vector<float> a(32), c(32), d(32), e(32);
    std::vector<int32_t> b(32);
    Kernel kernel = loadText(vectorKernel({floats, whole}, {mask, out, scratch}, body,
                                          "%one = arith.constant 1 : i32\n"));
    return faultOf(kernel, {arrayOf(a), arrayOf(b), arrayOf(c), arrayOf(d), arrayOf(e)});
  };
  std::string wrong = "has operands of different element types";
  auto isRefused = [&](const std::string &body, const Spec &out) {
    return fault(body, out).find(wrong) != std::string::npos;
  };
  EXPECT_TRUE(isRefused("pto.tcmp ins(%t0, %t1 {cmpMode = #pto<cmp lt>} : " + f + ", " + w +
                            ") outs(%o0 : " + m + ")\n",
                        floats));
  EXPECT_TRUE(isRefused("pto.tcmps ins(%t0, %one {cmpMode = #pto<cmp lt>} : " + f +
                            ", i32) outs(%o0 : " + m + ")\n",
                        floats));
  EXPECT_TRUE(isRefused("pto.tsel ins(%o0, %t0, %t1, %o2 : " + m + ", " + f + ", " + w + ", " + s +
                            ") outs(%o1 : " + f + ")\n",
                        floats));
  EXPECT_TRUE(isRefused("pto.tsel ins(%o0, %t0, %t0, %o2 : " + m + ", " + f + ", " + f + ", " + s +
                            ") outs(%o1 : " + w + ")\n",
                        whole));
  EXPECT_TRUE(isRefused("pto.tsels ins(%o0, %t0, %o2, %one : " + m + ", " + f + ", " + s +
                            ", i32) outs(%o1 : " + f + ")\n",
                        floats));
  EXPECT_TRUE(isRefused("pto.tpartadd ins(%t0, %t1 : " + f + ", " + w + ") outs(%o1 : " + f + ")\n",
                        floats));
}

TEST(SimMove, TransposePadExtractInsertConcat) {
  Spec tile{16, 32, "f32", "", 13, 29}, turned{32, 16, "f32", "", 29, 13}, scratch{32, 16};
  std::vector<float> a = randomFloats(13 * 29, 14), c(13 * 29), s(512);
  runAll(loadText(vectorKernel({tile}, {turned, scratch},
                               "pto.ttrans ins(%t0, %o1 : " + tile.type() + ", " + scratch.type() +
                                   ") outs(%o0 : " + turned.type() + ")\n")),
         {arrayOf(a), arrayOf(c), arrayOf(s)});
  for (size_t i = 0; i < c.size(); ++i)
    EXPECT_EQ(c[i], a[i % 13 * 29 + i / 13]);
  Spec padded{16, 32, "f32", ", pad=1"};
  std::vector<float> full(512);
  runAll(loadText(vectorKernel({tile}, {padded},
                               "pto.tfillpad ins(%t0 : " + tile.type() +
                                   ") outs(%o0 : " + padded.type() + ")\n")),
         {arrayOf(a), arrayOf(full)});
  for (size_t i = 0; i < full.size(); ++i)
    EXPECT_EQ(full[i], i / 32 < 13 && i % 32 < 29 ? a[i / 32 * 29 + i % 32] : 0);
  Spec part{4, 8};
  std::vector<float> piece(32);
  runAll(loadText(vectorKernel({tile}, {part},
                               "pto.textract ins(%t0, %r, %q : " + tile.type() +
                                   ", index, index) outs(%o0 : " + part.type() + ")\n",
                               "%r = arith.constant 3 : index\n%q = arith.constant 16 : index\n")),
         {arrayOf(a), arrayOf(piece)});
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(piece[i], a[(i / 8 + 3) * 29 + i % 8 + 16]);
}

TEST(SimOrder, SortAndMerge) {
  Spec values{1, 128}, positions{1, 128, "ui32"}, tuples{1, 256};
  std::vector<float> a = randomFloats(128, 15), sorted(256), merged(256);
  std::vector<uint32_t> p(128);
  for (uint32_t i = 0; i < 128; ++i)
    p[i] = i;
  std::string body = "pto.tsort32 ins(%t0, %t1 : " + values.type() + ", " + positions.type() +
                     ") outs(%o0 : " + tuples.type() +
                     ")\npto.barrier <PIPE_V>\npto.tmrgsort ins(%o0, %b : " + tuples.type() +
                     ", i32) outs(%o1 : " + tuples.type() + ")\n";
  runAll(loadText(vectorKernel({values, positions}, {tuples, tuples}, body,
                               "%b = arith.constant 64 : i32\n")),
         {arrayOf(a), arrayOf(p), arrayOf(sorted), arrayOf(merged)});
  std::vector<float> wanted = a;
  std::sort(wanted.rbegin(), wanted.rend());
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(merged[2 * i], wanted[i]);
    EXPECT_EQ(a[std::bit_cast<uint32_t>(merged[2 * i + 1])], wanted[i]);
  }
}

TEST(SimOrder, MergesWholeRows) {
  auto fault = [](const Spec &tuples, int block) {
    std::vector<float> a(static_cast<size_t>(tuples.rows * tuples.cols)), c(a.size());
    Kernel kernel =
        loadText(vectorKernel({tuples}, {tuples},
                              "pto.tmrgsort ins(%t0, %b : " + tuples.type() +
                                  ", i32) outs(%o0 : " + tuples.type() + ")\n",
                              "%b = arith.constant " + std::to_string(block) + " : i32\n"));
    return faultOf(kernel, {arrayOf(a), arrayOf(c)});
  };
  EXPECT_EQ(fault({1, 512}, 64), "");
  // The library takes tiles of one row, of which each repetition merges four blocks.
  EXPECT_NE(fault({2, 256}, 64).find("takes tiles of one row"), std::string::npos);
  EXPECT_NE(fault({1, 320}, 64).find("merges four blocks"), std::string::npos);
  EXPECT_NE(fault({1, 256}, 128).find("merges four blocks"), std::string::npos);
}

TEST(SimOrder, ByteOffsetsBeginWhereTheWindowDoes) {
  Spec values{4, 8}, offsets{1, 8, "ui32"}, row{1, 8};
  std::vector<float> a = randomFloats(32, 19), c(8);
  std::vector<uint32_t> bytes(8);
  for (uint32_t i = 0; i < 8; ++i)
    bytes[i] = 4 * ((i * 5) % 8);
  auto text = [&](int from) {
    return vectorKernel({values, offsets}, {row},
                        "%w = pto.subset %t0[%from, %c0] : " + values.type() + " -> " + row.type() +
                            "\npto.tgatherb ins(%w, %t1 : " + row.type() + ", " + offsets.type() +
                            ") outs(%o0 : " + row.type() + ")\n",
                        "%from = arith.constant " + std::to_string(from) + " : index\n");
  };
  runAll(loadText(text(2)), {arrayOf(a), arrayOf(bytes), arrayOf(c)});
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(c[i], a[16 + i * 5 % 8]);
  // Offsets beyond the last byte of the tile are refused, and these are counted from the window.
  bytes[7] = 64;
  EXPECT_NE(faultOf(loadText(text(2)), {arrayOf(a), arrayOf(bytes), arrayOf(c)})
                .find("has the offset 64 in 64 bytes"),
            std::string::npos);
}

TEST(SimOrder, GatherScatterSequences) {
  Spec values{2, 32}, positions{2, 32, "i32"}, scratch{2, 32, "i32"};
  std::vector<float> a = randomFloats(64, 16), c(64);
  std::vector<int32_t> p(64), s(64);
  for (int32_t i = 0; i < 64; ++i)
    p[static_cast<size_t>(i)] = i * 29 % 64;
  std::string t = values.type(), q = positions.type();
  runAll(loadText(vectorKernel({values, positions}, {values, scratch},
                               "pto.tgather ins(%t0, %t1, %o1 : " + t + ", " + q + ", " +
                                   scratch.type() + ") outs(%o0 : " + t + ")\n")),
         {arrayOf(a), arrayOf(p), arrayOf(c), arrayOf(s)});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(c[i], a[static_cast<size_t>(p[i])]);
  runAll(loadText(vectorKernel({values, positions}, {values},
                               "pto.tscatter ins(%t0, %t1 : " + t + ", " + q + ") outs(%o0 : " + t +
                                   ")\n")),
         {arrayOf(a), arrayOf(p), arrayOf(c)});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(c[static_cast<size_t>(p[i])], a[i]);
  Spec row{1, 32, "i32"};
  std::vector<int32_t> numbers(32);
  runAll(loadText(vectorKernel({}, {row}, "pto.tci ins(%b : i32) outs(%o0 : " + row.type() + ")\n",
                               "%b = arith.constant 5 : i32\n")),
         {arrayOf(numbers)});
  for (int32_t i = 0; i < 32; ++i)
    EXPECT_EQ(numbers[static_cast<size_t>(i)], i + 5);
}

TEST(SimQuantise, ThereAndBack) {
  Spec wide{2, 32}, scale{2, 1, "f32", ", blayout=col_major"}, narrow{2, 32, "i8"};
  std::vector<float> a = randomFloats(64, 17), s{20, 40}, offset{0, 0}, back{1 / 20.f, 1 / 40.f},
                     c(64);
  std::vector<int8_t> q(64);
  runAll(loadText(vectorKernel(
             {wide, scale}, {narrow},
             "pto.tquant ins(%t0, %t1 {quantType = #pto<quant_type INT8_SYM>} : " + wide.type() +
                 ", " + scale.type() + ") outs(%o0 : " + narrow.type() + ")\n")),
         {arrayOf(a), arrayOf(s), arrayOf(q)});
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(q[i], std::clamp<float>(std::nearbyint(a[i] * s[i / 32]), -128, 127));
  runAll(loadText(vectorKernel({narrow, scale, scale}, {wide},
                               "pto.tdequant ins(%t0, %t1, %t2 : " + narrow.type() + ", " +
                                   scale.type() + ", " + scale.type() +
                                   ") outs(%o0 : " + wide.type() + ")\n")),
         {arrayOf(q), arrayOf(back), arrayOf(offset), arrayOf(c)});
  EXPECT_EQ(c[3], static_cast<float>(q[3]) / 20.f);
}

TEST(SimBinary, PartsTakeWhatIsThere) {
  Spec whole{4, 32, "f32", "", 4, 30}, part{4, 32, "f32", "", 3, 20};
  std::vector<float> a = randomFloats(120, 18), b = randomFloats(60, 19), c(120);
  runAll(loadText(vectorKernel({whole, part}, {whole},
                               "pto.tpartadd ins(%t0, %t1 : " + whole.type() + ", " + part.type() +
                                   ") outs(%o0 : " + whole.type() + ")\n")),
         {arrayOf(a), arrayOf(b), arrayOf(c)});
  for (size_t i = 0; i < 120; ++i) {
    size_t row = i / 30, col = i % 30;
    EXPECT_EQ(c[i], a[i] + (row < 3 && col < 20 ? b[row * 20 + col] : 0));
  }
}

TEST(SimMove, InsertConcatAndPatterns) {
  Spec tile{8, 32}, small{4, 8}, half{8, 16};
  std::vector<float> a = randomFloats(256, 20), b = randomFloats(32, 21), c(256);
  runAll(
      loadText(vectorKernel({tile, small}, {tile},
                            "pto.tmov ins(%t0 : " + tile.type() + ") outs(%o0 : " + tile.type() +
                                ")\npto.barrier <PIPE_V>\npto.tinsert ins(%t1, %r, %q : " +
                                small.type() + ", index, index) outs(%o0 : " + tile.type() + ")\n",
                            "%r = arith.constant 2 : index\n%q = arith.constant 8 : index\n")),
      {arrayOf(a), arrayOf(b), arrayOf(c)});
  for (size_t i = 0; i < 256; ++i) {
    size_t row = i / 32, col = i % 32;
    bool inside = row >= 2 && row < 6 && col >= 8 && col < 16;
    EXPECT_EQ(c[i], inside ? b[(row - 2) * 8 + col - 8] : a[i]);
  }
  std::vector<float> evens(128);
  runAll(loadText(vectorKernel({tile}, {half},
                               "pto.tgather.mask ins(%t0 {maskPattern = "
                               "#pto.mask_pattern<P0101>} : " +
                                   tile.type() + ") outs(%o0 : " + half.type() + ")\n")),
         {arrayOf(a), arrayOf(evens)});
  for (size_t i = 0; i < 128; ++i)
    EXPECT_EQ(evens[i], a[i / 16 * 32 + i % 16 * 2]);
  // What the rows give lies without gaps, whatever the width of the result.
  Spec flat{1, 128};
  runAll(loadText(vectorKernel({tile}, {flat},
                               "pto.tgather.mask ins(%t0 {maskPattern = "
                               "#pto.mask_pattern<P0101>} : " +
                                   tile.type() + ") outs(%o0 : " + flat.type() + ")\n")),
         {arrayOf(a), arrayOf(c)});
  EXPECT_TRUE(std::equal(evens.begin(), evens.end(), c.begin()));
  Spec wide{8, 24, "f32", {}, 8, 16};
  std::string text = vectorKernel({tile}, {wide},
                                  "pto.tgather.mask ins(%t0 {maskPattern = "
                                  "#pto.mask_pattern<P0101>} : " +
                                      tile.type() + ") outs(%o0 : " + wide.type() + ")\n");
  std::vector<GlobalArray> arrays = {arrayOf(a), arrayOf(evens)};
  std::string error = runKernel(loadText(text), chipNamed("a3"), arrays, {}, 1).error;
  EXPECT_NE(error.find("16 valid columns of 24"), std::string::npos) << error;
  runAll(loadText(vectorKernel({half, half}, {tile},
                               "pto.tconcat ins(%t0, %t1 : " + half.type() + ", " + half.type() +
                                   ") outs(%o0 : " + tile.type() + ")\n")),
         {arrayOf(evens), arrayOf(evens), arrayOf(c)});
  for (size_t i = 0; i < 256; ++i)
    EXPECT_EQ(c[i], evens[i / 32 * 16 + i % 16]);
}

TEST(SimTile, WindowsShapesAndValidParts) {
  Spec tile{8, 32};
  std::vector<float> a = randomFloats(256, 22), c(256, 0);
  std::string t = tile.type(), w = "!pto.tile_buf<vec, 2x8xf32>",
              flat = "!pto.tile_buf<vec, 1x256xf32>",
              open = "!pto.tile_buf<vec, 1x256xf32, valid=?x?>";
  std::string body = "%z = pto.treshape %o0 : " + t + " -> " + flat +
                     "\npto.texpands ins(%k : f32) outs(%z : " + flat +
                     ")\npto.barrier <PIPE_V>\n%p = pto.subset %t0[%r, %q] : " + t + " -> " + w +
                     "\n%s = pto.subset %o0[%q, %q] : " + t + " -> " + w +
                     "\npto.tmov ins(%p : " + w + ") outs(%s : " + w + ")\npto.barrier <PIPE_V>\n" +
                     "%y = pto.treshape %o0 valid_row = %c1 valid_col = %q : " + t + " -> " + open +
                     "\npto.texpands ins(%m : f32) outs(%y : " + open + ")\n";
  std::string bad = body;
  std::string constants =
      "%k = arith.constant 5.0 : f32\n%m = arith.constant 7.0 : f32\n%r = arith.constant 3 : "
      "index\n%q = arith.constant 0 : index\n";
  constants.replace(constants.rfind("%q = arith.constant 0"), 21, "%q = arith.constant 6");
  // The second window begins at row 6; columns of windows are multiples of 32 bytes.
  for (std::string word : {"[%r, %q]", "[%q, %q]"})
    body.replace(body.find(word), word.size(), word == "[%r, %q]" ? "[%r, %e]" : "[%q, %e]");
  runAll(
      loadText(vectorKernel({tile}, {tile}, body, constants + "%e = arith.constant 8 : index\n")),
      {arrayOf(a), arrayOf(c)});
  for (size_t i = 0; i < 256; ++i) {
    size_t row = i / 32, col = i % 32;
    bool inside = row >= 6 && col >= 8 && col < 16;
    EXPECT_EQ(c[i], i < 6 ? 7 : inside ? a[(row - 3) * 32 + col] : 5) << i;
  }
  Result result = runKernel(loadText(vectorKernel({tile}, {tile}, bad, constants)), chipNamed("a3"),
                            std::vector<GlobalArray>{arrayOf(a), arrayOf(c)}, {}, 1);
  EXPECT_NE(result.error.find("multiples of 32"), std::string::npos) << result.error;
}

TEST(SimInstructions, AllButAFewAreSimulated) {
  for (const InstructionInfo &info : instructions) {
    bool refused = info.mnemonic == "trandom" || info.mnemonic == "thistogram";
    EXPECT_EQ(isSimulated(info.id), !refused) << info.mnemonic;
  }
}

} // namespace ptl::rt::sim::instructions_test
