package dev.weir.traffic;

import dev.weir.traffic.internal.read.Escapes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Logs that real servers wrote while a script sent each of them some 40 known requests, in the time
 * zone of St. John's. Each has a file of the true values, one row for each request in the log:
 * line, time, client, method, path, status. Addresses were replaced by those for documentation
 * afterwards.
 */
enum RealLog {
  /** The brackets have no zone, the header has the offset, and an hour comes twice. */
  HAPROXY_RFC5424_DST(
      "HAProxy 2.6.12, `option httplog`, `format rfc5424`", Format.HAPROXY, false, "ip"),
  /** The log has no sign of the zone. */
  HAPROXY_RSYSLOG(
      "HAProxy 2.6.12, `option httplog`, through rsyslog 8.2302", Format.HAPROXY, true, "ip"),
  /**
   * The first words are the list of X-Forwarded-For; a duration stands in the place of the referer.
   */
  PUMA_TWO_PROXIES("Puma 5.6.5 behind two proxies", Format.COMBINED, false, "ip"),
  /** Four words of syslog stand before each record. */
  NGINX_RSYSLOG("nginx 1.22.1, through rsyslog 8.2302", Format.COMBINED, false, "ip"),
  /** The brackets have no zone, and no other text has one. */
  CHERRYPY("CherryPy 18.10.0", Format.COMBINED, true, "ip"),
  /** The zone is -03-30, the target is a whole URL. */
  SQUID_COMBINED("Squid 5.7, `combined`", Format.COMBINED, false, "ip"),
  /** The client stands in quotes, so each line begins and ends with one. */
  TWISTED("Twisted 26.10.0", Format.COMBINED, false, "ip"),
  /** The log has neither ident nor user; an agent looks like a record of 2001. */
  AIOHTTP("aiohttp 3.14.5", Format.COMBINED, false, "ip"),
  /** The time is in brackets, the client under host, the request one text. */
  TOMCAT_JSON("Tomcat 11.0.27, JsonAccessLogValve", Format.TOMCAT_JSON, false, "ip"),
  /** The target is a whole URL. */
  VARNISHNCSA("Varnish 7.1.1, varnishncsa", Format.COMBINED, false, "ip"),
  /** Two lines a request: the client in the first, the status in the second. */
  FASTIFY("Fastify 5.12.8", Format.PINO, false, "ip"),
  /** The client has a port, another one for each connection. */
  GO_SLOG_JSON("Go 1.26.8, log/slog, `r.RemoteAddr`", Format.JSONL, false, "remote_addr");

  static final ZoneId ZONE = ZoneId.of("America/St_Johns");

  /** A request as it was sent. */
  record Sent(
      long line, long timeNanos, String client, String method, String path, String status) {}

  private final String title;
  private final Format format;
  private final boolean zoneMissing;
  private final String key;

  RealLog(String title, Format format, boolean zoneMissing, String key) {
    this.title = title;
    this.format = format;
    this.zoneMissing = zoneMissing;
    this.key = key;
  }

  String title() {
    return title;
  }

  Format format() {
    return format;
  }

  /** Returns whether the log has no sign of its zone. */
  boolean zoneMissing() {
    return zoneMissing;
  }

  /** Returns the zone that has to be given, or null if none has. */
  @Nullable ZoneId zone() {
    return zoneMissing ? ZONE : null;
  }

  /** Returns the column with the client. */
  String key() {
    return key;
  }

  byte[] text() throws IOException {
    return resource(".log");
  }

  List<Sent> truth() throws IOException {
    List<Sent> all = new ArrayList<>();
    List<String> rows = new String(resource(".truth.tsv"), StandardCharsets.UTF_8).lines().toList();
    for (String row : rows.subList(1, rows.size())) {
      String[] cells = row.split("\t", -1);
      // A path is in the truth as it is in the line, and the reader removes its escapes.
      byte[] path = cells[4].getBytes(StandardCharsets.UTF_8);
      all.add(
          new Sent(
              Long.parseLong(cells[0]),
              Long.parseLong(cells[1]),
              cells[2],
              cells[3],
              new String(Escapes.undone(path, 0, path.length), StandardCharsets.UTF_8),
              cells[5]));
    }
    return all;
  }

  private byte[] resource(String ending) throws IOException {
    String name = "logs/" + name().toLowerCase(Locale.ROOT).replace('_', '-') + ending;
    try (InputStream in = Objects.requireNonNull(RealLog.class.getResourceAsStream(name), name)) {
      return in.readAllBytes();
    }
  }
}
