package dev.weir.siege.faults;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Network namespaces on their own bridge, one for each member. This process reaches all of them,
 * even when they are cut off from each other. They are removed without a trace when closed.
 */
public final class NetworkNamespaces implements AutoCloseable {
  private static final int HEX = 16;

  private final String id;
  private final String network;
  private final List<String> made = new ArrayList<>();

  private NetworkNamespaces(int number) {
    id = "weir" + Integer.toString(number, HEX);
    network = "10.213." + number + ".";
  }

  /** Makes so many namespaces; returns null if this process has no right to do that. */
  public static @Nullable NetworkNamespaces of(int count) throws IOException {
    NetworkNamespaces spaces = new NetworkNamespaces(ThreadLocalRandom.current().nextInt(1, 255));
    try {
      ip("link", "add", spaces.id, "type", "bridge");
      ip("addr", "add", spaces.network + "254/24", "dev", spaces.id);
      ip("link", "set", spaces.id, "up");
      for (int i = 0; i < count; i++) {
        spaces.add(i);
      }
      return spaces;
    } catch (IOException e) {
      spaces.close();
      System.getLogger("dev.weir.siege")
          .log(
              System.Logger.Level.WARNING,
              "no network can be made here: partitions are not tried: " + e.getMessage());
      return null;
    }
  }

  private void add(int index) throws IOException {
    String space = space(index);
    ip("netns", "add", space);
    made.add(space);
    ip("link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", space);
    ip("link", "set", space, "master", id, "up");
    ip("-n", space, "addr", "add", address(index) + "/24", "dev", "eth0");
    ip("-n", space, "link", "set", "eth0", "up");
    ip("-n", space, "link", "set", "lo", "up");
  }

  private String space(int index) {
    return id + "-" + index;
  }

  public String address(int index) {
    return network + (index + 1);
  }

  /** Returns the command that runs another one within a namespace. */
  public List<String> within(int index) {
    return List.of("ip", "netns", "exec", space(index));
  }

  /**
   * Cuts one direction: packets of one member no longer reach another; packets in the other
   * direction arrive.
   */
  void cut(int from, int to) throws IOException {
    ip("-n", space(from), "route", "add", "blackhole", address(to) + "/32");
  }

  /** Ends all cuts. */
  void heal() throws IOException {
    for (String space : made) {
      ip("-n", space, "route", "flush", "type", "blackhole");
    }
  }

  private static void ip(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    ChildProcess.of(command).run();
  }

  /** Deletes all namespaces. A namespace's end of a pair takes the other end with it. */
  @Override
  public void close() {
    for (String space : made) {
      quietly("netns", "del", space);
    }
    quietly("link", "del", id);
  }

  private static void quietly(String... words) {
    try {
      ip(words);
    } catch (IOException notThere) {
      // The part was not made.
    }
  }
}
