package dev.weir.server.internal.metrics;

import dev.weir.client.ClientMetrics;

/** The metrics of a server that calls another one. */
public final class ClientFamilies {
  private ClientFamilies() {}

  /** Adds the counts of the client of the upstream server. */
  public static void add(Families to, ClientMetrics client) {
    to.gauge(
        "weir_client_available",
        "1 while the upstream server can be asked, 0 while it is away.",
        client.available() ? 1 : 0);
    to.counter(
        "weir_client_admitted_locally",
        "Requests that a lease let pass without a call to the upstream server.",
        client.admittedLocally());
    to.counter(
        "weir_client_refused_locally",
        "Requests that a remembered denial refused without a call to the upstream server.",
        client.refusedLocally());
    to.counter("weir_client_asked", "Requests that the upstream server decided.", client.asked());
    to.counter(
        "weir_client_answered_away",
        "Requests that were answered while the upstream server could not be asked.",
        client.answeredAway());
    to.counter("weir_client_messages", "Messages sent to the upstream server.", client.messages());
    to.counter("weir_client_leases", "Leases taken from the upstream server.", client.leases());
    to.counter("weir_client_lent_permits", "Permits of these leases.", client.lent());
    to.counter(
        "weir_client_returned_permits",
        "Permits of leases that were given back unspent.",
        client.returned());
  }
}
