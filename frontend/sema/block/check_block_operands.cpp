#include "frontend/sema/block/check_block_operands.h"

#include "frontend/sema/block/block_machine.h"
#include "frontend/sema/block/check_block_level.h"
#include "frontend/sema/block/check_block_tile.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/block/instruction_shapes.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"

#include <map>

namespace ptl {

namespace {

/// One call of an instruction while it is checked.
class Checker {
public:
  Checker(Context &ctx, NodeId node, const InstructionInfo &info,
          const std::vector<CallArgument> &args)
      : ctx_(ctx), info_(info), outShapes_(instructionShape(info.id).outs),
        inShapes_(instructionShape(info.id).ins.begin(), instructionShape(info.id).ins.end()),
        args_(args), name_(surfaceName(info)),
        call_(newBlock(ctx, node, BlockOp::Instruction, voidType(ctx))) {
    call_->info = &info;
  }

  Expr *run() {
    collect();
    if (!takeOperands() || failed_)
      return call_;
    checkPlaces();
    checkShapes();
    if (!failed_)
      checkMachines();
    return call_;
  }

private:
  struct Slot {
    char letter;
    bool optional;
    const OperandShape *shape;
    bool isOut;
  };

  void addSlots(std::string_view letters, std::span<const OperandShape> shapes, bool isOut) {
    size_t next = 0;
    for (size_t i = 0; i < letters.size(); ++i) {
      // A question mark belongs to the letter before it.
      if (letters[i] == '?')
        continue;
      bool optional = i + 1 < letters.size() && letters[i + 1] == '?';
      slots_.push_back(
          {letters[i], optional, next < shapes.size() ? &shapes[next] : nullptr, isOut});
      ++next;
    }
  }

  /// The arguments by position; attributes aside.
  void collect() {
    addSlots(info_.outs, outShapes_, true);
    addSlots(info_.ins, inShapes_, false);
    for (const CallArgument &arg : args_)
      if (arg.name.empty())
        positional_.push_back(&arg);
      else
        takeAttribute(arg);
    // `tmatmul_acc(acc, a, b)` reads the accumulator that it writes.
    bool accumulates = info_.mnemonic.ends_with(".acc");
    // The accumulator is written once and stands for two operands.
    if (accumulates && positional_.size() + 1 == slots_.size() && !positional_.empty())
      positional_.insert(positional_.begin() + 1, positional_.front());
    if (info_.has(InstructionInfo::EitherOrder) && positional_.size() == 3)
      turnQuotient();
  }

  /// `tdivs(y, 1.0, x)` divides the scalar.
  void turnQuotient() {
    NodeId first = positional_[1]->value;
    // The operands are checked only as far as is needed to see which order they are in; the result
    // is kept.
    Expr *expr = checkBase(ctx_, first);
    if (isMissing(expr) || !expr->type->isScalar()) {
      checked_[first] = expr;
      return;
    }
    std::swap(slots_[1].letter, slots_[2].letter);
    std::swap(inShapes_[0], inShapes_[1]);
  }

  void takeAttribute(const CallArgument &arg) {
    std::string known;
    for (const InstructionAttribute &info : instructionAttributes()) {
      if (!info.isTakenBy(info_.id))
        continue;
      if (info.name == arg.name)
        return takeValue(info, arg);
      known += " `" + std::string(info.name) + "`";
    }
    ctx_.sink.report(DiagId::UnknownArgument, arg.span, {name_, std::string(arg.name)})
        .help(known.empty() ? "it has no named arguments" : "its named arguments are:" + known);
    failed_ = true;
  }

  void takeValue(const InstructionAttribute &info, const CallArgument &arg) {
    if (info.kind != AttributeKind::Word) {
      auto value = evalConst(ctx_, arg.value);
      bool isBool = value && value->kind == ConstKind::Bool,
           wantsBool = info.kind == AttributeKind::Bool;
      if (value && isBool == wantsBool) {
        std::string text =
            isBool ? (value->boolean ? "true" : "false") : std::string(ctx_.text(arg.value));
        call_->attributes.emplace_back(&info, text);
        return;
      }
      ctx_.sink.report(DiagId::NotConstantArgument, ctx_.span(arg.value),
                       {std::string(info.name), wantsBool ? "`true` or `false`" : "a number"});
      failed_ = true;
      return;
    }
    std::string_view tag = ctx_.tree.is(arg.value, NodeKind::DotName)
                               ? ctx_.text(DotNameView(ctx_.tree, arg.value).name())
                               : std::string_view();
    std::string known;
    for (const AttributeWord &each : info.words) {
      if (each.word == tag) {
        call_->attributes.emplace_back(&info, std::string(each.enumerator));
        return;
      }
      known += (known.empty() ? "`." : " `.") + std::string(each.word) + "`";
    }
    ctx_.sink.report(DiagId::UnknownEnumValue, ctx_.span(arg.value),
                     {std::string(tag), std::string(info.name), known});
    failed_ = true;
  }

  static const char *kindText(char letter) {
    switch (letter) {
    case 't':
    case 'x':
      return "a tile";
    case 'v':
      return "a part of a tensor";
    case 'i':
      return "an integer";
    default:
      return "a scalar";
    }
  }

  void reportKind(const Expr &expr, char wanted) {
    auto report = ctx_.sink.report(DiagId::WrongOperand, expr.span,
                                   {name_, std::to_string(next_ + 1),
                                    "`" + toString(ctx_, expr.type) + "`", kindText(wanted)});
    // Instructions with a scalar operand have names of their own.
    if (expr.type->isScalar() && findInstruction(name_ + "s"))
      report.help("`" + name_ + "s` takes a scalar");
  }

  bool isView(const Expr *expr) const {
    if (!expr->type->isArray())
      return false;
    if (expr->kind == ExprKind::Block)
      return cast<BlockExpr>(expr)->op == BlockOp::View;
    if (expr->kind == ExprKind::Index)
      return isView(cast<IndexExpr>(expr)->base);
    // This is a tensor, or a name for a part of one.
    const Local *local = rootLocal(expr);
    return local && (local->kind == LocalKind::Param || local->kind == LocalKind::Output ||
                     local->kind == LocalKind::Let);
  }

  bool fits(char letter, const Expr *expr) const {
    switch (letter) {
    case 't':
    case 'x':
      return isTile(expr->type);
    case 'v':
      return isView(expr);
    default:
      return expr->type->isScalar();
    }
  }

  /// A scalar operand takes the element type of the tiles.
  Expr *scalarOperand(char letter, NodeId node) {
    // An index is an integer whatever the tiles hold.
    if (letter == 'i') {
      Expr *value = checkIntScalar(ctx_, node,
                                   "operand " + std::to_string(next_ + 1) + " of `" + name_ + "`");
      return value;
    }
    Operand operand = checkOperand(ctx_, node, element_ ? scalarType(ctx_, *element_) : nullptr);
    if (operand.isUntyped())
      return element_ ? operandAs(ctx_, operand, *element_) : settle(ctx_, operand);
    if (isMissing(operand.expr) || !element_ || !operand.expr->type->isScalar())
      return operand.expr;
    // An `int` adapts to the tiles; other scalars must fit.
    return operand.isIntScalar() && elemIs(*element_, ElemConstraint::Integer)
               ? convertInt(ctx_, operand.expr, *element_)
               : convertTo(ctx_, operand.expr, scalarType(ctx_, *element_),
                           "the scalar of `" + name_ + "`");
  }

  bool wrongCount() {
    size_t least = info_.minIns() + info_.numOuts(), most = slots_.size();
    std::string wanted =
        std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") + " operands";
    std::string order;
    for (const Slot &slot : slots_)
      order += (order.empty() ? "" : ", ") +
               std::string(slot.letter == 'x' ? "a scratch tile" : kindText(slot.letter)) +
               (slot.isOut      ? " that is written"
                : slot.optional ? " (if any)"
                                : "");
    ctx_.sink
        .report(DiagId::WrongArgumentCount, call_->span,
                {name_, wanted, std::to_string(positional_.size())})
        .help("`" + name_ + "` (" + std::string(info_.summary) + ") takes " + order);
    return false;
  }

  bool takeOperands() {
    size_t argument = 0;
    size_t required = info_.minIns() + info_.numOuts();
    // The count is checked before operands, since the rest of the message would be confusing.
    bool enough = positional_.size() >= required && positional_.size() <= slots_.size();
    for (next_ = 0; next_ < slots_.size() && enough; ++next_) {
      const Slot &slot = slots_[next_];
      Expr *expr = nullptr;
      if (argument < positional_.size()) {
        expr = operand(slot, *positional_[argument]);
        // An operand that may be left out is tried, and the argument goes to the next one.
        if (!expr && !slot.optional)
          return false;
        if (expr)
          ++argument;
      } else if (!slot.optional) {
        return wrongCount();
      }
      (slot.isOut ? call_->outs : call_->ins).push_back(expr);
    }
    return (enough && argument == positional_.size()) || wrongCount();
  }

  /// Null: it does not fit, which is reported unless the operand may be left out.
  Expr *operand(const Slot &slot, const CallArgument &arg) {
    bool isScalar = slot.letter == 's' || slot.letter == 'i';
    Expr *expr = nullptr;
    // A base that was checked already is not checked again: that would report its mistakes twice.
    if (auto found = checked_.find(arg.value); found != checked_.end())
      expr = found->second;
    else if (isScalar && !slot.optional)
      expr = scalarOperand(slot.letter, arg.value);
    else
      expr = checked_[arg.value] = checkBase(ctx_, arg.value);
    if (isMissing(expr)) {
      failed_ = true;
      return expr;
    }
    if (!fits(slot.letter, expr)) {
      if (!slot.optional)
        reportKind(*expr, slot.letter);
      return nullptr;
    }
    // Of several buffers one must be chosen by number.
    if (const Local *local =
            expr->kind == ExprKind::LocalRef ? cast<LocalRefExpr>(expr)->local : nullptr;
        local && local->object && local->object->count) {
      ctx_.sink.report(DiagId::EventNeedsNumber, expr->span, {local->name})
          .label(local->span, "declared here");
      failed_ = true;
    }
    bool typed = slot.letter == 't' || slot.letter == 'v';
    // The first tile that counts decides about the element type of scalars.
    if (typed && !element_ && slot.shape && slot.shape->counts)
      element_ = expr->type->elem;
    return expr;
  }

  template <typename Visit> void eachOperand(Visit visit) {
    for (size_t i = 0; i < call_->outs.size(); ++i)
      if (call_->outs[i] && i < outShapes_.size())
        visit(*call_->outs[i], outShapes_[i], i + 1);
    for (size_t i = 0; i < call_->ins.size(); ++i)
      if (call_->ins[i] && i < inShapes_.size())
        visit(*call_->ins[i], inShapes_[i], call_->outs.size() + i + 1);
  }

  void checkPlaces() {
    bool onVector = info_.pipeRule == PipeRule::Fixed && info_.pipe == Pipe::V;
    std::string_view core;
    eachOperand([&](Expr &operand, const OperandShape &shape, size_t number) {
      if (!isTile(operand.type))
        return;
      // An instruction on the vector pipe takes tiles of `vec` unless the table says another place.
      Place wanted = shape.place == Place::Inferred && onVector ? Place::Vec : shape.place;
      if (wanted != Place::Inferred && operand.type->place != wanted) {
        ctx_.sink.report(DiagId::OperandPlace, operand.span,
                         {name_, std::to_string(number),
                          std::string(placeName(operand.type->place)),
                          std::string(placeName(wanted))});
        failed_ = true;
      }
      core = coreOfPlace(operand.type->place);
    });
    // All operands lie on the core that runs the instruction.
    if (!core.empty() && !failed_)
      requireCore(ctx_, call_->span, name_, core);
  }

  struct Bound {
    Extent extent;
    const Expr *operand;
  };

  void checkShapes() {
    std::map<char, Bound> bound;
    eachOperand([&](Expr &operand, const OperandShape &shape, size_t) {
      // Scalars and operands without a shape rule take part in no comparison.
      bool isFree = shape.rows == '*' && shape.cols == '*';
      if (failed_ || shape.isScalar || isFree || operand.type->isScalar())
        return;
      auto matrix = matrixOf(ctx_, &operand);
      if (!matrix) {
        failed_ = true;
        return;
      }
      checkExtent(bound, shape.rows, matrix->first, operand, "rows");
      checkExtent(bound, shape.cols, matrix->second, operand, "columns");
    });
  }

  void checkExtent(std::map<char, Bound> &bound, char letter, const Extent &extent,
                   const Expr &operand, std::string_view axis) {
    if (failed_ || letter == '*')
      return;
    if (letter == '=')
      return checkWhole(extent, operand, axis);
    Extent one = makeExtent(ctx_, ctx_.dims.constant(1));
    // A letter stands for one extent of all operands; `1` is always one.
    auto [found, isNew] = bound.try_emplace(letter, Bound{letter == '1' ? one : extent, &operand});
    if (isNew && letter != '1')
      return;
    const Extent &wanted = found->second.extent;
    if (extentsEqual(ctx_, extent, wanted) == Proof::True)
      return;
    failed_ = true;
    std::string needed = toString(ctx_.dims, wanted);
    auto report =
        ctx_.sink.report(DiagId::OperandShape, operand.span,
                         {name_, toString(ctx_, operand.type), needed, std::string(axis)});
    if (found->second.operand != &operand)
      report.label(found->second.operand->span,
                   "`" + toString(ctx_, found->second.operand->type) + "`");
    explainExtents(ctx_, report, extent, wanted);
    bool isPart = isTile(operand.type) || isTile(found->second.operand->type);
    if (isPart && (!isStaticDim(ctx_, extent.length) || !isStaticDim(ctx_, wanted.length)))
      report.help("select the valid part of a tile: `t[0:n, :]`, `t[:, 0:n]`");
  }

  /// All that the tile has along an axis is valid.
  void checkWhole(const Extent &extent, const Expr &operand, std::string_view axis) {
    Extent held = makeExtent(ctx_, extent.capacity);
    if (extentsEqual(ctx_, extent, held) == Proof::True)
      return;
    failed_ = true;
    ctx_.sink
        .report(DiagId::OperandShape, operand.span,
                {name_, toString(ctx_, operand.type), toString(ctx_.dims, held), std::string(axis)})
        .help("all " + std::string(axis) + " of the tile must be valid, because `" + name_ +
              "` writes its rows without gaps");
  }

  void checkMachines() {
    auto namer = [](const Elem &elem) {
      return elem.param ? std::string_view() : elemName(elem.kind);
    };
    // With several targets the instruction must exist on each.
    for (const std::string &target : ctx_.decl->targets) {
      const Machine *machine = ctx_.state.options.machines->find(target);
      if (!machine || machine->executable)
        continue;
      std::string why = whyNotOn(*machine, *call_, namer);
      if (why.empty())
        continue;
      ctx_.sink.report(DiagId::NotOnMachine, call_->span, {name_, target, why});
      return;
    }
  }

  Context &ctx_;
  const InstructionInfo &info_;
  std::span<const OperandShape> outShapes_;
  std::vector<OperandShape> inShapes_; ///< its own, since a quotient may turn them round
  const std::vector<CallArgument> &args_;
  std::string name_;
  BlockExpr *call_;
  std::vector<Slot> slots_;
  std::vector<const CallArgument *> positional_;
  std::map<NodeId, Expr *> checked_;
  std::optional<Elem> element_; ///< of the tiles, for scalars
  size_t next_ = 0;
  bool failed_ = false;
};

} // namespace

Expr *checkInstruction(Context &ctx, NodeId node, const InstructionInfo &info,
                       const std::vector<CallArgument> &args) {
  return Checker(ctx, node, info, args).run();
}

} // namespace ptl
