// The result of buffer planning as plain data for people and tools: the address of each buffer in
// the memories of a machine. Uses only the standard library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A source location; line 0 means none.
struct LedgerPlace {
  std::string file;
  uint32_t line = 0, column = 0;
};

/// A buffer, the slots of one, or the slots of a queue between cores.
struct LedgerBuffer {
  enum class Kind : uint8_t { Tile, Slots, Queue };
  std::string name;
  std::string type; ///< `f32[64, 128] nd`; empty for queues
  Kind kind = Kind::Tile;
  LedgerPlace place;
  int64_t bytes = 0;              ///< of one slot, by its type
  int64_t count = 1;              ///< of slots
  int64_t total = 0;              ///< of all slots, each rounded up to the alignment
  int64_t address = -1;           ///< -1: it did not fit
  uint32_t begin = 0, end = 0;    ///< first and last position at which it is live
  std::vector<std::string> pipes; ///< the pipes that access it
};

/// How strictly buffers were prevented from sharing bytes. Each value needs less synchronisation
/// than the next, but more bytes; planning takes the first that fits.
enum class Sharing : uint8_t {
  None,  ///< each buffer has bytes of its own
  Pipe,  ///< only buffers of a single common pipe share
  Loops, ///< and buffers whose innermost loops are not live together
  Turns, ///< and buffers that are not live together, unless one directly follows the other
  All,   ///< all buffers that are not live together
};

struct LedgerSpace {
  std::string place; ///< `vec`
  int64_t bytes = 0, reserved = 0, usable = 0, alignment = 1;
  int64_t peak = 0;       ///< end of the highest buffer
  int64_t lowerBound = 0; ///< largest sum of live bytes: a lower bound for any placement
  /// The bytes lost in packing: the peak minus the largest sum of buffers that may not share under
  /// `sharing`.
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

/// Tiles of a kernel that exceed a memory of the core and are processed in parts.
struct LedgerParts {
  /// the name of the length that is cut, and of the largest tile that has it
  std::string axis, tile;
  LedgerPlace place;    ///< of that tile
  int64_t capacity = 0; ///< of the whole
  int64_t parts = 1, size = 0;
  /// With this, each part is passed on within the loops of the kernel, and tiles without the axis
  /// are loaded once. Without it, each part executes everything that a point of the grid does.
  bool insideLoops = false;
  std::vector<std::string> loadedAgain; ///< tiles that are loaded for every part
  /// of these tiles, for each further part and iteration of their loops
  int64_t bytesAgain = 0;
  std::string memory; ///< the memory that is too small for whole tiles
  int64_t needed = 0, usable = 0;
  std::string avoid; ///< an edit without parts: `ROWS = 32`; empty: none was found
};

/// How a kernel was changed until it fitted.
struct LedgerKernel {
  std::string name;
  std::optional<LedgerParts> parts;
  /// to save memory: less overlap, or a schedule's request that was dropped
  std::vector<std::string> givenUp;
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
  std::vector<LedgerKernel> kernels; ///< those that did not fit at first
};

/// `4 parts of 32`.
std::string partsTitle(const LedgerParts &parts);
/// A text that explains what is cut, why, the cost, and how it could be avoided.
std::string partsText(const LedgerParts &parts);

/// `204 KiB`, `20.5 KiB`, `96 B`.
std::string bytesText(int64_t bytes);
/// `184 KiB (192 less 8 reserved)`.
std::string capacityText(const LedgerSpace &space);
/// `64 KiB`, or `2 × 48 KiB` for slots.
std::string sizeText(const LedgerBuffer &buffer);
std::string_view sharingName(Sharing sharing);

/// The ledger as one document: `{"machine": …, "functions": [{"name", "spaces": [{"buffers":
/// […]}]}]}`.
std::string ledgerJson(const BufferLedger &ledger);
/// The ledger as one table per function and memory.
std::string ledgerText(const BufferLedger &ledger);

} // namespace ptl
