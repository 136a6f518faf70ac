// Copies parts of the operands into the order in which register blocks read them.
#include "codegen/cpu/product_pack.h"

#include "codegen/cpu/transpose.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
enum Axis : uint8_t { Rows, Columns };

/// A part of an operand in memory, seen as lanes: several numbers along the contracted axis are one lane where the plan says so.
struct Source {
  const ProductPlan &p;
  Type logical;
  Axis contracted;
  /// In numbers. Without a count of rows or columns, all exist that are asked for.
  Value data, rowStride, columnStride, rows, columns;
  /// Where columns lie in rows of their own: how many are in one, how far apart such rows are, and the first column that is meant.
  Value inner = {}, outer = {}, first = {};
  bool isMoved = false; ///< whether the plan moves its numbers

  int64_t perLane(Axis axis) const { return axis == contracted ? p.perLane() : 1; }
  Value extent(Axis axis) const { return axis == Rows ? rows : columns; }
  Value lanesAlong(const Emit &e, Axis axis) const {
    return countOf(e, extent(axis), perLane(axis));
  }
  Value address(const Emit &e, Value r, Value c) const;
  /// Which numbers of a vector of lanes along `axis` from `start` exist.
  Value maskFrom(const Emit &e, Axis axis, Value start) const;
  Value loadVector(const Emit &e, Value r, Value c, Axis along, Value mask) const;
  SmallVector<Value> loadTogether(const Emit &e, Value r, Value c, int64_t vectors,
                                  Value mask) const;
  Value loadLane(const Emit &e, Value r, Value c) const { return numbersAcross(e, r, c, 0, {}); }
  /// Fetches a lane that is packed later into the cache of that level: rows of an operand lie too far apart for a processor to see which
  /// comes next.
  void fetch(const Emit &e, Value r, Value c, int level = 1) const {
    fetchAt(e, address(e, r, c), level);
  }
  void fetchRows(const Emit &e, Value r, Value c, int level, int64_t part, int64_t parts) const;

private:
  static void fetchAt(const Emit &e, Value pointer, int level) {
    e.b.create<LLVM::Prefetch>(e.loc, pointer, /*rw=*/0, /*hint=*/4 - level, /*cache=*/1);
  }
  Value raw(const Emit &e, Value pointer, int64_t lanes, Value mask) const;
  Value moved(const Emit &e, Value lanes) const;
  SmallVector<Value> numbersOf(const Emit &e, Value r, Value c, int64_t lanes, Value mask) const;
  Value numbersAcross(const Emit &e, Value r, Value c, int64_t lanes, Value mask) const;
};
} // namespace

Value Source::address(const Emit &e, Value r, Value c) const {
  r = e.mul(r, e.index(perLane(Rows)));
  c = e.mul(c, e.index(perLane(Columns)));
  Value offset = e.mul(r, rowStride);
  if (inner) {
    c = e.add(c, first);
    Value line = e.b.createOrFold<arith::DivUIOp>(e.loc, c, inner);
    offset = e.add(offset, e.mul(line, outer));
    c = e.sub(c, e.mul(line, inner));
  }
  return elementPointer(e, data, storageType(logical), e.add(offset, e.mul(c, columnStride)));
}

// Fetches what vectors side by side, of which this is number `part`, are made of. Rows of short numbers have a line for several of
// them, so each fetches its share of the rows of a lane.
void Source::fetchRows(const Emit &e, Value r, Value c, int level, int64_t part,
                       int64_t parts) const {
  int64_t rows = perLane(Rows);
  Value pointer = address(e, r, c);
  for (int64_t row = 0; row < rows; ++row)
    if (rows == 1 || row % parts == part)
      fetchAt(e, elementPointer(e, pointer, storageType(logical), e.mul(rowStride, e.index(row))),
              level);
}

Value Source::maskFrom(const Emit &e, Axis axis, Value start) const {
  Value left = e.sub(extent(axis), e.mul(start, e.index(perLane(axis))));
  return laneMask(e, left, p.lanes * perLane(axis));
}

// Numbers as they are packed beside each other: small floats by their bits, bytes in pairs as i16.
Value Source::raw(const Emit &e, Value pointer, int64_t lanes, Value mask) const {
  Value value = loadRaw(e, pointer, storageType(logical), lanes, mask);
  Type number = e.b.getIntegerType(32 / static_cast<unsigned>(p.perLane()));
  if (scalarOf(value.getType()) == number)
    return value;
  if (isa<FloatType>(scalarOf(value.getType())))
    return e.bitcast(value, number);
  Type type = withShapeOf(value.getType(), number);
  if (isUnsigned(logical))
    return e.b.create<arith::ExtUIOp>(e.loc, type, value);
  return e.b.create<arith::ExtSIOp>(e.loc, type, value);
}

Value Source::moved(const Emit &e, Value lanes) const {
  return isMoved ? e.bitXor(lanes, e.integer(lanes.getType(), kMovedBytes)) : lanes;
}

// The first numbers of lanes beside each other, then the second ones, and so on.
SmallVector<Value> Source::numbersOf(const Emit &e, Value r, Value c, int64_t lanes,
                                     Value mask) const {
  Value pointer = address(e, r, c);
  SmallVector<Value> numbers{raw(e, pointer, lanes, mask)};
  Value first = e.mul(contracted == Rows ? r : c, e.index(p.perLane()));
  Value step = contracted == Rows ? rowStride : columnStride;
  for (int64_t n = 1; n < p.perLane(); ++n) {
    Value offset = e.mul(step, e.index(n)), exists;
    if (Value count = extent(contracted)) {
      // The last lane may have fewer numbers; the others count as 0.
      exists = e.cmpi(CmpIPredicate::slt, e.add(first, e.index(n)), count);
      // The address of a number that does not exist must not be read, so the first one is read again.
      offset = e.b.create<arith::SelectOp>(e.loc, exists, offset, e.index(0));
    }
    Value number = raw(e, elementPointer(e, pointer, storageType(logical), offset), lanes, mask);
    numbers.push_back(exists ? e.select(exists, number, e.zero(number.getType())) : number);
  }
  return numbers;
}

// Elements from `start` on of x and y in turn, `count` of each, as numbers of twice the width.
static Value inTurn(const Emit &e, Value x, Value y, int64_t start, int64_t count) {
  SmallVector<int64_t> order;
  for (int64_t i = start; i < start + count; ++i)
    order.append({i, i + laneCount(x.getType())});
  unsigned width = scalarOf(x.getType()).getIntOrFloatBitWidth();
  Type type = VectorType::get({count}, e.b.getIntegerType(2 * width));
  return e.b.create<vector::BitCastOp>(e.loc, type,
                                       e.b.create<vector::ShuffleOp>(e.loc, x, y, order));
}

// Vectors of lanes side by side, each number of which lies in a row of its own: a few shuffles put together what would take an extension,
// a shift and a combination for each number.
SmallVector<Value> Source::loadTogether(const Emit &e, Value r, Value c, int64_t vectors,
                                        Value mask) const {
  int64_t lanes = vectors * p.lanes;
  SmallVector<Value> numbers = numbersOf(e, r, c, lanes, mask), loaded;
  if (numbers.size() == 4)
    numbers = {inTurn(e, numbers[0], numbers[1], 0, lanes),
               inTurn(e, numbers[2], numbers[3], 0, lanes)};
  for (int64_t v = 0; v < vectors; ++v)
    loaded.push_back(moved(e, inTurn(e, numbers[0], numbers[1], v * p.lanes, p.lanes)));
  return loaded;
}

// Lanes whose numbers, if there are several, are not neighbours in a vector.
Value Source::numbersAcross(const Emit &e, Value r, Value c, int64_t lanes, Value mask) const {
  if (p.perLane() == 1)
    return loadAs(e, logical, p.packed, address(e, r, c), lanes, mask);
  if (lanes)
    return loadTogether(e, r, c, 1, mask)[0];
  SmallVector<Value> numbers = numbersOf(e, r, c, 0, mask);
  Value lane = e.extui(numbers[0], p.packed);
  for (size_t n = 1; n < numbers.size(); ++n)
    lane = e.bitOr(
        lane, e.shl(e.extui(numbers[n], p.packed), static_cast<int64_t>(n) * 32 / p.perLane()));
  return moved(e, lane);
}

Value Source::loadVector(const Emit &e, Value r, Value c, Axis along, Value mask) const {
  if (perLane(along) == 1)
    return numbersAcross(e, r, c, p.lanes, mask);
  // The numbers of a lane are neighbours here, so one load gets them all.
  Value numbers = raw(e, address(e, r, c), p.lanes * p.perLane(), mask);
  Type type = VectorType::get({p.lanes}, p.packed);
  return moved(e, e.b.create<vector::BitCastOp>(e.loc, type, numbers));
}

namespace {
/// Where lanes go: rows `pitch` apart, cut into panels that are `panel` lanes wide if that is not 0.
struct Target {
  const ProductPlan &p;
  Value data, pitch;
  int64_t panel;

  Value address(const Emit &e, Value r, Value c) const {
    if (panel == 0)
      return elementPointer(e, data, p.packed, e.add(e.mul(r, pitch), c));
    Value inside = e.b.createOrFold<arith::RemUIOp>(e.loc, c, e.index(panel));
    Value start = e.sub(c, inside);
    // Within a panel the lanes of one row are together, as the register block reads them.
    Value row = e.add(e.mul(r, e.index(panel)), inside);
    return elementPointer(e, data, p.packed, e.add(e.mul(start, e.index(p.panelRows())), row));
  }
};

struct Packing {
  Source from;
  Target to;

  void byRows(const Emit &e) const;
  void byGroups(const Emit &e) const;
  void byColumns(const Emit &e) const;
  void byElements(const Emit &e) const;
};
} // namespace

// How far ahead of what is packed memory is asked for.
static constexpr int64_t kRowsAhead = 4, kWrittenAhead = 2;
// Panels that are written side by side: rows of more would need more lines and pages at a time than the first cache keeps. Their rows
// are short, so more of them are asked for ahead, in the second level.
static constexpr int64_t kPanelsTogether = 16, kPanelRowsAhead = 16;

// Rows lie in memory as they are: whole vectors, two at a time, and what is left.
void Packing::byRows(const Emit &e) const {
  int64_t lanes = from.p.lanes, together = 2;
  Value columns = from.lanesAlong(e, Columns), numbers = from.columns;
  // A last lane that lacks some of its numbers does not count as whole: it needs a mask.
  Value wholeLanes =
      e.b.createOrFold<arith::DivUIOp>(e.loc, numbers, e.index(from.perLane(Columns)));
  auto below = [&](int64_t unit) {
    return e.sub(wholeLanes, e.b.create<arith::RemUIOp>(e.loc, wholeLanes, e.index(unit)));
  };
  Value pairs = below(lanes * together), whole = below(lanes);
  Value partial = e.cmpi(CmpIPredicate::slt, whole, columns);
  Value mask = from.maskFrom(e, Columns, whole);
  forEach(e, from.lanesAlong(e, Rows), 1, [&](const Emit &e, Value r) {
    auto copy = [&](const Emit &e, Value c, Value mask, int64_t part = 0) {
      // Each panel is a place of its own to write to, more than a processor follows.
      e.b.create<LLVM::Prefetch>(e.loc, to.address(e, e.add(r, e.index(kWrittenAhead)), c),
                                 /*rw=*/1, /*hint=*/3, /*cache=*/1);
      if (to.panel)
        from.fetchRows(e, e.add(r, e.index(kPanelRowsAhead)), c, 2, part, together);
      else
        from.fetch(e, e.add(r, e.index(kRowsAhead)), c);
      storeRaw(e, to.address(e, r, c), from.loadVector(e, r, c, Columns, mask));
    };
    forEach(e, pairs, lanes * together, [&](const Emit &e, Value c) {
      for (int64_t n = 0; n < together; ++n)
        copy(e, e.add(c, e.index(n * lanes)), {}, n);
    });
    e.loop(pairs, whole, e.index(lanes), {}, [&](const Emit &e, Value c, ValueRange) {
      copy(e, c, {});
      return SmallVector<Value>();
    });
    e.branch(partial, {}, [&](const Emit &e) -> SmallVector<Value> {
      copy(e, whole, mask);
      return {};
    });
  });
}

// Rows of a panel are far apart, and so are panels: a few panels at a time, from the first to the last row. What is in no panels goes row
// by row.
void Packing::byGroups(const Emit &e) const {
  if (to.panel == 0)
    return byRows(e);
  int64_t together = kPanelsTogether * to.panel;
  forParts(e, from.columns, e.index(together), [&](const Emit &e, Value start, Value length) {
    Packing group = *this;
    group.from.data = from.address(e, e.index(0), start);
    group.from.columns = length;
    group.to.data = to.address(e, e.index(0), start);
    group.byRows(e);
  });
}

// Columns lie in memory as they are: squares of registers are transposed, one behind the other down as many columns as a register has
// lanes. A processor sees how these go on; columns beside each other may lie in a page each, and lines of few places of a cache.
void Packing::byColumns(const Emit &e) const {
  int64_t lanes = from.p.lanes;
  Value columns = from.lanesAlong(e, Columns), last = e.sub(columns, e.index(1));
  forEach(e, columns, lanes, [&](const Emit &e, Value c) {
    forEach(e, from.lanesAlong(e, Rows), lanes, [&](const Emit &e, Value r) {
      Value mask = from.maskFrom(e, Rows, r);
      SmallVector<Value> block;
      for (int64_t j = 0; j < lanes; ++j) {
        // Beyond the last column the last one is read again; what it gives is written to padding.
        Value column = minimum(e, e.add(c, e.index(j)), last);
        block.push_back(from.loadVector(e, r, column, Rows, mask));
      }
      transposeRegisters(e, block);
      for (int64_t i = 0; i < lanes; ++i)
        storeRaw(e, to.address(e, e.add(r, e.index(i)), c), block[i]);
    });
  });
}

void Packing::byElements(const Emit &e) const {
  forEach(e, from.lanesAlong(e, Rows), 1, [&](const Emit &e, Value r) {
    forEach(e, from.lanesAlong(e, Columns), 1, [&](const Emit &e, Value c) {
      storeRaw(e, to.address(e, r, c), from.loadLane(e, r, c));
    });
  });
}

namespace {
/// Packs panels of B whose columns lie in lines of their own.
struct ApartPacking {
  Source from; ///< its `data` is that of the first column of the first line
  Target to;

  void emit(const Emit &e) const;
  void vector(const Emit &e, Value c) const;
  Value piece(const Emit &e, Value c, Value at, Value left, Value offset, Value x) const;
};
} // namespace

// The lanes from `at` on of the vectors that hold column c, as many as are left of a line from its column x on: row after row, so that where
// lines end is found out once for all of them. Behind these lanes are zeros until the next piece comes. Returns how many there are.
Value ApartPacking::piece(const Emit &e, Value c, Value at, Value left, Value offset,
                          Value x) const {
  int64_t lanes = from.p.lanes;
  Source own = from;
  own.inner = {};
  own.data = elementPointer(e, from.data, storageType(from.logical), offset);
  Value count = minimum(e, left, e.sub(from.inner, x)), first = e.sub(x, at);
  auto copy = [&](Value loaded, Value stored) {
    return [&, loaded, stored](const Emit &e) -> SmallVector<Value> {
      forEach(e, from.lanesAlong(e, Rows), 1, [&](const Emit &e, Value r) {
        storeRaw(e, to.address(e, r, c), own.loadVector(e, r, first, Columns, loaded), stored);
      });
      return {};
    };
  };
  Value before = laneMask(e, at, lanes), exist = laneMask(e, e.add(at, count), lanes);
  e.branch(e.cmpi(CmpIPredicate::eq, count, lanes), {}, copy({}, {}),
           copy(e.bitAnd(exist, e.bitNot(before)), e.bitNot(before)));
  return count;
}

// A vector of columns goes through as many lines as it has room for.
void ApartPacking::vector(const Emit &e, Value c) const {
  Value column = e.add(from.first, c), one = e.index(1);
  Value line = e.b.createOrFold<arith::DivUIOp>(e.loc, column, from.inner);
  Value x = e.sub(column, e.mul(line, from.inner));
  Value length = minimum(e, e.index(from.p.lanes), e.sub(from.columns, c));
  Value span = e.sub(e.add(e.add(x, length), from.inner), one);
  Value lines = e.b.createOrFold<arith::DivUIOp>(e.loc, span, from.inner);
  e.loop(e.index(0), lines, one, {e.index(0), e.mul(line, from.outer), x},
         [&](const Emit &e, Value, ValueRange so) -> SmallVector<Value> {
           Value count = piece(e, c, so[0], e.sub(length, so[0]), so[1], so[2]);
           return {e.add(so[0], count), e.add(so[1], from.outer), e.index(0)};
         });
}

void ApartPacking::emit(const Emit &e) const {
  forEach(e, from.columns, from.p.lanes, [&](const Emit &e, Value c) { vector(e, c); });
}

// A module may have two plans for the same types, with and without registers of matrices, whose panels are not alike.
static std::string nameOf(StringRef what, const ProductPlan &p, Type logical) {
  std::string name;
  llvm::raw_string_ostream(name) << "ptl_pack_" << what << '_' << logical << '_' << p.perLane()
                                 << "_in_" << p.packed << '_' << p.depth << 'x' << p.columns();
  return name;
}

// Strides are known only when the code runs. Each way has a function of its own, so that code which is compiled as it is called has the
// ways alone that are taken.
static func::FuncOp packFunction(const Emit &outer, const std::string &name, ArrayRef<Type> types,
                                 llvm::function_ref<Packing(ValueRange)> packing) {
  auto by = [&](const char *way, void (Packing::*emit)(const Emit &) const) {
    return defineFunction(outer, name + way, types,
                          [&](const Emit &e, ValueRange v) { (packing(v).*emit)(e); });
  };
  func::FuncOp columns = by("_by_columns", &Packing::byColumns),
               elements = by("_by_elements", &Packing::byElements),
               rows = by("_by_rows", &Packing::byGroups);
  return defineFunction(outer, name, types, [&](const Emit &e, ValueRange v) {
    Source from = packing(v).from;
    auto call = [&](func::FuncOp way) {
      return [way, v](const Emit &e) -> SmallVector<Value> {
        callFunction(e, way, v);
        return {};
      };
    };
    e.branch(e.cmpi(CmpIPredicate::eq, from.columnStride, 1), {}, call(rows), [&](const Emit &e) {
      e.branch(e.cmpi(CmpIPredicate::eq, from.rowStride, 1), {}, call(columns), call(elements));
      return SmallVector<Value>();
    });
  });
}

func::FuncOp packRowsFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, index, pointer, index, index, index, index};
  std::string name = nameOf(p.movesA() ? "moved_rows" : "rows", p, p.a);
  return packFunction(outer, name, types, [&](ValueRange v) {
    Source source{p, p.a, Columns, v[2], v[3], v[4], v[5], v[6]};
    source.isMoved = p.movesA();
    return Packing{source, {p, v[0], v[1], 0}};
  });
}

func::FuncOp packPanelsFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, index, index, index, index};
  return packFunction(outer, nameOf("panels", p, p.b), types, [&](ValueRange v) {
    return Packing{{p, p.b, Rows, v[1], v[2], v[3], v[4], v[5]}, {p, v[0], {}, p.columns()}};
  });
}

func::FuncOp packApartFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types(9, index);
  types[0] = types[1] = pointer;
  return defineFunction(outer, nameOf("apart", p, p.b), types, [&](const Emit &e, ValueRange v) {
    Source source{p, p.b, Rows, v[1], v[2], v[3], v[7], v[8], v[4], v[5], v[6]};
    Target target{p, v[0], {}, p.columns()};
    Value isContiguous = e.cmpi(CmpIPredicate::eq, v[3], 1);
    e.branch(
        isContiguous, {},
        [&](const Emit &e) -> SmallVector<Value> {
          ApartPacking{source, target}.emit(e);
          return {};
        },
        [&](const Emit &e) -> SmallVector<Value> {
          Packing{source, target}.byElements(e);
          return {};
        });
  });
}

SmallVector<Value> lanesInPlace(const Emit &e, const ProductPlan &p, const MatrixRows &b, Value row,
                                Value column, Value left, int64_t vectors) {
  Source source{p, p.b, Rows, b.data, b.stride, e.index(1), b.count, {}};
  if (p.perLane() > 1)
    return source.loadTogether(e, row, column, vectors,
                               left ? laneMask(e, left, vectors * p.lanes) : Value());
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < vectors; ++v) {
    Value from = e.index(v * p.lanes);
    loaded.push_back(source.loadVector(e, row, e.add(column, from), Columns,
                                       left ? laneMask(e, e.sub(left, from), p.lanes) : Value()));
  }
  return loaded;
}

} // namespace ptl::cpu
