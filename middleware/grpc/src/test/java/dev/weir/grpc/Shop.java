package dev.weir.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A service with a method of every type. It logs its events, and echoes all messages at the end.
 */
final class Shop {
  static final MethodDescriptor<String, String> ADD = method("Add", MethodType.UNARY);
  static final MethodDescriptor<String, String> LIST = method("List", MethodType.SERVER_STREAMING);
  static final MethodDescriptor<String, String> FILL = method("Fill", MethodType.CLIENT_STREAMING);
  static final MethodDescriptor<String, String> CHAT = method("Chat", MethodType.BIDI_STREAMING);
  static final List<MethodDescriptor<String, String>> ALL = List.of(ADD, LIST, FILL, CHAT);

  /** The events that the application saw, in words. */
  final List<String> log = new CopyOnWriteArrayList<>();

  /** The threads of these events. */
  final List<Thread> threads = new CopyOnWriteArrayList<>();

  volatile Status end = Status.OK;
  volatile Runnable atStart = () -> {};

  private static MethodDescriptor<String, String> method(String name, MethodType type) {
    return MethodDescriptor.<String, String>newBuilder()
        .setType(type)
        .setFullMethodName("shop.Cart/" + name)
        .setRequestMarshaller(new Text())
        .setResponseMarshaller(new Text())
        .build();
  }

  ServerServiceDefinition service() {
    return ServerServiceDefinition.builder("shop.Cart")
        .addMethod(ADD, handler())
        .addMethod(LIST, handler())
        .addMethod(FILL, handler())
        .addMethod(CHAT, handler())
        .build();
  }

  /** Returns a service of another name with one method, unary. */
  ServerServiceDefinition service(String name, String method) {
    return ServerServiceDefinition.builder(name)
        .addMethod(ADD.toBuilder().setFullMethodName(name + "/" + method).build(), handler())
        .build();
  }

  private ServerCallHandler<String, String> handler() {
    return (call, headers) -> {
      log("start");
      atStart.run();
      call.request(10);
      return new Echo(call);
    };
  }

  private void log(String event) {
    threads.add(Thread.currentThread());
    log.add(event);
  }

  private final class Echo extends ServerCall.Listener<String> {
    private final ServerCall<String, String> call;
    private String heard = "";

    Echo(ServerCall<String, String> call) {
      this.call = call;
    }

    @Override
    public void onReady() {
      log("ready");
    }

    @Override
    public void onMessage(String message) {
      log("message " + message);
      heard += message;
    }

    @Override
    public void onHalfClose() {
      log("half-close");
      if (end.isOk()) {
        call.sendHeaders(new Metadata());
        call.sendMessage(heard);
      }
      call.close(end, new Metadata());
    }

    @Override
    public void onCancel() {
      log("cancel");
    }

    @Override
    public void onComplete() {
      log("complete");
    }
  }

  private static final class Text implements MethodDescriptor.Marshaller<String> {
    @Override
    public InputStream stream(String value) {
      return new ByteArrayInputStream(value.getBytes(UTF_8));
    }

    @Override
    public String parse(InputStream stream) {
      try {
        return new String(stream.readAllBytes(), UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
