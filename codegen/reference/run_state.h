// The state of one run of the interpreter. The functions that evaluate and execute take it as their
// first argument and keep no state of their own. Its members are those that change together.
#pragma once

#include "codegen/reference/interpreter.h"
#include "codegen/reference/observer.h"

#include <utility>

namespace ptl::reference {

/// A declaration that is being executed. There is no recursion, so symbols of dimensions need no
/// frame.
struct Frame {
  explicit Frame(const CallableDecl &callee) : decl(&callee), locals(callee.locals.size()) {}

  const CallableDecl *decl;
  std::vector<Value> locals;   ///< by `Local::index`
  std::vector<ElemKind> elems; ///< of `decl->typeParams`
  std::vector<int64_t> prefix; ///< the extents of `..`
  Value returned;
  Frame *caller = nullptr;
  Span at = kNoSpan; ///< the statement that is being executed, if there is an observer
};

class RunState : public RunView {
public:
  /// The program, its sources and the options must outlive the run.
  RunState(const CheckedProgram &program, const SourceManager &sources, const RunOptions &options)
      : program_(program), sources_(sources), options_(options) {}
  RunState(const RunState &) = delete;
  RunState &operator=(const RunState &) = delete;

  const CheckedProgram &program() const { return program_; }
  const SourceManager &sources() const { return sources_; }
  const RunOptions &options() const { return options_; }
  /// The source text at a span; empty if there is none.
  std::string textOf(Span span) const;

  // ---- Frames and calls ------------------------------------------------------------------------

  /// The declaration that is being executed. Precondition: a `FrameScope` is alive.
  Frame &frame() { return *frame_; }
  const Frame &frame() const { return *frame_; }
  Value &local(const Local &local) { return frame_->locals[local.index]; }
  const Value &local(const Local &local) const { return frame_->locals[local.index]; }
  /// The number of calls on the stack below the body that is being executed.
  size_t depth() const { return depth_; }
  /// Whether the body that is being executed is that of a test, property or bench.
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

  // ---- Results of the run ----------------------------------------------------------------------

  /// Counts the elements of an array that an operation at `span` has created. Stops the run when
  /// all arrays together exceed the limit of the options.
  void countElements(const Value &made, Span span) {
    if (made.isArray() && (elements_ += made.asArray().count()) > options_.mostElements)
      stop(RunStatus::Memory, "operations give more elements than are allowed", span);
  }
  /// Records a failed expectation of a test; the test continues.
  void failExpectation(Span span, std::string message);
  /// Moves the failed expectations out.
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
  /// Executes a step. The observer is notified before it, and afterwards if the step stops the run.
  /// Precondition: there is an observer.
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

/// During its lifetime `frame` is the current frame of the run; then the caller's frame is current
/// again, also if an exception stops the run.
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

/// During its lifetime the run is in the body of a test or, one call deeper than before, in that of
/// a callee, which is not a test.
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
