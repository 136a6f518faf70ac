"""Attention at the block level in the structure of the published kernels: `flash_attention.py [OPTION ...] > flash_attention.pto`.

128 queries of a head of 128 for each point of the grid, some keys at a time (a tile) in products of 128. The cube core makes the scores
some tiles before it needs their weights; each vector core has half of the queries and takes a tile in slices of rows. What cores hand over
lies in rings of slots in global memory. A signal says that a tile is there, and every few tiles one says that their slots are free.

Options, and what the demonstration with PyTorch has (the library's version gives slots back every 4 tiles):
"""

import argparse
import sys

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("--keys", type=int, default=256, help="of a tile (256)")
PARSER.add_argument("--ahead", type=int, default=4, help="tiles whose scores are made before the first one's weights are needed (4)")
PARSER.add_argument("--slots", type=int, default=8, help="of each ring (8)")
PARSER.add_argument("--period", type=int, default=1, help="slots are given back every so many tiles (1)")
OPTIONS = PARSER.parse_args()

PARTS = OPTIONS.keys // 128  # products of a tile; slices of a vector core's rows
ROWS = 64 // PARTS  # of a slice
GROUPS = 24  # core groups that have rings
lines, indent, number = [], 1, 0

MAT = "!pto.tile_buf<mat, 128x128xf16, blayout=col_major, slayout=row_major>"
MATT = "!pto.tile_buf<mat, 128x128xf16, slayout=col_major>"
LEFT = "!pto.tile_buf<left, 128x128xf16, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 128x128xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 128x128xf32, blayout=col_major, slayout=row_major, fractal=1024>"
S, SPART = f"!pto.tile_buf<vec, {ROWS}x{OPTIONS.keys}xf32>", f"!pto.tile_buf<vec, {ROWS}x128xf32>"
P, PPART = f"!pto.tile_buf<vec, {ROWS}x{OPTIONS.keys}xf16>", f"!pto.tile_buf<vec, {ROWS}x128xf16>"
O = "!pto.tile_buf<vec, 64x128xf32>"
ROW, COL = f"!pto.tile_buf<vec, 1x{ROWS}xf32>", f"!pto.tile_buf<vec, {ROWS}x1xf32, blayout=col_major>"
WHOLE, WHOLECOL = "!pto.tile_buf<vec, 1x64xf32>", "!pto.tile_buf<vec, 64x1xf32, blayout=col_major>"

# Signals between cores, by id; each ring has one for tiles and one for slots.
SCORES, WEIGHTS, PRODUCTS, END = 0, 2, 4, 6


def emit(text):
    lines.append("  " * indent + text)


def let(text):
    global number
    number += 1
    emit(f"%v{number} = {text}")
    return f"%v{number}"


def index(value):
    return let(f"arith.constant {value} : index")


def op(name, a, b):
    a, b = (index(x) if isinstance(x, int) else x for x in (a, b))
    return let(f"arith.{name} {a}, {b} : index")


def flag(kind, source, target, event):
    emit(f"pto.{kind}_flag_dyn[<PIPE_{source}>, <PIPE_{target}>, {event}]" if event.startswith("%") else
         f"pto.{kind}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]")


def cross(kind, pipe, event):
    emit(f"pto.sync.{kind} <PIPE_{pipe}>, {index(event)}")


def tile(kind, address):
    constant = let(f"arith.constant {address} : i64")
    return let(f"pto.alloc_tile addr = {constant} : {kind}")


def slots(kind, address, count):
    constant = let(f"arith.constant {address} : i64")
    multi = f"!pto.multi_tile_buf<{kind}, count = {count}>"
    whole = let(f"pto.alloc_multi_tile addr = {constant} : {multi}")
    return lambda i: let(f"pto.multi_tile_get {whole}[{i}] : {multi} -> {kind}")


def do(name, ins, outs):
    values = ", ".join(value for value, _ in ins)
    types = ", ".join(kind for _, kind in ins)
    emit(f"pto.{name} ins({values} : {types}) outs({outs[0]} : {outs[1]})")


class Block:
    def __init__(self, head):
        self.head = head

    def __enter__(self):
        global indent
        emit(self.head + " {")
        indent += 1

    def __exit__(self, *_):
        global indent
        indent -= 1
        emit("}")


def when(comparison, a, b):
    a, b = (index(x) if isinstance(x, int) else x for x in (a, b))
    return Block(f"scf.if {let(f'arith.cmpi {comparison}, {a}, {b} : index')}")


def loop(name, first, last, step=1):
    first, last, step = (index(x) if isinstance(x, int) else x for x in (first, last, step))
    return Block(f"scf.for %{name} = {first} to {last} step {step}")


class Rows:
    """A view of rows of 128 elements, and boxes of it."""

    def __init__(self, name, element, rows, turned=False):
        width, one = index(128), index(1)
        shape, strides = (f"{width}, {rows}", f"{one}, {width}") if turned else (f"{rows}, {width}", f"{width}, {one}")
        self.turned, self.element = turned, element
        self.type = f"!pto.tensor_view<{'128x?' if turned else '?x128'}x{element}>"
        self.view = let(f"pto.make_tensor_view %{name}, shape = [{shape}], strides = [{strides}] : {self.type}")

    def box(self, first, count):
        zero, width, size = index(0), index(128), index(count)
        at, sizes = (f"{zero}, {first}", f"{width}, {size}") if self.turned else (f"{first}, {zero}", f"{size}, {width}")
        kind = f"!pto.partition_tensor_view<{'128x' + str(count) if self.turned else str(count) + 'x128'}x{self.element}>"
        return let(f"pto.partition_view {self.view}, offsets = [{at}], sizes = [{sizes}] : {self.type} -> {kind}"), kind


class Ring:
    """Slots of `parts` boxes of 128 rows in global memory, of this core group."""

    def __init__(self, name, element, event, parts, producer, consumer):
        self.rows = Rows(name, element, index(GROUPS * OPTIONS.slots * parts * 128))
        self.event, self.parts, self.producer, self.consumer = event, parts, producer, consumer
        self.first = op("muli", block(), OPTIONS.slots)

    def row(self, tile_number, part):
        slot = op("addi", self.first, op("remui", tile_number, OPTIONS.slots))
        return op("muli", op("addi", op("muli", slot, self.parts), part), 128)

    def ready(self):
        cross("set", self.producer, self.event)

    def await_tile(self):
        cross("wait", self.consumer, self.event)

    def give_back(self, tile_number):
        with when("eq", op("remui", op("addi", tile_number, 1), OPTIONS.period), 0):
            cross("set", self.consumer, self.event + 1)

    def await_slot(self, tile_number):
        with when("sge", tile_number, OPTIONS.slots), when("eq", op("remui", tile_number, OPTIONS.period), 0):
            cross("wait", self.producer, self.event + 1)

    def drain(self, tiles):
        """Waits for what was given back and not needed any more."""
        last = op("subi", op("maxsi", tiles, OPTIONS.slots), 1)
        waits = op("subi", op("divui", last, OPTIONS.period), (OPTIONS.slots - 1) // OPTIONS.period)
        with loop("d", waits, op("divui", tiles, OPTIONS.period)):
            cross("wait", self.producer, self.event + 1)


def block():
    return let(f"arith.index_cast {let('pto.get_block_idx -> i64')} : i64 to index")


def rings():
    return (Ring("ws", "f32", SCORES, PARTS, "FIX", "MTE2"), Ring("wp", "f16", WEIGHTS, PARTS, "MTE3", "MTE2"),
            Ring("wo", "f32", PRODUCTS, 1, "FIX", "MTE2"))


def grid():
    """The points of a core group, and how many tiles each has."""
    points = op("ceildivsi", "%S", 128)
    count = let(f"arith.index_cast {let('pto.get_block_num -> i64')} : i64 to index")
    tiles = op("divui", "%T", OPTIONS.keys)
    return block(), points, count, tiles, op("addi", tiles, OPTIONS.ahead)


def cube():
    first, points, count, tiles, rounds = grid()
    scores, weights, products = rings()
    queries, keys, values = Rows("q", "f16", "%S"), Rows("k", "f16", "%T", turned=True), Rows("v", "f16", "%T")
    q = tile(MAT, 0)
    k, p, v = slots(MATT, 32768, 2), slots(MAT, 98304, 2), slots(MAT, 163840, 2)
    left, right, acc = slots(LEFT, 0, 2), slots(RIGHT, 0, 2), slots(ACC, 0, 2)
    for event in range(5):
        flag("set", "MTE1", "MTE2", str(event))
    for event in range(2):
        flag("set", "M", "MTE1", str(event))
        flag("set", "FIX", "M", str(event))

    def multiply(a, b, kind, event, x, target, starts):
        """The x-th product; its operands have come with an event."""
        flag("set", "MTE2", "MTE1", event)
        flag("wait", "MTE2", "MTE1", event)
        l0 = op("remui", x, 2)
        flag("wait", "M", "MTE1", l0)
        to_left, to_right = left(l0), right(l0)
        zero = index(0)
        do("textract", [(a, MAT), (zero, "index"), (zero, "index")], (to_left, LEFT))
        do("textract", [(b, kind), (zero, "index"), (zero, "index")], (to_right, RIGHT))
        flag("set", "MTE1", "MTE2", event)
        flag("set", "MTE1", "M", l0)
        if starts:
            flag("wait", "FIX", "M", target)
        flag("wait", "MTE1", "M", l0)
        out, operands = acc(index(int(target))), [(to_left, LEFT), (to_right, RIGHT)]
        do("tmatmul" if starts else "tmatmul.acc", operands if starts else [(out, ACC)] + operands, (out, ACC))
        flag("set", "M", "MTE1", l0)
        return out

    def store(out, target, ring, tile_number, part):
        flag("set", "M", "FIX", target)
        flag("wait", "M", "FIX", target)
        # The unit flag lets the next product begin while its accumulators are being stored.
        flag("set", "FIX", "M", target)
        if part == 0:
            ring.await_slot(tile_number)
        do("tstore", [(out, ACC)], ring.rows.box(ring.row(tile_number, part), 128))
        if part == ring.parts - 1:
            ring.ready()

    def score(tile_number, part, x):
        y = op("addi", op("muli", tile_number, PARTS), part)
        event = op("remui", y, 2)
        flag("wait", "MTE1", "MTE2", event)
        to = k(event)
        do("tload", [keys.box(op("muli", y, 128), 128)], (to, MATT))
        store(multiply(q, to, MATT, event, x, "0", True), "0", scores, tile_number, part)

    def product(tile_number, part, x):
        y = op("addi", op("muli", tile_number, PARTS), part)
        slot = op("remui", y, 2)
        event = op("addi", slot, 2)
        flag("wait", "MTE1", "MTE2", event)
        to_v, to_p = v(slot), p(slot)
        do("tload", [values.box(op("muli", y, 128), 128)], (to_v, MAT))
        if part == 0:
            weights.await_tile()
        do("tload", [weights.rows.box(weights.row(tile_number, part), 128)], (to_p, MAT))
        if part == PARTS - 1:
            weights.give_back(tile_number)
        out = multiply(to_p, to_v, MAT, event, x, "1", part == 0)
        if part == PARTS - 1:
            store(out, "1", products, tile_number, 0)

    with loop("p", first, points, count):
        flag("wait", "MTE1", "MTE2", "4")
        do("tload", [queries.box(op("muli", "%p", 128), 128)], (q, MAT))
        flag("set", "MTE2", "MTE1", "4")
        flag("wait", "MTE2", "MTE1", "4")
        with loop("j", 0, rounds):
            back = op("subi", "%j", OPTIONS.ahead)
            before = op("muli", op("addi", op("minsi", "%j", tiles), op("maxsi", back, 0)), PARTS)
            scored = op("subi", op("minsi", op("addi", "%j", 1), tiles), op("minsi", "%j", tiles))  # 1 while there are more
            weighed = op("maxsi", op("minsi", op("addi", back, 1), 1), 0)
            each = op("addi", scored, weighed)
            for part in range(PARTS):
                x = op("addi", before, op("muli", each, part))
                with when("slt", "%j", tiles):
                    score("%j", part, x)
                with when("sge", "%j", OPTIONS.ahead):
                    product(back, part, op("addi", x, scored))
        flag("set", "MTE1", "MTE2", "4")
        scores.drain(tiles)
        products.drain(tiles)
        cross("wait", "MTE2", END)
    for event in range(5):
        flag("wait", "MTE1", "MTE2", str(event))
    for event in range(2):
        flag("wait", "M", "MTE1", str(event))
        flag("wait", "FIX", "M", str(event))


def vector():
    first, points, count, tiles, rounds = grid()
    scores, weights, products = rings()
    scale, one = (let(f"arith.constant {value} : f32") for value in ("0.0883883461", "1.0"))
    half = op("muli", let(f"arith.index_cast {let('pto.get_subblock_idx -> i64')} : i64 to index"), 64)
    result = Rows("o", "f32", "%S")
    sources, added, weight = slots(S, 0, 2), slots(O, 0, 2), slots(P, 65536, 2)
    acc, scratch = tile(O, 98304), tile(S, 131072)
    state = 163840  # local and global largest, local and global sum of each row, then the factors of each tile
    slices = [[tile(ROW, state + 256 * i + 4 * ROWS * part) for part in range(PARTS)] for i in range(4)]
    total = tile(WHOLE, state + 768)
    factors = slots(WHOLE, state + 1024, OPTIONS.slots)

    def v(name, ins, outs, barrier=True):
        do(name, ins, outs)
        if barrier:
            emit("pto.barrier <PIPE_V>")

    def column(row, kinds=(ROW, COL)):
        return let(f"pto.treshape {row} : {kinds[0]} -> {kinds[1]}"), kinds[1]

    def part_of(source, kind, part_kind, column):
        return let(f"pto.subset {source}[{index(0)}, {index(column)}] : {kind} -> {part_kind}"), part_kind

    def row_in_ring(ring, tile_number, part, rows):
        return op("addi", op("addi", ring.row(tile_number, part), half), rows)

    def first_softmax(x, small, part):
        _, greatest, _, whole_sum = ((row[part], ROW) for row in slices)
        v("trowmax", [(x, S), (scratch, S)], column(greatest[0]))
        v("trowexpandsub", [(x, S), column(greatest[0])], (x, S), barrier=False)
        v("tmuls", [(x, S), (scale, "f32")], (x, S), barrier=False)
        v("texp", [(x, S)], (x, S))
        v("trowsum", [(x, S), (scratch, S)], column(whole_sum[0]), barrier=False)
        v("tcvt", [(x, S)], (small, P), barrier=False)

    def softmax(x, small, factor, part):
        local, greatest, local_sum, whole_sum = ((row[part], ROW) for row in slices)
        v("trowmax", [(x, S), (scratch, S)], column(local[0]))
        v("tmax", [local, greatest], local)
        v("tsub", [greatest, local], factor)
        v("tmuls", [local, (one, "f32")], greatest)
        v("trowexpandsub", [(x, S), column(local[0])], (x, S), barrier=False)
        v("tmuls", [factor, (scale, "f32")], factor, barrier=False)
        v("tmuls", [(x, S), (scale, "f32")], (x, S), barrier=False)
        v("texp", [factor], factor, barrier=False)
        v("texp", [(x, S)], (x, S), barrier=False)
        v("tcvt", [(x, S)], (small, P))
        v("tmul", [factor, whole_sum], whole_sum, barrier=False)
        v("trowsum", [(x, S), (scratch, S)], column(local_sum[0]))
        v("tadd", [whole_sum, local_sum], whole_sum, barrier=False)

    def weigh(tile_number, part, buffer):
        """A slice of rows of a tile: from scores to weights."""
        flag("wait", "V", "MTE2", buffer)
        if part == 0:
            scores.await_tile()
        x, small = sources(buffer), weight(buffer)
        for box in range(PARTS):
            do("tload", [scores.rows.box(row_in_ring(scores, tile_number, box, part * ROWS), ROWS)], part_of(x, S, SPART, 128 * box))
        if part == PARTS - 1:
            scores.give_back(tile_number)
        flag("set", "MTE2", "V", buffer)
        flag("wait", "MTE2", "V", buffer)
        flag("wait", "MTE3", "V", buffer)
        with when("eq", tile_number, 0):
            first_softmax(x, small, part)
        with when("sgt", tile_number, 0):
            softmax(x, small, part_of(factors(op("remui", tile_number, OPTIONS.slots)), WHOLE, ROW, part * ROWS), part)
        flag("set", "V", "MTE2", buffer)
        flag("set", "V", "MTE3", buffer)
        flag("wait", "V", "MTE3", buffer)
        if part == 0:
            weights.await_slot(tile_number)
        for box in range(PARTS):
            do("tstore", [part_of(small, P, PPART, 128 * box)], weights.rows.box(row_in_ring(weights, tile_number, box, part * ROWS), ROWS))
        if part == PARTS - 1:
            weights.ready()
        flag("set", "MTE3", "V", buffer)

    def add(tile_number, buffer):
        """The product of a tile, to what is there."""
        products.await_tile()
        flag("wait", "V", "MTE2", buffer)
        box = products.rows.box(row_in_ring(products, tile_number, 0, index(0)), 64)
        with when("eq", tile_number, 0):
            flag("wait", "MTE3", "MTE2", "2")
            do("tload", [box], (acc, O))
            flag("set", "MTE2", "V", buffer)
            flag("wait", "MTE2", "V", buffer)
        with when("sgt", tile_number, 0):
            to = added(buffer)
            do("tload", [box], (to, O))
            flag("set", "MTE2", "V", buffer)
            flag("wait", "MTE2", "V", buffer)
            v("trowexpandmul", [(acc, O), column(factors(op("remui", tile_number, OPTIONS.slots)), (WHOLE, WHOLECOL))], (acc, O), barrier=False)
            v("tadd", [(acc, O), (to, O)], (acc, O), barrier=False)
        flag("set", "V", "MTE2", buffer)
        products.give_back(tile_number)

    for event in range(2):
        flag("set", "V", "MTE2", str(event))
        flag("set", "MTE3", "V", str(event))
    flag("set", "MTE3", "MTE2", "2")
    with loop("p", first, points, count):
        with loop("j", 0, rounds):
            back = op("subi", "%j", OPTIONS.ahead)
            before = op("addi", op("muli", op("minsi", "%j", tiles), PARTS), op("maxsi", back, 0))
            with when("slt", "%j", tiles):
                for part in range(PARTS):
                    weigh("%j", part, op("remui", op("addi", before, part), 2))
            with when("sge", "%j", OPTIONS.ahead):
                made = op("muli", op("minsi", op("addi", "%j", 1), tiles), PARTS)
                add(back, op("remui", op("addi", made, back), 2))
        v("trowexpanddiv", [(acc, O), column(total, (WHOLE, WHOLECOL))], (acc, O), barrier=False)
        flag("set", "V", "MTE3", "2")
        flag("wait", "V", "MTE3", "2")
        do("tstore", [(acc, O)], result.box(op("addi", op("muli", "%p", 128), half), 64))
        flag("set", "MTE3", "MTE2", "2")
        weights.drain(tiles)
        cross("set", "MTE2", END)
    for event in range(2):
        flag("wait", "V", "MTE2", str(event))
        flag("wait", "MTE3", "V", str(event))
    flag("wait", "MTE3", "MTE2", "2")


def ring_argument(name, element, box_bytes, parts):
    return (f"%{name}: !pto.ptr<{element}> {{ptl.role = \"workspace\", "
            f"ptl.bytes = {GROUPS * OPTIONS.slots * parts * box_bytes} : i64}}")


def main():
    if OPTIONS.keys not in (128, 256, 512, 1024) or OPTIONS.slots % OPTIONS.period:
        sys.exit("tiles have 128, 256, 512 or 1024 keys, and rings a multiple of `--period` slots")
    arguments = ", ".join([f"%{name}: !pto.ptr<f16>" for name in "qkv"] + ["%o: !pto.ptr<f32>"] +
                          [ring_argument("ws", "f32", 65536, PARTS), ring_argument("wp", "f16", 32768, PARTS),
                           ring_argument("wo", "f32", 65536, 1),
                           "%S: index {ptl.name = \"S\"}", "%T: index {ptl.name = \"T\"}"])
    print('module attributes {"pto.target_arch" = "a3"} {')
    for name, kind, body in (("aic", "cube", cube), ("aiv", "vector", vector)):
        lines.clear()
        body()
        print(f"func.func @flash_attention_{name}({arguments}) attributes {{ptl.kernel = \"flash_attention\", "
              f"pto.entry, pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{")
        print("\n".join(lines))
        print("  return\n}")
    print("}")


main()
