// Placed programs on 1 to 16 parts beside the reference, which ignores placement: on whole numbers
// bit for bit. Programs are enumerated: every way to cut the operands of an expression, with every
// movement behind it that may be right; what the checker accepts must agree.
#include "codegen/parts/run_parts.h"
#include "frontend/sema/check.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

namespace ptl::parts {
namespace {

using reference::RefArray;
using reference::RunResult;
using reference::Value;

struct CheckedText {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;

  explicit CheckedText(std::string text) {
    FileId root = sources.add("test.ptl", std::move(text));
    CheckOptions options;
    options.stdPath = PTL_SOURCE_DIR "/std";
    program = checkFile(sources, root, options, sink);
  }
  bool ok() const { return !sink.hasErrors(); }
  std::string errors() const {
    std::string text;
    for (const Diagnostic &each : sink.all())
      text += std::string(diagInfo(each.id).code) + " " + each.message + "\n";
    return text;
  }
  const CallableDecl *find(const std::string &name) const {
    for (const CallableDecl *decl : program->modules[0]->callables)
      if (decl->name == name)
        return decl;
    return nullptr;
  }
};

/// Whole numbers from -3 to 3 in an order that has no period of a shape.
Value numbers(std::vector<int64_t> shape, int64_t salt, ElemKind elem = ElemKind::F32) {
  RefArray array = reference::zeroArray(elem, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i) {
    int64_t number = (i * 5 + salt * 11 + i / 7 * 3) % 7 - 3;
    array.set(i,
              array.isReal() ? Scalar::real(static_cast<double>(number)) : Scalar::integer(number));
  }
  return Value::array(std::move(array));
}

std::string difference(const Value &a, const Value &b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()))
    return "other shapes";
  std::string textA = reference::valueText(a), textB = reference::valueText(b);
  if (a.isScalar())
    return textA == textB ? "" : textA + " is not " + textB;
  for (int64_t i = 0; i < a.asArray().count(); ++i) {
    Scalar x = a.asArray().at(i), y = b.asArray().at(i);
    bool bothNan = x.f != x.f && y.f != y.f;
    if (!bothNan && (x.f != y.f || x.i != y.i))
      return textA + " is not " + textB;
  }
  return {};
}

/// Runs an entry on the reference and on parts; the first difference.
std::string compareOnParts(const CheckedText &checked, const CallableDecl &decl,
                           const std::vector<Value> &args, uint32_t parts, uint64_t seed) {
  DiagnosticSink sink;
  auto placed = placeProgram(*checked.program, *decl.module->tree, decl, sink);
  if (!placed)
    return "not placed";
  RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, args);
  PartsOptions options;
  options.parts = parts;
  options.seed = seed;
  RunResult result = runOnParts(*checked.program, checked.sources, *placed, args, options);
  if (!expected.ok() || !result.ok())
    return expected.message + " / " + result.message;
  for (size_t i = 0; i < expected.outputs.size(); ++i)
    if (std::string why = difference(result.outputs[i], expected.outputs[i]); !why.empty())
      return why;
  return {};
}

// ---- Every rule --------------------------------------------------------------------------------

/// An expression over arrays `a` and `b`, and the shape of its value.
struct Form {
  const char *text, *a, *b, *result;
};

constexpr Form forms[] = {
    {"a + b", "M, N", "M, N", "M, N"},
    {"a * b", "M, N", "N", "M, N"},
    {"a - b", "M, N", "M, 1", "M, N"},
    {"select(a > b, a, b * 2.0)", "M, N", "M, N", "M, N"},
    {"max(a, b)", "M, N", "1, N", "M, N"},
    {"a @ b", "M, K", "K, N", "M, N"},
    {"a @ b.T", "M, K", "N, K", "M, N"},
    {"a.T @ b", "K, M", "K, N", "M, N"},
    {"(a @ b) * 2.0 + a @ b", "M, K", "K, N", "M, N"},
    {"-(a @ b) / 2.0", "M, K", "K, N", "M, N"},
    {"a @ b", "M, K", "K", "M"},
    {"a @ b", "K", "K, N", "N"},
    {"a @ b", "B, M, K", "K, N", "B, M, N"},
    {"a @ b", "B, M, K", "B, K, N", "B, M, N"},
    {"sum(a, axis: 1) + b", "M, N", "M, 1", "M, 1"},
    {"sum(a, axis: 0) * b", "M, N", "1, N", "1, N"},
    {"sum(a * b, axis: [0, 1])", "M, N", "M, N", "1, 1"},
    {"max(a - b, axis: 1)", "M, N", "M, N", "M, 1"},
    {"min(a - b, axis: 0)", "M, N", "M, N", "1, N"},
    {"max(max(a, axis: 0), max(b, axis: 0))", "M, N", "M, N", "1, N"},
    {"mean(a, axis: 1) + b", "M, N", "M, 1", "M, 1"},
    {"cumsum(a, axis: 1) + b", "M, N", "M, N", "M, N"},
    {"abs(a @ b)", "M, K", "K, N", "M, N"},
    {"reshape(a, [M, N, K]) + b", "M, N * K", "M, N, K", "M, N, K"},
    {"reshape(a * b, [M * N, K])", "M, N, K", "M, N, K", "M * N, K"},
    {"transpose(a, [2, 0, 1]) + b", "M, N, K", "K, M, N", "K, M, N"},
    {"a[:, new, :] * b", "M, N", "M, K, N", "M, K, N"},
    {"broadcast(a, [M, N]) + b", "M, 1", "M, N", "M, N"},
    {"a + b + zeros(f32[M, N])", "M, N", "M, N", "M, N"},
    {"scaled(a, b)", "M, N", "M, N", "M, N"},
    {"contracted(a, b)", "M, K", "K, N", "M, N"},
};

std::vector<std::string> namesIn(const std::string &shape) {
  std::vector<std::string> names = {""};
  for (const char *name : {"B", "M", "N", "K"})
    if (("," + shape + ",").find(name) != std::string::npos && shape.find('*') == std::string::npos)
      names.push_back(name);
  if (shape.find('*') != std::string::npos && shape[0] == 'M' && shape[1] == ',')
    names.push_back("M");
  return names;
}

std::string placed(const std::string &shape, const std::string &by) {
  return "f32[" + shape + "]" + (by.empty() ? "" : " over chip by " + by);
}

std::vector<int64_t> sizesOf(const std::string &shape, const std::map<char, int64_t> &sizes) {
  std::vector<int64_t> result;
  std::stringstream parts(shape);
  for (std::string part; std::getline(parts, part, ',');) {
    int64_t product = 1;
    for (char c : part)
      if (auto found = sizes.find(c); found != sizes.end())
        product *= found->second;
    result.push_back(product);
  }
  return result;
}

TEST(Parts, EveryWayToCutEveryForm) {
  size_t accepted = 0, refused = 0;
  for (const Form &form : forms)
    for (const std::string &cutA : namesIn(form.a))
      for (const std::string &cutB : namesIn(form.b))
        for (const std::string &cutY : namesIn(form.result))
          for (const char *movement :
               {"", "all_reduce", "reduce_scatter", "all_gather", "all_to_all"}) {
            std::string move = movement, value = form.text;
            bool takesBy = move == "reduce_scatter" || move == "all_to_all";
            if (takesBy && cutY.empty())
              continue;
            if (!move.empty())
              value = move + "(" + value + ", over: chip" + (takesBy ? ", by: " + cutY : "") + ")";
            std::string text =
                "fn scaled[M, N](x: f32[M, N], y: f32[M, N]) -> f32[M, N] { let z = x * y\n return "
                "z + y }\n"
                "fn contracted[M, K, N](x: f32[M, K], y: f32[K, N]) -> f32[M, N] { return x @ y }\n"
                "program p[B, M, N, K](a: " +
                placed(form.a, cutA) + ", b: " + placed(form.b, cutB) +
                ", sizes: f32[B, M, N, K]) -> (y: " + placed(form.result, cutY) +
                ") at host {\n    let _s = sizes\n    y = " + value + "\n}\n";
            CheckedText checked(text);
            if (!checked.ok()) {
              ++refused;
              for (const Diagnostic &each : checked.sink.all())
                EXPECT_TRUE(std::string_view(diagInfo(each.id).code).starts_with("E10") ||
                            each.severity != Severity::Error)
                    << text << checked.errors();
              continue;
            }
            const CallableDecl &decl = *checked.find("p");
            if (!isPlaced(*decl.module->tree, decl.syntax))
              continue;
            ++accepted;
            for (std::map<char, int64_t> sizes :
                 {std::map<char, int64_t>{{'B', 2}, {'M', 5}, {'N', 3}, {'K', 4}},
                  {{'B', 3}, {'M', 1}, {'N', 7}, {'K', 2}}}) {
              std::vector<Value> args = {
                  numbers(sizesOf(form.a, sizes), 1), numbers(sizesOf(form.b, sizes), 2),
                  numbers({sizes['B'], sizes['M'], sizes['N'], sizes['K']}, 3)};
              for (uint32_t parts : {1u, 2u, 3u, 4u, 5u})
                EXPECT_EQ(compareOnParts(checked, decl, args, parts, parts + accepted), "")
                    << text << "on " << parts << " parts";
            }
          }
  EXPECT_GT(accepted, 150u);
  EXPECT_GT(refused, 1000u);
}

// ---- Random programs ---------------------------------------------------------------------------

/// Grows programs statement by statement: a random statement stays if the checker accepts it. Values
/// stay whole numbers that `f32` holds exactly.
class RandomProgram {
public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    for (const char *name : {"a", "b", "c"}) {
      std::string shape = pick(std::vector<std::string>{"M, N", "N, K", "M, K", "K, N", "N"});
      std::string by =
          random_() % 4 ? std::string(1, shape[3 * (random_() % ((shape.size() + 2) / 3))]) : "";
      header_ += std::string(header_.empty() ? "" : ", ") + name + ": " + placed(shape, by);
      values_.push_back({name, shape, 3});
    }
  }

  void grow(size_t statements) {
    for (size_t tries = 0; tries < 12 * statements && lets_.size() < statements; ++tries) {
      std::string name = "v" + std::to_string(lets_.size());
      RandomValue made = statement();
      if (made.text.empty() || made.bound >= 1 << 22)
        continue;
      lets_.push_back("    let " + name + " = " + made.text + "\n");
      made.text = name;
      values_.push_back(made);
      // The last value is tried as a result at once, wherever it lies.
      if (!finish()) {
        lets_.pop_back();
        values_.pop_back();
        ++refused;
      }
    }
  }

  /// Whether the program is accepted with its last value as result, in some placement.
  bool finish() {
    const RandomValue &last = values_.back();
    std::vector<std::string> ways = {""};
    for (char dim : last.shape)
      if (std::isalpha(dim))
        ways.push_back(std::string(1, dim));
    for (const std::string &by : ways)
      for (const char *around : {"", "all_reduce", "all_gather"}) {
        std::string value =
            *around ? std::string(around) + "(" + last.text + ", over: chip)" : last.text;
        text = "program p[M, N, K](" + header_ +
               ", sizes: f32[M, N, K] over chip by M) -> (y: " + placed(last.shape, by) +
               ") at host {\n    let _s = sizes\n";
        for (const std::string &let : lets_)
          text += let;
        text += "    y = " + value + "\n}\n";
        if (CheckedText(text).ok())
          return true;
      }
    return false;
  }

  std::string text;
  size_t refused = 0;
  std::vector<std::string> shapes() const {
    return {values_[0].shape, values_[1].shape, values_[2].shape};
  }

private:
  struct RandomValue {
    std::string text, shape;
    int64_t bound = 0;
  };
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[random_() % from.size()];
  }
  RandomValue statement() {
    const RandomValue &a = pick(values_), &b = pick(values_);
    bool isMatrix = a.shape.size() == 4 && b.shape.size() == 4;
    switch (random_() % 8) {
    case 0:
      return a.shape == b.shape ? RandomValue{a.text + " + " + b.text, a.shape, a.bound + b.bound}
                                : RandomValue();
    case 1:
      return a.shape == b.shape ? RandomValue{a.text + " * " + b.text, a.shape, a.bound * b.bound}
                                : RandomValue();
    case 2:
      return isMatrix && a.shape[3] == b.shape[0]
                 ? RandomValue{a.text + " @ " + b.text,
                               std::string(1, a.shape[0]) + ", " + b.shape[3],
                               a.bound * b.bound * 7}
                 : RandomValue();
    case 3:
      return isMatrix ? RandomValue{a.text + ".T", std::string(1, a.shape[3]) + ", " + a.shape[0],
                                    a.bound}
                      : RandomValue();
    case 4:
      return {"max(" + a.text + ", 0.0)", a.shape, a.bound};
    case 5:
      return {a.text + " * 2.0", a.shape, 2 * a.bound};
    case 6:
      return {pick(std::vector<std::string>{"all_reduce", "all_gather"}) + "(" + a.text +
                  ", over: chip)",
              a.shape, 7 * a.bound};
    default:
      return {pick(std::vector<std::string>{"reduce_scatter", "all_to_all"}) + "(" + a.text +
                  ", over: chip, by: " + a.shape[3 * (random_() % ((a.shape.size() + 2) / 3))] +
                  ")",
              a.shape, 7 * a.bound};
    }
  }

  std::mt19937_64 random_;
  std::string header_;
  std::vector<RandomValue> values_;
  std::vector<std::string> lets_;
};

/// `PTL_RANDOM_PROGRAMS` says how many.
TEST(Parts, RandomPrograms) {
  size_t statements = 0, refused = 0, programs = 0;
  const char *more = std::getenv("PTL_RANDOM_PROGRAMS");
  uint64_t seeds = more ? std::strtoull(more, nullptr, 10) : 200;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    RandomProgram program(seed);
    program.grow(1 + seed % 7);
    refused += program.refused;
    if (!program.finish())
      continue;
    CheckedText checked(program.text);
    ASSERT_TRUE(checked.ok());
    const CallableDecl &decl = *checked.find("p");
    ++programs;
    statements += seed % 7 + 1;
    std::map<char, int64_t> sizes = {{'M', 1 + static_cast<int64_t>(seed % 6)},
                                     {'N', 7},
                                     {'K', static_cast<int64_t>(seed % 4) + 2}};
    std::vector<Value> args;
    for (const std::string &shape : program.shapes())
      args.push_back(numbers(sizesOf(shape, sizes), static_cast<int64_t>(args.size())));
    args.push_back(numbers({sizes['M'], sizes['N'], sizes['K']}, 3));
    for (uint32_t parts : {1u, 2u, 3u, 5u, 8u, 16u})
      EXPECT_EQ(compareOnParts(checked, decl, args, parts, seed), "")
          << program.text << "on " << parts << " parts";
  }
  EXPECT_GT(programs, seeds / 2);
  EXPECT_GT(statements, 2 * seeds);
  EXPECT_GT(refused, seeds / 2);
}

// ---- The examples ------------------------------------------------------------------------------

TEST(Parts, ExampleOnManyParts) {
  std::ifstream file(PTL_SOURCE_DIR "/examples/cluster/mlp.ptl");
  std::stringstream text;
  text << file.rdbuf();
  CheckedText checked(text.str());
  ASSERT_TRUE(checked.ok()) << checked.errors();
  std::vector<Value> step = {numbers({6, 5}, 1), numbers({6, 3}, 2), numbers({5, 3}, 3),
                             Value::scalar(ElemKind::F32, Scalar::real(0.5))};
  for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u, 16u})
    for (uint64_t seed = 0; seed < 10; ++seed)
      EXPECT_EQ(compareOnParts(checked, *checked.find("training_step"), step, parts, seed), "")
          << parts << " parts, seed " << seed;
  // `silu` rounds, and sums over parts round elsewhere than those of one product.
  std::vector<Value> layer = {numbers({7, 6}, 1), numbers({6, 10}, 2), numbers({6, 10}, 3),
                              numbers({10, 6}, 4)};
  EXPECT_EQ(compareOnParts(checked, *checked.find("data_parallel"), layer, 4, 1), "");
  for (const char *name : {"tensor_parallel", "sequence_parallel"}) {
    const CallableDecl &decl = *checked.find(name);
    DiagnosticSink sink;
    auto placed = placeProgram(*checked.program, *decl.module->tree, decl, sink);
    ASSERT_TRUE(placed);
    RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, layer);
    for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u, 16u}) {
      PartsOptions options;
      options.parts = parts;
      RunResult result = runOnParts(*checked.program, checked.sources, *placed, layer, options);
      ASSERT_TRUE(result.ok()) << result.message;
      for (int64_t i = 0; i < expected.outputs[0].asArray().count(); ++i)
        EXPECT_NEAR(result.outputs[0].asArray().at(i).f, expected.outputs[0].asArray().at(i).f,
                    1e-4 * (1 + std::abs(expected.outputs[0].asArray().at(i).f)));
    }
  }
}

TEST(Parts, IntegersWrapAndExtremesHold) {
  CheckedText checked(R"(
program extremes[M, N](a: i32[M, N] over chip by M) -> (s: i32[1, N], high: i32[1, N], low: i32[1, N] over chip by N) at host {
    s = all_reduce(sum(a, axis: 0), over: chip)
    high = all_reduce(max(a, axis: 0), over: chip)
    low = reduce_scatter(min(a, axis: 0), over: chip, by: N)
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  RefArray array = reference::zeroArray(ElemKind::I32, {3, 2});
  for (int64_t i = 0; i < 6; ++i)
    array.set(i, Scalar::integer(i % 2 ? -2147483647 : 2147483000 + i));
  std::vector<Value> args = {Value::array(std::move(array))};
  for (uint32_t parts : {1u, 2u, 3u, 7u})
    EXPECT_EQ(compareOnParts(checked, *checked.find("extremes"), args, parts, 3), "");
}

TEST(Parts, EmptyArrays) {
  CheckedText checked(R"(
program p[M, N](a: f32[M, N] over chip by M) -> (s: f32[1, N], y: f32[M, N]) at host {
    s = all_reduce(sum(a, axis: 0), over: chip)
    y = all_gather(a * 2.0, over: chip)
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (const std::vector<int64_t> &shape :
       std::vector<std::vector<int64_t>>{{0, 3}, {3, 0}, {0, 0}, {1, 1}})
    EXPECT_EQ(compareOnParts(checked, *checked.find("p"), {numbers(shape, 1)}, 3, 0), "");
}

TEST(Parts, FailuresNameThePart) {
  CheckedText checked(R"(
program p[M](a: i32[M] over chip by M, b: i32[M] over chip by M) -> (y: i32[M] over chip by M) at host
where M < 6
{
    y = a / b
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  const CallableDecl &decl = *checked.find("p");
  DiagnosticSink sink;
  auto placed = placeProgram(*checked.program, *decl.module->tree, decl, sink);
  ASSERT_TRUE(placed);
  PartsOptions options;
  options.parts = 4;
  RefArray zeros = reference::zeroArray(ElemKind::I32, {4});
  zeros.set(0, Scalar::integer(1));
  zeros.set(1, Scalar::integer(1));
  std::vector<Value> args = {numbers({4}, 1, ElemKind::I32), Value::array(zeros)};
  RunResult result = runOnParts(*checked.program, checked.sources, *placed, args, options);
  EXPECT_EQ(result.status, reference::RunStatus::Arithmetic);
  EXPECT_NE(result.message.find("chip 2"), std::string::npos) << result.message;
  args = {numbers({9}, 1, ElemKind::I32), numbers({9}, 2, ElemKind::I32)};
  result = runOnParts(*checked.program, checked.sources, *placed, args, options);
  EXPECT_EQ(result.status, reference::RunStatus::Where);
}

} // namespace
} // namespace ptl::parts
