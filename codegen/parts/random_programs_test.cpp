// Random programs over two levels, and what becomes of them with a wrong movement or placement.
#include "codegen/parts/parts_test_util.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <random>

namespace ptl::parts {
namespace {

/// Grows programs statement by statement: a random statement stays if the checker accepts it. Values
/// stay whole numbers that `f32` holds exactly.
class RandomProgram {
public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    for (const char *name : {"a", "b", "c"}) {
      std::string shape = pick(std::vector<std::string>{"M, N", "N, K", "M, K", "K, N", "N"});
      header_ += std::string(header_.empty() ? "" : ", ") + name + ": " + drawnPlace(shape);
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
    for (const char *inner : {"", "all_reduce", "all_gather"})
      for (const char *outer : {"", "all_reduce", "all_gather"})
        for (const std::string &host : ways)
          for (const std::string &chip : ways)
            if (isAccepted(around(outer, "host", around(inner, "chip", last.text)),
                           placedOver(last.shape, host, chip)))
              return true;
    return isAccepted("reshard(" + last.text + ", over: chip, by: " + last.shape[0] + ")",
                      placedOver(last.shape, "", std::string(1, last.shape[0])));
  }

  std::string text;
  size_t refused = 0;
  std::vector<std::string> shapes() const {
    return {values_[0].shape, values_[1].shape, values_[2].shape};
  }

  /// Programs that differ from the accepted one in one movement or one placement.
  std::vector<std::string> planted() {
    std::vector<std::string> wrong;
    for (const char *name :
         {"all_reduce(", "all_gather(", "reduce_scatter(", "all_to_all(", "shift(", "reshard("})
      for (size_t at = 0; (at = text.find(name, at)) != text.npos; ++at)
        for (const char *other : {"all_reduce(", "all_gather("})
          if (std::string(name) != other)
            wrong.push_back(text.substr(0, at) + other + text.substr(at + std::strlen(name)));
    for (auto [from, to] : {std::pair("over: chip", "over: host"),
                            {"over: host", "over: chip"},
                            {"over chip by", "over host by"},
                            {"over host by", "over chip by"}})
      for (size_t at = 0; (at = text.find(from, at)) != text.npos; ++at)
        wrong.push_back(text.substr(0, at) + to + text.substr(at + std::strlen(from)));
    return wrong;
  }
  /// One that cannot be right: a sum that is owed no more is added again.
  std::string plantedTwice() const {
    size_t at = text.rfind("y = ");
    return text.substr(0, at + 4) + "all_reduce(all_reduce(" +
           text.substr(at + 4, text.size() - at - 7) + ", over: chip), over: chip)\n}\n";
  }

private:
  struct RandomValue {
    std::string text, shape;
    int64_t bound = 0;
  };
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[random_() % from.size()];
  }
  std::string drawnAxis(const std::string &shape) {
    return std::string(1, shape[3 * (random_() % ((shape.size() + 2) / 3))]);
  }
  std::string drawnPlace(const std::string &shape) {
    switch (random_() % 8) {
    case 0:
      return "f32[" + shape + "] partial(+) over " + pick(std::vector<std::string>{"host", "chip"});
    case 1:
      return "f32[" + shape + "] at " + pick(std::vector<std::string>{"host", "chip"}) + " 0";
    default:
      return placedOver(shape, random_() % 2 ? drawnAxis(shape) : "",
                        random_() % 2 ? drawnAxis(shape) : "");
    }
  }
  std::string level() { return random_() % 2 ? "host" : "chip"; }
  static std::string around(const std::string &move, const std::string &level,
                            const std::string &value) {
    return move.empty() ? value : move + "(" + value + ", over: " + level + ")";
  }
  bool isAccepted(const std::string &value, const std::string &place) {
    text = "program p[M, N, K](" + header_ +
           ", sizes: f32[M, N, K] over host by N, chip by M) -> (y: " + place +
           ") at pod {\n    let _s = sizes\n";
    for (const std::string &let : lets_)
      text += let;
    text += "    y = " + value + "\n}\n";
    return CheckedText(text).ok();
  }
  RandomValue statement() {
    const RandomValue &a = pick(values_), &b = pick(values_);
    bool isMatrix = a.shape.size() == 4 && b.shape.size() == 4;
    switch (random_() % 13) {
    case 10:
      return reduction(a);
    case 11:
      return a.shape == b.shape
                 ? RandomValue{(random_() % 2 ? "max(" : "min(") + a.text + ", " + b.text + ")",
                               a.shape, std::max(a.bound, b.bound)}
                 : RandomValue();
    case 12:
      return {"f32(i32(" + a.text + "))", a.shape, a.bound};
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
    default:
      return movement(a);
    }
  }
  /// `sum(a, axis: 0)`, which leaves an axis of one position.
  RandomValue reduction(const RandomValue &a) {
    size_t axis = random_() % ((a.shape.size() + 2) / 3);
    std::string name = pick(std::vector<std::string>{"sum", "max", "min"}), shape = a.shape;
    shape[3 * axis] = '1';
    return {name + "(" + a.text + ", axis: " + std::to_string(axis) + ")", shape,
            name == "sum" ? 7 * a.bound : a.bound};
  }
  RandomValue movement(const RandomValue &a) {
    std::string axis = drawnAxis(a.shape);
    switch (random_() % 6) {
    case 0:
      return {"shift(" + a.text + ", over: " + level() +
                  ", by: " + std::to_string(static_cast<int>(random_() % 5) - 2) + ")",
              a.shape, a.bound};
    case 1:
      return {random_() % 2 ? "broadcast(" + a.text + ", over: " + level() + ")"
                            : "send(" + a.text + ", over: " + level() + ", to: 0)",
              a.shape, a.bound};
    case 2:
      return {random_() % 2 ? "reshard(" + a.text + ", over: " + level() + ", by: " + axis + ")"
                            : "reshard(" + a.text + ", over: [host, chip], by: [" + axis + ", " +
                                  drawnAxis(a.shape) + "])",
              a.shape, a.bound};
    case 3:
      return {pick(std::vector<std::string>{"reduce_scatter", "all_to_all"}) + "(" + a.text +
                  ", over: " + level() + ", by: " + axis + ")",
              a.shape, 7 * a.bound};
    default:
      return {around(pick(std::vector<std::string>{"all_reduce", "all_gather"}), level(), a.text),
              a.shape, 7 * a.bound};
    }
  }

  std::mt19937_64 random_;
  std::string header_;
  std::vector<RandomValue> values_;
  std::vector<std::string> lets_;
};

/// The same program where the two levels are the axes of a mesh of chips.
std::string asMesh(std::string text, uint32_t columns) {
  auto replaceWord = [&](const std::string &word, const std::string &with) {
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += with.size()) {
      bool isWord = !std::isalnum(static_cast<unsigned char>(text[at - 1])) &&
                    !std::isalnum(static_cast<unsigned char>(text[at + word.size()]));
      if (isWord)
        text.replace(at, word.size(), with);
    }
  };
  replaceWord("host", "rows");
  replaceWord("chip", "columns");
  size_t level = text.find(") at pod {");
  return text.replace(level, 10,
                      ") at host mesh chip as rows, columns: " + std::to_string(columns) + " {");
}

/// `PTL_RANDOM_PROGRAMS` says how many.
TEST(Parts, RandomPrograms) {
  size_t statements = 0, refused = 0, programs = 0, planted = 0, plantedRefused = 0;
  const char *more = std::getenv("PTL_RANDOM_PROGRAMS");
  uint64_t seeds = more ? std::strtoull(more, nullptr, 10) : 200;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    RandomProgram program(seed);
    program.grow(1 + seed % 7);
    refused += program.refused;
    if (!program.finish())
      continue;
    ++programs;
    statements += seed % 7 + 1;
    std::map<char, int64_t> sizes = {{'M', 1 + static_cast<int64_t>(seed % 6)},
                                     {'N', 7},
                                     {'K', static_cast<int64_t>(seed % 4) + 2}};
    std::vector<Value> args;
    for (const std::string &shape : program.shapes())
      args.push_back(numbers(sizesOf(shape, sizes), static_cast<int64_t>(args.size())));
    args.push_back(numbers({sizes['M'], sizes['N'], sizes['K']}, 3));
    auto compare = [&](const std::string &text) {
      CheckedText checked(text);
      if (!checked.ok())
        return false;
      for (auto [hosts, chips] :
           {std::pair(1u, 1u), {1u, 2u}, {3u, 1u}, {2u, 2u}, {1u, 5u}, {4u, 2u}, {2u, 8u}})
        EXPECT_EQ(compareOnShape(checked, *checked.find("p"), args,
                                 {{"host", hosts}, {"chip", chips}}, seed),
                  "")
            << text << "on " << hosts << " hosts, " << chips << " chips";
      return true;
    };
    ASSERT_TRUE(compare(program.text));
    uint32_t columns = 1 + static_cast<uint32_t>(seed % 4);
    CheckedText mesh(asMesh(program.text, columns));
    ASSERT_TRUE(mesh.ok()) << asMesh(program.text, columns) << mesh.errors();
    for (uint32_t rows : {1u, 2u, 3u})
      EXPECT_EQ(compareOnShape(mesh, *mesh.find("p"), args, {{"chip", rows * columns}}, seed), "")
          << program.text << "on a mesh of " << rows << " times " << columns;
    // What is accepted with another movement or placement must mean the same.
    for (const std::string &text : program.planted()) {
      ++planted;
      plantedRefused += !compare(text);
    }
    EXPECT_FALSE(CheckedText(program.plantedTwice()).ok()) << program.plantedTwice();
  }
  EXPECT_GT(programs, seeds / 2);
  EXPECT_GT(statements, 2 * seeds);
  EXPECT_GT(refused, seeds / 2);
  EXPECT_GT(plantedRefused, planted / 2);
}

} // namespace
} // namespace ptl::parts
