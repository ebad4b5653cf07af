package dev.weir.cluster.internal.log;

import com.sun.management.OperatingSystemMXBean;
import dev.weir.Ticker;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerLoops;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTls;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A program that measures the time of a commit among separate processes. It is started three times,
 * with the same members, each of which has a port:
 *
 * <pre>
 *   LedgerLoad member a 7101 a:7101,b:7102,c:7103 /tmp/a [folder with a.crt, a.key, trusted.crt]
 * </pre>
 *
 * <p>The leader then appends entries at a fixed rate, and prints how long each took from the
 * instant at which it was due. System properties: {@code rate} entries a second (400), {@code
 * charges} an entry (125) of {@code bytes} each (10), {@code seconds} (20), {@code warmup} (5).
 */
final class LedgerLoad {
  private static final UUID CLUSTER = new UUID(1, 1);
  private static final Ticker TICKER = Ticker.system();

  /** A machine that sums up its entries. */
  private static final class Sum implements Ledger.Machine {
    private long stamp;
    private long sum;

    @Override
    public synchronized void stamp(long term, byte[] entry) {
      ByteBuffer.wrap(entry).putLong(++stamp);
    }

    @Override
    public synchronized byte[] apply(long index, long term, byte[] entry) {
      ByteBuffer in = ByteBuffer.wrap(entry);
      stamp = in.getLong();
      while (in.remaining() >= Long.BYTES) {
        sum = 31 * sum + in.getLong();
      }
      return ByteBuffer.allocate(Long.BYTES).putLong(sum).array();
    }

    @Override
    public CompletionStage<?> image(Path file) throws IOException {
      Files.write(file, ByteBuffer.allocate(16).putLong(stamp).putLong(sum).array());
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized void restore(Path file) throws IOException {
      ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
      stamp = in.getLong();
      sum = in.getLong();
    }
  }

  private LedgerLoad() {}

  public static void main(String[] args) throws Exception {
    if (args.length < 5 || !args[0].equals("member")) {
      throw new IllegalArgumentException("member NAME PORT PEERS FOLDER [TLS]");
    }
    String name = args[1];
    List<Member> members = new ArrayList<>();
    for (String peer : args[3].split(",", -1)) {
      String[] parts = peer.split(":", -1);
      members.add(new Member(parts[0], "127.0.0.1", Integer.parseInt(parts[1])));
    }
    PeerTls tls = args.length > 5 ? tls(Path.of(args[5]), name) : null;
    PeerSelf self = new PeerSelf(name, Member.NONE, UUID.randomUUID(), () -> CLUSTER);
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[2]));
    try (PeerLoops loops = new PeerLoops(1);
        PeerDoor door = new PeerDoor(self, address, loops, tls, LedgerLoad::print);
        RatisEngine engine =
            new RatisEngine(
                new PeerTransport(self, door, loops, tls, LedgerLoad::print),
                RatisSettings.in(Path.of(args[4])))) {
      run(name, engine.open(0, members, new Sum()));
    }
  }

  private static PeerTls tls(Path folder, String name) throws IOException {
    return new PeerTls(
        folder.resolve(name + ".crt"),
        folder.resolve(name + ".key"),
        folder.resolve("trusted.crt"),
        LedgerLoad::print);
  }

  private static void print(String line) {
    System.out.println(line);
  }

  private static void run(String name, Ledger ledger) throws InterruptedException {
    int seconds = Integer.getInteger("seconds", 20);
    int warmup = Integer.getInteger("warmup", 5);
    while (ledger.leader() == null || ledger.status().committed() < 0) {
      pause(TimeUnit.MILLISECONDS.toNanos(10));
    }
    pause(TimeUnit.SECONDS.toNanos(2));
    long before = cpuNanos();
    if (ledger.leads()) {
      append(ledger, warmup, false);
      before = cpuNanos();
      append(ledger, seconds, true);
    } else {
      pause(TimeUnit.SECONDS.toNanos(warmup));
      before = cpuNanos();
      pause(TimeUnit.SECONDS.toNanos(seconds));
    }
    long cpu = cpuNanos() - before;
    print(
        name
            + ": processor "
            + TimeUnit.NANOSECONDS.toMillis(cpu) / (10L * seconds)
            + " % of a core, "
            + ledger.status());
    pause(TimeUnit.SECONDS.toNanos(5));
  }

  private static void append(Ledger ledger, int seconds, boolean print)
      throws InterruptedException {
    int rate = Integer.getInteger("rate", 400);
    int charges = Integer.getInteger("charges", 125);
    int bytes = Long.BYTES + charges * Integer.getInteger("bytes", 10);
    long[] nanos = new long[rate * seconds];
    AtomicInteger done = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(nanos.length);
    long start = TICKER.nanos();
    for (int i = 0; i < nanos.length; i++) {
      long due = start + i * TimeUnit.SECONDS.toNanos(1) / rate;
      pause(due - TICKER.nanos());
      Object unused =
          ledger
              .append(new byte[bytes])
              .whenComplete(
                  (byte @Nullable [] reply, @Nullable Throwable problem) -> {
                    if (problem == null) {
                      nanos[done.getAndIncrement()] = TICKER.nanos() - due;
                    } else {
                      failed.incrementAndGet();
                    }
                    all.countDown();
                  });
    }
    boolean complete = all.await(20, TimeUnit.SECONDS);
    double took = (TICKER.nanos() - start) / 1e9;
    if (print) {
      long[] sorted = Arrays.copyOf(nanos, done.get());
      Arrays.sort(sorted);
      print(
          String.format(
              Locale.ROOT,
              "%.0f decisions/s, commit p50 %.2f ms, p99 %.2f ms, max %.2f ms, %d failed%s",
              done.get() * (double) charges / took,
              at(sorted, 0.5),
              at(sorted, 0.99),
              at(sorted, 1),
              failed.get(),
              complete ? "" : ", some without an answer"));
    }
  }

  private static double at(long[] sorted, double part) {
    return sorted.length == 0
        ? Double.NaN
        : sorted[(int) Math.min(sorted.length - 1, part * sorted.length)] / 1e6;
  }

  private static void pause(long nanos) throws InterruptedException {
    if (nanos > 0) {
      boolean unused = new CountDownLatch(1).await(nanos, TimeUnit.NANOSECONDS);
    }
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
