// Products: `einsum` and products with vectors as products of matrices.
#include "passes/transform/legalize/legalize_product.h"

#include "ir/dialect/make_op.h"
#include "passes/transform/legalize/legalize_product_loops.h"
#include "passes/transform/legalize/legalize_shape.h"

#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include <string>

using namespace mlir;

namespace ptl::ir::legalize {

// ---- products with vectors ----------------------------------------------------------------------

static Value matmul(const Tiles &t, Value a, Value b, Type acc, StringAttr precision) {
  llvm::ArrayRef<Extent> left = extentsOf(a.getType()), right = extentsOf(b.getType());
  llvm::SmallVector<Extent> extents(left.size() >= right.size() ? left : right);
  // Batch axes broadcast against each other, aligned at the end.
  for (size_t n = 0; n + 2 < extents.size(); ++n) {
    size_t behind = extents.size() - n;
    auto pick = [&](llvm::ArrayRef<Extent> own) {
      if (own.size() >= behind && !own[own.size() - behind].isOne())
        extents[n] = own[own.size() - behind];
    };
    pick(left);
    pick(right);
  }
  extents[extents.size() - 2] = left[left.size() - 2];
  extents[extents.size() - 1] = right[right.size() - 1];
  auto type = arrayTypeOf(acc, extents);
  return t.r.create<MatmulOp>(t.loc, type, a, b, ValueRange(), precision);
}

static Value transposed(const Tiles &t, Value x) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x.getType())));
  std::swap(axes[axes.size() - 2], axes.back());
  return t.transpose(x, axes);
}

/// A vector is a matrix of one row: on the right side that of the transposed product, so that
/// vectors lie along rows. Batches in a kernel are gone along one matrix at a time.
static Value rewriteMatmul(const Tiles &t, Operation *op) {
  auto product = cast<MatmulOp>(op);
  Value a = product.getA(), b = product.getB();
  int64_t rankA = rankOf(a.getType()), rankB = rankOf(b.getType());
  // Blocks are multiplied as they are.
  if (!product.getScales().empty())
    return {};
  if (rankA > 1 && rankB > 1) {
    // Whole arrays keep batches, which the grids go along; inside a kernel they become loops.
    if (!op->getParentOfType<ParallelOp>())
      return {};
    Value loop = batchOfProducts(t, product);
    return loop || t.target.has("tmatmul", elem(a)) ? loop : productByColumns(t, product);
  }
  if (rankB == 1 && rankA > 1) {
    // (A b) is the row b^T A^T, so the operands swap and the matrix is transposed.
    std::swap(a, b);
    std::swap(rankA, rankB);
    b = transposed(t, b);
  }
  if (rankA == 1)
    a = t.newAxis(a, {0});
  if (rankB == 1)
    b = t.newAxis(b, {1});
  Value result = matmul(t, a, b, elem(product.getResult()), product.getPrecisionAttr());
  int64_t rank = rankOf(result.getType());
  llvm::SmallVector<int64_t> dropped;
  if (rankA == 1)
    dropped.push_back(rank - 2);
  if (rankB == 1)
    dropped.push_back(rank - 1);
  return t.dropAxes(result, dropped);
}

// ---- einsum -------------------------------------------------------------------------------------

namespace {
/// An operand whose axes are named by letters.
struct Term {
  Value value;
  std::string letters;

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
};
} // namespace

/// The sum over some axes, without them.
static Value sumOver(const Tiles &t, Value x, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  for (int64_t axis : axes)
    extents[static_cast<size_t>(axis)] = Extent::constant(1);
  return t.dropAxes(makeOp<ReduceSumOp>(t.r, t.loc, arrayTypeOf(elem(x), extents), x,
                                        {t.r.getNamedAttr("axes", t.r.getDenseI64ArrayAttr(axes))}),
                    axes);
}

/// The diagonal of axes that have one letter: what stands elsewhere is 0, and the later axis is
/// summed over.
static Term withoutRepeats(const Tiles &t, Term term) {
  // A letter that occurs twice in one operand stands for its diagonal.
  for (size_t first = 0; first < term.letters.size(); ++first)
    for (size_t second;
         (second = term.letters.find(term.letters[first], first + 1)) != std::string::npos;) {
      auto row = static_cast<int64_t>(first), column = static_cast<int64_t>(second);
      Value x = term.value;
      Value kept = t.select(t.eq(t.positions(x, row), t.positions(x, column)), x, 0);
      term.value = sumOver(t, kept, column);
      term.letters.erase(second, 1);
    }
  return term;
}

/// Sums over the letters that nothing else has.
static Term withoutLonely(const Tiles &t, Term term, llvm::StringRef others, Type acc) {
  llvm::SmallVector<int64_t> axes;
  std::string kept;
  for (size_t i = 0; i < term.letters.size(); ++i)
    if (others.contains(term.letters[i]))
      kept += term.letters[i];
    else
      axes.push_back(static_cast<int64_t>(i));
  if (axes.empty())
    return term;
  // The sum goes in the accumulator's type, before a product could lose digits.
  return {sumOver(t, t.convert(term.value, acc), axes), kept};
}

static Value reordered(const Tiles &t, const Term &term, llvm::StringRef order) {
  llvm::SmallVector<int64_t> axes;
  for (char letter : order)
    axes.push_back(static_cast<int64_t>(term.letters.find(letter)));
  return llvm::is_sorted(axes) ? term.value : t.transpose(term.value, axes);
}

/// `[batch.., first.., second..]` with each of the two groups as one axis.
static Value asMatrices(const Tiles &t, Value x, size_t batch, size_t first, size_t second) {
  // A group without letters is an axis of extent 1, since a product needs two matrix axes.
  if (first == 0)
    x = t.newAxis(x, static_cast<int64_t>(batch));
  if (second == 0)
    x = t.newAxis(x, rankOf(x.getType()));
  if (first <= 1 && second <= 1)
    return x;
  Merged shape;
  shape.extents.assign(extentsOf(x.getType()).begin(), extentsOf(x.getType()).end());
  for (int64_t axis = 0; axis < rankOf(x.getType()); ++axis)
    shape.lengths.push_back(t.length(x, axis));
  auto start = static_cast<int64_t>(batch),
       middle = start + static_cast<int64_t>(std::max<size_t>(first, 1));
  // The later group is merged first, so that the positions of the earlier one stay.
  if (second > 1)
    shape = mergeAxes(t, llvm::SmallVector<Extent>(shape.extents),
                      llvm::SmallVector<Value>(shape.lengths), middle,
                      static_cast<int64_t>(shape.extents.size()));
  if (first > 1)
    shape = mergeAxes(t, llvm::SmallVector<Extent>(shape.extents),
                      llvm::SmallVector<Value>(shape.lengths), start, middle);
  return t.reshape(x, shape.extents, shape.lengths);
}

/// Letters sorted by where they occur.
namespace {
struct Groups {
  std::string batch, rows, columns, summed;
};
} // namespace

static Groups groupsOf(const Term &a, const Term &b, llvm::StringRef result) {
  Groups groups;
  for (char letter : result)
    // The letter's place follows from where it occurs: in both, only left, only right.
    (a.has(letter) && b.has(letter) ? groups.batch
     : a.has(letter)                ? groups.rows
                                    : groups.columns) += letter;
  for (char letter : a.letters)
    if (!result.contains(letter))
      groups.summed += letter;
  return groups;
}

/// Whether a maximum along the last axis is taken of a value, or of what is computed from it element by element.
static bool hasMaximumOfRows(Value value, int steps = 8) {
  return steps > 0 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           if (auto maximum = dyn_cast<ReduceMaxOp>(user))
             return reducedAxesOf(maximum) ==
                    llvm::SmallVector<int64_t>{rankOf(maximum->getOperand(0).getType()) - 1};
           return isElementwise(user) && hasMaximumOfRows(user->getResult(0), steps - 1);
         });
}

/// Whether a value is computed element by element from exponentials.
static bool isOfExponentials(Value value, int steps = 4) {
  Operation *op = value.getDefiningOp();
  return op && steps > 0 &&
         (isa<ExpOp, Exp2Op>(op) ||
          (isElementwise(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
             return isOfExponentials(operand, steps - 1);
           })));
}

/// Whether rows that several axes count stay on these axes, and the right operand is one for all but the last of them: the
/// scores of attention and the product behind it, where masks and numbers of rows have the last axis alone. Few rows
/// fill tiles better as one axis.
static bool keepsRowAxes(Operation *einsum, const Term &a, const Groups &g) {
  if (g.batch.empty() || g.rows.size() < 2 || g.columns.size() != 1 ||
      einsum->getParentOfType<ParallelOp>())
    return false;
  constexpr int64_t kFewRows = 16;
  const Extent &rows = extentsOf(a.value.getType())[a.letters.find(g.rows.back())];
  return !(rows.isConstant() && rows.length < kFewRows) &&
         (hasMaximumOfRows(einsum->getResult(0)) || isOfExponentials(a.value));
}

/// A product of matrices `[batch.., rows, summed] @ [batch.., summed, columns]`; the first `apart` letters of the rows stay
/// axes of their own.
static Term contract(const Tiles &t, const Term &a, const Term &b, const Groups &g, size_t apart,
                     Type acc) {
  // The order makes the contracted axes neighbours in both operands, so they can be merged into
  // one.
  Value left = reordered(t, a, g.batch + g.rows + g.summed);
  Value right = reordered(t, b, g.batch + g.summed + g.columns);
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<Value> lengths;
  auto note = [&](const Term &term, char letter) {
    size_t axis = term.letters.find(letter);
    extents.push_back(extentsOf(term.value.getType())[axis]);
    lengths.push_back(t.length(term.value, static_cast<int64_t>(axis)));
  };
  for (char letter : g.batch + g.rows)
    note(a, letter);
  for (char letter : g.columns)
    note(b, letter);
  size_t batch = g.batch.size();
  left = asMatrices(t, left, batch + apart, g.rows.size() - apart, g.summed.size());
  right = asMatrices(t, right, batch, g.summed.size(), g.columns.size());
  if (apart != 0) {
    auto first = static_cast<int64_t>(batch);
    right =
        t.newAxis(right, llvm::to_vector(llvm::seq(first, first + static_cast<int64_t>(apart))));
  }
  Value product = matmul(t, left, right, acc, t.r.getStringAttr("full"));
  std::string letters = g.batch + g.rows + g.columns;
  // Merged groups are split again; groups of one letter need no reshape.
  if (g.rows.size() - apart > 1 || g.columns.size() > 1)
    return {t.reshape(product, extents, lengths), letters};
  llvm::SmallVector<int64_t> dropped;
  if (g.rows.empty())
    dropped.push_back(static_cast<int64_t>(batch));
  if (g.columns.empty())
    dropped.push_back(static_cast<int64_t>(batch) + 1);
  return {t.dropAxes(product, dropped), letters};
}

/// Nothing is summed: the axes are laid side by side and multiplied.
static Term outerProduct(const Tiles &t, const Term &a, const Term &b, llvm::StringRef result,
                         Type acc) {
  auto placed = [&](const Term &term) {
    std::string own;
    llvm::SmallVector<int64_t> missing;
    for (size_t i = 0; i < result.size(); ++i)
      if (term.has(result[i]))
        own += result[i];
      else
        missing.push_back(static_cast<int64_t>(i));
    return t.newAxis(t.convert(reordered(t, term, own), acc), missing);
  };
  return {t.mul(placed(a), placed(b)), result.str()};
}

/// The product of two operands with the letters `kept`.
static Term productOf(const Tiles &t, Operation *einsum, Term a, Term b, llvm::StringRef kept,
                      Type acc) {
  Term left = withoutLonely(t, a, b.letters + kept.str(), acc);
  Term right = withoutLonely(t, b, a.letters + kept.str(), acc);
  // A factor without axes left is a scalar.
  if (!isArray(left.value) || !isArray(right.value)) { // one is summed to a number
    Value factor = t.mul(t.convert(left.value, acc), t.convert(right.value, acc));
    return {factor, left.letters + right.letters};
  }
  // Both factors of a product have one type.
  if (elem(left.value) != elem(right.value)) {
    left.value = t.convert(left.value, acc);
    right.value = t.convert(right.value, acc);
  }
  Groups groups = groupsOf(left, right, kept);
  // Without columns the product would be a column vector, so the operands swap.
  if (groups.columns.empty()) { // as rows vectors lie side by side
    std::swap(left, right);
    std::swap(groups.columns, groups.rows);
  }
  if (groups.summed.empty())
    return outerProduct(t, left, right, kept, acc);
  size_t apart = keepsRowAxes(einsum, left, groups) ? groups.rows.size() - 1 : 0;
  return contract(t, left, right, groups, apart, acc);
}

/// The letters of two operands that the result or a later operand has, in order.
static std::string keptLetters(const Term &a, const Term &b, llvm::ArrayRef<Term> later,
                               llvm::StringRef result) {
  if (later.empty())
    return result.str();
  std::string kept;
  // A letter that neither the result nor a later operand has is summed now.
  for (char letter : a.letters + b.letters) {
    bool isWanted = result.contains(letter) ||
                    llvm::any_of(later, [&](const Term &term) { return term.has(letter); });
    if (isWanted && kept.find(letter) == std::string::npos)
      kept += letter;
  }
  return kept;
}

/// Operands are multiplied from left to right; each step sums over what nobody needs any more.
static Value rewriteEinsum(const Tiles &t, Operation *op) {
  auto einsum = cast<EinsumOp>(op);
  std::string spec = einsum.getSpec().str();
  llvm::erase(spec, ' ');
  auto [inputs, result] = llvm::StringRef(spec).split("->");
  llvm::SmallVector<llvm::StringRef> parts;
  inputs.split(parts, ',');
  Type acc = elem(op->getResult(0));
  llvm::SmallVector<Term> terms;
  for (auto [part, x] : llvm::zip(parts, einsum.getXs()))
    // Repeated letters are resolved first, so that each operand has each letter once.
    terms.push_back(withoutRepeats(t, {x, part.str()}));
  if (parts.size() != einsum.getXs().size())
    return {};
  Term product = terms[0];
  if (terms.size() == 1) {
    product = withoutLonely(t, product, result, acc);
    product.value = t.convert(product.value, acc);
  }
  for (size_t next = 1; next < terms.size(); ++next) {
    llvm::ArrayRef<Term> later = llvm::ArrayRef(terms).drop_front(next + 1);
    std::string kept = keptLetters(product, terms[next], later, result);
    product = productOf(t, op, product, terms[next], kept, acc);
  }
  return result.empty() ? product.value : reordered(t, product, result);
}

static constexpr Row kProductRows[] = {
    {"matmul", rewriteMatmul},
    {"einsum", rewriteEinsum},
};

llvm::ArrayRef<Row> productRows() { return kProductRows; }

} // namespace ptl::ir::legalize
