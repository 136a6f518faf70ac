#include "frontend/sema/module_index.h"

namespace ptl {

bool isNamed(const Tree &tree, NodeId node, DeclSpace &space) {
  switch (tree.kind(node)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    space = DeclSpace::Callable;
    return true;
  case NodeKind::StructDecl:
    space = DeclSpace::Struct;
    return true;
  case NodeKind::TypeDecl:
    space = DeclSpace::Alias;
    return true;
  case NodeKind::ConstDecl:
    space = DeclSpace::Const;
    return true;
  default:
    return false;
  }
}

} // namespace ptl
