// Sums a vector on a server: example-sum [TARGET]
#include <iostream>
#include <reduction/client.hpp>
#include <vector>

int main(int argc, char** argv) {
  const char* target = argc > 1 ? argv[1] : "127.0.0.1:50051";

  auto client = reduction::Client::Connect(target);
  if (!client) {
    std::cerr << client.status().message << "\n";
    return 1;
  }
  std::vector<float> numbers(1'000'000, 0.5f);
  auto sum = client->Sum(numbers);
  if (!sum) {
    std::cerr << sum.status().message << "\n";
    return 1;
  }
  std::cout << *sum << "\n";
}
