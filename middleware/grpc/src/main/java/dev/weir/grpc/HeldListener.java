package dev.weir.grpc;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;

/**
 * A listener that holds a call's events back until all earlier actions of the application have
 * reached the call. Otherwise an application could be notified that the call is ready, query it,
 * and find that it is not.
 */
final class HeldListener<B> extends ClientCall.Listener<B> {
  private final EventQueue<ClientCall.Listener<B>> events = new EventQueue<>();

  /** Passes events on from now on. */
  void open(ClientCall.Listener<B> listener) {
    events.open(listener);
  }

  @Override
  public void onHeaders(Metadata headers) {
    events.run(listener -> listener.onHeaders(headers));
  }

  @Override
  public void onMessage(B message) {
    events.run(listener -> listener.onMessage(message));
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    events.run(listener -> listener.onClose(status, trailers));
  }

  @Override
  public void onReady() {
    events.run(ClientCall.Listener::onReady);
  }
}
