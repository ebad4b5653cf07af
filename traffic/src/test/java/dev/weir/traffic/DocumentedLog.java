package dev.weir.traffic;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The documented logs, each with a writer of its lines and the expected contents of its columns.
 */
public enum DocumentedLog {
  /** httpd.apache.org, Log Files: Common Log Format. */
  APACHE_COMMON(
      "Apache, common",
      Format.COMBINED,
      r ->
          r.ip()
              + " - "
              + r.user()
              + " ["
              + r.clf()
              + "] \""
              + r.request()
              + "\" "
              + r.status()
              + " "
              + r.bytes()),
  /** httpd.apache.org, Log Files: Combined Log Format; nginx.org, ngx_http_log_module. */
  COMBINED("Apache and nginx, combined", Format.COMBINED, Logged::combined),
  /** httpd.apache.org, the vhost_combined format of Debian's apache2.conf: {@code %v:%p %h ...}. */
  VHOST("Apache, with virtual hosts", Format.VHOST, r -> r.host() + ":443 " + r.combined()),
  /** The combined format in quotes, as tools that export logs write it. */
  QUOTED(
      "combined, each line in quotes",
      Format.COMBINED,
      r -> '"' + r.combined().replace("\"", "\"\"") + '"'),
  /** kubernetes.github.io/ingress-nginx, Log format. */
  INGRESS(
      "ingress-nginx",
      Format.NGINX_INGRESS,
      r ->
          r.combined()
              + " 512 0.004 [shop-web-80] [] 10.0.0.7:8080 "
              + r.bytes()
              + " 0.003 "
              + r.status()
              + " 5f1d9c1be7e0b1c2"),
  /** doc.traefik.io, Access logs: the common log format with its six columns behind. */
  TRAEFIK(
      "Traefik, common",
      Format.TRAEFIK,
      r -> r.combined() + " 17 \"shop@docker\" \"http://10.0.0.7:80\" 12ms"),
  /** doc.traefik.io, Access logs: json, available fields. */
  TRAEFIK_JSON(
      "Traefik, JSON",
      Format.TRAEFIK_JSON,
      r ->
          "{\"ClientAddr\":"
              + text(r.client())
              + ",\"ClientHost\":"
              + text(r.ip())
              + ",\"ClientPort\":\""
              + r.port()
              + "\",\"ClientUsername\":"
              + text(r.user())
              + ",\"DownstreamContentSize\":"
              + r.bytes()
              + ",\"DownstreamStatus\":"
              + r.status()
              + ",\"Duration\":12000000,\"RequestHost\":"
              + text(r.host())
              + ",\"RequestMethod\":"
              + text(r.method())
              + ",\"RequestPath\":"
              + text(r.target())
              + ",\"RequestProtocol\":\"HTTP/1.1\",\"StartUTC\":\""
              + r.instant()
              + "\",\"level\":\"info\",\"msg\":\"\",\"time\":\""
              + r.pattern("yyyy-MM-dd'T'HH:mm:ss'Z'")
              + "\"}"),
  /** caddyserver.com, Logging: structured access logs. */
  CADDY(
      "Caddy",
      Format.CADDY,
      r ->
          "{\"level\":\"info\",\"ts\":"
              + r.millis() / 1000
              + "."
              + String.format(Locale.ROOT, "%03d", r.millis() % 1000)
              + ",\"logger\":\"http.log.access\",\"msg\":\"handled request\",\"request\":"
              + "{\"remote_ip\":\"10.0.0.1\",\"remote_port\":\""
              + r.port()
              + "\",\"client_ip\":"
              + text(r.ip())
              + ",\"proto\":\"HTTP/1.1\",\"method\":"
              + text(r.method())
              + ",\"host\":"
              + text(r.host())
              + ",\"uri\":"
              + text(r.target())
              + ",\"headers\":{\"User-Agent\":["
              + text(r.agent())
              + "]}},\"bytes_read\":0,\"user_id\":\"\",\"duration\":0.001,\"size\":"
              + r.bytes()
              + ",\"status\":"
              + r.status()
              + "}"),
  /** developers.cloudflare.com, Logpush: HTTP requests; times as unixnano. */
  CLOUDFLARE(
      "Cloudflare Logpush",
      Format.CLOUDFLARE,
      r ->
          "{\"ClientIP\":"
              + text(r.ip())
              + ",\"ClientRequestHost\":"
              + text(r.host())
              + ",\"ClientRequestMethod\":"
              + text(r.method())
              + ",\"ClientRequestURI\":"
              + text(r.target())
              + ",\"ClientRequestUserAgent\":"
              + text(r.agent())
              + ",\"EdgeEndTimestamp\":"
              + (r.nanos() + 5_000_000)
              + ",\"EdgeResponseBytes\":"
              + r.bytes()
              + ",\"EdgeResponseStatus\":"
              + r.status()
              + ",\"EdgeStartTimestamp\":"
              + r.nanos()
              + ",\"RayID\":\"8a1b\"}"),
  /** cloud.google.com, Application Load Balancer logging: LogEntry with HttpRequest. */
  GCP(
      "Google Cloud load balancer",
      Format.GCP,
      r ->
          "{\"httpRequest\":{\"latency\":\"0.004s\",\"remoteIp\":"
              + text(r.ip())
              + ",\"requestMethod\":"
              + text(r.method())
              + ",\"requestSize\":\"120\","
              + "\"requestUrl\":"
              + text("https://" + r.host() + r.target())
              + ",\"responseSize\":\""
              + r.bytes()
              + "\",\"status\":"
              + r.status()
              + ",\"userAgent\":"
              + text(r.agent())
              + "},\"insertId\":\"1x\","
              + "\"receiveTimestamp\":\""
              + r.instant().plusSeconds(1)
              + "\",\"timestamp\":\""
              + r.instant()
              + "\"}"),
  /** learn.microsoft.com, Azure Front Door: access log. */
  AZURE(
      "Azure Front Door",
      Format.AZURE,
      r ->
          "{\"time\":\""
              + r.instant()
              + "\",\"category\":\"FrontDoorAccessLog\",\"properties\":{"
              + "\"httpMethod\":"
              + text(r.method())
              + ",\"httpVersion\":\"1.1\",\"requestUri\":"
              + text("https://" + r.host() + ":443" + r.target())
              + ",\"userAgent\":"
              + text(r.agent())
              + ",\"clientIp\":"
              + text(r.ip())
              + ",\"socketIp\":"
              + text(r.ip())
              + ",\"clientPort\":\""
              + r.port()
              + "\",\"hostName\":"
              + text(r.host())
              + ",\"httpStatusCode\":\""
              + r.status()
              + "\",\"responseBytes\":\""
              + r.bytes()
              + "\"}}"),
  /** learn.microsoft.com, IIS: W3C logging. */
  IIS(
      "IIS, W3C",
      Format.W3C,
      r ->
          r.pattern("yyyy-MM-dd HH:mm:ss")
              + " 10.0.0.5 "
              + r.method()
              + " "
              + r.path()
              + " "
              + dash(r.query())
              + " 443 "
              + r.user()
              + " "
              + r.ip()
              + " "
              + r.agent().replace(' ', '+')
              + " "
              + r.referer()
              + " "
              + r.status()
              + " 0 0 15"),
  /** docs.aws.amazon.com, CloudFront: standard log file format. */
  CLOUDFRONT(
      "CloudFront, standard",
      Format.W3C,
      r ->
          r.pattern("yyyy-MM-dd'\t'HH:mm:ss")
              + "\tFRA2-C1\t"
              + r.bytes()
              + "\t"
              + r.ip()
              + "\t"
              + r.method()
              + "\td1.cloudfront.net\t"
              + r.path()
              + "\t"
              + r.status()
              + "\t"
              + r.referer()
              + "\t"
              + r.agent().replace(" ", "%20")
              + "\t"
              + dash(r.query())
              + "\t-\tHit\tid==\t"
              + r.host()),
  /** docs.aws.amazon.com, Application Load Balancers: access log entries. */
  ALB(
      "AWS application load balancer",
      Format.ALB,
      r ->
          "https "
              + r.instant()
              + " app/shop/50dc6c495c0c9188 "
              + r.client()
              + " 10.0.0.1:80 0.000 0.001 0.000 "
              + r.status()
              + " "
              + r.status()
              + " 34 "
              + r.bytes()
              + " \""
              + r.method()
              + " https://"
              + r.host()
              + ":443"
              + r.target()
              + " HTTP/1.1\" \""
              + r.agent()
              + "\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2"
              + " arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/t/7 \"Root=1-58\" \""
              + r.host()
              + "\" \"session-reused\" 0 "
              + r.instant()
              + " \"forward\" \"-\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \"-\" TID_1"),
  /** docs.aws.amazon.com, Classic Load Balancers: access log entries. */
  ELB(
      "AWS classic load balancer",
      Format.ELB,
      r ->
          r.instant()
              + " shop-lb "
              + r.client()
              + " 10.0.0.1:80 0.000073 0.001048 0.000057 "
              + r.status()
              + " "
              + r.status()
              + " 0 "
              + r.bytes()
              + " \""
              + r.method()
              + " http://"
              + r.host()
              + ":80"
              + r.target()
              + " HTTP/1.1\" \""
              + r.agent()
              + "\" - -"),
  /** docs.aws.amazon.com, Amazon S3: server access log format. */
  S3(
      "Amazon S3",
      Format.S3,
      r ->
          "79a59df900b9 shop-bucket ["
              + r.clf()
              + "] "
              + r.ip()
              + " 79a59df900b9 3E57427F3EX"
              + " REST."
              + r.method()
              + ".OBJECT photo.jpg \""
              + r.request()
              + "\" "
              + r.status()
              + " - "
              + r.bytes()
              + " 3462992 70 10 \""
              + r.referer()
              + "\" \""
              + r.agent()
              + "\" - s9lzHYrFp76 SigV4 ECDHE-RSA-AES128 AuthHeader "
              + r.host()
              + " TLSv1.2 - Yes"),
  /** envoyproxy.io, Access logging: the default format string. */
  ENVOY(
      "Envoy, default",
      Format.ENVOY,
      r ->
          "["
              + r.instant()
              + "] \""
              + r.request()
              + "\" "
              + r.status()
              + " - 154 "
              + r.bytes()
              + " 226 100 \""
              + r.ip()
              + "\" \""
              + r.agent()
              + "\" \"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2\" \""
              + r.host()
              + "\" \"10.0.2.1:80\""),
  /** istio.io, Envoy Access Logs: the default format string. */
  ISTIO(
      "Istio, default",
      Format.ISTIO,
      r ->
          "["
              + r.instant()
              + "] \""
              + r.request()
              + "\" "
              + r.status()
              + " - via_upstream - \"-\" 0 "
              + r.bytes()
              + " 5 4 \"-\" \""
              + r.agent()
              + "\" \"84961386-6d84-929d-98bd-c5aee93b5c88\" \""
              + r.host()
              + "\" \"10.44.1.27:80\" outbound|8000||shop 10.44.1.23:37652 10.0.45.184:8000 "
              + r.client()
              + " - default"),
  /** docs.haproxy.org, Configuration Manual, 8.2.3: HTTP log format, behind syslog's words. */
  HAPROXY(
      "HAProxy, HTTP",
      Format.HAPROXY,
      r ->
          r.pattern("MMM dd HH:mm:ss")
              + " lb1 haproxy[14389]: "
              + r.ip()
              + ":"
              + r.port()
              + " ["
              + r.pattern("dd/MMM/yyyy:HH:mm:ss.SSS")
              + "] http-in static/srv1 10/0/30/69/109 "
              + r.status()
              + " "
              + r.bytes()
              + " - - ---- 1/1/1/1/0 0/0 {"
              + r.host()
              + "} {} \""
              + r.request()
              + "\""),
  /** wiki.squid-cache.org, Features/LogFormat: Squid's native access.log. */
  SQUID(
      "Squid, native",
      Format.SQUID,
      r ->
          String.format(
              Locale.ROOT,
              "%d.%03d %6d %s TCP_MISS/%d %d %s http://%s%s %s HIER_DIRECT/10.0.0.9 text/html",
              r.millis() / 1000,
              r.millis() % 1000,
              310,
              r.ip(),
              r.status(),
              r.bytes(),
              r.method(),
              r.host(),
              r.target(),
              r.user()));

  private final String title;
  private final Format format;

  @SuppressWarnings("ImmutableEnumChecker") // It has no state.
  private final Function<Logged, String> line;

  DocumentedLog(String title, Format format, Function<Logged, String> line) {
    this.title = title;
    this.format = format;
    this.line = line;
  }

  String title() {
    return title;
  }

  Format format() {
    return format;
  }

  /** Returns the lines before the first record, which are no records; most logs have none. */
  List<String> header() {
    return switch (this) {
      case IIS ->
          List.of(
              "#Software: Microsoft Internet Information Services 10.0",
              "#Version: 1.0",
              "#Date: 2026-11-02 09:00:00",
              "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip"
                  + " cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status"
                  + " time-taken");
      case CLOUDFRONT ->
          List.of(
              "#Version: 1.0",
              "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem"
                  + " sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie)"
                  + " x-edge-result-type x-edge-request-id x-host-header");
      default -> List.of();
    };
  }

  public String line(Logged request) {
    return line.apply(request);
  }

  /** Returns the number of nanoseconds to which the format's time is cut, by default a million. */
  long resolutionNanos() {
    return switch (this) {
      case APACHE_COMMON, COMBINED, VHOST, QUOTED, INGRESS, TRAEFIK, S3, IIS, CLOUDFRONT ->
          1_000_000_000L;
      default -> 1_000_000L;
    };
  }

  /** Returns the column with the client's address. */
  String client() {
    return this == ENVOY ? "forwarded_for" : "ip";
  }

  /**
   * Returns the expected contents of the columns: first of those that all logs have, then of those
   * of this log.
   */
  Map<String, String> columns(Logged r) {
    Map<String, String> all = new TreeMap<>();
    all.put("method", r.method());
    all.put("path", r.path());
    boolean w3c = format == Format.W3C;
    all.put("query", w3c ? dash(r.query()) : r.query());
    all.put("status", Integer.toString(r.status()));
    if (this != IIS) {
      all.put("bytes", Long.toString(r.bytes()));
    }
    all.put(client(), r.ip());
    switch (this) {
      case APACHE_COMMON -> all.put("user", r.user());
      case COMBINED, QUOTED, INGRESS, TRAEFIK -> {
        all.put("user", r.user());
        all.put("referer", r.referer());
        all.put("agent", r.agent());
      }
      case VHOST -> {
        all.put("vhost", r.host() + ":443");
        all.put("user", r.user());
        all.put("agent", r.agent());
      }
      case TRAEFIK_JSON -> {
        all.put("host", r.host());
        all.put("user", r.user());
        all.put("protocol", "HTTP/1.1");
      }
      case CADDY -> all.put("host", r.host());
      case CLOUDFLARE, ENVOY, ISTIO, S3, AZURE -> {
        all.put("host", r.host());
        all.put("agent", r.agent());
      }
      case GCP, ELB -> all.put("agent", r.agent());
      case IIS -> {
        all.put("user", r.user());
        all.put("agent", r.agent().replace(' ', '+'));
        all.put("referer", r.referer());
      }
      case CLOUDFRONT -> {
        all.put("host", r.host());
        all.put("agent", r.agent().replace(" ", "%20"));
      }
      case ALB -> {
        all.put("domain_name", r.host());
        all.put("agent", r.agent());
        all.put("protocol", "HTTP/1.1");
      }
      case HAPROXY -> {
        all.put("frontend", "http-in");
        all.put("backend", "static");
        all.put("server", "srv1");
      }
      case SQUID -> {
        all.put("result", "TCP_MISS");
        all.put("user", r.user());
      }
      default -> throw new IllegalStateException(name());
    }
    return all;
  }

  private static String dash(String value) {
    return value.isEmpty() ? "-" : value;
  }

  private static String text(String value) {
    return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
