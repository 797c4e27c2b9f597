"""Protobuf messages by hand: fields as bytes, and calls that send and return bytes."""

import itertools

VARINT, FIXED64, LENGTH, START_GROUP, END_GROUP, FIXED32 = range(6)


def varint(value):
    encoded = bytearray()
    while value > 0x7f:
        encoded.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(encoded) + bytes([value])


def tag(number, kind):
    return varint(number << 3 | kind)


def number_field(number, value):
    return tag(number, VARINT) + varint(value)


def bytes_field(number, content):
    return tag(number, LENGTH) + varint(len(content)) + content


def group_field(number, content):
    return tag(number, START_GROUP) + content + tag(number, END_GROUP)


def raw_unary(channel, method):
    return channel.unary_unary("/reduction.v1.Reduction/" + method)


def raw_stream(channel):
    return channel.stream_unary("/reduction.v1.Reduction/ReduceStream")


def orders(fields):
    """The fields joined in every order."""
    return [b"".join(order) for order in itertools.permutations(fields)]
