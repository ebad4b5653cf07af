package dev.weir.http.client;

import dev.weir.http.outgoing.Admission;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * The body of a response whose request holds seats: they are given back when it has ended, which
 * may be long after the response is there, for example if it is an {@code InputStream}.
 */
final class SeatedBody<T> implements BodySubscriber<T> {
  private final BodySubscriber<T> body;
  private final Admission admission;

  private SeatedBody(BodySubscriber<T> body, Admission admission) {
    this.body = body;
    this.admission = admission;
  }

  /** Returns the handler of a response; without seats it is the given one. */
  static <T> BodyHandler<T> of(BodyHandler<T> handler, Admission admission) {
    return admission.holdsSeat()
        ? response -> {
          admission.responded(response.statusCode());
          return new SeatedBody<>(handler.apply(response), admission);
        }
        : handler;
  }

  @Override
  public CompletionStage<T> getBody() {
    return body.getBody();
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    body.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long parts) {
            subscription.request(parts);
          }

          @Override
          public void cancel() {
            admission.ended();
            subscription.cancel();
          }
        });
  }

  @Override
  public void onNext(List<ByteBuffer> parts) {
    body.onNext(parts);
  }

  @Override
  public void onError(Throwable failure) {
    admission.ended();
    body.onError(failure);
  }

  @Override
  public void onComplete() {
    admission.ended();
    body.onComplete();
  }
}
