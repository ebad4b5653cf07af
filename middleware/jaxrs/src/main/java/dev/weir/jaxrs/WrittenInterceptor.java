package dev.weir.jaxrs;

import jakarta.ws.rs.ext.WriterInterceptor;
import jakarta.ws.rs.ext.WriterInterceptorContext;
import java.io.IOException;

/** The interceptor around the body of a response: a request with one ends when it is written. */
final class WrittenInterceptor implements WriterInterceptor {
  @Override
  public void aroundWriteTo(WriterInterceptorContext context) throws IOException {
    try {
      context.proceed();
    } finally {
      Limits.ended(context.getProperty(Limits.VERDICTS));
    }
  }
}
