// Statements of the block level and of orchestration: tasks, pipes, sections, buffers, events. Each
// function starts at the keyword of its statement.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

NodeId parseTask(Parser &p);
NodeId parsePipe(Parser &p);
NodeId parseOn(Parser &p);
NodeId parseBuffer(Parser &p);
NodeId parseEvent(Parser &p);

} // namespace ptl
