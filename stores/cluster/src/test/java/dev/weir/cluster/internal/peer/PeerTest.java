package dev.weir.cluster.internal.peer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.Await;
import dev.weir.cluster.internal.peer.PeerException.Outcome;
import dev.weir.testkit.FaultProxy;
import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.Pem;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections between members, without a log on them. */
class PeerTest {
  private static final int ECHO = 40;
  private static final int NEVER = 41;
  private static final int BROKEN = 42;
  private static final int UNKNOWN = 43;
  private static final int FOR_ALL = 44;
  private static final long MILLIS = 60_000;
  private static final long HOUR = 3_600_000;

  @TempDir Path folder;

  private final PeerLoops loops = new PeerLoops(1);
  private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final AtomicInteger ended = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
    loops.close();
  }

  private static PeerSelf self(String name, UUID cluster) {
    return new PeerSelf(name, Member.NONE, UUID.randomUUID(), () -> cluster);
  }

  private PeerDoor door(PeerSelf self, int port, @Nullable PeerTls tls) throws IOException {
    PeerDoor door =
        new PeerDoor(
            self,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            loops,
            tls,
            log::add);
    open.push(door);
    door.register(
        ECHO,
        loops.files(),
        (from, payload) ->
            CompletableFuture.completedFuture(
                (from + ":" + new String(payload, UTF_8)).getBytes(UTF_8)));
    door.register(NEVER, loops.files(), (from, payload) -> new CompletableFuture<>());
    door.register(
        BROKEN,
        loops.files(),
        (from, payload) -> {
          throw new IOException("no luck");
        });
    return door;
  }

  private PeerLink link(PeerSelf self, String to, PeerDoor door, @Nullable PeerTls tls) {
    Member member = new Member(to, "localhost", door.address().getPort());
    PeerLink link =
        new PeerLink(
            new PeerEnd(loops, self, tls, log::add), () -> member, "test", ended::incrementAndGet);
    open.push(link);
    return link;
  }

  private static void connected(PeerLink link) throws Exception {
    Await.until("the connection", link::connected);
  }

  private void logged(String text) throws Exception {
    Await.until("\"" + text + "\" in " + log, () -> log.stream().anyMatch(l -> l.contains(text)));
  }

  private static String call(PeerLink link, String text) throws Exception {
    byte[] reply =
        link.call(ECHO, text.getBytes(UTF_8), MILLIS)
            .toCompletableFuture()
            .get(MILLIS, TimeUnit.MILLISECONDS);
    return new String(reply, UTF_8);
  }

  private static PeerException failure(PeerLink link, int kind, long millis) throws Exception {
    try {
      link.call(kind, new byte[3], millis).toCompletableFuture().get(MILLIS, TimeUnit.MILLISECONDS);
      throw new AssertionError("there was a reply");
    } catch (ExecutionException e) {
      return Objects.requireNonNull((PeerException) e.getCause());
    }
  }

  @Test
  void processesThatOnlyAsk_areAnsweredWhatIsForAll_andNothingElse() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    door.registerForAll(
        FOR_ALL, loops.files(), (from, payload) -> CompletableFuture.completedStage(payload));
    List<PeerLink> links = new ArrayList<>();
    for (int i = 0; i < 2; i++) { // Two clients of one name: neither takes the other's place.
      PeerSelf self =
          new PeerSelf(
              "asks",
              Member.NONE,
              UUID.randomUUID(),
              () -> cluster,
              false,
              new ClusterLevel(Levels.HERE));
      PeerLink link = link(self, "b", door, null);
      links.add(link);
      connected(link);
    }
    for (PeerLink link : links) {
      assertThat(link.call(FOR_ALL, new byte[] {7}, MILLIS).toCompletableFuture())
          .succeedsWithin(MILLIS, TimeUnit.MILLISECONDS)
          .isEqualTo(new byte[] {7});
      assertThat(failure(link, ECHO, MILLIS))
          .hasMessageContaining("kind " + ECHO + " is for members")
          .returns(Outcome.FAILED, PeerException::outcome);
    }
  }

  @Test
  void memberOfALevelThatIsUnknown_isRefusedWithOneLine() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    int most = Levels.HERE.most();
    Levels newer = new Levels(most + 1, most + 2);
    Levels both = new Levels(most, most + 1);
    PeerLink known =
        link(
            new PeerSelf(
                "c", Member.NONE, UUID.randomUUID(), () -> cluster, true, new ClusterLevel(both)),
            "b",
            door,
            null);
    connected(known);
    PeerLink unknown =
        link(
            new PeerSelf(
                "a", Member.NONE, UUID.randomUUID(), () -> cluster, true, new ClusterLevel(newer)),
            "b",
            door,
            null);
    logged(
        "it refuses: hello of a: it understands levels 4..5 (expected: one of levels 1..3): its"
            + " version of Weir is too new for this cluster");
    assertThat(unknown.connected()).isFalse();
    assertThat(Levels.HERE.conflict(newer)).contains("too old for this cluster");
  }

  @Test
  void calls_areAnswered_orSayWhatIsKnownOfThem() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    PeerLink link = link(self("a", cluster), "b", door, null);
    connected(link);
    assertThat(call(link, "hello")).isEqualTo("a:hello");
    assertThat(call(link, "x".repeat(3 << 20))).hasSize((3 << 20) + 2);
    assertThat(failure(link, BROKEN, MILLIS))
        .hasMessageContaining("no luck")
        .returns(Outcome.FAILED, PeerException::outcome);
    assertThat(failure(link, UNKNOWN, MILLIS)).returns(Outcome.FAILED, PeerException::outcome);
    CompletableFuture<byte[]> lost = link.call(NEVER, new byte[1], MILLIS).toCompletableFuture();
    assertThat(call(link, "after")).isEqualTo("a:after");
    int port = door.address().getPort();
    door.close();
    assertThat(lost)
        .failsWithin(60, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("the connection was lost");
    Await.until("the loss", () -> !link.connected());
    assertThat(failure(link, ECHO, MILLIS)).returns(Outcome.NOT_SENT, PeerException::outcome);
    open.push(door(self("b", cluster), port, null));
    connected(link);
    assertThat(call(link, "again")).isEqualTo("a:again");
    assertThat(failure(link, NEVER, 20)).returns(Outcome.UNKNOWN, PeerException::outcome);
    assertThat(link.connected()).isTrue();
  }

  @Test
  void endedProcess_isGone_untilItIsBack() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    int port = door.address().getPort();
    PeerLink link = link(self("a", cluster), "b", door, null);
    connected(link);
    assertThat(link.hasEnded()).isFalse();

    door.close();

    Await.until("the end", link::hasEnded);
    logged("connection refused");
    open.push(door(self("b", cluster), port, null));
    connected(link);
    assertThat(link.hasEnded()).isFalse();
    assertThat(ended).as("said once").hasValue(1);
  }

  @Test
  void refusedFromTheBeginning_isNotGone() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    door.close();
    PeerLink link = link(self("a", cluster), "b", door, null);
    logged("connection refused");
    assertThat(link.hasEnded()).isFalse();
    assertThat(ended).hasValue(0);
  }

  /** Returns a connection from a to b through a proxy. */
  private PeerLink through(FaultProxy proxy, UUID cluster) throws Exception {
    Member member = new Member("b", "localhost", proxy.port());
    PeerLink link =
        new PeerLink(
            new PeerEnd(loops, self("a", cluster), null, log::add),
            () -> member,
            "test",
            ended::incrementAndGet);
    open.push(link);
    connected(link);
    return link;
  }

  @Test
  void cutConnection_isNotGone_whileItsPortAccepts() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    FaultProxy proxy = new FaultProxy(door.address().getPort());
    open.push(proxy);
    PeerLink link = through(proxy, cluster);
    for (int i = 0; i < 5; i++) {
      proxy.cut();
      logged("the connection was lost");
      logged("is connected again");
      log.clear();
    }
    assertThat(link.hasEnded()).isFalse();
    assertThat(ended).hasValue(0);
  }

  @Test
  void connectionThatDeliversNothing_isGivenUp_andWhatItWasAskedIsUnknown() throws Exception {
    UUID cluster = UUID.randomUUID();
    PeerDoor door = door(self("b", cluster), 0, null);
    FaultProxy proxy = new FaultProxy(door.address().getPort());
    open.push(proxy);
    PeerLink link = through(proxy, cluster);
    CompletableFuture<byte[]> slow = link.call(NEVER, new byte[1], HOUR).toCompletableFuture();
    assertThat(call(link, "hello")).isEqualTo("a:hello");

    proxy.forget();

    logged("the connection delivers nothing");
    assertThat(slow)
        .failsWithin(60, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("the connection was lost");
    logged("is connected again");
    assertThat(call(link, "new")).isEqualTo("a:new");
  }

  @Test
  void another_clusterOrMember_isRefused_andBothSaySo() throws Exception {
    UUID ours = UUID.randomUUID();
    UUID theirs = UUID.randomUUID();
    PeerDoor door = door(self("b", ours), 0, null);
    PeerLink stranger = link(self("a", theirs), "b", door, null);
    logged("member b/test: it refuses: hello of a: cluster " + theirs);
    logged("was refused: hello of a: cluster " + theirs);
    PeerLink mistaken = link(self("a", ours), "c", door, null);
    logged("member c/test: member b (expected: c)");
    assertThat(stranger.connected()).isFalse();
    assertThat(mistaken.connected()).isFalse();
    PeerLink forming = link(self("d", PeerSelf.FORMING), "b", door, null);
    connected(forming);
    assertThat(call(forming, "may I")).isEqualTo("d:may I");
  }

  @Test
  void framesThatAreNone_closeTheirConnectionAlone() throws Exception {
    long seed = Trials.random("frames that are none").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    UUID cluster = UUID.randomUUID();
    PeerSelf a = self("a", cluster);
    PeerDoor door = door(self("b", cluster), 0, null);
    PeerLink good = link(self("c", cluster), "b", door, null);
    connected(good);
    byte[] hello = PeerHello.of(a, "raw").encode();
    byte[] newer = hello.clone();
    newer[3] = 3;

    assertThat(answers(door, out -> frame(out, 23, PeerFrame.HELLO, newer)))
        .contains("format 3 (expected: 2)");
    logged("hello: format 3 (expected: 2)");
    answers(door, out -> out.writeInt(1 << 30));
    logged("frame of " + (1 << 30) + " bytes");
    answers(door, out -> out.writeInt(-1));
    logged("frame of -1 bytes");
    answers(door, out -> frame(out, ECHO, 1, new byte[1]));
    logged("frame of kind 1 instead of a hello");
    answers(door, out -> frame(out, PeerFrame.HELLO, PeerFrame.HELLO, new byte[3]));
    logged("was refused: hello: ");
    answers(
        door,
        out -> {
          frame(out, 0, PeerFrame.HELLO, hello);
          out.writeInt(PeerFrame.MAX_BYTES + 1);
        });
    logged("a/raw is closed: frame of " + (PeerFrame.MAX_BYTES + 1) + " bytes");
    int lines = log.size();
    for (int i = 0; i < 50; i++) {
      byte[] noise = new byte[random.nextInt(16, 200)];
      random.nextBytes(noise);
      noise[0] = (byte) random.nextInt(1, 256);
      answers(door, out -> out.write(noise));
    }
    Await.until("a line each", () -> log.size() >= lines + 50);
    assertThat(log).hasSize(lines + 50);
    assertThat(good.connected()).isTrue();
    assertThat(call(good, "undisturbed")).isEqualTo("c:undisturbed");
  }

  private interface Sent {
    void to(DataOutputStream out) throws IOException;
  }

  private static void frame(DataOutputStream out, long call, int kind, byte[] payload)
      throws IOException {
    out.writeInt(9 + payload.length);
    out.writeByte(kind);
    out.writeLong(call);
    out.write(payload);
  }

  /** Returns the answers of the port until it closes the connection. */
  private static String answers(PeerDoor door, Sent sent) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), door.address().getPort())) {
      socket.setSoTimeout((int) MILLIS);
      sent.to(new DataOutputStream(socket.getOutputStream()));
      return new String(new DataInputStream(socket.getInputStream()).readAllBytes(), UTF_8);
    } catch (SocketException reset) {
      return "";
    }
  }

  @Test
  void tls_isForMembersWithTheirOwnNames() throws Exception {
    Pem.make(folder, "a", "weir", "dns:a");
    Pem.make(folder, "b", "weir", "dns:b");
    Pem.make(folder, "stranger", "weir", "dns:a");
    Path trusted =
        Files.writeString(
            folder.resolve("trusted.crt"),
            Files.readString(folder.resolve("a.crt")) + Files.readString(folder.resolve("b.crt")));
    UUID cluster = UUID.randomUUID();
    PeerTls a = tls("a", trusted);
    PeerDoor door = door(self("b", cluster), 0, tls("b", trusted));
    PeerLink good = link(self("a", cluster), "b", door, a);
    connected(good);
    assertThat(call(good, "x".repeat(1 << 20))).hasSize((1 << 20) + 2);

    refused(link(self("a", cluster), "b", door, null), "NotSslRecordException");
    refused(
        link(self("c", cluster), "b", door, a),
        "hello of c: certificate of [a, weir] (expected: c)");
    refused(
        link(self("a", cluster), "d", door, a),
        "member d/test: certificate of [b, weir] (expected: d)");
    // The port does not trust the authority of the certificate.
    refused(link(self("a", cluster), "b", door, tls("stranger", trusted)), "PKIX");
    log.clear();
    // The link does not trust the authority of the port's certificate.
    refused(link(self("a", cluster), "b", door, tls("a", folder.resolve("stranger.crt"))), "PKIX");
    assertThat(anonymous(door, trusted)).isEqualTo("refused");
    assertThat(call(good, "still")).isEqualTo("a:still");
  }

  private void refused(PeerLink link, String why) throws Exception {
    logged(why);
    assertThat(link.connected()).isFalse();
    link.close();
  }

  private PeerTls tls(String name, Path trusted) throws IOException {
    return new PeerTls(
        folder.resolve(name + ".crt"), folder.resolve(name + ".key"), trusted, log::add);
  }

  /** Connects without a certificate. */
  private static String anonymous(PeerDoor door, Path trusted) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    int i = 0;
    try (InputStream in = Files.newInputStream(trusted)) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        authorities.setCertificateEntry("ca" + i++, one);
      }
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authorities);
    context.init(null, trust.getTrustManagers(), null);
    try (Socket socket =
        context
            .getSocketFactory()
            .createSocket(InetAddress.getLoopbackAddress(), door.address().getPort())) {
      socket.setSoTimeout((int) MILLIS);
      frame(
          new DataOutputStream(socket.getOutputStream()),
          0,
          PeerFrame.HELLO,
          PeerHello.of(self("a", PeerSelf.FORMING), "none").encode());
      return socket.getInputStream().read() < 0 ? "refused" : "welcome";
    } catch (SSLException | SocketException closed) {
      return "refused";
    }
  }

  @Test
  void certificates_areReadAgain_whenTheirFilesChange() throws Exception {
    Pem.make(folder, "a", "weir", "dns:a");
    PeerTls tls = tls("a", folder.resolve("a.crt"));
    PeerTls.Contexts before = tls.current();
    assertThat(tls.current()).isSameAs(before);
    Path key = folder.resolve("a.key");
    String good = Files.readString(key);
    Files.writeString(key, "half a key");
    assertThat(tls.current()).isSameAs(before);
    logged("the old certificate for members stays in use");
    Files.writeString(key, good);
    Files.setLastModifiedTime(key, FileTime.fromMillis(1_000_000_000_000L));
    assertThat(tls.current()).isNotSameAs(before);
    logged("was read again");
  }
}
