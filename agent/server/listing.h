// What the server lists: tools, resources and prompts, as the protocol describes them.
#pragma once

#include "agent/server/store.h"

#include <optional>

namespace ptl::agent {

/// The tools with their schemas. The schema of an answer is a whole document.
Json toolList();

/// A page of the list of resources. `cursor` is empty, or the cursor that an earlier page returned.
/// Nothing if the cursor is invalid.
std::optional<Json> resourceList(const std::string &cursor);
Json resourceTemplates();
/// The contents of a resource; nothing if there is none at that address.
std::optional<Json> readResource(const std::string &uri, const Store &store);

Json promptList();
/// The text of a prompt. Nothing, with the reason in `problem`, if there is no such prompt or an
/// argument is missing.
std::optional<Json> promptText(const std::string &name, const Json &arguments,
                               std::string &problem);

/// The description of the whole server that clients show their models.
std::string instructions(const Roots &roots);

} // namespace ptl::agent
