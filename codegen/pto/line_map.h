// Maps lines of emitted text to the source locations that they came from.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptl::pto {

/// A place in a source file; line and column count from 1.
struct SourcePlace {
  std::string file;
  unsigned line = 0, column = 0;
  /// The operation that the line was printed for; it must live as long as the kernel.
  mlir::Operation *operation = nullptr;
};

/// The innermost source location of an MLIR location, if any.
std::optional<SourcePlace> placeOf(mlir::Location location);
/// The place of an operation.
std::optional<SourcePlace> placeOf(mlir::Operation *operation);

/// The origin of each line of a text; lines count from 1.
class LineMap {
public:
  unsigned numLines() const { return static_cast<unsigned>(places_.size()); }
  /// Null for lines without a source location, and for numbers beyond the last line.
  const SourcePlace *at(unsigned line) const {
    return line > 0 && line <= places_.size() && places_[line - 1] ? &*places_[line - 1] : nullptr;
  }
  /// The lines of the text that came from a line of the source.
  std::vector<unsigned> linesOf(const std::string &file, unsigned sourceLine) const;
  void reserve(size_t numLines) { places_.reserve(numLines); }
  void add(std::optional<SourcePlace> place) { places_.push_back(std::move(place)); }

private:
  std::vector<std::optional<SourcePlace>> places_;
};

/// An error in an emitted text, or an operation that cannot be expressed in it.
struct Finding {
  std::optional<SourcePlace> place; ///< in the source
  unsigned line = 0;                ///< in the text; 0: not known
  std::string message;
  bool isError = true; ///< else a warning
};

/// An emitted text. It is always complete; `findings` lists the operations that could not be
/// expressed.
struct Emitted {
  std::string text;
  LineMap lines;
  std::vector<Finding> findings;
};

/// Collects lines of text with their source locations.
class TextLines {
public:
  void add(std::string text, std::optional<SourcePlace> place = std::nullopt) {
    text.insert(0, indent_, ' ');
    lines_.push_back({std::move(text), std::move(place)});
  }
  /// Adds a line without indentation.
  void addFlush(std::string text) { lines_.push_back({std::move(text), std::nullopt}); }
  void blank() { lines_.push_back({}); }
  void indent(unsigned by) { indent_ += by; }
  void dedent(unsigned by) { indent_ -= by; }
  void append(TextLines other) {
    if (lines_.empty())
      lines_ = std::move(other.lines_);
    else
      lines_.insert(lines_.end(), std::make_move_iterator(other.lines_.begin()),
                    std::make_move_iterator(other.lines_.end()));
  }
  bool empty() const { return lines_.empty(); }
  /// Replaces the operations of lines, for lines that outlive the operations that they were printed
  /// for; `to` may return null.
  void mapOperations(llvm::function_ref<mlir::Operation *(mlir::Operation *)> to) {
    for (Line &line : lines_)
      if (line.place)
        line.place->operation = to(line.place->operation);
  }
  void forgetOperations() {
    mapOperations([](mlir::Operation *) { return nullptr; });
  }
  /// Returns the text; the lines are moved out of this object.
  Emitted finish(std::vector<Finding> findings);

private:
  struct Line {
    std::string text;
    std::optional<SourcePlace> place;
  };
  std::vector<Line> lines_;
  unsigned indent_ = 0;
};

} // namespace ptl::pto
