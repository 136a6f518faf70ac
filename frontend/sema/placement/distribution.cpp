#include "frontend/sema/placement/distribution.h"

#include "common/read_number.h"

#include <algorithm>

namespace ptl {

namespace {

/// The levels of the machine, from the ground up.
constexpr std::string_view levelNames[] = {"core", "die",      "chip",    "host",
                                           "pod",  "superpod", "cluster", "global"};

std::ptrdiff_t rankOf(std::string_view name) {
  return std::ranges::find(levelNames, name) - std::ranges::begin(levelNames);
}

class LevelReader {
public:
  LevelReader(const Tree &tree, const CallableDecl &decl, DiagnosticSink &sink)
      : tree_(tree), decl_(decl), sink_(sink), own_(decl.level.empty() ? "chip" : decl.level) {}

  std::optional<std::vector<PlacedLevel>> run() {
    if (NodeId mesh = meshOf(tree_, decl_.syntax); mesh != kNoNode)
      readMesh(mesh);
    forEachDistribution(tree_, decl_.syntax, [&](NodeId node) {
      forEachLevelName(tree_, node, [&](NodeId name) { note(name); });
    });
    if (!isRight_)
      return std::nullopt;
    // The axes of a mesh keep their order.
    std::ranges::stable_sort(levels_, [](const PlacedLevel &a, const PlacedLevel &b) {
      return rankOf(a.machineLevel) > rankOf(b.machineLevel);
    });
    return std::move(levels_);
  }

private:
  DiagnosticBuilder refuse(Span span, std::string what, std::string why) {
    isRight_ = false;
    return sink_.report(DiagId::BadDistribution, span, {std::move(what), std::move(why)});
  }

  bool isBelow(NodeId word) {
    std::string name(tree_.text(word));
    auto rank = rankOf(name);
    if (rank < rankOf(own_) && name != "core" && name != "die")
      return true;
    auto report = refuse(tree_.span(word), "over " + name,
                         "`" + decl_.name + "` is a program of one " + own_ + ", which has no `" +
                             name + "`s to place arrays on");
    if (levels_.empty() && rank >= rankOf(own_) && rank + 1 < std::ssize(levelNames))
      report.help("add the level that runs the program: `at " +
                  std::string(levelNames[static_cast<size_t>(rank) + 1]) + "` after the results");
    return false;
  }

  void note(NodeId word) {
    std::string name(tree_.text(word));
    if (!isRight_ || std::ranges::find(levels_, name, &PlacedLevel::name) != levels_.end() ||
        !isBelow(word))
      return;
    if (std::ranges::find(levels_, name, &PlacedLevel::machineLevel) != levels_.end()) {
      refuse(tree_.span(word), "over " + name,
             "the " + name + "s of `" + decl_.name + "` are a mesh, whose axes are named instead");
      return;
    }
    levels_.push_back({name, name, std::nullopt});
  }

  void readMesh(NodeId mesh) {
    MeshClauseView view(tree_, mesh);
    if (!isBelow(view.level()))
      return;
    size_t open = 0;
    for (NodeId node : view.axes()) {
      MeshAxisView axis(tree_, node);
      PlacedLevel level{std::string(tree_.text(axis.name())), std::string(tree_.text(view.level())),
                        std::nullopt};
      bool isTaken = rankOf(level.name) < std::ssize(levelNames) ||
                     std::ranges::find(levels_, level.name, &PlacedLevel::name) != levels_.end();
      if (isTaken)
        refuse(tree_.span(node), level.name, "another level has this name");
      if (axis.count() != kNoNode && !readCount(axis.count(), level))
        refuse(tree_.span(axis.count()), level.name,
               "the number of parts of an axis must be at least 1");
      open += axis.count() == kNoNode;
      levels_.push_back(std::move(level));
    }
    // The number of parts of the open axis is what the others leave of all parts.
    if (open > 1)
      refuse(tree_.span(mesh), std::string(tree_.text(mesh)),
             "all axes of a mesh but one need a number of parts; the remaining parts belong to "
             "that one");
  }

  bool readCount(NodeId node, PlacedLevel &level) {
    level.count = integerIn<uint32_t>(tree_.text(node)).value_or(0);
    return level.count > 0;
  }

  const Tree &tree_;
  const CallableDecl &decl_;
  DiagnosticSink &sink_;
  std::string own_;
  std::vector<PlacedLevel> levels_;
  bool isRight_ = true;
};

} // namespace

NodeId meshOf(const Tree &tree, NodeId decl) {
  NodeId clause = tree.child(decl, 4);
  return clause != kNoNode && tree.is(clause, NodeKind::AtClause)
             ? AtClauseView(tree, clause).mesh()
             : kNoNode;
}

bool isMeshAxis(const Tree &tree, NodeId decl, std::string_view name) {
  NodeId mesh = meshOf(tree, decl);
  return mesh != kNoNode &&
         std::ranges::any_of(MeshClauseView(tree, mesh).axes(), [&](NodeId axis) {
           return tree.text(MeshAxisView(tree, axis).name()) == name;
         });
}

const Placement *storingStage(const PlacedProgram &placed, const PlacedValue &value) {
  if (value.kind != PlacedKind::Store)
    return nullptr;
  const Placement &given = placed.values[*value.operands[1]].placement;
  for (size_t level = 0; level < given.size(); ++level)
    if (given[level].isSingle() && given[level].stages && !value.placement[level].isSingle())
      return &given;
  return nullptr;
}

bool isPlaced(const Tree &tree, NodeId decl) {
  bool found = false;
  forEachDistribution(tree, decl, [&](NodeId) { found = true; });
  return found;
}

std::optional<std::vector<PlacedLevel>> levelsOf(const Tree &tree, const CallableDecl &decl,
                                                 DiagnosticSink &sink) {
  return LevelReader(tree, decl, sink).run();
}

} // namespace ptl
