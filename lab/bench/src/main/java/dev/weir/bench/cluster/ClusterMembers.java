package dev.weir.bench.cluster;

import dev.weir.bench.Programs;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A cluster of servers on this machine, each a process with its own folder. */
public final class ClusterMembers implements AutoCloseable {
  public static final String JVM = "-XX:+UseSerialGC -Xms1g -Xmx1g -Xmn32m -XX:MetaspaceSize=96m";

  /**
   * Further options for the members' Java, such as for a profile; "%s" in them is a member's name.
   */
  private static final String MORE_JVM = System.getenv().getOrDefault("WEIR_BENCH_MEMBER_OPTS", "");

  private static final Pattern READY =
      Pattern.compile("ready: http on \\S+:(\\d+), .*resp on \\S+:(\\d+)");
  private static final Pattern COMMITTED =
      Pattern.compile("\"group\":(\\d+),\"leader\".*?\"committed\":(\\d+)");
  private static final Pattern LEADER = Pattern.compile("\"leader\":\"([^\"]+)\",\"leads\":true");
  private static final long WAIT_NANOS = Duration.ofSeconds(30).toNanos();

  private final String home;
  private final Path folder = Files.createTempDirectory("weir-cluster");
  private final Path rules;
  private final boolean tls;
  private final List<Member> members = new ArrayList<>();
  private final Programs started = new Programs();
  private final HttpClient http = HttpClient.newHttpClient();
  private final String seeds;

  /** A member, in its latest process. */
  private static final class Member {
    final String name;
    int httpPort;
    int respPort;
    @Nullable ChildProcess process;

    Member(String name) {
      this.name = name;
    }
  }

  /** Starts all members at once, and waits until they are ready. */
  ClusterMembers(String home, int size, boolean tls, String ruleFile)
      throws IOException, InterruptedException {
    this.home = home;
    this.tls = tls;
    rules = Files.writeString(folder.resolve("rules.yaml"), ruleFile);
    for (int i = 0; i < size; i++) {
      members.add(new Member(Character.toString('a' + i)));
    }
    if (tls) {
      certificates();
    }
    List<String> addresses = new ArrayList<>();
    for (Member each : members) {
      addresses.add(each.name + "=127.0.0.1:" + Ports.free());
    }
    seeds = String.join(",", addresses);
    List<Thread> starting = new ArrayList<>();
    List<IOException> problems = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int index = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  start(index);
                } catch (IOException e) {
                  synchronized (problems) {
                    problems.add(e);
                  }
                }
              });
      thread.start();
      starting.add(thread);
    }
    for (Thread each : starting) {
      each.join();
    }
    if (!problems.isEmpty()) {
      close();
      throw problems.get(0);
    }
  }

  private void certificates() throws IOException, InterruptedException {
    openssl("req -x509 -subj /CN=members -days 2 -keyout ca.key -out ca.crt");
    for (Member each : members) {
      openssl("req -subj /CN=%1$s -keyout %1$s.key -out %1$s.csr".formatted(each.name));
      run(
          ("openssl x509 -req -days 2 -CAcreateserial -in %1$s.csr -CA ca.crt -CAkey ca.key"
                  + " -out %1$s.crt")
              .formatted(each.name));
    }
  }

  private void openssl(String request) throws IOException {
    run("openssl " + request + " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes");
  }

  /** Runs a command in the cluster's folder. */
  private void run(String line) throws IOException {
    String unused = ChildProcess.of(words(line)).folder(folder).run();
  }

  private static List<String> words(String line) {
    return List.of(line.split(" ", -1));
  }

  /** Starts a member, and waits until it reports that it is ready. */
  void start(int index) throws IOException {
    Member member = members.get(index);
    String own = folder + "/" + member.name;
    String flags =
        "serve --cluster %s --cluster-name %s --cluster-dir %s --cluster-groups 1 --rules %s"
                .formatted(seeds, member.name, own, rules)
            + " --port 0 --grpc-port 0 --resp-port 0";
    if (tls) {
      flags +=
          " --cluster-tls-cert %1$s.crt --cluster-tls-key %1$s.key --cluster-tls-ca %2$s/ca.crt"
              .formatted(own, folder);
    }
    List<String> command = new ArrayList<>(List.of(home + "/weir"));
    command.addAll(words(flags));
    ChildProcess process =
        started.start(ChildProcess.of(command).environment(Map.of("WEIR_JAVA_OPTS", jvm(member))));
    member.process = process;
    Matcher ready = process.await(READY);
    member.httpPort = Integer.parseInt(ready.group(1));
    member.respPort = Integer.parseInt(ready.group(2));
  }

  private static String jvm(Member member) {
    return (JVM + " " + MORE_JVM.replace("%s", member.name)).trim();
  }

  int size() {
    return members.size();
  }

  /** Returns the ports for Redis's protocol of all members except some. */
  List<Integer> ports(Integer... without) {
    return IntStream.range(0, members.size())
        .filter(i -> !List.of(without).contains(i))
        .mapToObj(i -> members.get(i).respPort)
        .toList();
  }

  /** Returns a member's report about the cluster. */
  String status(int index) throws IOException, InterruptedException {
    URI page = URI.create("http://127.0.0.1:" + members.get(index).httpPort + "/cluster");
    return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** Changes the cluster, and returns the answer. */
  String change(String body) throws IOException, InterruptedException {
    URI page = URI.create("http://127.0.0.1:" + members.get(0).httpPort + "/cluster/change");
    return http.send(
            HttpRequest.newBuilder(page)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** Returns the number of entries in all groups' logs. */
  double committed() throws IOException {
    Map<String, Double> groups = new HashMap<>();
    try {
      Matcher each = COMMITTED.matcher(status(0));
      while (each.find()) {
        groups.merge(each.group(1), Double.valueOf(each.group(2)), Math::max);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return groups.values().stream().mapToDouble(entries -> entries).sum();
  }

  /** Waits until a member reports that all is well, and returns that report. */
  String healthy(int index) throws IOException, InterruptedException {
    long until = System.nanoTime() + WAIT_NANOS;
    String said = status(index);
    while (!said.contains("\"health\":\"healthy\"")) {
      if (System.nanoTime() > until) {
        throw new IOException("the cluster is not healthy: " + said);
      }
      Thread.sleep(5);
      said = status(index);
    }
    return said;
  }

  /** Returns the member that leads the first group. */
  int leader() throws IOException, InterruptedException {
    Matcher leader = LEADER.matcher(healthy(0));
    if (!leader.find()) {
      throw new IOException("no member leads");
    }
    return leader.group(1).charAt(0) - 'a';
  }

  void kill(int index) {
    Objects.requireNonNull(members.get(index).process).kill();
  }

  /** Returns the processor time of all members since they were started, in nanoseconds. */
  double cpuNanos() {
    return members.stream()
        .map(each -> Objects.requireNonNull(each.process).handle())
        .mapToDouble(Programs::cpuNanos)
        .sum();
  }

  @Override
  public void close() throws IOException {
    started.close();
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted((a, b) -> b.compareTo(a)).forEach(each -> each.toFile().delete());
    }
  }
}
