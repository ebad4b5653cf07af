package dev.weir.server.internal.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import java.io.InputStream;

/**
 * The parser of messages that runs after the interceptors instead of before them, so that {@link
 * Admission} refuses a call whose message cannot be parsed. The transport would log a stack trace
 * for each such call.
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
