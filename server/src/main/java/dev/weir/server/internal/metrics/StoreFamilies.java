package dev.weir.server.internal.metrics;

import dev.weir.shared.SharedMetrics;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;

/** The metrics of the store that a server shares with others. */
public final class StoreFamilies {
  private StoreFamilies() {}

  /** Adds the counts of the store. */
  public static void add(Families to, SharedMetrics store) {
    to.gauge(
        "weir_store_available",
        "1 if every part of the shared store (node, group) can be asked, 0 if not.",
        store.available() ? 1 : 0);
    to.counter("weir_store_calls", "Calls to the shared store.", store.calls());
    to.counter("weir_store_decided", "Charges that the shared store decided.", store.decided());
    to.counter(
        "weir_store_merged",
        "Charges sent to the shared store together with an earlier one for the same key.",
        store.merged());
    to.counter(
        "weir_store_held",
        "Charges decided in this server by an allotment, a local count or a remembered refusal,"
            + " without a call to the shared store.",
        store.held());
    to.counter(
        "weir_store_on_failure_local",
        "Charges decided in this server, by on_failure local, because the shared store could not"
            + " be asked.",
        store.onFailureLocal());
    to.counters(
        "weir_store_failures",
        "Operations that the shared store did not carry out, or not in time, by kind of failure:"
            + " decisions, by charge, and also refunds, resets, records and allotments.",
        store.failures().entrySet(),
        failure -> Labels.of("kind", failure.getKey()),
        Map.Entry::getValue);
    to.counter(
        "weir_store_late_permits",
        "Permits that the shared store granted too late and that were given back.",
        store.late());
    to.counter(
        "weir_store_burned_permits",
        "Permits that may stay charged in the shared store although their requests were refused.",
        store.burned());
    to.counter(
        "weir_store_clock_steps",
        "How often the shared store's clock went back.",
        store.clockSteps());
    to.counters(
        "weir_store_losses",
        "Signs that the shared store has lost counts, by kind: counts (it came back empty or"
            + " older), restart (another process of it answers), eviction (keys evicted).",
        store.losses().entrySet(),
        loss -> Labels.of("kind", loss.getKey()),
        Map.Entry::getValue);
    to.gauge(
        "weir_store_queued", "Charges that wait to be sent to the shared store.", store.queued());
  }
}
