package dev.weir.server;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import java.io.InputStream;

/**
 * Has messages parsed behind the interceptors instead of before them, so that one which cannot be
 * parsed is a matter of its call, which {@link Admission} refuses, and not of the transport, which
 * would write a stack trace to the log for each.
 */
final class GrpcMessages {
  private static final Marshaller<InputStream> AS_THEY_ARE =
      new Marshaller<>() {
        @Override
        public InputStream stream(InputStream message) {
          return message;
        }

        @Override
        public InputStream parse(InputStream message) {
          return message;
        }
      };

  private GrpcMessages() {}

  static ServerServiceDefinition parsedLate(ServerServiceDefinition service) {
    return ServerInterceptors.useMarshalledMessages(service, AS_THEY_ARE);
  }
}
