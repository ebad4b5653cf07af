package dev.weir.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;

/**
 * One limit in properties: {@code weir.limits.<name>}. The options {@code requests_per_unit},
 * {@code unit} and {@code window} of a rule file are {@code requests} and {@code per} here; every
 * other option is that of a rule, with the same meaning.
 *
 * @param requests Permits per window, 0 to 4294967295. Required without concurrency.
 * @param per The window: second, minute, hour, day, week, month, year, or a time such as 90s or
 *     1h30m. Required without concurrency.
 * @param concurrency Requests at the same time, instead of requests per window.
 * @param hold Time after which a request whose process has died counts no more. Default: 1 minute.
 * @param by What requests are counted together by: ip, login, login|ip, header:X-Api-Key, path;
 *     several for their combination; none for one counter for all. With paths or methods the
 *     default is ip. Without any of the three the limit is that of the annotation of this name.
 * @param paths Paths that are limited: "/login", "/users/*", "/static/**". Without any, all.
 * @param methods Methods that are limited. Without any, all.
 * @param algorithm How permits are counted.
 * @param costs Whether a request counts before it is served (before), or costs what the application
 *     reports afterwards (reported).
 * @param burst Capacity of a token-bucket or leaky-bucket.
 * @param granularity Length of a bucket of sliding-window-buckets.
 * @param throttle How strictly the limit is held: hard, "soft 5%", elastic, "elastic 70%".
 * @param store Where it is counted: local, shared.
 * @param consistency How closely processes that share the limit agree: strict, leased, approximate.
 * @param syncInterval How long a process may act on the last answer of the store, with leased or
 *     approximate.
 * @param onFailure Answer when the store cannot decide: deny, allow, local.
 * @param localShare Share of the limit that each process then admits by itself, such as 25%.
 * @param maxKeys Most keys of this limit that are counted at once.
 * @param whenFull What happens to a new key when there is no room: deny, sketch.
 * @param shadow Whether requests beyond the limit are only counted, and pass.
 * @param queue Requests beyond the limit that wait for their turn.
 */
public record LimitProperties(
    @Nullable String requests,
    @Nullable String per,
    @Nullable String concurrency,
    @Nullable String hold,
    @DefaultValue List<String> by,
    @DefaultValue List<String> paths,
    @DefaultValue List<String> methods,
    @Nullable String algorithm,
    @Nullable String costs,
    @Nullable String burst,
    @Nullable String granularity,
    @Nullable String throttle,
    @Nullable String store,
    @Nullable String consistency,
    @Nullable String syncInterval,
    @Nullable String onFailure,
    @Nullable String localShare,
    @Nullable String maxKeys,
    @Nullable String whenFull,
    @Nullable String shadow,
    @Nullable Queue queue) {

  /**
   * Requests beyond the limit that wait for their turn instead of being refused at once.
   *
   * @param requests Most requests that wait for one key at a time, 1 to 100000.
   * @param longestWait Longest that one waits, 1 ms to 1 minute.
   */
  public record Queue(@Nullable String requests, @Name("wait") @Nullable String longestWait) {}
}
