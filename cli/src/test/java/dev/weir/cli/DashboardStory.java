package dev.weir.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A test of the dashboard as a person uses it, in a real browser, against a server in a separate
 * process. {@code .ci/smoke-dashboard} runs it, because Maven alone has no browser.
 */
final class DashboardStory {
  /** A script that runs if a page takes a text for markup. */
  private static final String HOSTILE =
      "<img src=x onerror=window.hacked=1><script>hacked=1</script>";

  private static final String RULES =
      """
      domain: shop
      plans:
        gold: {user-minute: {requests_per_unit: 10}}
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 2, by: user}
        - key: path
          rate_limit: {name: path, unit: minute, requests_per_unit: 1000}
      """;

  private static final Duration SEEN_WITHIN = Duration.ofSeconds(2);

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path folder;
  private final String data;
  private final String token;
  private Served served;

  private DashboardStory(Path folder) throws IOException, InterruptedException {
    this.folder = folder;
    data = folder.resolve("data").toString();
    token = weir("tokens", "create", "--data-dir", data, "--name", "me", "--role", "operator");
    Files.writeString(folder.resolve("token"), token);
    served = serve("0");
    Path rules = folder.resolve("shop.yaml");
    Files.writeString(rules, RULES);
    admin("rules", "push", rules.toString(), "--reason", "the first rules", "--wait");
  }

  /**
   * Runs the story.
   *
   * @param arguments the browser's command, an empty folder, and the file of axe-core
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[1]);
    DashboardStory story = new DashboardStory(folder);
    try (Chromium browser = Chromium.start(arguments[0], folder.resolve("profile"))) {
      BrowserPage page = browser.open();
      story.signIn(page);
      story.refusal(page);
      story.tabs(browser, page);
      story.rule(page);
      story.edit(page);
      story.rollBack(page);
      story.customer(page);
      story.why(page);
      new DashboardPages(page, story.root(), Path.of(arguments[2])).check();
      new DashboardCharts(page, story.root()).check();
      story.restart(page);
      story.revoked(browser.open());
      if (Boolean.TRUE.equals(page.value("'hacked' in window"))) {
        throw new AssertionError("a hostile text has run");
      }
    } finally {
      story.served.close();
    }
  }

  private static void print(String text) {
    System.out.println("smoke: " + text);
  }

  private static void require(boolean truth, String expected) {
    if (!truth) {
      throw new AssertionError("expected: " + expected);
    }
  }

  private static void requireQuiet(BrowserPage page) {
    List<String> console = page.console();
    require(console.isEmpty(), "nothing in the console, but it has " + console);
  }

  private Served serve(String adminPort) throws IOException, InterruptedException {
    return Served.serve(
        List.of(),
        List.of("--enable-native-access=ALL-UNNAMED"),
        Main.class,
        "--data-dir",
        data,
        "--record-traffic",
        "1h",
        "--show-keys",
        "plain",
        "--admin-port",
        adminPort);
  }

  private String root() {
    return "http://127.0.0.1:" + served.adminPort() + "/dashboard/";
  }

  private static String weir(String... arguments) {
    Ran ran = Ran.weir(arguments);
    require(ran.status() == 0, "exit status 0: " + ran.err());
    return ran.out().trim();
  }

  private String admin(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    String server = "http://127.0.0.1:" + served.adminPort();
    String file = folder.resolve("token").toString();
    all.addAll(List.of("--server", server, "--token-file", file));
    return weir(all.toArray(new String[0]));
  }

  private String send(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + served.adminPort() + "/admin/v1" + path))
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString(UTF_8)).body();
  }

  /** Sends a request for a decision, and returns the status. */
  private int request(String user) throws IOException, InterruptedException {
    String body =
        "{\"domain\":\"shop\",\"descriptor\":{\"user\":" + BrowserPage.quoted(user) + "}}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + served.httpPort() + "/v1/check"))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString(UTF_8)).statusCode();
  }

  private void signIn(BrowserPage page) throws IOException {
    page.check(1280, false);
    String printed = admin("dashboard");
    Matcher link = Pattern.compile("http://\\S+/dashboard/#code=\\S+").matcher(printed);
    require(link.find(), "a link, but weir dashboard said " + printed);
    page.go(link.group());
    page.untilShown("No requests in the last 10 minutes");
    page.until("location.hash === '' && document.querySelector('.pulse.on')");
    Object paint = page.value("Math.round(performance.getEntriesByType('paint').at(-1).startTime)");
    print("signed in by a link; first paint after " + paint + " ms");
    requireQuiet(page);
  }

  private void refusal(BrowserPage page) throws IOException, InterruptedException {
    for (int i = 0; i < 2; i++) {
      require(request(HOSTILE) == 200, "200 within the limit");
    }
    Duration seen;
    int refused = 0;
    do { // If the machine stands still meanwhile, the refusal is late; then there is another one.
      require(request(HOSTILE) == 429, "429 beyond the limit");
      refused++;
      seen = page.until("document.body.innerText.split('over limit').length > " + refused);
    } while (seen.compareTo(SEEN_WITHIN) > 0 && refused < 8);
    require(seen.compareTo(SEEN_WITHIN) <= 0, "a refusal on the page within 2 s, not " + seen);
    print("a refusal is seen after " + seen.toMillis() + " ms");
    String percent = String.format(Locale.ROOT, "%.1f", 100.0 * refused / (2 + refused));
    page.until(
        "document.querySelector('h1').textContent.includes('" + percent.replace(".0", "") + " %')");
    requireQuiet(page);
  }

  /**
   * Checks that one of two tabs has the stream, and that the other one gets it if that tab is
   * hidden.
   */
  private void tabs(Chromium browser, BrowserPage page) throws IOException, InterruptedException {
    BrowserPage first = browser.openBeside(page);
    page.go("about:blank");
    page.until("location.href === 'about:blank'");
    first.go(root());
    first.until("document.querySelector('.pulse.on')");
    BrowserPage second = browser.openBeside(page);
    second.go(root());
    second.until("document.querySelector('.pulse.on')");
    require(
        first.requests("/v1/live") == 1,
        "one stream of the first tab, not " + first.requests("/v1/live"));
    require(second.requests("/v1/live") == 0, "no stream of the second tab");
    first.hide();
    first.untilShown("paused");
    require(request("dora") == 200, "200 within the limit");
    second.until("document.querySelector('h1').textContent.includes('25 %')");
    require(second.requests("/v1/live") == 1, "one stream of the tab that is left");
    first.go("about:blank");
    second.go("about:blank");
    print("two tabs share one stream; a hidden one has none");
    requireQuiet(second);
  }

  private void rule(BrowserPage page) throws IOException, InterruptedException {
    page.go(root() + "rule?rule=shop.user");
    page.untilShown("25 % of 4 permits refused");
    for (int i = 0; i < 4; i++) {
      require(request("zed") == (i < 2 ? 200 : 429), "200 within the limit, 429 beyond it");
    }
    page.untilShown("37.5 % of 8 permits refused");
    requireQuiet(page);
  }

  private void edit(BrowserPage page) throws IOException, InterruptedException {
    page.go(root() + "edit?file=shop.yaml");
    page.until(
        "document.querySelector('.editor textarea').value.includes('requests_per_unit: 2,')");
    page.type(
        ".editor textarea",
        RULES.replace("unit: minute, requests_per_unit: 2", "unit: minutes, requests_per_unit: 5"));
    page.until("document.querySelector('.lines .error').textContent === '6'");
    page.until("[...document.querySelectorAll('button.go')].every((e) => e.disabled)");
    page.untilShown("to mend before this can be put in force");
    page.press("line 6");
    page.until("document.activeElement.tagName === 'TEXTAREA'");
    page.type(
        ".editor textarea",
        RULES.replace("requests_per_unit: 2,", "requests_per_unit: 5,") + "# " + HOSTILE + "\n");
    page.untilShown("shop.user: 2 per minute -> 5 per minute");
    page.until("document.querySelector('.diff .plus')");
    page.press("Dry run");
    page.untilShown("3 fewer requests would be refused");
    page.type("input[minlength='3']", HOSTILE);
    page.press("Put in force");
    page.untilShown("Revision 2 is in force");
    require(request(HOSTILE) == 200, "200 under the new limit");
    print("rules edited with an error, mended, tried on recorded traffic and put in force");
    requireQuiet(page);
  }

  private void rollBack(BrowserPage page) throws IOException, InterruptedException {
    page.until("location.pathname.endsWith('/changes')");
    page.untilShown(HOSTILE);
    page.press("rules r2");
    page.type(".log input", "too many");
    page.press("Undo");
    page.untilShown("Revision 3 is in force, with the rules of revision 1");
    require(request(HOSTILE) == 429, "429 under the old limit");
    page.go(root() + "changes?kind=rules");
    page.untilShown("rules r3");
    page.untilShown("too many");
    page.press("Verify the log");
    page.untilShown("are as they were written");
    print("rolled back; the log of changes has it and is verified");
    requireQuiet(page);
  }

  private void customer(BrowserPage page) throws IOException, InterruptedException {
    page.go(root() + "customers?domain=shop&key=user&value=alice");
    page.untilShown("alice has 2 of 2 left in 1 min");
    page.press("Add a limit of its own");
    page.type("input[type=number]", "7");
    page.type("input[required][minlength='3']", "a sale");
    page.press("Save");
    page.untilShown("alice has 7 of 7 left in 1 min");
    page.go(root() + "customers?domain=shop&key=user");
    page.untilShown("user-minute: 7");
    print("a customer has a limit of its own");
    requireQuiet(page);
  }

  private void why(BrowserPage page) throws IOException, InterruptedException {
    page.go(root() + "why");
    page.type("textarea", "user=" + HOSTILE.replace("=", "-"));
    page.key("Tab");
    page.key("Enter");
    page.untilShown("It would pass now");
    page.untilShown("has this key and takes every value");
    print("a request is explained, by keyboard");
    requireQuiet(page);
  }

  private void restart(BrowserPage page) throws IOException, InterruptedException {
    String adminPort = Integer.toString(served.adminPort());
    page.go(root() + "?span=6h");
    page.untilShown("requests refused in the last 6 hours");
    served.process().terminate();
    require(served.process().endsWithin(Duration.ofMinutes(1)), "an end within a minute");
    served.close();
    served = serve(adminPort);
    page.go(root() + "?span=6h");
    page.untilShown("Sign in to Weir");
    page.forget(); // The browser itself logs a refused request.
    page.type("input[name=token]", token);
    page.press("Sign in");
    page.untilShown("requests refused in the last 6 hours");
    print("the history is there after a restart: " + page.text("h1"));
    requireQuiet(page);
  }

  private void revoked(BrowserPage page) throws IOException, InterruptedException {
    String other =
        send("POST", "/tokens", "{\"name\":\"guest\",\"role\":\"viewer\",\"reason\":\"a visit\"}");
    Matcher made = Pattern.compile("\"id\":\"(\\w+)\".*\"token\":\"([\\w-]+)\"").matcher(other);
    require(made.find(), "a token, but it was " + other);
    page.check(1280, true);
    page.go(root());
    page.type("input[name=token]", made.group(2));
    page.press("Sign in");
    page.until("document.querySelector('.pulse.on')");
    page.untilShown("guest, viewer");
    String answer = send("DELETE", "/tokens/" + made.group(1) + "?reason=gone", "");
    require(answer.isEmpty(), "204, but it was " + answer);
    Duration ended = page.untilShown("Your session has ended");
    print("a revoked token ends the session after " + ended.toMillis() + " ms");
  }
}
