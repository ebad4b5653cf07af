package dev.weir.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A Chromium without a window, controlled by its DevTools protocol. */
final class Chromium implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern LISTENING = Pattern.compile("^DevTools listening on (\\S+)");
  private static final int SECONDS = 60;

  private final ChildProcess process;
  private final WebSocket socket;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<Map<String, @Nullable Object>>> answers =
      new ConcurrentHashMap<>();
  private final Map<String, BiConsumer<String, Map<String, @Nullable Object>>> listeners =
      new ConcurrentHashMap<>();

  private Chromium(ChildProcess process, String address) {
    this.process = process;
    socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(URI.create(address), new Messages())
            .join();
  }

  /**
   * Starts a browser.
   *
   * @param profile the folder for its profile, empty
   */
  static Chromium start(String command, Path profile) throws IOException {
    ChildProcess process =
        ChildProcess.of(
                command,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .start();
    try {
      return new Chromium(process, process.await(LISTENING).group(1));
    } catch (IOException | RuntimeException e) {
      process.close();
      throw e;
    }
  }

  /** Opens a page in its own context: without the cookies of other pages. */
  BrowserPage open() {
    return open(text(call("", "Target.createBrowserContext", Map.of()), "browserContextId"));
  }

  /** Opens a page in a window beside another one, with its cookies: both are visible. */
  BrowserPage openBeside(BrowserPage other) {
    return open(other.context());
  }

  private BrowserPage open(String context) {
    Map<String, Object> blank =
        Map.of("url", "about:blank", "browserContextId", context, "newWindow", true);
    String target = text(call("", "Target.createTarget", blank), "targetId");
    Map<String, Object> flat = Map.of("targetId", target, "flatten", true);
    String session = text(call("", "Target.attachToTarget", flat), "sessionId");
    return new BrowserPage(this, context, session);
  }

  /** Adds a listener for the events of a session. */
  void listen(String session, BiConsumer<String, Map<String, @Nullable Object>> listener) {
    listeners.put(session, listener);
  }

  /** Calls a method of the protocol, and waits for its answer. */
  Map<String, @Nullable Object> call(String session, String method, Map<String, ?> parameters) {
    long id = ids.incrementAndGet();
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("id", id);
    message.put("method", method);
    message.put("params", parameters);
    if (!session.isEmpty()) {
      message.put("sessionId", session);
    }
    CompletableFuture<Map<String, @Nullable Object>> answer = new CompletableFuture<>();
    answers.put(id, answer);
    synchronized (socket) {
      socket.sendText(write(message), true).join();
    }
    Map<String, @Nullable Object> found = answer.orTimeout(SECONDS, TimeUnit.SECONDS).join();
    if (found.containsKey("error")) {
      throw new IllegalStateException(method + ": " + found.get("error"));
    }
    return object(found, "result");
  }

  @SuppressWarnings("unchecked") // Names in JSON are texts.
  static Map<String, @Nullable Object> object(Map<String, @Nullable Object> from, String name) {
    Object found = from.get(name);
    return found == null ? Map.of() : (Map<String, @Nullable Object>) found;
  }

  static String text(Map<String, @Nullable Object> from, String name) {
    return String.valueOf(Objects.requireNonNull(from.get(name), name));
  }

  private static String write(Map<String, ?> message) {
    try {
      return JSON.writeValueAsString(message);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, @Nullable Object> read(String text) {
    try {
      return JSON.readerForMapOf(Object.class).readValue(text);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void received(String text) {
    Map<String, @Nullable Object> message = read(text);
    Object id = message.get("id");
    if (id != null) {
      CompletableFuture<Map<String, @Nullable Object>> answer =
          answers.remove(((Number) id).longValue());
      if (answer != null) {
        answer.complete(message);
      }
      return;
    }
    BiConsumer<String, Map<String, @Nullable Object>> listener =
        listeners.get(String.valueOf(message.get("sessionId")));
    if (listener != null) {
      listener.accept(text(message, "method"), object(message, "params"));
    }
  }

  /** A listener that puts the parts of messages together. */
  private final class Messages implements WebSocket.Listener {
    private final StringBuilder parts = new StringBuilder();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      parts.append(data);
      if (last) {
        String whole = parts.toString();
        parts.setLength(0);
        received(whole);
      }
      from.request(1);
      return null;
    }
  }

  @Override
  public void close() {
    socket.abort();
    process.close();
  }
}
