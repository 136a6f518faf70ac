#include "runtime/checkpoint/manifest.h"

#include "runtime/checkpoint/durable_files.h"
#include "runtime/elem.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace ptl::checkpoint {

using Json = nlohmann::ordered_json;

static constexpr const char *kFormat = "ptl checkpoint 1";
static constexpr std::string_view kChecksumMember = ",\n\"checksum\": \"";
static constexpr size_t kChecksumDigits = 8;

uint32_t checksumOf(const void *bytes, size_t size, uint32_t before) {
  return static_cast<uint32_t>(::crc32_z(before, static_cast<const Bytef *>(bytes), size));
}

std::string toString(const Variable &variable) {
  std::string text;
  for (int64_t extent : variable.shape)
    text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return variable.name + ": " + variable.elem + text + (text.empty() ? "" : "]");
}

static std::string checksumText(std::string_view text) {
  char digits[kChecksumDigits + 1];
  std::snprintf(digits, sizeof digits, "%08x", checksumOf(text.data(), text.size()));
  return digits;
}

// ---- Writing -----------------------------------------------------------------------------------

std::string textOf(const Manifest &manifest) {
  Json json = {{"format", kFormat},      {"program", manifest.program}, {"loop", manifest.loop},
               {"next", manifest.next},  {"shape", manifest.shape},     {"sizes", Json::object()},
               {"state", Json::array()}, {"files", Json::array()},      {"pieces", Json::array()}};
  for (const auto &[name, size] : manifest.sizes)
    json["sizes"][name] = size;
  for (const Variable &variable : manifest.state)
    json["state"].push_back(
        {{"name", variable.name}, {"type", variable.elem}, {"shape", variable.shape}});
  for (const File &file : manifest.files)
    json["files"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"checksum", file.checksum}});
  for (const Piece &piece : manifest.pieces) {
    Json box = Json::array();
    for (const movement::Interval &axis : piece.box)
      box.push_back({axis.begin, axis.end});
    json["pieces"].push_back({{"variable", piece.variable},
                              {"file", piece.file},
                              {"name", piece.name},
                              {"box", std::move(box)}});
  }
  // The checksum is of the text as it is written, so it is put behind it by hand.
  std::string text = json.dump(1);
  text.resize(text.find_last_not_of("}\n") + 1); // the end of the object comes behind the checksum
  return text + std::string(kChecksumMember) + checksumText(text) + "\"\n}\n";
}

// ---- Reading -----------------------------------------------------------------------------------

/// The text before the checksum; nothing if that is another one.
static bool isWhole(const std::string &text) {
  size_t at = text.rfind(kChecksumMember);
  std::string_view tail = "\"\n}\n";
  // The member has to be the last one: what is behind the checksum would not be covered by it.
  if (at == text.npos ||
      text.size() != at + kChecksumMember.size() + kChecksumDigits + tail.size() ||
      !text.ends_with(tail))
    return false;
  return text.compare(at + kChecksumMember.size(), kChecksumDigits,
                      checksumText(std::string_view(text).substr(0, at))) == 0;
}

/// A reason that contradicts what the manifest says of itself.
struct Contradiction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static Variable variableOf(const Json &json) {
  Variable variable{json.at("name"), json.at("type"), json.at("shape")};
  if (!rt::elemFromName(variable.elem))
    throw Contradiction("`" + variable.name + "` has elements of an unknown type");
  if (std::ranges::any_of(variable.shape, [](int64_t extent) { return extent < 0; }))
    throw Contradiction("`" + variable.name + "` has an extent below 0");
  return variable;
}

static Piece pieceOf(const Json &json, const Manifest &manifest) {
  Piece piece{json.at("variable"), json.at("file"), json.at("name"), {}};
  for (const Json &axis : json.at("box"))
    piece.box.push_back({axis.at(0), axis.at(1)});
  // The numbers index vectors later on, where nobody checks them again.
  if (piece.variable >= manifest.state.size() || piece.file >= manifest.files.size())
    throw Contradiction("a piece that names an unknown variable or file");
  const Variable &variable = manifest.state[piece.variable];
  bool isOrdered = std::ranges::all_of(
      piece.box, [](const movement::Interval &axis) { return axis.begin <= axis.end; });
  if (piece.box.size() != variable.shape.size() || !isOrdered ||
      !movement::contains(movement::wholeBox(variable.shape), piece.box))
    throw Contradiction("a piece lies outside of `" + variable.name + "`");
  return piece;
}

static void checkCover(const Manifest &manifest) {
  for (size_t at = 0; at < manifest.state.size(); ++at) {
    // Pieces that do not overlap and have as many elements as the whole cover it. Counting is
    // enough then, and takes no memory for the elements.
    int64_t have = 0;
    for (const Piece &a : manifest.pieces) {
      if (a.variable != at)
        continue;
      have += movement::elementCount(a.box);
      for (const Piece &b : manifest.pieces)
        if (&a < &b && b.variable == at &&
            movement::elementCount(movement::intersection(a.box, b.box)) > 0)
          throw Contradiction("two pieces of `" + manifest.state[at].name + "` overlap");
    }
    if (have != movement::elementCount(movement::wholeBox(manifest.state[at].shape)))
      throw Contradiction("the pieces of `" + manifest.state[at].name + "` do not cover it");
  }
}

static Manifest manifestOf(const Json &json) {
  if (json.at("format") != kFormat)
    throw Contradiction("it is of the format `" + json.at("format").get<std::string>() +
                        "`, not `" + kFormat + "`");
  Manifest manifest;
  manifest.program = json.at("program");
  manifest.loop = json.at("loop");
  manifest.next = json.at("next");
  manifest.shape = json.at("shape");
  for (const auto &[name, size] : json.at("sizes").items())
    manifest.sizes[name] = size;
  for (const Json &variable : json.at("state"))
    manifest.state.push_back(variableOf(variable));
  for (const Json &file : json.at("files")) {
    manifest.files.push_back({file.at("name"), file.at("bytes"), file.at("checksum")});
    // A manifest comes from outside: it must not lead to files of other folders.
    if (manifest.files.back().name.find('/') != std::string::npos)
      throw Contradiction("one of its files is outside of its folder");
  }
  for (const Json &piece : json.at("pieces"))
    manifest.pieces.push_back(pieceOf(piece, manifest));
  checkCover(manifest);
  return manifest;
}

std::optional<Manifest> parseManifest(const std::string &text, std::string &why) {
  if (!isWhole(text)) {
    why = std::string(kManifestName) + " is truncated or was changed: its checksum differs";
    return std::nullopt;
  }
  try {
    return manifestOf(Json::parse(text));
  } catch (const std::exception &error) {
    why = std::string(kManifestName) + ": " + error.what();
    return std::nullopt;
  }
}

std::optional<Manifest> readManifest(const std::string &folder, std::string &why) {
  std::string text;
  why = readFile(folder + "/" + kManifestName, text);
  return why.empty() ? parseManifest(text, why) : std::nullopt;
}

} // namespace ptl::checkpoint
