package dev.weir.server.internal.grpc;

import dev.weir.server.internal.deciding.Tracing;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.opentelemetry.context.propagation.TextMapGetter;
import org.jspecify.annotations.Nullable;

/** A reader of the trace that a call belongs to from its metadata. */
final class TraceContexts implements ServerInterceptor {
  private static final Context.Key<io.opentelemetry.context.Context> PARENT =
      Context.keyWithDefault("weir-trace", io.opentelemetry.context.Context.root());

  private static final TextMapGetter<Metadata> FIELDS =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Metadata metadata) {
          return metadata.keys();
        }

        @Override
        public @Nullable String get(@Nullable Metadata metadata, String name) {
          return metadata == null
              ? null
              : metadata.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        }
      };

  private final Tracing tracing;

  TraceContexts(Tracing tracing) {
    this.tracing = tracing;
  }

  /** Returns the trace that the call on this thread belongs to. */
  static io.opentelemetry.context.Context parent() {
    return PARENT.get();
  }

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
    Context context = Context.current().withValue(PARENT, tracing.parent(metadata, FIELDS));
    return Contexts.interceptCall(context, call, metadata, next);
  }
}
