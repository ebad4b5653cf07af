package dev.weir.admin.internal.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.internal.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** The files of the pages for browsers, under {@code /dashboard}. Immutable. */
public final class DashboardFiles {
  /*
   * How are files named, and why? A browser may keep a file for ever if its address changes with
   * its content. So all files but the first are in a folder whose name contains the hash of all of
   * them. They refer to each other by their plain names, and no build has to rewrite them. The
   * first page names the folder and is requested each time.
   *
   * Names are looked up in a map of the listed files: no path is ever passed to a file system.
   */
  static final String PATH = "/dashboard";
  static final String LIST = "files.txt";

  private static final String INDEX = "index.html";
  private static final String BASE = "{{base}}";
  private static final int HASH_DIGITS = 16;

  /** A list of encodings that contains gzip, and does not exclude it by a weight of zero. */
  private static final String GZIP = "(?i).*\\bgzip\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$)).*";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png",
          "ico", "image/x-icon",
          "json", "application/json",
          "woff2", "font/woff2");

  private static final Map<String, String> STRICT = strict();

  private static Map<String, String> strict() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
            + " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'");
    fields.put("X-Content-Type-Options", "nosniff");
    fields.put("Referrer-Policy", "no-referrer");
    fields.put("Cross-Origin-Opener-Policy", "same-origin");
    fields.put("Cross-Origin-Resource-Policy", "same-origin");
    fields.put("X-Frame-Options", "DENY");
    fields.put("Vary", "Accept-Encoding");
    return fields;
  }

  private final Map<String, byte[]> files = new TreeMap<>();
  private final Map<String, byte[]> packed = new TreeMap<>();
  private final String hash;
  private final byte @Nullable [] index;

  /**
   * @param folder below the resources of {@code dev.weir.admin}; one without a list has no files
   */
  public DashboardFiles(String folder) {
    try {
      byte[] list = read(folder + "/" + LIST);
      for (String name : new String(list == null ? new byte[0] : list, UTF_8).split("\n", -1)) {
        if (!name.isEmpty()) {
          byte[] file = name.matches("[a-z0-9-]+\\.[a-z0-9]+") ? read(folder + "/" + name) : null;
          if (file == null || !TYPES.containsKey(ending(name))) {
            throw new IllegalStateException(
                folder + "/" + LIST + ": " + name + " (expected: files that are there)");
          }
          files.put(name, file);
          packed.put(name, packed(file));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    hash = hash(files);
    byte[] page = files.get(INDEX);
    index =
        page == null
            ? null
            : new String(page, UTF_8).replace(BASE, PATH + "/_" + hash).getBytes(UTF_8);
  }

  private static byte @Nullable [] read(String name) throws IOException {
    try (InputStream in = DashboardFiles.class.getResourceAsStream("/dev/weir/admin/" + name)) {
      return in == null ? null : in.readAllBytes();
    }
  }

  private static byte[] packed(byte[] file) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream to = new GZIPOutputStream(bytes)) {
      to.write(file);
    }
    return bytes.toByteArray();
  }

  private static String ending(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  private static String hash(Map<String, byte[]> files) {
    MessageDigest digest = Sha256.digest();
    files.forEach(
        (name, bytes) -> {
          digest.update((name + "\n" + bytes.length + "\n").getBytes(UTF_8));
          digest.update(bytes);
        });
    return HexFormat.of().formatHex(digest.digest()).substring(0, HASH_DIGITS);
  }

  /** Returns whether a path belongs to the pages. */
  public static boolean has(String path) {
    return path.equals(PATH) || path.startsWith(PATH + "/");
  }

  /**
   * Returns the answer to a request for a path of the pages.
   *
   * @throws RequestException with 404 or 405
   */
  public AdminResponse answer(AdminRequest request) {
    if (!request.method().equals("GET")) {
      throw new RequestException(405, ShownText.wrong("method", request.method(), "GET"))
          .field("Allow", "GET");
    }
    String path = request.path();
    if (path.equals(PATH)) {
      Map<String, String> fields = new HashMap<>(STRICT);
      fields.put("Location", PATH + "/");
      return new AdminResponse(308, fields, List.of(new byte[0]).iterator());
    }
    String behind = path.substring(PATH.length() + 1);
    return behind.startsWith("_") ? file(request, path, behind) : page(request, path, behind);
  }

  private AdminResponse file(AdminRequest request, String path, String behind) {
    String folder = "_" + hash + "/";
    String name = behind.startsWith(folder) ? behind.substring(folder.length()) : "";
    byte[] file = files.get(name);
    byte[] less = packed.get(name);
    if (file == null || less == null) {
      throw nothing(path);
    }
    boolean packs =
        request.fields().getOrDefault("accept-encoding", List.of()).stream()
            .anyMatch(value -> value.matches(GZIP));
    AdminResponse answer = answer(name, packs ? less : file, "public, max-age=31536000, immutable");
    return packs ? Reply.with(answer, "Content-Encoding", "gzip") : answer;
  }

  /**
   * Returns the first page, which all addresses without a dot lead to: it decides what to show for
   * each.
   */
  private AdminResponse page(AdminRequest request, String path, String behind) {
    byte[] page = index;
    if (page == null || behind.contains(".")) {
      throw nothing(path);
    }
    String tag = '"' + hash + '"';
    AdminResponse answer = answer(INDEX, page, "no-cache");
    if (request.field("if-none-match").equals(tag)) {
      answer = new AdminResponse(304, answer.fields(), List.<byte[]>of().iterator());
    }
    return Reply.with(answer, Reply.ETAG, tag);
  }

  private static AdminResponse answer(String name, byte[] bytes, String caching) {
    Map<String, String> fields = new LinkedHashMap<>(STRICT);
    fields.put(Reply.TYPE, TYPES.getOrDefault(ending(name), "application/octet-stream"));
    fields.put("Cache-Control", caching);
    return AdminResponse.of(200, fields, bytes);
  }

  private static RequestException nothing(String path) {
    return new RequestException(404, ShownText.wrong("path", path, "a page below " + PATH + "/"));
  }
}
