// The table of our passes, in the order in which they run for a chip. Each is implemented in one
// file of its name in a subfolder of `transform/`, those of `lower_block/` beside the functions
// that they call.
#ifndef PTL_PASSES
#define PTL_PASSES

include "mlir/Pass/PassBase.td"

def Partition : Pass<"ptl-partition", "::mlir::func::FuncOp"> {
  let summary = "partition tensor-level code into grids of tiles";
  let description = [{
    Groups the tensor operations of a function into kernels and tiles each: elementwise chains, reductions and the
    products they follow run in one `ptl.parallel` over the axes along which the group is independent. What two groups
    share is stored once in global memory. Operations inside grids are left alone: the author has tiled them.

    The tile sizes come from the machine file; `ptl.tile` on an operation (from a `schedule`) overrides them.
  }];
  let options = [
    Option<"productM", "product-m", "int64_t", "168", "rows of a tile of a matrix product">,
    Option<"productN", "product-n", "int64_t", "256", "columns of a tile of a matrix product">,
    Option<"tileBytes", "tile-bytes", "int64_t", "65536", "bytes of a tile of other operations">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Chunk : Pass<"ptl-chunk", "::mlir::func::FuncOp"> {
  let summary = "partition tensor-level code for a chip: tiles of two axes, long axes in chunks";
  let description = [{
    As `ptl-partition`, for machines whose tiles are matrices and need a static bound. The axes of a group's operations become
    one space. Two of its axes are the rows and columns of tiles, the others are gone along one position at a time. An axis that
    a reduction folds is gone along in chunks: one loop for each step that needs the whole of it, carrying partial results, and a
    last one that computes what is stored. What is needed once is computed before the loops. Tensor operations that are no
    arithmetic (`concat`, `pad`, variables of loops) become stores of boxes before.

    A product whose result the cube core stores itself (as it is, or as a narrower float) has tiles of twice the columns where the costs
    of the machine say that this takes less time, and its tiles are no larger than dealing the result evenly to the cores asks for: how
    large is decided when the program runs, unless lengths are constants.

    Tiles of columns of unknown length have a few long rows. If the columns turn out to be narrow and the rows to be many, an arm of a
    branch goes along them in tiles of many rows. The first grids of a function have such an arm, so that code of many grids hardly grows.

    Groups are numbered by odd numbers (`ptl.tile_group` of their grids), their arms of narrow columns by the even ones that follow, so
    that the tiles of one that does not fit can be halved without those of the others.
  }];
  let options = [
    Option<"productM", "product-m", "int64_t", "128", "rows of a tile of a matrix product">,
    Option<"productN", "product-n", "int64_t", "128", "columns of a tile of a matrix product">,
    Option<"tileBytes", "tile-bytes", "int64_t", "16384", "bytes of a tile of other operations">,
    Option<"machine", "machine", "std::string", "\"\"", "name of the machine whose costs and cores decide about products">,
    ListOption<"halvings", "halvings", "int64_t", "how often tiles are halved, by group (0: those without one)">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SkipMasked : Pass<"ptl-skip-masked", "::mlir::func::FuncOp"> {
  let summary = "leave out the columns that a mask by position hides from all rows of a tile";
  let description = [{
    In a grid, `softmax(select(row >= column, scores, -inf)) @ v` ends at the last column that a row of the tile sees: scores beyond it are
    not computed. What hidden rows of `v` would add, 0 or NaN, is added. Values are the same up to the order of sums.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OnlineSoftmax : Pass<"ptl-online-softmax", "::mlir::func::FuncOp"> {
  let summary = "compute softmax and the product behind it by blocks of columns, with running maximum and sum";
  let description = [{
    In a grid, `softmax(scores) @ v` goes along the columns of the scores in blocks: a running maximum and sum are kept for each row, and
    what has been accumulated is rescaled where the maximum grows. So only a block of scores is in memory at a time. That is done where
    rows are long when it runs, and its result is taken where it is finite; else the tile is computed as it was written. Values are the
    same up to rounding.
  }];
  let options = [
    Option<"block", "block", "int64_t", "256", "columns of a block">,
    Option<"longRow", "long-row", "int64_t", "512", "rows with more columns go by blocks">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HoistChecks : Pass<"ptl-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "check before a loop or grid what comes out the same in all its rounds";
  let description = [{
    A `ptl.check` whose operands do not change moves before the loop, with the scalars that it needs, unless another check or
    something printed comes before it in the body. It then holds as well where the loop has no round.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ShareRows : Pass<"ptl-share-rows", "::mlir::func::FuncOp"> {
  let summary = "load boxes once that are rows of one box";
  let description = [{
    In grids of vector cores, boxes of one array that differ in their first row alone, by known numbers, as those of a stencil do, become
    slices of one box that has the rows of all of them, where that is a quarter less to load.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Legalize : Pass<"ptl-legalize", "::mlir::func::FuncOp"> {
  let summary = "rewrite what a machine has no instruction for into operations that it has";
  let description = [{
    From tile level to tile level, keeping the meaning: elementary functions become polynomials, short floats are
    computed in `f32` and rounded where they are stored, integers of widths without arithmetic are widened, comparisons,
    masks, reductions over several axes, scans, triangles, paddings and random bits are expressed by what exists. The
    instructions and their element types come from the machine file. What has no rewriting stays; a later pass names it.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Simplify : Pass<"ptl-simplify"> {
  let summary = "canonical form, nothing computed twice";
  let description = [{
    The canonical form of every operation's own patterns, and removal of what is computed twice. Control flow stays structured.
  }];
}

def SetChoices : Pass<"ptl-set-choices", "::mlir::func::FuncOp"> {
  let summary = "how each grid is lowered, as a search found it";
  let description = [{
    Writes down what each grid gives up for room (`ptl.choices`), for the passes that read it: what is unlike usual, by the number of
    the grid. The compiler searches these (`lower_choices`); `choices=0.parts=2,1.unrolls=0` says them by hand. Grids that are not named
    are lowered as usual.
  }];
  let options = [ListOption<"choices", "choices", "std::string", "`GRID.CHOICE=NUMBER`, for each that is unlike usual">];
}

def CheckPlaces : Pass<"ptl-check-places", "::mlir::func::FuncOp"> {
  let summary = "tiles that are pinned to a memory lie there";
  let description = [{
    Compares the places that the source gives tiles with those that cores use them in, and takes the pins away. An error where
    they differ. What follows finds no `ptl.cast` that only names a place.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def Unroll : Pass<"ptl-unroll", "::mlir::func::FuncOp"> {
  let summary = "copy the bodies of loops that say so";
  let description = [{
    Loops with `ptl.unroll` that no product accumulates in. An `unroll` that has no effect is an error. The choice `unrolls = false` of a
    grid leaves its loops as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def RotateWhile : Pass<"ptl-rotate-while", "::mlir::func::FuncOp"> {
  let summary = "decide whether a loop goes on at the end of its turns";
  let description = [{
    A `while` whose condition reads tiles gets it before the loop and again at the end of the body, and carries it. Conditions of
    the loops that are left are arithmetic of scalars.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HandOperands : Pass<"ptl-hand-operands", "::mlir::func::FuncOp"> {
  let summary = "name what is handed to the cube core";
  let description = [{
    An operand of a product that is no matrix in global memory, and no result of an operation of the vector cores as it is, becomes
    the result of a `ptl.cast` with `ptl.handed`: a variable of a loop, a product, a transpose, an added axis. A column that is loaded
    becomes the transpose of a row.
  }];
}

def CutTiles : Pass<"ptl-cut-tiles", "::mlir::func::FuncOp"> {
  let summary = "compute tiles that are too large in parts";
  let description = [{
    As the choices of a grid say (`parts`: inside of loops; `point_parts`: all that a point does), along an axis whose positions
    every operation keeps apart. `slices` cuts what the vector cores do alone: products and what crosses between the cores stay whole.
    Grids without such choices stay as they are.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CutStatements : Pass<"ptl-cut-statements", "::mlir::func::FuncOp"> {
  let summary = "compute what is stored and folded in parts, where its tiles are too large";
  let description = [{
    As the choices of a grid say (`statement_bytes`): a store or a reduction whose operand is computed through tiles of more bytes
    becomes a loop over parts of it, along the axis that leaves least as a whole. What is computed position by position is computed anew for
    each part; of other tiles a part is cut out. Tiles of which only boxes are read are computed there alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def HandNumbers : Pass<"ptl-hand-numbers", "::mlir::func::FuncOp"> {
  let summary = "hand numbers to the cube core through global memory";
  let description = [{
    Bounds of loops, conditions and positions around products that the vector cores compute from tiles are stored to global memory,
    in a block for each point of the grid, and read before their first use by all cores.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def HandLate : Pass<"ptl-hand-late", "::mlir::func::FuncOp"> {
  let summary = "hand operands over right before their products, where queues are shared by all";
  let description = [{
    For kernels in which more values cross between the cores than the machine has flags for, also when those alike share a queue:
    each product is handed its operands once more, so that each is read before the next one comes.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def Outline : Pass<"ptl-outline", "::mlir::ModuleOp"> {
  let summary = "a function of its own for each grid, which the host launches";
  let description = [{
    The functions take what the grids use from outside (`ptl.role` of arrays, `ptl.length` of lengths) and hold nothing but
    constants and their grid. Numbers that follow from lengths are computed in them again.
  }];
}

def AssignCores : Pass<"ptl-assign-cores", "::mlir::func::FuncOp"> {
  let summary = "which kind of core does what, and what crosses between them";
  let description = [{
    For outlined grids. Products, what accumulates them and what stores an accumulator are the cube core's, other operations on
    tiles the vector cores' (`ptl.core`); what both need for themselves, loads, constants and control flow, says nothing. Results
    that are handed to the other kind of core say so (`ptl.crosses`), variables that live in the accumulator (`ptl.accumulates`),
    the axis that the two vector cores share (`ptl.dealt`), and the places where all cores of a group wait for each other
    (`ptl.meets`), because they reach the same global memory. Nothing is moved.
  }];
}

def PlanQueues : Pass<"ptl-plan-queues", "::mlir::func::FuncOp"> {
  let summary = "which queue each value takes between the cores, with its events, slots and bytes";
  let description = [{
    For grids whose cores are assigned. Each value that crosses gets the number of a queue (`ptl.queue`), and the grid a list of
    them (`ptl.queues`): one for each value; where the machine has too few events, one for values that are alike; where that is
    not enough, one for all values to the vector cores and one for each side of products (`ptl.merged`). An error if there are
    too few even so, or if a value has no bound.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def StageOperands : Pass<"ptl-stage-operands", "::mlir::func::FuncOp"> {
  let summary = "which operands of products are loaded whole, and which piece by piece";
  let description = [{
    Each load that a product reads says how the cube core stages it (`ptl.staged`): `whole`, or in `pieces` where it has no bound,
    takes more than a fourth of the staging memory, or the choices of the grid say so. What the kernel stores to is loaded where
    it is read.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def CutProducts : Pass<"ptl-cut-products", "::mlir::func::FuncOp"> {
  let summary = "how far products go along their contracted axis at a time";
  let description = [{
    Each product says how many contracted positions go through the operand buffers at a time (`ptl.step`): as a schedule says
    (`l0`), else what takes the least time by the costs of the machine. Where an operand goes in pieces, it also says how many
    positions a piece has (`ptl.piece`). An error if what the schedule says cannot be.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def StageLoops : Pass<"ptl-stage-loops", "::mlir::func::FuncOp"> {
  let summary = "which operations of a loop are done some turns ahead of the others";
  let description = [{
    For loops with `pipeline` whose values cross between the cores more than once in a turn. Each operation of a core says whether
    it is `ahead` or `behind` (`ptl.turn`), the loop by how many turns (`ptl.turns_ahead`). Nothing is moved.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
}

def SelectInstructions : Pass<"ptl-select-instructions", "::mlir::func::FuncOp"> {
  let summary = "by which instruction the vector cores do each operation";
  let description = [{
    Each operation on tiles of the vector cores says its way (`ptl.way`), the first one of a table that the machine's file
    has for its element types: the name of an instruction; `move`, `sort`, `scan` where rows are moved, ordered and folded;
    `view` where nothing is to be done; `elements` where the scalar unit goes through the elements. An error if there is none.
    Loads, constants and views say nothing.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerBlock : Pass<"ptl-lower-block", "::mlir::ModuleOp"> {
  let summary = "outlined grids to kernels of the block level";
  let description = [{
    A module for each, with a function per kind of core: instructions, queues between cores, buffers that have no
    addresses yet. Nothing is synchronised.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"a2\"", "name of the machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::ptl::pto::PtoDialect"];
}

def PlanBuffers : Pass<"pto-plan-buffers", "::mlir::ModuleOp"> {
  let summary = "give each buffer of the block level its address";
  let description = [{
    Buffers that are not live together may share bytes. As long as all fits, they are kept apart: sharing puts the pipes
    that use them in an order. The machine is the one that the module names.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"\"", "name of a machine instead of the module's">,
    Option<"tight", "tight", "bool", "false", "share bytes wherever that is right">,
    Option<"emit", "emit", "std::string", "\"\"", "print what stands where: ledger, json, map or svg">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PeelStages : Pass<"pto-peel-stages", "::mlir::func::FuncOp"> {
  let summary = "take what the first and the last turn do alone out of loops in two stages";
  let description = [{
    A loop whose body is in two stages, one a turn ahead of the other, has both in branches (`ptl.stage`). Instructions that
    are in a branch can be put in order with others only before and behind it; here the branches go, so that each event stands
    beside the instruction that it is for. For kernels whose buffers are placed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DeriveSync : Pass<"pto-derive-sync", "::mlir::ModuleOp"> {
  let summary = "put what depends on each other in order, with events and barriers";
  let description = [{
    For kernels at the block level whose buffers are placed. Hazards through bytes of on-chip memory and of global memory
    become events between pipes, hoisted to the innermost body that has both ends; what other events imply gets none. Slots
    that are used in turn have an event each, so that loads run ahead. `ptl.why` names the dependence of each operation.
    A function with any synchronisation is left alone: its author did that.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"\"", "name of a machine instead of the module's">,
    Option<"eventIds", "event-ids", "int64_t", "0", "ids of a pair of pipes instead of the machine's">,
    Option<"emit", "emit", "std::string", "\"\"", "json: print the events and barriers of each function">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Prove : Pass<"pto-prove", "::mlir::ModuleOp"> {
  let summary = "prove that placed, synchronised block code is right";
  let description = [{
    Judges the kernels of the module (`passes/prover/README.md`): faults are errors, what cannot be decided is a warning. The
    module stays as it is. The machine is the one that the module names.
  }];
  let options = [Option<"machine", "machine", "std::string", "\"\"", "name of a machine instead of the module's">];
}

#endif
