// Makes assembly readable: what only debuggers and linkers need is removed, and `.loc` directives
// become numbers of locations.

#include "lsp/worker/assembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace ptl::worker {

namespace {

class Splitter {
public:
  explicit Splitter(const Needs &needs) : needs_(needs) {}

  void line(llvm::StringRef line);
  FunctionCodes take();

private:
  void label(llvm::StringRef name, llvm::StringRef line);
  void localLabel(llvm::StringRef name, llvm::StringRef line);
  bool directive(llvm::StringRef word, llvm::StringRef rest);
  void location(llvm::StringRef rest);
  void keep(llvm::StringRef line, bool isInstruction);

  const Needs &needs_;
  FunctionCodes codes_;
  std::map<std::string, std::string> data_;
  FunctionCode constants_;           ///< of the next function, which they precede
  FunctionCode *function_ = nullptr; ///< to which the present lines belong
  FunctionCode *last_ = nullptr;     ///< the previous one, which has ended
  std::string *datum_ = nullptr;
  uint32_t origin_ = 0;  ///< of the following instructions
  bool inDebug_ = false; ///< inside a section for debuggers
};

void Splitter::keep(llvm::StringRef line, bool isInstruction) {
  if (inDebug_)
    return;
  line = line.rtrim();
  if (datum_) {
    *datum_ += line.str() + "\n";
    return;
  }
  LineFacts facts;
  if (isInstruction)
    facts.op = line.ltrim().take_until([](char c) { return c == ' ' || c == '\t'; });
  (function_ ? *function_ : constants_)
      .addLine(line, isInstruction ? origin_ : 0, std::move(facts));
}

/// `1 23 0 prologue_end`: file, line, column.
void Splitter::location(llvm::StringRef rest) {
  unsigned file = 0, number = 0;
  origin_ = 0;
  rest = rest.ltrim();
  if (rest.consumeInteger(10, file))
    return;
  rest = rest.ltrim();
  if (!rest.consumeInteger(10, number))
    // `numberPlaces` has stored the number of the location in the place of the line.
    origin_ = number;
}

/// Whether a directive is kept in the text.
bool Splitter::directive(llvm::StringRef word, llvm::StringRef rest) {
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

void Splitter::localLabel(llvm::StringRef name, llvm::StringRef line) {
  if (name.consume_front(".Lfunc_end")) {
    if (function_)
      name.getAsInteger(10, function_->number);
    last_ = std::exchange(function_, nullptr);
    return;
  }
  // The code generator puts a function's jump tables behind it, and its constants in front of it.
  if (name.starts_with(".LJTI") && !function_)
    function_ = last_;
  else if (name.starts_with(".LCPI"))
    function_ = nullptr;
  bool isNoise = name.starts_with(".Ltmp") || name.starts_with(".Lfunc_") ||
                 name.starts_with(".Ldebug") || name.starts_with(".Linfo") ||
                 name.starts_with(".Lsection") || name.starts_with(".Lline");
  if (!isNoise)
    keep(line, false);
}

/// A label at the margin starts a function or a datum.
void Splitter::label(llvm::StringRef name, llvm::StringRef line) {
  origin_ = 0;
  datum_ = nullptr;
  if (auto needs = needs_.find(name.str()); needs != needs_.end()) {
    function_ = &codes_[needs->first];
    *function_ = std::exchange(constants_, {});
  } else {
    function_ = nullptr;
    datum_ = &data_[name.str()];
  }
  keep(line, false);
}

void Splitter::line(llvm::StringRef line) {
  llvm::StringRef text = line.trim();
  if (text.empty() || text.starts_with("# -- "))
    return;
  bool isIndented = line.front() == '\t' || line.front() == ' ';
  if (!isIndented && text.front() != '#' && text.contains(':')) {
    llvm::StringRef name = text.take_until([](char c) { return c == ':'; });
    return name.starts_with(".L") ? localLabel(name, line) : label(name.trim('"'), line);
  }
  if (isIndented && text.front() == '.') {
    llvm::StringRef word = text.take_until([](char c) { return c == ' ' || c == '\t'; });
    if (!directive(word, text.drop_front(word.size())))
      return;
  }
  // A comment on a line of its own does not belong to an instruction.
  keep(line, isIndented && text.front() != '#' && text.front() != '.');
}

FunctionCodes Splitter::take() {
  for (auto &[name, code] : codes_)
    for (const std::string &each : needs_.at(name))
      if (auto found = data_.find(each); found != data_.end())
        code.needs.push_back({FunctionCode::Need::Kind::Data, each, found->second});
  return std::move(codes_);
}

} // namespace

FunctionCodes splitAssembly(std::string_view assembly, const Needs &needs) {
  Splitter splitter(needs);
  for (std::string_view line : linesOf(assembly))
    splitter.line(line);
  return splitter.take();
}

} // namespace ptl::worker
