package dev.weir.traffic.internal.read;

import static dev.weir.traffic.internal.read.ViewReader.views;

import dev.weir.traffic.Format;
import dev.weir.traffic.internal.read.ViewReader.Part;
import dev.weir.traffic.internal.read.ViewReader.View;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The formats of JSON logs: the signs, the views and the column of the time of each. */
final class JsonLogs {
  /**
   * A format of JSON logs.
   *
   * @param signs the columns that mark the format, with a bar between those of which one is enough.
   *     All must be among the columns of the first lines together. A field of an object within has
   *     a name with dots; a list is no column.
   * @param views the views that the columns have
   * @param timeColumn the column with the time of a request. If it is not {@code time}, and the log
   *     has no other column of that name, there is a view {@code time} on it.
   */
  record JsonLog(List<String> signs, Map<String, List<View>> views, String timeColumn) {
    private boolean marks(List<String> columns) {
      return signs.stream()
          .allMatch(sign -> List.of(sign.split("\\|", -1)).stream().anyMatch(columns::contains));
    }
  }

  /**
   * All of them. Records may have the signs of several formats, and the first of these counts, so a
   * format with more signs stands before one whose signs are among them.
   */
  private static final Map<Format, JsonLog> ALL = all();

  private JsonLogs() {}

  /** Returns the JSON logs by their format. */
  static Map<Format, JsonLog> byFormat() {
    return ALL;
  }

  /** Returns the first format whose signs are all among the columns, or JSON lines. */
  static Format format(List<String> columns) {
    for (Map.Entry<Format, JsonLog> each : ALL.entrySet()) {
      if (each.getValue().marks(columns)) {
        return each.getKey();
      }
    }
    return Format.JSONL;
  }

  private static Map<Format, JsonLog> all() {
    Map<Format, JsonLog> all = new LinkedHashMap<>();
    all.put( // Its headers, and so the agent, are lists, which are no columns.
        Format.CADDY,
        new JsonLog(
            List.of("ts", "request.uri", "request.proto"),
            views(
                "time", "ts",
                "ip", "request.client_ip",
                "ip", "request.remote_ip",
                "ip", new View("request.remote_addr", Part.ADDRESS),
                "method", "request.method",
                "path", new View("request.uri", Part.PATH),
                "query", new View("request.uri", Part.QUERY),
                "protocol", "request.proto",
                "host", "request.host",
                "user", "user_id",
                "bytes", "size"),
            "ts"));
    all.put(
        Format.TRAEFIK_JSON,
        new JsonLog(
            List.of("ClientHost", "StartUTC", "RequestPath"),
            views(
                "ip", "ClientHost",
                "method", "RequestMethod",
                "path", new View("RequestPath", Part.PATH),
                "query", new View("RequestPath", Part.QUERY),
                "protocol", "RequestProtocol",
                "host", "RequestHost",
                "user", "ClientUsername",
                "status", "DownstreamStatus",
                "bytes", "DownstreamContentSize",
                "agent", "request_User-Agent"),
            "StartUTC"));
    all.put(
        Format.CLOUDFLARE,
        new JsonLog(
            List.of("ClientIP", "EdgeStartTimestamp"),
            views(
                "time", "EdgeStartTimestamp",
                "ip", "ClientIP",
                "method", "ClientRequestMethod",
                "path", new View("ClientRequestURI", Part.PATH),
                "path", "ClientRequestPath",
                "query", new View("ClientRequestURI", Part.QUERY),
                "protocol", "ClientRequestProtocol",
                "host", "ClientRequestHost",
                "status", "EdgeResponseStatus",
                "bytes", "EdgeResponseBytes",
                "referer", "ClientRequestReferer",
                "agent", "ClientRequestUserAgent"),
            "EdgeStartTimestamp"));
    all.put(
        Format.GCP,
        new JsonLog(
            List.of("timestamp", "httpRequest.remoteIp", "httpRequest.requestUrl"),
            views(
                "time", "timestamp",
                "ip", "httpRequest.remoteIp",
                "method", "httpRequest.requestMethod",
                "path", new View("httpRequest.requestUrl", Part.PATH),
                "query", new View("httpRequest.requestUrl", Part.QUERY),
                "protocol", "httpRequest.protocol",
                "status", "httpRequest.status",
                "bytes", "httpRequest.responseSize",
                "referer", "httpRequest.referer",
                "agent", "httpRequest.userAgent"),
            "timestamp"));
    all.put(
        Format.AZURE,
        new JsonLog(
            List.of("time", "properties.clientIp", "properties.requestUri"),
            views(
                "ip", "properties.clientIp",
                "method", "properties.httpMethod",
                "path", new View("properties.requestUri", Part.PATH),
                "query", new View("properties.requestUri", Part.QUERY),
                "protocol", "properties.httpVersion",
                "host", "properties.hostName",
                "status", "properties.httpStatusCode",
                "bytes", "properties.responseBytes",
                "referer", "properties.referer",
                "agent", "properties.userAgent"),
            "time"));
    all.put(
        Format.TOMCAT_JSON,
        new JsonLog(
            List.of("host|remoteAddr", "time", "request", "statusCode"),
            views(
                "ip", "remoteAddr",
                "ip", "host",
                "method", new View("request", Part.METHOD),
                "path", new View("request", Part.REQUEST_PATH),
                "query", new View("request", Part.REQUEST_QUERY),
                "protocol", new View("request", Part.PROTOCOL),
                "status", "statusCode",
                "bytes", "size",
                "referer", "requestHeaders.Referer",
                "agent", "requestHeaders.User-Agent"),
            "time"));
    all.put(
        Format.PINO,
        new JsonLog(
            List.of("time", "req.method", "req.url", "req.remoteAddress|remoteAddress"),
            views(
                "ip", "req.remoteAddress",
                "ip", "remoteAddress",
                "method", "req.method",
                "path", new View("req.url", Part.PATH),
                "query", new View("req.url", Part.QUERY),
                "status", "res.statusCode",
                "agent", "req.headers.user-agent"),
            "time"));
    return Collections.unmodifiableMap(all);
  }
}
