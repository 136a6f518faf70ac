#include "codegen/source/body_code.h"

#include "codegen/source/origins.h"
#include "codegen/source/tile_source.h"

using namespace mlir;

namespace ptl::source {

Unwritable firstProblemOf(SourceResult &result) {
  return [&result](Operation *op, const std::string &why) {
    if (!result.problem.empty())
      return;
    result.problem = why;
    result.at = op->getLoc();
  };
}

void BodyCode::startAgain() {
  counting_ = false;
  known_.clear();
  globals_.clear();
  variables_.clear();
  ranges_.clear();
  inlining_ = InliningMemo();
  names_ = Names();
  text_.clear();
  origins_.clear();
  depth_ = 0;
}

void BodyCode::knowGlobal(Value value, const std::string &name) {
  know(value, name);
  globals_.insert(value);
}

void BodyCode::knowVariable(Value value, const std::string &name) {
  know(value, name);
  variables_.insert(value);
}

std::optional<Expression> BodyCode::exchangeKnown(Value value, std::optional<Expression> name) {
  std::optional<Expression> before;
  if (isKnown(value))
    before = known(value);
  if (name)
    known_[value] = *name;
  else
    known_.erase(value);
  return before;
}

void BodyCode::line(const std::string &text) {
  bool isEnd = text.starts_with("}");
  text_ += (statement_ && !isEnd ? withOrigin(text, statement_->getLoc(), origins_) : text) + "\n";
  origins_.clear();
}

void BodyCode::let(Value value, const Expression &expression, const std::string &wanted) {
  std::string name = names_.fresh(wanted);
  line("let " + name + " = " + expression.text);
  know(value, name);
}

void BodyCode::var(Value value, const Expression &expression, const std::string &wanted) {
  std::string name = names_.fresh(wanted);
  line("var " + name + " = " + expression.text);
  knowVariable(value, name);
}

void BodyCode::setBranchAssigning(Value variable, Operation *branch) {
  if (branch)
    assigned_[variable] = branch;
  else
    assigned_.erase(variable);
}

std::string BodyCode::nameHint(Operation *op) const {
  auto hint = hints_.find(op);
  return hint != hints_.end() ? hint->second : "n";
}

} // namespace ptl::source
