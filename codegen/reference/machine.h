// The state of one run, shared by the files of this folder.
#pragma once

#include "codegen/reference/array_ops.h"
#include "codegen/reference/builtin.h"
#include "codegen/reference/interpreter.h"
#include "codegen/reference/observer.h"

namespace ptl::reference {

/// One declaration being executed. There is no recursion, so symbols of dimensions need no frame.
struct Frame {
  explicit Frame(const CallableDecl &callee) : decl(&callee), locals(callee.locals.size()) {}

  const CallableDecl *decl;
  std::vector<Value> locals;   ///< by `Local::index`
  std::vector<ElemKind> elems; ///< of `decl->typeParams`
  std::vector<int64_t> prefix; ///< what `..` stands for
  Value returned;
  Frame *caller = nullptr;
  Span at = kNoSpan; ///< the statement that it has come to, where somebody looks on
};

/// How a statement ends.
enum class Flow : uint8_t { Next, Break, Continue, Return };

/// The elements that an index expression selects: one entry per axis of the base in order, and the
/// places of new axes.
struct Region {
  struct Axis {
    int64_t base = -1; ///< axis of the base; -1: a new axis
    int64_t start = 0, step = 1, length = 1;
    bool dropped = false; ///< a position
    bool isGather = false;
  };
  std::vector<Axis> axes;
  std::vector<int64_t> positions; ///< of the gathered axis

  /// Without the dropped axes.
  std::vector<int64_t> shape() const;
};

class Machine : RunView {
public:
  Machine(const CheckedProgram &program, const SourceManager &sources, const RunOptions &options);

  RunResult run(const CallableDecl &decl, std::vector<Value> args);
  RunResult runTestBody(const CallableDecl &decl);
  /// Only binds; see entry_sizes.h.
  RunResult bindSizes(const CallableDecl &decl, std::vector<Value> args,
                      std::map<SymbolId, int64_t> &sizes);

private:
  // observer.cpp
  std::vector<ActiveCall> calls() const override;
  std::optional<int64_t> valueOf(SymbolId symbol) const override;
  void noteArm(const void *node, Arm arm);
  void noteCall(const CallableDecl &decl);
  void noteStop(Frame &frame, const Step &step, Stop &why);
  void failExpectation(Span span, std::string message);

  // bind.cpp
  void bindEntry(const CallableDecl &decl, std::vector<Value> &args);
  void bindSymbol(SymbolId symbol, int64_t value);
  std::optional<int64_t> symbolValue(SymbolId symbol) const;
  int64_t dimValue(Dim dim, Span span = kNoSpan);
  std::optional<int64_t> tryDim(Dim dim) const;
  ElemKind elemOf(const Elem &elem) const;
  std::vector<int64_t> shapeOf(const Type &type, Span span = kNoSpan);
  void bindDimLocals(const CallableDecl &decl);
  void bindTunables(const CallableDecl &decl, const std::map<std::string, int64_t> &overrides);
  void checkWheres(const CallableDecl &decl, Span callSpan);
  void checkShapes(const CallableDecl &decl);
  friend class EntryBinder;

  // call.cpp
  Value evalCall(const CallExpr &expr);
  std::optional<Value> callElsewhere(const CallExpr &expr, Frame &callee,
                                     const std::map<std::string, int64_t> &tunables);
  Value runCallee(const CallableDecl &decl, Span span);
  void startOutputs(const CallableDecl &decl);
  Value collectOutputs(const CallableDecl &decl);
  Frame bindCall(const CallExpr &expr);
  void returnInouts(const CallExpr &expr, Frame &callee);

  // eval_expr.cpp
  Value eval(const Expr &expr);
  Value evalLocal(const LocalRefExpr &expr);
  Value evalConvert(const ConvertExpr &expr);
  Value evalIf(const IfExpr &expr);
  Value evalField(const FieldExpr &expr);
  Value evalLogical(const LogicalExpr &expr);
  Value evalElements(const std::vector<Expr *> &elements);
  RangeValue evalRange(const Expr &expr);
  RangeValue rangeOfInfo(const RangeInfo &info, Span span);
  int64_t evalInt(const Expr &expr);
  bool evalBool(const Expr &expr);
  Value readable(const Value &value, const Expr &expr);

  // eval_op.cpp, eval_op_data.cpp, expect.cpp
  Value evalOp(const OpExpr &expr);
  Value evalBuiltinOp(const OpExpr &expr);
  void addShape(const OpExpr &expr, BuiltinCall &call);
  void addParameters(const OpExpr &expr, BuiltinCall &call);
  RangeValue indexRange(const OpExpr &expr);
  Value evalEffect(const OpExpr &expr);
  Value operand(const OpExpr &expr, size_t index);
  std::vector<Value> operandsOf(const OpExpr &expr);
  std::vector<int64_t> axesOf(const OpExpr &expr, size_t rank);
  bool flag(const OpExpr &expr, size_t index);
  std::string tag(const OpExpr &expr, size_t index);
  void evalPrint(const OpExpr &expr);
  void evalExpect(const OpExpr &expr);
  void evalExpectEqual(const OpExpr &expr);
  void evalExpectClose(const OpExpr &expr);
  std::string comparedText(const Expr &condition);

  // eval_index.cpp
  Value evalIndex(const IndexExpr &expr);
  Region regionOf(const IndexExpr &expr, std::span<const int64_t> shape, bool checked);
  void addItem(const IndexItem &item, size_t axis, std::span<const int64_t> shape, bool checked,
               Region &region);
  Value readRegion(const RefArray &base, const Region &region, const IndexExpr &expr);
  Value readOutside(const RefArray &base, const Region &region, Value outside);
  void writeRegion(RefArray &base, const Region &region, const Value &value, AssignMode mode,
                   Span span);
  const Value *peek(const Expr &expr);
  Value &place(const Expr &expr);

  // exec.cpp, exec_loop.cpp
  Flow exec(const Block &block);
  Flow exec(const Stmt &stmt);
  Flow execStmt(const Stmt &stmt);
  /// Runs a step, of which an observer is told before, and after if it stops the run.
  template <typename Run> auto observed(const Step &step, Run run) {
    Frame *here = frame_;
    here->at = step.span;
    options_.observer->onStep(step, *this);
    try {
      return run();
    } catch (Stop &why) {
      noteStop(*here, step, why);
      throw;
    }
  }
  Value evalBlockValue(const Expr &value);
  void execLet(const LetStmt &stmt);
  void execAssign(const AssignStmt &stmt);
  void execAssert(const AssertStmt &stmt);
  Flow execFor(const ForStmt &stmt);
  Flow execWhile(const WhileStmt &stmt);
  void execParallel(const ParallelStmt &stmt);
  void forEachPoint(const ParallelStmt &stmt, std::vector<Value> &point,
                    const std::function<void()> &visit);
  /// Calls `visit` with each value of a loop's variable; it returns false to end the loop.
  void forEachOf(const LoopHead &head, const std::function<bool(const Value &)> &visit);
  void bindLocal(const Local &local, Value value);
  void bindLoopVar(const LoopHead &head, const Value &value);
  Value undefinedOf(const Type &type);

  RunResult finish(const std::function<void(RunResult &)> &body);
  Value &local(const Local &local) { return frame_->locals[local.index]; }
  std::string textOf(Span span) const;

  const CheckedProgram &program_;
  const SourceManager &sources_;
  const RunOptions &options_;
  Frame *frame_ = nullptr;
  bool inTestBody_ = false;
  size_t depth_ = 0;
  std::vector<std::optional<int64_t>> symbols_; ///< by `SymbolId::index`
  std::vector<Expectation> failed_;
  int64_t elements_ = 0;
};

} // namespace ptl::reference
