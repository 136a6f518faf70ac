#include "lsp/ide/document.h"

#include <algorithm>

namespace ptl::ide {

Document::Document(std::string path, std::function<FileId()> newId)
    : path_(std::move(path)), newId_(std::move(newId)) {
  FileId id = newId_();
  places_.emplace_back(makeChunk(id, path_, "", {true, true}), id);
}

void Document::setCheck(size_t place, std::shared_ptr<const ChunkCheck> check) {
  places_[place].isQuiet = check->diagnostics.empty();
  places_[place].check = std::move(check);
  confirm(place);
}

void Document::markStale(size_t place) {
  places_[place].isStale = true;
  places_[place].isDoubtful = false;
}

void Document::markDoubtful(size_t place) {
  if (!places_[place].isStale)
    places_[place].isStale = places_[place].isDoubtful = true;
}

void Document::confirm(size_t place) {
  places_[place].isStale = false;
  places_[place].isDoubtful = false;
}

uint32_t Document::size() const { return places_.back().begin + places_.back().chunk->size(); }

uint32_t Document::lineCount() const {
  return places_.back().line + places_.back().chunk->lines() + 1;
}

std::string Document::text(Range range) const {
  std::string text;
  text.reserve(range.end - range.begin);
  for (size_t i = placeAt(range.begin); i < places_.size() && places_[i].begin < range.end; ++i) {
    uint32_t begin = std::max(range.begin, places_[i].begin) - places_[i].begin;
    uint32_t end = std::min(range.end - places_[i].begin, places_[i].chunk->size());
    if (begin < end)
      text += places_[i].chunk->file.text().substr(begin, end - begin);
  }
  return text;
}

std::string_view Document::lineText(uint32_t line) const {
  const Place &place = places_[placeAtLine(line)];
  uint32_t own = line - place.line + 1;
  return own <= place.chunk->file.lineCount() ? place.chunk->file.line(own) : std::string_view();
}

LineByte Document::position(uint32_t offset) const {
  const Place &place = places_[placeAt(offset)];
  uint32_t own = std::min(offset - place.begin, place.chunk->size());
  LineColumn at = place.chunk->file.lineColumn(own);
  return {place.line + at.line - 1, at.column - 1};
}

uint32_t Document::offset(LineByte position) const {
  if (position.line >= lineCount())
    return size();
  const Place &place = places_[placeAtLine(position.line)];
  uint32_t own = position.line - place.line + 1;
  uint32_t length = static_cast<uint32_t>(place.chunk->file.line(own).size());
  return place.begin + place.chunk->file.lineStart(own) + std::min(position.byte, length);
}

size_t Document::placeAt(uint32_t offset) const {
  auto next = std::partition_point(places_.begin(), places_.end(),
                                   [&](const Place &place) { return place.begin <= offset; });
  return static_cast<size_t>(next - places_.begin()) - 1;
}

size_t Document::placeAtLine(uint32_t line) const {
  auto next = std::partition_point(places_.begin(), places_.end(),
                                   [&](const Place &place) { return place.line <= line; });
  return static_cast<size_t>(next - places_.begin()) - 1;
}

const Place *Document::placeOf(FileId id) const {
  std::optional<size_t> index = indexOf(id);
  return index ? &places_[*index] : nullptr;
}

std::optional<size_t> Document::indexOf(FileId id) const {
  auto found = std::find_if(places_.begin(), places_.end(),
                            [&](const Place &place) { return place.id == id; });
  return found == places_.end() ? std::nullopt : std::optional(size_t(found - places_.begin()));
}

DocumentChange Document::replace(Range range, std::string_view text) {
  range.end = std::min(range.end, size());
  range.begin = std::min(range.begin, range.end);
  // Chunks before the edit that looked at what it changes are parsed again too.
  Reparse edit;
  while (edit.first + 1 < places_.size() &&
         places_[edit.first].begin + places_[edit.first].reach < range.begin)
    ++edit.first;
  // One chunk behind the edit is parsed along, to see whether a new chunk ends where it begins.
  edit.lastEdited = placeAt(range.end);
  edit.last = std::min(edit.lastEdited + 1, places_.size() - 1);
  uint32_t begin = places_[edit.first].begin;
  edit.text = this->text({begin, range.begin});
  edit.text += text;
  edit.text += this->text({range.end, places_[edit.last].begin + places_[edit.last].chunk->size()});
  return reparse(edit);
}

void Document::extend(Reparse &edit) const {
  for (size_t more = edit.last - edit.first + 1; more > 0 && edit.last + 1 < places_.size(); --more)
    edit.text += places_[++edit.last].chunk->file.text();
}

static bool declareTheSame(const Chunk &a, const Chunk &b) {
  return std::equal(a.decls.begin(), a.decls.end(), b.decls.begin(), b.decls.end(),
                    [](const ChunkDecl &x, const ChunkDecl &y) {
                      return x.decl.space == y.decl.space && x.decl.name == y.decl.name;
                    });
}

/// Gives a new chunk the id of the replaced one that declares the same: what others have found out
/// about its signature stays true. Gives the old chunk back when nothing is different.
Place Document::identify(Reparse &edit, std::shared_ptr<const Chunk> chunk, std::string_view rest,
                         TextPart part) {
  size_t end = std::max(edit.lastEdited + 1, edit.last);
  edit.isTaken.resize(std::max(edit.isTaken.size(), end - edit.first));
  size_t i = edit.first;
  while (i < end && (edit.isTaken[i - edit.first] || !declareTheSame(*places_[i].chunk, *chunk)))
    ++i;
  if (i < end)
    edit.isTaken[i - edit.first] = true;
  if (i < end && places_[i].chunk->file.text() == chunk->file.text() &&
      places_[i].chunk->reach == chunk->reach && !places_[i].chunk->syntax.hasErrors() &&
      !chunk->syntax.hasErrors())
    return places_[i];
  FileId id = i < end ? places_[i].chunk->id() : newId_();
  if (id != chunk->id())
    chunk = makeChunk(id, path_, rest, part);
  return {std::move(chunk), id};
}

/// Lines from the beginning of a text, at least `least` bytes of it.
static std::string_view linesOf(std::string_view text, size_t least) {
  size_t end = least < text.size() ? text.find('\n', least) : text.npos;
  return end == text.npos ? text : text.substr(0, end + 1);
}

DocumentChange Document::reparse(Reparse &edit) {
  // Most declarations end within it, with the beginning of the next.
  constexpr size_t firstWindow = 1500;
  std::vector<Place> added;
  size_t at = 0, window = firstWindow;
  size_t end = 0; // old places before it are replaced
  while (end == 0) {
    size_t lastSize = places_[edit.last].chunk->size();
    bool isAll = edit.last + 1 == places_.size();
    bool atOldBoundary = edit.last > edit.lastEdited && at + lastSize == edit.text.size();
    // A new chunk ends where the last old one begins, so that one and all behind it stay as they
    // are.
    if (atOldBoundary && !added.empty()) {
      end = edit.last;
    } else if (at == edit.text.size() && !added.empty()) {
      if (isAll)
        end = edit.last + 1;
      else
        extend(edit);
    } else {
      std::string_view all = std::string_view(edit.text).substr(at);
      std::string_view rest = linesOf(all, window);
      bool isWhole = rest.size() == all.size();
      TextPart part{edit.first == 0 && at == 0, isAll && isWhole};
      // Most edits change what a declaration says, not how many there are.
      size_t likely = std::min(edit.first + added.size(), edit.last);
      auto chunk = makeChunk(places_[likely].chunk->id(), path_, rest, part);
      if (!chunk) {
        if (isWhole)
          extend(edit);
        window *= 2;
        continue;
      }
      window = firstWindow;
      at += chunk->size();
      added.push_back(identify(edit, std::move(chunk), rest, part));
    }
  }
  DocumentChange change;
  change.first = edit.first;
  change.added = added.size();
  exchange(change, end, std::move(added));
  return change;
}

/// Puts the new places where the old ones up to `end` are. Most edits change one for one.
void Document::exchange(DocumentChange &change, size_t end, std::vector<Place> added) {
  auto from = places_.begin() + static_cast<ptrdiff_t>(change.first);
  auto to = places_.begin() + static_cast<ptrdiff_t>(end);
  change.removed.assign(std::make_move_iterator(from), std::make_move_iterator(to));
  auto same = static_cast<ptrdiff_t>(std::min(change.removed.size(), added.size()));
  auto rest = std::move(added.begin(), added.begin() + same, from);
  rest = places_.erase(rest, to);
  places_.insert(rest, std::make_move_iterator(added.begin() + same),
                 std::make_move_iterator(added.end()));
  renumber(change.first, change.added);
}

/// Numbers `count` new places; those behind move by as much as the first of them.
void Document::renumber(size_t first, size_t count) {
  uint32_t begin = 0, line = 0;
  if (first > 0) {
    begin = places_[first - 1].begin + places_[first - 1].chunk->size();
    line = places_[first - 1].line + places_[first - 1].chunk->lines();
  }
  size_t i = first;
  for (; i < first + count; ++i) {
    places_[i].begin = begin;
    places_[i].line = line;
    begin += places_[i].chunk->size();
    line += places_[i].chunk->lines();
  }
  if (i == places_.size())
    return;
  // Backwards is a difference modulo 2³².
  uint32_t bytes = begin - places_[i].begin, lines = line - places_[i].line;
  for (; i < places_.size(); ++i) {
    places_[i].begin += bytes;
    places_[i].line += lines;
  }
}

} // namespace ptl::ide
