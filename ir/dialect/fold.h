// Folds with a function of the program.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#define GET_OP_CLASSES
#include "ir/dialect/fold.h.inc"
