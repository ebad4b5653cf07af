package dev.weir.traffic;

import dev.weir.internal.Choice;
import dev.weir.rules.ValueErrors;
import java.util.List;

/** The format of an input: the way in which its records are written. */
public enum Format {
  /** The format that the input's beginning shows, if it shows one with certainty. */
  AUTO,
  /** Access logs of Apache and nginx, combined or common, each line with or without quotes. */
  COMBINED,
  /** Combined access logs behind the name of the virtual host: Apache's {@code vhost_combined}. */
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
  /** Logs of Google Cloud's load balancer, JSON. */
  GCP,
  /** Access logs of Azure Front Door, JSON. */
  AZURE,
  /** Logs of Tomcat's and Spring Boot's JsonAccessLogValve. */
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
  /** HAProxy's HTTP log, with or without the text that syslog writes before it. */
  HAPROXY,
  /** Squid's native access log. */
  SQUID,
  /** Labelled values separated by tabs, LTSV. */
  LTSV,
  /** Lines of values in an order that the user gives. */
  LAYOUT,
  /** Comma-separated values with a header, RFC 4180. */
  CSV,
  /** Tab-separated values with a header. */
  TSV,
  /** JSON objects, one per line. */
  JSONL;

  /** The formats that can be written as well as read. */
  static final List<Format> WRITTEN = List.of(COMBINED, CSV, TSV, JSONL);

  /**
   * The formats of no particular program: no column of theirs has the time or the client for
   * certain, and these are found by their usual names.
   */
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
    return ValueErrors.choice(Format.class, "format", text);
  }

  @Override
  public String toString() {
    return text();
  }
}
