#include "codegen/source/position_text.h"

#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace ptl::source {

// ---- From values --------------------------------------------------------------------------------

Dim Positions::of(Value value) {
  // Each value has one polynomial, so that equal positions are written alike.
  if (auto found = known_.find(value); found != known_.end())
    return found->second;
  Dim dim = compute(value);
  // What is no arithmetic becomes a symbol of its own.
  return known_[value] = dim ? dim : symbolOf(value);
}

Dim Positions::symbolOf(Value value) {
  // The kind of the symbol says how small a length can be.
  bool isLength = false;
  for (const auto &[name, argument] : names_)
    isLength |= argument == value;
  SymbolId symbol =
      dims_.addSymbol("v" + std::to_string(leaves_.size()),
                      isLength ? SymbolKind::DimensionParam : SymbolKind::ScalarValue);
  leaves_[symbol] = value;
  return dims_.symbolDim(symbol);
}

bool Positions::isLeaf(Dim dim, Value value) const {
  auto found = leaves_.find(dim.symbol().value_or(SymbolId{~0u}));
  return found != leaves_.end() && found->second == value;
}

/// Unknown if it is no arithmetic, or too large.
Dim Positions::compute(Value value) {
  // Constants of any width are numbers.
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return dims_.constant(number.getInt());
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIndex())
    return Dim();
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    const ir::Extent &extent = ir::extentsOf(dim.getSource().getType())[dim.getAxis()];
    return extent.isConstant() ? dims_.constant(extent.length) : named(extent.symbol.getValue());
  }
  auto operand = [&](unsigned i) { return of(op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, Dim>(op)
      .Case<arith::AddIOp>([&](auto) { return dims_.add(operand(0), operand(1)); })
      .Case<arith::SubIOp>([&](auto) { return dims_.sub(operand(0), operand(1)); })
      .Case<arith::MulIOp>([&](auto) { return dims_.mul(operand(0), operand(1)); })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return dims_.floorDiv(operand(0), operand(1)); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return dims_.ceilDiv(operand(0), operand(1)); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return dims_.mod(operand(0), operand(1)); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return dims_.min(operand(0), operand(1)); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return dims_.max(operand(0), operand(1)); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](auto cast) -> Dim {
        // One scalar is one leaf, whatever the width of the register.
        // The value may come through registers of several widths, and is one scalar in the source.
        Value in = cast.getIn();
        if (auto found = known_.find(in); found != known_.end())
          return found->second;
        return known_[in] = symbolOf(in);
      })
      .Default([](Operation *) { return Dim(); });
}

void Positions::knowMeaning(Value value, std::string_view text) {
  if (Dim meaning = named(text))
    known_[value] = meaning;
}

std::optional<std::string> Positions::inNames(Value value) {
  Dim dim = of(value);
  for (Value leaf : leavesOf(dim))
    // A text in names can only be given if each part of it has a name.
    if (llvm::none_of(names_, [&](const auto &name) { return name.second == leaf; }))
      return std::nullopt;
  return text(dim,
              [&](Value leaf) {
                for (const auto &[name, own] : names_)
                  if (own == leaf)
                    return Expression{name};
                return Expression{"0"};
              })
      .text;
}

void Positions::knowLength(const std::string &name, Value value) {
  // The same name may stand for several values, which are then one length.
  auto found = names_.find(name);
  if (found != names_.end())
    known_[value] = of(found->second);
  // A name that is an identifier becomes a symbol; anything else is a formula of such names.
  else if (isIdentifier(name))
    names_[name] = value;
  else if (Dim meaning = named(name))
    known_[value] = meaning;
}

void Positions::knowComputedLength(const std::string &name, Value value) {
  if (names_.try_emplace(name, value).second)
    known_[value] = symbolOf(value);
}

namespace {
/// Reads what `DimContext::toString` writes: a recursive descent parser for sums, products, powers and calls.
class LengthReader {
public:
  using Lookup = std::function<Dim(std::string_view)>;
  LengthReader(DimContext &dims, std::string_view text, Lookup lookup)
      : dims_(dims), rest_(text), lookup_(std::move(lookup)) {}

  Dim all() {
    Dim dim = sum();
    // What is left over was no formula, so nothing is known.
    return rest_.empty() ? dim : Dim();
  }

private:
  bool accept(std::string_view word) {
    while (rest_.starts_with(' '))
      rest_.remove_prefix(1);
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  Dim sum() {
    Dim value = accept("-") ? dims_.negate(product()) : product();
    for (;;)
      if (accept("+"))
        value = dims_.add(value, product());
      else if (accept("-"))
        value = dims_.sub(value, product());
      else
        return value;
  }
  Dim product() {
    Dim value = power();
    for (;;)
      if (accept("*"))
        value = dims_.mul(value, power());
      else if (accept("/"))
        value = dims_.floorDiv(value, power());
      else if (accept("%"))
        value = dims_.mod(value, power());
      else
        return value;
  }
  Dim power() {
    Dim base = primary(), value = base;
    if (accept("**"))
      for (int64_t times = primary().constant().value_or(1); times > 1; --times)
        value = dims_.mul(value, base);
    return value;
  }
  Dim primary() {
    if (accept("(")) {
      Dim value = sum();
      return accept(")") ? value : Dim();
    }
    size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 || rest_[end] == '_'))
      ++end;
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      return dims_.constant(std::atoll(word.c_str()));
    if (!accept("("))
      return lookup_(word);
    std::vector<Dim> operands = {sum()};
    while (accept(","))
      operands.push_back(sum());
    if (!accept(")") || operands.size() < 2)
      return Dim();
    return word == "min"    ? dims_.min(operands)
           : word == "max"  ? dims_.max(operands)
           : word == "cdiv" ? dims_.ceilDiv(operands[0], operands[1])
                            : Dim();
  }

  DimContext &dims_;
  std::string_view rest_;
  Lookup lookup_;
};
} // namespace

Dim Positions::named(std::string_view text) {
  return LengthReader(dims_, text,
                      [&](std::string_view name) {
                        if (auto found = names_.find(name); found != names_.end())
                          return of(found->second);
                        // A name that nobody has bound is a length of its own.
                        auto [symbol, isNew] = free_.try_emplace(std::string(name));
                        if (isNew)
                          symbol->second = dims_.symbolDim(
                              dims_.addSymbol(std::string(name), SymbolKind::DimensionParam));
                        return symbol->second;
                      })
      .all();
}

// ---- Abbreviations ------------------------------------------------------------------------------

void Positions::abbreviate(Dim dim, const std::string &name, mlir::Block *scope) {
  SymbolId symbol = dims_.addSymbol(name, SymbolKind::ScalarValue);
  abbreviations_.push_back({dim, dims_.symbolDim(symbol), scope});
  // Abbreviations are replaced in this order.
  // The longest first: others may be parts of it.
  std::stable_sort(abbreviations_.begin(), abbreviations_.end(),
                   [](const Abbreviation &a, const Abbreviation &b) {
                     return a.meaning.terms().size() > b.meaning.terms().size();
                   });
}

/// The product `a / b`, if `b` divides it.
static std::optional<std::vector<DimFactor>> quotient(const DimMonomial &a, const DimMonomial &b) {
  std::vector<DimFactor> rest;
  size_t found = 0;
  for (DimFactor factor : a.factors) {
    auto own = std::find_if(b.factors.begin(), b.factors.end(),
                            [&](const DimFactor &each) { return each.atom == factor.atom; });
    if (own != b.factors.end()) {
      if (own->power > factor.power)
        return std::nullopt;
      factor.power -= own->power;
      ++found;
    }
    if (factor.power > 0)
      rest.push_back(factor);
  }
  // Each factor of the divisor has to be found.
  return found == b.factors.size() ? std::optional(rest) : std::nullopt;
}

/// With the part replaced by its symbol wherever terms are multiples of it.
Dim Positions::without(Dim dim, const Abbreviation &part) {
  // A constant is shorter than any name for it.
  std::span<const DimTerm> wanted = part.meaning.terms();
  if (wanted.empty() || part.meaning.isConstant())
    return dim;
  // The last term of the part is looked for first, and then the rest of it has to fit as well.
  for (const DimTerm &term : dim.terms()) {
    const DimTerm &first = wanted.back();
    // The part has to occur a whole number of times.
    if (term.coefficient % first.coefficient != 0)
      continue;
    auto rest = quotient(*term.monomial, *first.monomial);
    if (!rest)
      continue;
    // Alone it may be a factor of a product, a sum stands as it is.
    if (wanted.size() > 1 && !rest->empty())
      continue;
    Dim factor = dims_.constant(term.coefficient / first.coefficient);
    for (const DimFactor &each : *rest)
      for (uint32_t i = 0; i < each.power; ++i)
        factor = dims_.mul(factor, dims_.atomDim(*each.atom));
    Dim left = dims_.sub(dim, dims_.mul(part.meaning, factor));
    // The replacement is right only if all terms of the part disappear.
    if (!left || left.terms().size() + wanted.size() != dim.terms().size())
      continue;
    // The part may occur again in what is left.
    return dims_.add(without(left, part), dims_.mul(part.symbol, factor));
  }
  return dim;
}

static Dim make(DimContext &context, DimAtomKind kind, const std::vector<Dim> &operands) {
  return kind == DimAtomKind::FloorDiv ? context.floorDiv(operands[0], operands[1])
         : kind == DimAtomKind::Min    ? context.min(operands)
                                       : context.max(operands);
}

// Operands of divisions and choices are shortened inside.
Dim Positions::shortenedAtoms(Dim dim) {
  Dim sum = dims_.constant(0);
  for (const DimTerm &term : dim.terms()) {
    Dim product = dims_.constant(term.coefficient);
    for (const DimFactor &factor : term.monomial->factors) {
      std::vector<Dim> operands;
      for (Dim operand : factor.atom->operands)
        operands.push_back(shortened(operand));
      bool isSymbol = factor.atom->kind == DimAtomKind::Symbol;
      Dim atom = isSymbol ? dims_.atomDim(*factor.atom) : make(dims_, factor.atom->kind, operands);
      for (uint32_t i = 0; i < factor.power; ++i)
        product = dims_.mul(product, atom);
    }
    sum = dims_.add(sum, product);
  }
  return sum ? sum : dim;
}

/// `c*m*(a - b*(a/b))` as `c*m*(a % b)`, so that no abbreviation of the division hides it.
Dim Positions::withRemainders(Dim dim) {
  for (const DimTerm &term : dim.terms())
    for (const DimFactor &division : term.monomial->factors) {
      if (division.atom->kind != DimAtomKind::FloorDiv)
        continue;
      Dim a = division.atom->operands[0], b = division.atom->operands[1];
      // The last term of the divisor tells which multiple of the division would cancel.
      const DimTerm &lead = b.terms().back();
      DimMonomial quotientOnly;
      DimFactor one{division.atom, 1};
      quotientOnly.factors = {&one, 1};
      auto rest = quotient(*term.monomial, quotientOnly);
      if (!rest || term.coefficient % lead.coefficient != 0)
        continue;
      DimMonomial open;
      open.factors = *rest;
      rest = quotient(open, *lead.monomial);
      if (!rest)
        continue;
      Dim factor = dims_.constant(-(term.coefficient / lead.coefficient));
      // What is left of the term is the factor in front of the remainder.
      for (const DimFactor &each : *rest)
        for (uint32_t i = 0; i < each.power; ++i)
          factor = dims_.mul(factor, dims_.atomDim(*each.atom));
      Dim left = dims_.sub(dim, dims_.mul(factor, dims_.mod(a, b)));
      // The sum has to become shorter, or the remainder was not there.
      if (!left || left.terms().size() + 1 >= dim.terms().size())
        continue;
      SymbolId symbol{~0u};
      // Equal remainders share a symbol.
      for (const auto &[known, operands] : remainders_)
        if (operands == std::pair(a, b))
          symbol = known;
      if (symbol.index == ~0u) {
        symbol = dims_.addSymbol("%", SymbolKind::RangeCount);
        remainders_[symbol] = {a, b};
      }
      return dims_.add(withRemainders(left), dims_.mul(factor, dims_.symbolDim(symbol)));
    }
  return dim;
}

Dim Positions::shortened(Dim dim) {
  // The whole sum may have a name.
  for (const Abbreviation &each : abbreviations_)
    if (each.meaning == dim)
      return each.symbol;
  // Sums go before remainders and single terms after them, since a single term may be part of a
  // remainder.
  for (const Abbreviation &each : abbreviations_)
    if (each.meaning.terms().size() > 1)
      dim = without(dim, each);
  dim = withRemainders(dim);
  for (const Abbreviation &each : abbreviations_)
    if (each.meaning.terms().size() == 1)
      dim = without(dim, each);
  return shortenedAtoms(dim);
}

// ---- Text ---------------------------------------------------------------------------------------

static void collectSymbols(Dim dim, std::set<SymbolId> &symbols) {
  forEachSymbol(dim, [&](SymbolId symbol) { symbols.insert(symbol); });
}

std::vector<Value> Positions::leavesOf(Dim dim) const {
  std::set<SymbolId> found;
  collectSymbols(dim, found);
  std::vector<Value> values;
  for (SymbolId symbol : found)
    if (auto leaf = leaves_.find(symbol); leaf != leaves_.end())
      values.push_back(leaf->second);
  return values;
}

/// `min` and `max` take two operands: `min(a, b, c)` is `min(a, min(b, c))`.
static std::string nested(std::string text) {
  // The text may hold several calls, also inside of each other.
  for (size_t at = 0; at + 4 < text.size(); ++at) {
    std::string name = text.substr(at, 4);
    // The name has to be a word of its own.
    bool isCall = (name == "min(" || name == "max(") &&
                  (at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 &&
                               text[at - 1] != '_'));
    if (!isCall)
      continue;
    int depth = 0;
    std::vector<size_t> commas;
    size_t end = at + 4;
    for (; end < text.size() && depth >= 0; ++end) {
      depth += text[end] == '(' || text[end] == '[' ? 1 : 0;
      depth -= text[end] == ')' || text[end] == ']' ? 1 : 0;
      if (text[end] == ',' && depth == 0)
        commas.push_back(end);
    }
    // A call of two operands can stay.
    if (commas.size() < 2 || depth >= 0)
      continue;
    // The end comes first, so that the position of the comma stays right.
    text.insert(end, ")");
    text.insert(commas[0] + 2, name);
  }
  return text;
}

/// The symbols of a dimension in a context of their own, made in the order of their names.
struct Positions::Copy {
  DimContext context;
  std::map<SymbolId, Dim> symbols;

  Copy(const DimContext &from, const std::set<SymbolId> &found,
       const std::map<SymbolId, std::string> &spellings) {
    // Symbols get their numbers in the order of their names, so that the printed order does not
    // depend on how the IR was made.
    std::vector<std::pair<std::string, SymbolId>> names;
    for (SymbolId symbol : found)
      names.emplace_back(spellings.at(symbol), symbol);
    std::sort(names.begin(), names.end());
    for (const auto &[name, symbol] : names)
      symbols[symbol] = context.symbolDim(context.addSymbol(name, from.symbol(symbol).kind));
  }
};

Dim Positions::copied(const DimAtom &atom, Copy &copy) {
  if (atom.kind == DimAtomKind::Symbol)
    return copy.symbols.at(atom.symbol);
  std::vector<std::pair<std::string, Dim>> operands;
  for (Dim operand : atom.operands)
    operands.emplace_back(spelled(operand), operand);
  if (atom.kind != DimAtomKind::FloorDiv)
    // A division has an order of its own; choices do not.
    std::sort(operands.begin(), operands.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Dim> own;
  for (const auto &[text, operand] : operands)
    own.push_back(copied(operand, copy));
  return make(copy.context, atom.kind, own);
}

/// Its parts are made in the order of their texts: that is the order in which they are written.
Dim Positions::copied(Dim dim, Copy &copy) {
  // Atoms are ordered by their texts for the same reason.
  std::map<std::string, const DimAtom *> atoms;
  for (const DimTerm &term : dim.terms())
    for (const DimFactor &factor : term.monomial->factors)
      if (factor.atom->kind != DimAtomKind::Symbol)
        atoms[spelled(*factor.atom)] = factor.atom;
  std::map<const DimAtom *, Dim> copies;
  for (const auto &[text, atom] : atoms)
    copies[atom] = copied(*atom, copy);
  Dim sum = copy.context.constant(0);
  for (const DimTerm &term : dim.terms()) {
    Dim product = copy.context.constant(term.coefficient);
    for (const DimFactor &factor : term.monomial->factors) {
      auto found = copies.find(factor.atom);
      Dim atom = found == copies.end() ? copied(*factor.atom, copy) : found->second;
      for (uint32_t i = 0; i < factor.power; ++i)
        product = copy.context.mul(product, atom);
    }
    sum = copy.context.add(sum, product);
  }
  return sum;
}

std::string Positions::spelled(const DimAtom &atom) {
  if (auto known = spelledAtoms_.find(&atom); known != spelledAtoms_.end())
    return known->second;
  std::set<SymbolId> found;
  for (Dim operand : atom.operands)
    collectSymbols(operand, found);
  Copy copy(dims_, found, spellings_);
  return spelledAtoms_[&atom] = copy.context.toString(copied(atom, copy));
}

std::string Positions::spelled(Dim dim) {
  if (auto known = spelledSums_.find(dim.id()); known != spelledSums_.end())
    return known->second;
  std::set<SymbolId> found;
  collectSymbols(dim, found);
  Copy copy(dims_, found, spellings_);
  return spelledSums_[dim.id()] = copy.context.toString(copied(dim, copy));
}

bool isReadAsPosition(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<pto::LoadScalarOp, pto::TGetValOp>(op) && value.getType().isSignlessInteger() &&
         !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
           auto cast = dyn_cast<arith::IndexCastOp>(user);
           return cast && cast.getType().isIndex();
         });
}

static bool isElement(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<pto::LoadScalarOp, pto::TGetValOp>(op) && !value.getType().isIndex() &&
         !isReadAsPosition(value);
}

bool Positions::isElement(Dim dim) const {
  auto found = leaves_.find(dim.symbol().value_or(SymbolId{~0u}));
  return found != leaves_.end() && source::isElement(found->second);
}

Expression Positions::text(Dim whole, const Leaf &leaf) {
  Dim dim = shortened(whole);
  std::set<SymbolId> found;
  collectSymbols(dim, found);
  std::map<SymbolId, std::string> spellings;
  for (SymbolId symbol : found) {
    // A remainder is written as such, with its operands.
    if (auto remainder = remainders_.find(symbol); remainder != remainders_.end()) {
      Expression own =
          binary(text(remainder->second.first, leaf), "%", text(remainder->second.second, leaf));
      // If the whole is the one symbol, it needs no brackets.
      if (dim.symbol() == symbol)
        return own;
      spellings[symbol] = own.as(Precedence::Postfix);
      continue;
    }
    if (auto value = leaves_.find(symbol); value != leaves_.end()) {
      Expression own = leaf(value->second);
      if (dim.symbol() == symbol)
        return own;
      // Any integer is a position, but its arithmetic is not that of positions.
      spellings[symbol] =
          source::isElement(value->second) ? "int(" + own.text + ")" : own.as(Precedence::Postfix);
    } else {
      spellings[symbol] = dims_.symbol(symbol).name;
    }
  }
  spellings_ = std::move(spellings);
  spelledSums_.clear();
  spelledAtoms_.clear();
  return dimension(nested(spelled(dim)));
}

} // namespace ptl::source
