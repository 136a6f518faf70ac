// Calls through ptl.h into the library that testdata/sample_library.c makes.
#include "runtime/abi/kernel_abi.h"
#include "runtime/dlpack.h"
#include "runtime/emit_header.h"
#include "runtime/include/ptl.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace ptl::rt {
namespace {

class CallTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(ptl_open(PTL_TEST_LIBRARY, &library_), PTL_OK) << ptl_last_error();
  }
  void TearDown() override { ptl_close(library_); }

  int32_t call(const char *name, std::vector<const PtlArray *> arrays,
               std::vector<PtlScalar> scalars = {}, std::vector<PtlDim> dims = {}) {
    return ptl_call(ptl_find(library_, name), arrays.data(), int32_t(arrays.size()), scalars.data(),
                    int32_t(scalars.size()), dims.data(), int32_t(dims.size()));
  }
  template <typename T>
  const PtlArray *dense(PtlElem elem, std::vector<T> &data, std::vector<int64_t> extents) {
    views_.push_back(std::make_unique<PtlView>());
    return ptl_view_dense(views_.back().get(), elem, data.data(), int32_t(extents.size()),
                          extents.data());
  }
  std::vector<PtlScalar> scaleBy(float factor, int64_t shift) {
    std::vector<PtlScalar> scalars(2);
    scalars[0].f32 = factor;
    scalars[1].i64 = shift;
    return scalars;
  }

  PtlLibrary *library_ = nullptr;
  std::vector<std::unique_ptr<PtlView>> views_;
};

TEST_F(CallTest, Query) {
  ASSERT_EQ(ptl_entry_count(library_), 5);
  const PtlEntry *entry = ptl_entry(library_, 1);
  EXPECT_STREQ(ptl_entry_name(entry), "widen");
  EXPECT_EQ(ptl_param_count(entry), 2);
  EXPECT_EQ(ptl_output_count(entry), 1);
  PtlParam param;
  ASSERT_EQ(ptl_param(entry, 1, &param), PTL_OK);
  EXPECT_STREQ(param.shape, "[.., 2*C + 1]");
  EXPECT_EQ(param.elem, -1);
  EXPECT_EQ(param.rank, -1);
  EXPECT_EQ(param.kind, PTL_PARAM_OUTPUT);
  EXPECT_STREQ(ptl_variant(entry, 1), "T=f32 ..=2");
  EXPECT_EQ(ptl_entry(library_, 5), nullptr);
  EXPECT_EQ(ptl_find(library_, "nothing"), nullptr);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl: no entry `nothing`; there is: double_rows, widen, scale, gather, fill");
  EXPECT_TRUE(ptl_dim_is_static(ptl_entry(library_, 0), 1));
  EXPECT_STREQ(ptl_where(ptl_entry(library_, 2), 0), "N % 4 == 0");
}

TEST_F(CallTest, RunsOnAllThreads) {
  std::vector<float> x(1000 * 8), y(x.size());
  std::iota(x.begin(), x.end(), 0.0f);
  ASSERT_EQ(call("double_rows", {dense(PTL_F32, x, {1000, 8}), dense(PTL_F32, y, {1000, 8})}),
            PTL_OK)
      << ptl_last_error();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], 2 * x[i]);
}

TEST_F(CallTest, EmptyArraysNeedNoData) {
  std::vector<float> none;
  EXPECT_EQ(call("double_rows", {dense(PTL_F32, none, {0, 8}), dense(PTL_F32, none, {0, 8})}),
            PTL_OK);
}

TEST_F(CallTest, MissingVariant) {
  std::vector<float> x(6), y(6);
  EXPECT_EQ(call("double_rows", {dense(PTL_F32, x, {2, 3}), dense(PTL_F32, y, {2, 3})}),
            PTL_ERROR_VARIANT);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:3: `double_rows`: no variant for C=3; compiled are: C=4; C=8");
  EXPECT_STREQ(ptl_missing_variant(), "C=3");
}

TEST_F(CallTest, ShapesThatContradict) {
  std::vector<float> x(8), y(8);
  EXPECT_EQ(call("double_rows", {dense(PTL_F32, x, {2, 4}), dense(PTL_F32, y, {1, 4})}),
            PTL_ERROR_SHAPE);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:3: `double_rows`: output `y: f32[R, C]` has extent 1 on "
               "axis 0, but `R` is 2 (from axis 0 of `x`)");
  EXPECT_EQ(ptl_last_failure()->line, 3);
  EXPECT_EQ(call("double_rows", {dense(PTL_F32, x, {8}), dense(PTL_F32, y, {8})}), PTL_ERROR_RANK);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:3: `double_rows`: parameter `x: f32[R, C]` has 2 axes, the "
               "argument has 1, its shape is [8]");
}

TEST_F(CallTest, ElementTypesAndAlignment) {
  std::vector<double> wide(4);
  std::vector<float> y(5);
  EXPECT_EQ(call("double_rows", {dense(PTL_F64, wide, {1, 4}), dense(PTL_F32, y, {1, 4})}),
            PTL_ERROR_ELEM);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:3: `double_rows`: parameter `x: f32[R, C]` is given `f64` elements");
  PtlView crooked;
  int64_t extents[] = {1, 4};
  const PtlArray *x =
      ptl_view_dense(&crooked, PTL_F32, reinterpret_cast<char *>(y.data()) + 1, 2, extents);
  EXPECT_EQ(call("double_rows", {x, dense(PTL_F32, y, {1, 4})}), PTL_ERROR_ALIGNMENT);
}

TEST_F(CallTest, StridesAndOverlap) {
  std::vector<float> x(16), y(16);
  PtlView wide;
  int64_t extents[] = {2, 4}, strides[] = {8, 1};
  const PtlArray *strided = ptl_view_strided(&wide, PTL_F32, x.data(), 2, extents, strides);
  EXPECT_EQ(call("double_rows", {strided, dense(PTL_F32, y, {2, 4})}), PTL_ERROR_STRIDES);
  const PtlArray *in = dense(PTL_F32, x, {2, 4});
  EXPECT_EQ(call("double_rows", {in, in}), PTL_ERROR_OVERLAP);
  EXPECT_STREQ(ptl_last_error(), "sample.ptl:3: `double_rows`: `y`, which is written, overlaps the "
                                 "memory of `x`");
}

TEST_F(CallTest, LeadingAxesAndTypeParameters) {
  std::vector<float> x{1, 2, 3, 4}, y(10);
  ASSERT_EQ(call("widen", {dense(PTL_F32, x, {2, 2}), dense(PTL_F32, y, {2, 5})}), PTL_OK)
      << ptl_last_error();
  EXPECT_EQ(y, (std::vector<float>{1, 2, -1, -1, -1, 3, 4, -1, -1, -1}));
  EXPECT_EQ(call("widen", {dense(PTL_F32, x, {2, 2}), dense(PTL_F32, y, {2, 4})}), PTL_ERROR_SHAPE);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:9: `widen`: output `result: T[.., 2*C + 1]` has extent 4 on axis 1, but "
               "`2*C + 1` is 5; `C` is 2 (from axis 1 of `x`)");
  EXPECT_EQ(call("widen", {dense(PTL_F32, x, {2, 2}), dense(PTL_F32, y, {1, 5})}), PTL_ERROR_SHAPE);
  EXPECT_STREQ(ptl_last_error(), "sample.ptl:9: `widen`: output `result: T[.., 2*C + 1]` has the "
                                 "leading extents [1], but `..` is "
                                 "[2] (from `x`)");
  EXPECT_EQ(call("widen", {dense(PTL_F32, x, {4}), dense(PTL_F32, y, {9})}), PTL_ERROR_VARIANT);
  EXPECT_STREQ(ptl_missing_variant(), "T=f32 ..=0");
}

TEST_F(CallTest, Infer) {
  std::vector<float> x(6);
  const PtlArray *arrays[] = {dense(PTL_F32, x, {1, 3, 2})};
  PtlView output;
  ASSERT_EQ(ptl_infer(ptl_find(library_, "widen"), arrays, 1, nullptr, 0, nullptr, 0, &output),
            PTL_OK);
  EXPECT_EQ(output.array.elem, PTL_F32);
  ASSERT_EQ(output.array.rank, 3);
  EXPECT_EQ(output.array.extents[2], 5);
  EXPECT_EQ(output.array.strides[0], 15);
}

// Requirements on elements are left out where there are none; all others hold.
TEST_F(CallTest, InferWithoutElements) {
  int64_t three[] = {3}, two[] = {2}, dense[] = {1};
  PtlView table, index, output;
  const PtlArray *arrays[] = {ptl_view_strided(&table, PTL_F64, nullptr, 1, three, dense),
                              ptl_view_strided(&index, PTL_I32, nullptr, 1, two, dense)};
  const PtlEntry *gather = ptl_find(library_, "gather");
  EXPECT_EQ(ptl_infer(gather, arrays, 2, nullptr, 0, nullptr, 0, &output), PTL_ERROR_ARGUMENT);
  ASSERT_EQ(ptl_infer_shapes(gather, arrays, 2, nullptr, 0, nullptr, 0, &output), PTL_OK)
      << ptl_last_error();
  EXPECT_EQ(output.array.elem, PTL_F64);
  EXPECT_EQ(output.array.rank, 1);
  EXPECT_EQ(output.extents[0], 2);
  PtlScalar scalars[2] = {};
  scalars[0].f32 = 1;
  const PtlArray *scaled[] = {ptl_view_strided(&table, PTL_F32, nullptr, 1, three, dense)};
  EXPECT_EQ(
      ptl_infer_shapes(ptl_find(library_, "scale"), scaled, 1, scalars, 2, nullptr, 0, nullptr),
      PTL_ERROR_WHERE);
  EXPECT_EQ(ptl_infer_shapes(gather, arrays, 1, nullptr, 0, nullptr, 0, &output),
            PTL_ERROR_ARGUMENT);
}

TEST_F(CallTest, WheresScalarsStridesAndInout) {
  std::vector<float> x{1, 0, 2, 0, 3, 0, 4, 0};
  PtlView view;
  int64_t extent[] = {4}, stride[] = {2};
  const PtlArray *everySecond = ptl_view_strided(&view, PTL_F32, x.data(), 1, extent, stride);
  ASSERT_EQ(call("scale", {everySecond}, scaleBy(10, 1)), PTL_OK) << ptl_last_error();
  EXPECT_EQ(x, (std::vector<float>{11, 0, 21, 0, 31, 0, 41, 0}));
  EXPECT_EQ(call("scale", {everySecond}, scaleBy(-1, 0)), PTL_ERROR_WHERE);
  EXPECT_STREQ(ptl_last_error(), "sample.ptl:22: `scale`: requires `factor > 0.0`: `factor` is -1");
  EXPECT_EQ(call("scale", {dense(PTL_F32, x, {7})}, scaleBy(1, 0)), PTL_ERROR_WHERE);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:21: `scale`: requires `N % 4 == 0`: `N` is 7 (from axis 0 of `x`)");
  EXPECT_EQ(call("scale", {dense(PTL_F32, x, {8})}), PTL_ERROR_ARGUMENT);
}

TEST_F(CallTest, FailuresInsideSayWhere) {
  std::vector<float> x{1, 2, std::nanf(""), 4};
  EXPECT_EQ(call("scale", {dense(PTL_F32, x, {4})}, scaleBy(1, 0)), PTL_ERROR_ASSERT);
  EXPECT_STREQ(ptl_last_error(), "sample.ptl:24: `scale`: x[2] is nan");
}

TEST_F(CallTest, FactsAboutData) {
  std::vector<double> table{0, 10, 20, 30}, y(3);
  std::vector<int32_t> good{0, 2, 3}, far{0, 1, 9}, twice{1, 1, 2}, falling{2, 1, 3};
  auto gather = [&](std::vector<int32_t> &idx) {
    return call("gather",
                {dense(PTL_F64, table, {4}), dense(PTL_I32, idx, {3}), dense(PTL_F64, y, {3})});
  };
  ASSERT_EQ(gather(good), PTL_OK) << ptl_last_error();
  EXPECT_EQ(y, (std::vector<double>{0, 20, 30}));
  EXPECT_EQ(gather(far), PTL_ERROR_WHERE);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:31: `gather`: requires `all(idx < V)`: element 2 is 9; `V` is 4 (from "
               "axis 0 of `table`)");
  EXPECT_EQ(gather(twice), PTL_ERROR_WHERE);
  EXPECT_STREQ(ptl_last_error(),
               "sample.ptl:31: `gather`: requires `unique(idx)`: 1 occurs more than once");
  EXPECT_EQ(gather(falling), PTL_ERROR_WHERE);
}

TEST_F(CallTest, DimensionsByName) {
  std::vector<int64_t> y(3);
  std::vector<PtlScalar> value(1);
  value[0].i64 = 7;
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, value), PTL_ERROR_UNBOUND);
  ASSERT_EQ(call("fill", {dense(PTL_I64, y, {3})}, value, {{"N", 3}}), PTL_OK) << ptl_last_error();
  EXPECT_EQ(y, (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, value, {{"N", 4}}), PTL_ERROR_SHAPE);
  EXPECT_STREQ(
      ptl_last_error(),
      "sample.ptl:40: `fill`: output `y: i64[N]` has extent 3 on axis 0, but `N` is 4 (given "
      "by name)");
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, value, {{"Q", 4}}), PTL_ERROR_NAME);
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, value, {{"N", -4}}), PTL_ERROR_SHAPE);
}

TEST_F(CallTest, NullPointersAreRefused) {
  EXPECT_EQ(ptl_call(nullptr, nullptr, 0, nullptr, 0, nullptr, 0), PTL_ERROR_ARGUMENT);
  EXPECT_EQ(call("double_rows", {nullptr, nullptr}), PTL_ERROR_ARGUMENT);
  PtlLibrary *none = library_;
  EXPECT_EQ(ptl_open("/no/such/library.so", &none), PTL_ERROR_LOAD);
  EXPECT_EQ(none, nullptr);
}

TEST_F(CallTest, DlpackTensorsAreViews) {
  std::vector<float> data(8);
  int64_t shape[] = {1, 4};
  DlTensor tensor{data.data(), 1, 0, 2, 2, 32, 1, shape, nullptr, 16};
  PtlView view;
  ASSERT_EQ(ptl_view_dlpack(&view, &tensor), PTL_OK);
  EXPECT_EQ(view.array.data, data.data() + 4);
  EXPECT_EQ(view.array.elem, PTL_F32);
  EXPECT_EQ(view.array.strides[0], 4);
  tensor.typeLanes = 4;
  EXPECT_EQ(ptl_view_dlpack(&view, &tensor), PTL_ERROR_ELEM);
  tensor.typeLanes = 1;
  tensor.deviceType = 2;
  EXPECT_EQ(ptl_view_dlpack(&view, &tensor), PTL_ERROR_ARGUMENT);
}

TEST_F(CallTest, AFailedCallLeavesNothingForTheNext) {
  std::vector<float> x{1, 2, 3, 4}, y(10);
  std::vector<double> wide(4);
  for (int round = 0; round < 2; ++round) {
    // Each stops at another place, with some names bound.
    EXPECT_EQ(call("widen", {dense(PTL_F32, x, {2, 2}), dense(PTL_F32, y, {2, 4})}),
              PTL_ERROR_SHAPE);
    EXPECT_EQ(call("widen", {dense(PTL_F64, wide, {4}), dense(PTL_F64, wide, {9})}),
              PTL_ERROR_OVERLAP);
    EXPECT_EQ(call("double_rows", {dense(PTL_F32, x, {1, 3}), dense(PTL_F32, y, {1, 3})}),
              PTL_ERROR_VARIANT);
    EXPECT_STREQ(ptl_missing_variant(), "C=3");
    EXPECT_EQ(call("scale", {dense(PTL_F32, x, {3})}, scaleBy(1, 0)), PTL_ERROR_WHERE);
    ASSERT_EQ(call("widen", {dense(PTL_F32, x, {1, 2}), dense(PTL_F32, y, {1, 5})}), PTL_OK)
        << ptl_last_error();
    EXPECT_EQ(y[4], -1);
    EXPECT_STREQ(ptl_last_error(), "");
    EXPECT_STREQ(ptl_missing_variant(), "");
    EXPECT_EQ(ptl_last_failure()->code, PTL_OK);
    ASSERT_EQ(call("double_rows", {dense(PTL_F32, x, {1, 4}), dense(PTL_F32, y, {1, 4})}), PTL_OK)
        << ptl_last_error();
    EXPECT_EQ(y[3], 8);
  }
}

/// A library of `entries` whose code is `function`.
struct OwnLibrary {
  OwnLibrary(const std::string &entries, PtlEntryFn function) {
    std::string manifest = R"({"ptl_abi": 1, "source": "own.ptl", "entries": [)" + entries + "]}";
    EXPECT_EQ(ptl_open_manifest(
                  manifest.c_str(), [](void *user, const char *) { return user; },
                  reinterpret_cast<void *>(function), &library),
              PTL_OK)
        << ptl_last_error();
  }
  ~OwnLibrary() { ptl_close(library); }
  OwnLibrary(const OwnLibrary &) = delete;

  PtlLibrary *library = nullptr;
};

TEST(OwnLibraryTest, ACallWithinACallHasItsOwnValues) {
  static PtlLibrary *library = nullptr;
  // Calls itself with one element fewer, then looks at its own dimension.
  PtlEntryFn countdown = [](PtlContext *, const PtlArray *const *arrays, const int64_t *dims,
                            const PtlScalar *) {
    auto *x = static_cast<int64_t *>(arrays[0]->data);
    int32_t status = PTL_OK;
    int64_t fewer = arrays[0]->extents[0] - 1;
    if (fewer > 0) {
      PtlView view;
      const PtlArray *rest = ptl_view_dense(&view, PTL_I64, x + 1, 1, &fewer);
      status = ptl_call(ptl_entry(library, 0), &rest, 1, nullptr, 0, nullptr, 0);
    }
    x[0] = dims[0];
    return status;
  };
  OwnLibrary own(R"({"name": "countdown", "kind": "kernel", "file": "own.ptl", "line": 1,
      "signature": "", "dims": ["N"],
      "params": [{"name": "x", "elem": "i64", "shape": ["N"], "inout": true}],
      "variants": [{"symbol": "countdown"}]})",
                 countdown);
  library = own.library;
  std::vector<int64_t> x(5);
  int64_t extent = 5;
  PtlView view;
  const PtlArray *all = ptl_view_dense(&view, PTL_I64, x.data(), 1, &extent);
  ASSERT_EQ(ptl_call(ptl_entry(library, 0), &all, 1, nullptr, 0, nullptr, 0), PTL_OK)
      << ptl_last_error();
  EXPECT_EQ(x, (std::vector<int64_t>{5, 4, 3, 2, 1}));
}

TEST(OwnLibraryTest, OverlapIsFoundAmongAnyNumberOfArrays) {
  for (int count : {1, 2, 15, 16, 17, 40}) {
    std::string params;
    for (int i = 0; i < count; ++i)
      params += std::string(i ? "," : "") + R"({"name": "x)" + std::to_string(i) +
                R"(", "elem": "f32", "shape": ["N"]})";
    OwnLibrary own(R"({"name": "many", "kind": "kernel", "file": "own.ptl", "line": 1,
        "signature": "", "dims": ["N"], "params": [)" +
                       params + R"(], "outputs": [{"name": "y", "elem": "f32", "shape": ["N"]}],
        "variants": [{"symbol": "many"}]})",
                   [](PtlContext *, const PtlArray *const *, const int64_t *, const PtlScalar *) {
                     return int32_t(PTL_OK);
                   });
    std::vector<float> data(4 * (count + 1));
    std::vector<PtlView> views(count + 1);
    std::vector<const PtlArray *> arrays;
    int64_t extent = 4;
    for (int i = 0; i <= count; ++i)
      arrays.push_back(ptl_view_dense(&views[i], PTL_F32, &data[4 * i], 1, &extent));
    const PtlEntry *entry = ptl_entry(own.library, 0);
    auto call = [&] { return ptl_call(entry, arrays.data(), count + 1, nullptr, 0, nullptr, 0); };
    EXPECT_EQ(call(), PTL_OK) << ptl_last_error();
    // Inputs may share memory; the output may not share even an element.
    if (count > 2)
      views[0].array.data = views[1].array.data;
    EXPECT_EQ(call(), PTL_OK) << ptl_last_error();
    views[count].array.data = &data[4 * (count - 1) + 3];
    EXPECT_EQ(call(), PTL_ERROR_OVERLAP);
    std::string last = "x" + std::to_string(count - 1);
    EXPECT_EQ(ptl_last_error(),
              "own.ptl:1: `many`: `y`, which is written, overlaps the memory of `" + last + "`");
  }
}

/// Calls like the one before skip what was checked; each of these differs from a call that passed in one thing that is wrong.
class RepeatedCallTest : public CallTest {
protected:
  int32_t scaled(const PtlArray *x, float factor) { return call("scale", {x}, scaleBy(factor, 0)); }
};

TEST_F(RepeatedCallTest, OtherShapesAndDataAreSeen) {
  std::vector<float> x(64), y(64);
  for (int turn = 0; turn < 3; ++turn)
    for (int64_t rows : {2, 1, 3, 0}) {
      std::iota(x.begin(), x.end(), float(turn));
      std::fill(y.begin(), y.end(), -1.0f);
      ASSERT_EQ(call("double_rows", {dense(PTL_F32, x, {rows, 8}), dense(PTL_F32, y, {rows, 8})}),
                PTL_OK);
      for (int64_t i = 0; i < 64; ++i)
        ASSERT_EQ(y[i], i < rows * 8 ? 2 * x[i] : -1.0f) << rows << " rows, element " << i;
    }
}

TEST_F(RepeatedCallTest, WhatIsWrongOfAddressesIsSeen) {
  std::vector<float> x(17), y(17);
  PtlView from, to;
  int64_t extents[] = {2, 4};
  ptl_view_dense(&from, PTL_F32, x.data(), 2, extents);
  ptl_view_dense(&to, PTL_F32, y.data(), 2, extents);
  auto twice = [&] { return call("double_rows", {&from.array, &to.array}); };
  auto put = [&](PtlView &view, void *data) {
    EXPECT_EQ(twice(), PTL_OK);
    view.array.data = data;
    return twice();
  };
  EXPECT_EQ(put(to, &x[7]), PTL_ERROR_OVERLAP);
  EXPECT_STREQ(ptl_last_error(), "sample.ptl:3: `double_rows`: `y`, which is written, overlaps the "
                                 "memory of `x`");
  to.array.data = y.data();
  EXPECT_EQ(put(from, &y[7]), PTL_ERROR_OVERLAP);
  from.array.data = x.data();
  EXPECT_EQ(put(from, nullptr), PTL_ERROR_ARGUMENT);
  from.array.data = x.data();
  EXPECT_EQ(put(from, reinterpret_cast<char *>(x.data()) + 2), PTL_ERROR_ALIGNMENT);
  from.array.data = x.data();
  EXPECT_EQ(put(to, &x[8]), PTL_OK) << "beside each other";
}

TEST_F(RepeatedCallTest, WhatIsWrongOfDescriptionsIsSeen) {
  std::vector<float> x(16), y(16);
  PtlView from, to;
  int64_t extents[] = {2, 4};
  auto restore = [&] {
    ptl_view_dense(&from, PTL_F32, x.data(), 2, extents);
    ptl_view_dense(&to, PTL_F32, y.data(), 2, extents);
    EXPECT_EQ(call("double_rows", {&from.array, &to.array}), PTL_OK);
  };
  auto twice = [&] { return call("double_rows", {&from.array, &to.array}); };
  restore();
  from.strides[0] = 5;
  EXPECT_EQ(twice(), PTL_ERROR_STRIDES);
  restore();
  from.extents[0] = 3;
  EXPECT_EQ(twice(), PTL_ERROR_SHAPE);
  restore();
  from.array.elem = PTL_I32;
  EXPECT_EQ(twice(), PTL_ERROR_ELEM);
  restore();
  from.array.rank = 1;
  EXPECT_EQ(twice(), PTL_ERROR_RANK);
  restore();
  from.array.strides = nullptr;
  EXPECT_EQ(twice(), PTL_ERROR_ARGUMENT);
  restore();
  EXPECT_EQ(call("double_rows", {&from.array, nullptr}), PTL_ERROR_ARGUMENT);
  EXPECT_EQ(call("double_rows", {&from.array}), PTL_ERROR_ARGUMENT);
  PtlScalar more{};
  EXPECT_EQ(call("double_rows", {&from.array, &to.array}, {more}), PTL_ERROR_ARGUMENT);
}

TEST_F(RepeatedCallTest, WhatArgumentsSayIsAskedAgain) {
  std::vector<float> x{1, 2, 3, 4};
  const PtlArray *array = dense(PTL_F32, x, {4});
  EXPECT_EQ(scaled(array, 2), PTL_OK);
  EXPECT_EQ(scaled(array, -1), PTL_ERROR_WHERE);
  EXPECT_EQ(scaled(array, 0.5), PTL_OK);
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4}));
  std::vector<double> table{1, 2, 3}, picked(2);
  std::vector<int32_t> index{0, 2};
  auto gather = [&] {
    return call("gather", {dense(PTL_F64, table, {3}), dense(PTL_I32, index, {2}),
                           dense(PTL_F64, picked, {2})});
  };
  EXPECT_EQ(gather(), PTL_OK);
  index[1] = 3;
  EXPECT_EQ(gather(), PTL_ERROR_WHERE);
}

TEST_F(RepeatedCallTest, ValuesByNameAndScalarsArePassed) {
  std::vector<int64_t> y(3);
  PtlScalar value{};
  for (int64_t turn = 0; turn < 4; ++turn) {
    value.i64 = turn;
    ASSERT_EQ(call("fill", {dense(PTL_I64, y, {3})}, {value}, {{"N", 3}}), PTL_OK);
    EXPECT_EQ(y, std::vector<int64_t>(3, turn));
  }
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, {value}, {{"N", 2}}), PTL_ERROR_SHAPE);
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, {value}, {{"M", 3}}), PTL_ERROR_NAME);
  EXPECT_EQ(call("fill", {dense(PTL_I64, y, {3})}, {value}), PTL_ERROR_UNBOUND);
}

TEST_F(RepeatedCallTest, AnEntryAtTheSameAddressIsAnother) {
  // What is loaded after a library was closed often lies where that lay.
  auto open = [](const char *extent) {
    std::string manifest =
        std::string(
            R"({"ptl_abi": 1, "source": "own.ptl", "entries": [{"name": "one", "kind": "kernel",
            "file": "own.ptl", "line": 1, "signature": "", "doc": "", "dims": [], "params": [],
            "outputs": [{"name": "y", "elem": "f32", "shape": [)") +
        extent + R"(]}], "variants": [{"symbol": "one"}]}]})";
    PtlLibrary *library = nullptr;
    auto nothing = [](PtlContext *, const PtlArray *const *, const int64_t *, const PtlScalar *) {
      return int32_t(PTL_OK);
    };
    static const PtlEntryFn code = nothing;
    PtlLookup lookup = [](void *, const char *) { return reinterpret_cast<void *>(code); };
    EXPECT_EQ(ptl_open_manifest(manifest.c_str(), lookup, nullptr, &library), PTL_OK)
        << ptl_last_error();
    return library;
  };
  std::vector<float> y(8);
  const PtlArray *arrays[] = {dense(PTL_F32, y, {8})};
  for (int turn = 0; turn < 4; ++turn)
    for (bool fits : {true, false}) {
      PtlLibrary *library = open(fits ? "8" : "7");
      EXPECT_EQ(ptl_call(ptl_entry(library, 0), arrays, 1, nullptr, 0, nullptr, 0),
                fits ? PTL_OK : PTL_ERROR_SHAPE);
      ptl_close(library);
    }
}

TEST_F(CallTest, GeneratedHeaderCompilesAndCalls) {
  std::string problem;
  std::optional<Manifest> manifest = parseManifest(ptl_manifest_text(library_), problem);
  ASSERT_TRUE(manifest) << problem;
  std::string folder = testing::TempDir();
  std::ofstream(folder + "/sample.h") << emitHeader(*manifest, "sample.h");
  std::ofstream(folder + "/use.c") << R"(#include "sample.h"
#include <stdio.h>
int main(int argc, char **argv) {
  PtlLibrary *library;
  if (argc != 2 || ptl_open(argv[1], &library) != PTL_OK) return 1;
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  if (double_rows(library, 2, 4, x, y) != PTL_OK) { puts(ptl_last_error()); return 2; }
  int64_t filled[3];
  if (fill(library, 3, 5, filled) != PTL_OK) { puts(ptl_last_error()); return 3; }
  ptl_close(library);
  return y[7] == 16 && filled[2] == 5 ? 0 : 4;
}
)";
  std::string command = "cd " + folder +
                        " && " PTL_TEST_CC " -std=c11 -Wall -Wextra -Werror -I" PTL_TEST_INCLUDE
                        " use.c -o use " PTL_TEST_RT " -Wl,-rpath,$(dirname " PTL_TEST_RT ")"
                        " && ./use " PTL_TEST_LIBRARY;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

} // namespace
} // namespace ptl::rt
