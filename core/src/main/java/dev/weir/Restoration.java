package dev.weir;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The making of a store from the files that an earlier process has left, or without them.
 *
 * @param files the files
 * @param keys a word for the fingerprints by which the store identifies keys
 * @param maxKeys as for a new store
 * @param maxBytes as for a new store
 * @param fingerprint that of a store of which nothing can be read
 */
record Restoration(
    Start start,
    StoreFiles files,
    String keys,
    long maxKeys,
    long maxBytes,
    Fingerprint fingerprint) {
  /** The longest time between the readings of two clocks, in nanoseconds. */
  private static final long READING = 20_000;

  private static final int BUFFER_BYTES = 1 << 16;

  /**
   * The properties of a start that all its stores share.
   *
   * @param ticker the clock that decides
   * @param crashOption the name of the option by which users set {@code afterCrash}
   * @param mark the mark that the last run has left
   * @param reading the progress of the reading
   */
  record Start(
      StateClock clock,
      Ticker ticker,
      AfterCrash afterCrash,
      String crashOption,
      StateFolder.Log log,
      RunMark mark,
      StateReading reading) {
    private boolean amnesty() {
      return afterCrash == AfterCrash.AMNESTY;
    }
  }

  /** An image that was read up to the end of its head. */
  private record OpenImage(DataInputStream in, StateClock.Reading then) implements AutoCloseable {
    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /**
   * Returns a store that goes on as far as its past is known; a new one if there is none.
   *
   * @throws StateReading.Cancellation if the reading was cancelled; nothing has changed
   * @throws IOException if the folder cannot be written
   */
  KeptStore restored() throws IOException {
    try {
      return fromFiles();
    } catch (StateReading.Cancellation e) {
      throw e;
    } catch (IOException e) {
      return damaged(e);
    }
  }

  private KeptStore fromFiles() throws IOException {
    boolean isKept = files.kept() != StateDurability.NONE;
    KeptStore repeated = isKept ? repeated() : null;
    if (repeated != null) {
      if (repeated.damage() != null) {
        start.log.warning("state: " + files.name() + ": " + repeated.damage());
        warnOfCrash();
      }
      return repeated;
    }
    if (!isKept && !start.mark.crashed(files.name())) {
      return imaged();
    }
    warnOfCrash();
    if (start.amnesty()) {
      return imaged();
    }
    if (isKept) {
      start.mark.crash(files.name());
    }
    return unknown();
  }

  private void warnOfCrash() {
    start.log.warning(
        "state: "
            + files.name()
            + (start.amnesty()
                ? ": the last run did not end in order: what it admitted after the last state that"
                    + " is known is forgotten ("
                    + start.crashOption
                    + " deny refuses keys until their windows have passed)"
                : ": the last run did not end in order, so what it admitted is not known: keys are"
                    + " refused until their windows have passed ("
                    + start.crashOption
                    + " amnesty admits them)"));
  }

  private KeptStore damaged(IOException why) throws IOException {
    start.log.warning(
        "state: %s: %s; it is kept as %s, and %s"
            .formatted(
                files.image(),
                why.getMessage(),
                aside().getFileName(),
                start.amnesty()
                    ? "what it counted is forgotten"
                    : "keys are refused until their windows have passed"));
    if (!start.amnesty()) {
      start.mark.crash(files.name());
    }
    setAside();
    return start.amnesty() ? fresh() : unknown();
  }

  private OpenImage open() throws IOException {
    DataInputStream in =
        new DataInputStream(
            new BufferedInputStream(
                start.reading.counted(Files.newInputStream(files.image())), BUFFER_BYTES));
    try {
      StateClock.Reading then = StateClock.Reading.read(in);
      String counted = in.readUTF();
      if (!counted.isEmpty() && !counted.equals(keys)) {
        throw new IOException(
            "counts keys by fingerprints that are " + counted + " (expected: " + keys + ")");
      }
      return new OpenImage(in, then);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** Returns a store of which nothing is kept. */
  private KeptStore fresh() {
    return kept(new MemoryStore(maxKeys, maxBytes, fingerprint));
  }

  /** Returns a store of whose past nothing is known. */
  KeptStore unknown() {
    MemoryStore store = new MemoryStore(maxKeys, maxBytes, fingerprint);
    store.unknownBefore(start.ticker.nanos());
    return kept(store);
  }

  private KeptStore kept(MemoryStore store) {
    return new KeptStore(store, files, keys, null);
  }

  /**
   * Returns the last run's store as its image has it; a new one if there is no image.
   *
   * @throws IOException if it is damaged, or cannot be read
   */
  private KeptStore imaged() throws IOException {
    if (Files.notExists(files.image())) {
      return fresh();
    }
    try (OpenImage open = open()) {
      StateClock.Reading then = open.then;
      long now = start.ticker.nanos();
      long known = goesOn(then) ? now : start.clock.known(then);
      MemoryStore store = MemoryStore.restored(open.in, maxKeys, maxBytes, known, now);
      settle(store, then, "");
      return kept(store);
    }
  }

  /**
   * Returns the last run's store as it was at the end of its process: the image, and what the
   * journal has.
   *
   * @return null if something may be missing, since the machine was booted meanwhile, and that must
   *     not be forgotten
   * @throws IOException if the image or the journal is damaged, or cannot be read
   */
  private @Nullable KeptStore repeated() throws IOException {
    long begin = start.clock.ticker().nanos();
    if (Files.notExists(files.image())) {
      throw new IOException("is not there");
    }
    try (OpenImage open = open()) {
      StateClock.Reading then = open.then;
      boolean sameBoot = start.clock.sameBoot(then);
      boolean whole = sameBoot || files.kept() == StateDurability.MACHINE;
      if (!whole && !start.amnesty()) {
        return null;
      }
      MemoryStore exact = MemoryStore.resumed(open.in, maxKeys, maxBytes);
      StoreFiles.Names names = files.readNames();
      JournalReplay replay =
          new JournalReplay(files, exact, then.image(), names.refs(), then.nanos(), start.reading);
      replay.run(new JournalReplay.Tolerance(start.amnesty(), whole && !sameBoot));
      MemoryStore store = exact;
      long now = start.ticker.nanos();
      if (goesOn(then)) {
        store.retireAll(now);
      } else {
        store = moved(exact, Math.max(start.clock.known(then), replay.latestNanos()), now);
      }
      settle(
          store,
          then,
          ", %d changes since their image repeated, in %d ms"
              .formatted(
                  replay.records(),
                  TimeUnit.NANOSECONDS.toMillis(start.clock.ticker().nanos() - begin)));
      String damage = whole ? replay.damage() : "the machine was booted";
      return new KeptStore(
          store,
          files,
          keys,
          new KeptStore.EndedJournal(then.image(), names, replay.nextSequence(), damage));
    }
  }

  /**
   * Returns the fingerprint of the image, which every store made from these files has; {@link
   * #fingerprint} if there is no image, or none that can be read.
   */
  Fingerprint imagedFingerprint() {
    if (Files.notExists(files.image())) {
      return fingerprint;
    }
    try (OpenImage open = open()) {
      return StateImage.Reader.exactly(open.in).fingerprint();
    } catch (IOException e) {
      return fingerprint; // The restore reports the problem.
    }
  }

  /** Returns these files with another fingerprint for a store of which nothing can be read. */
  Restoration with(Fingerprint other) {
    return new Restoration(start, files, keys, maxKeys, maxBytes, other);
  }

  private void settle(MemoryStore store, StateClock.Reading then, String more) {
    if (start.amnesty()) {
      store.forgetUnknown();
    }
    String longer = "; how long the machine was down is not known, so they count that much longer";
    start.log.info(
        "state: %s: %d keys restored%s%s"
            .formatted(files.name(), store.keys(), more, start.clock.sameBoot(then) ? "" : longer));
  }

  /** Returns whether the time of a reading goes on in this process, to the nanosecond. */
  private boolean goesOn(StateClock.Reading then) {
    return start.clock.sameBoot(then) && Math.abs(start.clock.apart(then, start.ticker)) <= READING;
  }

  /** Returns a store that goes on by another clock, by way of an image. */
  private MemoryStore moved(MemoryStore from, long known, long now) throws IOException {
    Path between = files.image(".moved");
    Files.deleteIfExists(between);
    try {
      try (FileChannel file = StoreFiles.create(between)) {
        from.save(Channels.newOutputStream(file));
      }
      try (InputStream in = Files.newInputStream(between)) {
        return MemoryStore.restored(in, maxKeys, maxBytes, known, now);
      }
    } finally {
      Files.deleteIfExists(between);
    }
  }

  /** Returns the name under which {@link #setAside} keeps an image. */
  private Path aside() {
    return files.image(".damaged");
  }

  /** Sets a damaged image aside, and ends what the journal says. */
  private void setAside() throws IOException {
    files.unmark();
    if (Files.exists(files.image())) {
      Files.move(files.image(), aside(), StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
