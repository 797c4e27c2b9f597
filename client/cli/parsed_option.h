// Options of the command line whose words name values.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>

namespace reduction::cli {

// An option whose text `parse` turns into an optional value; `expected` says what it takes, and
// `known`, where that is too long for --help, lists it in errors.
template <class T, class Parse>
CLI::Option* AddParsed(CLI::App* app, const std::string& name, T* value, Parse parse,
                       const std::string& help, const std::string& expected,
                       const std::string& known = {}) {
  return app
      ->add_option_function<std::string>(
          name,
          [=](const std::string& text) {
            const auto parsed = parse(text);
            if (!parsed.has_value()) {
              throw CLI::ValidationError(name, "cannot use \"" + text + "\" as " + expected +
                                                   (known.empty() ? "" : "; known are " + known));
            }
            *value = *parsed;
          },
          help)
      ->type_name(expected);
}

template <class T>
auto OneOf(const std::map<std::string, T>& names) {
  return [names](const std::string& text) -> std::optional<T> {
    const auto found = names.find(text);
    if (found == names.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace reduction::cli
