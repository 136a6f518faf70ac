// The reference executor: it interprets the checked tree, with every run-time check. Floats
// accumulate in `f64` and every operation rounds to its element type; integers wrap. All other
// executors are compared with it.
#pragma once

#include "codegen/reference/status.h"
#include "codegen/reference/value.h"
#include "frontend/sema/checked_tree.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace ptl::reference {

/// A failed `expect…` of a test, which continues.
struct Expectation {
  Span span;
  std::string message;
};

struct RunResult {
  RunStatus status = RunStatus::Ok;
  std::string message;             ///< why it stopped; lower case, no full stop
  Span span = kNoSpan;             ///< where
  std::vector<Span> calls;         ///< the calls that led there, innermost first
  std::vector<Value> outputs;      ///< outputs of a kernel or program, results of a `fn`
  std::vector<Value> inouts;       ///< final values of the `inout` parameters, in order
  std::vector<Expectation> failed; ///< of tests

  bool ok() const { return status == RunStatus::Ok; }
};

class Observer; ///< observer.h

/// A call that a test, property or bench body makes.
struct CallRequest {
  const CallableDecl *callee = nullptr;
  std::vector<Value> args;                 ///< one per parameter, `inout`s with their value before
  std::vector<int64_t> dims;               ///< one per `callee->dims`
  std::vector<ElemKind> elems;             ///< one per `callee->typeParams`
  std::vector<int64_t> prefix;             ///< what `..` stands for
  std::map<std::string, int64_t> tunables; ///< set at the call
  Span span;                               ///< of the call
};

/// Executes a call elsewhere. If it returns nothing, the interpreter executes the call. If the
/// result is not ok, the body stops; otherwise its `outputs` and `inouts` are used. Requirements
/// (`where`) have been checked before.
using CallHandler = std::function<std::optional<RunResult>(const CallRequest &)>;

struct RunOptions {
  /// dimensions by name, for those that no argument determines
  std::map<std::string, int64_t> dims;
  std::map<std::string, ElemKind> elems;   ///< element types by name, likewise
  std::map<std::string, int64_t> tunables; ///< overrides of the entry's tunables
  std::optional<uint64_t>
      shuffle;         ///< runs iterations of `parallel` in an order drawn from this seed
  CallHandler handler; ///< for calls of test bodies
  std::function<void(const std::string &)>
      print;                    ///< takes lines of `print`; standard output if empty
  Observer *observer = nullptr; ///< is notified of every step; null: there is none
  /// The limit of elements of all arrays of the run together; exceeding it is `RunStatus::Memory`.
  int64_t mostElements = std::numeric_limits<int64_t>::max();
};

/// Calls an entry: any `fn`, kernel or program. Dimensions, element types and `..` are bound by the
/// arguments; every `where` is checked. `args` has one value per parameter; a missing one takes its
/// default.
RunResult runEntry(const CheckedProgram &program, const SourceManager &sources,
                   const CallableDecl &decl, std::vector<Value> args,
                   const RunOptions &options = {});

/// Runs the body of a test, property or bench; `options.dims` holds the sampled dimensions.
RunResult runBody(const CheckedProgram &program, const SourceManager &sources,
                  const CallableDecl &decl, const RunOptions &options = {});

/// The reason why a declaration cannot run here; empty if it can.
std::string unsupportedReason(const CallableDecl &decl);

/// Whether the executor implements a built-in. If it is implemented outside `evalOp`, `reason` says
/// where.
bool isImplemented(OpId op, std::string *reason = nullptr);

/// The value of a literal or a constant, as an element of that type.
Value valueOfConst(const ConstExpr &expr, ElemKind elem);

} // namespace ptl::reference
