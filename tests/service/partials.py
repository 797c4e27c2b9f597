"""Partials decoded and combined in the fixed order, from the description in kernels/partial.h.

Covers what a sum, minimum and maximum, and their indexes, are made of.
"""

import dataclasses
import struct

LEAF_BYTES = 16384
SUM, EXTREMA, ARG = 1, 2, 4


@dataclasses.dataclass
class Node:
    first_leaf: int
    level: int
    count: int
    sum: object = None       # a float, or an exact int
    extrema: tuple = None    # order keys of the smallest and the largest element
    indexes: tuple = None    # and where they are first


@dataclasses.dataclass
class Partial:
    order_version: int
    element_type: int
    nan_policy: int
    components: int
    first_element: int
    element_count: int
    nodes: list


def runs(first_leaf, end_leaf):
    """The canonical decomposition of a range of leaves into aligned runs of 2^level leaves."""
    while first_leaf < end_leaf:
        level = 0
        while first_leaf % (2 << level) == 0 and 2 << level <= end_leaf - first_leaf:
            level += 1
        yield first_leaf, level
        first_leaf += 1 << level


def decode(encoded, element_size, floating):
    magic, version, *head = struct.unpack_from("<4sBBBBIQQI", encoded)
    if (magic, version) != (b"RPAR", 1):
        raise ValueError(f"not a partial: {magic} version {version}")
    node_count = head.pop()
    partial = Partial(*head, nodes=[])
    offset = struct.calcsize("<4sBBBBIQQI")

    def take(layout):
        nonlocal offset
        values = struct.unpack_from("<" + layout, encoded, offset)
        offset += struct.calcsize("<" + layout)
        return values

    leaf_elements = LEAF_BYTES // element_size
    first_leaf = partial.first_element // leaf_elements
    leaves = -(-partial.element_count // leaf_elements)
    for run in runs(first_leaf, first_leaf + leaves):
        node = Node(*run, *take("Q"))
        if partial.components & SUM:
            if floating:
                (node.sum,) = take("d")
            else:
                low, high = take("Qq")
                node.sum = (high << 64) + low
        if partial.components & EXTREMA:
            node.extrema = take("qq")
        if partial.components & ARG:
            node.indexes = take("QQ")
        partial.nodes.append(node)
    if (offset, node_count) != (len(encoded), len(partial.nodes)):
        raise ValueError("length or number of nodes is not that of the part")
    return partial


def join(a, b):
    """The node of a's elements followed by b's."""
    node = Node(a.first_leaf, a.level + 1, a.count + b.count)
    if a.sum is not None:
        node.sum = a.sum + b.sum
    if a.extrema is not None:
        node.extrema = min(a.extrema[0], b.extrema[0]), max(a.extrema[1], b.extrema[1])
    if a.indexes is not None:
        pairs = ((index, key) for part in (a, b)
                 for index, key in zip(part.indexes, part.extrema))
        (a_min, a_min_key), (a_max, a_max_key), (b_min, b_min_key), (b_max, b_max_key) = pairs
        node.indexes = (b_min if b_min_key < a_min_key else a_min,
                        b_max if b_max_key > a_max_key else a_max)
    return node


def combine(partials):
    """The node of the whole array. Leaves combine as a binary counter; what is left over at the end
    is folded from the right to the left."""
    stack = []
    for partial in sorted(partials, key=lambda part: part.first_element):
        for node in partial.nodes:
            while stack and stack[-1].level == node.level and \
                    (stack[-1].first_leaf >> node.level) % 2 == 0:
                node = join(stack.pop(), node)
            stack.append(node)
    total = stack.pop()
    while stack:
        total = join(stack.pop(), total)
    return total
