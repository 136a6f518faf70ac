// Turns a selection into a `fn`; see extract_fn.cpp.
#pragma once

#include "lsp/ide/actions/refactoring.h"

#include "frontend/sema/checked_tree.h"

#include <map>
#include <set>

namespace ptl::ide {

class Extraction {
public:
  explicit Extraction(const ActionContext &context);

  /// Finds the selected expression or statements; false if the selection is neither.
  bool select();
  /// Determines parameters and results; false, with a reason, if the selection cannot become a
  /// `fn`.
  bool analyse();
  const std::string &reason() const { return reason_; }
  /// `withConditions`: the new `fn` gets those `where` conditions of the enclosing declaration that
  /// mention its names.
  std::vector<Edit> edits(bool withConditions);

private:
  struct Param {
    std::string name;
    std::string type;
    std::string argument;
  };
  /// A local that statements after the selection read.
  struct Result {
    const Binding *binding = nullptr;
    bool isOutside = false; ///< a `var` from before the selection, which the selection assigns
    std::string type;
  };

  bool refuse(std::string reason);
  bool isSelected(Span span) const { return range_.begin <= span.begin && span.end <= range_.end; }
  bool isGlobalTensor(const Binding &binding) const;
  bool findAssigned();
  bool findJumps();
  bool addUse(NodeId use);
  bool addValue(const Binding &binding, NodeId use);
  /// Passes the value of an expression around `use` as a parameter, because `use` itself cannot be
  /// passed.
  bool lift(NodeId use, const Binding &binding);
  bool mayFail(NodeId node) const;
  bool findResults();
  void addResult(const Binding &binding, bool isOutside);
  bool isShape(NodeId use) const;
  void addParam(std::string name, const Type &type, std::string argument);
  std::string typeText(const Type &type, bool isParam);
  std::string extentText(const Extent &extent, bool isParam);
  void addDim(const std::string &name, const std::string &value);
  void addElem(const Elem &elem);
  std::string generics() const;
  std::string resultType() const;
  std::string conditions() const;
  std::string body();
  std::string call() const;
  std::string replacement() const;

  const ActionContext &context_;
  const Tree &tree_;
  Range range_;
  std::vector<NodeId> selected_; ///< one expression, or statements
  NodeId block_ = kNoNode;       ///< of the statements
  bool isExpression_ = false;
  bool returns_ = false; ///< the last statement is a `return`
  bool isValue_ = false; ///< the last statement is the value of its block
  Bindings bindings_;
  std::string reason_;
  std::string name_;
  std::vector<Param> params_;
  std::vector<std::string> dims_;              ///< in order
  std::map<std::string, std::string> dimArgs_; ///< their values at the call
  std::set<std::string> fixedDims_;            ///< those that a parameter fixes
  std::vector<std::string> typeParams_;
  std::vector<const Binding *> assigned_; ///< `var`s from outside
  std::vector<Result> results_;
  std::vector<Edit> lifts_; ///< in the selected text
  std::map<std::string, std::string> liftNames_;
  const Type *valueType_ = nullptr;
};

} // namespace ptl::ide
