"""The interface only grows: everything in proto/frozen is in the protocol of now, unchanged.

    test_frozen_descriptor.py           runs the test
    test_frozen_descriptor.py --freeze  writes proto/frozen anew, for a release: it then holds what
                                        has been added since
"""

import copy
import os
import pathlib
import sys
import unittest

from google.protobuf import descriptor_pb2, text_format

from reduction.rpc import error_details_pb2
from reduction.v1 import reduction_pb2

FROZEN = pathlib.Path(os.environ["REDUCTION_SOURCE"], "proto/frozen")
FILES = {"reduction_v1.txtpb": reduction_pb2, "error_details.txtpb": error_details_pb2}
# What is compared by a rule of its own, or has no effect on anything that exists.
CONTENTS = {"message_type", "enum_type", "service", "field", "value", "method", "nested_type",
            "oneof_decl", "reserved_range", "reserved_name", "dependency"}


def descriptor(module):
    proto = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(proto)
    return proto


def frozen(name):
    return text_format.Parse((FROZEN / name).read_text(), descriptor_pb2.FileDescriptorProto())


def attributes(proto):
    """What must stay as it is: every simple attribute, such as name, number, type and label. A
    oneof is called by its name, because its index may change."""
    return {field.name: value for field, value in proto.ListFields()
            if field.name not in CONTENTS and field.name != "oneof_index"}


def identity(proto):
    """By what a thing is known in its list: numbers for fields and values, else its name."""
    return proto.number if hasattr(proto, "number") else proto.name


def differences(old, new, path=""):
    """What of `old` is gone or changed in `new`: a list of sentences."""
    here = f"{path}.{old.name}".lstrip(".")
    found = []
    if attributes(old) != attributes(new):
        found.append(f"{here} was {attributes(old)} and is {attributes(new)}")
    for kind in sorted(CONTENTS - {"oneof_decl", "reserved_range", "reserved_name", "dependency"}):
        if not hasattr(old, kind):
            continue
        now = {identity(each): each for each in getattr(new, kind)}
        for each in getattr(old, kind):
            if identity(each) not in now:
                found.append(f"{here}.{each.name} is gone")
                continue
            current = now[identity(each)]
            found += differences(each, current, here)
            if kind == "field" and oneof_of(old, each) != oneof_of(new, current):
                found.append(f"{here}.{each.name} moved to another oneof")
    return found


def oneof_of(message, field):
    return message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None


class FrozenDescriptorTest(unittest.TestCase):

    def test_nothing_is_gone_or_changed(self):
        for name, module in FILES.items():
            self.assertEqual(differences(frozen(name), descriptor(module)), [], name)

    def test_additions_are_allowed(self):
        old = frozen("reduction_v1.txtpb")
        new = copy.deepcopy(old)
        new.message_type.add(name="New")
        new.enum_type.add(name="NewEnum").value.add(name="NEW", number=0)
        new.enum_type[0].value.add(name="ELEMENT_TYPE_NEW", number=100)
        new.service[0].method.add(name="New")
        new.message_type[0].field.add(name="new", number=500)
        # Order means nothing.
        fields = list(new.message_type[0].field)
        del new.message_type[0].field[:]
        new.message_type[0].field.extend(reversed(fields))
        self.assertEqual(differences(old, new), [])

    def test_every_incompatible_change_is_found(self):
        old = frozen("reduction_v1.txtpb")
        messages = {message.name: index for index, message in enumerate(old.message_type)}
        array = messages["ArrayRequest"]

        def change(edit):
            new = copy.deepcopy(old)
            edit(new)
            return new
        edits = {
            "package": lambda new: setattr(new, "package", "reduction.v2"),
            "message gone": lambda new: new.message_type.pop(0),
            "nested message gone": lambda new: new.message_type[
                messages["GetServerInfoResponse"]].nested_type.pop(0),
            "field gone": lambda new: new.message_type[array].field.pop(0),
            "field renamed": lambda new: setattr(new.message_type[array].field[0], "name", "kind"),
            "field renumbered": lambda new: setattr(new.message_type[array].field[0], "number", 9),
            "field retyped": lambda new: setattr(new.message_type[array].field[0], "type", 5),
            "field repeated": lambda new: setattr(new.message_type[array].field[0], "label", 3),
            "message of a field": lambda new: setattr(new.message_type[array].field[1], "type_name",
                                                      ".reduction.v1.Part"),
            "out of its oneof": lambda new: new.message_type[array].field[3].ClearField(
                "oneof_index"),
            "no longer optional": lambda new: new.message_type[messages["Device"]].field[
                1].ClearField("proto3_optional"),
            "enum gone": lambda new: new.enum_type.pop(0),
            "value gone": lambda new: new.enum_type[0].value.pop(),
            "value renumbered": lambda new: setattr(new.enum_type[0].value[3], "number", 99),
            "value renamed": lambda new: setattr(new.enum_type[0].value[3], "name", "OTHER"),
            "service renamed": lambda new: setattr(new.service[0], "name", "Other"),
            "method gone": lambda new: new.service[0].method.pop(0),
            "method renamed": lambda new: setattr(new.service[0].method[0], "name", "Total"),
            "request of a method": lambda new: setattr(new.service[0].method[0], "input_type",
                                                       ".reduction.v1.DotRequest"),
            "streaming": lambda new: setattr(new.service[0].method[0], "client_streaming", True),
        }
        for what, edit in edits.items():
            with self.subTest(change=what):
                self.assertNotEqual(differences(old, change(edit)), [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--freeze"]:
        for file_name, generated in FILES.items():
            (FROZEN / file_name).write_text(
                "# proto-file: google/protobuf/descriptor.proto\n"
                "# proto-message: google.protobuf.FileDescriptorProto\n"
                + text_format.MessageToString(descriptor(generated)))
    else:
        unittest.main(verbosity=2)
