#include "driver/debug/scenario.h"

#include <algorithm>

namespace ptl::debug {

using namespace reference;

std::string dimsText(const DimValues &dims) {
  std::string text;
  for (const auto &[name, value] : dims)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

namespace {

class Chooser {
public:
  Chooser(const CheckedProgram &program, const SourceManager &sources, unsigned samples,
          uint64_t seed)
      : program_(program), sources_(sources) {
    options_.samples = samples;
    options_.seed = seed;
    options_.print = [](const std::string &) {};
  }

  Scenario choose(const std::string &name, const std::map<std::string, int64_t> &dims) {
    std::vector<const CallableDecl *> blocks;
    for (const CallableDecl *decl : findTests(program_, name))
      if (isBlock(*decl) && (name.empty() || decl->name == name))
        blocks.push_back(decl);
    Scenario scenario;
    if (blocks.empty())
      scenario.problem = name.empty() ? "the file has no test or property block"
                                      : "there is no test or property `" + name + "`" + listed();
    if (blocks.empty())
      return scenario;
    scenario.block = blocks.front();
    return withDims(failingOf(blocks, scenario, dims), dims);
  }

private:
  static bool isBlock(const CallableDecl &decl) {
    return (decl.kind == DeclKind::Test || decl.kind == DeclKind::Property) && !decl.hasErrors;
  }

  std::string listed() const {
    std::string names;
    for (const CallableDecl *decl : findTests(program_))
      if (isBlock(*decl))
        names += (names.empty() ? "; there are `" : ", `") + decl->name + "`";
    return names;
  }

  /// The first of several that fails; the dimensions that make a property fail.
  Scenario failingOf(const std::vector<const CallableDecl *> &blocks, Scenario scenario,
                     const std::map<std::string, int64_t> &dims) {
    bool isSaid = blocks.size() == 1 && dims.size() >= blocks[0]->dims.size();
    for (const CallableDecl *block : blocks) {
      if (isSaid)
        break;
      TestOutcome outcome = runTest(program_, sources_, *block, options_);
      if (outcome.passed())
        continue;
      scenario.block = block;
      scenario.dims = outcome.dims;
      if (!outcome.dims.empty())
        scenario.note = "the smallest case that fails: " + dimsText(outcome.dims);
      return scenario;
    }
    return scenario;
  }

  Scenario withDims(Scenario scenario, const std::map<std::string, int64_t> &dims) {
    const CallableDecl &block = *scenario.block;
    bool isChosen = scenario.dims.empty() && !block.dims.empty();
    if (isChosen) {
      // The second sample is small, but not empty.
      std::vector<std::vector<int64_t>> shapes = sampleShapes(block.sampleRanges, 2, options_.seed);
      for (size_t i = 0; i < block.dims.size(); ++i)
        scenario.dims.emplace_back(block.dims[i].name, shapes.back()[i]);
    }
    for (const auto &[name, value] : dims) {
      auto known = std::find_if(scenario.dims.begin(), scenario.dims.end(),
                                [&](const auto &each) { return each.first == name; });
      if (known == scenario.dims.end())
        scenario.problem = "`" + block.name + "` has no dimension `" + name + "`";
      else
        known->second = value;
    }
    if (!dims.empty())
      scenario.note = "the case " + dimsText(scenario.dims);
    else if (isChosen)
      scenario.note =
          "no sample fails on the reference executor; the case " + dimsText(scenario.dims);
    return scenario;
  }

  const CheckedProgram &program_;
  const SourceManager &sources_;
  TestOptions options_;
};

} // namespace

Scenario chooseScenario(const CheckedProgram &program, const SourceManager &sources,
                        const std::string &name, const std::map<std::string, int64_t> &dims,
                        unsigned samples, uint64_t seed) {
  return Chooser(program, sources, samples, seed).choose(name, dims);
}

} // namespace ptl::debug
