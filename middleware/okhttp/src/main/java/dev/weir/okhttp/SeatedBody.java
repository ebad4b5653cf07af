package dev.weir.okhttp;

import dev.weir.http.outgoing.Admission;
import java.io.IOException;
import okhttp3.MediaType;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import okio.BufferedSource;
import okio.ForwardingSource;
import okio.Okio;
import org.jspecify.annotations.Nullable;

/**
 * The body of a response whose request holds seats: they are given back when it is read to its end,
 * fails or is closed.
 */
final class SeatedBody extends ResponseBody {
  private final ResponseBody body;
  private final BufferedSource source;

  private SeatedBody(ResponseBody body, Admission admission) {
    this.body = body;
    this.source =
        Okio.buffer(
            new ForwardingSource(body.source()) {
              @Override
              public long read(Buffer sink, long bytes) throws IOException {
                boolean more = false;
                try {
                  long read = super.read(sink, bytes);
                  more = read != -1;
                  return read;
                } finally {
                  if (!more) {
                    admission.ended();
                  }
                }
              }

              @Override
              public void close() throws IOException {
                admission.ended();
                super.close();
              }
            });
  }

  /** Returns the response with such a body; as it is if its request holds no seats. */
  static Response in(Response response, Admission admission) {
    ResponseBody body = response.body();
    if (!admission.holdsSeat()) {
      return response;
    }
    if (body == null || response.code() == RateLimitInterceptor.SWITCHING_PROTOCOLS) {
      admission.ended(); // A socket that lives on has no such end.
      return response;
    }
    return response.newBuilder().body(new SeatedBody(body, admission)).build();
  }

  @Override
  public @Nullable MediaType contentType() {
    return body.contentType();
  }

  @Override
  public long contentLength() {
    return body.contentLength();
  }

  @Override
  public BufferedSource source() {
    return source;
  }
}
