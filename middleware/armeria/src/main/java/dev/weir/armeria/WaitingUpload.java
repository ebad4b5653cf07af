package dev.weir.armeria;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.HttpObject;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpRequestWriter;
import dev.weir.http.WaitingBody;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A request whose body is read while it waits, within a bound, and then goes to its service. Used
 * in the request's event loop.
 */
final class WaitingUpload implements Subscriber<HttpObject> {
  private final Executor loop;
  private final HttpRequestWriter replay;
  private final WaitingBody bound = new WaitingBody();

  private @Nullable Subscription upload;
  private boolean waiting = true;
  private boolean stopped;
  private boolean dropped;

  private WaitingUpload(HttpRequest request, Executor loop) {
    this.loop = loop;
    replay = HttpRequest.streaming(request.headers());
  }

  /** Begins to read a request's body. */
  static WaitingUpload begin(HttpRequest request, EventExecutor loop) {
    WaitingUpload upload = new WaitingUpload(request, loop);
    CompletableFuture<Void> unused =
        upload.replay.whenComplete().whenCompleteAsync((done, cause) -> upload.left(cause), loop);
    request.subscribe(upload, loop);
    return upload;
  }

  /** Returns the request with all of its body, for the service. */
  HttpRequest served() {
    release();
    return replay;
  }

  /** Reads the rest of the body and drops it. */
  void drop() {
    dropped = true;
    release();
    replay.abort();
    if (upload != null) {
      upload.request(Long.MAX_VALUE);
    }
  }

  /** Ends the wait. */
  void release() {
    waiting = false;
    bound.release();
    if (stopped && !dropped) {
      stopped = false;
      continueWhenRead();
    }
  }

  /** Reads the next part as soon as the service has taken all earlier ones. */
  private void continueWhenRead() {
    CompletableFuture<Void> unused =
        replay
            .whenConsumed()
            .thenRunAsync(
                () -> {
                  if (upload != null) {
                    upload.request(1);
                  }
                },
                loop);
  }

  /** Ends the reading if the service takes no more of the body. */
  private void left(@Nullable Throwable cause) {
    if (cause != null && !dropped && upload != null) {
      upload.cancel();
    }
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    upload = subscription;
    subscription.request(1);
  }

  @Override
  public void onNext(HttpObject part) {
    if (dropped || !replay.tryWrite(part) || upload == null) {
      return;
    }
    if (!waiting) {
      continueWhenRead();
    } else if (bound.add(part instanceof HttpData data ? data.length() : 0)) {
      upload.request(1);
    } else {
      stopped = true;
    }
  }

  @Override
  public void onError(Throwable cause) {
    bound.release();
    replay.close(cause);
  }

  @Override
  public void onComplete() {
    replay.close();
  }
}
