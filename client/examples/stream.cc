// Reduces an array that never exists as a whole: example-stream [TARGET]
#include <cmath>
#include <iostream>
#include <reduction/client.hpp>
#include <vector>

int main(int argc, char** argv) {
  const char* target = argc > 1 ? argv[1] : "127.0.0.1:50051";
  using reduction::Statistic;

  auto client = reduction::Client::Connect(target);
  if (!client) {
    std::cerr << client.status().message << "\n";
    return 1;
  }
  auto stream = client->OpenStream(reduction::ElementType::kFloat64,
                                   {Statistic::kMean, Statistic::kStandardDeviation});
  if (!stream) {
    std::cerr << stream.status().message << "\n";
    return 1;
  }
  std::vector<double> piece(1000);
  double time = 0;
  for (int i = 0; i < 100; ++i) {
    for (double& x : piece) x = std::sin(time += 0.01);
    // A failed stream says why in Finish().
    if (!stream->Write(piece).ok()) break;
  }
  auto result = stream->Finish();
  if (!result) {
    std::cerr << result.status().message << "\n";
    return 1;
  }
  std::cout << "mean " << std::get<double>(*result->Find(Statistic::kMean)) << ", deviation "
            << std::get<double>(*result->Find(Statistic::kStandardDeviation)) << " of "
            << result->count << " numbers\n";
}
