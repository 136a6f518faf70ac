#include "codegen/cpu/lazy_calls.h"

#include "llvm/ExecutionEngine/Orc/ObjectTransformLayer.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace ptl::cpu {

namespace {

/// One function, whose code is asked for when somebody looks for its symbol.
class FunctionUnit : public orc::MaterializationUnit {
public:
  FunctionUnit(orc::LLJIT &jit, LazyCalls &calls, orc::SymbolStringPtr symbol,
               JitCode::LazyFunction function)
      : MaterializationUnit({{{symbol, flags()}}, nullptr}), jit_(jit), calls_(calls),
        function_(std::move(function)) {}

  static JITSymbolFlags flags() { return JITSymbolFlags::Exported | JITSymbolFlags::Callable; }
  StringRef getName() const override { return function_.name; }

private:
  void materialize(std::unique_ptr<orc::MaterializationResponsibility> wanted) override {
    Expected<JitCode::LazyCode> code = function_.code();
    // The linker is going to look for what the function calls.
    Error error = code ? calls_.add(std::move(code->functions)) : code.takeError();
    if (error) {
      jit_.getExecutionSession().reportError(std::move(error));
      wanted->failMaterialization();
      return;
    }
    jit_.getObjTransformLayer().emit(std::move(wanted),
                                     MemoryBuffer::getMemBufferCopy(code->object, function_.name));
  }
  void discard(const orc::JITDylib &, const orc::SymbolStringPtr &) override {}

  orc::LLJIT &jit_;
  LazyCalls &calls_;
  JitCode::LazyFunction function_;
};

} // namespace

// The caller is compiled code, which cannot be told of a failure.
static void noCode() {
  report_fatal_error("a function of compiled code could not be compiled", false);
}

Expected<std::unique_ptr<LazyCalls>>
LazyCalls::define(orc::LLJIT &jit, std::vector<JitCode::LazyFunction> functions) {
  std::unique_ptr<LazyCalls> result(new LazyCalls(jit));
  Triple triple(sys::getProcessTriple());
  auto callThrough = orc::createLocalLazyCallThroughManager(triple, jit.getExecutionSession(),
                                                            orc::ExecutorAddr::fromPtr(&noCode));
  auto makeStubs = orc::createLocalIndirectStubsManagerBuilder(triple);
  if (callThrough && makeStubs) {
    result->callThrough_ = std::move(*callThrough);
    result->stubs_ = makeStubs();
    auto created = jit.createJITDylib("functions");
    if (!created)
      return created.takeError();
    result->library_ = &*created;
    result->library_->setLinkOrder(
        {{&jit.getMainJITDylib(), orc::JITDylibLookupFlags::MatchAllSymbols}}, false);
  } else {
    consumeError(callThrough.takeError());
  }
  if (auto error = result->add(std::move(functions)))
    return error;
  return result;
}

Error LazyCalls::add(std::vector<JitCode::LazyFunction> functions) {
  std::lock_guard lock(mutex_);
  orc::SymbolAliasMap stubs;
  for (JitCode::LazyFunction &function : functions) {
    orc::SymbolStringPtr symbol = jit_.mangleAndIntern(function.name);
    if (!known_.insert(symbol).second)
      continue;
    stubs[symbol] = {symbol, FunctionUnit::flags()};
    if (auto error = library_->define(
            std::make_unique<FunctionUnit>(jit_, *this, symbol, std::move(function))))
      return error;
  }
  if (!stubs_ || stubs.empty())
    return Error::success();
  return jit_.getMainJITDylib().define(
      orc::lazyReexports(*callThrough_, *stubs_, *library_, std::move(stubs)));
}

} // namespace ptl::cpu
