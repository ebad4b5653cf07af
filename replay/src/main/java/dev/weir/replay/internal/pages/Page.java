package dev.weir.replay.internal.pages;

import dev.weir.internal.IoCauses;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A page of HTML that needs no network and no script. */
public final class Page {
  private Page() {}

  /** Returns the page around its content. */
  public static String of(String title, String content) {
    return new Html()
        .raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<meta name=\"color-scheme\" content=\"light dark\">\n")
        // Anybody can write into a log. Even if a part of it got through unescaped, it could do
        // nothing.
        .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ")
        .raw("style-src 'unsafe-inline'; img-src data:\">\n")
        .raw("<link rel=\"icon\" href=\"data:,\">\n")
        .element("title", title)
        .raw("\n<style>\n" + style() + "</style></head>\n<body><main>\n")
        .raw(content)
        .raw("</main></body></html>\n")
        .toString();
  }

  /**
   * Writes the page of a report.
   *
   * @throws IOException that names the option and the file
   */
  public static void write(Path file, String page) throws IOException {
    // No channel: an interrupt, which ends the reading, would close it.
    try (OutputStream out = new FileOutputStream(file.toFile())) {
      out.write(page.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IOException("report: " + IoCauses.file(file, e), e);
    }
  }

  private static String style() {
    try (InputStream in = Page.class.getResourceAsStream("/dev/weir/replay/page.css")) {
      if (in == null) {
        throw new IllegalStateException("page.css: missing (expected: beside the classes)");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
