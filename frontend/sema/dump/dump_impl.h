// The implementation of dump.h; only for use inside `frontend/sema`.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/context.h"
#include "frontend/sema/dump/dump.h"
#include "frontend/sema/dump/dump_block.h"
#include "frontend/sema/dump/dump_expr.h"
#include "frontend/sema/stmt_visitor.h"

namespace ptl {

class Dumper : private StmtVisitor<Dumper> {
public:
  explicit Dumper(const CheckedProgram &program) : exprs_(program) {}

  std::string expr(const Expr *expr) const { return exprs_.expr(expr); }
  void module(const CheckedModule &module);
  void callable(const CallableDecl &decl);
  const std::string &text() const { return text_; }
  /// The source location of each line of the text.
  const std::vector<Span> &spans() const { return spans_; }

private:
  std::string dim(Dim dim) const { return exprs_.dim(dim); }
  std::string type(const Type *type) const { return exprs_.type(type); }

  void line(const std::string &text) {
    text_ += std::string(depth_ * 2, ' ') + text + "\n";
    spans_.push_back(place_);
  }
  std::string header(const CallableDecl &decl) const;
  std::string loop(const LoopHead &head) const;
  std::string modifiers(const LoopModifiers &modifiers) const;
  void schedule(const ScheduleDecl &schedule);
  void block(const Block *block);
  void braced(const std::string &head, const Block *block);

  friend StmtVisitor<Dumper>;
  void visitError(const Stmt &) { line("<error>"); }
  void visitLet(const LetStmt &stmt);
  void visitAssign(const AssignStmt &stmt);
  void visitExprStmt(const ExprStmt &stmt) { line(expr(stmt.value)); }
  void visitFor(const ForStmt &stmt);
  void visitParallel(const ParallelStmt &stmt);
  void visitWhile(const WhileStmt &stmt) { braced("while " + expr(stmt.condition), stmt.body); }
  void visitIf(const IfStmt &stmt);
  void visitBreak(const BreakStmt &) { line("break"); }
  void visitContinue(const ContinueStmt &) { line("continue"); }
  void visitReturn(const ReturnStmt &stmt) { line("return " + expr(stmt.value)); }
  void visitAssert(const AssertStmt &stmt) { line("assert " + expr(stmt.condition)); }
  void visitTask(const TaskStmt &stmt) { braced("task " + stmt.name, stmt.body); }
  void visitBlock(const BlockStmt &stmt) {
    braced(stmt.section ? sectionText(*stmt.section) : "block", stmt.block);
  }
  static std::string sectionText(const OnStmt &on) {
    return "on " + on.core + " " + (on.stages.var ? on.stages.var->name : std::to_string(on.part));
  }
  void visitOnSection(const OnStmt &stmt) {
    braced("on " + stmt.core + (stmt.splitRows ? " split rows" : ""), stmt.body);
  }
  void visitBlockDecl(const BlockDeclStmt &stmt) { line(blockObject(exprs_, *stmt.local)); }

  const ExprDumper exprs_;
  std::string text_;
  std::vector<Span> spans_;
  Span place_ = kNoSpan; ///< of the statement being printed
  size_t depth_ = 0;
};

} // namespace ptl
