package dev.weir.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A page in a browser, as a person sees it and uses it. */
final class BrowserPage {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int HEIGHT = 900;

  private final Chromium browser;
  private final String context;
  private final String session;
  private final List<String> requests = new ArrayList<>();
  private final List<String> console = new ArrayList<>();

  BrowserPage(Chromium browser, String context, String session) {
    this.browser = browser;
    this.context = context;
    this.session = session;
    browser.listen(session, this::event);
    for (String domain : List.of("Runtime", "Log", "Page", "Network")) {
      call(domain + ".enable", Map.of());
    }
  }

  private Map<String, @Nullable Object> call(String method, Map<String, ?> parameters) {
    return browser.call(session, method, parameters);
  }

  private void event(String method, Map<String, @Nullable Object> event) {
    String text =
        switch (method) {
          case "Runtime.consoleAPICalled" -> "console: " + event.get("args");
          case "Runtime.exceptionThrown" -> "exception: " + event.get("exceptionDetails");
          case "Log.entryAdded" -> "log: " + Chromium.object(event, "entry");
          default -> "";
        };
    if (method.equals("Network.requestWillBeSent")) {
      synchronized (console) {
        requests.add(String.valueOf(Chromium.object(event, "request").get("url")));
      }
    }
    if (!text.isEmpty()) {
      synchronized (console) {
        console.add(text);
      }
    }
  }

  String context() {
    return context;
  }

  /** Returns the number of requests for addresses that contain a text. */
  long requests(String part) {
    synchronized (console) {
      return requests.stream().filter(address -> address.contains(part)).count();
    }
  }

  /** Makes the page appear hidden, as if nobody could see it. */
  void hide() {
    run(
        "Object.defineProperty(document, 'hidden', {get: () => true}),"
            + " document.dispatchEvent(new Event('visibilitychange'))");
  }

  /** Returns the console's messages since the last call of this method. */
  List<String> console() {
    synchronized (console) {
      List<String> all = List.copyOf(console);
      console.clear();
      return all;
    }
  }

  void go(String address) {
    call("Page.navigate", Map.of("url", address));
  }

  /** Sets the size of the window and the colours that its user prefers. */
  void check(int width, boolean dark) {
    Map<String, Object> size = new LinkedHashMap<>();
    size.put("width", width);
    size.put("height", HEIGHT);
    size.put("deviceScaleFactor", 1);
    size.put("mobile", width < 500);
    call("Emulation.setDeviceMetricsOverride", size);
    Map<String, String> scheme =
        Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light");
    call("Emulation.setEmulatedMedia", Map.of("features", List.of(scheme)));
  }

  /** Returns the value of an expression; for a promise, the value when it is kept. */
  @Nullable Object value(String expression) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    parameters.put("expression", expression);
    parameters.put("awaitPromise", true);
    parameters.put("returnByValue", true);
    Map<String, @Nullable Object> answer = call("Runtime.evaluate", parameters);
    if (answer.containsKey("exceptionDetails")) {
      throw new IllegalStateException(String.valueOf(answer.get("exceptionDetails")));
    }
    return Chromium.object(answer, "result").get("value");
  }

  /** Runs an expression without returning its value. */
  void run(String expression) {
    Object done = value("(async () => { await (" + expression + "); return true; })()");
    if (!Boolean.TRUE.equals(done)) {
      throw new IllegalStateException(expression + ": " + done);
    }
  }

  /** Runs a script of statements. */
  void load(String script) {
    Object done = value(script + "\n;true");
    if (!Boolean.TRUE.equals(done)) {
      throw new IllegalStateException("script: " + done);
    }
  }

  /** Removes the console's messages. */
  void forget() {
    synchronized (console) {
      console.clear();
    }
  }

  String text(String selector) {
    return String.valueOf(value("document.querySelector(" + quoted(selector) + ").textContent"));
  }

  /**
   * Waits until an expression is true.
   *
   * @return the time that it took
   * @throws AssertionError if it is not true within 20 s
   */
  Duration until(String expression) {
    long begun = System.nanoTime();
    int interrupted = 0;
    while (true) {
      Duration left = PATIENCE.minusNanos(System.nanoTime() - begun);
      if (left.isNegative()) {
        String page = String.valueOf(value("document.body.innerText.slice(0, 2000)"));
        throw new AssertionError(
            "never true: "
                + expression
                + ", pages left meanwhile: "
                + interrupted
                + "\n"
                + page
                + "\nconsole: "
                + console());
      }
      try {
        // The browser waits, not this thread: it checks every 25 ms.
        Object found =
            value(
                "(async () => { const end = Date.now() + "
                    + Math.min(1_000, left.toMillis())
                    + "; while (Date.now() < end) { try { if ("
                    + expression
                    + ") return true; } catch {} await new Promise((r) => setTimeout(r, 25)); }"
                    + " return false; })()");
        if (Boolean.TRUE.equals(found)) {
          return Duration.ofNanos(System.nanoTime() - begun);
        }
      } catch (IllegalStateException leaving) {
        interrupted++; // The page was being left; the next one is checked.
      }
    }
  }

  /** Waits until the main part of the page has a text. */
  Duration untilShown(String text) {
    return until("document.body.innerText.includes(" + quoted(text) + ")");
  }

  /** Presses a button or link by its text. */
  void press(String text) {
    String found =
        "[...document.querySelectorAll('button, a, summary')].find((e) => !e.disabled &&"
            + " e.textContent.includes("
            + quoted(text)
            + "))";
    until(found);
    run(found + ".click()");
  }

  /** Types a text into a field as a person does, in place of its contents. */
  void type(String selector, String text) {
    String field = "document.querySelector(" + quoted(selector) + ")";
    until(field + " && !" + field + ".disabled");
    run(field + ".focus(), " + field + ".select?.()");
    call("Input.insertText", Map.of("text", text));
  }

  /** Presses a key, such as Tab or Enter. */
  void key(String name) {
    Map<String, Object> key = new LinkedHashMap<>();
    key.put("type", "rawKeyDown");
    key.put("key", name);
    key.put("code", name);
    key.put("windowsVirtualKeyCode", name.equals("Tab") ? 9 : name.equals("Enter") ? 13 : 0);
    if (name.equals("Enter")) {
      key.put("type", "keyDown");
      key.put("text", "\r");
    }
    call("Input.dispatchKeyEvent", key);
    key.put("type", "keyUp");
    key.remove("text");
    call("Input.dispatchKeyEvent", key);
  }

  /** Writes a picture of the page from its top, at most 4,000 pixels high. */
  void picture(Path file) throws IOException {
    Object height = value("Math.min(4000, document.documentElement.scrollHeight)");
    Object width = value("innerWidth");
    Map<String, Object> clip = new LinkedHashMap<>();
    clip.put("x", 0);
    clip.put("y", 0);
    clip.put("width", Objects.requireNonNull(width));
    clip.put("height", Objects.requireNonNull(height));
    clip.put("scale", 1);
    Map<String, @Nullable Object> shot =
        call(
            "Page.captureScreenshot",
            Map.of("format", "png", "captureBeyondViewport", true, "clip", clip));
    Files.write(file, Base64.getDecoder().decode(Chromium.text(shot, "data")));
  }

  /** Returns a text as a JavaScript string. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '"' || each == '\\' || each < ' ' || each == '<' || each > '~') {
        quoted.append("\\u%04x".formatted((int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }
}
