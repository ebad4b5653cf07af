package dev.weir.admin.internal.access;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.Head;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The tokens of the store, in memory. Safe for use by many threads. */
public final class TokenCache {
  /*
   * How soon does a new or revoked token take effect? A look-up more than a second after the last
   * check reads the store's position, and the tokens if the position has moved. One thread does
   * this while others use the tokens in memory, unless those are older than the stated 3 s. Then
   * they wait, and if the store does not answer, no token is accepted. A revoked token must not be
   * valid for as long as a network is down, and without the store there is little to administrate.
   */
  private static final long CHECK_NANOS = 1_000_000_000L;
  static final long STATED_NANOS = 3_000_000_000L;

  private record KnownToken(Map<String, Token> tokens, long position, long checkedNanos) {}

  private static final System.Logger LOG = System.getLogger("dev.weir.admin");

  private final ConfigStore store;
  private final Ticker ticker;
  private final ReentrantLock turn = new ReentrantLock();
  private volatile @Nullable KnownToken known;

  /** The tokens read last, however old they are. */
  private volatile Map<String, Token> readLast = Map.of();

  public TokenCache(ConfigStore store, Ticker ticker) {
    this.store = store;
    this.ticker = ticker;
  }

  /**
   * Returns the token of this id, or null.
   *
   * @throws ConfigException if the tokens were not read within the stated time
   */
  @Nullable Token get(String id) {
    return current().tokens().get(id);
  }

  /** Returns the token of this id when tokens were read last, or null. It does not wait. */
  @Nullable Token last(String id) {
    return readLast.get(id);
  }

  /** Makes the next look-up read the store, because this server has changed tokens. */
  void changed() {
    turn.lock(); // A read that is under way may return older tokens.
    try {
      known = null;
    } finally {
      turn.unlock();
    }
  }

  private KnownToken current() {
    KnownToken last = known;
    if (last != null && age(last) < CHECK_NANOS) {
      return last;
    }
    if (last != null && age(last) < STATED_NANOS) {
      if (!turn.tryLock()) {
        return last;
      }
    } else {
      turn.lock();
    }
    try {
      return read(known);
    } catch (ConfigException e) {
      if (last != null && age(last) < STATED_NANOS) {
        return last;
      }
      throw e;
    } finally {
      turn.unlock();
    }
  }

  private KnownToken read(@Nullable KnownToken last) {
    if (last != null && age(last) < CHECK_NANOS) {
      return last; // Another thread has read them meanwhile.
    }
    long now = ticker.nanos();
    Head head = store.head();
    Map<String, Token> tokens = new HashMap<>();
    if (last != null && last.position() == head.position()) {
      tokens = last.tokens();
    } else {
      for (Entry entry : store.entries(Token.KIND)) {
        try {
          tokens.put(entry.name(), Token.read(entry));
        } catch (ConfigException e) {
          // A token that a newer version made, or that is damaged, is not accepted; the others are.
          LOG.log(System.Logger.Level.WARNING, "token {0}: {1}", entry.name(), e.getMessage());
        }
      }
    }
    KnownToken read = new KnownToken(Map.copyOf(tokens), head.position(), now);
    known = read;
    readLast = read.tokens();
    return read;
  }

  private long age(KnownToken of) {
    return ticker.nanos() - of.checkedNanos();
  }
}
