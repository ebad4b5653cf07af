package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A store that fails at a test's request, and records the calls that it received. */
public final class FaultyConfigStore extends WrappedConfigStore {
  /** The calls that fail. */
  public enum Fault {
    NONE,
    AWAY,
    NO_TEXTS,
    NO_BEATS
  }

  public Fault fault = Fault.NONE;
  public int heads;
  public int beats;
  public final List<String> textsAsked = new ArrayList<>();
  @Nullable public Runnable atHead;

  public FaultyConfigStore(ConfigStore to) {
    super(to);
  }

  private void failIf(Fault now) {
    if (fault == Fault.AWAY || fault == now) {
      throw new ConfigException(Kind.UNAVAILABLE, "no answer (expected: one)");
    }
  }

  @Override
  public Head head() {
    heads++;
    if (atHead != null) {
      atHead.run();
    }
    failIf(Fault.AWAY);
    return super.head();
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    failIf(Fault.NO_TEXTS);
    textsAsked.addAll(hashes);
    return super.texts(hashes);
  }

  @Override
  public void beat(Node node) {
    failIf(Fault.NO_BEATS);
    beats++;
    super.beat(node);
  }
}
