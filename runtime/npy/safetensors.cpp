#include "runtime/npy/safetensors.h"

#include "runtime/npy/npy_header.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace ptl::rt {

using Json = nlohmann::json;

static constexpr std::pair<const char *, PtlElem> kTags[] = {
    {"BOOL", PTL_BOOL}, {"I8", PTL_I8},          {"I16", PTL_I16},        {"I32", PTL_I32},
    {"I64", PTL_I64},   {"U8", PTL_U8},          {"U16", PTL_U16},        {"U32", PTL_U32},
    {"U64", PTL_U64},   {"F16", PTL_F16},        {"BF16", PTL_BF16},      {"F32", PTL_F32},
    {"F64", PTL_F64},   {"F8_E4M3", PTL_F8E4M3}, {"F8_E5M2", PTL_F8E5M2}, {"F8_E8M0", PTL_F8E8M0}};

static std::optional<PtlElem> elemOfTag(const std::string &tag) {
  for (const auto &[name, elem] : kTags)
    if (tag == name)
      return elem;
  return std::nullopt;
}

static std::string shown(const std::string &name) { return "`" + name.substr(0, 200) + "`"; }

/// The header as JSON, and where the data begins.
static Failure readHeader(std::span<const uint8_t> bytes, Json &header, size_t &dataBegin) {
  constexpr uint64_t mostHeader = 100'000'000; // As the format says.
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return fileFailure("it is too short for a .safetensors file");
  std::memcpy(&length, bytes.data(), sizeof length);
  // The length comes from the file. It is compared with a difference, because a sum could overflow.
  if (length > mostHeader || length > bytes.size() - sizeof length)
    return fileFailure("its header would have " + std::to_string(length) + " bytes");
  const char *text = reinterpret_cast<const char *>(bytes.data()) + sizeof length;
  header = Json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return fileFailure("its header is not a JSON object");
  dataBegin = sizeof length + static_cast<size_t>(length);
  return {};
}

static bool isSize(const Json &json) {
  return json.is_number_unsigned() && json.get<uint64_t>() <= uint64_t(1) << 62;
}

static Failure readTensor(const std::string &name, const Json &json, size_t dataBegin,
                          size_t fileSize, SafeTensor &tensor) {
  auto fails = [&](const std::string &why) { return fileFailure(shown(name) + " " + why); };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array() || !json.contains("data_offsets") ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2)
    return fails("is not described by `dtype`, `shape` and `data_offsets`");
  std::optional<PtlElem> elem = elemOfTag(json["dtype"]);
  if (!elem)
    return fails("has elements of type " + shown(json["dtype"]) + ", which PTL does not have");
  tensor = {name, *elem, {}, 0, 0};
  // Extents come from a file: their product may be beyond 64 bits before it is compared with the
  // size of the file.
  unsigned __int128 size = static_cast<unsigned>(ptl_elem_size(*elem));
  for (const Json &extent : json["shape"]) {
    if (!isSize(extent))
      return fails("has an extent that is not a size");
    tensor.extents.push_back(extent);
    size *= extent.get<uint64_t>();
    if (size > static_cast<unsigned __int128>(fileSize))
      return fails("is larger than the file");
  }
  const Json &offsets = json["data_offsets"];
  if (!isSize(offsets[0]) || !isSize(offsets[1]) || offsets[1] < offsets[0] ||
      offsets[1].get<uint64_t>() > fileSize - dataBegin)
    return fails("has offsets that are not in the file");
  tensor.begin = dataBegin + offsets[0].get<size_t>();
  tensor.end = dataBegin + offsets[1].get<size_t>();
  // Offsets and shape say the size twice, and where they differ none of them can be trusted.
  if (tensor.end - tensor.begin != static_cast<size_t>(size))
    return fails("has " + std::to_string(tensor.end - tensor.begin) + " bytes, not the " +
                 std::to_string(static_cast<size_t>(size)) + " of its shape");
  return {};
}

Failure listSafetensors(std::span<const uint8_t> bytes, std::vector<SafeTensor> &tensors) {
  tensors.clear();
  Json header;
  size_t dataBegin = 0;
  if (Failure failure = readHeader(bytes, header, dataBegin))
    return failure;
  for (const auto &[name, json] : header.items()) {
    if (name == "__metadata__")
      continue;
    if (Failure failure = readTensor(name, json, dataBegin, bytes.size(), tensors.emplace_back()))
      return failure;
  }
  std::ranges::sort(tensors, {},
                    [](const SafeTensor &tensor) { return std::pair(tensor.begin, tensor.end); });
  // Sorted by where they begin, tensors overlap only with their neighbours.
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].begin < tensors[i - 1].end)
      return fileFailure(shown(tensors[i - 1].name) + " and " + shown(tensors[i].name) +
                         " have the same bytes");
  return {};
}

std::string safetensorsHeader(std::vector<SafeTensor> &tensors) {
  constexpr size_t alignment = 8;
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  size_t size = 0;
  for (SafeTensor &tensor : tensors) {
    PtlElem elem = tensor.elem == PTL_INT ? PTL_I64 : tensor.elem;
    auto tag = std::ranges::find(kTags, elem, &std::pair<const char *, PtlElem>::second);
    auto bytes = static_cast<size_t>(ptl_elem_size(elem));
    for (int64_t extent : tensor.extents)
      bytes *= static_cast<size_t>(extent);
    tensor.begin = size;
    size += bytes;
    tensor.end = size;
    header[tensor.name] = {{"dtype", tag->first},
                           {"shape", tensor.extents},
                           {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = header.dump();
  // The format allows spaces behind the header, and readers that map the file want aligned data.
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  uint64_t length = text.size();
  for (SafeTensor &tensor : tensors) {
    // The offsets of the format count from the end of the header, whose length is known only now;
    // those of the caller count from the start of the file.
    tensor.begin += sizeof length + text.size();
    tensor.end += sizeof length + text.size();
  }
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + text;
}

Failure findSafetensor(std::span<const uint8_t> bytes, const std::string &name,
                       SafeTensor &tensor) {
  std::vector<SafeTensor> tensors;
  if (Failure failure = listSafetensors(bytes, tensors))
    return failure;
  std::string known;
  for (SafeTensor &each : tensors) {
    known += (known.empty() ? "" : ", ") + each.name;
    // Of a file with one array the name may be left out.
    if (each.name == name || (name.empty() && tensors.size() == 1)) {
      tensor = std::move(each);
      return {};
    }
  }
  if (name.empty())
    return fileFailure("the file holds " + std::to_string(tensors.size()) +
                       " arrays; add `:name` with one of: " + known.substr(0, 400));
  return fileFailure("the file has no array " + shown(name) + "; it has: " + known.substr(0, 400));
}

Failure fileInIndex(std::span<const uint8_t> bytes, const std::string &name, std::string &file) {
  const char *text = reinterpret_cast<const char *>(bytes.data());
  Json index = Json::parse(text, text + bytes.size(), nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return fileFailure("it has no `weight_map`");
  auto found = index["weight_map"].find(name);
  if (found == index["weight_map"].end() || !found->is_string())
    return fileFailure("its `weight_map` has no array " + shown(name));
  file = *found;
  // An index comes from outside: it must not lead to files of other folders.
  if (file.empty() || file.find('/') != file.npos)
    return fileFailure("its `weight_map` names " + shown(file) + ", which is not a file beside it");
  return {};
}

} // namespace ptl::rt
