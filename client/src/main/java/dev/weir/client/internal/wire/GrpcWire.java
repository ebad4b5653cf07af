package dev.weir.client.internal.wire;

import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseAsk;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Weir's own protocol: messages on one stream, which answers them in order. If the service has no
 * leases, each message is a call that decides its requests. Safe for use by many threads.
 */
public final class GrpcWire implements Wire {
  /** The time for the last returns. */
  private static final long CLOSE_MILLIS = 500;

  /** The time after which an unanswered call is dropped. */
  private static final long CALL_SECONDS = 5;

  private final ManagedChannel channel;
  private @Nullable Stream stream;

  /** True if the service has answered that it has no leases. */
  private boolean plain;

  private boolean closed;

  public GrpcWire(ManagedChannel channel) {
    this.channel = channel;
  }

  @Override
  public void send(LeaseRequest message, Reply reply) {
    Stream current = null;
    synchronized (this) {
      if (!closed && !plain) {
        if (stream == null) {
          // A request is sent now, however long there was no connection.
          channel.resetConnectBackoff();
          stream = new Stream();
          stream.begin();
        }
        current = stream;
      }
    }
    if (current != null) {
      current.send(message, reply);
    } else if (plain()) {
      check(message, reply);
    } else {
      reply.failed("closed", true);
    }
  }

  private synchronized boolean plain() {
    return plain && !closed;
  }

  private synchronized void ended(Stream ended, Status status) {
    if (stream == ended) {
      stream = null;
    }
    if (status.getCode() == Status.Code.UNIMPLEMENTED) {
      plain = true;
    }
  }

  @Override
  public void reset() {
    Stream current;
    synchronized (this) {
      current = stream;
      stream = null;
      plain = false;
    }
    if (current != null) {
      current.cancel();
    }
    channel.resetConnectBackoff();
  }

  @Override
  public void close() {
    Stream current;
    synchronized (this) {
      closed = true;
      current = stream;
    }
    if (current != null) {
      current.complete();
    }
    channel.shutdown();
    try {
      if (!channel.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        channel.shutdownNow();
      }
    } catch (InterruptedException e) {
      channel.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  /** Returns a description of an error. */
  static String why(Throwable error) {
    Status status = Status.fromThrowable(error);
    String description = status.getDescription();
    return description == null ? status.getCode().name() : status.getCode() + ": " + description;
  }

  /** One stream, until it fails. */
  private final class Stream implements StreamObserver<LeaseResponse> {
    private final Deque<Reply> out = new ArrayDeque<>();
    private @Nullable StreamObserver<LeaseRequest> requests;
    private @Nullable String over;

    void begin() {
      // Never retried: the service may have charged requests that it did not answer.
      requests =
          ClientCalls.asyncBidiStreamingCall(
              channel.newCall(WeirGrpc.getLeaseStreamMethod(), CallOptions.DEFAULT), this);
    }

    void send(LeaseRequest message, Reply reply) {
      String failed;
      synchronized (this) {
        failed = over;
        if (failed == null && requests != null) {
          out.add(reply);
          requests.onNext(message);
        }
      }
      if (failed != null) {
        reply.failed(failed, true);
      }
    }

    @Override
    public void onNext(LeaseResponse response) {
      Reply reply;
      synchronized (this) {
        reply = out.poll();
      }
      if (reply != null) {
        reply.answered(response);
      }
    }

    @Override
    public void onError(Throwable error) {
      end(Status.fromThrowable(error), why(error));
    }

    @Override
    public void onCompleted() {
      end(Status.UNAVAILABLE, "the service has ended the stream");
    }

    private void end(Status status, String why) {
      ended(this, status);
      List<Reply> all;
      synchronized (this) {
        over = why;
        all = new ArrayList<>(out);
        out.clear();
      }
      all.forEach(each -> each.failed(why, true));
    }

    void cancel() {
      synchronized (this) {
        if (over == null && requests != null) {
          requests.onError(Status.CANCELLED.withDescription("no answer").asRuntimeException());
        }
      }
    }

    void complete() {
      synchronized (this) {
        if (over == null && requests != null) {
          requests.onCompleted();
        }
      }
    }
  }

  private void check(LeaseRequest message, Reply reply) {
    CheckBatchRequest.Builder request = CheckBatchRequest.newBuilder();
    for (LeaseAsk ask : message.getAsksList()) {
      request.addChecks(ask.getCheck());
    }
    ClientCalls.asyncUnaryCall(
        channel.newCall(
            WeirGrpc.getCheckBatchMethod(),
            CallOptions.DEFAULT.withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)),
        request.build(),
        new StreamObserver<CheckBatchResponse>() {
          private @Nullable CheckBatchResponse answer;

          @Override
          public void onNext(CheckBatchResponse response) {
            answer = response;
          }

          @Override
          public void onError(Throwable error) {
            reply.failed(why(error), true);
          }

          @Override
          public void onCompleted() {
            CheckBatchResponse response = answer;
            if (response == null || response.getResultsCount() != message.getAsksCount()) {
              reply.failed("no answer in the answer", true);
            } else {
              reply.answered(grants(message, response));
            }
          }
        });
  }

  private static LeaseResponse grants(LeaseRequest message, CheckBatchResponse response) {
    LeaseResponse.Builder grants = LeaseResponse.newBuilder().setRevision(response.getRevision());
    for (int i = 0; i < message.getAsksCount(); i++) {
      grants.addGrants(
          Grant.newBuilder().setId(message.getAsks(i).getId()).setResult(response.getResults(i)));
    }
    return grants.build();
  }
}
