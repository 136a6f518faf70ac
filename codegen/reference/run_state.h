// The state of one run of the interpreter. The functions that evaluate and execute take it as their
// first argument and keep no state of their own; its members are those that only change together.
#pragma once

#include "codegen/reference/interpreter.h"
#include "codegen/reference/observer.h"

#include <utility>

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

class RunState : public RunView {
public:
  /// The program, its sources and the options outlive the run.
  RunState(const CheckedProgram &program, const SourceManager &sources, const RunOptions &options)
      : program_(program), sources_(sources), options_(options) {}
  RunState(const RunState &) = delete;
  RunState &operator=(const RunState &) = delete;

  const CheckedProgram &program() const { return program_; }
  const SourceManager &sources() const { return sources_; }
  const RunOptions &options() const { return options_; }
  /// The source text there; empty where there is none.
  std::string textOf(Span span) const;

  // ---- Frames and calls ------------------------------------------------------------------------

  /// The declaration that is executed now. There is one while a `FrameScope` lives.
  Frame &frame() { return *frame_; }
  const Frame &frame() const { return *frame_; }
  Value &local(const Local &local) { return frame_->locals[local.index]; }
  const Value &local(const Local &local) const { return frame_->locals[local.index]; }
  /// How many calls lead to the body that is executed now.
  size_t depth() const { return depth_; }
  /// Whether the body that is executed now is that of a test, property or bench.
  bool isInTestBody() const { return inTestBody_; }

  // ---- Symbols of dimensions -------------------------------------------------------------------

  void bindSymbol(SymbolId symbol, int64_t value) {
    if (symbol.index >= symbols_.size())
      // The table grows in steps, since symbols come in order.
      symbols_.resize(symbol.index + 64);
    symbols_[symbol.index] = value;
  }
  std::optional<int64_t> symbolValue(SymbolId symbol) const {
    return symbol.index < symbols_.size() ? symbols_[symbol.index] : std::nullopt;
  }

  // ---- What the run has made -------------------------------------------------------------------

  /// Counts the elements of an array that an operation at `span` has made; stops the run when all
  /// together are more than the options allow.
  void countElements(const Value &made, Span span) {
    if (made.isArray() && (elements_ += made.asArray().count()) > options_.mostElements)
      stop(RunStatus::Memory, "operations give more elements than are allowed", span);
  }
  /// Notes an expectation of a test that does not hold; the test goes on after it.
  void failExpectation(Span span, std::string message);
  /// Gives the expectations away that failed so far.
  std::vector<Expectation> takeFailed() { return std::move(failed_); }

  // ---- Observers -------------------------------------------------------------------------------

  void noteArm(const void *node, Arm arm) {
    if (options_.observer)
      options_.observer->onArm(node, arm);
  }
  void noteCall(const CallableDecl &decl) {
    if (options_.observer)
      options_.observer->onCall(decl, *this);
  }
  /// Executes a step, of which the observer is told before, and after if it stops the run. There has
  /// to be an observer.
  template <typename Execute> auto observed(const Step &step, Execute execute) {
    Frame &here = *frame_;
    here.at = step.span;
    options_.observer->onStep(step, *this);
    try {
      return execute();
    } catch (Stop &why) {
      noteStop(here, step, why);
      throw;
    }
  }

  std::vector<ActiveCall> calls() const override;
  std::optional<int64_t> valueOf(SymbolId symbol) const override { return symbolValue(symbol); }

private:
  friend class FrameScope;
  friend class BodyScope;
  void noteStop(Frame &frame, const Step &step, Stop &why);

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

/// While it lives, `frame` is what the run executes; then its caller is again, also when the run
/// stops.
class FrameScope {
public:
  FrameScope(RunState &run, Frame &frame) : run_(run), caller_(std::exchange(run.frame_, &frame)) {}
  ~FrameScope() { run_.frame_ = caller_; }
  FrameScope(const FrameScope &) = delete;
  FrameScope &operator=(const FrameScope &) = delete;

private:
  RunState &run_;
  Frame *caller_;
};

/// While it lives, the run is in the body of a test or, one call deeper than before, in that of a
/// callee, which is no test.
class BodyScope {
public:
  enum class Kind : uint8_t { Test, Callee };
  BodyScope(RunState &run, Kind kind)
      : run_(run), wasInTest_(std::exchange(run.inTestBody_, kind == Kind::Test)),
        depthBefore_(run.depth_) {
    run.depth_ += kind == Kind::Callee;
  }
  ~BodyScope() {
    run_.depth_ = depthBefore_;
    run_.inTestBody_ = wasInTest_;
  }
  BodyScope(const BodyScope &) = delete;
  BodyScope &operator=(const BodyScope &) = delete;

private:
  RunState &run_;
  bool wasInTest_;
  size_t depthBefore_;
};

} // namespace ptl::reference
