// Which tokens form a line: files, declarations, blocks, items and what stands between them. Only for use inside `frontend/format`.
#pragma once

#include "frontend/format/layout.h"

namespace ptl {

class Structure {
public:
  Structure(const Tree &tree, const Spacing &spacing, Layout &layout)
      : tree_(tree), spacing_(spacing), layout_(layout) {}

  /// Hands all lines of the file to the layout, in order.
  void file();

private:
  /// A list of items between braces, or the file.
  struct Container {
    NodeId node = kNoNode;
    std::span<const NodeId> items;
    TokenIndex open = 0;
    TokenIndex close = 0;
  };

  void items(const Container &container, unsigned indent);
  void item(NodeId id, unsigned indent);
  size_t joinedItems(const Container &container, size_t first, unsigned indent) const;
  void headerAndBodies(NodeId id, const std::vector<Container> &bodies, unsigned indent);
  void header(NodeId id, TokenIndex end, bool hasBody, unsigned indent);
  std::vector<Container> bodiesOf(NodeId id) const;
  void collectBodies(NodeId id, std::vector<Container> &out) const;
  bool isInline(NodeId id, const std::vector<Container> &bodies, unsigned indent) const;
  bool isBroken(NodeId id) const;
  bool errorWithin(TokenIndex first, TokenIndex last) const;
  Container containerOf(NodeId id) const;

  const Tree &tree_;
  const Spacing &spacing_;
  Layout &layout_;
};

} // namespace ptl
