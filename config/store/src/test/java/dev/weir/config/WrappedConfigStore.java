package dev.weir.config;

/** A store that forwards all calls to a given one; tests override some of its methods. */
public class WrappedConfigStore extends ForwardingConfigStore {
  private final ConfigStore to;

  public WrappedConfigStore(ConfigStore to) {
    this.to = to;
  }

  @Override
  protected ConfigStore delegate() {
    return to;
  }
}
