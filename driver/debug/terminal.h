// Debugging in a terminal: a prompt whenever the run is stopped.
#pragma once

#include "driver/debug/debugger.h"

namespace ptl::debug {

class Terminal : public Debugger {
public:
  Terminal(Breakpoints &breakpoints, const SourceManager &sources, std::string path)
      : Debugger(breakpoints), breakpoints_(breakpoints), sources_(sources),
        path_(std::move(path)) {
    stopsAtEntry = true;
  }

protected:
  Resume stopped(const Stopped &why, const reference::RunView &view) override;

private:
  void showPlace(const Stopped &why) const;
  void showCalls(const reference::RunView &view) const;
  void showValues(const reference::RunView &view) const;
  void showValue(const std::string &text, const reference::RunView &view) const;
  void setBreakpoint(const std::string &words);

  Breakpoints &breakpoints_;
  const SourceManager &sources_;
  std::string path_;
  std::vector<Breakpoints::Wanted> wanted_;
  std::string last_ = "next";
};

} // namespace ptl::debug
