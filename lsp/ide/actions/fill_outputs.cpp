// A kernel, program or `fn` that does not give its results gets the statements that do, with zeros.
#include "lsp/ide/actions/refactoring.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"

#include <algorithm>

namespace ptl::ide {
namespace {

const CallableDecl *callableOf(const ActionContext &context, NodeId declaration) {
  for (const CallableDecl *decl : context.check.program->modules[0]->callables)
    if (decl->syntax == declaration && decl->span.file == context.chunk->id())
      return decl;
  return nullptr;
}

bool isMissing(DiagId id) {
  // An output that is partly written would be overwritten; for it an initial value is the fix.
  return id == DiagId::OutputNeverWritten || id == DiagId::MissingResult;
}

/// At the report, or anywhere in the header of what it is about.
bool isHere(const ActionContext &context, const Diagnostic &diagnostic) {
  Range selected = context.selected;
  if (diagnostic.span.begin <= selected.end && selected.begin <= diagnostic.span.end)
    return true;
  const Tree &tree = context.tree;
  NodeId declaration = enclosingDecl(tree, tree.nodeAt(diagnostic.span.begin));
  return declaration != kNoNode && tree.span(declaration).begin <= selected.begin &&
         selected.end <= signatureEnd(tree, declaration) + 1;
}

std::vector<const Diagnostic *> missingHere(const ActionContext &context) {
  std::vector<const Diagnostic *> found;
  for (const Diagnostic &diagnostic : context.check.diagnostics)
    if (isMissing(diagnostic.id) && isHere(context, diagnostic))
      found.push_back(&diagnostic);
  return found;
}

std::string scalarZero(const Type &type) {
  if (type.elem.param)
    return type.elem.param->name + "(0)";
  switch (type.elem.kind) {
  case ElemKind::Bool:
    return "false";
  case ElemKind::F32:
    return "0.0";
  case ElemKind::Int:
    return "0";
  default:
    return toString(type.elem) + "(0)";
  }
}

/// An expression of the type; empty if there is none to be had.
std::string zeroOf(const DimContext &dims, const Type &type) {
  if (type.isScalar())
    return scalarZero(type);
  if (type.isArray()) {
    Type plain = type;
    plain.place = ptl::Place::Inferred;
    plain.layout = Layout::Inferred;
    plain.strides.clear();
    return "zeros(" + toString(dims, plain) + ")";
  }
  if (type.kind != TypeKind::Tuple)
    return "";
  std::string text = "(";
  for (const Type *element : type.elements) {
    std::string zero = zeroOf(dims, *element);
    if (zero.empty())
      return "";
    text += (text.size() > 1 ? ", " : "") + zero;
  }
  return text + ")";
}

/// Adds lines at the end of a block.
Edit atEndOf(const ActionContext &context, NodeId block, const std::string &lines) {
  const Tree &tree = context.tree;
  Span span = tree.span(block);
  std::string outer(indentAt(context.text(), span.begin));
  std::string inner = outer + "    ", text;
  bool isEmpty = tree.children(block).empty();
  size_t last = isEmpty ? span.begin + 1 : tree.span(tree.children(block).back()).end;
  for (size_t at = 0; at < lines.size();) {
    size_t end = std::min(lines.find('\n', at), lines.size());
    text += "\n" + inner + lines.substr(at, end - at);
    at = end + 1;
  }
  uint32_t begin = static_cast<uint32_t>(last), end = span.end - 1;
  // A comment behind the last statement stays.
  std::string_view rest = context.text().substr(begin, end - begin);
  if (rest.find_first_not_of(" \t\r\n;") != rest.npos) {
    size_t lineEnd = rest.find_last_not_of(" \t\r\n") + 1;
    begin += static_cast<uint32_t>(lineEnd);
  }
  return {{begin, end}, text + "\n" + outer};
}

/// One loop of a kernel over an axis.
struct Axis {
  std::string index;  ///< `r`, or `:`
  std::string extent; ///< of the zeros; empty: the axis is dropped
};

/// The value and the store of an output in a place where axes are given.
std::string store(const Local &output, const std::vector<Axis> &axes) {
  std::string indices, extents;
  for (const Axis &axis : axes) {
    indices += (indices.empty() ? "" : ", ") + axis.index;
    if (!axis.extent.empty())
      extents += (extents.empty() ? "" : ", ") + axis.extent;
  }
  Type element = *output.type;
  element.kind = TypeKind::Scalar;
  std::string value = extents.empty()
                          ? scalarZero(element)
                          : "zeros(" + toString(output.type->elem) + "[" + extents + "])";
  return output.name + "[" + indices + "] = " + value;
}

/// The loops of a `parallel` that run over all of an axis, each axis its own.
std::vector<Axis> axesUnder(const ActionContext &context, NodeId parallel, const Local &output) {
  const Tree &tree = context.tree;
  std::vector<Axis> axes;
  // Each loop serves one axis: two axes of the same length need two loops.
  std::vector<NodeId> taken;
  for (const Extent &extent : output.type->extents) {
    std::string length = toString(context.dims(), extent);
    Axis axis{":", length};
    for (NodeId binding : tree.children(LoopView(tree, parallel).bindings())) {
      if (!tree.is(binding, NodeKind::LoopBinding) ||
          std::find(taken.begin(), taken.end(), binding) != taken.end())
        continue;
      NodeId domain = tree.child(binding, 1);
      std::string name = context.text(tree.child(binding, 0));
      bool isTiles = tree.is(domain, NodeKind::CallExpr) && tree.children(domain).size() == 3 &&
                     tree.text(tree.child(domain, 0)) == "tiles" &&
                     tree.text(tree.child(domain, 1)) == length;
      bool isRange = tree.is(domain, NodeKind::RangeExpr) &&
                     tree.text(tree.child(domain, 0)) == "0" &&
                     tree.text(tree.child(domain, 1)) == length;
      if (!isTiles && !isRange)
        continue;
      axis = {name, isTiles ? name : ""};
      taken.push_back(binding);
      break;
    }
    axes.push_back(axis);
  }
  return taken.empty() ? std::vector<Axis>() : axes;
}

/// A `parallel` of its own that covers an output.
std::string parallelFor(const ActionContext &context, const Bindings &bindings,
                        const Local &output) {
  std::string heads;
  std::vector<Axis> axes;
  const auto &extents = output.type->extents;
  const char *const names[] = {"i", "j", "k", "l"};
  for (size_t i = 0; i < extents.size(); ++i) {
    size_t fromEnd = extents.size() - 1 - i;
    std::string name = bindings.fresh(names[i % 4]);
    std::string length = toString(context.dims(), extents[i]);
    bool isTile = fromEnd < 2;
    heads += (heads.empty() ? "" : ", ") + name + " in ";
    heads += isTile ? "tiles(" + length + ", " +
                          (extents.size() == 1 ? "4096"
                           : fromEnd == 0      ? "256"
                                               : "16") +
                          ")"
                    : "0.." + length;
    axes.push_back({name, isTile ? name : ""});
  }
  return "parallel " + heads + " {\n    " + store(output, axes) + "\n}";
}

Outcome fillResult(const ActionContext &context, NodeId body, const CallableDecl &decl) {
  std::string value = decl.returnType ? zeroOf(context.dims(), *decl.returnType) : "";
  if (value.empty())
    return refuse("its type has no simple initial value");
  return {{atEndOf(context, body, "return " + value)}, ""};
}

Outcome fillKernel(const ActionContext &context, NodeId body, const Local &output,
                   const std::string &error) {
  const Tree &tree = context.tree;
  if (output.type->prefix)
    return refuse("its number of axes is not known");
  Bindings bindings(tree, enclosingDecl(tree, body));
  std::vector<Outcome> candidates;
  for (NodeId statement : tree.children(body))
    if (tree.is(statement, NodeKind::ParallelStmt))
      if (auto axes = axesUnder(context, statement, output); !axes.empty())
        candidates.push_back(
            {{atEndOf(context, LoopView(tree, statement).body(), store(output, axes))}, ""});
  candidates.push_back({{atEndOf(context, body, parallelFor(context, bindings, output))}, ""});
  for (const Outcome &candidate : candidates) {
    Trial trial = context.tryEdits(candidate.edits);
    if (trial.added.empty() &&
        std::find(trial.errors.begin(), trial.errors.end(), error) == trial.errors.end())
      return candidate;
  }
  return refuse("no simple loop writes all of it");
}

} // namespace

std::vector<Offer> fillOutputsOffers(const ActionContext &context) {
  std::vector<Offer> offers;
  int variant = 0;
  for (const Diagnostic *diagnostic : missingHere(context)) {
    bool isResult = diagnostic->id == DiagId::MissingResult;
    std::string name(context.text().substr(diagnostic->span.begin,
                                           diagnostic->span.end - diagnostic->span.begin));
    offers.push_back(
        {isResult ? "Return zeros" : "Write `" + name + "` with zeros", variant++, diagnostic});
  }
  return offers;
}

Outcome fillOutputsEdits(const ActionContext &context, int variant) {
  auto missing = missingHere(context);
  if (variant < 0 || static_cast<size_t>(variant) >= missing.size())
    return refuse("this action is no longer available here");
  const Diagnostic &diagnostic = *missing[static_cast<size_t>(variant)];
  const Tree &tree = context.tree;
  NodeId declaration = enclosingDecl(tree, tree.nodeAt(diagnostic.span.begin));
  const CallableDecl *decl = callableOf(context, declaration);
  if (!decl || declaration == kNoNode)
    return refuse("there is no declaration around it");
  NodeId body = CallableView(tree, declaration).body();
  if (!tree.is(body, NodeKind::Block) || !context.text(body).ends_with("}"))
    return refuse("it has no body");
  if (diagnostic.id == DiagId::MissingResult)
    return fillResult(context, body, *decl);
  for (const Local *output : decl->outputs) {
    if (output->span != diagnostic.span || !output->type)
      continue;
    if (output->type->isArray() && decl->kind != DeclKind::Program)
      return fillKernel(context, body, *output,
                        std::string(diagInfo(diagnostic.id).code) + ": " + diagnostic.message);
    std::string value = zeroOf(context.dims(), *output->type);
    if (value.empty())
      return refuse("its type has no simple initial value");
    return {{atEndOf(context, body, output->name + " = " + value)}, ""};
  }
  return refuse("its type is not known");
}

} // namespace ptl::ide
