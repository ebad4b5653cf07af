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

/** How a member takes part in a cluster. Immutable. */
public final class ClusterSettings {
  /*
   * How is ClusterSettings designed, and why? It holds what a member is opened with, and looks up
   * what is to be looked up once: where it listens. The other members' names are looked up again
   * whenever they are connected to, since addresses change.
   *
   * What would have two clusters form where there should be one is refused here, for it cannot be
   * mended later. Ranges of numbers are checked by the server's settings (ClusterChecks there),
   * which can say by which flag a number was set; a number beyond its range fails when it is used.
   */

  /**
   * What members prove themselves to each other with; PEM files, read again when they change.
   *
   * @param certificate this member's, and those between it and an authority's
   * @param key its private key, in PKCS #8
   * @param authorities who may sign members' certificates
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
   * @param self what the others call this member, and where they reach it
   * @param folder this member's alone: its log, its snapshots, what it agreed on; without a comma
   */
  public static Builder builder(ClusterMember self, Path folder) {
    return new Builder(self, folder);
  }

  /** Returns this member's name, which one of the {@link #members} has. */
  public String name() {
    return self.name();
  }

  Path folder() {
    return folder;
  }

  List<ClusterMember> members() {
    return members;
  }

  int size() {
    return size;
  }

  Resolver resolver() {
    return resolver;
  }

  InetSocketAddress listen() {
    return listen;
  }

  public String zone() {
    return zone;
  }

  @Nullable TlsFiles tls() {
    return tls;
  }

  public int groups() {
    return groups;
  }

  int replicas() {
    return replicas;
  }

  int levelMost() {
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

  /** Collects settings. Not safe for use by several threads. */
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
      if (folder.toString().contains(",")) { // Ratis takes it for two folders.
        throw new IllegalArgumentException("folder: " + folder + " (expected: without a comma)");
      }
      this.self = self;
      this.folder = folder;
      members = List.of(self);
      listen = InetSocketAddress.createUnresolved(self.host(), self.port());
    }

    /**
     * Sets the members that form the cluster, or some of one that is there. This member is added
     * unless one of them has its name. Default: only this member.
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
     * Sets how many members must see each other before they form a cluster, where they find each
     * other by the DNS. Default: 0, which is the number of {@link #members}, and not to be had
     * where one of these stands for all behind a name.
     */
    public Builder size(int size) {
      this.size = size;
      return this;
    }

    /** Sets what finds members by the DNS. Default: {@link Resolver#system()}. */
    public Builder resolver(Resolver resolver) {
      this.resolver = resolver;
      return this;
    }

    /**
     * Sets where this member listens for the others; a name is looked up when the settings are
     * built. Default: where the others reach it.
     */
    public Builder listen(InetSocketAddress address) {
      this.listen = address;
      return this;
    }

    /** Sets what fails together with this member. Default: empty, so nothing that is known. */
    public Builder zone(String zone) {
      this.zone = zone;
      return this;
    }

    /**
     * Sets what members prove themselves to each other with; null for connections without TLS.
     * Default: null.
     */
    public Builder tls(@Nullable TlsFiles files) {
      this.tls = files;
      return this;
    }

    /**
     * Sets how many logs the keys of a new cluster are spread over, the same at each member, 1 to
     * 256. Default: 1.
     */
    public Builder groups(int groups) {
      this.groups = groups;
      return this;
    }

    /**
     * Sets how many members of a new cluster have each group, where there are as many; the same at
     * each member, at least 1. Default: 3.
     */
    public Builder replicas(int replicas) {
      this.replicas = replicas;
      return this;
    }

    /**
     * Sets up to which level of what members say to each other the member takes part, and keeps the
     * cluster at it, up to {@link ClusterMember#MOST_LEVEL}. Default: 0, for all that this version
     * understands.
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
     * Sets from how many keys in a group on no new one is let in, at least 1. Default: {@link
     * MemoryStore#DEFAULT_MAX_KEYS}.
     */
    public Builder maxKeys(long keys) {
      this.maxKeys = keys;
      return this;
    }

    /**
     * Sets from how many bytes of a group's state on no new key is let in, at least 1. Default:
     * half of the heap.
     */
    public Builder maxBytes(long bytes) {
      this.maxBytes = bytes;
      return this;
    }

    /**
     * Sets the clocks: the monotonic one decides; the wall clock is what the calendar follows.
     * Default: {@link Ticker#system()} and {@link Ticker#wall()}.
     */
    public Builder clocks(Clocks clocks) {
      this.clocks = clocks;
      return this;
    }

    /**
     * Sets after how long without a leader another may be elected, at least 50 ms; twice as long at
     * most. Default: 1 s.
     */
    public Builder electionTimeout(Duration timeout) {
      this.electionTimeout = timeout;
      return this;
    }

    /**
     * Sets by how much a leader's wall clock may differ from the calendar of its group for that to
     * follow it, at least 50 ms. Default: 1 s.
     */
    public Builder maxSkew(Duration skew) {
      this.maxSkew = skew;
      return this;
    }

    /** Sets what receives what an operator should know, in one line each. Default: nothing. */
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
