// The state of building one entry, shared by the files of this folder.
#pragma once

#include "frontend/sema/checked_block.h"
#include "ir/build/frame.h"
#include "ir/build/length_names.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace ptl::ir {

struct ManualState;
struct TensorView;

class Builder {
public:
  Builder(mlir::MLIRContext &context, const CheckedProgram &program, const SourceManager &sources,
          const EntryBinding &binding, DiagnosticSink &sink);

  mlir::OwningOpRef<mlir::ModuleOp> buildModule(const std::string &symbol);

private:
  /// A box of a base array: see `ptl.load`.
  struct Box {
    llvm::SmallVector<mlir::Value> offsets, lengths, steps;
    llvm::SmallVector<int64_t> dropped, newAxes;
    mlir::Value scatter; ///< 1-D index array of an assignment
    int64_t scatterAxis = -1;
    struct Gather {
      mlir::Value index;
      int64_t axis; ///< of the base
    };
    llvm::SmallVector<Gather> gathers;
    bool strided = false;
  };

  // build_entry.cpp
  void checkElementTypes(const Frame &frame);
  void bindCapacities();
  void nameOutputsAndDimensions(mlir::func::FuncOp function);
  void buildEntry(mlir::ModuleOp module, const std::string &symbol);
  std::vector<mlir::Type> argumentTypes();
  void bindArguments(mlir::Block &body);
  void storeResult(Bound result, mlir::Block &body);
  std::vector<const Type *> resultTypes(const CallableDecl &decl);
  void initOutputs();
  void buildWheres();

  // build_dim.cpp
  Dim rootDim(Dim dim);
  /// Bounds of lengths that the entry's `where`s give, for machines that need them on chip.
  std::map<SymbolId, int64_t> capacities_;
  mlir::Value emitDim(Dim dim) { return emitRoot(rootDim(dim)); }
  mlir::Value emitRoot(Dim root);
  std::optional<int64_t> constantDim(Dim dim);
  void bindSymbol(SymbolId symbol, mlir::Value value);
  void bindSymbolConstant(SymbolId symbol, int64_t value);
  SymbolId freshSymbol(const std::string &name, SymbolKind kind, mlir::Value value);
  void assume(const Expr &condition);
  void assumeWheres(); ///< of the declaration being built
  Extent irExtent(const ptl::Extent &extent);
  Extent irRootExtent(Dim length, Dim capacity);
  ElemKind elemKind(const Elem &elem);
  mlir::Type irType(const Type &type);
  RefType refType(const Type &type);
  llvm::SmallVector<Extent> irExtents(const Type &type);
  /// Operands of `ptl.alloc` and creation operations: the lengths that are not numbers.
  llvm::SmallVector<mlir::Value> namedLengths(const Type &type);
  mlir::Value lengthOf(mlir::Value arrayOrRef, int64_t axis);

  // build_stmt.cpp
  Bound buildValueBlock(const ptl::Block &block);
  void buildBlock(const ptl::Block &block), buildStmt(const Stmt &stmt),
      buildStmts(const std::vector<Stmt *> &stmts, size_t from), buildLet(const LetStmt &stmt);
  mlir::Value scheduled(const Local &local, mlir::Value value), // build_schedule.cpp
      placed(const ScheduleDirective &directive, const Local &local, mlir::Value value);
  void scheduleValue(const ScheduleDirective &directive, const Local &local, mlir::Value value),
      pinProduct(const Local &local, mlir::Value value), scheduleGrid(ParallelOp grid),
      buildTask(const TaskStmt &stmt), orderTasks(mlir::Block &in);
  bool isScheduled(const Local &local) const;
  void cannotSchedule(const Local &local, const std::string &why);
  using NamedAttributes = llvm::SmallVector<mlir::NamedAttribute>;
  void noteItem(mlir::Operation *op, const std::string &label, const std::string &item, Span at,
                NamedAttributes details = {});
  void fuseValue(const Local &local, mlir::Operation *op), refuseUntaken();
  void refuse(Span at, const std::string &item, const std::string &why);
  /// Marks what was built since, and not marked before, as done by so many core groups.
  void shareCores(int64_t cores, mlir::Block &in, mlir::Operation *before);
  void bindLocal(Local &local, Bound value);
  bool buildRangeName(const LetStmt &stmt);
  static void assignBound(Bound &target, const Bound &value);
  Bound zeroOf(const Type &type, mlir::Location loc);
  mlir::Value atPlace(mlir::Value value, const Type &type, mlir::Location loc);
  void storeBox(mlir::Value value, mlir::Value ref, const Box &box, AssignMode mode,
                mlir::Location loc);
  void buildAssign(const AssignStmt &stmt), buildAssert(const AssertStmt &stmt),
      buildIf(const IfStmt &stmt), buildReturn(const ReturnStmt &stmt);
  void buildReturningIf(const IfStmt &stmt, const std::vector<Stmt *> &stmts, size_t next);
  void buildReturningLoop(const Stmt &loop, const std::vector<Stmt *> &stmts, size_t next);
  void buildReturningBranch(mlir::Value condition, const std::function<void()> &thenArm,
                            const std::function<void()> &elseArm, mlir::Location loc);
  std::vector<Stmt *> bodyStmts(const ptl::Block &body);
  void buildGuarded(const std::vector<Stmt *> &stmts, size_t from);
  void buildUnlessExited(const ptl::Block &block, mlir::Location loc,
                         llvm::function_ref<void()> build);
  void buildRound(const ForStmt &stmt, llvm::function_ref<void()> bind);
  std::optional<bool> constantCondition(mlir::Value condition);
  void buildWhile(const WhileStmt &stmt);
  void emitCheck(mlir::Value condition, const char *status, const std::string &message,
                 llvm::ArrayRef<mlir::Value> values, mlir::Location loc);
  /// A condition of the source: the message goes on with the values that it is about.
  void emitCondition(const Expr &condition, const char *status, const std::string &message,
                     mlir::Location loc);

  // build_loop.cpp
  struct LoopBounds {
    mlir::Value lower, upper, step;
    mlir::Value tileSize; ///< null for loops over positions
  };
  LoopBounds loopBounds(const LoopHead &head);
  void bindLoopVar(const LoopHead &head, const LoopBounds &bounds, mlir::Value position);
  void buildFor(const ForStmt &stmt);
  void setModifiers(mlir::Operation *loop, const LoopModifiers &modifiers);
  void buildStaticFor(const ForStmt &stmt);
  void buildExitingFor(const ForStmt &stmt);
  void buildParallel(const ParallelStmt &stmt, size_t from = 0);
  void buildInnerParallel(const ParallelStmt &stmt, size_t from = 0);

  static bool dependsOnHeads(const ParallelStmt &stmt, size_t from, size_t to);
  static void eraseSymbols(Frame &frame, const LoopHead &head);
  // build_manual.cpp: kernels written at block level
  void buildKernelBody(const CallableDecl &decl); ///< if it is for the machine at hand
  void buildManual(const CallableDecl &decl);
  void buildManualGrid(const CallableDecl &decl, const std::vector<Stmt *> &stmts, size_t upTo);
  void buildPoints(const ParallelStmt &stmt, size_t from = 0);
  void buildSection(const OnStmt &stmt);
  void allocateEvents(const ptl::Block &body, const std::string &core);
  void checkId(const Local &event, int64_t last, int64_t limit);
  void checkMachine(const CallableDecl &decl);

  struct ValidPart {
    mlir::Value rows, cols; ///< null where the type says it
  };
  struct ViewAxis {
    mlir::Value offset, length, dim, stride; ///< where a part begins, how long it is, of what
  };
  pto::TileBufType tileType(const Type &type);
  void buildBlockDecl(const BlockDeclStmt &stmt);
  void buildQueue(Local &local, mlir::Location loc);
  ValidPart validPart(const Type &type);
  mlir::Value buildSlot(const BlockExpr &slot, pto::TileBufType type, const ValidPart &valid);
  mlir::Value buildWindow(const BlockExpr &window);
  TensorView wholeTensor(const Expr &expr, bool isOut);
  mlir::Value pointerOf(const Local &local, bool isOut);
  llvm::SmallVector<ViewAxis> viewAxes(const TensorView &view, const IndexExpr *indexing,
                                       mlir::Value &base);
  mlir::Value positionOf(const Expr &expr);
  mlir::Value viewOf(const Expr &expr, bool isOut);
  Bound loadElement(const IndexExpr &expr);
  void storeElement(const IndexExpr &place, const Expr &value);
  bool buildManualLet(const LetStmt &stmt);
  void noteUse(const Local &view, bool isOut);
  void buildInstruction(const BlockExpr &call);
  mlir::Value eventId(const BlockExpr &call, int64_t first, int64_t count);
  void buildSignal(const BlockExpr &call);
  Bound buildBlockExpr(const BlockExpr &call);

  // carried.cpp: what a region assigns and what lives outside of it
  using Slots = llvm::SmallVector<mlir::Value *>;
  Slots assignedSlots(const std::vector<const ptl::Block *> &blocks);
  void addSlots(Bound &bound, Slots &slots);
  llvm::SmallVector<mlir::Value> slotValues(const Slots &slots);
  void setSlots(const Slots &slots, mlir::ValueRange values);
  void nameArguments(const Slots &slots, mlir::Block::BlockArgListType arguments) const;
  /// The slots' values as those types: arrays that are only described differently are cast.
  llvm::SmallVector<mlir::Value> slotValuesAs(const Slots &slots, mlir::TypeRange types,
                                              mlir::Location loc);
  mlir::Value castTo(mlir::Value value, mlir::Type type, mlir::Location loc);

  // build_exit.cpp: `break` and `continue` are flags, and what follows them runs under `scf.if`
  struct ExitFlags {
    mlir::Value broke, continued; ///< `i1`
  };
  static bool mayExit(const Stmt &stmt);
  static bool mayExit(const ptl::Block &block);
  static bool mayReturn(const Stmt &stmt);
  void setExit(mlir::Value ExitFlags::*flag, mlir::Location loc);
  mlir::Value notExited(mlir::Location loc);
  void leaveOuterLoop(mlir::Location loc);
  struct ReturnSlot {
    mlir::Value flag; ///< `i1`: a `return` was reached
    Bound value;
  };

  // build_expr.cpp
  Bound buildExpr(const Expr &expr);
  mlir::Value buildValue(const Expr &expr);
  Bound buildConst(const ConstExpr &expr);
  Bound buildLocalRef(const LocalRefExpr &expr);
  Bound buildConvert(const ConvertExpr &expr);
  void checkConversion(mlir::Value position, ElemKind target, mlir::Location loc);
  Bound buildIfExpr(const IfExpr &expr);
  Bound buildField(const FieldExpr &expr);
  Bound buildLogical(const LogicalExpr &expr);
  Bound buildRange(const RangeExpr &expr);
  Bound readRef(Bound bound, mlir::Location loc);
  /// Likewise each part of a tuple or struct.
  Bound readRefs(Bound bound, mlir::Location loc);
  mlir::Value constant(ElemKind elem, double floatValue, int64_t intValue, mlir::Location loc);
  mlir::Value index(int64_t value);

  // build_op.cpp
  Bound buildOp(const OpExpr &expr);
  mlir::Value buildPositionOp(const OpExpr &expr, llvm::ArrayRef<mlir::Value> operands);
  struct OpParts {
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<int32_t> segments; ///< operands per parameter that has operands
    llvm::SmallVector<mlir::NamedAttribute> attributes;
  };
  void addParam(const OpExpr &expr, size_t param, int64_t rank, OpParts &parts);
  void addAxes(const OpExpr &expr, const OpParam &param, int64_t rank, OpParts &parts);
  std::optional<mlir::Value> buildScalarOp(const OpExpr &expr, const OpParts &parts);
  int64_t operandRank(const OpExpr &expr);
  Bound buildIndexOp(const OpExpr &expr);
  Bound buildRandomOp(const OpExpr &expr);

  // build_index.cpp
  Box buildBox(const IndexExpr &expr, mlir::Value base, bool isTarget);
  Bound buildIndex(const IndexExpr &expr);
  void addPosition(const IndexItem &item, mlir::Value base, Box &box);
  void addGather(const IndexItem &item, mlir::Value base, Box &box, bool isTarget),
      addRange(const IndexItem &item, mlir::Value base, Box &box),
      addFull(mlir::Value base, Box &box);
  void checkRange(const Box &box, size_t axis, mlir::Value extent, mlir::Location loc),
      checkPosition(mlir::Value position, mlir::Value extent, mlir::Location loc),
      checkGather(mlir::Value indices, mlir::Value extent, mlir::Location loc);
  Box wholeBox(mlir::Value base);
  static bool constantIs(mlir::Value value, int64_t expected);

  // build_call.cpp
  Bound buildCall(const CallExpr &expr), runCallee(const CallExpr &expr, Frame frame);
  Frame calleeFrame(const CallExpr &expr);
  const ScheduleDecl *scheduleOf(const CallableDecl &decl, const Frame &frame);
  mlir::Value allocate(ArrayType type, mlir::Value like, mlir::Location loc);
  void assignInout(const CallArg &arg, mlir::Value value, mlir::Location loc);
  void bindTunables(Frame &frame, const std::map<std::string, int64_t> &overrides);

  mlir::Location location(Span span);
  mlir::Location here(const Expr &expr) { return location(expr.span); }
  Bound &bound(const Local &local) { return frame_->locals[local.index]; }
  Bound fail(DiagId id, Span span, std::vector<std::string> args);
  /// Whether more has been built than the source allows; reported once, where it is multiplied.
  /// What multiplies (rounds of static loops, calls) builds nothing more then.
  bool isTooLarge(Span span, const std::string &what);
  template <typename Op, typename... Args> Op make(mlir::Location loc, Args &&...args) {
    return builder_.create<Op>(loc, std::forward<Args>(args)...);
  }

  mlir::MLIRContext &context_;
  const CheckedProgram &program_;
  DimContext &dims_;
  LengthNames names_; ///< by the `where`s of the entry and of what it calls, and assertions
  const SourceManager &sources_;
  const EntryBinding &binding_;
  DiagnosticSink &sink_;
  mlir::OpBuilder builder_;
  Frame *frame_ = nullptr;
  llvm::SmallVector<mlir::Attribute> items_; ///< of schedules: see `kItemsAttribute`
  /// Numbers of `fuse` items, by the declaration being built and their list.
  std::map<std::pair<const Frame *, const ScheduleLabels *>, int64_t> fusions_;
  int64_t fuseCount_ = 0;
  std::set<std::pair<FileId, uint32_t>> refused_; ///< items that were told to have no effect
  mlir::Location place_;                          ///< of the expression or statement being built
  std::map<SymbolId, mlir::Value> rootValues_;
  std::map<std::string, unsigned> nameCounts_;
  Bound returned_;                               ///< value of the `return` just built
  std::optional<ReturnSlot> returnSlot_;         ///< while inside a loop that has a `return`
  std::deque<ReturnStmt> bodyResults_;           ///< made for bodies that end in a value
  std::optional<ExitFlags> exits_;               ///< of the innermost loop with exits
  bool inGrid_ = false;                          ///< in the body of a grid
  std::map<const Expr *, mlir::Value> prebuilt_; ///< operands of the condition being built
  std::shared_ptr<ManualState> manual_;          ///< while a manual kernel is being built
  unsigned callDepth_ = 0;
  size_t built_ = 0;     ///< statements and expressions so far
  size_t mostBuilt_ = 0; ///< `kMostWrittenOut` beyond the source
  bool tooLarge_ = false;
};

} // namespace ptl::ir
