package dev.weir.traffic;

import dev.weir.rules.Choice;
import java.util.List;

/** How records are written in an input. */
public enum Format {
  /** As the input's beginning shows, if it shows that with certainty. */
  AUTO,
  /** Access logs of Apache and nginx, combined or common, each line with or without quotes. */
  COMBINED,
  /** The same behind the name of the virtual host: Apache's {@code vhost_combined}. */
  VHOST,
  /** Access logs of ingress-nginx. */
  NGINX_INGRESS,
  /** Access logs of Traefik in its own common log format. */
  TRAEFIK,
  /** Access logs of Traefik in JSON. */
  TRAEFIK_JSON,
  /** Access logs of Caddy, JSON. */
  CADDY,
  /** Cloudflare's Logpush data set of HTTP requests, JSON. */
  CLOUDFLARE,
  /** Google Cloud's load balancer, JSON. */
  GCP,
  /** Azure Front Door, JSON. */
  AZURE,
  /** Tomcat's and Spring Boot's JsonAccessLogValve. */
  TOMCAT_JSON,
  /** The requests that pino and bunyan log for Fastify, hapi, restify and others, JSON. */
  PINO,
  /** W3C's extended log file format: IIS, Amazon CloudFront. */
  W3C,
  /** Access logs of Amazon's application load balancer. */
  ALB,
  /** Access logs of Amazon's classic load balancer. */
  ELB,
  /** Server access logs of Amazon S3. */
  S3,
  /** Envoy's default access log. */
  ENVOY,
  /** Istio's default access log. */
  ISTIO,
  /** HAProxy's HTTP log, with or without what syslog writes before it. */
  HAPROXY,
  /** Squid's native access log. */
  SQUID,
  /** Labelled values with tabs between, LTSV. */
  LTSV,
  /** Lines of values in an order that the user has written. */
  LAYOUT,
  /** Comma-separated values with a header, RFC 4180. */
  CSV,
  /** Tab-separated values with a header. */
  TSV,
  /** One JSON object a line. */
  JSONL;

  /** Those that can be written as well as read. */
  static final List<Format> WRITTEN = List.of(COMBINED, CSV, TSV, JSONL);

  /** Those of which no column is known before the input's beginning is read. */
  public static final List<Format> GENERAL = List.of(LTSV, CSV, TSV, JSONL);

  /** Returns the name used in flags and reports, for example {@code jsonl}. */
  public String text() {
    return Choice.text(this);
  }

  /**
   * Returns the format of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static Format of(String text) {
    return Choice.of(Format.class, "format", text);
  }

  @Override
  public String toString() {
    return text();
  }
}
