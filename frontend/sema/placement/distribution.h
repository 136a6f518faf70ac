// `over chip by D` in the headers of programs.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// The levels of the machine, from the ground up.
inline constexpr std::string_view levelNames[] = {"core", "die",      "chip",    "host",
                                                  "pod",  "superpod", "cluster", "global"};

/// No node if the type has none.
inline NodeId distributionOf(const Tree &tree, NodeId type) {
  return type != kNoNode && tree.is(type, NodeKind::ArrayType)
             ? ArrayTypeView(tree, type).distribution()
             : kNoNode;
}

/// Calls `visit` with each `over … by …` of a header.
template <typename Visit> void forEachDistribution(const Tree &tree, NodeId decl, Visit visit) {
  for (uint32_t slot : {2u, 3u}) {
    NodeId list = tree.child(decl, slot);
    if (list == kNoNode)
      continue;
    for (NodeId item : tree.children(list)) {
      NodeId type = kNoNode;
      if (tree.is(item, NodeKind::Param))
        type = ParamView(tree, item).type();
      else if (tree.is(item, NodeKind::Result))
        type = ResultView(tree, item).type();
      if (NodeId node = distributionOf(tree, type); node != kNoNode)
        visit(node);
    }
  }
}

/// The one level that the header speaks of, below that of the program; reports otherwise.
inline std::optional<std::string> levelOf(const Tree &tree, const CallableDecl &decl,
                                          DiagnosticSink &sink) {
  std::optional<std::string> level;
  bool isRight = true;
  auto rank = [](std::string_view name) {
    return std::ranges::find(levelNames, name) - std::ranges::begin(levelNames);
  };
  std::string own = decl.level.empty() ? "chip" : decl.level;
  forEachDistribution(tree, decl.syntax, [&](NodeId node) {
    NodeId word = DistributionView(tree, node).level();
    std::string name(tree.text(word));
    if (!isRight)
      return;
    isRight =
        rank(name) < rank(own) && name != "core" && name != "die" && (!level || *level == name);
    if (!isRight) {
      auto report =
          sink.report(DiagId::BadDistribution, tree.span(word),
                      {"over " + name, level && *level != name
                                           ? "other arrays of `" + decl.name + "` lie over `" +
                                                 *level + "`, and a program has one level"
                                           : "`" + decl.name + "` is a program of one " + own +
                                                 ", which has no `" + name + "`s to lie over"});
      if (!level && rank(name) >= rank(own) && rank(name) + 1 < std::ssize(levelNames))
        report.help("say who orchestrates them: `at " +
                    std::string(levelNames[static_cast<size_t>(rank(name)) + 1]) +
                    "` behind the results");
    }
    level = name;
  });
  return isRight ? level : std::nullopt;
}

} // namespace ptl
