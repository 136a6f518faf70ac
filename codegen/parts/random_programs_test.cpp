// Random programs over two levels beside the reference, and what becomes of them with a wrong movement or
// placement.
#include "codegen/parts/random_program_test_util.h"

#include <cstdlib>

namespace ptl::parts {
namespace {

uint64_t numberFrom(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What a program does on many shapes, beside the reference; `PTL_RANDOM_PROGRAMS` says how many of them,
/// `PTL_RANDOM_FIRST` which is the first.
class Comparison {
public:
  Comparison(const RandomProgram &program, uint64_t seed) : program_(program), seed_(seed) {
    std::map<char, int64_t> sizes = {
        {'M', static_cast<int64_t>(seed % 7)}, {'N', 7}, {'K', static_cast<int64_t>(seed % 4) + 2}};
    isEmpty_ = sizes['M'] == 0;
    for (const std::vector<std::string> &shape : program.shapes) {
      std::vector<int64_t> extents;
      for (const std::string &extent : shape)
        extents.push_back(sizes[extent[0]]);
      args_.push_back(extents.empty() ? Value::scalar(ElemKind::F32, Scalar::real(2))
                                      : numbers(extents, static_cast<int64_t>(args_.size())));
    }
    args_.push_back(numbers({sizes['M'], sizes['N'], sizes['K']}, 3));
  }

  /// Whether the checker accepts a text; what it accepts agrees with the reference.
  bool on(const std::string &text, double tolerance = 0) const {
    CheckedText checked(text);
    if (!checked.ok())
      return false;
    for (auto [hosts, chips] :
         {std::pair(1u, 1u), {1u, 2u}, {3u, 1u}, {2u, 2u}, {1u, 5u}, {4u, 2u}, {2u, 8u}})
      if (hosts > 1 || !program_.speaksOfPart1)
        compare(checked, {{"host", hosts}, {"chip", chips}},
                std::to_string(hosts) + " hosts, " + std::to_string(chips) + " chips", text,
                chips == 1, tolerance);
    return true;
  }

  void onMesh(uint32_t columns) const {
    std::string text = asMesh(program_.text, columns);
    CheckedText mesh(text);
    ASSERT_TRUE(mesh.ok()) << text << mesh.errors();
    for (uint32_t rows : {1u, 2u, 3u})
      compare(mesh, {{"chip", rows * columns}},
              "a mesh of " + std::to_string(rows) + " times " + std::to_string(columns), text,
              rows == 1 || columns == 1);
  }

private:
  void compare(const CheckedText &checked, const MachineShape &shape, const std::string &name,
               const std::string &text, bool isNarrow, double tolerance = 0) const {
    if (isNarrow && program_.speaksOfPart1)
      return;
    // A program may take position 0 of an axis that is empty, where both stop.
    EXPECT_EQ(compareOnShape(checked, *checked.find("p"), args_, shape, seed_, tolerance, isEmpty_),
              "")
        << text << "seed " << seed_ << " on " << name;
  }

  const RandomProgram &program_;
  uint64_t seed_;
  std::vector<Value> args_;
  bool isEmpty_ = false; ///< whether an axis of the arguments is empty
};

TEST(Parts, RandomPrograms) {
  size_t statements = 0, refused = 0, programs = 0, altered = 0, alteredRefused = 0, wrong = 0,
         choices = 0, pools = 0, together = 0, tasks = 0, leaving = 0, own = 0, counts = 0;
  uint64_t seeds = numberFrom("PTL_RANDOM_PROGRAMS", 150),
           first = numberFrom("PTL_RANDOM_FIRST", 0);
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    RandomProgram program(seed);
    program.grow(1 + seed % 9);
    refused += program.refused;
    if (!program.finish())
      continue;
    ++programs;
    choices += program.text.find("    if ") != std::string::npos ||
               program.text.find(" = if ") != std::string::npos;
    pools += program.text.find("keep(") != std::string::npos;
    size_t room = program.text.find("memory: ");
    together += room != std::string::npos &&
                program.text.substr(room, program.text.find('\n', room) - room).find("over:") !=
                    std::string::npos;
    own += program.text.find(" in parts(") != std::string::npos;
    counts += program.text.find("f32(chips)") != std::string::npos;
    tasks += program.text.find("submit(") != std::string::npos;
    leaving += program.text.find("break") != std::string::npos ||
               program.text.find("continue") != std::string::npos;
    statements += seed % 9 + 1;
    Comparison comparison(program, seed);
    ASSERT_TRUE(comparison.on(program.text));
    comparison.onMesh(1 + static_cast<uint32_t>(seed % 4));
    // What is accepted with another movement or placement must mean the same.
    for (const std::string &text : program.altered()) {
      ++altered;
      // Elsewhere a value that was rounded may be partial.
      alteredRefused += !comparison.on(text, program.isExact ? 0 : 1e-5);
    }
    for (const std::string &text : program.wrong()) {
      ++wrong;
      CheckedText checked(text);
      EXPECT_FALSE(checked.ok()) << text << "seed " << seed;
      expectPlacementErrors(checked, text);
    }
  }
  EXPECT_GT(programs, seeds / 2);
  EXPECT_GT(statements, 2 * seeds);
  EXPECT_GT(refused, seeds / 2);
  EXPECT_GT(alteredRefused, altered / 2);
  EXPECT_GT(wrong, programs);
  EXPECT_GT(choices, programs / 8);
  EXPECT_GT(pools, programs / 50);
  EXPECT_GT(together, programs / 100);
  EXPECT_GT(tasks, programs / 50);
  EXPECT_GT(leaving, programs / 20);
  EXPECT_GT(own, programs / 20);
  EXPECT_GT(counts, programs / 50);
  std::printf(
      "%zu programs, %zu statements, %zu refused; %zu of %zu altered ones refused, %zu "
      "wrong, %zu with choices, %zu with pools, %zu of them with one memory, %zu with "
      "tasks, %zu with loops that are left, %zu with ranges of parts, %zu with numbers of parts\n",
      programs, statements, refused, alteredRefused, altered, wrong, choices, pools, together,
      tasks, leaving, own, counts);
}

} // namespace
} // namespace ptl::parts
