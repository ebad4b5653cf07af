package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.internal.http.DashboardFiles;
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
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** Tests of the pages as they are sent, and of constructs that their sources must not have. */
class DashboardPagesTest {
  private static final Path PAGES = Path.of("src/main/resources/dev/weir/admin/dashboard");
  private static final int MOST_BYTES = 60 << 10;

  private final DashboardFiles files = new DashboardFiles("dashboard");

  private AdminResponse get(String path, Map<String, List<String>> fields) {
    return files.answer(
        new AdminRequest(
            "GET", path, "", fields, new ByteArrayInputStream(new byte[0]), "192.0.2.1", false));
  }

  private static List<String> names() throws IOException {
    return Files.readAllLines(PAGES.resolve("files.txt"));
  }

  private static byte[] body(AdminResponse response) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    response.body().forEachRemaining(bytes::writeBytes);
    return bytes.toByteArray();
  }

  @Test
  void allFiles_takeAtMost60KilobytesOfTheWire() throws IOException {
    byte[] page = body(get("/dashboard/", Map.of()));
    Matcher base =
        Pattern.compile("/dashboard/_[0-9a-f]{16}")
            .matcher(new String(page, StandardCharsets.UTF_8));
    assertThat(base.find()).isTrue();
    int all = page.length;
    for (String name : names()) {
      if (!name.equals("index.html")) {
        AdminResponse answer =
            get(base.group() + "/" + name, Map.of("accept-encoding", List.of("gzip, deflate, br")));
        assertThat(answer.fields()).containsEntry("Content-Encoding", "gzip");
        byte[] bytes = body(answer);
        all += bytes.length;
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
          assertThat(in.readAllBytes()).isEqualTo(Files.readAllBytes(PAGES.resolve(name)));
        }
      }
    }
    assertThat(all).as("bytes of all files").isBetween(1, MOST_BYTES);
  }

  /** Nothing is loaded from elsewhere, and no text is ever taken for markup. */
  @Test
  void sources_haveNoWayToRunATextAndNoForeignAddress() throws IOException {
    for (String name : names()) {
      assertThat(Files.readString(PAGES.resolve(name)).replace("http://www.w3.org/2000/svg", ""))
          .as(name)
          .doesNotContain(
              "innerHTML",
              "outerHTML",
              "insertAdjacentHTML",
              "document.write",
              "eval(",
              "new Function",
              "style=",
              "http://",
              "https://");
    }
  }
}
