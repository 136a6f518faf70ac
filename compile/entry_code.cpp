#include "compile/entry_code.h"

#include "compile/kept_code.h"
#include "compile/key_hash.h"

#include <memory>
#include <mutex>

namespace ptl {

// A text is a list of parts, each behind its length: the object, then name and bitcode of each function.
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
  for (const cpu::SeparateFunction &function : functions) {
    addPart(text, function.name);
    addPart(text, function.bitcode);
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
    std::optional<std::string> bitcode = takePart(text);
    if (!name || !bitcode)
      return std::nullopt;
    code.functions.push_back({std::move(*name), std::move(*bitcode)});
  }
  return code;
}

static std::string keyOf(const CompilerOptions &options, const cpu::SeparateFunction &function) {
  KeyHash key;
  for (const std::string &text : {buildIdentity(), options.processor.triple, options.processor.name,
                                  options.processor.features, function.bitcode})
    key.add(text);
  key.add(uint64_t(options.level));
  return key.text();
}

namespace {

/// Compiles the functions of one entry, one at a time.
class FunctionCompiler {
public:
  explicit FunctionCompiler(const CompilerOptions &options)
      : processor_(options.processor), level_(options.level) {}

  llvm::Expected<std::string> compile(const cpu::SeparateFunction &function) {
    std::lock_guard lock(mutex_);
    if (!machine_) {
      auto made = cpu::makeTargetMachine(processor_, cpu::qualityAt(level_));
      if (!made)
        return made.takeError();
      machine_ = std::move(*made);
    }
    return cpu::compileFunction(function, *machine_, level_);
  }

private:
  std::mutex mutex_;
  cpu::Processor processor_;
  int level_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

} // namespace

std::vector<cpu::JitCode::LazyFunction> lazyFunctions(const CompilerOptions &options,
                                                      const cpu::SeparateFunctions &functions) {
  auto compiler = std::make_shared<FunctionCompiler>(options);
  std::vector<cpu::JitCode::LazyFunction> result;
  for (const cpu::SeparateFunction &function : functions) {
    std::string key = options.cache ? keyOf(options, function) : "";
    result.push_back({function.name, [=, cache = options.cache]() -> llvm::Expected<std::string> {
                        if (cache)
                          if (std::optional<std::string> object = cache->find(key))
                            return std::move(*object);
                        auto object = compiler->compile(function);
                        if (object && cache)
                          cache->store(key, *object);
                        return object;
                      }});
  }
  return result;
}

} // namespace ptl
