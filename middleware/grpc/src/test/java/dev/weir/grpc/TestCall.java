package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A client's call, step by step, with the events that it received. */
final class TestCall {
  private static final int PATIENCE_SECONDS = 30;

  final ClientCall<String, String> call;
  final List<String> messages = new CopyOnWriteArrayList<>();
  final AtomicInteger readies = new AtomicInteger();
  final CompletableFuture<Status> closed = new CompletableFuture<>();
  volatile Metadata trailers = new Metadata();
  volatile @Nullable Thread closedOn;

  private TestCall(ClientCall<String, String> call) {
    this.call = call;
  }

  static TestCall start(Channel channel, MethodDescriptor<String, String> method) {
    return start(channel, method, CallOptions.DEFAULT, new Metadata());
  }

  static TestCall start(
      Channel channel,
      MethodDescriptor<String, String> method,
      CallOptions options,
      Metadata headers) {
    TestCall started = new TestCall(channel.newCall(method, options));
    started.call.start(started.new Hearing(), headers);
    started.call.request(10);
    return started;
  }

  /** Starts a call and sends all of it. */
  static TestCall send(Channel channel, MethodDescriptor<String, String> method) {
    return start(channel, method).sendMessage("a").end();
  }

  static TestCall send(Channel channel, MethodDescriptor<String, String> method, Metadata headers) {
    return start(channel, method, CallOptions.DEFAULT, headers).sendMessage("a").end();
  }

  TestCall sendMessage(String message) {
    call.sendMessage(message);
    return this;
  }

  TestCall end() {
    call.halfClose();
    return this;
  }

  /** Returns whether the call has ended. */
  boolean over() {
    return closed.isDone();
  }

  /** Returns the status with which the call ended, or ends within half a minute. */
  Status status() {
    try {
      return closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("call: has not ended", e);
    }
  }

  Status.Code code() {
    return status().getCode();
  }

  /** Asserts that the call is refused as one beyond its limit. */
  TestCall exhausted() {
    assertThat(code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    return this;
  }

  TestCall ok() {
    assertThat(status().getDescription()).isNull();
    assertThat(code()).isEqualTo(Status.Code.OK);
    return this;
  }

  private final class Hearing extends ClientCall.Listener<String> {
    @Override
    public void onMessage(String message) {
      messages.add(message);
    }

    @Override
    public void onReady() {
      readies.incrementAndGet();
    }

    @Override
    public void onClose(Status status, Metadata newTrailers) {
      trailers = newTrailers;
      closedOn = Thread.currentThread();
      assertThat(closed.complete(status)).as("closed once").isTrue();
    }
  }
}
