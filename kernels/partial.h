// Partials: the state of one part of an array, as bytes that whoever holds all parts can combine
// to the very result that the whole array would have given.
//
// Encoding, version 1; all integers little-endian:
//   u32 magic "RPAR", u8 encoding version (1), u8 order version, u8 element type, u8 NaN policy,
//   u32 components, u64 first element, u64 element count, u32 node count, then the nodes of the
//   canonical decomposition of the part's leaves (fixed_order.h, NextRun) from left to right.
//   A node is u64 count, then for each component of the plan, in the order of their bits:
//   sum, dot: f64 (floats) or u64 low, i64 high; extrema: i64 min key, i64 max key;
//   arg: u64 argmin, u64 argmax; squares, L1: f64; moments: f64 shift, f64 s1, f64 m2;
//   NaN count, non-zero count: u64.
// Equal elements give equal bytes on every device: a NaN is written as the canonical quiet one, and
// of a dot of 64-bit integers, which is modulo 2^64, high extends low. Readers take any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ordered_fold.h"

namespace reduction::kernels {

struct Partial {
  Plan plan;  // the algorithm is not encoded
  uint64_t first_element = 0;
  uint64_t element_count = 0;
  std::vector<Node> nodes;
};

// `nodes` must be the canonical decomposition of the part's leaves.
std::string EncodePartial(const Partial& partial);

// Parses untrusted bytes. On refusal returns nullopt and a sentence in *error.
std::optional<Partial> DecodePartial(std::string_view bytes, std::string* error);

// Combines parts of one array, given in any order. They must cover the elements from 0 to
// `*elements` (set here) without gap or overlap, with equal plans. On refusal returns nullopt and a
// sentence in *error.
std::optional<State> CombinePartials(std::vector<Partial> partials, uint64_t* elements,
                                     std::string* error);

}  // namespace reduction::kernels
