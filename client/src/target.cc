#include "client/src/target.h"

#include <algorithm>
#include <cctype>

namespace reduction::detail {
namespace {

// "unix:PATH" and other schemes whose addresses have no port.
bool HasSchemeWithoutPort(std::string_view target) {
  constexpr std::string_view kSchemes[] = {"unix:", "unix-abstract:", "vsock:", "xds:"};
  return std::any_of(std::begin(kSchemes), std::end(kSchemes),
                     [&](std::string_view scheme) { return target.starts_with(scheme); });
}

// host:port of "dns:///host:port", "dns://authority/host:port", "ipv4:host:port", ….
std::string_view WithoutScheme(std::string_view target) {
  for (const std::string_view scheme : {"dns:", "ipv4:", "ipv6:"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    target.remove_prefix(target.rfind('/') + 1);  // npos + 1 is 0
    return target;
  }
  return target;
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }) &&
         std::stoi(std::string(text)) <= 65535;
}

// "host:port", "1.2.3.4:port" or "[::1]:port".
bool IsHostAndPort(std::string_view target) {
  const size_t colon = target.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !IsPort(target.substr(colon + 1))) {
    return false;
  }
  const std::string_view host = target.substr(0, colon);
  if (host.front() == '[') return host.back() == ']';
  return host.find_first_of(":/ \t") == std::string_view::npos;
}

}  // namespace

Result<std::vector<std::string>> ParseTargets(std::string_view targets) {
  std::vector<std::string> parsed;
  for (size_t begin = 0; begin <= targets.size();) {
    const size_t end = std::min(targets.find(',', begin), targets.size());
    const std::string_view target = targets.substr(begin, end - begin);
    if (!HasSchemeWithoutPort(target) && !IsHostAndPort(WithoutScheme(target))) {
      return Status{StatusCode::kInvalidArgument,
                    "target \"" + std::string(target) +
                        "\" is neither host:port nor unix:PATH nor a gRPC URI such as "
                        "dns:///name:port",
                    "BAD_TARGET",
                    {}};
    }
    parsed.emplace_back(target);
    begin = end + 1;
  }
  return parsed;
}

bool IsLoopback(std::string_view target) {
  target = WithoutScheme(target);
  const std::string_view host = target.substr(0, target.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace reduction::detail
