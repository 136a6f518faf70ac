#include "compile/kept_code.h"

#include "compile/key_hash.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

namespace ptl {

namespace {

/// The build ID among the notes of a loaded file; empty if there is none.
std::string buildIdOf(const dl_phdr_info &file) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = file.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(file.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof *note;
      // Name and data of a note are each padded to four bytes.
      const char *data = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID &&
          llvm::StringRef(name, note->n_namesz) == llvm::StringRef("GNU", 4))
        return "build " + llvm::toHex(llvm::StringRef(data, note->n_descsz), true);
      at = data + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

bool contains(const dl_phdr_info &file, uintptr_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = file.dlpi_phdr[i];
    uintptr_t begin = file.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
      return true;
  }
  return false;
}

std::string identify() {
  static const char here = 0;
  std::string identity;
  ::dl_iterate_phdr(
      [](dl_phdr_info *file, size_t, void *result) {
        if (!contains(*file, reinterpret_cast<uintptr_t>(&here)))
          return 0;
        *static_cast<std::string *>(result) = buildIdOf(*file);
        return 1;
      },
      &identity);
  Dl_info info{};
  struct stat file{};
  if (identity.empty() && ::dladdr(&here, &info) != 0 && ::stat(info.dli_fname, &file) == 0)
    identity = std::string("file ") + info.dli_fname + " " + std::to_string(file.st_size) + " " +
               std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec);
  return identity;
}

std::string keyOf(const CompileContext &context, const ir::EntryBinding &binding,
                  const std::string &symbol) {
  const CompilerOptions &options = context.options();
  KeyHash key;
  for (const std::string &text :
       {buildIdentity(), options.cacheSalt, options.processor.triple, options.processor.name,
        options.processor.features, symbol, binding.decl->name, binding.machine})
    key.add(text);
  for (uint64_t number :
       {uint64_t(options.level), uint64_t(options.unchecked), uint64_t(options.ranges),
        uint64_t(binding.decl->nameSpan.file), uint64_t(binding.decl->nameSpan.begin),
        uint64_t(binding.prefixRank), uint64_t(binding.checked), uint64_t(binding.ranges)})
    key.add(number);
  // Lengths stand in front of lists, so that no two bindings give the same bytes.
  key.add(binding.elems.size());
  for (ElemKind elem : binding.elems)
    key.add(static_cast<uint64_t>(elem));
  key.add(binding.lacking.size());
  for (ElemKind elem : binding.lacking)
    key.add(static_cast<uint64_t>(elem));
  key.add(binding.statics);
  key.add(binding.tunables);
  // Code of imports is part of the entry's, so the text of every source counts.
  for (size_t i = 0; i < context.sources().size(); ++i) {
    const SourceFile &source = context.sources().file(static_cast<FileId>(i));
    key.add(source.path());
    key.add(llvm::StringRef(source.text()));
  }
  return key.text();
}

} // namespace

bool wantsCodeAlone(const CompilerOptions &options) {
  return !options.verifyEach && !options.timePasses && options.dumpFolder.empty() &&
         !options.legalizeFor && !options.manyLevels && !options.chip && !options.onStep &&
         !options.afterPass;
}

const std::string &buildIdentity() {
  static const std::string identity = identify();
  return identity;
}

KeptCode::KeptCode(const CompileContext &context, const ir::EntryBinding &binding,
                   const std::string &symbol)
    : context_(context), reportedBefore_(context.sink().all().size()) {
  if (context.options().cache && wantsCodeAlone(context.options()) && !buildIdentity().empty())
    key_ = keyOf(context, binding, symbol);
}

std::optional<EntryCode> KeptCode::find() const {
  std::optional<std::string> text;
  if (isUsed())
    text = context_.options().cache->find(key_);
  return text ? EntryCode::ofText(*text) : std::nullopt;
}

void KeptCode::keep(const EntryCode &code) const {
  if (isUsed() && context_.sink().all().size() == reportedBefore_)
    context_.options().cache->store(key_, code.text());
}

} // namespace ptl
