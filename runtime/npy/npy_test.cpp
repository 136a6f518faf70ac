#include "runtime/npy/files.h"
#include "runtime/npy/npy.h"
#include "runtime/npy/npz.h"

#include "runtime/elem.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

namespace ptl::rt {
namespace {

/// A folder of this process, so that tests may run side by side.
std::string folder() { return testing::TempDir() + "ptl_npy_" + std::to_string(getpid()) + "_"; }

/// Runs a Python script with numpy as `np` and the folder as `dir`.
bool python(const std::string &script) {
  std::string path = folder() + "script.py";
  std::ofstream(path) << "import numpy as np\ndir = '" << folder() << "'\n" << script;
  return std::system((PTL_TEST_PYTHON " " + path).c_str()) == 0;
}

std::span<const uint8_t> spanOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

std::string file(const std::string &dictionary, const std::string &data = "", char major = 1) {
  std::string out = std::string("\x93NUMPY") + major + '\0';
  out += static_cast<char>(dictionary.size() & 255);
  out += static_cast<char>(dictionary.size() >> 8);
  if (major > 1)
    out += std::string(2, '\0');
  return out + dictionary + data;
}

std::string messageOf(const std::string &bytes) {
  OwnedArray array;
  return readNpy(spanOf(bytes), array).message;
}

TEST(Npy, ReadsWhatNumpyWrites) {
  ASSERT_TRUE(python(R"(
for name in 'b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8'.split():
    for order in '<>':
        for shape in [(), (5,), (3, 4), (2, 3, 4), (0, 7), (2, 0)]:
            for axes in 'CF':
                n = int(np.prod(shape))
                a = (np.arange(n) % 100).reshape(shape).astype(order + name)
                np.save(f"{dir}{name}_{'l' if order == '<' else 'b'}_{axes}_{'x'.join(map(str, shape))}.npy",
                        np.array(a, order=axes))
)"));
  const char *shapes[] = {"", "5", "3x4", "2x3x4", "0x7", "2x0"};
  for (int32_t code = 0; const ElemInfo *info = elemInfo(code); ++code) {
    if (info->size() == 0 || info->elem == PTL_INT || info->elem == PTL_BF16 ||
        info->elem == PTL_F8E4M3 || info->elem == PTL_F8E5M2 || info->elem == PTL_F8E8M0)
      continue;
    for (char order : {'l', 'b'}) {
      for (char axes : {'C', 'F'}) {
        for (const char *shape : shapes) {
          std::string path =
              folder() + info->numpy + "_" + order + "_" + axes + "_" + shape + ".npy";
          OwnedArray array;
          Failure failure = loadArray(path, array);
          ASSERT_FALSE(failure) << failure.message;
          EXPECT_EQ(array.elem(), info->elem);
          for (int64_t i = 0; i < array.count(); ++i) {
            const char *cell = static_cast<const char *>(array.data()) + i * info->size();
            int64_t wanted = info->elem == PTL_BOOL ? i != 0 : i;
            ASSERT_EQ(loadElem(info->elem, cell).asDouble(), double(wanted)) << path << " " << i;
          }
        }
      }
    }
  }
}

TEST(Npy, NumpyReadsWhatIsWritten) {
  std::vector<float> data(24);
  std::iota(data.begin(), data.end(), 0.0f);
  int64_t extents[] = {2, 3}, strides[] = {12, 2};
  PtlArray strided{data.data(), 2, extents, strides, PTL_F32};
  ASSERT_FALSE(saveNpy(folder() + "strided.npy", strided));
  std::vector<uint16_t> bits{0x3f80, 0x4000, 0x4040};
  int64_t three[] = {3}, one[] = {1};
  PtlArray bf16{bits.data(), 1, three, one, PTL_BF16};
  PtlArray scalar{data.data() + 5, 0, nullptr, nullptr, PTL_F32};
  std::pair<std::string, PtlArray> both[] = {{"a", strided}, {"bf", bf16}, {"s", scalar}};
  ASSERT_FALSE(saveNpz(folder() + "both.npz", both));
  EXPECT_TRUE(python(R"(
a = np.load(dir + 'strided.npy')
assert a.dtype == np.float32 and a.tolist() == [[0, 2, 4], [12, 14, 16]], a
z = np.load(dir + 'both.npz')
assert sorted(z.files) == ['a', 'bf', 's'] and z['a'].tolist() == a.tolist()
assert z['bf'].dtype == np.uint16 and z['bf'].tolist() == [0x3f80, 0x4000, 0x4040]
assert z['s'].shape == () and z['s'] == 5
)"));
  OwnedArray array;
  ASSERT_FALSE(loadArray(folder() + "both.npz:bf", array));
  EXPECT_EQ(array.elem(), PTL_U16);
  EXPECT_FALSE(array.reinterpretAs(PTL_F16));
  EXPECT_TRUE(array.reinterpretAs(PTL_BF16));
  EXPECT_EQ(describe(array), "bf16[3]");
}

TEST(Npz, StoredAndDeflated) {
  ASSERT_TRUE(python(R"(
np.savez(dir + 's.npz', x=np.arange(1000, dtype='f4'), y=np.ones((2, 2), 'i8'))
np.savez_compressed(dir + 'd.npz', x=np.zeros(1000000, dtype='f4'), y=np.arange(6).reshape(2, 3))
np.savez(dir + 'one.npz', np.arange(3))
)"));
  OwnedArray array;
  ASSERT_FALSE(loadArray(folder() + "s.npz:x", array));
  EXPECT_EQ(array.count(), 1000);
  EXPECT_EQ(static_cast<float *>(array.data())[999], 999.0f);
  Failure failure = loadArray(folder() + "d.npz:x", array);
  ASSERT_FALSE(failure) << failure.message;
  EXPECT_EQ(array.count(), 1000000);
  ASSERT_FALSE(loadArray(folder() + "d.npz:y", array));
  EXPECT_EQ(describe(array), "i64[2, 3]");
  ASSERT_FALSE(loadArray(folder() + "one.npz", array));
  EXPECT_EQ(array.count(), 3);
  EXPECT_NE(loadArray(folder() + "s.npz", array).message.find("holds 2 arrays"), std::string::npos);
  EXPECT_NE(loadArray(folder() + "s.npz:q", array).message.find("no array `q`; it has: x, y"),
            std::string::npos);
}

TEST(Npy, LiesAreFound) {
  std::string tail = "'fortran_order': False, ";
  EXPECT_NE(messageOf(file("{'descr': '<f4', " + tail + "'shape': (1000000000000, 4)}", "abcd"))
                .find("only 4 bytes of data follow"),
            std::string::npos);
  EXPECT_NE(messageOf(file("{'descr': '<f8', " + tail +
                           "'shape': (4611686018427387904, 4611686018427387904)}"))
                .find("of data follow"),
            std::string::npos);
  EXPECT_EQ(messageOf(file("{'descr': '<f4', " + tail + "'shape': (-3,)}")),
            "the header has a negative extent");
  EXPECT_EQ(messageOf(file("{'descr': '<f4', " + tail + "'shape': (99999999999999999999,)}")),
            "the header has an extent that does not fit 64 bits");
  EXPECT_EQ(messageOf(file("{'descr': '|O', " + tail + "'shape': (1,)}", "12345678")),
            "the header has the element type `|O`, which PTL does not have");
  EXPECT_EQ(messageOf(file("{'descr': [('a', '<f4')], " + tail + "'shape': (1,)}", "1234")),
            "the header describes records, which PTL does not have");
  EXPECT_EQ(messageOf(file("{'descr': '<f4', " + tail + "}")),
            "the header lacks one of `descr`, `fortran_order` and `shape`");
  EXPECT_EQ(messageOf(file("{'descr': '<f4', 'descr': '<f4', " + tail + "'shape': ()}", "1234")),
            "the header has `descr` twice");
  EXPECT_EQ(messageOf(file("{'descr': '<f4', 'x': 3}")), "the header has the unknown key `x`");
  std::string many = "(";
  for (int i = 0; i < 40; ++i)
    many += "1,";
  EXPECT_EQ(messageOf(file("{'descr': '<f4', " + tail + "'shape': " + many + ")}", "1234")),
            "the header has more than 16 axes");
  EXPECT_EQ(messageOf("garbage"), "this is not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(messageOf(""), "this is not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(messageOf(file("", "", 9)), "version 9 of the format is not known");
}

TEST(Npy, EveryCutIsAnError) {
  std::string whole =
      file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", std::string(24, 'x'));
  EXPECT_EQ(messageOf(whole), "");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(messageOf(whole.substr(0, size)), "") << size;
}

TEST(Npy, LaterVersionsAndMlDtypes) {
  std::string dictionary = "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(messageOf(file(dictionary, "ab", 2)), "");
  EXPECT_EQ(messageOf(file(dictionary, "ab", 3)), "");
  OwnedArray array;
  ASSERT_FALSE(readNpy(
      spanOf(file("{\"shape\": (2L,), \"descr\": \"<f1\", \"fortran_order\": False}", "ab")),
      array));
  EXPECT_EQ(array.elem(), PTL_U8);
  EXPECT_TRUE(array.reinterpretAs(PTL_F8E4M3));
}

TEST(Npz, DamageIsFound) {
  float value = 1;
  PtlArray scalar{&value, 0, nullptr, nullptr, PTL_F32};
  std::pair<std::string, PtlArray> arrays[] = {{"x", scalar}};
  std::vector<uint8_t> bytes;
  ASSERT_FALSE(writeNpz(arrays, bytes));
  OwnedArray array;
  ASSERT_FALSE(readNpz(bytes, "x", array));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(readNpz(std::span(bytes).first(size), "x", array)) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> changed = bytes;
    changed[i] ^= 0xff;
    (void)readNpz(changed, "x", array); // must not crash; some bytes (dates) mean nothing
  }
  size_t data = bytes.size() - 80;
  bytes[data] ^= 1;
  EXPECT_TRUE(readNpz(bytes, "x", array));
}

TEST(Npy, FilesThatCannotBeRead) {
  OwnedArray array;
  EXPECT_EQ(loadArray("/no/such/file.npy", array).message,
            "`/no/such/file.npy`: No such file or directory");
  EXPECT_EQ(loadArray("/dev/zero", array).message, "`/dev/zero`: it is not a regular file");
  EXPECT_EQ(loadArray("/", array).code, PTL_ERROR_FILE);
  {
    std::ofstream empty(folder() + "empty.npy");
  }
  EXPECT_EQ(loadArray(folder() + "empty.npy", array).code, PTL_ERROR_FILE);
}

} // namespace
} // namespace ptl::rt
