#include "server/bind_error.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

namespace reduction::server {
namespace {

constexpr std::string_view kUnix = "unix:";

// errno of an attempt to bind `candidate`, 0 when it can be bound now.
int TryToBind(const addrinfo& candidate) {
  const int fd = socket(candidate.ai_family, candidate.ai_socktype | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int yes = 1;  // as gRPC does: connections that are closing are in nobody's way
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const int error = bind(fd, candidate.ai_addr, candidate.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  return error;
}

std::string WhyNotBound(const std::string& address) {
  if (IsServedSocket(address)) return "a server answers at this path";
  if (address.rfind(kUnix, 0) == 0) return "no socket can be made at this path";
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                  address.substr(colon + 1).c_str(), &hints, &found);
  if (failure != 0) return std::string("the host is unknown (") + gai_strerror(failure) + ")";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  for (const addrinfo* candidate = found; candidate != nullptr; candidate = candidate->ai_next) {
    switch (const int error = TryToBind(*candidate)) {
      case 0:
        continue;
      case EADDRINUSE:
        return "the address is in use";
      case EADDRNOTAVAIL:
        return "the address is not one of this machine";
      default:
        return std::generic_category().message(error);
    }
  }
  return "the address cannot be bound";
}

}  // namespace

bool IsServedSocket(const std::string& address) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (address.rfind(kUnix, 0) != 0 || address.size() - kUnix.size() >= sizeof(path.sun_path)) {
    return false;
  }
  std::copy(address.begin() + kUnix.size(), address.end(), path.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  // EAGAIN: it takes no more connections now.
  const bool served =
      connect(fd, reinterpret_cast<const sockaddr*>(&path), sizeof(path)) == 0 || errno == EAGAIN;
  close(fd);
  return served;
}

std::string CannotListen(const std::string& option, const std::string& address) {
  return "cannot listen on " + option + "=" + address + ": " + WhyNotBound(address) +
         "; choose another with " + option + "=HOST:PORT, where port 0 takes a free one";
}

}  // namespace reduction::server
