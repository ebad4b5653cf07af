package dev.weir.admin.internal.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DashboardFilesTest {
  private static final Path PAGES = Path.of("src/main/resources/dev/weir/admin/dashboard");

  private final AdminFixture admin = new AdminFixture();

  private AdminResponse request(String method, String path, Map<String, List<String>> fields) {
    return admin.api.handle(
        new AdminRequest(
            method, path, "", fields, new ByteArrayInputStream(new byte[0]), "192.0.2.1", false));
  }

  private AdminResponse get(String path) {
    return request("GET", path, Map.of("host", List.of("localhost:8090")));
  }

  private static String body(AdminResponse response) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    response.body().forEachRemaining(bytes::writeBytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private String base() {
    Matcher matcher = Pattern.compile("/dashboard/_[0-9a-f]{16}").matcher(body(get("/dashboard/")));
    assertThat(matcher.find()).isTrue();
    return matcher.group();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/dashboard/", "/dashboard/rules", "/dashboard/customers/shop/user/a%2Fb"})
  void everyPage_isTheFirstOne_askedForEachTime(String path) {
    AdminResponse page = get(path);
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.fields())
        .containsEntry("Content-Type", "text/html; charset=utf-8")
        .containsEntry("Cache-Control", "no-cache")
        .containsEntry("X-Frame-Options", "DENY")
        .containsKey("ETag");
    assertThat(page.fields().get("Content-Security-Policy"))
        .startsWith("default-src 'none'; script-src 'self'")
        .contains("require-trusted-types-for 'script'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(body(page)).contains("<title>Weir</title>").doesNotContain("{{");
  }

  @Test
  void pageThatIsKnown_isNotSentAgain() {
    String tag = String.valueOf(get("/dashboard/").fields().get("ETag"));
    AdminResponse known =
        request(
            "GET",
            "/dashboard/",
            Map.of("host", List.of("localhost"), "if-none-match", List.of(tag)));
    assertThat(known.status()).isEqualTo(304);
    assertThat(body(known)).isEmpty();
  }

  @Test
  void file_isUnderTheHashOfAll_andMayBeKeptForEver() {
    AdminResponse file = get(base() + "/app.js");
    assertThat(file.status()).isEqualTo(200);
    assertThat(file.fields())
        .containsEntry("Content-Type", "text/javascript; charset=utf-8")
        .containsEntry("Cache-Control", "public, max-age=31536000, immutable")
        .containsEntry("X-Content-Type-Options", "nosniff");
    assertThat(body(file)).contains("export");
    assertThat(get("/dashboard/_0123456789abcdef/app.js").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/secret.js",
        "/../openapi-admin.json",
        "/%2e%2e/openapi-admin.json",
        "/..%2fopenapi-admin.json",
        "//app.js",
        "/./app.js",
        "/app.js/",
        "/app.js%00",
        "\\app.js",
        ""
      })
  void fileThatIsNotListed_isNotThere(String name) {
    assertThat(get(base() + name).status()).isEqualTo(404);
  }

  @Test
  void otherPaths_areNotPages() {
    assertThat(get("/dashboard").status()).isEqualTo(308);
    assertThat(get("/dashboard").fields()).containsEntry("Location", "/dashboard/");
    assertThat(get("/dashboard/app.js").status()).isEqualTo(404);
    assertThat(get("/dashboard/../admin/v1/tokens").status()).isEqualTo(404);
    assertThat(get("/dashboardx").status()).isEqualTo(404);
    assertThat(request("POST", "/dashboard/", Map.of("host", List.of("localhost"))).status())
        .isEqualTo(405);
  }

  @Test
  void anotherHost_isRefused() {
    assertThat(request("GET", "/dashboard/", Map.of("host", List.of("evil.example"))).status())
        .isEqualTo(421);
  }

  @Test
  void folderWithoutAList_hasNoPages() {
    DashboardFiles none = new DashboardFiles("no-such-folder");
    AdminRequest request =
        new AdminRequest(
            "GET", "/dashboard/", "", Map.of(), new ByteArrayInputStream(new byte[0]), "", false);
    assertThatThrownBy(() -> none.answer(request)).isInstanceOf(RequestException.class);
  }

  /** The list of the real pages contains every file of the folder, and no other. */
  @Test
  void list_hasEveryFile() throws IOException {
    List<String> there = List.of();
    List<String> listed = List.of();
    if (Files.isDirectory(PAGES)) {
      try (Stream<Path> files = Files.list(PAGES)) {
        there =
            files
                .map(file -> String.valueOf(file.getFileName()))
                .filter(name -> !name.equals(DashboardFiles.LIST))
                .sorted()
                .toList();
      }
      listed = Files.readAllLines(PAGES.resolve(DashboardFiles.LIST));
    }
    assertThat(listed).isEqualTo(there);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "br", "gzip;q=0", "gzip; q=0.0, br", "x-gzipped"})
  void otherEncodings_getPlainFiles(String encodings) {
    Map<String, List<String>> fields =
        Map.of("host", List.of("localhost:8090"), "accept-encoding", List.of(encodings));
    AdminResponse answer = request("GET", base() + "/app.js", fields);
    assertThat(answer.fields()).doesNotContainKey("Content-Encoding");
    assertThat(body(answer)).contains("export");
  }
}
