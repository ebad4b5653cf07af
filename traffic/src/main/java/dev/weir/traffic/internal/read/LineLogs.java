package dev.weir.traffic.internal.read;

import static dev.weir.traffic.internal.read.ViewReader.views;
import static dev.weir.traffic.internal.read.ViewReader.with;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.read.ViewReader.Part;
import dev.weir.traffic.internal.read.ViewReader.View;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The formats whose lines are values in a fixed order: the layout and the views of each. */
final class LineLogs {
  /*
   * Where do these layouts come from? Each has the order of the format's own documentation:
   * log_format of ingress-nginx, Traefik's access logs, AWS's pages on access logs of load
   * balancers and of S3, Envoy's and Istio's default format strings, HAProxy's manual (8.2.3),
   * Squid's logformat. Columns have the names of the documentation, in this project's spelling;
   * those that all access logs have get the same names in all of them: ip, user, time, request,
   * method, path, query, protocol, status, bytes, referer, agent, host.
   */

  /** A property of the lines of a format. */
  enum Kind {
    PLAIN,
    /**
     * Each line is a combined one with more values behind it. Its client may be the name of a host.
     */
    COMBINED,
    /**
     * The first values are a word and a time in brackets. Any text may stand before them, such as
     * the header of syslog with its stamp.
     */
    BEHIND_SYSLOG
  }

  /**
   * A format whose lines are values in a fixed order.
   *
   * @param layout the order
   * @param views the views on its columns
   * @param lastCertain the last column that no line of the format lacks. It distinguishes a whole
   *     line from one of a similar format.
   */
  record LineLog(Kind kind, Layout layout, Map<String, List<View>> views, String lastCertain) {
    RecordReader reader(Lines lines) {
      return ViewReader.of(
          kind == Kind.BEHIND_SYSLOG
              ? LayoutReader.behindSyslog(lines, layout)
              : LayoutReader.of(lines, layout),
          views);
    }
  }

  /** The views on a column with a whole request line. */
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

  /** The views on a request line, and on a column with the client's address and port. */
  private static final Map<String, List<View>> CLIENT =
      with(REQUEST, views("ip", new View("client", Part.ADDRESS)));

  /** The views on a line whose layout the user gives. */
  private static final Map<String, List<View>> OWN =
      with(
          REQUEST,
          views(
              "ip",
              new View("client", Part.ALL),
              "path",
              new View("url", Part.PATH),
              "query",
              new View("url", Part.QUERY)));

  private static final Map<Format, LineLog> ALL = all();

  private LineLogs() {}

  /** Returns the lines by their format. */
  static Map<Format, LineLog> byFormat() {
    return ALL;
  }

  /** Returns whether the format is of that kind. */
  static boolean is(Kind kind, Format format) {
    LineLog log = ALL.get(format);
    return log != null && log.kind == kind;
  }

  /** Returns a reader of lines in the order of a user's layout. */
  static RecordReader reader(Layout layout, Lines lines) {
    return ViewReader.of(LayoutReader.of(lines, layout), OWN);
  }

  private static Map<Format, LineLog> all() {
    Map<Format, LineLog> all = new LinkedHashMap<>();
    all.put(
        Format.NGINX_INGRESS,
        new LineLog(
            Kind.COMBINED,
            layout(
                "ip ident user [time] 'request' status bytes 'referer' 'agent'"
                    + " request_length request_time [upstream_name] ?"
                    + " [alternative_upstream_name]"),
            REQUEST,
            "upstream_name"));
    all.put(
        Format.TRAEFIK,
        new LineLog(
            Kind.COMBINED,
            layout(
                "ip ident user [time] 'request' status bytes 'referer' 'agent'"
                    + " request_count \"router\" \"server_url\" duration"),
            REQUEST,
            "duration"));
    all.put(
        Format.ALB,
        new LineLog(
            Kind.PLAIN,
            layout(
                "type time elb client target request_processing_time"
                    + " target_processing_time response_processing_time status target_status"
                    + " received_bytes bytes 'request' 'agent' ssl_cipher ssl_protocol"
                    + " target_group_arn \"trace_id\" \"domain_name\" \"chosen_cert_arn\""
                    + " matched_rule_priority request_creation_time \"actions_executed\""
                    + " \"redirect_url\" \"error_reason\" ? \"target_port_list\""
                    + " \"target_status_code_list\" \"classification\""
                    + " \"classification_reason\" conn_trace_id"),
            CLIENT,
            "error_reason"));
    all.put(
        Format.ELB,
        new LineLog(
            Kind.PLAIN,
            layout(
                "time elb client backend request_processing_time backend_processing_time"
                    + " response_processing_time status backend_status received_bytes bytes"
                    + " 'request' ? 'agent' ssl_cipher ssl_protocol"),
            CLIENT,
            "request"));
    all.put(
        Format.S3,
        new LineLog(
            Kind.PLAIN,
            layout(
                "owner bucket [time] ip requester request_id operation object_key"
                    + " \"request\" status error_code bytes object_size total_time"
                    + " turn_around_time \"referer\" \"agent\" version_id ? host_id"
                    + " signature_version cipher_suite authentication_type host tls_version"
                    + " access_point_arn acl_required"),
            REQUEST,
            "version_id"));
    all.put(
        Format.ENVOY,
        new LineLog(
            Kind.PLAIN,
            layout(
                "[time] \"request\" status response_flags bytes_received bytes duration"
                    + " upstream_service_time \"forwarded_for\" \"agent\" \"request_id\""
                    + " \"host\" \"upstream_host\""),
            REQUEST,
            "upstream_host"));
    all.put(
        Format.ISTIO,
        new LineLog(
            Kind.PLAIN,
            layout(
                "[time] \"request\" status response_flags response_code_details"
                    + " connection_termination_details \"upstream_transport_failure_reason\""
                    + " bytes_received bytes duration upstream_service_time \"forwarded_for\""
                    + " \"agent\" \"request_id\" \"host\" \"upstream_host\" upstream_cluster"
                    + " upstream_local_address downstream_local_address"
                    + " downstream_remote_address requested_server_name route_name"),
            with(REQUEST, views("ip", new View("downstream_remote_address", Part.ADDRESS))),
            "route_name"));
    all.put(
        Format.HAPROXY,
        new LineLog(
            Kind.BEHIND_SYSLOG,
            layout(
                "client [time] frontend backend_server timers status bytes request_cookie"
                    + " response_cookie termination_state connections queues * \"request"),
            with(
                CLIENT,
                views(
                    "backend",
                    new View("backend_server", Part.BEFORE_SLASH),
                    "server",
                    new View("backend_server", Part.BEHIND_SLASH),
                    "duration",
                    new View("timers", Part.LAST))),
            "request"));
    all.put(
        Format.SQUID,
        new LineLog(
            Kind.PLAIN,
            layout(
                "time ~elapsed ip result_status bytes method url user hierarchy_peer"
                    + " content_type"),
            views(
                "path",
                new View("url", Part.PATH),
                "query",
                new View("url", Part.QUERY),
                "result",
                new View("result_status", Part.BEFORE_SLASH),
                "status",
                new View("result_status", Part.BEHIND_SLASH)),
            "content_type"));
    return Collections.unmodifiableMap(all);
  }

  private static Layout layout(String text) {
    try {
      return Layout.of(text);
    } catch (TrafficException e) {
      throw new IllegalStateException(e); // A constant is a valid layout.
    }
  }
}
