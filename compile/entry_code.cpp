#include "compile/entry_code.h"

#include "compile/kept_code.h"
#include "compile/key_hash.h"

namespace ptl {

// A text is a list of parts, each behind its length: the object, then name and recipe of each function.
static void addPart(std::string &text, llvm::StringRef part) {
  text += std::to_string(part.size()) + ":";
  text += part;
}

static std::optional<std::string> takePart(llvm::StringRef &text) {
  size_t length = 0;
  if (text.consumeInteger(10, length) || !text.consume_front(":") || text.size() < length)
    return std::nullopt;
  std::string part = text.take_front(length).str();
  text = text.drop_front(length);
  return part;
}

std::string EntryCode::text() const {
  std::string text;
  addPart(text, object);
  for (const cpu::DeferredFunction &function : functions) {
    addPart(text, function.name);
    addPart(text, function.recipe);
  }
  return text;
}

std::optional<EntryCode> EntryCode::ofText(llvm::StringRef text) {
  std::optional<std::string> object = takePart(text);
  if (!object)
    return std::nullopt;
  EntryCode code{std::move(*object), {}};
  while (!text.empty()) {
    std::optional<std::string> name = takePart(text);
    std::optional<std::string> recipe = takePart(text);
    if (!name || !recipe)
      return std::nullopt;
    code.functions.push_back({std::move(*name), std::move(*recipe)});
  }
  return code;
}

static std::string keyOf(const CompilerOptions &options, const cpu::DeferredFunction &function) {
  KeyHash key;
  for (const std::string &text : {buildIdentity(), options.processor.triple, options.processor.name,
                                  options.processor.features, function.recipe})
    key.add(text);
  key.add(uint64_t(options.level));
  return key.text();
}

std::shared_ptr<EntryCompiler> EntryCompiler::create(const CompileContext &context) {
  return std::shared_ptr<EntryCompiler>(new EntryCompiler(context));
}

llvm::Expected<std::string> EntryCompiler::objectOf(llvm::Module &module) {
  std::lock_guard lock(mutex_);
  return objectAlone(module);
}

llvm::Expected<std::string> EntryCompiler::objectAlone(llvm::Module &module) {
  const CompilerOptions &options = context_.options();
  if (!emitter_) {
    auto machine = cpu::makeTargetMachine(options.processor, cpu::qualityAt(options.level));
    if (!machine)
      return machine.takeError();
    emitter_ = std::make_unique<cpu::ObjectEmitter>(std::move(*machine));
  }
  cpu::optimise(module, emitter_->machine(), options.level);
  return emitter_->emit(module);
}

std::vector<cpu::JitCode::LazyFunction>
EntryCompiler::lazyFunctions(const cpu::DeferredFunctions &functions) {
  std::vector<cpu::JitCode::LazyFunction> result;
  for (const cpu::DeferredFunction &function : functions)
    result.push_back(
        {function.name,
         [self = shared_from_this(), function]() -> llvm::Expected<cpu::JitCode::LazyCode> {
           // The first call may come from any thread of the running program.
           std::lock_guard lock(self->mutex_);
           llvm::Expected<EntryCode> code = self->codeOf(function);
           if (!code)
             return code.takeError();
           return cpu::JitCode::LazyCode{std::move(code->object),
                                         self->lazyFunctions(code->functions)};
         }});
  return result;
}

llvm::Expected<EntryCode> EntryCompiler::codeOf(const cpu::DeferredFunction &function) {
  const DiskCache *cache = context_.options().cache.get();
  if (!cache)
    return compile(function);
  std::string key = keyOf(context_.options(), function);
  std::optional<std::string> text = cache->find(key);
  if (std::optional<EntryCode> code = text ? EntryCode::ofText(*text) : std::nullopt)
    return std::move(*code);
  llvm::Expected<EntryCode> code = compile(function);
  if (code)
    cache->store(key, code->text());
  return code;
}

llvm::Expected<EntryCode> EntryCompiler::compile(const cpu::DeferredFunction &function) {
  EntryCode code;
  auto blocks = cpu::deferredFunction(context_.mlir(), function.recipe,
                                      context_.options().processor.vectors, code.functions);
  if (!blocks)
    return llvm::createStringError("its description cannot be turned into a function");
  auto translated = cpu::blocksToLlvm(*blocks);
  if (!translated)
    return translated.takeError();
  llvm::Expected<std::string> object = objectAlone(*translated->module);
  if (!object)
    return object.takeError();
  code.object = std::move(*object);
  return code;
}

} // namespace ptl
