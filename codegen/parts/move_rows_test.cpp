// `dispatch` and `combine` beside the functions of the library, which ignore placement: rows and experts that do not
// divide, choices of nothing, parts without rows or experts.
#include "codegen/parts/parts_test_util.h"

namespace ptl::parts {
namespace {

constexpr const char *text = R"(
import std.experts: combine, dispatch
program p[M, K, D, E](x: f32[M, D] over chip by M, to: i32[M, K] over chip by M, w: f32[M, K], scale: f32[E, 1, 1] over chip by E, cap: int)
    -> (sent: f32[E, cap, D] over chip by E, back: f32[M, D] over chip by M)
    at host
where cap > 0
{
    let rows = dispatch(x, to, E, cap, over: chip)
    sent = rows
    back = combine(rows * scale, to, w, over: chip)
}
program columns[M, K, D, E](x: f32[M, D] over host by D, chip by M, to: i32[M, K] over chip by M, w: f32[M, K], scale: f32[E, 1, 1] over chip by E, cap: int)
    -> (back: f32[M, D] over host by D, chip by M)
    at pod
where cap > 0
{
    back = combine(dispatch(x, to, E, cap, over: chip) * scale, to, w, over: chip)
}
program all_chips[M, K, D, E](x: f32[M, D] over host, chip by M, to: i32[M, K] over host, chip by M, w: f32[M, K], scale: f32[E, 1, 1] over host, chip by E, cap: int)
    -> (back: f32[M, D] over host, chip by M)
    at pod
where cap > 0
{
    let rows = dispatch(x, to, E, cap, over: [host, chip])
    back = combine(rows * scale, to, w, over: [host, chip])
}
)";

/// Experts from -1 to `experts - 1`, in an order without a period of the shape.
Value choices(std::vector<int64_t> shape, int64_t experts, int64_t salt) {
  RefArray array = reference::zeroArray(ElemKind::I32, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::integer((i * 7 + salt * 3 + i / 5) % (experts + 1) - 1));
  return Value::array(std::move(array));
}

struct Sizes {
  int64_t rows, choices, columns, experts;
};
constexpr Sizes someSizes[] = {{13, 2, 5, 7}, {3, 1, 4, 9}, {16, 4, 3, 4}, {1, 3, 1, 1},
                               {0, 2, 3, 4},  {5, 2, 0, 3}, {6, 0, 2, 3}};

std::vector<Value> argumentsOf(const Sizes &sizes) {
  auto [rows, perRow, columns, experts] = sizes;
  return {numbers({rows, columns}, 1), choices({rows, perRow}, experts, rows),
          numbers({rows, perRow}, 2), numbers({experts, 1, 1}, 3),
          Value::integer(rows * perRow + 1)};
}

TEST(Rows, GoToTheirExpertsAndBack) {
  CheckedText checked(text);
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (const Sizes &sizes : someSizes)
    for (uint32_t parts : {1u, 2u, 3u, 4u, 5u, 8u, 16u})
      for (uint64_t seed = 0; seed < 4; ++seed)
        EXPECT_EQ(compareOnParts(checked, *checked.find("p"), argumentsOf(sizes), parts, seed), "")
            << sizes.rows << " rows, " << sizes.experts << " experts, " << parts << " parts";
}

TEST(Rows, GoOverAllChipsOfAllHosts) {
  CheckedText checked(text);
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (const Sizes &sizes : someSizes)
    for (auto [hosts, chips] :
         {std::pair(1u, 1u), {2u, 1u}, {1u, 3u}, {2u, 2u}, {3u, 2u}, {2u, 8u}})
      for (const char *name : {"all_chips", "columns"})
        EXPECT_EQ(compareOnShape(checked, *checked.find(name), argumentsOf(sizes),
                                 {{"host", hosts}, {"chip", chips}}, 3),
                  "")
            << name << ", " << sizes.rows << " rows, " << hosts << " hosts, " << chips << " chips";
}

/// The reason why a run on four parts ends.
std::string failureOf(const Value &to, int64_t room) {
  CheckedText checked(text);
  EXPECT_TRUE(checked.ok()) << checked.errors();
  const CallableDecl &decl = *checked.find("p");
  auto placed = checked.placed(decl);
  EXPECT_TRUE(placed);
  std::vector<Value> args = {numbers({8, 2}, 1), to, numbers({8, 1}, 2), numbers({3, 1, 1}, 3),
                             Value::integer(room)};
  PartsOptions options;
  options.shape = {{"chip", 4}};
  RunResult result = runOnParts(*checked.program, checked.sources, *placed, args, options);
  EXPECT_EQ(result.status, reference::RunStatus::Assert);
  EXPECT_EQ(reference::runEntry(*checked.program, checked.sources, decl, args).status,
            reference::RunStatus::Assert);
  return result.message;
}

TEST(Rows, MoreThanHaveRoomStopTheRun) {
  RefArray to = reference::zeroArray(ElemKind::I32, {8, 1});
  EXPECT_EQ(failureOf(Value::array(to), 7), "expert 0 gets 8 rows, and has room for 7");
  to.set(5, Scalar::integer(3));
  EXPECT_EQ(failureOf(Value::array(to), 8),
            "a row goes to expert 3, and there are 3 (choice 1 of chip 2)");
}

TEST(Rows, LieWholeOverAllOtherLevels) {
  CheckedText checked(R"(
import std.experts: dispatch
program p[M, K, D](x: f32[M, D] over host, chip by M, to: i32[M, K] over host, chip by M, cap: int) -> (y: f32[4, cap, D]) at pod
where cap > 0
{
    y = dispatch(x, to, 4, cap, over: chip)
}
)");
  EXPECT_NE(checked.errors().find("`x` is cut along `M` over the hosts"), std::string::npos)
      << checked.errors();
}

} // namespace
} // namespace ptl::parts
