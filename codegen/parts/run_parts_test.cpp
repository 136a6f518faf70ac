// Placed programs on 1 to 16 parts beside the reference, which ignores placement: on whole numbers
// bit for bit. Programs are enumerated: every way to cut the operands of an expression, with every
// movement behind it that may be right; what the checker accepts must agree.
#include "codegen/parts/parts_test_util.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

namespace ptl::parts {
namespace {

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
    {"reshape(reshape(a, [M * N, K]) * 2.0, [M, N, K]) + b", "M, N, K", "M, N, K", "M, N, K"},
    {"reshape(a, [M, N * K]) @ reshape(b, [N * K, B])", "M, N, K", "N, K, B", "M, B"},
    {"transpose(a, [2, 0, 1]) + b", "M, N, K", "K, M, N", "K, M, N"},
    {"a[:, new, :] * b", "M, N", "M, K, N", "M, K, N"},
    {"broadcast(a, [M, N]) + b", "M, 1", "M, N", "M, N"},
    {"a + b + zeros(f32[M, N])", "M, N", "M, N", "M, N"},
    {"scaled(a, b)", "M, N", "M, N", "M, N"},
    {"contracted(a, b)", "M, K", "K, N", "M, N"},
    {"concat(a, b, axis: 1)", "M, N", "M, K", "M, N + K"},
    {"concat(a, b, axis: 0)", "M, N", "K, N", "M + K, N"},
    {"concat(a @ b, zeros(f32[M, 2]), axis: 1)", "M, K", "K, N", "M, N + 2"},
    {"pad(a, 1.5, before: [0, 1], after: [0, 2]) + b", "M, N", "M, 1", "M, N + 3"},
    {"pad(a @ b, 0.0, before: [1, 0])", "M, K", "K, N", "M + 1, N"},
    {"pad(max(a - b, axis: 0), 1.0, after: [1, 0])", "M, N", "M, N", "2, N"},
    {"interleave(a, b)", "M, N", "M, N", "M, 2 * N"},
    {"apart(interleave(a, b))", "M, N", "M, N", "M, N"},
    {"largest(a) * b", "M, N", "M, 1", "M, 1"},
    {"one_hot(i32(a, round: .down), E: 3) + b", "M, N", "M, N, 1", "M, N, 3"},
    {"gather(a, places(b, N), axis: 1)", "M, N", "M, K", "M, K"},
    {"gather(a, places(b, M), axis: 0)", "M, N", "K, N", "K, N"},
    {"scatter(a, places(b, N), b, axis: 1)", "M, N", "M, K", "M, N"},
    {"scatter(a, places(b, N), b, axis: 1, combine: .max)", "M, N", "M, K", "M, N"},
    {"scatter(zeros(f32[M, N]), places(b, N), b, axis: 1, combine: .add) + 0.0 * a", "M, N", "M, K",
     "M, N"},
    {"scatter(a @ b, places(b, M), b, axis: 0, combine: .add)", "M, M", "M, N", "M, N"},
    {"a[rows(b, M), :]", "M, N", "K", "K, N"},
    {"a[:, rows(b, N)]", "M, N", "K", "M, K"},
    {"a[rows(b, M)[0], :]", "M, N", "K", "N"},
    {"a[:, 1..N] + b", "M, N", "M, 1", "M, N - 1"},
    {"a[:, 0..N step 2] * b", "M, N", "M, 1", "M, (N + 1) / 2"},
    {"load(a[:, 1..N + 1], outside: 0.0) + b", "M, N", "M, N", "M, N"},
    {"(a @ b)[:, 0..1]", "M, K", "K, N", "M, 1"},
    {"einsum(\"mk,kn->mn\", a, b)", "M, K", "K, N", "M, N"},
    {"einsum(\"mk,kn->nm\", a, b)", "M, K", "K, N", "N, M"},
    {"einsum(\"bmk,bk->bm\", a, b)", "B, M, K", "B, K", "B, M"},
    {"einsum(\"mk,nk->k\", a, b)", "M, K", "N, K", "K"},
    {"select(b > 0.0, sum(a, axis: 0), 0.0)", "M, N", "1, N", "1, N"},
    {"max(max(a, axis: 0), b)", "M, N", "1, N", "1, N"},
    {"f32(philox(i32(abs(a), round: .down), 3) % 7) + b", "M, N", "M, N", "M, N"},
    {"twice(a, b)", "M, N", "M, N", "M, N"},
    {"column(a, b)", "M, N", "M, 1", "M, N"},
    {"row(a, b)", "M, N", "N", "M, N"},
    {"placed(a, b)", "M, N", "M, N", "M, N"},
    {"row(a @ a, sum(b, axis: 0)[0, :])", "M, M", "K, M", "M, M"},
    {"first(a, b)", "M, 1", "M", "M, 1"},
};

/// What the forms call.
constexpr std::pair<const char *, const char *> functions[] = {
    {"scaled", "fn scaled[M, N](x: f32[M, N], y: f32[M, N]) -> f32[M, N] { let z = x * y\n"
               "return z + y }\n"},
    {"contracted",
     "fn contracted[M, K, N](x: f32[M, K], y: f32[K, N]) -> f32[M, N] { return x @ y }\n"},
    {"apart", "fn apart[M, N](x: f32[M, 2 * N]) -> f32[M, N] { let (even, odd) = deinterleave(x)\n"
              "return even - odd }\n"},
    {"largest", "fn largest[M, N](x: f32[M, N]) -> f32[M, 1] where N >= 1 {\n"
                "let (value, position) = topk(x, 1)\nreturn value + f32(position) }\n"},
    {"places", "fn places[M, N](x: f32[M, N], length: int) -> i32[M, N] {\n"
               "return i32(abs(x), round: .down) % i32(length) }\n"},
    {"rows", "fn rows[M](x: f32[M], length: int) -> i32[M] {\n"
             "return i32(abs(x), round: .down) % i32(length) }\n"},
    {"column", "fn column[M, N](x: f32[M, N], y: f32[M, 1]) -> f32[M, N] { var z = x\n"
               "z[:, 1..N] = y\nz[0..1, N - 1] = 2.0\nreturn z }\n"},
    {"row", "fn row[M, N](x: f32[M, N], y: f32[N]) -> f32[M, N] { var z = x\n"
            "z[M - 1, :] = y\nreturn z }\n"},
    {"placed", "fn placed[M, N](x: f32[M, N], y: f32[M, N]) -> f32[M, N] where M >= 1 {\n"
               "var z = x\nz[:, argsort(x[0, :], axis: 0)] = y\nreturn z }\n"},
    {"first", "fn first[M](x: f32[M, 1], y: f32[M]) -> f32[M, 1] { var z = x\nz[:, 0] = y\n"
              "return z }\n"},
    {"twice", "fn both[M, N](x: f32[M, N], y: f32[M, N]) -> (f32[M, N], f32[M, N]) {\n"
              "if M > 3 { return (x + y, x) }\nreturn (x, x - y) }\n"
              "fn twice[M, N](x: f32[M, N], y: f32[M, N]) -> f32[M, N] {\n"
              "let (p, q) = both(x, y)\nreturn p * 2.0 + q }\n"},
};

std::string calledBy(const Form &form) {
  std::string text;
  for (auto [name, function] : functions)
    if (std::string(form.text).find(std::string(name) + "(") != std::string::npos)
      text += function;
  return text;
}

std::vector<std::string> namesIn(const std::string &shape) {
  std::vector<std::string> names = {""};
  for (const char *name : {"B", "M", "N", "K"})
    if (("," + shape + ",").find(name) != std::string::npos && shape.find('*') == std::string::npos)
      names.push_back(name);
  if (shape.find('*') != std::string::npos && shape[0] == 'M' && shape[1] == ',')
    names.push_back("M");
  return names;
}

TEST(Parts, EveryWayToCutEveryForm) {
  size_t accepted = 0, refused = 0;
  for (const Form &form : forms) {
    size_t before = accepted;
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
                calledBy(form) + "program p[B, M, N, K](a: " + placed(form.a, cutA) +
                ", b: " + placed(form.b, cutB) +
                ", sizes: f32[B, M, N, K]) -> (y: " + placed(form.result, cutY) +
                ") at host\nwhere N >= 1, M >= 1\n{\n    let _s = sizes\n    y = " + value +
                "\n}\n";
            CheckedText checked(text);
            if (!checked.ok()) {
              ++refused;
              expectPlacementErrors(checked, text);
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
    EXPECT_GT(accepted, before) << form.text;
  }
  EXPECT_GT(accepted, 150u);
  EXPECT_GT(refused, 1000u);
}

// ---- Two levels --------------------------------------------------------------------------------

/// Ways to lie over two levels, drawn: for every form, with movements over both levels behind it.
TEST(Parts, FormsOverTwoLevels) {
  std::mt19937_64 random(7);
  auto pick = [&](const std::vector<std::string> &from) { return from[random() % from.size()]; };
  size_t accepted = 0, refused = 0;
  const char *more = std::getenv("PTL_RANDOM_PROGRAMS");
  size_t rounds = more ? std::strtoull(more, nullptr, 10) : 4000;
  for (size_t round = 0; round < rounds; ++round) {
    const Form &form = forms[round % std::size(forms)];
    std::string value = form.text;
    for (const char *level : {"chip", "host"}) {
      std::string move = pick({"", "", "all_reduce", "all_gather", "all_reduce", "all_gather",
                               "reduce_scatter", "all_to_all"});
      std::string by = pick(namesIn(form.result));
      bool takesBy = move == "reduce_scatter" || move == "all_to_all";
      if (!move.empty() && !(takesBy && by.empty()))
        value = move + "(" + value + ", over: " + level + (takesBy ? ", by: " + by : "") + ")";
    }
    auto drawn = [&](const char *shape) {
      return placedOver(shape, pick(namesIn(shape)), pick(namesIn(shape)));
    };
    std::string text =
        calledBy(form) + "program p[B, M, N, K](a: " + drawn(form.a) + ", b: " + drawn(form.b) +
        ", sizes: f32[B, M, N, K] over host by B, chip by M) -> (y: " + drawn(form.result) +
        ") at pod\nwhere N >= 1, M >= 1\n{\n    let _s = sizes\n    y = " + value + "\n}\n";
    CheckedText checked(text);
    if (!checked.ok()) {
      ++refused;
      expectPlacementErrors(checked, text);
      continue;
    }
    ++accepted;
    std::map<char, int64_t> sizes = {{'B', 3}, {'M', 5}, {'N', 7}, {'K', 4}};
    std::vector<Value> args = {numbers(sizesOf(form.a, sizes), 1),
                               numbers(sizesOf(form.b, sizes), 2), numbers({3, 5, 7, 4}, 3)};
    for (auto [hosts, chips] : {std::pair(1u, 3u), {2u, 2u}, {3u, 2u}, {2u, 4u}})
      EXPECT_EQ(compareOnShape(checked, *checked.find("p"), args,
                               {{"host", hosts}, {"chip", chips}}, round),
                "")
          << text << "on " << hosts << " hosts, " << chips << " chips";
  }
  EXPECT_GT(accepted, rounds / 50);
  EXPECT_GT(refused, rounds / 4);
}

// ---- The examples ------------------------------------------------------------------------------

TEST(Parts, ExampleOnManyParts) {
  CheckedText checked(projectText("examples/cluster/mlp.ptl"));
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
    auto placed = checked.placed(decl);
    ASSERT_TRUE(placed);
    RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, layer);
    for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u, 16u}) {
      PartsOptions options;
      options.shape = {{"chip", parts}};
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

TEST(Parts, ScansOfFunctions) {
  CheckedText checked(R"(
fn larger(a: f32[..], b: f32[..]) -> f32[..]
where associative
{
    return max(a, b)
}
fn joined(s: f32[..], p: f32[..], s2: f32[..], p2: f32[..]) -> (f32[..], f32[..])
where associative
{
    return (s * p2 + s2, p * p2)
}
program p[M](a: f32[M, 7] over chip by M) -> (y: f32[M, 7] over chip by M, z: f32[M, 1] over chip by M, h: f32[M, 7] over chip by M) at host {
    y = scan(larger, a, start: -inf, axis: 1)
    z = reduce(larger, a, start: -inf, axis: 1)
    let (s, _p) = scan(joined, a, ones(f32[M, 7]) * 2.0, start: (0.0, 1.0), axis: 1)
    h = s
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (int64_t rows : {0, 1, 5})
    for (uint32_t parts : {1u, 2u, 3u, 7u})
      EXPECT_EQ(compareOnParts(checked, *checked.find("p"), {numbers({rows, 7}, 1)}, parts, 3), "");
}

TEST(Parts, TruthOfAllParts) {
  CheckedText checked(R"(
program p[M, N](a: f32[M, N] over chip by M) -> (any: i32[1, N], all: i32[1, 1], some: i32[1, N] over chip by N) at host {
    any = i32(all_reduce(any(a > 1.0, axis: 0), over: chip))
    all = i32(all_reduce(all(a > -3.0, axis: [0, 1]), over: chip))
    some = i32(reduce_scatter(any(a == 2.0, axis: 0), over: chip, by: N))
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (const std::vector<int64_t> &shape :
       std::vector<std::vector<int64_t>>{{5, 3}, {1, 4}, {0, 2}})
    for (uint32_t parts : {1u, 2u, 3u, 7u})
      EXPECT_EQ(compareOnParts(checked, *checked.find("p"), {numbers(shape, 1)}, parts, 3), "");
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
  auto placed = checked.placed(decl);
  ASSERT_TRUE(placed);
  PartsOptions options;
  options.shape = {{"chip", 4}};
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
