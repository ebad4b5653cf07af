package dev.weir.server;

import io.grpc.Attributes;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.health.v1.HealthGrpc;
import org.jspecify.annotations.Nullable;

/**
 * Lets gRPC calls in: those on a connection within the limit, with a token where one is required.
 * Whoever asks for health needs none. All in one place, since every call comes by.
 */
final class Admission implements ServerInterceptor {
  private static final Attributes.Key<Boolean> NO_ROOM = Attributes.Key.create("no-room");
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final String WRONG_TOKEN =
      "authorization: missing or wrong (expected: Bearer and a token)";

  private final Tokens tokens;
  private final DoorCounters counters;
  private final InFlight inFlight;

  Admission(Tokens tokens, DoorCounters counters, InFlight inFlight) {
    this.tokens = tokens;
    this.counters = counters;
    this.inFlight = inFlight;
  }

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
    if (call.getAttributes().get(NO_ROOM) != null) {
      return refuse(
          call,
          Status.RESOURCE_EXHAUSTED.withDescription(
              "connections: too many (expected: at most " + counters.maxConnections() + ")"));
    }
    if (tokens.required() && !known(call, metadata)) {
      return refuse(call, Status.UNAUTHENTICATED.withDescription(WRONG_TOKEN));
    }
    if (call.getMethodDescriptor().getType() != MethodType.UNARY) {
      return stillKnown(call, metadata, next.startCall(call, metadata));
    }
    inFlight.begin();
    return inFlight.untilTheEnd(next.startCall(call, metadata));
  }

  /** A stream may go on for longer than its token is good; it is not waited for, either. */
  private <A> ServerCall.Listener<A> stillKnown(
      ServerCall<A, ?> call, Metadata metadata, ServerCall.Listener<A> listener) {
    if (!tokens.required()) {
      return listener;
    }
    return new SimpleForwardingServerCallListener<>(listener) {
      private int generation = tokens.generation();

      @Override
      public void onMessage(A message) {
        if (generation != tokens.generation()) {
          generation = tokens.generation();
          if (!known(call, metadata)) {
            call.close(Status.UNAUTHENTICATED.withDescription(WRONG_TOKEN), new Metadata());
            onCancel();
            return;
          }
        }
        super.onMessage(message);
      }
    };
  }

  private boolean known(ServerCall<?, ?> call, Metadata metadata) {
    if (HealthGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName())) {
      return true;
    }
    String authorization = metadata.get(AUTHORIZATION);
    return authorization != null && tokens.acceptsBearer(authorization);
  }

  private static <A> ServerCall.Listener<A> refuse(ServerCall<A, ?> call, Status status) {
    call.close(status, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  /** Counts connections and marks those beyond the limit. */
  static final class Room extends ServerTransportFilter {
    private final DoorCounters counters;

    Room(DoorCounters counters) {
      this.counters = counters;
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
      return counters.opened() ? attributes : attributes.toBuilder().set(NO_ROOM, true).build();
    }

    @Override
    public void transportTerminated(@Nullable Attributes attributes) {
      if (attributes != null) { // Or it has never been ready, and was not counted.
        counters.closed();
      }
    }
  }
}
