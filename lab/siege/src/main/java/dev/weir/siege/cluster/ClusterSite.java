package dev.weir.siege.cluster;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.faults.ClockFault;
import dev.weir.siege.faults.ClusterFault;
import dev.weir.siege.faults.DamageFault;
import dev.weir.siege.faults.FullDiskFault;
import dev.weir.siege.faults.HostsFile;
import dev.weir.siege.faults.MembershipFault;
import dev.weir.siege.faults.MinorityFault;
import dev.weir.siege.faults.NameFault;
import dev.weir.siege.faults.NetworkFault;
import dev.weir.siege.faults.NetworkNamespaces;
import dev.weir.siege.faults.ProcessFault;
import dev.weir.siege.faults.ProxyFault;
import dev.weir.siege.faults.ShiftedClock;
import dev.weir.siege.faults.SlotsFault;
import dev.weir.siege.faults.UpgradeFault;
import dev.weir.siege.soak.SoakFiles;
import dev.weir.testkit.FaultProxy;
import dev.weir.testkit.Ports;
import dev.weir.testkit.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A site: the members of a cluster in their surroundings. The surroundings, such as proxies,
 * namespaces or a small disk, determine the possible faults. A site is made for one siege, which
 * closes it at its end; no member is started yet.
 *
 * @param faults all possible faults
 * @param parts the parts that are closed after the members, the last one first
 */
public record ClusterSite(Members members, List<ClusterFault> faults, List<AutoCloseable> parts)
    implements AutoCloseable {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int FOUNDERS = 3;
  private static final int PEER_PORT = 7946;
  private static final int DISK_MEGABYTES = 160;
  private static final List<String> NAMES = List.of("a", "b", "c", "d", "e");

  /**
   * The options of small servers, and the shared classes that a member loads; empty until a member
   * has loaded them.
   */
  private static List<String> shared = List.of();

  /** A maker of sites; it returns null if this machine cannot have a site of the kind. */
  interface Place {
    @Nullable ClusterSite make(Path folder, int size, SplittableRandom random) throws IOException;
  }

  /** Returns all kinds of sites by their names, those with the longest sieges first. */
  static Map<String, Place> places() {
    Map<String, Place> places = new LinkedHashMap<>();
    places.put("processes and files", ClusterSite::onLoopback);
    places.put("members that come and go", (own, size, seed) -> withNewcomers(own, seed));
    places.put("more groups", ClusterSite::withMoreGroups);
    places.put("a name and a new version", ClusterSite::behindName);
    places.put("two of five", (own, size, seed) -> ofFive(own, seed));
    places.put("partitions", ClusterSite::inNamespaces);
    places.put("connections", ClusterSite::behindProxies);
    places.put("a full disk", ClusterSite::onSmallDisk);
    return places;
  }

  /** Returns a site in which processes, clocks and files of members fail. */
  static ClusterSite onLoopback(Path folder, int size, SplittableRandom random) throws IOException {
    List<ShiftedClock> clocks = new ArrayList<>();
    List<MemberProcess> all = new ArrayList<>();
    List<String> flags = flags(folder, size, seeds(size, LOOPBACK, ports(size)));
    for (String name : NAMES.subList(0, size)) {
      ShiftedClock clock = ShiftedClock.in(folder);
      Map<String, String> environment = Map.of();
      if (clock != null) {
        clocks.add(clock);
        environment = clock.environment();
      }
      all.add(member(name, launch(environment), folder, folder.resolve(name), null, flags));
    }
    List<ClusterFault> faults = new ArrayList<>(List.of(ProcessFault.values()));
    faults.addAll(List.of(DamageFault.values()));
    if (!clocks.isEmpty()) {
      faults.add(new ClockFault(clocks));
    }
    return new ClusterSite(new Members(all, random.split()), faults, List.of());
  }

  /**
   * Returns a site of three members that trust each other by certificates, and two that can join.
   */
  static ClusterSite withNewcomers(Path folder, SplittableRandom random) throws IOException {
    PeerFiles.write(folder, NAMES);
    List<Integer> ports = ports(NAMES.size());
    List<MemberProcess> every = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      // A newcomer names the first members: some of them may have been removed.
      int named = Math.max(FOUNDERS, i + 1);
      List<String> flags = new ArrayList<>(flags(folder, FOUNDERS, seeds(named, LOOPBACK, ports)));
      flags.addAll(PeerFiles.flags(folder, name));
      flags.addAll(List.of("--cluster-groups", "2"));
      every.add(member(name, launch(Map.of()), folder, folder.resolve(name), null, flags));
    }
    Members members =
        new Members(
            every.subList(0, FOUNDERS), every.subList(FOUNDERS, every.size()), random.split());
    return new ClusterSite(members, List.of(MembershipFault.values()), List.of());
  }

  /** Returns a site with members of one group, to which other groups are added. */
  static ClusterSite withMoreGroups(Path folder, int size, SplittableRandom random)
      throws IOException {
    return behindProxies(
        folder,
        size,
        random,
        proxies -> Stream.of(SlotsFault.values()).map(each -> each.of(proxies)).toList());
  }

  /** Returns a site in which the connections between members fail. */
  static ClusterSite behindProxies(Path folder, int size, SplittableRandom random)
      throws IOException {
    return behindProxies(
        folder,
        size,
        random,
        proxies -> Stream.of(ProxyFault.values()).map(each -> each.of(proxies)).toList());
  }

  private static ClusterSite behindProxies(
      Path folder,
      int size,
      SplittableRandom random,
      Function<List<FaultProxy>, List<ClusterFault>> faults)
      throws IOException {
    List<Integer> ports = ports(size);
    List<FaultProxy> proxies = ports.stream().map(FaultProxy::new).toList();
    String seeds = seeds(size, LOOPBACK, proxies.stream().map(FaultProxy::port).toList());
    List<MemberProcess> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      List<String> flags = new ArrayList<>(flags(folder, size, seeds));
      flags.addAll(List.of("--cluster-listen", LOOPBACK + ":" + ports.get(i)));
      String name = NAMES.get(i);
      all.add(member(name, launch(Map.of()), folder, folder.resolve(name), null, flags));
    }
    return new ClusterSite(
        new Members(all, random.split()), faults.apply(proxies), List.copyOf(proxies));
  }

  /**
   * Returns a site in which members are cut off from each other; null if namespaces cannot be made.
   */
  static @Nullable ClusterSite inNamespaces(Path folder, int size, SplittableRandom random)
      throws IOException {
    NetworkNamespaces spaces = NetworkNamespaces.of(size);
    if (spaces == null) {
      return null;
    }
    List<ClusterFault> faults = new ArrayList<>();
    for (NetworkFault each : NetworkFault.values()) {
      if (each != NetworkFault.MINORITY_APART) {
        faults.add(each.of(spaces));
      }
    }
    return inNamespaces(folder, size, random, spaces, faults);
  }

  /**
   * Returns a site of five members, each with all keys; they can be cut off if namespaces can be
   * made.
   */
  static ClusterSite ofFive(Path folder, SplittableRandom random) throws IOException {
    int size = NAMES.size();
    List<ClusterFault> faults = new ArrayList<>(List.of(MinorityFault.values()));
    NetworkNamespaces spaces = NetworkNamespaces.of(size);
    if (spaces == null) {
      return new ClusterSite(onLoopback(folder, size, random).members(), faults, List.of());
    }
    faults.add(NetworkFault.MINORITY_APART.of(spaces));
    return inNamespaces(folder, size, random, spaces, faults);
  }

  private static ClusterSite inNamespaces(
      Path folder,
      int size,
      SplittableRandom random,
      NetworkNamespaces spaces,
      List<ClusterFault> faults)
      throws IOException {
    Path tokens = Files.writeString(folder.resolve("tokens"), SoakFiles.TOKEN + "\n");
    List<String> seeds = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      seeds.add(NAMES.get(i) + "=" + spaces.address(i) + ":" + PEER_PORT);
    }
    List<MemberProcess> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      List<String> flags = new ArrayList<>(flags(folder, size, String.join(",", seeds)));
      String host = spaces.address(i);
      flags.addAll(List.of("--host", host, "--token-file", tokens + "", "--cluster-insecure"));
      ServerProcess.Launch how =
          new ServerProcess.Launch(spaces.within(i), options(), Map.of(), host);
      String name = NAMES.get(i);
      all.add(member(name, how, folder, folder.resolve(name), SoakFiles.TOKEN, flags));
    }
    return new ClusterSite(new Members(all, random.split()), faults, List.of(spaces));
  }

  /** Returns a site with members of an older version that find each other only by a name. */
  static ClusterSite behindName(Path folder, int size, SplittableRandom random) throws IOException {
    PeerFiles.write(folder, NAMES.subList(0, size));
    HostsFile hosts = new HostsFile(folder, "members.test");
    int port = Ports.free();
    List<String> flags = new ArrayList<>(flags(folder, size, "dns:members.test:" + port));
    flags.addAll(List.of("--cluster-size", size + ""));
    List<String> options = new ArrayList<>(options());
    options.add(hosts.option());
    ServerProcess.Launch how =
        new ServerProcess.Launch(List.of(), List.copyOf(options), Map.of(), LOOPBACK);
    List<String> addresses = new ArrayList<>();
    List<MemberProcess> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      addresses.add("127.0.0." + (i + 1));
      String here = addresses.get(i) + ":" + port;
      List<String> own = new ArrayList<>(flags);
      own.addAll(List.of("--cluster-listen", here, "--cluster-advertise", here));
      String name = NAMES.get(i);
      own.addAll(PeerFiles.flags(folder, name));
      MemberProcess member = member(name, how, folder, folder.resolve(name), null, own);
      member.understands(UpgradeFault.OLDER);
      all.add(member);
    }
    hosts.publish(addresses);
    List<ClusterFault> faults = new ArrayList<>(List.of(new UpgradeFault()));
    for (NameFault each : NameFault.values()) {
      faults.add(each.of(hosts, addresses));
    }
    return new ClusterSite(new Members(all, random.split()), faults, List.of());
  }

  /** Returns a site in which one member has a small disk; null if none can be mounted. */
  static @Nullable ClusterSite onSmallDisk(Path folder, int size, SplittableRandom random)
      throws IOException {
    SmallDisk disk = SmallDisk.of(DISK_MEGABYTES, Files.createDirectory(folder.resolve("disk")));
    if (disk == null) {
      return null;
    }
    List<String> flags = flags(folder, size, seeds(size, LOOPBACK, ports(size)));
    List<MemberProcess> all = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      String name = NAMES.get(i);
      Path own = i < size - 1 ? folder.resolve(name) : disk.path().resolve(name);
      all.add(member(name, launch(Map.of()), folder, own, null, flags));
    }
    return new ClusterSite(
        new Members(all, random.split()), List.of(new FullDiskFault(disk)), List.of(disk));
  }

  private static List<Integer> ports(int size) {
    return Stream.generate(Ports::free).limit(size).toList();
  }

  private static String seeds(int size, String host, List<Integer> ports) {
    List<String> seeds = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      seeds.add(NAMES.get(i) + "=" + host + ":" + ports.get(i));
    }
    return String.join(",", seeds);
  }

  private static ServerProcess.Launch launch(Map<String, String> environment) throws IOException {
    return new ServerProcess.Launch(List.of(), options(), environment, LOOPBACK);
  }

  /**
   * Returns the options of members. The first time, one member runs alone: the others map its
   * classes, which halves the processor time of a start.
   */
  private static synchronized List<String> options() throws IOException {
    if (shared.isEmpty()) {
      shared = ServerProcess.SMALL;
      if (ServerProcess.packaged()) {
        Path folder = Files.createTempDirectory("weir-classes");
        Path archive = Path.of(folder + ".jsa");
        archive.toFile().deleteOnExit();
        ServerProcess.Launch how =
            new ServerProcess.Launch(
                List.of(), with("-XX:ArchiveClassesAtExit=" + archive), Map.of(), LOOPBACK);
        List<String> flags = flags(folder, 1, seeds(1, LOOPBACK, ports(1)));
        try (MemberProcess alone = member("a", how, folder, folder.resolve("a"), null, flags)) {
          alone.start();
          alone.process().awaitReady();
          alone.end();
        }
        DamageFault.delete(folder);
        shared = with("-XX:SharedArchiveFile=" + archive);
      }
    }
    return shared;
  }

  private static List<String> with(String option) {
    return Stream.concat(ServerProcess.SMALL.stream(), Stream.of(option)).toList();
  }

  private static MemberProcess member(
      String name,
      ServerProcess.Launch how,
      Path logs,
      Path own,
      @Nullable String token,
      List<String> flags) {
    return new MemberProcess(name, how, logs, own, token, flags);
  }

  /** Returns the flags that all members share. */
  private static List<String> flags(Path folder, int replicas, String seeds) throws IOException {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), ClusterRules.file());
    return List.of(
        "--rules",
        rules.toString(),
        "--cluster",
        seeds,
        "--cluster-election-timeout",
        ClusterSiege.ELECTION_MILLIS + "ms",
        "--cluster-replicas",
        replicas + "",
        "--store-timeout",
        "1s",
        "--drain-delay",
        "0s");
  }

  @Override
  public void close() {
    members.close();
    for (int i = parts.size() - 1; i >= 0; i--) {
      try {
        parts.get(i).close();
      } catch (Exception e) {
        throw new IllegalStateException("cannot close " + parts.get(i), e);
      }
    }
  }
}
