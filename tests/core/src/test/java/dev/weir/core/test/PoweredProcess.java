package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.StateDurability;
import dev.weir.StateFolder;
import dev.weir.Store;
import dev.weir.Ticker;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

/**
 * A program with counts in a folder, whose clients write into a file what they ask for, before they
 * do, and what they were answered, after that. It runs until it is killed.
 */
final class PoweredProcess {
  /** The most permits of a key, by each policy. */
  static final long LIMIT = 30;

  static final long MOST_KEYS = 1_000_000;

  static final long MOST_BYTES = 1 << 24;

  /** The names that the builder of a store gives to its files and its fingerprints. */
  static final String STORE = "limits";

  static final String KEYS = "its own";

  /** A window that hardly ends during a test, even where it follows the calendar. */
  private static final Quota QUOTA = new Quota(LIMIT, 100L * 86_400_000_000_000L);

  private static final int CLIENTS = 6;
  private static final int PAGE = 4_096;

  private final Path folder;
  private final OutputStream answers;
  private final Store store;
  private final Ticker ticker;
  private final List<Binding> bindings;
  private final Semaphore admissions = new Semaphore(0);

  private PoweredProcess(
      Path folder, OutputStream answers, Store store, Ticker ticker, List<Binding> bindings) {
    this.folder = folder;
    this.answers = answers;
    this.store = store;
    this.ticker = ticker;
    this.bindings = bindings;
  }

  /** Puts a policy of each algorithm in force. */
  static List<Binding> bind(Store store, long nowNanos) {
    List<Binding> bindings = new ArrayList<>();
    for (Algorithm each : Algorithm.values()) {
      Policy policy = Policy.builder(QUOTA).name(each.text()).algorithm(each).build();
      bindings.add(store.bind(each.text(), policy, nowNanos));
    }
    return bindings;
  }

  /**
   * Runs: the folder; the file of answers; {@code answering} in order, {@code early} with answers
   * before the flush, or {@code process} with a journal that only the process's death cannot harm;
   * and a seed.
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    OutputStream answers = new FileOutputStream(arguments[1]);
    String how = arguments[2];
    PoweredProcess process =
        how.equals("answering") ? answering(folder, answers) : early(folder, answers, how);
    SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[3]));
    for (int i = 0; i < CLIENTS; i++) {
      SplittableRandom own = random.split();
      new Thread(() -> process.ask(own)).start();
    }
    new Thread(() -> process.writeSome(random)).start();
    System.out.println("begun");
  }

  private static PoweredProcess answering(Path folder, OutputStream answers) throws IOException {
    Store store =
        MemoryStore.builder()
            .maxKeys(MOST_KEYS)
            .maxBytes(MOST_BYTES)
            .journal(folder)
            .durability(StateDurability.MACHINE)
            .buildAnswering();
    Ticker ticker = Ticker.system();
    return new PoweredProcess(folder, answers, store, ticker, bind(store, ticker.nanos()));
  }

  private static PoweredProcess early(Path folder, OutputStream answers, String how)
      throws IOException {
    StateFolder state =
        StateFolder.builder(folder)
            .durability(how.equals("process") ? StateDurability.PROCESS : StateDurability.MACHINE)
            .open();
    MemoryStore store = state.store(STORE, KEYS, MOST_KEYS, MOST_BYTES);
    List<Binding> bindings = bind(store, state.ticker().nanos());
    state.begin();
    return new PoweredProcess(folder, answers, store, state.ticker(), bindings);
  }

  private void said(String what, int policy, long fingerprint, long permits) {
    String line = what + " " + policy + " " + fingerprint + " " + permits + "\n";
    try {
      answers.write(line.getBytes(StandardCharsets.US_ASCII)); // One call, so lines stay whole.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends requests of one client for ever; a few of what is admitted it gives back. */
  private void ask(SplittableRandom random) {
    Semaphore answered = new Semaphore(0);
    for (long i = 0; ; i++) {
      int policy = random.nextInt(bindings.size());
      long key = i / 50 + random.nextInt(10); // Each is used up after a while.
      long fingerprint = (key + 1) * 0x9e3779b97f4a7c15L;
      long permits = 1 + random.nextLong(3);
      boolean returned = random.nextInt(8) == 0;
      said("asks", policy, fingerprint, permits);
      store.decide(
          new Charges().add(bindings.get(policy), fingerprint, permits),
          ticker.nanos(),
          charges -> {
            if (!charges.allowed()) {
              answered.release();
              return;
            }
            said("admitted", policy, fingerprint, permits);
            admissions.release();
            if (!returned) {
              answered.release();
              return;
            }
            said("returns", policy, fingerprint, permits);
            store.refund(
                bindings.get(policy),
                fingerprint,
                permits,
                charges.decision(0),
                ticker.nanos(),
                given -> {
                  said("refunded", policy, fingerprint, given);
                  answered.release();
                });
          });
      answered.acquireUninterruptibly();
    }
  }

  /** Writes a page of some file to the disk now and then, as the system may at any time. */
  private void writeSome(SplittableRandom random) {
    try {
      while (true) {
        admissions.acquireUninterruptibly(1 + random.nextInt(20));
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
          files = all.filter(each -> each.toString().contains("journal")).toList();
        }
        if (!files.isEmpty()) {
          writePage(files.get(random.nextInt(files.size())), random);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void writePage(Path file, SplittableRandom random) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long size = channel.size();
      if (size >= PAGE) {
        MappedByteBuffer all = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
        // The first pages are those with records.
        int pages = (int) Math.min(size / PAGE, 1 << random.nextInt(11));
        all.force(random.nextInt(pages) * PAGE, PAGE);
      }
    } catch (NoSuchFileException deleted) {
      // There are others.
    }
  }
}
