package dev.weir.cluster;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.shared.Clocks;
import dev.weir.shared.ClusterMember;
import dev.weir.shared.Resolver;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The settings with which a member takes part in a cluster. Immutable. */
public final class ClusterSettings {
  /*
   * How is ClusterSettings designed, and why? It has the parameters of opening a member, and
   * resolves one name, once: that of the address on which the member listens. The other members'
   * names are resolved at each connection, since addresses change.
   *
   * Settings that could form two clusters instead of one are refused here, since that cannot be
   * mended later. Ranges of numbers are checked by the server's settings (ClusterChecks there),
   * whose messages can name the flag; a number beyond its range fails when it is used.
   */

  /**
   * The files with which members prove their identity to each other; PEM, read again when they
   * change.
   *
   * @param certificate this member's, and those between it and an authority's
   * @param key its private key, in PKCS #8
   * @param authorities those that may sign members' certificates
   */
  public record TlsFiles(Path certificate, Path key, Path authorities) {}

  private final ClusterMember self;
  private final Path folder;
  private final List<ClusterMember> members;
  private final int size;
  private final Resolver resolver;
  private final InetSocketAddress listen;
  private final String zone;
  private final @Nullable TlsFiles tls;
  private final int groups;
  private final int replicas;
  private final int levelMost;
  private final long maxKeys;
  private final long maxBytes;
  private final Clocks clocks;
  private final Duration electionTimeout;
  private final Duration maxSkew;
  private final Consumer<? super String> log;

  private ClusterSettings(Builder builder) {
    self = builder.self;
    folder = builder.folder;
    members = List.copyOf(builder.members);
    size = builder.size;
    resolver = builder.resolver == null ? Resolver.system() : builder.resolver;
    listen =
        builder.listen.isUnresolved()
            ? new InetSocketAddress(builder.listen.getHostString(), builder.listen.getPort())
            : builder.listen;
    zone = builder.zone;
    tls = builder.tls;
    groups = builder.groups;
    replicas = builder.replicas;
    levelMost = builder.levelMost;
    maxKeys = builder.maxKeys;
    maxBytes = builder.maxBytes;
    clocks = builder.clocks;
    electionTimeout = builder.electionTimeout;
    maxSkew = builder.maxSkew;
    log = builder.log;
  }

  /**
   * Returns a builder of settings for one member.
   *
   * @param self the name of this member, and the address at which the others reach it
   * @param folder used by this member alone: its log, its snapshots, its charter; without a comma
   */
  public static Builder builder(ClusterMember self, Path folder) {
    return new Builder(self, folder);
  }

  /** Returns this member's name; one of the {@link #members} has it. */
  public String name() {
    return self.name();
  }

  public Path folder() {
    return folder;
  }

  public List<ClusterMember> members() {
    return members;
  }

  public int size() {
    return size;
  }

  public Resolver resolver() {
    return resolver;
  }

  public InetSocketAddress listen() {
    return listen;
  }

  public String zone() {
    return zone;
  }

  public @Nullable TlsFiles tls() {
    return tls;
  }

  public int groups() {
    return groups;
  }

  public int replicas() {
    return replicas;
  }

  public int levelMost() {
    return levelMost;
  }

  public long maxKeys() {
    return maxKeys;
  }

  public long maxBytes() {
    return maxBytes;
  }

  public Clocks clocks() {
    return clocks;
  }

  Duration electionTimeout() {
    return electionTimeout;
  }

  public Duration maxSkew() {
    return maxSkew;
  }

  public Consumer<? super String> log() {
    return log;
  }

  /** A builder of settings. Not safe for use by several threads. */
  public static final class Builder {
    private final ClusterMember self;
    private final Path folder;
    private List<ClusterMember> members;
    private int size;
    private @Nullable Resolver resolver;
    private InetSocketAddress listen;
    private String zone = "";
    private @Nullable TlsFiles tls;
    private int groups = 1;
    private int replicas = 3;
    private int levelMost;
    private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;
    private long maxBytes = Runtime.getRuntime().maxMemory() / 2;
    private Clocks clocks = new Clocks(Ticker.system(), Ticker.wall());
    private Duration electionTimeout = Duration.ofSeconds(1);
    private Duration maxSkew = Duration.ofSeconds(1);
    private Consumer<? super String> log = line -> {};

    private Builder(ClusterMember self, Path folder) {
      if (folder.toString().contains(",")) { // Ratis would take it for two folders.
        throw new IllegalArgumentException("folder: " + folder + " (expected: without a comma)");
      }
      this.self = self;
      this.folder = folder;
      members = List.of(self);
      listen = InetSocketAddress.createUnresolved(self.host(), self.port());
    }

    /**
     * Sets the members that form the cluster, or some members of an existing one. This member is
     * added unless one of them has its name. Default: only this member.
     *
     * @throws IllegalArgumentException if two of them have the same name
     */
    public Builder members(List<ClusterMember> members) {
      List<ClusterMember> all = new ArrayList<>(members);
      if (all.stream().noneMatch(each -> each.name().equals(self.name()))) {
        all.add(self);
      }
      if (all.stream().map(ClusterMember::name).distinct().count() < all.size()) {
        throw new IllegalArgumentException("members: two of one name");
      }
      this.members = all;
      return this;
    }

    /**
     * Sets the number of members that must see each other before they form a cluster, if they find
     * each other by the DNS. Default: 0, which stands for the number of {@link #members}, and is
     * not allowed if one of these stands for all behind a name.
     */
    public Builder size(int size) {
      this.size = size;
      return this;
    }

    /** Sets the resolver that finds members by the DNS. Default: {@link Resolver#system()}. */
    public Builder resolver(Resolver resolver) {
      this.resolver = resolver;
      return this;
    }

    /**
     * Sets the address on which this member listens for the others; a name is resolved when the
     * settings are built. Default: the address at which the others reach it.
     */
    public Builder listen(InetSocketAddress address) {
      this.listen = address;
      return this;
    }

    /**
     * Sets the name of the machines that fail together with this member. Default: empty for
     * unknown.
     */
    public Builder zone(String zone) {
      this.zone = zone;
      return this;
    }

    /**
     * Sets the files with which members prove their identity to each other; null for connections
     * without TLS. Default: null.
     */
    public Builder tls(@Nullable TlsFiles files) {
      this.tls = files;
      return this;
    }

    /**
     * Sets the number of logs over which the keys of a new cluster are spread, the same at each
     * member, 1 to 256. Default: 1.
     */
    public Builder groups(int groups) {
      this.groups = groups;
      return this;
    }

    /**
     * Sets the number of members of a new cluster that have each group, if there are that many; the
     * same at each member, at least 1. Default: 3.
     */
    public Builder replicas(int replicas) {
      this.replicas = replicas;
      return this;
    }

    /**
     * Sets the highest level of the members' messages at which the member takes part, and at which
     * it keeps the cluster, up to {@link ClusterMember#MOST_LEVEL}. Default: 0, for the highest
     * that this version understands.
     *
     * @throws IllegalArgumentException if this version does not understand the level
     */
    public Builder levelMost(int level) {
      if (level != 0 && (level < Levels.HERE.least() || level > Levels.HERE.most())) {
        throw new IllegalArgumentException(
            "levelMost: "
                + level
                + " (expected: one of "
                + Levels.HERE
                + ", or 0 for all of them)");
      }
      this.levelMost = level;
      return this;
    }

    /**
     * Sets the number of keys in a group from which on no new key is accepted, at least 1. Default:
     * {@link MemoryStore#DEFAULT_MAX_KEYS}.
     */
    public Builder maxKeys(long keys) {
      this.maxKeys = keys;
      return this;
    }

    /**
     * Sets the number of bytes of a group's state from which on no new key is accepted, at least 1.
     * Default: half of the heap.
     */
    public Builder maxBytes(long bytes) {
      this.maxBytes = bytes;
      return this;
    }

    /**
     * Sets the clocks: the monotonic one decides; the calendar follows the wall clock. Default:
     * {@link Ticker#system()} and {@link Ticker#wall()}.
     */
    public Builder clocks(Clocks clocks) {
      this.clocks = clocks;
      return this;
    }

    /**
     * Sets the time without a leader after which another may be elected, at least 50 ms; an
     * election begins after at most twice that time. Default: 1 s.
     */
    public Builder electionTimeout(Duration timeout) {
      this.electionTimeout = timeout;
      return this;
    }

    /**
     * Sets the largest difference between a leader's wall clock and the calendar of its group at
     * which the calendar follows, at least 50 ms. Default: 1 s.
     */
    public Builder maxSkew(Duration skew) {
      this.maxSkew = skew;
      return this;
    }

    /** Sets the receiver of messages for operators, in one line each. Default: none. */
    public Builder log(Consumer<? super String> log) {
      this.log = log;
      return this;
    }

    /**
     * Returns the settings.
     *
     * @throws IllegalArgumentException if members are found by the DNS and {@link #size} is not set
     */
    public ClusterSettings build() {
      if (size < 1 && members.stream().anyMatch(ClusterMember::standsForAll)) {
        throw new IllegalArgumentException(
            "size: " + size + " (expected: how many members must see each other, from 1)");
      }
      return new ClusterSettings(this);
    }
  }
}
