// What `ptl-legalize` makes of operations for chips, run here: integers agree with the original bit
// by bit, elementary functions are within a few units in the last place.
#include "codegen/cpu/test_program.h"

#include "machines/machine.h"
#include "passes/passes.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;

namespace legalized_test {

constexpr int64_t kCount = 512;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The text of a module after the pass; every operation of it is checked.
std::string legalized(const std::string &text, const std::string &machine) {
  auto &context = testContext();
  context.getOrLoadDialect<ptl::ir::PtlDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "the text is no valid module";
    return text;
  }
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(
      ptl::ir::createLegalize(ptl::ir::LegalizeOptions{machine}));
  EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
  std::string result;
  llvm::raw_string_ostream out(result);
  module->print(out);
  return result;
}

/// Operands of which each is a parameter of its own.
std::vector<std::string> namesOf(int operands) {
  std::vector<std::string> names;
  for (int i = 0; i < operands; ++i)
    names.push_back("x" + std::to_string(i));
  return names;
}

struct Elem {
  const char *name;
  PtlElem code;
  int bytes;
};
const Elem f32 = {"f32", PTL_F32, 4}, boolean = {"i1", PTL_BOOL, 1};
const Elem integers[] = {{"i8", PTL_I8, 1},  {"i16", PTL_I16, 2},  {"i32", PTL_I32, 4},
                         {"ui8", PTL_U8, 1}, {"ui16", PTL_U16, 2}, {"ui32", PTL_U32, 4}};

/// Functions gathered into one module, compiled as they are and as the machine has them.
class Batch {
public:
  struct Case {
    std::string name, title;
    Elem in, out;
    int operands;
  };
  void add(const std::string &op, int operands, const Elem &in, const Elem &out,
           const std::string &attributes = "") {
    std::string name = "f" + std::to_string(cases.size());
    text_ += functionOf(name, op, namesOf(operands), in.name, out.name, attributes);
    cases.push_back(
        {name, op + " " + attributes + " from " + in.name + " to " + out.name, in, out, operands});
  }
  using Bytes = std::vector<char>;
  /// `inputs(case)` gives the operands, `compare(case, original, legalized)` judges.
  template <typename Inputs, typename Compare>
  void run(const std::string &machine, Inputs inputs, Compare compare) {
    Program original(text_, 0), rewritten(legalized(text_, machine), 0);
    for (const Case &c : cases) {
      SCOPED_TRACE(c.title + " on " + machine);
      std::vector<Bytes> operands = inputs(c);
      Bytes results[2];
      for (int i = 0; i < 2; ++i) {
        Program &program = i ? rewritten : original;
        results[i].resize(static_cast<size_t>(kCount * c.out.bytes));
        std::vector<Array> arrays;
        for (Bytes &operand : operands)
          arrays.emplace_back(c.in.code, operand.data(), std::vector<int64_t>{kCount});
        arrays.emplace_back(c.out.code, results[i].data(), std::vector<int64_t>{kCount});
        program.select(c.name);
        ASSERT_EQ(program(arrays, {kCount}), 0) << program.message;
      }
      compare(c, operands, results[0], results[1]);
    }
  }
  std::vector<Case> cases;

private:
  std::string text_;
};

std::mt19937_64 &random() {
  static thread_local std::mt19937_64 engine(7);
  return engine;
}

/// Words of all sizes, extremes among them; `nonZero` for divisors.
Batch::Bytes randomIntegers(const Elem &elem, bool nonZero) {
  Batch::Bytes bytes(static_cast<size_t>(kCount * elem.bytes));
  for (int64_t i = 0; i < kCount; ++i) {
    uint64_t bits = random()() >> (random()() % 64);
    switch (random()() % 8) {
    case 0:
      bits = uint64_t(1) << (elem.bytes * 8 - 1);
      break;
    case 1:
      bits = ~bits;
      break;
    case 2:
      bits = (uint64_t(1) << (elem.bytes * 8 - 1)) - 1 + random()() % 3;
      break;
    default:
      break;
    }
    if (nonZero && (bits << (64 - elem.bytes * 8)) == 0)
      bits = 3;
    std::memcpy(&bytes[static_cast<size_t>(i * elem.bytes)], &bits,
                static_cast<size_t>(elem.bytes));
  }
  return bytes;
}

void expectSameBytes(const Batch::Case &c, const std::vector<Batch::Bytes> &operands,
                     const Batch::Bytes &original, const Batch::Bytes &rewritten) {
  auto at = [](const Batch::Bytes &bytes, size_t i, int size) {
    int64_t value = 0;
    std::memcpy(&value, &bytes[i * static_cast<size_t>(size)], static_cast<size_t>(size));
    return value;
  };
  for (size_t i = 0; i < static_cast<size_t>(kCount); ++i)
    ASSERT_EQ(at(original, i, c.out.bytes), at(rewritten, i, c.out.bytes))
        << "of " << at(operands[0], i, c.in.bytes) << " and " << at(operands.back(), i, c.in.bytes);
}

std::vector<Batch::Bytes> integerInputs(const Batch::Case &c) {
  std::vector<Batch::Bytes> operands = {randomIntegers(c.in, false)};
  if (c.operands == 2)
    operands.push_back(randomIntegers(c.in, true));
  if (c.title.starts_with("sh")) // Counts, some of them beyond the width.
    for (int64_t i = 0; i < kCount; ++i)
      for (int byte = 0; byte < c.in.bytes; ++byte)
        operands[1][static_cast<size_t>(i * c.in.bytes + byte)] =
            static_cast<char>(byte ? 0 : random()() % 40);
  return operands;
}

class Legalized : public ::testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Machines, Legalized, ::testing::Values("a2", "a5"));

TEST_P(Legalized, IntegerArithmetic) {
  Batch batch;
  for (const Elem &elem : integers) {
    for (const char *op : {"add", "sub", "mul", "div", "rem", "cdiv", "max", "min", "shl", "shr",
                           "bit_and", "bit_or", "bit_xor"})
      batch.add(op, 2, elem, elem);
    for (const char *op : {"neg", "abs", "sign"})
      batch.add(op, 1, elem, elem);
  }
  batch.run(GetParam(), integerInputs, expectSameBytes);
}

TEST_P(Legalized, IntegerComparisons) {
  Batch batch;
  for (const Elem &elem : integers)
    for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"})
      batch.add(op, 2, elem, boolean);
  batch.run(GetParam(), integerInputs, expectSameBytes);
}

TEST_P(Legalized, IntegerConversions) {
  Batch batch;
  for (const Elem &from : integers)
    for (const Elem &to : integers)
      for (const char *saturate : {"false", "true"})
        batch.add("convert", 1, from, to,
                  std::string("{round = \"even\", saturate = ") + saturate + "}");
  for (const Elem &from : integers)
    batch.add("convert", 1, from, f32, "{round = \"even\", saturate = false}");
  batch.run(GetParam(), integerInputs, expectSameBytes);
}

// ---- floats -------------------------------------------------------------------------------------

Batch::Bytes floatBytes(const std::vector<float> &values) {
  Batch::Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Numbers of all sizes between the limits, and everything special.
std::vector<float> randomFloats(double low, double high) {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               0.5f,
                               -0.5f,
                               2.0f,
                               1e-40f,
                               -3e-42f,
                               static_cast<float>(kInfinity),
                               static_cast<float>(-kInfinity),
                               static_cast<float>(kNan)};
  std::uniform_real_distribution<double> linear(low, high), exponent(-30, 1);
  while (values.size() < static_cast<size_t>(kCount)) {
    double value = linear(random());
    if (random()() % 2)
      value *= std::exp(exponent(random()));
    values.push_back(static_cast<float>(value));
  }
  return values;
}

/// Every special number with every other one.
void pairSpecialNumbers(std::vector<float> &x, std::vector<float> &y) {
  std::vector<float> special(x.begin(), x.begin() + 12);
  for (size_t i = 0; i < 12; ++i)
    for (size_t j = 0; j < 12; ++j)
      x[12 * i + j] = special[i], y[12 * i + j] = special[j];
}

TEST_P(Legalized, FloatsToIntegers) {
  Batch batch;
  for (const Elem &to : integers)
    for (const char *round : {"even", "zero", "down", "up", "away"})
      batch.add("convert", 1, f32, to,
                std::string("{round = \"") + round + "\", saturate = false}");
  auto inputs = [](const Batch::Case &) {
    std::vector<float> values = randomFloats(-300, 300);
    for (size_t i = 12; i < values.size(); i += 2)
      values[i] = std::ldexp(std::round(values[i] * 2) / 2, static_cast<int>(random()() % 26));
    return std::vector<Batch::Bytes>{floatBytes(values)};
  };
  batch.run(GetParam(), inputs, expectSameBytes);
}

struct Function {
  const char *op;
  double (*exact)(double);
  double low, high, ulps;
};

double unitInTheLastPlace(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

void expectNear(double got, double exact, double ulps, double x) {
  auto rounded = static_cast<double>(static_cast<float>(exact));
  if (std::isnan(rounded) || std::isinf(rounded)) {
    ASSERT_TRUE(std::isnan(rounded) ? std::isnan(got) : got == rounded || std::fabs(got) > 3.4e38)
        << "of " << x << " is " << got << ", not " << exact;
    return;
  }
  // Results below the normal numbers may become 0.
  double allowed = ulps * unitInTheLastPlace(exact) + (std::fabs(exact) < 2e-38 ? 2e-38 : 0);
  ASSERT_LE(std::fabs(got - exact), allowed) << "of " << x << " is " << got << ", not " << exact;
}

TEST_P(Legalized, ElementaryFunctions) {
  static const Function functions[] = {
      {"exp2", [](double x) { return std::exp2(x); }, -150, 130, 3},
      {"expm1", [](double x) { return std::expm1(x); }, -20, 90, 4},
      {"log2", [](double x) { return std::log2(x); }, 0, 1e30, 3},
      {"log10", [](double x) { return std::log10(x); }, 0, 1e30, 4},
      {"log1p", [](double x) { return std::log1p(x); }, -1, 1e4, 5},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 30, 4},
      {"tanh", [](double x) { return std::tanh(x); }, -12, 12, 3},
      {"sinh", [](double x) { return std::sinh(x); }, -89.4, 89.4, 6},
      {"cosh", [](double x) { return std::cosh(x); }, -89.4, 89.4, 6},
      {"asinh", [](double x) { return std::asinh(x); }, -1e6, 1e6, 6},
      {"acosh", [](double x) { return std::acosh(x); }, 1, 1e6, 6},
      {"atanh", [](double x) { return std::atanh(x); }, -1, 1, 6},
      {"erf", [](double x) { return std::erf(x); }, -5, 5, 4},
      {"erfc", [](double x) { return std::erfc(x); }, -5, 9, 6},
      {"sin", [](double x) { return std::sin(x); }, -1e6, 1e6, 3},
      {"cos", [](double x) { return std::cos(x); }, -1e6, 1e6, 3},
      {"tan", [](double x) { return std::tan(x); }, -1e6, 1e6, 6},
      {"asin", [](double x) { return std::asin(x); }, -1, 1, 4},
      {"acos", [](double x) { return std::acos(x); }, -1, 1, 4},
      {"atan", [](double x) { return std::atan(x); }, -1e3, 1e3, 4},
      {"sign", [](double x) { return x > 0   ? 1
                                     : x < 0 ? -1
                                             : x; }, -2, 2, 0},
      {"floor", [](double x) { return std::floor(x); }, -1e9, 1e9, 0},
      {"round", [](double x) { return std::nearbyint(x); }, -1e5, 1e5, 0},
  };
  Batch batch;
  for (const Function &function : functions)
    batch.add(function.op, 1, f32, f32);
  size_t next = 0;
  std::vector<float> x;
  auto inputs = [&](const Batch::Case &) {
    x = randomFloats(functions[next].low, functions[next].high);
    return std::vector<Batch::Bytes>{floatBytes(x)};
  };
  auto compare = [&](const Batch::Case &, const std::vector<Batch::Bytes> &, const Batch::Bytes &,
                     const Batch::Bytes &rewritten) {
    const Function &function = functions[next++];
    for (size_t i = 0; i < x.size(); ++i) {
      float got;
      std::memcpy(&got, &rewritten[i * 4], 4);
      expectNear(got, function.exact(x[i]), function.ulps, x[i]);
    }
  };
  batch.run(GetParam(), inputs, compare);
}

struct BinaryFunction {
  const char *op;
  double (*exact)(double, double);
  double low, high, low2, high2, ulps;
};

TEST_P(Legalized, FunctionsOfTwoNumbers) {
  static const BinaryFunction functions[] = {
      {"pow", [](double x, double y) { return std::pow(x, y); }, 0, 1e3, -12, 12, 6},
      {"pow", [](double x, double y) { return std::pow(x, y); }, 0.9, 1.1, -800, 800, 6},
      {"pow", [](double x, double y) { return std::pow(x, y); }, -3, 3, -4, 4, 6},
      {"atan2", [](double x, double y) { return std::atan2(x, y); }, -10, 10, -10, 10, 4},
      {"rem", [](double x, double y) { return std::fmod(x, y); }, -1e5, 1e5, -10, 10, 0},
      {"copysign", [](double x, double y) { return std::copysign(x, y); }, -5, 5, -5, 5, 0},
  };
  Batch batch;
  for (const BinaryFunction &function : functions)
    batch.add(function.op, 2, f32, f32);
  size_t next = 0;
  std::vector<float> x, y;
  auto inputs = [&](const Batch::Case &) {
    x = randomFloats(functions[next].low, functions[next].high);
    y = randomFloats(functions[next].low2, functions[next].high2);
    pairSpecialNumbers(x, y);
    return std::vector<Batch::Bytes>{floatBytes(x), floatBytes(y)};
  };
  auto compare = [&](const Batch::Case &, const std::vector<Batch::Bytes> &, const Batch::Bytes &,
                     const Batch::Bytes &rewritten) {
    const BinaryFunction &function = functions[next++];
    for (size_t i = 0; i < x.size(); ++i) {
      SCOPED_TRACE(y[i]);
      float got;
      std::memcpy(&got, &rewritten[i * 4], 4);
      expectNear(got, function.exact(x[i], y[i]), function.ulps, x[i]);
    }
  };
  batch.run(GetParam(), inputs, compare);
}

TEST_P(Legalized, ComparisonsAndExtremesOfSpecialNumbers) {
  Batch batch;
  for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"})
    batch.add(op, 2, f32, boolean);
  for (const char *op : {"maxnan", "minnan"})
    batch.add(op, 2, f32, f32);
  for (const char *op : {"isnan", "isinf", "isfinite"})
    batch.add(op, 1, f32, boolean);
  auto inputs = [](const Batch::Case &c) {
    std::vector<float> x = randomFloats(-2, 2), y = x;
    pairSpecialNumbers(x, y);
    std::vector<Batch::Bytes> operands = {floatBytes(x), floatBytes(y)};
    operands.resize(static_cast<size_t>(c.operands));
    return operands;
  };
  auto compare = [](const Batch::Case &c, const std::vector<Batch::Bytes> &operands,
                    const Batch::Bytes &original, const Batch::Bytes &rewritten) {
    if (c.out.bytes == 1)
      return expectSameBytes(c, operands, original, rewritten);
    for (size_t i = 0; i < static_cast<size_t>(kCount); ++i) {
      float a, b;
      std::memcpy(&a, &original[i * 4], 4);
      std::memcpy(&b, &rewritten[i * 4], 4);
      ASSERT_TRUE((std::isnan(a) && std::isnan(b)) ||
                  (a == b && std::signbit(a) == std::signbit(b)))
          << a << " became " << b;
    }
  };
  batch.run(GetParam(), inputs, compare);
}

// ---- what is left -------------------------------------------------------------------------------

/// The instruction that an operation is; empty for those that only describe or move, or that work
/// on bits of any type.
std::optional<std::string> instructionOf(llvm::StringRef op) {
  static const std::map<std::string, std::string> others = {{"reciprocal", "trecip"},
                                                            {"convert", "tcvt"},
                                                            {"select", "tsel"},
                                                            {"eq", "tcmp.eq"},
                                                            {"ne", "tcmp"},
                                                            {"lt", "tcmp"},
                                                            {"le", "tcmp"},
                                                            {"gt", "tcmp"},
                                                            {"ge", "tcmp"},
                                                            {"floor", "tcvt"},
                                                            {"ceil", "tcvt"},
                                                            {"round", "tcvt"},
                                                            {"trunc", "tcvt"},
                                                            {"rem", "tfmod"},
                                                            {"full", "texpands"},
                                                            {"zeros", "texpands"},
                                                            {"ones", "texpands"},
                                                            {"reduce_sum", "trowsum"},
                                                            {"reduce_prod", "trowprod"},
                                                            {"reduce_max", "trowmax"},
                                                            {"reduce_min", "trowmin"},
                                                            {"reduce_argmax", "trowargmax"},
                                                            {"reduce_argmin", "trowargmin"},
                                                            {"broadcast", "trowexpand"},
                                                            {"transpose", "ttrans"}};
  for (const char *same : {"add", "sub", "mul", "div", "max", "min", "neg", "abs", "exp", "log",
                           "sqrt", "rsqrt", "shl", "shr"})
    if (op == same)
      return "t" + op.str();
  if (auto found = others.find(op.str()); found != others.end())
    return found->second;
  for (const char *free : {"bitcast", "bit_and", "bit_or", "bit_xor", "and", "or", "not", "index",
                           "new_axis", "cast", "slice", "store", "dim"})
    if (op == free)
      return "";
  return std::nullopt;
}

std::string elementName(mlir::Type type) {
  if (auto array = mlir::dyn_cast<ptl::ir::ArrayType>(type))
    type = array.getElementType();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text.starts_with("ui") ? "u" + text.substr(2) : text == "i1" ? "bool" : text;
}

void expectInstructions(const std::string &text, const std::string &machineName) {
  ptl::Machine machine = *ptl::findMachine(machineName);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &testContext());
  module->walk([&](mlir::Operation *op) {
    bool onTiles = llvm::any_of(
        op->getOperandTypes(), [](mlir::Type type) { return mlir::isa<ptl::ir::ArrayType>(type); });
    if (!onTiles || op->getNumResults() != 1)
      return;
    std::optional<std::string> name = instructionOf(op->getName().stripDialect());
    if (name && name->empty())
      return;
    bool compares = name && name->starts_with("tcmp");
    if (compares && !mlir::isa<ptl::ir::ArrayType>(op->getOperand(1).getType()))
      name->insert(4, "s");
    mlir::Type in = op->getOperand(op->getName().stripDialect() == "select" ? 1 : 0).getType();
    std::string from = elementName(in), to = elementName(op->getResult(0).getType());
    bool found = name && (*name == "tcvt" ? machine.supports(*name, {from, to})
                                          : machine.supports(*name, {from}));
    EXPECT_TRUE(found) << machineName << " has no instruction for "
                       << op->getName().getStringRef().str() << " from " << from << " to " << to;
  });
}

TEST_P(Legalized, OnlyInstructionsAreLeft) {
  const Elem f16 = {"f16", PTL_F16, 2}, bf16 = {"bf16", PTL_BF16, 2};
  std::string text;
  int number = 0;
  auto add = [&](const std::string &op, int operands, const Elem &in, const Elem &out,
                 const std::string &attributes = "") {
    text += functionOf("f" + std::to_string(number++), op, namesOf(operands), in.name, out.name,
                       attributes);
  };
  std::vector<Elem> reals = {f16, bf16, f32}, all(std::begin(integers), std::end(integers));
  all.insert(all.end(), reals.begin(), reals.end());
  for (const Elem &elem : all) {
    for (const char *op : {"add", "sub", "mul", "div", "rem", "max", "min", "maxnan", "minnan"})
      add(op, 2, elem, elem);
    for (const char *op : {"neg", "abs", "sign"})
      add(op, 1, elem, elem);
    for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"})
      add(op, 2, elem, boolean);
    add("clamp", 3, elem, elem);
    for (const Elem &to : all)
      add("convert", 1, elem, to, "{round = \"even\", saturate = true}");
    add("convert", 1, elem, boolean, "{round = \"even\", saturate = true}");
    add("convert", 1, boolean, elem, "{round = \"even\", saturate = true}");
  }
  for (const Elem &elem : reals) {
    for (const char *op :
         {"exp",     "exp2",  "expm1", "log",   "log2",       "log10", "log1p", "sqrt",
          "rsqrt",   "sin",   "cos",   "tan",   "reciprocal", "asin",  "acos",  "atan",
          "sinh",    "cosh",  "tanh",  "asinh", "acosh",      "atanh", "erf",   "erfc",
          "sigmoid", "floor", "ceil",  "round", "trunc"})
      add(op, 1, elem, elem);
    for (const char *op : {"isnan", "isinf", "isfinite"})
      add(op, 1, elem, boolean);
    for (const char *op : {"pow", "atan2", "copysign"})
      add(op, 2, elem, elem);
    add("fma", 3, elem, elem);
  }
  expectInstructions(legalized(text, GetParam()), GetParam());
}

} // namespace legalized_test
