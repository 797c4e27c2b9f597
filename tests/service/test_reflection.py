"""A client that knows the address alone: it asks by reflection what there is, and calls it.

Runs with current packages from the Python package index (requirements.txt), so that it is a test
with a second, newer client too. Must not see generated modules.
"""

import os
import struct
import unittest

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)

from server_process import ServerProcess


class ReflectionTest(unittest.TestCase):

    def setUp(self):
        self.server = self.enterContext(ServerProcess(
            [os.environ["REDUCTION_SERVER"], "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0",
             "--device=cpu"]))
        self.channel = self.enterContext(grpc.insecure_channel(self.server.listen[0]))
        self.database = ProtoReflectionDescriptorDatabase(self.channel)
        self.service = descriptor_pool.DescriptorPool(self.database).FindServiceByName(
            "reduction.v1.Reduction")

    def tearDown(self):
        self.assertEqual(self.server.stop(), 0)

    def call(self, name, **fields):
        method = self.service.methods_by_name[name]
        request = message_factory.GetMessageClass(method.input_type)
        response = message_factory.GetMessageClass(method.output_type)
        call = self.channel.unary_unary(f"/{self.service.full_name}/{name}",
                                        request_serializer=request.SerializeToString,
                                        response_deserializer=response.FromString)
        return call(request(**fields), timeout=60)

    def test_lists_services_and_methods(self):
        self.assertEqual(set(self.database.get_services()),
                         {"reduction.v1.Reduction", "grpc.health.v1.Health",
                          "grpc.reflection.v1alpha.ServerReflection"})
        self.assertEqual(list(self.service.methods_by_name),
                         ["Sum", "Max", "Min", "Dot", "Reduce", "ReduceStream", "GetServerInfo"])
        self.assertTrue(self.service.methods_by_name["ReduceStream"].client_streaming)

    def test_calls_what_it_found(self):
        data = struct.pack("<4f", 1.5, -2, 4, 0)
        types = self.service.methods_by_name["Sum"].input_type.fields_by_name["element_type"]
        float32 = types.enum_type.values_by_name["ELEMENT_TYPE_FLOAT32"].number
        self.assertEqual(self.call("Sum", element_type=float32, inline=data).value.float64, 3.5)
        dot = self.call("Dot", element_type=float32, x_inline=data, y_inline=data)
        self.assertEqual(dot.value.float64, 22.25)
        self.assertEqual(self.call("GetServerInfo").devices[0].device, "cpu")


if __name__ == "__main__":
    unittest.main(verbosity=2)
