// Helpers shared by the tests of programs on parts.
#pragma once

#include "codegen/parts/run_parts.h"
#include "frontend/sema/check.h"
#include "frontend/sema/placement/place_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace ptl::parts {

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
  /// The placed program of a declaration; nothing if it cannot be placed.
  std::optional<PlacedProgram> placed(const CallableDecl &decl) const {
    DiagnosticSink problems;
    return placeProgram(*program, *decl.module->tree, decl, problems);
  }
};

/// Computes stretches from their texts, on the reference executor: what code of another kind gets is said by them alone. Of some
/// stretches it says that it cannot, as the seed draws.
class CodeFromText : public PartCode {
public:
  /// `refuses`: of so many stretches one is left to the caller; 0: none.
  explicit CodeFromText(uint64_t seed, uint64_t refuses = 0)
      : PartCode(0), calls_(seed), refuses_(refuses) {}

  std::optional<std::vector<Value>> compute(const std::string &text,
                                            const std::vector<Value> &inputs) override {
    if (refuses_ > 0 && ++calls_ % refuses_ == 0)
      return std::nullopt;
    std::unique_ptr<CheckedText> &checked = checked_[text];
    if (!checked)
      checked = std::make_unique<CheckedText>(text);
    if (!checked->ok()) {
      wrong += text + checked->errors();
      return std::nullopt;
    }
    RunResult result = reference::runEntry(*checked->program, checked->sources,
                                           *checked->program->modules[0]->callables.back(), inputs);
    ++computed;
    return result.ok() ? std::optional(std::move(result.outputs)) : std::nullopt;
  }

  std::string wrong; ///< texts that are no programs
  size_t computed = 0;

private:
  std::map<std::string, std::unique_ptr<CheckedText>> checked_;
  uint64_t calls_, refuses_;
};

/// Machines of one level: few and many chips, powers of two and others.
inline std::vector<MachineShape> someChips() {
  std::vector<MachineShape> shapes;
  for (uint32_t chips : {1u, 2u, 3u, 4u, 5u, 8u})
    shapes.push_back({{"chip", chips}});
  return shapes;
}

/// Integers from -3 to 3 in an order whose period divides no extent of the shape.
inline Value numbers(std::vector<int64_t> shape, int64_t salt, ElemKind elem = ElemKind::F32) {
  RefArray array = reference::zeroArray(elem, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i) {
    int64_t number = (i * 5 + salt * 11 + i / 7 * 3) % 7 - 3;
    array.set(i,
              array.isReal() ? Scalar::real(static_cast<double>(number)) : Scalar::integer(number));
  }
  return Value::array(std::move(array));
}

/// The same as whole numbers of 32 bits.
inline Value ints(std::vector<int64_t> shape, int64_t salt) {
  return numbers(std::move(shape), salt, ElemKind::I32);
}

/// Whether two numbers have the same value, as `==` compares them: both zeros are equal, and here all that are not a
/// number. `tolerance` is relative to the larger number, for values that are rounded on the way.
inline bool isSameNumber(Scalar x, Scalar y, double tolerance) {
  bool bothNan = x.f != x.f && y.f != y.f;
  bool isNear =
      x.f == y.f || std::abs(x.f - y.f) <= tolerance * std::max(std::abs(x.f), std::abs(y.f));
  return bothNan || (isNear && x.i == y.i);
}

inline std::string difference(const Value &a, const Value &b, double tolerance = 0) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()))
    return "other shapes";
  if (a.elem() != b.elem())
    return "other types of elements";
  bool isSame = true;
  if (a.isScalar())
    isSame = isSameNumber(a.asScalar().scalar, b.asScalar().scalar, tolerance);
  else
    for (int64_t i = 0; i < a.asArray().count(); ++i)
      isSame &= isSameNumber(a.asArray().at(i), b.asArray().at(i), tolerance);
  return isSame ? "" : reference::valueText(a) + " is not " + reference::valueText(b);
}

/// The first difference between a run and the same one where the texts of stretches are executed.
inline std::string differenceWithCode(const CheckedText &checked, const PlacedProgram &placed,
                                      const std::vector<Value> &args, PartsOptions options,
                                      const RunResult &expected) {
  CodeFromText code(options.seed, options.seed % 3 == 0 ? 3 : 0);
  options.code = &code;
  RunResult result = runOnParts(*checked.program, checked.sources, placed, args, options);
  if (!result.ok() || !code.wrong.empty())
    return "by texts: " + result.message + code.wrong;
  for (auto [made, wanted] :
       {std::pair(&result.outputs, &expected.outputs), std::pair(&result.inouts, &expected.inouts)})
    for (size_t i = 0; i < wanted->size(); ++i)
      if (std::string why = difference((*made)[i], (*wanted)[i]); !why.empty())
        return "by texts: " + why;
  return {};
}

/// Runs an entry on the reference executor and on parts, and returns the first difference. With
/// `mayStop`, both may also stop.
inline std::string compareOnShape(const CheckedText &checked, const CallableDecl &decl,
                                  const std::vector<Value> &args, const MachineShape &shape,
                                  uint64_t seed, double tolerance = 0, bool mayStop = false) {
  auto placed = checked.placed(decl);
  if (!placed)
    return "not placed";
  reference::RunOptions asWhole;
  std::string why;
  // The reference ignores where arrays lie, but not how many parts there are.
  giveCounts(decl, Grid(placed->levels, countsOn(placed->levels, shape, why)), asWhole.dims);
  std::vector<std::string> expectedLines, lines;
  asWhole.print = [&](const std::string &line) { expectedLines.push_back(line); };
  RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, args, asWhole);
  PartsOptions options;
  options.shape = shape;
  options.seed = seed;
  options.entry.print = [&](const std::string &line) { lines.push_back(line); };
  RunResult result = runOnParts(*checked.program, checked.sources, *placed, args, options);
  if (mayStop && !expected.ok() && !result.ok())
    return {};
  if (!expected.ok() || !result.ok())
    return expected.message + " / " + result.message;
  if (lines != expectedLines)
    return "other lines";
  lines.clear();
  if (std::string why = differenceWithCode(checked, *placed, args, options, result); !why.empty())
    return why;
  if (lines != expectedLines)
    return "by texts: other lines";
  for (size_t i = 0; i < expected.outputs.size(); ++i)
    if (std::string why = difference(result.outputs[i], expected.outputs[i], tolerance);
        !why.empty())
      return why;
  if (result.inouts.size() != expected.inouts.size())
    return "other `inout`s";
  for (size_t i = 0; i < expected.inouts.size(); ++i)
    if (std::string why = difference(result.inouts[i], expected.inouts[i], tolerance); !why.empty())
      return why;
  return {};
}

inline std::string compareOnParts(const CheckedText &checked, const CallableDecl &decl,
                                  const std::vector<Value> &args, uint32_t parts, uint64_t seed) {
  return compareOnShape(checked, decl, args, {{"chip", parts}}, seed);
}

inline std::string placed(const std::string &shape, const std::string &by) {
  return "f32[" + shape + "]" + (by.empty() ? "" : " over chip by " + by);
}

inline std::vector<int64_t> sizesOf(const std::string &shape,
                                    const std::map<char, int64_t> &sizes) {
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

/// ` over host by M, chip by N`; an empty name leaves a level out.
inline std::string placedOver(const std::string &shape, const std::string &host,
                              const std::string &chip) {
  std::string text = "f32[" + shape + "]";
  if (!host.empty() && host == chip)
    return text + " over host, chip by " + host;
  if (!host.empty())
    text += " over host by " + host + (chip.empty() ? "" : ", chip by " + chip);
  else if (!chip.empty())
    text += " over chip by " + chip;
  return text;
}

/// The text of a file of the project, by its path from the root.
inline std::string projectText(const std::string &path) {
  std::ifstream file(PTL_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Entries by name, with their arguments.
using Calls = std::vector<std::pair<std::string, std::vector<Value>>>;

/// Expects that calls of the entries of a file agree with the reference on all shapes, in two orders of delivery.
inline void expectAgreement(const std::string &file, const Calls &calls,
                            const std::vector<MachineShape> &shapes) {
  CheckedText checked(projectText(file));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (const MachineShape &shape : shapes)
    for (uint64_t seed : {1u, 7u})
      for (const auto &[name, args] : calls) {
        std::string text = name;
        for (const auto &[level, count] : shape)
          text += ", " + std::to_string(count) + " " + level + "s";
        EXPECT_EQ(compareOnShape(checked, *checked.find(name), args, shape, seed), "")
            << text << ", seed " << seed;
      }
}

/// Checks that everything that is refused is refused because of the placement of its arrays.
inline void expectPlacementErrors(const CheckedText &checked, const std::string &text) {
  for (const Diagnostic &each : checked.sink.all())
    EXPECT_TRUE(std::string_view(diagInfo(each.id).code).starts_with("E10") ||
                each.severity != Severity::Error)
        << text << checked.errors();
}

} // namespace ptl::parts
