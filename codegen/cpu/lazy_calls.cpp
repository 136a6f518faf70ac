#include "codegen/cpu/lazy_calls.h"

#include "llvm/ExecutionEngine/Orc/ObjectTransformLayer.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace ptl::cpu {

namespace {

/// One function, whose object code is asked for when somebody looks for its symbol.
class FunctionUnit : public orc::MaterializationUnit {
public:
  FunctionUnit(orc::LLJIT &jit, orc::SymbolStringPtr symbol, JitCode::LazyFunction function)
      : MaterializationUnit({{{symbol, flags()}}, nullptr}), jit_(jit),
        function_(std::move(function)) {}

  static JITSymbolFlags flags() { return JITSymbolFlags::Exported | JITSymbolFlags::Callable; }
  StringRef getName() const override { return function_.name; }

private:
  void materialize(std::unique_ptr<orc::MaterializationResponsibility> wanted) override {
    Expected<std::string> object = function_.object();
    if (!object) {
      jit_.getExecutionSession().reportError(object.takeError());
      wanted->failMaterialization();
      return;
    }
    jit_.getObjTransformLayer().emit(std::move(wanted),
                                     MemoryBuffer::getMemBufferCopy(*object, function_.name));
  }
  void discard(const orc::JITDylib &, const orc::SymbolStringPtr &) override {}

  orc::LLJIT &jit_;
  JitCode::LazyFunction function_;
};

} // namespace

// The caller is compiled code, which cannot be told of a failure.
static void noCode() {
  report_fatal_error("a function of compiled code could not be compiled", false);
}

Expected<std::unique_ptr<LazyCalls>>
LazyCalls::define(orc::LLJIT &jit, std::vector<JitCode::LazyFunction> functions) {
  orc::JITDylib &main = jit.getMainJITDylib();
  auto result = std::make_unique<LazyCalls>();
  Triple triple(sys::getProcessTriple());
  auto callThrough = orc::createLocalLazyCallThroughManager(triple, jit.getExecutionSession(),
                                                            orc::ExecutorAddr::fromPtr(&noCode));
  auto makeStubs = orc::createLocalIndirectStubsManagerBuilder(triple);
  bool isLazy = callThrough && makeStubs;
  if (!isLazy)
    consumeError(callThrough.takeError());
  // The functions lie in a library of their own, whose calls of each other go through the stubs of the main one, too.
  orc::JITDylib *library = &main;
  if (isLazy) {
    result->callThrough_ = std::move(*callThrough);
    result->stubs_ = makeStubs();
    auto created = jit.createJITDylib("functions");
    if (!created)
      return created.takeError();
    library = &*created;
    library->setLinkOrder({{&main, orc::JITDylibLookupFlags::MatchAllSymbols}}, false);
  }
  orc::SymbolAliasMap stubs;
  for (JitCode::LazyFunction &function : functions) {
    orc::SymbolStringPtr symbol = jit.mangleAndIntern(function.name);
    stubs[symbol] = {symbol, FunctionUnit::flags()};
    if (auto error =
            library->define(std::make_unique<FunctionUnit>(jit, symbol, std::move(function))))
      return error;
  }
  if (isLazy)
    if (auto error = main.define(
            orc::lazyReexports(*result->callThrough_, *result->stubs_, *library, std::move(stubs))))
      return error;
  return result;
}

} // namespace ptl::cpu
