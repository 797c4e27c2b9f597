#include "server/library_rpcs.h"

#include <grpcpp/server_context.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace reduction::server {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// Lives as long as its RPC.
class RpcCounter final : public Interceptor {
 public:
  RpcCounter(MethodMetrics& metrics, ServerRpcInfo& rpc) : metrics_(metrics), rpc_(rpc) {
    metrics_.Started();
  }
  ~RpcCounter() override {
    if (!ended_) End(grpc::StatusCode::CANCELLED);
  }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      // A health watch answers its client's cancellation with UNKNOWN.
      End(rpc_.server_context()->IsCancelled() ? grpc::StatusCode::CANCELLED
                                               : batch->GetSendStatus().error_code());
    }
    batch->Proceed();
  }

 private:
  void End(grpc::StatusCode code) {
    ended_ = true;
    metrics_.Handled(code, std::chrono::steady_clock::now() - start_);
  }

  MethodMetrics& metrics_;
  ServerRpcInfo& rpc_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool ended_ = false;
};

class RpcCounters final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit RpcCounters(Metrics& metrics) {
    for (const MethodName& name :
         {MethodName{"unary", "grpc.health.v1.Health", "Check"},
          MethodName{"server_stream", "grpc.health.v1.Health", "Watch"},
          MethodName{"bidi_stream", "grpc.reflection.v1alpha.ServerReflection",
                     "ServerReflectionInfo"}}) {
      methods_.emplace_back("/" + name.service + "/" + name.method, metrics.AddMethod(name));
    }
  }

  Interceptor* CreateServerInterceptor(ServerRpcInfo* rpc) override {
    const std::string_view path = rpc->method();
    for (const auto& [name, metrics] : methods_) {
      if (path == name) return new RpcCounter(*metrics, *rpc);
    }
    return nullptr;  // one of ours, which counts itself
  }

 private:
  std::vector<std::pair<std::string, MethodMetrics*>> methods_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
CountLibraryRpcs(Metrics& metrics) {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<RpcCounters>(metrics));
  return factories;
}

}  // namespace reduction::server
