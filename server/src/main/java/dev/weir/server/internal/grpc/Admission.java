package dev.weir.server.internal.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.weir.server.internal.access.Tokens;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthGrpc;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The admission of gRPC calls: it checks the token if one is required, refuses messages that cannot
 * be parsed, and bounds the number of health watches. Health needs no token. All checks are in one
 * place because every call passes it.
 */
final class Admission implements ServerInterceptor {
  /**
   * The most watches on a connection. A client watches the services that it calls; there are four.
   */
  static final int MAX_WATCHES_PER_CONNECTION = 10;

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final byte[] NO_TOKEN = {};

  static final Status WRONG_TOKEN =
      Status.UNAUTHENTICATED.withDescription(
          "authorization: missing or wrong (expected: Bearer and a token)");

  private final Tokens tokens;
  private final InFlight inFlight;
  private final int maxWatches;
  private final AtomicInteger watches = new AtomicInteger();

  /**
   * @param maxWatches the most watches at once, on all connections together
   */
  Admission(Tokens tokens, InFlight inFlight, int maxWatches) {
    this.maxWatches = maxWatches;
    this.tokens = tokens;
    this.inFlight = inFlight;
  }

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
    byte[] token = token(call, metadata);
    if (!known(call, token)) {
      return refuse(call, WRONG_TOKEN);
    }
    MethodDescriptor<A, B> method = call.getMethodDescriptor();
    boolean unary = method.getType() == MethodType.UNARY;
    GrpcConnection connection = GrpcConnections.of(call.getAttributes());
    GrpcStream stream = GrpcStream.KEY.get();
    if (connection == null || stream == null) {
      return refuse(call, Status.UNAVAILABLE.withDescription("connection: closed"));
    }
    boolean watch =
        method.getFullMethodName().equals(HealthGrpc.getWatchMethod().getFullMethodName());
    if (watch && !watch(connection)) {
      return refuse(
          call,
          Status.RESOURCE_EXHAUSTED.withDescription(
              "Watch: too many (expected: at most "
                  + MAX_WATCHES_PER_CONNECTION
                  + " on a connection, "
                  + maxWatches
                  + " in all)"));
    }
    long most = health(call) ? HealthNames.MAX_MESSAGE_BYTES : Long.MAX_VALUE;
    stream.begin(connection, call, metadata, most, () -> known(call, token));
    ServerCall.Listener<A> listener = next.startCall(call, metadata);
    if (unary) {
      inFlight.begin();
    }
    return new AdmittedCall<>(
        listener, call, token, stream, connection, new CallKind(watch, unary));
  }

  private boolean watch(GrpcConnection connection) {
    if (watches.incrementAndGet() > maxWatches) {
      watches.decrementAndGet();
      return false;
    }
    if (!connection.watch(MAX_WATCHES_PER_CONNECTION)) {
      watches.decrementAndGet();
      return false;
    }
    return true;
  }

  /**
   * Returns the digest of the call's token, which may be kept for as long as the call lasts. The
   * metadata must not be kept, because a client can make them large.
   */
  private byte[] token(ServerCall<?, ?> call, Metadata metadata) {
    String authorization = tokens.required() && !health(call) ? metadata.get(AUTHORIZATION) : null;
    return authorization == null ? NO_TOKEN : Tokens.bearerDigest(authorization);
  }

  private boolean known(ServerCall<?, ?> call, byte[] token) {
    return !tokens.required() || health(call) || tokens.accepts(token);
  }

  private static boolean health(ServerCall<?, ?> call) {
    return HealthGrpc.SERVICE_NAME.equals(call.getMethodDescriptor().getServiceName());
  }

  private static <A> ServerCall.Listener<A> refuse(ServerCall<A, ?> call, Status status) {
    call.close(status, new Metadata());
    return new ServerCall.Listener<>() {};
  }

  /**
   * The kind of a call.
   *
   * @param watch true if it counts as a watch of health
   * @param awaited true if a stopping server waits for it
   */
  private record CallKind(boolean watch, boolean awaited) {}

  /** An admitted call. A stream may go on for longer than its token is valid. */
  private final class AdmittedCall<A> extends SimpleForwardingServerCallListener<A> {
    private final ServerCall<A, ?> call;
    private final byte[] token;
    private final GrpcStream stream;
    private final GrpcConnection connection;
    private final CallKind kind;
    private int generation = tokens.generation();
    private boolean refused;
    private boolean over;

    /**
     * @param token its digest
     */
    AdmittedCall(
        ServerCall.Listener<A> listener,
        ServerCall<A, ?> call,
        byte[] token,
        GrpcStream stream,
        GrpcConnection connection,
        CallKind kind) {
      super(listener);
      this.call = call;
      this.token = token;
      this.stream = stream;
      this.connection = connection;
      this.kind = kind;
    }

    @Override
    public void onMessage(A message) {
      if (refused || stream.refused()) {
        return;
      }
      if (generation != tokens.generation()) {
        generation = tokens.generation();
        if (!known(call, token)) {
          refuse(WRONG_TOKEN);
          return;
        }
      }
      try {
        super.onMessage(message);
      } catch (StatusRuntimeException e) {
        refuse(
            e.getCause() instanceof InvalidProtocolBufferException malformed
                ? Status.INVALID_ARGUMENT.withDescription("message: " + malformed.getMessage())
                : e.getStatus());
      }
    }

    private void refuse(Status status) {
      refused = true;
      call.close(status, new Metadata());
      if (call.getMethodDescriptor().getType() != MethodType.UNARY) {
        super.onCancel();
      }
    }

    @Override
    public void onHalfClose() {
      stream.requested();
      if (!refused && !stream.refused()) {
        super.onHalfClose();
      }
    }

    @Override
    public void onComplete() {
      end();
      super.onComplete();
    }

    @Override
    public void onCancel() {
      end();
      super.onCancel();
    }

    private void end() {
      if (over) {
        return;
      }
      over = true;
      if (kind.watch()) {
        connection.watched();
        watches.decrementAndGet();
      }
      if (kind.awaited()) {
        inFlight.end();
      }
    }
  }
}
