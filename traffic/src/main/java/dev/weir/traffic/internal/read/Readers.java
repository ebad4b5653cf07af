package dev.weir.traffic.internal.read;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.read.ViewReader.Part;
import dev.weir.traffic.internal.read.ViewReader.View;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The readers of all formats: the order of each format's values, and the names of these here. */
public final class Readers {
  /*
   * Where do these orders come from? Each order is that of the format's own documentation:
   * log_format of ingress-nginx, Traefik's access logs, AWS's pages on access logs of load
   * balancers and of S3, Envoy's and Istio's default format strings, HAProxy's manual (8.2.3),
   * Squid's logformat. Values have the names of the documentation, in this project's spelling;
   * those that all access logs have get the same names in all of them: ip, user, time, request,
   * method, path, query, protocol, status, bytes, referer, agent, host.
   */

  private static final Layout INGRESS =
      layout(
          "ip ident user [time] 'request' status bytes 'referer' 'agent' request_length request_time"
              + " [upstream_name] ? [alternative_upstream_name]");

  private static final Layout TRAEFIK =
      layout(
          "ip ident user [time] 'request' status bytes 'referer' 'agent' request_count \"router\""
              + " \"server_url\" duration");

  private static final Layout ALB =
      layout(
          "type time elb client target request_processing_time target_processing_time"
              + " response_processing_time status target_status received_bytes bytes 'request' 'agent'"
              + " ssl_cipher ssl_protocol target_group_arn \"trace_id\" \"domain_name\""
              + " \"chosen_cert_arn\" matched_rule_priority request_creation_time"
              + " \"actions_executed\" \"redirect_url\" \"error_reason\" ? \"target_port_list\""
              + " \"target_status_code_list\" \"classification\" \"classification_reason\""
              + " conn_trace_id");

  private static final Layout ELB =
      layout(
          "time elb client backend request_processing_time backend_processing_time"
              + " response_processing_time status backend_status received_bytes bytes 'request' ?"
              + " 'agent' ssl_cipher ssl_protocol");

  private static final Layout S3 =
      layout(
          "owner bucket [time] ip requester request_id operation object_key \"request\" status"
              + " error_code bytes object_size total_time turn_around_time \"referer\" \"agent\""
              + " version_id ? host_id signature_version cipher_suite authentication_type host"
              + " tls_version access_point_arn acl_required");

  private static final Layout ENVOY =
      layout(
          "[time] \"request\" status response_flags bytes_received bytes duration upstream_service_time"
              + " \"forwarded_for\" \"agent\" \"request_id\" \"host\" \"upstream_host\"");

  private static final Layout ISTIO =
      layout(
          "[time] \"request\" status response_flags response_code_details"
              + " connection_termination_details \"upstream_transport_failure_reason\" bytes_received"
              + " bytes duration upstream_service_time \"forwarded_for\" \"agent\" \"request_id\""
              + " \"host\" \"upstream_host\" upstream_cluster upstream_local_address"
              + " downstream_local_address downstream_remote_address requested_server_name route_name");

  private static final Layout HAPROXY =
      layout(
          "client [time] frontend backend_server timers status bytes request_cookie response_cookie"
              + " termination_state connections queues * \"request");

  private static final Layout SQUID =
      layout("time ~elapsed ip result_status bytes method url user hierarchy_peer content_type");

  private static final Map<String, List<View>> REQUEST =
      views(
          "method",
          new View("request", Part.METHOD),
          "path",
          new View("request", Part.REQUEST_PATH),
          "query",
          new View("request", Part.REQUEST_QUERY),
          "protocol",
          new View("request", Part.PROTOCOL));

  private static final Map<String, List<View>> CLIENT =
      with(REQUEST, "ip", new View("client", Part.ADDRESS));

  private static final Map<String, List<View>> PROXY =
      with(
          with(CLIENT, "backend", new View("backend_server", Part.BEFORE_SLASH)),
          "server",
          new View("backend_server", Part.BEHIND_SLASH));

  private static final Map<String, List<View>> MESH =
      with(REQUEST, "ip", new View("downstream_remote_address", Part.ADDRESS));

  private static final Map<String, List<View>> CACHE =
      views(
          "path",
          new View("url", Part.PATH),
          "query",
          new View("url", Part.QUERY),
          "result",
          new View("result_status", Part.BEFORE_SLASH),
          "status",
          new View("result_status", Part.BEHIND_SLASH));

  /** The views on a line whose order the user gives. */
  private static final Map<String, List<View>> OWN =
      with(
          with(
              with(REQUEST, "ip", new View("client", Part.ALL)),
              "path",
              new View("url", Part.PATH)),
          "query",
          new View("url", Part.QUERY));

  /** The views on labels: those of ltsv.org, and those in the spelling of nginx's logs. */
  private static final Map<String, List<View>> LABELLED =
      views(
          "ip", "remote_addr",
          "ip", "remote_ip",
          "ip", "client_ip",
          "ip", "client",
          "ip", "host",
          "method", new View("req", Part.METHOD),
          "method", new View("request", Part.METHOD),
          "path", new View("uri", Part.PATH),
          "path", new View("request_uri", Part.PATH),
          "path", new View("req", Part.REQUEST_PATH),
          "path", new View("request", Part.REQUEST_PATH),
          "query", new View("uri", Part.QUERY),
          "query", new View("request_uri", Part.QUERY),
          "query", new View("req", Part.REQUEST_QUERY),
          "query", new View("request", Part.REQUEST_QUERY),
          "protocol", new View("req", Part.PROTOCOL),
          "protocol", new View("request", Part.PROTOCOL),
          "bytes", "size",
          "agent", "ua");

  private static final Map<String, List<View>> EXTENDED =
      views(
          "ip", "c-ip",
          "method", "cs-method",
          "path", "cs-uri-stem",
          "query", "cs-uri-query",
          "status", "sc-status",
          "bytes", "sc-bytes",
          "user", "cs-username",
          "agent", "cs(User-Agent)",
          "referer", "cs(Referer)",
          "host", "cs-host",
          "host", "x-host-header",
          "host", "cs(Host)",
          "protocol", "cs-version",
          "protocol", "cs-protocol-version");

  /**
   * The formats of combined lines, some of them with more values before or behind. One line may be
   * of several of these formats, and its client may be the name of a host.
   */
  public static final List<Format> COMBINED_LINES =
      List.of(Format.COMBINED, Format.VHOST, Format.NGINX_INGRESS, Format.TRAEFIK);

  /**
   * The names of the values in a kind of JSON logs, and the fields that distinguish it from all
   * others.
   *
   * @param signs the fields that must all be present, with a bar between those of which one is
   *     enough
   * @param time the field with the time of a request. A log without a field of the name {@code
   *     time} has a view of this name as well.
   */
  private record JsonLog(List<String> signs, Map<String, List<View>> views, String time) {}

  /**
   * The kinds of JSON logs. A log is of the first kind whose signs are all present, so the order
   * counts: a kind stands before another one whose signs its records may have as well.
   */
  private static final Map<Format, JsonLog> JSON_LOGS = jsonLogs();

  private Readers() {}

  private static Map<Format, JsonLog> jsonLogs() {
    Map<Format, JsonLog> all = new LinkedHashMap<>();
    all.put(
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
    return all;
  }

  private static Layout layout(String text) {
    try {
      return Layout.of(text);
    } catch (TrafficException e) {
      throw new IllegalStateException(e); // A constant is a valid layout.
    }
  }

  /** Returns a reader of lines in the order of a user's layout. */
  static RecordReader of(Layout layout, Lines lines) {
    return ViewReader.of(LayoutReader.of(lines, layout), OWN);
  }

  /**
   * Returns a reader of the lines.
   *
   * @throws TrafficException if the beginning shows that they cannot be in that format
   */
  public static RecordReader of(Format format, Lines lines) throws IOException, TrafficException {
    JsonLog json = JSON_LOGS.get(format);
    if (json != null) {
      RecordReader records = new JsonLinesReader(lines);
      return ViewReader.of(
          format == Format.PINO ? AnsweredRequests.of(records) : records, json.views);
    }
    return switch (format) {
      case COMBINED -> new CombinedReader(lines);
      case VHOST -> CombinedReader.vhost(lines);
      case NGINX_INGRESS -> ViewReader.of(LayoutReader.of(lines, INGRESS), REQUEST);
      case TRAEFIK -> ViewReader.of(LayoutReader.of(lines, TRAEFIK), REQUEST);
      case W3C -> ViewReader.of(new W3cReader(lines), EXTENDED);
      case ALB -> ViewReader.of(LayoutReader.of(lines, ALB), CLIENT);
      case ELB -> ViewReader.of(LayoutReader.of(lines, ELB), CLIENT);
      case S3 -> ViewReader.of(LayoutReader.of(lines, S3), REQUEST);
      case ENVOY -> ViewReader.of(LayoutReader.of(lines, ENVOY), REQUEST);
      case ISTIO -> ViewReader.of(LayoutReader.of(lines, ISTIO), MESH);
      case HAPROXY -> ViewReader.of(LayoutReader.behindSyslog(lines, HAPROXY), PROXY);
      case SQUID -> ViewReader.of(LayoutReader.of(lines, SQUID), CACHE);
      case LTSV -> ViewReader.of(new LtsvReader(lines), LABELLED);
      case CSV -> DelimitedReader.csv(lines);
      case TSV -> DelimitedReader.tsv(lines);
      case JSONL -> new JsonLinesReader(lines);
      default -> throw new IllegalArgumentException("format: " + format + " (expected: a format)");
    };
  }

  /** Returns the first kind of JSON logs whose signs are all present, or JSON lines. */
  static Format jsonFormat(List<String> columns) {
    for (Map.Entry<Format, JsonLog> each : JSON_LOGS.entrySet()) {
      boolean all =
          each.getValue().signs.stream()
              .allMatch(
                  sign -> List.of(sign.split("\\|", -1)).stream().anyMatch(columns::contains));
      if (all) {
        return each.getKey();
      }
    }
    return Format.JSONL;
  }

  /** Returns whether records of the format are JSON objects. */
  static boolean isJson(Format format) {
    return format == Format.JSONL || JSON_LOGS.containsKey(format);
  }

  /** Returns the column with the time of a format; empty if the format has no fixed name for it. */
  static String timeColumn(Format format) {
    if (Format.GENERAL.contains(format)) {
      return "";
    }
    JsonLog json = JSON_LOGS.get(format);
    return json == null ? "time" : json.time;
  }

  /**
   * Returns the column that distinguishes a whole line of the format from one of a similar format:
   * the last that is never left out.
   */
  public static String lastCertainColumn(Format format) {
    return switch (format) {
      case NGINX_INGRESS -> "upstream_name";
      case TRAEFIK -> "duration";
      case ALB -> "error_reason";
      case S3 -> "version_id";
      case ENVOY -> "upstream_host";
      case ISTIO -> "route_name";
      case SQUID -> "content_type";
      case ELB, HAPROXY -> "request";
      default -> "status";
    };
  }

  /**
   * Returns views: a name, then its column's name or its view, and so on; a name may come again.
   */
  private static Map<String, List<View>> views(Object... namesAndViews) {
    Map<String, List<View>> views = new LinkedHashMap<>();
    for (int i = 0; i < namesAndViews.length; i += 2) {
      Object of = namesAndViews[i + 1];
      View view = of instanceof View known ? known : new View((String) of, Part.ALL);
      add(views, (String) namesAndViews[i], view);
    }
    return views;
  }

  private static Map<String, List<View>> with(
      Map<String, List<View>> views, String name, View view) {
    Map<String, List<View>> more = new LinkedHashMap<>(views);
    add(more, name, view);
    return more;
  }

  private static void add(Map<String, List<View>> views, String name, View view) {
    List<View> before = views.getOrDefault(name, List.of());
    List<View> all = new ArrayList<>(before);
    all.add(view);
    views.put(name, List.copyOf(all));
  }
}
