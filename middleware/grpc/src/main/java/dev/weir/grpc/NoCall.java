package dev.weir.grpc;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

/** A call that is over and was never sent: it drops all further actions. */
final class NoCall<A, B> extends ClientCall<A, B> {
  @Override
  public void start(Listener<B> listener, Metadata headers) {}

  @Override
  public void request(int messages) {}

  @Override
  public void cancel(@Nullable String message, @Nullable Throwable cause) {}

  @Override
  public void halfClose() {}

  @Override
  public void sendMessage(A message) {}
}
