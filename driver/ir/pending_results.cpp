#include "driver/ir/pending_results.h"
#include "runtime/npy/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace ptl {

PendingResults::~PendingResults() {
  for (const File &file : files_)
    if (!file.beside.empty())
      ::unlink(file.beside.c_str());
}

/// Where a file is made that is to become `path`; nothing if that is a device or a pipe.
static std::string besideOf(std::string &path) {
  std::error_code error;
  // Who removes it may be elsewhere, and a link stays one.
  path = std::filesystem::absolute(path, error).string();
  if (std::filesystem::path there = std::filesystem::canonical(path, error); !error)
    path = there.string();
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return {};
  std::filesystem::path file(path);
  std::string name = "." + file.filename().string() + "." + std::to_string(::getpid()) + ".part";
  return (file.parent_path() / name).string();
}

bool PendingResults::write(Session &session, const std::string &path, rt::OwnedArray array) {
  File file{path, {}, {}};
  file.beside = besideOf(file.path);
  if (file.beside.empty()) {
    file.array = std::move(array);
    files_.push_back(std::move(file));
    return true;
  }
  if (announce_)
    announce_(file.beside);
  rt::Failure failure = rt::saveNpy(file.beside, array.view());
  files_.push_back(std::move(file));
  if (!failure)
    return true;
  // The message names the file that the user knows.
  std::string why = failure.message;
  if (size_t at = why.find(files_.back().beside); at != why.npos)
    why.replace(at, files_.back().beside.size(), path);
  session.sink().report(DiagId::CannotWriteFile, kNoSpan, {path, why});
  return false;
}

bool PendingResults::takesParts(const std::string &path) {
  std::string file = path;
  return !besideOf(file).empty();
}

std::string PendingResults::begin(const std::string &path, const std::string &head, uint64_t size,
                                  std::string &why) {
  File file{path, {}, {}};
  file.beside = besideOf(file.path);
  if (announce_)
    announce_(file.beside);
  int made = ::open(file.beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool isWell = made >= 0 && ::ftruncate(made, static_cast<off_t>(size)) == 0 &&
                ::pwrite(made, head.data(), head.size(), 0) == static_cast<ssize_t>(head.size());
  if (!isWell)
    why = "`" + path + "` cannot be written: " + std::strerror(errno);
  if (made >= 0)
    ::close(made);
  std::string name = isWell ? file.beside : std::string();
  files_.push_back(std::move(file));
  return name;
}

/// The reason alone, because the report names the path.
static std::string withoutPath(const std::string &message, const std::string &path) {
  std::string prefix = "`" + path + "`: ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

bool PendingResults::commit(Session &session) {
  for (File &file : files_) {
    std::string why;
    if (file.beside.empty()) {
      if (rt::Failure failure = rt::saveNpy(file.path, file.array.view()))
        why = withoutPath(failure.message, file.path);
    } else if (std::rename(file.beside.c_str(), file.path.c_str()) != 0) {
      why = std::strerror(errno);
    } else {
      file.beside.clear();
    }
    if (!why.empty()) {
      session.sink().report(DiagId::CannotWriteFile, kNoSpan, {file.path, why});
      return false;
    }
  }
  files_.clear();
  std::fputs(text_.c_str(), stdout);
  text_.clear();
  std::fflush(stdout);
  return true;
}

} // namespace ptl
