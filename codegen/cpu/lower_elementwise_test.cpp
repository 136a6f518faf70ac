// Every elementwise operation on every element type that it takes compiles and runs.
#include "codegen/cpu/test_program.h"

#include <cmath>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace lower_elementwise_test {

struct Elem {
  const char *name;
  PtlElem code;
  bool real;
};

const Elem elems[] = {
    {"f32", PTL_F32, true},   {"f64", PTL_F64, true},         {"f16", PTL_F16, true},
    {"bf16", PTL_BF16, true}, {"f8E4M3FN", PTL_F8E4M3, true}, {"f8E5M2", PTL_F8E5M2, true},
    {"i8", PTL_I8, false},    {"i16", PTL_I16, false},        {"i32", PTL_I32, false},
    {"i64", PTL_I64, false},  {"ui8", PTL_U8, false},         {"ui16", PTL_U16, false},
    {"ui32", PTL_U32, false}, {"ui64", PTL_U64, false},
};

/// Functions gathered into one module: compiling each alone would take most of the time.
class Batch {
public:
  void add(const std::string &op, int operands, const Elem &elem, const std::string &result,
           PtlElem resultCode, const std::string &attributes = "") {
    std::string name = "f" + std::to_string(cases_.size());
    std::vector<std::string> names(static_cast<size_t>(operands), "x");
    text_ += functionOf(name, op, names, elem.name, result, attributes);
    cases_.push_back({name, op + " on " + elem.name + " to " + result, elem.code, resultCode});
  }
  void run() {
    Program program(text_, 0);
    for (const Case &c : cases_) {
      SCOPED_TRACE(c.title);
      std::vector<uint64_t> x(64), y(64);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = 0x0102030405060708u * (i % 7 + 1);
      program.select(c.name);
      EXPECT_EQ(program({Array(c.in, x.data(), {37}), Array(c.out, y.data(), {37})}, {37}), 0);
    }
  }

private:
  struct Case {
    std::string name, title;
    PtlElem in, out;
  };
  std::string text_;
  std::vector<Case> cases_;
};

TEST(Elementwise, FloatFunctions) {
  Batch batch;
  const char *unary[] = {"floor",   "ceil", "round", "trunc", "exp",   "exp2",  "expm1",
                         "log",     "log2", "log10", "log1p", "sqrt",  "rsqrt", "reciprocal",
                         "sin",     "cos",  "tan",   "asin",  "acos",  "atan",  "sinh",
                         "cosh",    "tanh", "asinh", "acosh", "atanh", "erf",   "erfc",
                         "sigmoid", "abs",  "sign",  "neg"};
  for (const char *op : unary)
    for (const Elem &elem : {elems[0], elems[1], elems[2]})
      batch.add(op, 1, elem, elem.name, elem.code);
  for (const char *op : {"add", "div", "rem", "pow", "max", "minnan", "atan2", "copysign"})
    for (const Elem &elem : elems)
      if (elem.real)
        batch.add(op, 2, elem, elem.name, elem.code);
  for (const char *op : {"clamp", "fma"})
    batch.add(op, 3, elems[3], elems[3].name, elems[3].code);
  for (const char *op : {"isnan", "isinf", "isfinite"})
    batch.add(op, 1, elems[4], "i1", PTL_BOOL);
  batch.run();
}

TEST(Elementwise, IntegerFunctions) {
  Batch batch;
  for (const char *op : {"add", "sub", "mul", "div", "rem", "pow", "cdiv", "shl", "shr", "bit_and",
                         "bit_xor", "max", "maxnan"})
    for (const Elem &elem : elems)
      if (!elem.real)
        batch.add(op, 2, elem, elem.name, elem.code);
  for (const char *op : {"abs", "sign", "neg"})
    for (const Elem &elem : elems)
      if (!elem.real)
        batch.add(op, 1, elem, elem.name, elem.code);
  batch.run();
}

TEST(Elementwise, Comparisons) {
  Batch batch;
  for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const Elem &elem : elems)
      batch.add(op, 2, elem, "i1", PTL_BOOL);
  batch.run();
}

TEST(Elementwise, Conversions) {
  Batch batch;
  for (const Elem &from : elems)
    for (const Elem &to : elems)
      batch.add("convert", 1, from, to.name, to.code, "{round = \"even\", saturate = true}");
  batch.add("bitcast", 1, elems[0], "ui32", PTL_U32);
  batch.add("bitcast", 1, elems[2], "i16", PTL_I16);
  batch.run();
}

} // namespace lower_elementwise_test
