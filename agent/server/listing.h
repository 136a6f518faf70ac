// What the server lists: tools, resources and prompts, as the protocol describes them.
#pragma once

#include "agent/server/store.h"

#include <optional>

namespace ptl::agent {

/// The tools with their schemas. The schema of an answer is a whole document.
Json toolList();

/// A page of the resources; `cursor` is empty or what an earlier page gave. Nothing if it is neither.
std::optional<Json> resourceList(const std::string &cursor);
Json resourceTemplates();
/// The contents of a resource, or nothing.
std::optional<Json> readResource(const std::string &uri, const Store &store);

Json promptList();
/// Nothing, with the reason, where there is no such prompt or its argument is missing.
std::optional<Json> promptText(const std::string &name, const Json &arguments,
                               std::string &problem);

/// What clients tell their models of the server as a whole.
std::string instructions(const Roots &roots);

} // namespace ptl::agent
