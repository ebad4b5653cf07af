/**
 * Rate limits that hold: at most a given number of permits per key in any window, whatever the
 * threads, the clock and the changes of the limit.
 *
 * <pre>{@code
 * RateLimiter limiter = RateLimiter.of(Quota.perSecond(10), Quota.perMinute(100));
 * Decision decision = limiter.tryAcquire(user);
 * if (!decision.allowed()) {
 *   return "retry after " + decision.retryAfterSeconds() + " s";
 * }
 * }</pre>
 *
 * <p>A <i>quota</i> is permits per window; a <i>policy</i> is a quota with a name, an algorithm and
 * options; a <i>limiter</i> decides by one policy or several; a <i>decision</i> is the answer:
 * allowed or refused, the reason, how many permits remain and when to try again. State is kept in
 * this process, or in a <i>store</i> that several processes share. Nothing here depends on anything
 * but the JDK.
 *
 * <h2>To use</h2>
 *
 * <ul>
 *   <li>{@link dev.weir.RateLimiter}: a limiter for many keys. {@link dev.weir.LimiterBuilder}: its
 *       options
 *   <li>{@link dev.weir.SingleLimiter}: a limiter without keys
 *   <li>{@link dev.weir.Quota}: permits per window
 *   <li>{@link dev.weir.Decision}, {@link dev.weir.Reason}: the answer
 *   <li>{@link dev.weir.Reservation}: permits for a later instant
 *   <li>{@link dev.weir.adaptive.AdaptiveLimiter}: a limit at the same time that is found by itself
 * </ul>
 *
 * <h2>To tune</h2>
 *
 * <ul>
 *   <li>{@link dev.weir.Policy}: a quota with its name, algorithm and options
 *   <li>{@link dev.weir.Algorithm}: how permits are counted; {@link dev.weir.Throttle}, {@link
 *       dev.weir.LoadSignal}: how strictly
 *   <li>{@link dev.weir.FullMode}: the treatment of new keys when there is no room
 *   <li>{@link dev.weir.Sharing}, {@link dev.weir.Consistency}, {@link dev.weir.FailureMode}: how a
 *       policy behaves in a store that processes share
 *   <li>{@link dev.weir.PackedLimiter}, {@link dev.weir.PackedDecision}: decisions that allocate
 *       nothing
 *   <li>{@link dev.weir.LimiterListener}: a receiver of every decision, for metrics
 *   <li>{@link dev.weir.Ticker}: the time that decides
 * </ul>
 *
 * <h2>For stores</h2>
 *
 * <ul>
 *   <li>{@link dev.weir.Store}, {@link dev.weir.LocalStore}: places of state; {@link
 *       dev.weir.MemoryStore}: one in this process
 *   <li>{@link dev.weir.Binding}: a policy in force in a store; {@link dev.weir.Shape}: which
 *       policies share state
 *   <li>{@link dev.weir.Charges}, {@link dev.weir.Batch}: requests and their answers
 *   <li>{@link dev.weir.Fingerprint}: the hash that a store keeps of a key
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir;
