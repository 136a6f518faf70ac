// The result of buffer planning as plain data for people and tools: which buffer is where in the
// memories of a machine. Standard library only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A place in a source text; line 0 stands for no place.
struct LedgerPlace {
  std::string file;
  uint32_t line = 0, column = 0;
};

/// A buffer, or the slots of one, or the slots of a queue between cores.
struct LedgerBuffer {
  enum class Kind : uint8_t { Tile, Slots, Queue };
  std::string name;
  std::string type; ///< `f32[64, 128] nd`; empty for queues
  Kind kind = Kind::Tile;
  LedgerPlace place;
  int64_t bytes = 0;              ///< of one slot, as the type says
  int64_t count = 1;              ///< of slots
  int64_t total = 0;              ///< of all slots, each rounded up to the alignment
  int64_t address = -1;           ///< -1: it did not fit
  uint32_t begin = 0, end = 0;    ///< first and last position at which it is live
  std::vector<std::string> pipes; ///< that touch it
};

/// How strictly buffers were kept from sharing bytes. Each value needs less synchronisation than
/// the next, and more bytes; planning takes the first that fits.
enum class Sharing : uint8_t {
  None,  ///< each buffer has bytes of its own
  Pipe,  ///< only buffers of one and the same pipe share
  Loops, ///< and such whose innermost loops are not live together
  Turns, ///< and what is not live together, unless one follows right upon the other
  All,   ///< whatever is not live together
};

struct LedgerSpace {
  std::string place; ///< `vec`
  int64_t bytes = 0, reserved = 0, usable = 0, alignment = 1;
  int64_t peak = 0;       ///< end of the highest buffer
  int64_t lowerBound = 0; ///< largest sum of live bytes: no placement needs less
  /// The bytes lost in packing: the peak less the largest sum of buffers that `sharing` keeps
  /// apart.
  int64_t waste = 0;
  uint32_t fullest = 0; ///< position of the lower bound
  Sharing sharing = Sharing::None;
  bool fits = true;
  std::vector<LedgerBuffer> buffers; ///< in program order
};

/// A loop of a program, by positions.
struct LedgerLoop {
  uint32_t begin = 0, end = 0;
  uint32_t depth = 0;
  LedgerPlace place;
};

/// Tiles of a kernel that are too large for a memory of the core and are done in parts.
struct LedgerParts {
  std::string axis, tile; ///< the length that is cut, and the largest tile that has it, by name
  LedgerPlace place;      ///< of that tile
  int64_t capacity = 0;   ///< of the whole
  int64_t parts = 1, size = 0;
  /// With this, each part is handed on within the loops of the kernel, and tiles without the axis
  /// are loaded once. Without it, a part goes through everything that a point of the grid does.
  bool insideLoops = false;
  std::vector<std::string> loadedAgain; ///< tiles that every part loads
  int64_t bytesAgain = 0;               ///< of them, for each further part and turn of their loops
  std::string memory;                   ///< that is too small for the whole
  int64_t needed = 0, usable = 0;
  std::string avoid; ///< what would need no parts: `ROWS = 32`; empty: nothing was found
};

/// How a kernel was made to fit.
struct LedgerKernel {
  std::string name;
  std::optional<LedgerParts> parts;
  std::vector<std::string> givenUp; ///< for room: what overlaps less, or is not done as it says
};

/// Positions number the instructions of a function, and the begins and ends of its loops and
/// branches, in program order.
struct LedgerFunction {
  std::string name;
  std::string core;            ///< `cube` or `vector`
  std::string file;            ///< of most positions
  std::vector<uint32_t> lines; ///< source line by position; 0: none
  std::vector<LedgerLoop> loops;
  std::vector<LedgerSpace> spaces;

  /// The source line of a position; 0 if it has none.
  uint32_t lineAt(uint32_t position) const { return position < lines.size() ? lines[position] : 0; }
};

struct BufferLedger {
  std::string machine;
  std::vector<LedgerFunction> functions;
  std::vector<LedgerKernel> kernels; ///< those that did not fit at once
};

/// `4 parts of 32`.
std::string partsTitle(const LedgerParts &parts);
/// Explains in sentences what is cut, why, what it costs and how it could be avoided.
std::string partsText(const LedgerParts &parts);

/// `204 KiB`, `20.5 KiB`, `96 B`.
std::string bytesText(int64_t bytes);
/// `184 KiB (192 less 8 reserved)`.
std::string capacityText(const LedgerSpace &space);
/// `64 KiB`, or `2 × 48 KiB` for slots.
std::string sizeText(const LedgerBuffer &buffer);
std::string_view sharingName(Sharing sharing);

/// One document: `{"machine": …, "functions": [{"name", "spaces": [{"buffers": […]}]}]}`.
std::string ledgerJson(const BufferLedger &ledger);
/// A table per function and memory.
std::string ledgerText(const BufferLedger &ledger);

} // namespace ptl
