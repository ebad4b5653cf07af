package dev.weir.siege.crash;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.cluster.Errand;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import dev.weir.siege.soak.Admissions;
import dev.weir.testkit.WindowChecker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The permits that clients were given for each key over all lives of a server, and the source of
 * their requests. Safe for use by many threads.
 */
final class Ledger {
  /*
   * How are answers judged, without any arithmetic of windows? A key's window is far longer than a
   * siege, so its permits are a number that only falls. Certainly given are those of requests that
   * were answered so; possibly given are those of requests without an answer as well.
   *
   * Too much: more permits are certainly given than the limit has. Refused wrongly: the permits of
   * the refused request would fit beside all that are possibly given. The second is judged when the
   * refusal arrives. What was in flight when the server decided was answered since, and is counted
   * by its answer, or is still without one.
   */

  /** The keys of each rule that are in use at a time. */
  private static final int IN_USE = 8;

  private static final int MOST_PERMITS = 3;

  /**
   * The share of requests for keys that are used up, and of rules with short windows: 1 in so many.
   */
  private static final int SPENT = 20;

  private static final int RUNNING = 8;
  private static final int HOT_KEYS = 2;

  /** The most wrong answers that are kept as text. */
  private static final int MOST_LINES = 20;

  /** The longest time between a request and its answer. */
  private static final Duration LATE = Guest.PATIENCE.plusSeconds(5);

  /** The permits of a key of a rule. */
  private static final class Account {
    final SiegeRule rule;
    final String key;
    long given;
    long unanswered;

    /** True when the last permit seems to be gone: requests are for single permits from then on. */
    boolean low;

    Account(SiegeRule rule, String key) {
      this.rule = rule;
      this.key = key;
    }

    @Override
    public String toString() {
      return rule + " " + key + ": " + given + " given, " + unanswered + " unanswered";
    }
  }

  /**
   * The result of a siege so far.
   *
   * @param requests the requests for permits that never come back
   * @param given the permits that were certainly given
   * @param unanswered the permits of requests without an answer
   * @param keys the number of keys
   * @param excess the permits that were certainly given beyond limits
   * @param falseRefusals the refusals of permits that fit, whatever became of those without answers
   * @param undecided the answers without a decision
   * @param lines the first wrong answers
   */
  record Balance(
      long requests,
      long given,
      long unanswered,
      int keys,
      long excess,
      long falseRefusals,
      long undecided,
      List<String> lines) {}

  // All fields are guarded by this object's lock.
  private final Map<SiegeRule, List<Account>> inUse = new HashMap<>();
  private final List<Account> spent = new ArrayList<>();
  private final Map<String, Account> wide = new HashMap<>();
  private final Admissions running = new Admissions(LATE);
  private final List<String> lines = new ArrayList<>();
  private int keys;
  private long requests;
  private long given;
  private long unanswered;
  private long excess;
  private long falseRefusals;
  private long undecided;

  /** A request for permits of one or more accounts. */
  private final class Claim implements Errand {
    private final List<Account> accounts;
    private final int permits;

    Claim(List<Account> accounts, int permits) {
      this.accounts = accounts;
      this.permits = permits;
      requests++;
      for (Account each : accounts) {
        each.unanswered += permits;
        unanswered += permits;
      }
    }

    @Override
    public String rule() {
      return accounts.get(0).rule.name();
    }

    @Override
    public List<String> rules() {
      return accounts.stream().map(each -> each.rule.name()).toList();
    }

    @Override
    public String key() {
      return accounts.get(0).key;
    }

    @Override
    public int permits() {
      return permits;
    }

    @Override
    public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
      synchronized (Ledger.this) {
        if (!answer.allowed() && !answer.reason().equals(Guest.Answer.OVER_LIMIT)) {
          undecided++;
          return null;
        }
        for (Account each : accounts) {
          each.unanswered -= permits;
          unanswered -= permits;
          if (answer.allowed()) {
            given(each, permits);
          }
        }
        if (!answer.allowed()) {
          refused();
        }
        return null; // The ledger keeps what is wrong.
      }
    }

    private void given(Account account, int more) {
      given += more;
      account.given += more;
      long beyond = Math.min(more, account.given - account.rule.permits());
      if (beyond > 0) {
        excess += beyond;
        wrong("too much: " + account);
      }
    }

    private void refused() {
      boolean fits =
          accounts.stream()
              .allMatch(
                  each ->
                      each.given + each.unanswered + permits <= CrashRules.leastPermits(each.rule));
      if (fits) {
        falseRefusals++;
        wrong(permits + " refused: " + accounts);
      }
      Account first = accounts.get(0);
      boolean wasLow = first.low;
      first.low = true;
      if (wasLow && inUse(first.rule).remove(first)) {
        spent.add(first);
      }
    }

    @Override
    public @Nullable String unanswered(IOException reason) {
      return null; // Its permits remain counted as such.
    }
  }

  /** A request for a permit of a rule with a short window. */
  private record Hot(Admissions admissions, SiegeRule siegeRule, String key) implements Errand {
    @Override
    public String rule() {
      return siegeRule.name();
    }

    @Override
    public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
      if (answer.allowed()) {
        admissions.add(siegeRule, key, 1, startNanos, endNanos);
      }
      return null;
    }

    @Override
    public @Nullable String unanswered(IOException reason) {
      return null;
    }
  }

  private void wrong(String line) {
    if (lines.size() < MOST_LINES) {
      lines.add(line);
    }
  }

  private List<Account> inUse(SiegeRule rule) {
    return inUse.computeIfAbsent(rule, first -> new ArrayList<>());
  }

  private Account account(SiegeRule rule, SplittableRandom random) {
    List<Account> accounts = inUse(rule);
    while (accounts.size() < IN_USE) {
      accounts.add(new Account(rule, "k" + keys++));
    }
    return accounts.get(random.nextInt(accounts.size()));
  }

  /** Returns the next request of a client. */
  synchronized Errand next(Protocol protocol, SplittableRandom random) {
    boolean throttle = protocol == Protocol.THROTTLE;
    if (!throttle && random.nextInt(RUNNING) == 0) {
      SiegeRule rule = CrashRules.RUNNING.get(random.nextInt(CrashRules.RUNNING.size()));
      return new Hot(running, rule, "hot-" + random.nextInt(HOT_KEYS));
    }
    if (random.nextInt(SPENT) == 0 && !spent.isEmpty()) {
      Account old = spent.get(random.nextInt(spent.size()));
      if (throttle == old.rule.equals(CrashRules.THROTTLE)) {
        return new Claim(List.of(old), 1);
      }
    }
    int most = CrashRules.COUNTED.size();
    SiegeRule rule = throttle ? CrashRules.THROTTLE : CrashRules.COUNTED.get(random.nextInt(most));
    Account account = account(rule, random);
    int permits = account.low || rule.permits() == 1 ? 1 : random.nextInt(1, MOST_PERMITS + 1);
    List<Account> asked = new ArrayList<>(List.of(account));
    if (rule.equals(CrashRules.NARROW)) {
      Account other = wide.computeIfAbsent(account.key, key -> new Account(CrashRules.WIDE, key));
      boolean several = protocol == Protocol.HTTP || protocol == Protocol.GRPC;
      if (several && random.nextBoolean()) {
        asked.add(other);
      } else if (random.nextBoolean()) {
        asked.set(0, other);
      }
    }
    return new Claim(asked, permits);
  }

  /**
   * Returns keys that are in use, as functions that request one permit until that is refused: after
   * that, all their permits are known.
   *
   * @param share returns one key in so many
   */
  List<Drain> drains(int share, SplittableRandom random) {
    List<Drain> drains = new ArrayList<>();
    synchronized (this) {
      for (List<Account> each : inUse.values()) {
        each.stream()
            .filter(any -> random.nextInt(share) == 0)
            .map(Drain::new)
            .forEach(drains::add);
      }
      wide.values().stream()
          .filter(any -> !any.low && random.nextInt(share) == 0)
          .map(Drain::new)
          .forEach(drains::add);
    }
    return drains;
  }

  /** A key whose last permits are requested. */
  final class Drain {
    private final Account account;

    private Drain(Account account) {
      this.account = account;
    }

    boolean throttle() {
      return account.rule.equals(CrashRules.THROTTLE);
    }

    /** Requests single permits until one is refused, or certainly too many are given. */
    void run(Guest guest) throws IOException {
      Guest.Answer answer;
      do {
        Claim claim;
        synchronized (Ledger.this) {
          claim = new Claim(List.of(account), 1);
        }
        answer = guest.request(claim.rule(), claim.key(), 1);
        long now = System.nanoTime();
        String unused = claim.judge(answer, now, now);
      } while (answer.allowed() && account.given <= account.rule.permits());
    }
  }

  /** Returns what is proved so far. */
  Balance balance() {
    running.check(
        (rule, admitted) -> {
          long most = WindowChecker.maxInAnyWindow(admitted, rule.window().toNanos());
          synchronized (this) {
            if (most > rule.permits()) {
              excess += most - rule.permits();
              wrong("too much: " + rule + ": " + most + " in a window");
            }
          }
        });
    synchronized (this) {
      return new Balance(
          requests, given, unanswered, keys, excess, falseRefusals, undecided, List.copyOf(lines));
    }
  }
}
