package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import io.grpc.Context;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One gRPC call from the view of its connection: the arrived part of an unfinished message, and
 * whether the call waits for its client. The transport reports arrivals on the connection's event
 * loop; answers may come on any thread.
 */
final class GrpcStream extends ServerStreamTracer {
  /** The context key of a call's stream. */
  static final Context.Key<GrpcStream> KEY = Context.key("dev.weir.stream");

  /** Approximate size of the objects of a call. */
  private static final long CALL_BYTES = 4 << 10;

  /** Approximate size of the objects of a metadata field. */
  private static final long FIELD_BYTES = 100;

  /** Approximate size of the objects of a piece of a message. */
  private static final long PIECE_BYTES = 256;

  private final Ticker ticker;
  private @Nullable GrpcConnection connection;
  private @Nullable ServerCall<?, ?> call;
  private @Nullable Metadata metadata;
  private boolean unary;
  private boolean asksOnce;
  private boolean refused;
  private long maxBytes;
  private volatile BooleanSupplier authorized = () -> false;

  /**
   * True while the server waits for the client: for the rest of a message, or for the request
   * itself.
   */
  private volatile boolean receiving;

  private long sinceNanos;
  private int countedRead;
  private boolean counted;

  /** The approximate size of the call's metadata, once it is needed. */
  private long fields;

  /** The bytes of an unfinished message. */
  private long messageBytes;

  // Guarded by the lock.
  private long arrived;
  private long told;
  private boolean answered;
  private boolean stays;
  private boolean closed;

  /** The bytes that a service keeps of the call until it ends. */
  private long kept;

  GrpcStream(Ticker ticker) {
    this.ticker = ticker;
  }

  /** The factory of streams, one for each call. */
  static final class Factory extends ServerStreamTracer.Factory {
    private final Ticker ticker;

    Factory(Ticker ticker) {
      this.ticker = ticker;
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
      return new GrpcStream(ticker);
    }
  }

  @Override
  public Context filterContext(Context context) {
    return context.withValue(KEY, this);
  }

  /**
   * Records that the call has begun, on a known connection.
   *
   * @param mostBytes the most bytes of a message
   * @param stillAuthorized whether the call's token is valid, which may end while the call lasts
   */
  void begin(
      GrpcConnection on,
      ServerCall<?, ?> begun,
      Metadata fields,
      long mostBytes,
      BooleanSupplier stillAuthorized) {
    connection = on;
    authorized = stillAuthorized;
    maxBytes = mostBytes;
    call = begun;
    unary = begun.getMethodDescriptor().getType() == MethodType.UNARY;
    asksOnce = begun.getMethodDescriptor().getType().clientSendsOneMessage();
    metadata = asksOnce ? fields : null;
    receiving = asksOnce;
    counted = unary;
    on.calls(counted ? 1 : 0);
    sinceNanos = ticker.nanos();
    on.touched(this);
  }

  /** Returns whether the call's token is valid now. */
  boolean authorized() {
    return authorized.getAsBoolean();
  }

  /** Records that a unary call's request has fully arrived. */
  void requested() {
    received();
  }

  /** Returns whether the call was ended because it was not complete in time, or too large. */
  boolean refused() {
    return refused;
  }

  /** Records that the server does not wait for the client any more. */
  private void received() {
    GrpcConnection on = connection;
    if (receiving && on != null) {
      receiving = false;
      metadata = null; // A stream may last, and a client can make its metadata large.
      fields = 0;
      on.received(this);
    }
  }

  @Override
  public void inboundMessage(int number) {
    if (!asksOnce) {
      receiving = true;
      sinceNanos = ticker.nanos();
    }
  }

  @Override
  public void inboundWireSize(long bytes) {
    GrpcConnection on = connection;
    if (on == null) {
      return;
    }
    messageBytes += bytes;
    synchronized (this) {
      arrived += bytes + PIECE_BYTES;
      if (countedRead != on.reads()) {
        countedRead = on.reads();
        arrived += on.readBytes(); // A piece keeps the whole read it came with in memory.
      }
    }
    on.touched(this);
  }

  @Override
  public void inboundMessageRead(int number, long wireBytes, long bytes) {
    if (!asksOnce) {
      received();
    }
    GrpcConnection on = connection;
    if (on != null) {
      on.whole();
    }
    messageBytes = 0;
    synchronized (this) {
      arrived = 0;
      updateBudget();
    }
  }

  @Override
  public void outboundMessageSent(int number, long wireBytes, long bytes) {
    synchronized (this) {
      answered = unary; // The call's objects stay until the client has read the answer.
      updateBudget();
    }
  }

  @Override
  public void streamClosed(Status status) {
    received();
    GrpcConnection on = connection;
    if (counted && on != null) {
      counted = false;
      on.calls(-1);
    }
    synchronized (this) {
      closed = true;
      updateBudget();
    }
  }

  /**
   * Counts the bytes that stay after a read.
   *
   * @return whether the server waits for the client
   */
  boolean stay() {
    if (messageBytes > maxBytes) {
      refuse(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "message: more bytes (expected: at most " + maxBytes + ")"));
    }
    Metadata known = metadata;
    if (receiving && fields == 0 && known != null) {
      for (byte[] part : InternalMetadata.serialize(known)) {
        fields += FIELD_BYTES / 2 + part.length;
      }
    }
    synchronized (this) {
      stays = !closed;
      updateBudget();
    }
    return receiving;
  }

  /** Counts in the budget the bytes that a service keeps of the call, until the call ends. */
  void keep(long change) {
    synchronized (this) {
      kept += change;
      updateBudget();
    }
  }

  private void updateBudget() {
    GrpcConnection on = connection;
    if (on != null) {
      boolean waits = receiving || answered;
      long unfinished = stays ? arrived + (waits ? CALL_BYTES + fields : 0) : 0;
      long now = closed ? 0 : kept + unfinished;
      long change = now - told;
      told = now;
      boolean unused = on.account().add(change);
    }
  }

  /** Returns the time since which the server waits for the client. */
  long sinceNanos() {
    return sinceNanos;
  }

  /** Ends a call that has not fully arrived. */
  void refuse(Status status) {
    ServerCall<?, ?> begun = call;
    if (begun != null && receiving) {
      refused = true;
      received();
      synchronized (this) {
        arrived = 0;
        updateBudget();
      }
      begun.close(status, new Metadata());
    }
  }
}
