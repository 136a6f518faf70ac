// Matrix products and index notation.
#include "codegen/cpu/lower_product.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/microkernel.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"

using namespace mlir;

namespace ptl::cpu {

// One step of a batch: the address of a matrix of it.
static Value matrixAt(Lowering &l, const View &view, size_t batch, const Values &position) {
  Value offset = l.index(0);
  size_t skip = position.size() - batch;
  for (size_t axis = 0; axis < batch; ++axis)
    // A batch axis of 1 is broadcast: every position reads its only matrix.
    if (constantOf(view.extents[axis]) != 1)
      offset = l.e.add(offset, l.e.mul(position[axis + skip], view.strides[axis]));
  return elementPointer(l.e, view.data, storageType(view.element), offset);
}

namespace {
/// A product of batches of matrices, all extents and strides known.
struct Batch {
  Values extents; // of the batch
  View a, b, c;   // the last two axes are the matrices
  size_t batchA, batchB;
  bool accumulate; // onto what C holds
};
} // namespace

// The multiplications of a product that is written out, and the columns that it has at least: fewer are no vector.
static constexpr int64_t kMostWritten = 256, kLeastColumns = 2;

// A product of a few constant rows and columns, whose rows of B are neighbours, as straight-line code: a call would take longer. Returns
// false, and emits nothing, for others.
static bool emitWritten(Lowering &l, const MatrixView &a, const MatrixView &b, const MatrixView &c,
                        Value rows, Value columns, Value depth, bool accumulate) {
  const Emit &e = l.e;
  auto m = constantOf(rows), n = constantOf(columns), k = constantOf(depth);
  Type type = registerType(c.element);
  if (!m || !n || !k || *m * *n * *k > kMostWritten || *n < kLeastColumns || *n > l.maxLanes ||
      a.element != c.element || b.element != c.element || storageType(c.element) != type ||
      constantOf(b.columnStride) != 1 || constantOf(c.columnStride) != 1)
    return false;
  auto lanes = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(*n)));
  Value mask = lanes == *n ? Value() : laneMask(e, columns, lanes);
  auto rowOf = [&](const MatrixView &x, int64_t row) {
    return elementPointer(e, x.data, type, e.mul(e.index(row), x.rowStride));
  };
  // Each row of B serves all rows of A, so it is loaded once, in front of them; the bound on multiplications keeps them few.
  Values ofB;
  for (int64_t i = 0; i < *k; ++i)
    ofB.push_back(loadRaw(e, rowOf(b, i), type, lanes, mask));
  auto vector = VectorType::get({lanes}, type);
  for (int64_t row = 0; row < *m; ++row) {
    Value sum = accumulate ? loadRaw(e, rowOf(c, row), type, lanes, mask) : e.zero(vector);
    for (auto [i, of] : llvm::enumerate(ofB)) {
      Value at = e.mul(e.index(static_cast<int64_t>(i)), a.columnStride);
      Value factor =
          e.splat(loadRaw(e, elementPointer(e, rowOf(a, row), type, at), type, 0), vector);
      sum = isa<FloatType>(type) ? e.fma(factor, of, sum) : e.add(sum, e.mul(factor, of));
    }
    storeRaw(e, rowOf(c, row), sum, mask);
  }
  return true;
}

// Rows that are summed at the same time, each of which takes what a row of B holds from one register.
static constexpr int64_t kFewAtOnce = 4;
// A product of a batch with at most as many rows, and as many numbers along the contracted axis, and no more columns than a vector has, takes
// less time in a plain loop than a call. So do products of any number of rows with a matrix that a few registers hold.
static constexpr int64_t kFewRows = 8, kFewNumbers = 256, kHeldRows = 8, kHeldColumns = 8;

namespace {
/// A product with few columns that a plain loop computes.
struct FewColumns {
  const Emit &e;
  MatrixView a, b, c;
  Value rows, columns, depth;
  bool accumulate;
  int64_t lanes = 0; ///< of a vector that has a row of C

  /// Whether types and strides are those that the loop is for, and constant extents small enough. `isBatched`: rows may be few, too.
  bool mayFit(int64_t maxLanes, bool isBatched);
  /// Whether the extents are small enough when the code runs; null where that is known.
  Value fits() const;
  void emit() const;

private:
  bool isHeld() const;
  Value rowOf(const MatrixView &x, Value row) const;
  Value factorAt(Value row, Value k, Type vector) const;
  Value rowOfB(int64_t k, Value mask) const;
  SmallVector<Value> summed(ArrayRef<Value> ofA, ArrayRef<Value> sums, ArrayRef<Value> held,
                            Value mask) const;
};
} // namespace

// Whether registers hold all of B.
bool FewColumns::isHeld() const {
  auto n = constantOf(columns), k = constantOf(depth);
  return n && k && *n <= kHeldColumns && *k <= kHeldRows;
}

bool FewColumns::mayFit(int64_t maxLanes, bool isBatched) {
  auto isAtMost = [](Value extent, int64_t most) { return constantOf(extent).value_or(0) <= most; };
  auto n = constantOf(columns);
  // A vector of one column would be a waste: a matrix and a vector have code of their own.
  if ((n && *n < kLeastColumns) || !isAtMost(columns, maxLanes) || a.element != c.element ||
      b.element != c.element || storageType(c.element) != registerType(c.element) ||
      (constantOf(b.columnStride) != 1 && !isHeld()) || constantOf(c.columnStride) != 1)
    return false;
  lanes = n ? static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(*n))) : maxLanes;
  return isHeld() || (isBatched && isAtMost(rows, kFewRows) && isAtMost(depth, kFewNumbers));
}

Value FewColumns::fits() const {
  if (isHeld())
    return {};
  auto isAtMost = [&](Value extent, int64_t most) {
    return e.cmpi(arith::CmpIPredicate::ule, extent, most);
  };
  return e.bitAnd(e.bitAnd(isAtMost(rows, kFewRows), isAtMost(columns, lanes)),
                  isAtMost(depth, kFewNumbers));
}

Value FewColumns::rowOf(const MatrixView &x, Value row) const {
  return elementPointer(e, x.data, registerType(c.element), e.mul(row, x.rowStride));
}

Value FewColumns::factorAt(Value row, Value k, Type vector) const {
  Type type = registerType(c.element);
  Value place = elementPointer(e, row, type, e.mul(k, a.columnStride));
  return e.splat(loadRaw(e, place, type, 0), vector);
}

Value FewColumns::rowOfB(int64_t k, Value mask) const {
  Value row = rowOf(b, e.index(k));
  Type type = registerType(c.element);
  if (constantOf(b.columnStride) == 1)
    return loadRaw(e, row, type, lanes, mask);
  Value numbers = laneNumbers(e, lanes, e.b.getIndexType());
  Value offsets = e.mul(numbers, e.splat(b.columnStride, numbers.getType()));
  return gatherRaw(e, row, type, offsets, mask);
}

// The sums of some rows, to each of which the products of all numbers of its row of A are added. `held`: the rows of B, where registers have them.
SmallVector<Value> FewColumns::summed(ArrayRef<Value> ofA, ArrayRef<Value> sums,
                                      ArrayRef<Value> held, Value mask) const {
  Type type = registerType(c.element);
  auto step = [&](Value k, Value of, ValueRange now) {
    SmallVector<Value> next;
    for (auto [row, sum] : llvm::zip(ofA, now)) {
      Value factor = factorAt(row, k, of.getType());
      next.push_back(isa<FloatType>(type) ? e.fma(factor, of, sum) : e.add(sum, e.mul(factor, of)));
    }
    return next;
  };
  if (!isHeld())
    return e.loop(e.index(0), depth, e.index(1), sums, [&](const Emit &, Value k, ValueRange now) {
      return step(k, loadRaw(e, rowOf(b, k), type, lanes, mask), now);
    });
  SmallVector<Value> now(sums);
  for (auto [k, of] : llvm::enumerate(held))
    now = step(e.index(static_cast<int64_t>(k)), of, now);
  return now;
}

// Rows beyond the last one are computed as the last one again, so that each round has as many.
void FewColumns::emit() const {
  Type type = registerType(c.element);
  auto vector = VectorType::get({lanes}, type);
  Value mask = constantOf(columns) == lanes ? Value() : laneMask(e, columns, lanes);
  Values held;
  for (int64_t k = 0; isHeld() && k < *constantOf(depth); ++k)
    held.push_back(rowOfB(k, mask));
  Value last = e.sub(rows, e.index(1));
  e.loop(e.index(0), rows, e.index(kFewAtOnce), {}, [&](const Emit &, Value first, ValueRange) {
    Values ofA, ofC, sums;
    for (int64_t n = 0; n < kFewAtOnce; ++n) {
      Value row = e.b.createOrFold<arith::MinSIOp>(e.loc, e.add(first, e.index(n)), last);
      ofA.push_back(rowOf(a, row));
      ofC.push_back(rowOf(c, row));
      sums.push_back(accumulate ? loadRaw(e, ofC[n], type, lanes, mask) : e.zero(vector));
    }
    for (auto [row, sum] : llvm::zip(ofC, summed(ofA, sums, held, mask)))
      storeRaw(e, row, sum, mask);
    return SmallVector<Value>();
  });
}

static void emitBatch(Lowering &l, const Batch &p) {
  const Emit &e = l.e;
  Coords at(p.extents.size());
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(0, p.extents.size())));
  Scope scope(l);
  forAxes(l, p.extents, axes, at, [&](Coords &at) {
    Values position;
    for (const Coord &coord : at)
      position.push_back(coord.base);
    auto view = [&](const View &v, size_t batch) {
      return MatrixView{v.element, matrixAt(l, v, batch, position), v.strides[batch],
                        v.strides[batch + 1]};
    };
    MatrixView a = view(p.a, p.batchA), b = view(p.b, p.batchB), c = view(p.c, p.extents.size());
    Value m = p.c.extents[p.extents.size()], n = p.c.extents[p.extents.size() + 1];
    if (emitWritten(l, a, b, c, m, n, p.a.extents.back(), p.accumulate))
      return;
    // The batch is a plain loop: a product blocks for the caches by itself.
    Value k = p.a.extents.back();
    auto blocks = [&](const Emit &) -> SmallVector<Value> {
      emitProduct(e, l.context, a, b, c, m, n, k, p.accumulate);
      return {};
    };
    FewColumns few{e, a, b, c, m, n, k, p.accumulate};
    bool isBatched = !at.empty();
    if (!few.mayFit(l.maxLanes, isBatched)) {
      blocks(e);
      return;
    }
    Value fits = few.fits();
    if (!fits)
      return few.emit();
    e.branch(
        fits, {},
        [&](const Emit &) -> SmallVector<Value> {
          few.emit();
          return {};
        },
        blocks);
  });
}

// Makes a matrix of a vector: a row in front of the product, a column behind it.
static View asMatrix(Lowering &l, View view, bool row) {
  if (view.rank() != 1)
    return view;
  auto place = row ? 0 : 1;
  view.extents.insert(view.extents.begin() + place, l.index(1));
  // The axis has one position, so its stride is never used.
  view.strides.insert(view.strides.begin() + place, l.index(0));
  return view;
}

static View matrixDest(Lowering &l, View dest, bool rowVector, bool columnVector) {
  if (rowVector) {
    auto at = dest.rank() - (columnVector ? 0 : 1);
    dest.extents.insert(dest.extents.begin() + at, l.index(1));
    dest.strides.insert(dest.strides.begin() + at, l.index(0));
  }
  if (columnVector) {
    dest.extents.push_back(l.index(1));
    // A stride of 1 lets the target count as rows of consecutive numbers.
    dest.strides.push_back(l.index(1));
  }
  return dest;
}

// The product writes rows of consecutive accumulators; any other target gets a copy.
static bool isDirectTarget(const View &dest, Type acc) {
  return storageType(dest.element) == acc &&
         (constantOf(dest.strides.back()) == 1 || constantOf(dest.extents.back()) == 1);
}

static void copyInto(Lowering &l, const View &from, const View &dest, bool accumulate) {
  forAll(l, dest.extents, 1, {}, [&](Coords &at) {
    Value value = convertElem(l.e, loadAt(l, from, at), from.element, dest.element);
    if (accumulate)
      value = l.e.add(loadAt(l, dest, at), value);
    storeAt(l, dest, at, value);
  });
}

// An operand of a product in memory. Products read memory in any order, so what is turned is computed before it is.
static View requireOperand(Lowering &l, Value operand) {
  auto transpose = operand.getDefiningOp<ir::TransposeOp>();
  if (transpose && !viewOf(l, operand))
    requireOperand(l, transpose.getX());
  return requireView(l, operand);
}

static void produceMatmul(Lowering &l, ir::MatmulOp op, View dest, bool accumulate) {
  View a = requireOperand(l, op.getA()), b = requireOperand(l, op.getB());
  bool rowVector = a.rank() == 1, columnVector = b.rank() == 1;
  a = asMatrix(l, a, true);
  b = asMatrix(l, b, false);
  View target = matrixDest(l, dest, rowVector, columnVector);
  Type acc = accumulatorType(a.element, b.element);
  View c = target;
  bool direct = isDirectTarget(target, acc);
  if (!direct)
    c = allocate(l, acc, target.extents);
  size_t batch = c.extents.size() - 2;
  Values extents(c.extents.begin(), c.extents.begin() + batch);
  // Without a direct target the copy adds instead, since the temporary has no earlier value.
  emitBatch(l, {extents, a, b, c, static_cast<size_t>(a.rank() - 2),
                static_cast<size_t>(b.rank() - 2), direct && accumulate});
  if (!direct)
    copyInto(l, c, target, accumulate);
}

// --- einsum --------------------------------------------------------------------------------------

namespace {
struct Spec {
  SmallVector<std::string> inputs;
  std::string output, summed;
};
} // namespace

static Spec parseSpec(ir::EinsumOp op) {
  Spec spec;
  auto [inputs, output] = op.getSpec().split("->");
  SmallVector<StringRef> parts;
  inputs.split(parts, ',');
  for (StringRef part : parts)
    spec.inputs.push_back(part.trim().str());
  spec.output = output.trim().str();
  for (const std::string &input : spec.inputs)
    for (char letter : input)
      if (spec.output.find(letter) == std::string::npos &&
          spec.summed.find(letter) == std::string::npos)
        spec.summed += letter;
  return spec;
}

static bool has(const std::string &text, char letter) {
  return text.find(letter) != std::string::npos;
}

// The view with its axes in the order of `letters`; letters that it lacks have extent 1.
static View reorder(Lowering &l, const View &view, const std::string &spec,
                    const std::string &letters) {
  View result{view.element, view.data, {}, {}};
  for (char letter : letters) {
    size_t axis = spec.find(letter);
    bool present = axis != std::string::npos;
    result.extents.push_back(present ? view.extents[axis] : l.index(1));
    result.strides.push_back(present ? view.strides[axis] : l.index(0));
  }
  return result;
}

namespace {
/// What the letters of two operands are for: those of a matrix product, and those over which products are repeated.
struct Letters {
  std::string batch;                   ///< a product for each, of letters in the result
  std::string steps;                   ///< a product for each, all of which are added up
  char row = '-', column = '-', k = 0; ///< of a product; '-' is in no operand, and has one position

  /// False where the notation is no sum of products of matrices.
  bool find(const Spec &spec);
  bool areSumsOfLanes(const Spec &spec) const;
};
} // namespace

static bool hasTwice(const std::string &letters) {
  return llvm::any_of(letters, [&](char letter) { return llvm::count(letters, letter) > 1; });
}

bool Letters::find(const Spec &spec) {
  if (spec.inputs.size() != 2 || spec.summed.empty())
    return false;
  const std::string &a = spec.inputs[0], &b = spec.inputs[1];
  // A letter that only one operand has is a sum over that operand alone.
  if (hasTwice(a) || hasTwice(b) ||
      llvm::any_of(spec.summed, [&](char letter) { return !has(a, letter) || !has(b, letter); }))
    return false;
  // The last letters are those along which memory is read: the others are repeated.
  for (char letter : spec.output) {
    bool inA = has(a, letter), inB = has(b, letter);
    char &own = inA ? row : column;
    if (inA && inB) {
      batch += letter;
      continue;
    }
    if (own != '-')
      batch += own;
    own = letter;
  }
  for (char letter : a)
    if (has(spec.summed, letter)) {
      if (k)
        steps += k;
      k = letter;
    }
  return !areSumsOfLanes(spec);
}

// Of products of single rows and columns, many are summed at once where these lie side by side, and the numbers of one do not.
bool Letters::areSumsOfLanes(const Spec &spec) const {
  char a = spec.inputs[0].back(), b = spec.inputs[1].back();
  return row == '-' && column == '-' && !spec.output.empty() && (a != k || b != k) &&
         llvm::is_contained({a, b}, spec.output.back());
}

// Loops over letters that are summed outside of products: how many positions each has, and how far apart these are in both operands.
static void emitSteps(Lowering &l, const Batch &p, ArrayRef<std::array<Value, 3>> steps) {
  if (steps.empty())
    return emitBatch(l, p);
  const Emit &e = l.e;
  auto [extent, strideA, strideB] = steps.front();
  e.loop(l.index(0), extent, l.index(1), {}, [&](const Emit &, Value at, ValueRange) {
    Scope scope(l);
    Batch part = p;
    part.a.data = elementPointer(e, p.a.data, storageType(p.a.element), e.mul(at, strideA));
    part.b.data = elementPointer(e, p.b.data, storageType(p.b.element), e.mul(at, strideB));
    emitSteps(l, part, steps.drop_front());
    return SmallVector<Value>();
  });
}

// Two operands whose letters are those of matrices, of batches of these, and of sums of them.
static bool einsumAsProduct(Lowering &l, ArrayRef<View> views, const Spec &spec, const View &dest) {
  Letters letters;
  if (!letters.find(spec))
    return false;
  const std::string &a = spec.inputs[0], &b = spec.inputs[1], &batch = letters.batch;
  std::string rows(1, letters.row), columns(1, letters.column), k(1, letters.k);
  const View &viewA = views[0], &viewB = views[1];
  Type acc = accumulatorType(viewA.element, viewB.element);
  View c = reorder(l, dest, spec.output, batch + rows + columns);
  View target = c;
  bool direct = isDirectTarget(c, acc);
  if (!direct)
    c = allocate(l, acc, c.extents);
  SmallVector<std::array<Value, 3>> steps;
  for (char letter : letters.steps)
    steps.push_back({viewA.extents[a.find(letter)], viewA.strides[a.find(letter)],
                     viewB.strides[b.find(letter)]});
  if (!steps.empty())
    // All products are added to what is there.
    forAll(l, c.extents, 1, {}, [&](Coords &at) {
      storeAt(l, c, at, l.e.zero(l.lanes ? Type(VectorType::get({l.lanes}, acc)) : acc));
    });
  Values extents(c.extents.begin(), c.extents.begin() + batch.size());
  emitSteps(l,
            {extents, reorder(l, viewA, a, batch + rows + k),
             reorder(l, viewB, b, batch + k + columns), c, batch.size(), batch.size(),
             !steps.empty()},
            steps);
  if (!direct)
    copyInto(l, c, target, false);
  return true;
}

// Any other notation: loops over the result and the summed letters.
static void einsumByLoops(Lowering &l, ArrayRef<View> views, const Spec &spec, const View &dest) {
  const Emit &e = l.e;
  // The check has given all operands one element type.
  Type acc = accumulatorType(views[0].element, views[0].element);
  std::string letters = spec.output + spec.summed;
  auto extentOf = [&](char letter) {
    for (auto [input, view] : llvm::zip(spec.inputs, views))
      // The extents of one letter are equal in all operands, so any that has it will do.
      if (has(input, letter))
        return view.extents[input.find(letter)];
    return l.index(1);
  };
  auto product = [&](const Coords &at) {
    Value result;
    for (auto [input, view] : llvm::zip(spec.inputs, views)) {
      Coords position;
      for (char letter : input)
        position.push_back(at[letters.find(letter)]);
      Value factor = convertElem(e, loadAt(l, view, position), view.element, acc);
      if (l.lanes)
        factor = toLanes(l, factor);
      result = result ? e.mul(result, factor) : factor;
    }
    return result;
  };
  forAll(l, dest.extents, 100, {}, [&](Coords &kept) {
    Coords at = kept;
    at.resize(letters.size());
    // One nested loop for each summed letter; their number is known only from the notation.
    std::function<Value(size_t, Value)> loops = [&](size_t letter, Value sum) -> Value {
      if (letter == letters.size())
        return e.add(sum, product(at));
      return e.loop(l.index(0), extentOf(letters[letter]), l.index(1), sum,
                    [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                      Scope scope(l);
                      at[letter] = Coord{i};
                      return {loops(letter + 1, carried[0])};
                    })[0];
    };
    // The lanes go along the last kept axis, so each has a sum of its own and the order of
    // summation is that of the plain loops.
    Type shape = l.lanes ? Type(VectorType::get({l.lanes}, acc)) : acc;
    Value sum = loops(spec.output.size(), e.zero(shape));
    storeAt(l, dest, kept, convertElem(e, sum, acc, dest.element));
  });
}

// What the first two of several operands are contracted to: the letters that the result or another operand has. Nothing where that
// would be an array that is larger than those there are and no sum, or would be rounded.
static std::optional<Spec> contractedFirst(const Spec &spec, ArrayRef<View> views) {
  if (spec.inputs.size() < 3)
    return std::nullopt;
  Type acc = accumulatorType(views[0].element, views[0].element);
  if (llvm::any_of(views, [&](const View &view) { return storageType(view.element) != acc; }))
    return std::nullopt;
  Spec pair{{spec.inputs[0], spec.inputs[1]}, "", ""};
  ArrayRef<std::string> others = ArrayRef(spec.inputs).drop_front(2);
  for (const std::string &input : pair.inputs)
    for (char letter : input) {
      bool isKept = has(spec.output, letter) || llvm::any_of(others, [&](const std::string &each) {
                      return has(each, letter);
                    });
      std::string &list = isKept ? pair.output : pair.summed;
      if (!has(list, letter))
        list += letter;
    }
  auto holds = [&](const std::string &letters) {
    return llvm::all_of(pair.output, [&](char letter) { return has(letters, letter); });
  };
  bool isSmall = holds(spec.output) || llvm::any_of(spec.inputs, holds);
  return isSmall || !pair.summed.empty() ? std::optional(pair) : std::nullopt;
}

// Operands are contracted two at a time, from the left, so that each summed letter is gone through where it is needed.
static void emitEinsum(Lowering &l, SmallVector<View> views, Spec spec, const View &dest) {
  while (std::optional<Spec> pair = contractedFirst(spec, views)) {
    Values extents;
    for (char letter : pair->output) {
      size_t number = has(pair->inputs[0], letter) ? 0 : 1;
      extents.push_back(views[number].extents[pair->inputs[number].find(letter)]);
    }
    View made = allocate(l, views[0].element, extents);
    if (!einsumAsProduct(l, views, *pair, made))
      einsumByLoops(l, ArrayRef(views).take_front(2), *pair, made);
    views.erase(views.begin());
    views[0] = made;
    spec.inputs.erase(spec.inputs.begin());
    spec.inputs[0] = pair->output;
    llvm::erase_if(spec.summed, [&](char letter) { return has(pair->summed, letter); });
  }
  if (!einsumAsProduct(l, views, spec, dest))
    einsumByLoops(l, views, spec, dest);
}

bool produceProduct(Lowering &l, Operation *op, const View &dest, bool accumulate) {
  if (auto product = dyn_cast<ir::MatmulOp>(op)) {
    produceMatmul(l, product, dest, accumulate);
    return true;
  }
  auto einsum = dyn_cast<ir::EinsumOp>(op);
  if (!einsum)
    return false;
  SmallVector<View> views;
  for (Value operand : einsum.getXs())
    views.push_back(requireView(l, operand));
  emitEinsum(l, std::move(views), parseSpec(einsum), dest);
  return true;
}

bool isProductInto(Operation *op, Value &base, Operation *&product) {
  auto add = dyn_cast_or_null<ir::AddOp>(op);
  if (!add || !isa<ir::ArrayType>(add.getResult().getType()))
    return false;
  // Addition commutes, so the product may be either operand.
  for (auto [x, y] : {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())}) {
    auto matmul = y.getDefiningOp<ir::MatmulOp>();
    if (!matmul || !y.hasOneUse() || isScalar(x) || matmul->getBlock() != add->getBlock())
      continue;
    auto type = cast<ir::ArrayType>(y.getType()),
         result = cast<ir::ArrayType>(add.getResult().getType());
    bool sameShape = type.getRank() == result.getRank();
    for (auto [from, to] : llvm::zip(type.getExtents(), result.getExtents()))
      // A product that is broadcast cannot be accumulated in place.
      sameShape &= !from.isOne() || to.isOne();
    if (!sameShape || storageType(type.getElementType()) !=
                          accumulatorType(type.getElementType(), type.getElementType()))
      continue;
    base = x;
    product = matmul;
    return true;
  }
  return false;
}

} // namespace ptl::cpu
