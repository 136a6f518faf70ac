// Assembly for readers: what only debuggers and linkers need is left out, and the `.loc` directives
// become the map.
#include "lsp/worker/print_ir.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace ptl::worker {

namespace {

class Cleaner {
public:
  explicit Cleaner(const LineNumbers &numbers) : numbers_(numbers) {}

  void line(llvm::StringRef line);
  StageText take() { return std::move(result_); }

private:
  bool directive(llvm::StringRef word, llvm::StringRef rest, llvm::StringRef line);
  void location(llvm::StringRef rest);
  void keep(llvm::StringRef line, bool isInstruction);

  const LineNumbers &numbers_;
  StageText result_;
  llvm::DenseMap<unsigned, uint32_t> interned_;
  uint32_t origin_ = LineMap::kNone; ///< of what follows
  size_t lines_ = 0;
  bool inDebug_ = false; ///< in a section for debuggers
};

void Cleaner::keep(llvm::StringRef line, bool isInstruction) {
  result_.text += line;
  result_.text += '\n';
  if (isInstruction) {
    if (origin_ != LineMap::kNone)
      result_.map.set(lines_, origin_);
    result_.facts.resize(lines_ + 1);
    llvm::StringRef text = line.ltrim();
    result_.facts[lines_].op = text.take_until([](char c) { return c == ' ' || c == '\t'; });
  }
  ++lines_;
}

/// `1 23 0 prologue_end`: file, line, column.
void Cleaner::location(llvm::StringRef rest) {
  unsigned file = 0, number = 0;
  origin_ = LineMap::kNone;
  rest = rest.ltrim();
  if (rest.consumeInteger(10, file))
    return;
  rest = rest.ltrim();
  if (rest.consumeInteger(10, number))
    return;
  const std::vector<Span> *spans = numbers_.find(number);
  if (!spans)
    return;
  auto [origin, isNew] = interned_.try_emplace(number, 0);
  if (isNew)
    origin->second = result_.map.intern(*spans);
  origin_ = origin->second;
}

/// True for what is kept.
bool Cleaner::directive(llvm::StringRef word, llvm::StringRef rest, llvm::StringRef line) {
  if (word == ".loc") {
    location(rest);
    return false;
  }
  if (word == ".section" || word == ".text" || word == ".data" || word == ".bss") {
    inDebug_ = rest.ltrim().starts_with(".debug") || rest.ltrim().starts_with("\".note");
    return false;
  }
  if (word.starts_with(".cfi_"))
    return false;
  return llvm::is_contained({".byte", ".short", ".long", ".quad", ".zero", ".ascii", ".asciz",
                             ".value", ".2byte", ".4byte", ".8byte"},
                            word);
}

void Cleaner::line(llvm::StringRef line) {
  llvm::StringRef text = line.trim();
  if (text.empty())
    return;
  bool isIndented = line.front() == '\t' || line.front() == ' ';
  if (!isIndented && text.front() == '.' && text.contains(':')) {
    llvm::StringRef label = text.take_until([](char c) { return c == ':'; });
    bool isNoise = label.starts_with(".Ltmp") || label.starts_with(".Lfunc_") ||
                   label.starts_with(".Ldebug") || label.starts_with(".Linfo") ||
                   label.starts_with(".Lsection") || label.starts_with(".Lline");
    if (!isNoise && !inDebug_)
      keep(line.rtrim(), false);
    return;
  }
  if (!isIndented) {
    // A function begins, or a comment stands alone.
    bool isFunction = text.contains(':') && text.front() != '#';
    if (isFunction)
      origin_ = LineMap::kNone;
    if (isFunction && lines_ > 0 && !inDebug_)
      keep("", false);
    if (!inDebug_)
      keep(line.rtrim(), false);
    return;
  }
  if (text.front() == '.') {
    llvm::StringRef word = text.take_until([](char c) { return c == ' ' || c == '\t'; });
    if (directive(word, text.drop_front(word.size()), line) && !inDebug_)
      keep(line.rtrim(), false);
    return;
  }
  if (!inDebug_)
    keep(line.rtrim(), text.front() != '#');
}

} // namespace

StageText cleanAssembly(std::string_view assembly, const LineNumbers &numbers) {
  Cleaner cleaner(numbers);
  for (std::string_view line : linesOf(assembly))
    cleaner.line(line);
  return cleaner.take();
}

} // namespace ptl::worker
