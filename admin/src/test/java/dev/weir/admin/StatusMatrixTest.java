package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.AdminFixture.Sending;
import dev.weir.admin.internal.access.Token;
import dev.weir.admin.internal.http.Route;
import dev.weir.rules.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Tests of every route with every kind of sender: the table of statuses in {@code docs/admin.md}.
 * {@code -Dweir.admin=write} writes the table.
 */
class StatusMatrixTest {
  private static final Path PAGE = Path.of("..", "docs", "admin.md");
  private static final String BEGIN = "<!-- statuses -->\n";
  private static final String END = "<!-- end of statuses -->\n";

  /** The kinds of senders, as the columns of the table. */
  private enum Sender {
    NO_TOKEN("no token"),
    VIEWER("viewer"),
    EDITOR("editor"),
    OPERATOR("operator"),
    EXPIRED("expired"),
    REVOKED("revoked"),
    CROSS_SITE("cross-site"),
    FOREIGN_HOST("other host");

    private final String title;

    Sender(String title) {
      this.title = title;
    }
  }

  /** Returns requests that succeed for permitted senders, by the name of the route. */
  private static Map<String, Example> examples() {
    Map<String, Example> examples = new HashMap<>();
    String reason = "'reason':'a test'";
    examples.put("POST /session", Example.of("/session", "{'token':'TOKEN'}"));
    examples.put(
        "POST /tokens", Example.of("/tokens", "{'name':'ci','role':'viewer'," + reason + "}"));
    examples.put("DELETE /tokens/{id}", Example.of("/tokens/SPARE?reason=test", ""));
    examples.put("GET /rules/files/{name}", Example.of("/rules/files/shop.yaml", ""));
    examples.put(
        "POST /rules/check", Example.of("/rules/check", "{'files':{'a.yaml':'domain: a'}}"));
    examples.put(
        "PATCH /rules",
        Example.of("/rules", "{'put':{'a.yaml':'domain: a'}," + reason + "}").tag("\"r1\""));
    examples.put(
        "POST /rules/rollback",
        Example.of("/rules/rollback", "{'to':1," + reason + "}").tag("\"r1\""));
    examples.put("GET /rules/revisions/{revision}", Example.of("/rules/revisions/1", ""));
    examples.put("GET /rules/diff", Example.of("/rules/diff?from=1&to=1", ""));
    examples.put("GET /limits", Example.of("/limits?domain=shop&key=user", ""));
    examples.put("POST /limits/import", Example.of("/limits/import?reason=test", "{}"));
    String record = "/limits/shop/user/alice";
    String path = "/limits/{domain}/{key}/{value}";
    examples.put("GET " + path, Example.of(record, ""));
    examples.put("PUT " + path, Example.of(record, "{" + reason + "}").tag("*"));
    examples.put("PATCH " + path, Example.of(record, "{" + reason + "}").tag("*"));
    examples.put("DELETE " + path, Example.of(record + "?reason=test", "").tag("*"));
    String described = "'domain':'shop','descriptor':{'ip':'1.2.3.4'}";
    examples.put("POST /explain", Example.of("/explain", "{" + described + "}"));
    examples.put("POST /reset", Example.of("/reset", "{" + described + "," + reason + "}"));
    examples.put(
        "POST /dry-runs",
        Example.of("/dry-runs", "{'rules':{'put':{'a.yaml':'domain: a'}},'minutes':60}"));
    examples.put("POST /reveal", Example.of("/reveal", "{'ref':'REF'," + reason + "}"));
    examples.put("GET /dry-runs/{id}", Example.of("/dry-runs/DRYRUN", ""));
    examples.put("GET /dry-runs/{id}/report", Example.of("/dry-runs/DRYRUN/report", ""));
    examples.put("DELETE /dry-runs/{id}", Example.of("/dry-runs/DRYRUN", ""));
    return examples;
  }

  private record Example(String address, String body, String tag) {
    static Example of(String address, String body) {
      return new Example(address, body, "");
    }

    Example tag(String value) {
      return new Example(address, body, value);
    }
  }

  private static int status(String method, Example example, Sender sender) {
    AdminFixture admin = new AdminFixture();
    admin
        .send("PUT", "/limits/shop/user/alice")
        .by(admin.editor)
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(201);
    String expired =
        Tokens.create(
                admin.store, "old", Role.OPERATOR, Tokens.MIN_TTL, AdminFixture.CAUSE, admin.ticker)
            .text();
    String revoked = admin.token(Role.OPERATOR);
    String spare = Token.idOf(admin.token(Role.VIEWER));
    assertThat(Tokens.revoke(admin.store, Token.idOf(revoked), AdminFixture.CAUSE)).isTrue();
    admin.advance(Duration.ofMinutes(2));
    String token =
        switch (sender) {
          case NO_TOKEN -> "";
          case VIEWER -> admin.viewer;
          case EDITOR -> admin.editor;
          case EXPIRED -> expired;
          case REVOKED -> revoked;
          default -> admin.operator;
        };
    String address = example.address().replace("SPARE", spare);
    if (address.startsWith("/dry-runs")) {
      admin.traffic.add(Request.of("shop", "user", "alice"));
      address = address.contains("DRYRUN") ? address.replace("DRYRUN", admin.dryRun()) : address;
    }
    Sending sending = admin.send(method, address);
    if (sender == Sender.CROSS_SITE) {
      Answer login = admin.send("POST", "/session").json("{'token':'" + token + "'}").now().is(204);
      sending.cookie(login.field("Set-Cookie").split(";", 2)[0]);
      sending.field("Sec-Fetch-Site", "cross-site");
    } else if (!token.isEmpty()) {
      sending.by(token);
    }
    if (sender == Sender.FOREIGN_HOST) {
      sending.field("Host", "evil.example");
    }
    if (!example.body().isEmpty()) {
      String body = example.body().replace("TOKEN", token);
      sending.json(body.contains("REF") ? body.replace("REF", admin.refusedRef()) : body);
    }
    if (!example.tag().isEmpty()) {
      sending.field("If-Match", example.tag());
    }
    return sending.now().status();
  }

  private static Map<String, Map<Sender, Integer>> matrix() {
    Map<String, Example> examples = examples();
    Map<String, Map<Sender, Integer>> matrix = new LinkedHashMap<>();
    for (Route route : new AdminFixture().api.routes()) {
      Example example = examples.getOrDefault(route.toString(), Example.of(route.path(), ""));
      Map<Sender, Integer> row = new LinkedHashMap<>();
      for (Sender sender : Sender.values()) {
        row.put(sender, status(route.method(), example, sender));
      }
      matrix.put(route.toString(), row);
    }
    return matrix;
  }

  @Test
  void statusesOfEveryone_areThoseOfThePage() throws IOException {
    Map<String, Map<Sender, Integer>> matrix = matrix();
    StringBuilder table = new StringBuilder("| |");
    for (Sender sender : Sender.values()) {
      table.append(' ').append(sender.title).append(" |");
    }
    table.append("\n|---|").append("---|".repeat(Sender.values().length)).append('\n');
    matrix.forEach(
        (route, row) -> {
          table.append("| `").append(route).append("` |");
          row.values().forEach(status -> table.append(' ').append(status).append(" |"));
          table.append('\n');
        });
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    if ("write".equals(System.getProperty("weir.admin"))) {
      Files.writeString(PAGE, page.substring(0, begin) + table + page.substring(end));
    } else {
      assertThat(page.substring(begin, end)).isEqualTo(table.toString());
    }
  }

  /** The page could be rewritten with a wrong status in it; these rules hold for every route. */
  @Test
  void onlyThoseWhoMay_areLetIn() {
    for (Map.Entry<String, Map<Sender, Integer>> row : matrix().entrySet()) {
      Route route =
          new AdminFixture()
              .api.routes().stream()
                  .filter(each -> each.toString().equals(row.getKey()))
                  .findFirst()
                  .orElseThrow();
      Role needed = route.role();
      Map<Sender, Integer> status = row.getValue();
      assertThat(status.get(Sender.FOREIGN_HOST)).as(row.getKey()).isEqualTo(421);
      if (route.unsafe()) {
        assertThat(status.get(Sender.CROSS_SITE)).as(row.getKey()).isEqualTo(403);
      }
      assertThat(status.get(Sender.OPERATOR)).as(row.getKey()).isLessThan(300);
      if (needed == null) {
        continue;
      }
      for (Sender none : List.of(Sender.NO_TOKEN, Sender.EXPIRED, Sender.REVOKED)) {
        assertThat(status.get(none)).as(row.getKey()).isEqualTo(401);
      }
      for (Role role : Role.values()) {
        int given = status.getOrDefault(Sender.valueOf(role.name()), 0);
        if (role.includes(needed)) {
          assertThat(given).as(row.getKey()).isLessThan(300);
        } else {
          assertThat(given).as(row.getKey()).isEqualTo(403);
        }
      }
    }
  }
}
