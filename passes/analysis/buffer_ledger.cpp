#include "passes/analysis/buffer_ledger.h"

#include "frontend/base/json.h"
#include "passes/analysis/statement_parts.h"

#include <algorithm>

namespace ptl {

std::string bytesText(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  std::string text = std::to_string(bytes / 1024);
  // One digit is enough for a reader; the rest is dropped.
  if (int64_t tenths = bytes % 1024 * 10 / 1024)
    text += "." + std::to_string(tenths);
  return text + " KiB";
}

std::string capacityText(const LedgerSpace &space) {
  std::string text = bytesText(space.usable);
  if (!space.reserved)
    return text;
  auto short_ = [](int64_t bytes) {
    std::string all = bytesText(bytes);
    return all.ends_with(" KiB") ? all.substr(0, all.size() - 4) : all;
  };
  return text + " (" + short_(space.bytes) + " less " + short_(space.reserved) + " reserved)";
}

std::string sizeText(const LedgerBuffer &buffer) {
  std::string text = bytesText(buffer.bytes);
  return buffer.count == 1 ? text : std::to_string(buffer.count) + " × " + text;
}

std::string_view sharingName(Sharing sharing) {
  static constexpr std::string_view names[] = {"none", "pipe", "loops", "turns", "all"};
  return names[static_cast<size_t>(sharing)];
}

// ---- JSON ---------------------------------------------------------------------------------------

static void writePlace(JsonWriter &json, const LedgerPlace &place) {
  json.field("file", place.file).field("line", place.line).field("column", place.column);
}

static void writeBuffer(JsonWriter &json, const LedgerBuffer &buffer,
                        const LedgerFunction &function) {
  static constexpr std::string_view kinds[] = {"tile", "slots", "queue"};
  json.beginObject().field("name", buffer.name).field("type", buffer.type);
  json.field("kind", kinds[static_cast<size_t>(buffer.kind)]);
  writePlace(json, buffer.place);
  json.field("bytes", buffer.bytes).field("count", buffer.count).field("total", buffer.total);
  if (buffer.address >= 0)
    json.field("address", buffer.address);
  json.field("begin", buffer.begin).field("end", buffer.end);
  json.field("beginLine", function.lineAt(buffer.begin));
  json.field("endLine", function.lineAt(buffer.end));
  json.key("pipes").beginArray();
  for (const std::string &pipe : buffer.pipes)
    json.string(pipe);
  json.endArray().endObject();
}

static void writeSpace(JsonWriter &json, const LedgerSpace &space, const LedgerFunction &function) {
  json.beginObject().field("place", space.place).field("bytes", space.bytes);
  json.field("reserved", space.reserved).field("usable", space.usable);
  json.field("alignment", space.alignment).field("peak", space.peak);
  json.field("lowerBound", space.lowerBound).field("waste", space.waste);
  json.field("fullest", space.fullest).field("fullestLine", function.lineAt(space.fullest));
  json.field("sharing", sharingName(space.sharing)).key("fits").boolean(space.fits);
  json.key("buffers").beginArray();
  for (const LedgerBuffer &buffer : space.buffers)
    writeBuffer(json, buffer, function);
  json.endArray().endObject();
}

static void writeFunction(JsonWriter &json, const LedgerFunction &function) {
  json.beginObject().field("name", function.name).field("core", function.core);
  json.field("file", function.file).key("lines").beginArray();
  for (uint32_t line : function.lines)
    json.number(line);
  json.endArray().key("loops").beginArray();
  for (const LedgerLoop &loop : function.loops) {
    json.beginObject().field("begin", loop.begin).field("end", loop.end);
    json.field("depth", loop.depth);
    writePlace(json, loop.place);
    json.endObject();
  }
  json.endArray().key("spaces").beginArray();
  for (const LedgerSpace &space : function.spaces)
    writeSpace(json, space, function);
  json.endArray().endObject();
}

static void writeKernel(JsonWriter &json, const LedgerKernel &kernel) {
  json.beginObject().field("name", kernel.name).key("givenUp").beginArray();
  for (const std::string &each : kernel.givenUp)
    json.string(each);
  json.endArray();
  if (const std::optional<LedgerParts> &parts = kernel.parts) {
    json.key("parts").beginObject().field("axis", parts->axis).field("tile", parts->tile);
    writePlace(json, parts->place);
    json.field("capacity", parts->capacity).field("parts", parts->parts);
    json.field("size", parts->size).key("insideLoops").boolean(parts->insideLoops);
    json.key("loadedAgain").beginArray();
    for (const std::string &tile : parts->loadedAgain)
      json.string(tile);
    json.endArray().field("bytesAgain", parts->bytesAgain).field("memory", parts->memory);
    json.field("needed", parts->needed).field("usable", parts->usable);
    if (!parts->avoid.empty())
      json.field("avoid", parts->avoid);
    json.field("title", partsTitle(*parts)).field("text", partsText(*parts)).endObject();
  }
  json.endObject();
}

static void writeStatement(JsonWriter &json, const StatementParts &statement) {
  json.beginObject().field("kernel", statement.kernel);
  json.field("kind", statement.isFold ? "fold" : "store").field("tile", statement.tile);
  json.field("type", statement.type).field("bytes", statement.bytes);
  json.field("parts", statement.parts);
  writePlace(json, statement.place);
  json.field("memory", statement.memory).field("needed", statement.needed);
  json.field("usable", statement.usable);
  if (!statement.avoid.empty())
    json.field("avoid", statement.avoid);
  json.field("title", partsTitle(statement)).field("text", partsText(statement)).endObject();
}

static std::string ledgerJson(const BufferLedger &ledger,
                              const std::vector<StatementParts> *statements) {
  JsonWriter json;
  json.beginObject().field("machine", ledger.machine).key("functions").beginArray();
  for (const LedgerFunction &function : ledger.functions)
    writeFunction(json, function);
  json.endArray().key("kernels").beginArray();
  for (const LedgerKernel &kernel : ledger.kernels)
    writeKernel(json, kernel);
  json.endArray();
  if (statements) {
    json.key("statements").beginArray();
    for (const StatementParts &each : *statements)
      writeStatement(json, each);
    json.endArray();
  }
  json.endObject();
  return json.take();
}

std::string ledgerJson(const BufferLedger &ledger) { return ledgerJson(ledger, nullptr); }

std::string ledgerJson(const BufferLedger &ledger, const std::vector<StatementParts> &statements) {
  return ledgerJson(ledger, &statements);
}

// ---- text ---------------------------------------------------------------------------------------

namespace {
struct Table {
  std::vector<std::vector<std::string>> rows;
  std::string text() const;
};
} // namespace

/// The number of characters of a UTF-8 text.
static size_t widthOf(std::string_view text) {
  // Bytes of the form 10xxxxxx continue a character.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], widthOf(row[i]));
    }
  std::string out;
  for (const auto &row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - widthOf(row[i]) + 1, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

static std::string hexadecimal(int64_t value) {
  std::string digits;
  do
    digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
  while (value /= 16);
  return "0x" + digits;
}

static std::vector<std::string> rowOf(const LedgerBuffer &buffer, const LedgerFunction &function) {
  uint32_t from = function.lineAt(buffer.begin), to = function.lineAt(buffer.end);
  std::string live = from == to ? "line " + std::to_string(from)
                                : "lines " + std::to_string(from) + " to " + std::to_string(to);
  std::string place = std::to_string(buffer.place.line) + ":" + std::to_string(buffer.place.column);
  std::string pipes;
  for (const std::string &pipe : buffer.pipes)
    pipes += (pipes.empty() ? "" : " ") + pipe;
  return {buffer.address < 0 ? "-" : hexadecimal(buffer.address),
          buffer.name,
          sizeText(buffer),
          buffer.kind == LedgerBuffer::Kind::Queue ? "queue" : buffer.type,
          place,
          live,
          pipes};
}

static std::string spaceText(const LedgerSpace &space, const LedgerFunction &function) {
  std::string out = space.place + ": " + bytesText(space.peak) + " of " + capacityText(space);
  // The bound is shown only where the packing did not reach it.
  if (space.lowerBound < space.peak)
    out += ", at least " + bytesText(space.lowerBound) + " at line " +
           std::to_string(function.lineAt(space.fullest));
  if (space.waste)
    out += ", " + bytesText(space.waste) + " lost in gaps";
  out += space.fits ? "\n" : ": does not fit\n";
  Table table;
  table.rows.push_back({"address", "name", "bytes", "type", "made", "live", "pipes"});
  for (const LedgerBuffer &buffer : space.buffers)
    table.rows.push_back(rowOf(buffer, function));
  return out + table.text();
}

std::string partsTitle(const LedgerParts &parts) {
  return std::to_string(parts.parts) + " parts of " + std::to_string(parts.size);
}

std::string partsText(const LedgerParts &parts) {
  std::string text = "`" + (parts.tile.empty() ? parts.axis : parts.tile) + "` is done in " +
                     partsTitle(parts) + " along the " + std::to_string(parts.capacity) + " of `" +
                     parts.axis + "`: whole, the tiles of the kernel need " +
                     bytesText(parts.needed) + " of `" + parts.memory + "`, which has " +
                     bytesText(parts.usable) + ".";
  std::string again;
  for (const std::string &tile : parts.loadedAgain)
    again += (again.empty() ? "`" : ", `") + tile + "`";
  if (again.empty())
    text += " Nothing is loaded more often for that";
  else
    text += " Each part loads " + again + " again, " + bytesText(parts.bytesAgain) +
            " for each part after the first and turn of their loops";
  text += parts.insideLoops ? ", but every instruction processes less data." : ".";
  if (!parts.avoid.empty())
    text += " `" + parts.avoid + "` needs no parts.";
  return text;
}

static std::string kernelText(const LedgerKernel &kernel) {
  std::string out = kernel.name + " was made to fit\n";
  if (kernel.parts)
    out += "  " + partsText(*kernel.parts) + "\n";
  for (const std::string &each : kernel.givenUp)
    out += "  " + each + "\n";
  return out;
}

std::string ledgerText(const BufferLedger &ledger) {
  std::string out;
  for (const LedgerKernel &kernel : ledger.kernels)
    out += kernelText(kernel);
  for (const LedgerFunction &function : ledger.functions) {
    out += (out.empty() ? "" : "\n") + function.name + " (" + function.core + " core of " +
           ledger.machine + ")\n";
    for (const LedgerSpace &space : function.spaces)
      out += spaceText(space, function);
  }
  return out;
}

} // namespace ptl
