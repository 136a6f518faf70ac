#include "runtime/npy/npy_header.h"

#include "runtime/array_walk.h"

#include <string_view>

namespace ptl::rt {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongestHeader = size_t(1) << 20;
constexpr size_t kDataAlignment = 64;

/// Reads the header's Python dictionary: three keys, whose values are a text, a truth value and a
/// tuple of integers.
class HeaderParser {
public:
  HeaderParser(std::string_view text, NpyHeader &header) : text_(text), header_(header) {}

  Failure parse() {
    skipSpace();
    if (!take('{'))
      return fail("does not start with `{`");
    bool descr = false, order = false, shape = false;
    while (true) {
      skipSpace();
      if (take('}'))
        break;
      std::string key;
      if (!text(key))
        return fail("has a key that is not a string");
      skipSpace();
      if (!take(':'))
        return fail("has a key without `:`");
      skipSpace();
      Failure failure;
      // The header is a Python dictionary, whose keys may come in any order.
      bool *seen = key == "descr" ? &descr : key == "fortran_order" ? &order : &shape;
      if (key == "descr")
        failure = elementType();
      else if (key == "fortran_order")
        failure = axisOrder();
      else if (key == "shape")
        failure = extents();
      else
        return fail("has the unknown key `" + printable(key) + "`");
      if (failure)
        return failure;
      if (*seen)
        return fail("has `" + key + "` twice");
      *seen = true;
      skipSpace();
      if (!take(',') && (at_ >= text_.size() || text_[at_] != '}'))
        return fail("is not ended by `}`");
    }
    if (!descr || !order || !shape)
      return fail("lacks one of `descr`, `fortran_order` and `shape`");
    return {};
  }

private:
  static Failure fail(const std::string &what) { return fileFailure("the header " + what); }

  static std::string printable(std::string_view text) {
    std::string out;
    for (char c : text.substr(0, 40))
      out += c >= 32 && c < 127 ? c : '?';
    return out;
  }

  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  bool takeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  bool text(std::string &out) {
    char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos)
      return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  Failure elementType() {
    std::string descr;
    if (at_ < text_.size() && text_[at_] == '[')
      return fail("describes records, which PTL does not have");
    if (!text(descr))
      return fail("has a `descr` that is not a string");
    std::string_view kind = descr;
    if (!kind.empty() && std::string_view("<>=|").find(kind[0]) != std::string_view::npos) {
      header_.bigEndian = kind[0] == '>';
      kind.remove_prefix(1);
    }
    if (kind == "?")
      kind = "b1";
    // ml_dtypes writes types for which numpy has no name in this way.
    if (kind == "V2")
      kind = "u2";
    if (kind == "V1" || kind == "f1")
      kind = "u1";
    for (int32_t code = 0; const ElemInfo *info = elemInfo(code); ++code) {
      if (info->size() > 0 && kind == info->numpy) {
        // The first row with this numpy name that is numpy's own type: `bf16` and `f8` come later.
        header_.elem = info->elem;
        return {};
      }
    }
    return fail("has the element type `" + printable(descr) + "`, which PTL does not have");
  }

  Failure axisOrder() {
    // The words are those of Python.
    header_.fortranOrder = takeWord("True");
    if (header_.fortranOrder || takeWord("False"))
      return {};
    return fail("has a `fortran_order` that is neither True nor False");
  }

  Failure extents() {
    if (!take('('))
      return fail("has a `shape` that is not a tuple");
    while (true) {
      skipSpace();
      if (take(')'))
        return {};
      int64_t extent = 0;
      if (at_ < text_.size() && text_[at_] == '-')
        return fail("has a negative extent");
      size_t start = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        if (__builtin_mul_overflow(extent, int64_t(10), &extent) ||
            __builtin_add_overflow(extent, int64_t(text_[at_] - '0'), &extent))
          return fail("has an extent that does not fit 64 bits");
      if (at_ == start)
        return fail("has an extent that is not a number");
      take('L'); // Python 2 wrote its long integers so.
      header_.extents.push_back(extent);
      if (header_.extents.size() > PTL_MAX_RANK)
        return fail("has more than " + std::to_string(PTL_MAX_RANK) + " axes");
      skipSpace();
      if (!take(',') && (at_ >= text_.size() || text_[at_] != ')'))
        return fail("has a `shape` that is not ended by `)`");
    }
  }

  std::string_view text_;
  NpyHeader &header_;
  size_t at_ = 0;
};

} // namespace

Failure fileFailure(std::string message) { return {PTL_ERROR_FILE, std::move(message), "", 0}; }

Failure parseNpyHeader(std::span<const uint8_t> bytes, NpyHeader &header) {
  header = {};
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic)
    return fileFailure("this is not a .npy file: it does not start with \\x93NUMPY");
  if (bytes.size() < 10)
    return fileFailure("the file ends inside its header");
  int major = bytes[6];
  if (major < 1 || major > 3)
    return fileFailure("version " + std::to_string(major) + " of the format is not known");
  // The length of the header has two bytes in version 1, and four in later ones.
  size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start)
    return fileFailure("the file ends inside its header");
  size_t length = bytes[8] | bytes[9] << 8;
  if (major > 1)
    length |= size_t(bytes[10]) << 16 | size_t(bytes[11]) << 24;
  if (length > kLongestHeader)
    return fileFailure("the header claims " + std::to_string(length) + " bytes");
  // The length comes from the file, and `start` was found to lie inside of it.
  if (bytes.size() - start < length)
    return fileFailure("the file ends inside its header");
  header.dataOffset = start + length;
  return HeaderParser(text.substr(start, length), header).parse();
}

std::string makeNpyHeader(PtlElem elem, int64_t rank, const int64_t *extents) {
  const ElemInfo *info = elemInfo(elem);
  std::string dictionary = "{'descr': '";
  dictionary += info->size() == 1 ? '|' : '<';
  dictionary += std::string(info->numpy) + "', 'fortran_order': False, 'shape': (";
  for (int64_t axis = 0; axis < rank; ++axis)
    dictionary += std::to_string(extents[axis]) + (rank == 1 ? "," : axis + 1 < rank ? ", " : "");
  dictionary += "), }";
  size_t before = kMagic.size() + 4;
  // NumPy aligns the data, so that files can be mapped; spaces and a line end fill the header.
  size_t total =
      (before + dictionary.size() + 1 + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  dictionary.append(total - before - dictionary.size() - 1, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

} // namespace ptl::rt
