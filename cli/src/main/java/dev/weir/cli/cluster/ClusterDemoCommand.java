package dev.weir.cli.cluster;

import dev.weir.cli.Providers;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.CtrlC;
import dev.weir.cli.command.HeadedTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a whole cluster on this machine, to try: processes of their own, free ports of the"
          + " loopback interface, a temporary folder.",
      "",
      "A member that ends, because you kill it, is started again from its folder. Ctrl-C ends all"
          + " members and deletes the folder.",
      "",
      "'weir demo cluster' is the same.",
      ""
    })
final class ClusterDemoCommand implements Callable<Integer> {
  private static final int MOST_MEMBERS = 9;

  @Option(
      names = "--members",
      paramLabel = "N",
      description = "How many members, 1 to 9. Default: ${DEFAULT-VALUE}")
  private int members = 3;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (members < 1 || members > MOST_MEMBERS) {
      throw new ParameterException(
          spec.commandLine(), "--members: " + members + " (expected: 1.." + MOST_MEMBERS + ")");
    }
    Providers.need(Providers.CLUSTER); // It is made once here, before all members need it.
    Path folder = Files.createTempDirectory("weir-cluster-demo-");
    CtrlC ctrlC = new CtrlC();
    List<DemoMember> all = new ArrayList<>();
    try {
      all.addAll(prepare(folder));
      return run(all);
    } catch (InterruptedException e) {
      return 0; // Ctrl-C is the usual end.
    } finally {
      boolean unused = Thread.interrupted();
      DemoMember.end(all);
      delete(folder);
      ctrlC.close();
    }
  }

  private List<DemoMember> prepare(Path folder) throws IOException {
    List<Integer> ports = freePorts(DemoMember.PORTS * members);
    List<String> seeds = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      seeds.add(name(i) + "=127.0.0.1:" + ports.get(DemoMember.PORTS * i));
    }
    List<DemoMember> all = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      all.add(
          new DemoMember(
              name(i),
              String.join(",", seeds),
              ports.subList(DemoMember.PORTS * i + 1, DemoMember.PORTS * (i + 1)),
              folder.resolve(name(i)),
              spec.commandLine().getErr()));
    }
    return all;
  }

  private static String name(int number) {
    return String.valueOf((char) ('a' + number));
  }

  /** Returns ports that were free a moment ago. */
  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> taken = new ArrayList<>();
    List<Integer> ports = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        taken.add(socket);
        ports.add(socket.getLocalPort());
      }
    } finally {
      for (ServerSocket each : taken) {
        each.close();
      }
    }
    return ports;
  }

  private int run(List<DemoMember> all) throws IOException, InterruptedException {
    BlockingQueue<Boolean> begun = new LinkedBlockingQueue<>();
    for (DemoMember each : all) {
      each.start(begun::add);
    }
    for (int i = 0; i < all.size(); i++) {
      if (!begun.take()) {
        throw new CommandFailure("a member ended before it was ready; its log is above");
      }
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println(text(all));
    out.flush();
    new CountDownLatch(1).await(); // Waits until Ctrl-C interrupts it.
    return 0;
  }

  private static String text(List<DemoMember> all) {
    HeadedTable table = new HeadedTable("MEMBER", "HTTP", "GRPC", "REDIS PROTOCOL", "PROCESS");
    all.forEach(each -> table.add(each.row()));
    DemoMember first = all.get(0);
    DemoMember last = all.get(all.size() - 1);
    String urls = String.join(" ", all.stream().map(DemoMember::url).toList());
    String weir = System.getProperty("weir.command", "weir"); // The name in the user's call.
    return String.join(
        System.lineSeparator(),
        "",
        table.toString(),
        "",
        "Try in another terminal (each user has 3 requests a minute, whichever member is asked):",
        "",
        "  for url in "
            + urls
            + " "
            + first.url()
            + "; do "
            + weir
            + " check --url $url --domain demo"
            + " --descriptor user=alice; done",
        "  " + weir + " cluster status --url " + first.url(),
        "  kill -9 "
            + last.pid()
            + "    # ends "
            + last.name()
            + ", which is started again after "
            + DemoMember.PAUSE_SECONDS
            + " s; nothing that was admitted is forgotten",
        "",
        "Ctrl-C ends the members and deletes what they wrote.",
        "");
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
