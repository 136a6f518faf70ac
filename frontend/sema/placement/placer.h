// The walk over the body of a program that places its values: statements, expressions, choices, and
// sections for one part.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/placement/place_pool.h"
#include "frontend/sema/placement/placement_report.h"
#include "frontend/sema/placement/placement_rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace ptl {

/// A declaration whose body is being walked: the program, or a `fn` that it calls. Its dimensions
/// are bound to those of the program.
struct PlacedFrame {
  const CallableDecl *decl = nullptr;
  const CallExpr *call = nullptr; ///< null for the program
  DimSubstitution dims = {};
  std::map<const TypeParam *, ElemKind> elems = {};
  std::vector<Dim> prefix = {};
  std::map<const Local *, ValueId> locals = {};
};

class Placer {
  friend class ChoiceWalk;
  friend class ExpressionWalk;
  friend class KernelWalk;
  friend class SectionWalk;
  friend class PartsWalk;
  friend class PoolWalk;
  friend class StatementWalk;

public:
  Placer(const CheckedProgram &program, const Tree &tree, const CallableDecl &decl,
         std::vector<PlacedLevel> levels, DiagnosticSink &sink)
      : dims_(*program.dims), tree_(tree), decl_(decl), reports_(dims_, placed_.levels, sink),
        sink_(sink) {
    placed_.decl = &decl;
    placed_.levels = std::move(levels);
  }

  PlacedAsFar run() {
    PlacedFrame frame{&decl_};
    frame_ = &frame;
    bool isAll = true;
    try {
      header();
      sequence({decl_.body->stmts.begin(), decl_.body->stmts.end()});
      giveKept();
      findPageSources(placed_, sink_);
    } catch (Refused) {
      isAll = false;
    }
    return {std::move(placed_), isAll};
  }

private:
  // The header.
  void header();
  void parameter(const Local &param, const Placement &placement);
  void keep(const Local &local, size_t output, const Placement &wanted);
  void giveKept();
  ValueId asResult(const Local &local, ValueId id, const Placement &wanted, Span span,
                   const ReportedValue &value);
  ValueId filled(ValueId number, const Type &type);
  // Statements and expressions.
  void statement(const Stmt &stmt);
  void let(const LetStmt &stmt);
  void assign(const AssignStmt &stmt);
  void loop(const ForStmt &stmt);
  void loop(const WhileStmt &stmt);
  void unroll(const ForStmt &stmt, const ListExpr &list);
  void goRound(PlacedLoop loop, const Block *block, const std::function<void(PlacedLoop &)> &body);
  ValueId value(const Expr &expr);
  std::vector<ValueId> values(const Expr &expr);
  // Jumps out of a loop or a declaration, in arms of choices.
  using Statements = std::vector<const Stmt *>;
  void sequence(const Statements &stmts);
  std::vector<ValueId> results(const Statements &stmts, const Expr *last, const CallExpr &expr);
  std::vector<ValueId> either(const Expr &condition, const std::string &user, const CallExpr &expr,
                              const std::function<std::vector<ValueId>(bool)> &walk);
  void expectReturn(const Stmt &loop);
  void jump(const Stmt &stmt);
  std::shared_ptr<LocalRefExpr> hasReturned(const Stmt &loop);
  ValueId nothing(const Type &type);
  // Values.
  void bind(const Local &local, ValueId id);
  ValueId add(PlacedValue value);
  ValueId number(Dim dim);
  ValueId slice(ValueId of, Placement to);
  ElemKind elemOf(const Elem &elem) const;
  std::vector<Dim> shapeOf(const Type &type) const;
  Dim inProgram(Dim dim) const { return dim ? dims_.substitute(dim, frame_->dims) : dim; }
  /// Whether a number is determined by sizes, parameters and counters of loops. Other numbers are
  /// data, which cannot be dimensions of a value.
  bool isKnown(Dim dim) const;
  /// The same of the beginning of a slice, which may also be a number that data give if it is the same on all parts.
  bool isPosition(Dim dim) const;
  // Reports.
  ReportedValue reported(const Expr &expr, ValueId id) const;
  [[noreturn]] void refuseHeader(const Local &local, std::string why) {
    sink_.report(DiagId::BadDistribution, local.span, {local.name, std::move(why)});
    throw Refused();
  }
  /// In this file: of an expression or a statement.
  template <typename Node> Span spanOf(const Node &node) const {
    return outermost_ ? outermost_->span : node.span;
  }
  template <typename Node>
  [[noreturn]] void refuse(const Node &node, const std::string &what, const std::string &why) {
    reports_.noRule(spanOf(node), what, why);
    throw Refused();
  }

  DimContext &dims_;
  const Tree &tree_;
  const CallableDecl &decl_;
  PlacedProgram placed_;
  PlacementReports reports_;
  DiagnosticSink &sink_;
  PlacedFrame *frame_ = nullptr;
  const CallExpr *outermost_ = nullptr; ///< the call that the program itself contains
  std::map<const Local *, Placement> wanted_;
  std::map<const Local *, size_t> outputs_;
  /// A result that has a value from the beginning: an `inout`, or one with an initial value. The program uses it like a `var`, and what it holds
  /// at the end is the result.
  struct Kept {
    const Local *local = nullptr;
    size_t output = 0;
    Placement wanted;
  };
  std::vector<Kept> kept_;
  bool isKept(const Local *local) const {
    return std::ranges::find(kept_, local, &Kept::local) != kept_.end();
  }
  std::map<const Local *, const Expr *>
      given_; ///< the latest value of each variable; null: given by a choice
  size_t loopDepth_ = 0;
  Dim round_; ///< counts the rounds of the innermost loop from 0; none outside of loops, and in a `while`
  int64_t tasks_ = 0; ///< that were submitted so far
  const Local *leaves_ =
      nullptr; ///< says whether the innermost loop is left; null: nothing leaves it
  /// Of the declaration that is walked, if a loop in it may return: whether it has, and the value that a `fn` returned.
  struct Returned {
    const Local *flag = nullptr, *value = nullptr;
    std::vector<const Local *> all() const {
      return flag && value ? std::vector{flag, value}
             : flag        ? std::vector{flag}
                           : std::vector<const Local *>();
    }
  };
  Returned returned_;
  std::set<SymbolId> known_;            ///< symbols that have a number on all parts
  std::map<SymbolId, ValueId> numbers_; ///< and those that get it from data, with what gives it
  /// The part that the statements are for, or a task; `on` is null of a task.
  struct Section {
    size_t level = 0;
    LevelPlacement at;
    const OnStmt *on = nullptr;
  };
  std::optional<Section> section_;
  /// The body of a `parallel` over parts that the statements are in; `section_` says that they are for each part of the innermost one's level.
  struct OwnBody {
    const ForStmt *stmt = nullptr;
    size_t level = 0;
    Dim start, extent, length;                ///< of the part's range, and of what is cut
    std::optional<size_t> within;             ///< the body whose range is what is cut
    std::map<const Local *, ValueId> outside; ///< what each name held in front of it
    std::map<const Local *, int64_t>
        blocks; ///< the arrays of which names stand for the part's block: the axis that is cut
  };
  std::vector<OwnBody> own_;      ///< outermost first
  std::optional<Section> around_; ///< the section that these bodies stand in
};

} // namespace ptl
