// Parts of arrays in files, and files that are wrong.
#include "runtime/npy/array_file.h"
#include "runtime/npy/files.h"
#include "runtime/npy/npy.h"
#include "runtime/npy/safetensors.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

namespace ptl::rt {
namespace {

std::string inFolder(const std::string &name) {
  return testing::TempDir() + "ptl_array_file_" + std::to_string(getpid()) + "_" + name;
}

OwnedArray counted(std::vector<int64_t> extents) {
  OwnedArray array = *OwnedArray::make(PTL_F32, std::move(extents));
  std::iota(static_cast<float *>(array.data()), static_cast<float *>(array.data()) + array.count(),
            0.f);
  return array;
}

/// A file of the format, written here as its description says.
std::string safetensors(const std::string &header, const std::string &data) {
  uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char *>(&size), sizeof size);
  return bytes + header + data;
}

std::string dataOf(const OwnedArray &array) {
  return {static_cast<const char *>(array.data()), static_cast<size_t>(array.bytes())};
}

void expectParts(const std::string &path, const OwnedArray &whole) {
  ArrayFile file;
  Failure failure = file.open(path);
  ASSERT_FALSE(failure) << failure.message;
  EXPECT_EQ(file.extents(), whole.extents());
  const int64_t m = whole.extents()[0], n = whole.extents()[1], k = whole.extents()[2];
  for (AxisPart rows : {AxisPart{0, m}, {1, m}, {1, 2}, {0, 0}})
    for (AxisPart columns : {AxisPart{0, n}, {0, 1}, {n - 2, n}})
      for (AxisPart inner : {AxisPart{0, k}, {1, k - 1}}) {
        OwnedArray part;
        failure = file.read(std::vector<AxisPart>{rows, columns, inner}, part);
        ASSERT_FALSE(failure) << failure.message;
        std::vector<float> expected;
        for (int64_t i = rows.first; i < rows.second; ++i)
          for (int64_t j = columns.first; j < columns.second; ++j)
            for (int64_t l = inner.first; l < inner.second; ++l)
              expected.push_back(static_cast<float>((i * n + j) * k + l));
        ASSERT_EQ(part.count(), static_cast<int64_t>(expected.size()));
        // Of nothing there is no memory to compare.
        if (!expected.empty()) {
          EXPECT_EQ(std::memcmp(part.data(), expected.data(), expected.size() * 4), 0) << path;
        }
      }
}

TEST(ArrayFile, PartsOfAllFormats) {
  OwnedArray whole = counted({3, 4, 5});
  ASSERT_FALSE(saveNpy(inFolder("a.npy"), whole.view()));
  expectParts(inFolder("a.npy"), whole);
  OwnedArray other = counted({2});
  std::pair<std::string, PtlArray> members[] = {{"other", other.view()}, {"a", whole.view()}};
  ASSERT_FALSE(saveNpz(inFolder("a.npz"), members));
  expectParts(inFolder("a.npz") + ":a", whole);
  std::ofstream(inFolder("a.safetensors"), std::ios::binary) << safetensors(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("layers.0.a":{"dtype":"F32","shape":[3,4,5],"data_offsets":[8,248]}})",
      dataOf(other) + dataOf(whole));
  expectParts(inFolder("a.safetensors") + ":layers.0.a", whole);
  std::string name = inFolder("a.safetensors");
  std::ofstream(inFolder("model.safetensors.index.json"))
      << R"({"weight_map": {"layers.0.a": ")" << name.substr(name.rfind('/') + 1) << "\"}}";
  expectParts(inFolder("model.safetensors.index.json") + ":layers.0.a", whole);
}

std::string messageOfFile(const std::string &path) {
  ArrayFile file;
  std::string message = file.open(path).message;
  size_t colon = message.find("`: ");
  return colon == message.npos ? message : message.substr(colon + 3);
}

std::string messageOfHeader(const std::string &header, const std::string &data = "12345678") {
  std::ofstream(inFolder("wrong.safetensors"), std::ios::binary) << safetensors(header, data);
  return messageOfFile(inFolder("wrong.safetensors") + ":a");
}

TEST(ArrayFile, SafetensorsThatAreWrong) {
  std::ofstream(inFolder("short.safetensors")) << "1234";
  EXPECT_EQ(messageOfFile(inFolder("short.safetensors")),
            "it is too short for a .safetensors file");
  std::ofstream(inFolder("long.safetensors")) << "\xff\xff\xff\x7f"
                                                 "1234{}";
  EXPECT_NE(messageOfFile(inFolder("long.safetensors")).find("its header would have"),
            std::string::npos);
  EXPECT_EQ(messageOfHeader("{"), "its header is not a JSON object");
  EXPECT_EQ(messageOfHeader(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
            "the file has no array `a`; it has: b");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"),
            "`a` has 8 bytes, not the 12 of its shape");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"),
            "`a` has offsets that are not in the file");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})"),
            "`a` has an extent that is not a size");
  EXPECT_EQ(messageOfHeader(
                R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})"),
            "`a` is larger than the file");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}})"),
            "`a` has elements of type `F4`, which PTL does not have");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                            R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})"),
            "`a` and `b` have the same bytes");
  EXPECT_EQ(messageOfHeader(R"({"a":{"dtype":"F32"}})"),
            "`a` is not described by `dtype`, `shape` and `data_offsets`");
  std::ofstream(inFolder("wrong.safetensors.index.json")) << R"({"weight_map": {"a": "../b"}})";
  EXPECT_EQ(messageOfFile(inFolder("wrong.safetensors.index.json") + ":a"),
            "its `weight_map` names `../b`, which is not a file beside it");
  EXPECT_EQ(messageOfFile(inFolder("wrong.safetensors.index.json") + ":b"),
            "its `weight_map` has no array `b`");
}

TEST(ArrayFile, ScalarsAndNothing) {
  std::ofstream(inFolder("s.safetensors"), std::ios::binary)
      << safetensors(R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}})",
                     std::string("\0\0\0\0\0\0\xf8\x3f", 8));
  OwnedArray array;
  ASSERT_FALSE(loadArray(inFolder("s.safetensors"), array));
  EXPECT_EQ(*static_cast<double *>(array.data()), 1.5);
  std::ofstream(inFolder("n.safetensors"), std::ios::binary)
      << safetensors(R"({"a":{"dtype":"BF16","shape":[0,3],"data_offsets":[0,0]}})", "");
  ASSERT_FALSE(loadArray(inFolder("n.safetensors"), array));
  EXPECT_EQ(array.elem(), PTL_BF16);
  EXPECT_EQ(array.extents(), (std::vector<int64_t>{0, 3}));
}

} // namespace
} // namespace ptl::rt
