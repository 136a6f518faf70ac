#include "lsp/worker/function_code.h"

#include "llvm/ADT/StringExtras.h"

namespace ptl::worker {

void FunctionCode::addLine(llvm::StringRef line, uint32_t origin, LineFacts lineFacts) {
  text += line;
  text += '\n';
  origins.push_back(origin);
  facts.push_back(std::move(lineFacts));
}

// ---- The cache ----------------------------------------------------------------------------------

FunctionCodePtr FunctionCache::find(llvm::XXH128_hash_t digest, StageId id) {
  auto found = byKey_.find({digest.low64, digest.high64, id});
  if (found == byKey_.end())
    return nullptr;
  entries_.splice(entries_.end(), entries_, found->second);
  return found->second->code;
}

void FunctionCache::add(llvm::XXH128_hash_t digest, StageId id, FunctionCodePtr code) {
  Key key = {digest.low64, digest.high64, id};
  if (byKey_.contains(key))
    return;
  bytes_ += code->bytes();
  entries_.push_back({key, std::move(code)});
  byKey_[key] = std::prev(entries_.end());
  // One entry always stays, even if it alone exceeds the capacity, because the caller is about to
  // use it.
  while (entries_.size() > 1 && bytes_ > capacity_) {
    bytes_ -= entries_.front().code->bytes();
    byKey_.erase(entries_.front().key);
    entries_.pop_front();
  }
}

// ---- Joining ------------------------------------------------------------------------------------

namespace {

class Joiner {
public:
  Joiner(StageId id, const std::vector<PlacedCode> &functions) : id_(id) {
    // A function that is defined in this text needs no declaration.
    for (const PlacedCode &each : functions)
      added_.emplace(FunctionCode::Need::Kind::Declaration, each.name);
  }

  void needs(const FunctionCode &code, FunctionCode::Need::Kind kind);
  void function(const PlacedCode &placed);
  void attributes();
  StageText take() { return std::move(result_); }

private:
  void add(llvm::StringRef text);
  void addBlank() {
    if (!result_.text.empty())
      add("\n");
  }
  void addRenumberedIr(const FunctionCode &code, llvm::StringRef text);
  void addRenumberedAssembly(const FunctionCode &code, llvm::StringRef text);

  StageId id_;
  StageText result_;
  size_t lines_ = 0;
  unsigned functions_ = 0;
  std::set<std::pair<FunctionCode::Need::Kind, std::string>> added_;
  std::map<std::string, unsigned> attributes_;
};

void Joiner::add(llvm::StringRef text) {
  result_.text += text;
  lines_ += text.count('\n');
}

unsigned numberAt(llvm::StringRef text, size_t at, size_t &end) {
  unsigned number = 0;
  for (end = at; end < text.size() && llvm::isDigit(text[end]); ++end)
    number = number * 10 + static_cast<unsigned>(text[end] - '0');
  return number;
}

/// Replaces ` #3`, a reference to an attribute list of the function's own module, by the number of
/// that list in the joined text.
void Joiner::addRenumberedIr(const FunctionCode &code, llvm::StringRef text) {
  size_t done = 0;
  for (size_t at = text.find(" #"); at != text.npos; at = text.find(" #", at + 2)) {
    size_t end = at;
    auto attribute = code.attributes.find(numberAt(text, at + 2, end));
    if (end == at + 2 || attribute == code.attributes.end())
      continue;
    unsigned next = static_cast<unsigned>(attributes_.size());
    unsigned number = attributes_.try_emplace(attribute->second, next).first->second;
    add(text.slice(done, at + 2));
    result_.text += std::to_string(number);
    done = end;
  }
  add(text.substr(done));
}

/// Replaces the function's number in labels, the 3 of `.LBB3_1`, `.LCPI3_0`, and of ` BB3_1` or
/// `=BB3_1` in comments: each function was numbered in the module in which it was compiled.
void Joiner::addRenumberedAssembly(const FunctionCode &code, llvm::StringRef text) {
  std::string before = std::to_string(code.number) + "_", after = std::to_string(functions_) + "_";
  size_t done = 0;
  for (size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
    // The digits alone could be part of any operand. They are a label's only after upper-case
    // letters that follow one of the three separators.
    size_t letters = at;
    while (letters > done && llvm::isUpper(text[letters - 1]))
      --letters;
    llvm::StringRef front = text.slice(letters ? letters - 1 : 0, letters);
    bool isLabel = letters < at && (front == "." || front == " " || front == "=");
    if (!isLabel)
      continue;
    add(text.slice(done, at));
    result_.text += after;
    done = at + before.size();
  }
  add(text.substr(done));
}

void Joiner::needs(const FunctionCode &code, FunctionCode::Need::Kind kind) {
  for (const FunctionCode::Need &need : code.needs) {
    if (need.kind != kind || !added_.emplace(kind, need.name).second)
      continue;
    if (id_ == StageId::Asm || kind == FunctionCode::Need::Kind::Declaration)
      addBlank();
    id_ == StageId::Asm ? add(need.text) : addRenumberedIr(code, need.text);
  }
}

void Joiner::function(const PlacedCode &placed) {
  const FunctionCode &code = *placed.code;
  addBlank();
  // Locations are shared by lines, so each is interned once per function.
  std::vector<uint32_t> interned(placed.origins.size() + 1, LineMap::kNone);
  for (size_t i = 0; i < code.origins.size(); ++i) {
    uint32_t number = code.origins[i];
    if (number == 0 || number > placed.origins.size())
      continue;
    if (interned[number] == LineMap::kNone)
      interned[number] = result_.map.intern(placed.origins[number - 1]);
    if (interned[number] != LineMap::kNone)
      result_.map.set(lines_ + i, interned[number]);
  }
  // Lines between functions have no facts; the resize aligns the facts with the line numbers.
  result_.facts.resize(lines_);
  result_.facts.insert(result_.facts.end(), code.facts.begin(), code.facts.end());
  id_ == StageId::Asm ? addRenumberedAssembly(code, code.text) : addRenumberedIr(code, code.text);
  ++functions_;
}

void Joiner::attributes() {
  std::vector<const std::string *> byNumber(attributes_.size());
  for (const auto &[text, number] : attributes_)
    byNumber[number] = &text;
  if (!byNumber.empty())
    addBlank();
  for (size_t i = 0; i < byNumber.size(); ++i)
    add("attributes #" + std::to_string(i) + " = " + *byNumber[i] + "\n");
}

} // namespace

StageText joined(const std::vector<PlacedCode> &functions, StageId id) {
  using Kind = FunctionCode::Need::Kind;
  Joiner joiner(id, functions);
  auto needs = [&](Kind kind) {
    for (const PlacedCode &each : functions)
      joiner.needs(*each.code, kind);
  };
  needs(Kind::Header);
  // LLVM IR has its data before the functions, assembly has them behind, as the respective printers
  // do.
  if (id == StageId::Llvm)
    needs(Kind::Data);
  for (const PlacedCode &each : functions)
    joiner.function(each);
  if (id == StageId::Asm)
    needs(Kind::Data);
  needs(Kind::Declaration);
  joiner.attributes();
  return joiner.take();
}

} // namespace ptl::worker
