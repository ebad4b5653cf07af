package dev.weir.bench.cluster;

import dev.weir.bench.Program;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
  private final List<Program> started = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private final String seeds;

  /** A member, in its latest process. */
  private static final class Member {
    final String name;
    int httpPort;
    int respPort;
    long pid;

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
      addresses.add(each.name + "=127.0.0.1:" + freePort());
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

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private void certificates() throws IOException, InterruptedException {
    openssl("req -x509 -subj /CN=members -days 2 -keyout ca.key -out ca.crt");
    for (Member each : members) {
      openssl("req -subj /CN=%1$s -keyout %1$s.key -out %1$s.csr".formatted(each.name));
      Program.run(
          words(
              ("openssl x509 -req -days 2 -CAcreateserial -in %2$s/%1$s.csr -CA %2$s/ca.crt"
                      + " -CAkey %2$s/ca.key -out %2$s/%1$s.crt")
                  .formatted(each.name, folder)));
    }
  }

  private void openssl(String request) throws IOException, InterruptedException {
    String key = " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    Program.run(
        words("openssl " + request.replaceAll("(-keyout|-out) ", "$1 " + folder + "/") + key));
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
    List<String> command =
        Stream.concat(
                Stream.of("env", "WEIR_JAVA_OPTS=" + jvm(member), home + "/weir"),
                words(flags).stream())
            .toList();
    List<Program> one = new ArrayList<>();
    Matcher ready = Program.start(one, READY, command);
    synchronized (started) {
      started.addAll(one);
    }
    member.httpPort = Integer.parseInt(ready.group(1));
    member.respPort = Integer.parseInt(ready.group(2));
    member.pid = one.get(0).pid();
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

  void kill(int index) throws InterruptedException {
    ProcessHandle process = ProcessHandle.of(members.get(index).pid).orElseThrow();
    process.destroyForcibly();
    while (process.isAlive()) {
      Thread.sleep(1);
    }
  }

  /** Returns the processor time of all members since they were started, in nanoseconds. */
  double cpuNanos() {
    return members.stream().mapToDouble(each -> cpuNanos(each.pid)).sum();
  }

  private static double cpuNanos(long pid) {
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toNanos)
        .orElse(0L);
  }

  @Override
  public void close() throws IOException {
    started.forEach(Program::close);
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted((a, b) -> b.compareTo(a)).forEach(each -> each.toFile().delete());
    }
  }
}
