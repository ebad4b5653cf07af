package dev.weir.server.internal.resp;

import dev.weir.Quota;
import dev.weir.engine.CallerBuckets;
import dev.weir.internal.UncertainCause;
import dev.weir.protocol.http.BadRequest;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.SeatCall;
import dev.weir.server.internal.guard.LoopLag;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The commands of the port for Redis clients. Replies are those of the Redis commands of the same
 * name, as far as clients need them to connect; {@code CL.THROTTLE} is redis-cell's, {@code
 * THROTTLE} throttlecrab's, and {@code GCRA} and {@code INCREX} those that clients of Redis send.
 * Confined to one event loop.
 */
final class RespCommands {
  /** The state of the connection after a command. */
  enum NextStep {
    GO_ON,
    /** The reply comes later; nothing else may be replied before. */
    WAIT,
    /**
     * The command has not been run, because the replies to earlier ones come later. It must be run
     * again when those are written.
     */
    AGAIN,
    CLOSE
  }

  /**
   * A command that the port offers, with the details for COMMAND: arguments, the first key, flags.
   */
  private record KnownCommand(String name, int arity, int firstKey, String flag) {}

  private static final List<KnownCommand> KNOWN =
      List.of(
          new KnownCommand("cl.throttle", -5, 1, "write"),
          new KnownCommand("throttle", -5, 1, "write"),
          new KnownCommand("gcra", -5, 1, "write"),
          new KnownCommand("increx", -IncrexArguments.LEAST, 1, "write"),
          new KnownCommand("weir.check", -5, 0, "write"),
          new KnownCommand("weir.charge", -5, 0, "write"),
          new KnownCommand("weir.hold", -5, 0, "write"),
          new KnownCommand("weir.settle", 3, 0, "write"),
          new KnownCommand("weir.acquire", -5, 0, "write"),
          new KnownCommand("weir.renew", -2, 0, "write"),
          new KnownCommand("weir.release", -2, 0, "write"),
          new KnownCommand("weir.lease", -6, 0, "write"),
          new KnownCommand("weir.return", -3, 0, "write"),
          new KnownCommand("del", -2, 1, "write"),
          new KnownCommand("ping", -1, 0, "fast"),
          new KnownCommand("echo", 2, 0, "fast"),
          new KnownCommand("quit", -1, 0, "fast"),
          new KnownCommand("hello", -1, 0, "fast"),
          new KnownCommand("auth", -2, 0, "fast"),
          new KnownCommand("client", -2, 0, "admin"),
          new KnownCommand("command", -1, 0, "fast"),
          new KnownCommand("info", -1, 0, "fast"),
          new KnownCommand("select", 2, 0, "fast"),
          new KnownCommand("reset", 1, 0, "fast"),
          new KnownCommand("multi", 1, 0, "fast"),
          new KnownCommand("exec", 1, 0, "fast"),
          new KnownCommand("discard", 1, 0, "fast"));

  /** Commands that describe the connection, or would change the form of the replies. */
  private static final Set<String> NOT_IN_TRANSACTIONS = Set.of("AUTH", "HELLO", "POST", "HOST:");

  /**
   * Commands that run scripts. Clients that get "unknown command" for them may load the script and
   * try again without end, so the answer has another form.
   */
  private static final Set<String> SCRIPTS =
      Set.of("EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "FCALL", "FCALL_RO", "FUNCTION");

  /**
   * Subcommands of CLIENT about values that a client or the server remembers: no key has a value to
   * be read here, so none ever changes.
   */
  private static final Set<String> CLIENT_MEMORY =
      Set.of("TRACKING", "CACHING", "NO-EVICT", "NO-TOUCH", "CAPA");

  private static final String OK = "OK";
  private static final String NO_AUTH = "NOAUTH Authentication required.";
  private static final String NO_PASSWORD_SET =
      "ERR AUTH called without any token configured (expected: none, or a server with"
          + " --token-file)";

  /**
   * The version that is shown to clients, which derive features from it; this protocol is that of
   * Redis 7.0.
   */
  private static final String REDIS_VERSION = "7.0.0";

  private static final long MAX_COUNT = Quota.MAX_PERMITS;

  /** The most counts that one DEL resets. */
  private static final int MAX_RESETS = 8_192;

  /** The largest quantity; a sum with it is in range. */
  static final long MAX_QUANTITY = Long.MAX_VALUE >> 4;

  private final GuardedDecider decider;
  private final Tokens tokens;
  private final ThrottleCalls calls;
  private final CallerBuckets buckets;
  private final RespWriter out;
  private final LeaseCommands leases;
  private final HoldCommands holds;
  private final SeatCommands seats;
  private final CheckCalls checks;
  private int asked;

  RespCommands(GuardedDecider decider, Tokens tokens, ThrottleCalls calls, RespWriter out) {
    this.decider = decider;
    this.tokens = tokens;
    this.calls = calls;
    this.buckets = calls.buckets();
    this.out = out;
    this.leases =
        new LeaseCommands(
            decider, out, answer -> CheckCalls.reply(answer, LeaseCommands.MORE, out));
    this.holds = new HoldCommands(decider, out);
    this.seats = new SeatCommands(decider, out);
    this.checks = new CheckCalls(decider, out);
  }

  /**
   * Runs one command. Its reply is in the writer after this, or after {@link #finish}.
   *
   * @param later receives the task that {@link NextStep#WAIT} and {@link NextStep#AGAIN} wait for:
   *     it writes the reply, and is to be run on the event loop. It may be called before this
   *     method returns.
   */
  NextStep run(
      RespSession session, RespArguments command, long nowNanos, Consumer<Runnable> later) {
    if (session.generation != tokens.generation()) {
      session.generation = tokens.generation();
      session.authenticated &= !tokens.required() || tokens.accepts(session.token);
    }
    if (session.transaction != null) {
      return inTransaction(session, session.transaction, command, nowNanos, later);
    }
    ThrottleCalls.Dialect dialect = ThrottleArguments.dialect(command);
    try {
      if (dialect != null) {
        return checks.run(later)
            ? throttle(session, command, nowNanos, dialect, later)
            : NextStep.AGAIN;
      }
      if (!calls.run(nowNanos, out, later)) {
        return NextStep.AGAIN;
      }
      if (command.is(0, "WEIR.CHECK")) {
        return check(session, command, false, nowNanos, later);
      }
      if (command.is(0, "WEIR.CHARGE")) {
        return check(session, command, true, nowNanos, later);
      }
      if (!checks.run(later)) {
        return NextStep.AGAIN;
      }
      if (command.is(0, "WEIR.LEASE") || command.is(0, "WEIR.RETURN")) {
        return lease(session, command, later);
      }
      if (command.is(0, "WEIR.HOLD") || command.is(0, "WEIR.SETTLE")) {
        return hold(session, command, later);
      }
      if (command.is(0, "WEIR.ACQUIRE")) {
        return acquire(session, command, later);
      }
      if (command.is(0, "WEIR.RENEW")) {
        return seats(session, SeatCall.RENEW, command, later);
      }
      if (command.is(0, "WEIR.RELEASE")) {
        return seats(session, SeatCall.RELEASE, command, later);
      }
      return other(session, command, nowNanos, later);
    } catch (BadRequest | IllegalArgumentException e) {
      return error("ERR " + e.getMessage(), nowNanos, later);
    }
  }

  /*
   * What is MULTI here, and what is it not? The commands up to EXEC are kept as they were sent.
   * EXEC announces as many replies as there are commands, and then they are run as if they had been
   * sent just then. So a transaction is a pipeline whose replies are one array. Clients whose
   * pipelines are transactions by default use it in this way. Each command is decided by itself,
   * and commands of other connections may come in between. There is no WATCH: no key has a value to
   * be read.
   */
  private NextStep inTransaction(
      RespSession session,
      RespTransaction transaction,
      RespArguments command,
      long nowNanos,
      Consumer<Runnable> later) {
    String name = command.text(0).toUpperCase(Locale.ROOT);
    switch (name) {
      case "EXEC" -> {
        session.transaction = null;
        if (transaction.refused()) {
          out.error("EXECABORT Transaction discarded because of previous errors.");
          return NextStep.GO_ON;
        }
        out.array(transaction.count());
        session.toRun = transaction;
        return NextStep.GO_ON;
      }
      case "DISCARD" -> {
        session.transaction = null;
        out.simple(OK);
        return NextStep.GO_ON;
      }
      case "MULTI" -> {
        out.error("ERR MULTI calls can not be nested");
        return NextStep.GO_ON;
      }
      case "QUIT", "RESET" -> {
        session.transaction = null;
        return run(session, command, nowNanos, later);
      }
      default -> {
        String problem = problem(session, transaction, command, name);
        if (problem == null) {
          transaction.add(command.bytes(), command.from(), command.to());
          out.simple("QUEUED");
          return NextStep.GO_ON;
        }
        transaction.refuse();
        out.error(problem);
        return NextStep.GO_ON;
      }
    }
  }

  /** Returns the reason why a command is not kept for EXEC; null if it is kept. */
  private static @Nullable String problem(
      RespSession session, RespTransaction transaction, RespArguments command, String name) {
    if (!session.authenticated) {
      return NO_AUTH;
    }
    if (NOT_IN_TRANSACTIONS.contains(name)) {
      return "ERR " + command.shown(0) + ": not possible between MULTI and EXEC";
    }
    if (transaction.refused()) {
      return "ERR an earlier command was refused (expected: EXEC or DISCARD)";
    }
    if (transaction.full(command.to() - command.from())) {
      return "ERR MULTI: more than 1 MiB of commands (expected: EXEC before that)";
    }
    for (KnownCommand known : KNOWN) {
      if (known.name.equalsIgnoreCase(name)) {
        int count = command.count();
        boolean fits = known.arity < 0 ? count >= -known.arity : count == known.arity;
        return fits ? null : "ERR wrong number of arguments for '" + known.name + "' command";
      }
    }
    return unknown(command, name);
  }

  private static String unknown(RespArguments command, String name) {
    return SCRIPTS.contains(name)
        ? "ERR " + name + ": scripts are not run here"
        : "ERR unknown command '" + command.shown(0) + "'";
  }

  /** Writes an error behind the replies that are due. */
  private NextStep error(String text, long nowNanos, Consumer<Runnable> later) {
    if (!finish(nowNanos, later)) {
      return NextStep.AGAIN;
    }
    out.error(text);
    return NextStep.GO_ON;
  }

  /** Returns the number of decisions since the last call. */
  int decisions() {
    int count = asked;
    asked = 0;
    return count;
  }

  /** Drops the commands that wait for a decision: their connection has failed. */
  void forget() {
    calls.forget();
    checks.forget();
    asked = 0;
  }

  /**
   * Decides the waiting commands, and writes the replies.
   *
   * @param later receives the task that writes the replies if the store answers later
   * @return whether the replies are written; if not, {@code later} receives them, perhaps before
   *     this method returns
   */
  boolean finish(long nowNanos, Consumer<Runnable> later) {
    // If there are checks, no call of CL.THROTTLE waits, and vice versa.
    return checks.run(later) && calls.run(nowNanos, out, later);
  }

  private NextStep throttle(
      RespSession session,
      RespArguments command,
      long nowNanos,
      ThrottleCalls.Dialect dialect,
      Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      return error(NO_AUTH, nowNanos, later);
    }
    ThrottleArguments asks = ThrottleArguments.read(dialect, command, buckets, nowNanos);
    if (LoopLag.here().overloaded(nowNanos, 1)) {
      NextStep after =
          error(
              "OVERLOADED the server is behind with its work, nothing was decided",
              nowNanos,
              later);
      if (after == NextStep.GO_ON) {
        buckets.overloaded();
      }
      return after;
    }
    if (calls.full() && !finish(nowNanos, later)) {
      return NextStep.AGAIN;
    }
    asked++;
    calls.add(dialect, asks.limit(), key(command, 1), asks.quantity());
    return NextStep.GO_ON;
  }

  private long key(RespArguments command, int i) {
    return buckets.key(command.bytes(), command.start(i), command.end(i));
  }

  private NextStep check(
      RespSession session,
      RespArguments command,
      boolean charge,
      long nowNanos,
      Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      return error(NO_AUTH, nowNanos, later);
    }
    int count = command.count();
    if (count < 5 || count % 2 == 0) {
      throw wrongCount(command, "<domain> <permits> <entry key> <entry value> [...]");
    }
    long permits = command.number(2, "permits", 0, MAX_COUNT);
    if (checks.full() && !checks.run(later)) {
      return NextStep.AGAIN;
    }
    checks.add(command, permits, charge, nowNanos);
    asked++;
    return NextStep.GO_ON;
  }

  private NextStep lease(RespSession session, RespArguments command, Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      out.error(NO_AUTH);
      return NextStep.GO_ON;
    }
    int count = command.count();
    if (command.is(0, "WEIR.LEASE")) {
      if (count < 6 || count % 2 == 1) {
        throw wrongCount(command, LeaseCommands.LEASE_ARGUMENTS);
      }
      leases.lease(command, later);
    } else {
      if (count < 3 || count % 2 == 0) {
        throw wrongCount(command, LeaseCommands.RETURN_ARGUMENTS);
      }
      leases.giveBack(command, later);
    }
    return NextStep.WAIT;
  }

  private NextStep hold(RespSession session, RespArguments command, Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      out.error(NO_AUTH);
      return NextStep.GO_ON;
    }
    if (command.is(0, "WEIR.HOLD")) {
      if (command.count() < 5 || command.count() % 2 == 0) {
        throw wrongCount(command, HoldCommands.HOLD_ARGUMENTS);
      }
      holds.hold(command, later);
    } else {
      count(command, 3, 3, HoldCommands.SETTLE_ARGUMENTS);
      holds.settle(command, later);
    }
    return NextStep.WAIT;
  }

  private NextStep acquire(RespSession session, RespArguments command, Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      out.error(NO_AUTH);
      return NextStep.GO_ON;
    }
    if (command.count() < 5 || command.count() % 2 == 0) {
      throw wrongCount(command, SeatCommands.ACQUIRE_ARGUMENTS);
    }
    seats.acquire(command, later);
    return NextStep.WAIT;
  }

  private NextStep seats(
      RespSession session, SeatCall call, RespArguments command, Consumer<Runnable> later)
      throws BadRequest {
    if (!session.authenticated) {
      out.error(NO_AUTH);
      return NextStep.GO_ON;
    }
    count(command, 2, SeatCommands.MOST_ARGUMENTS, SeatCommands.SEAT_ARGUMENTS);
    seats.call(call, command, later);
    return NextStep.WAIT;
  }

  private NextStep other(
      RespSession session, RespArguments command, long nowNanos, Consumer<Runnable> later)
      throws BadRequest {
    String name = command.text(0).toUpperCase(Locale.ROOT);
    switch (name) {
      case "AUTH" -> auth(session, command);
      case "HELLO" -> hello(session, command);
      case "POST", "HOST:" -> {
        // A web page can make a browser send this; no Redis client sends it.
        out.error("ERR this is no HTTP");
        return NextStep.CLOSE;
      }
      case "QUIT" -> {
        out.simple(OK);
        return NextStep.CLOSE;
      }
      case "RESET" -> {
        session.version = 2;
        session.name = "";
        session.transaction = null;
        session.authenticated = !tokens.required();
        out.simple("RESET");
      }
      default -> {
        if (!session.authenticated) {
          out.error(NO_AUTH);
        } else if (name.equals("DEL")) {
          return delete(command, nowNanos, later);
        } else {
          trusted(session, command, name);
        }
      }
    }
    return NextStep.GO_ON;
  }

  /** Resets all keys at once, and replies when the last one is reset. */
  private NextStep delete(RespArguments command, long nowNanos, Consumer<Runnable> later)
      throws BadRequest {
    count(command, 2, Integer.MAX_VALUE, "<key> [<key> ...]");
    int keys = command.count() - 1;
    int counts = buckets.countsOfAKey();
    if ((long) keys * counts > MAX_RESETS) {
      throw new BadRequest(
          "DEL: " + keys + " keys (expected: at most " + MAX_RESETS / counts + " in one command)");
    }
    AtomicInteger missing = new AtomicInteger(keys);
    AtomicInteger found = new AtomicInteger();
    try {
      for (int i = 1; i <= keys; i++) {
        buckets.reset(
            key(command, i),
            nowNanos,
            known -> {
              if (known) {
                found.incrementAndGet();
              }
              if (missing.decrementAndGet() == 0) {
                later.accept(() -> out.integer(found.get()));
              }
            });
      }
      return NextStep.WAIT;
    } catch (UnsupportedOperationException e) { // The first key: its counts are being read.
      out.error(
          "UNCERTAIN the store did not decide ("
              + UncertainCause.COUNTS
              + "), nothing was deleted");
      return NextStep.GO_ON;
    }
  }

  private void trusted(RespSession session, RespArguments command, String name) throws BadRequest {
    switch (name) {
      case "PING" -> ping(command);
      case "ECHO" -> {
        count(command, 2, 2, "<message>");
        out.bulk(command.bytes(), command.start(1), command.end(1));
      }
      case "SELECT" -> {
        count(command, 2, 2, "0");
        command.number(1, "DB index", 0, 0);
        out.simple(OK);
      }
      case "CLIENT" -> client(session, command);
      case "COMMAND" -> command(command);
      case "MULTI" -> {
        count(command, 1, 1, "no arguments");
        session.transaction = new RespTransaction();
        out.simple(OK);
      }
      case "EXEC", "DISCARD" -> out.error("ERR " + name + " without MULTI");
      case "INFO" -> out.bulk(info(command));
      default -> out.error(unknown(command, name));
    }
  }

  private void ping(RespArguments command) throws BadRequest {
    count(command, 1, 2, "[<message>]");
    if (command.count() == 1) {
      out.simple("PONG");
    } else {
      out.bulk(command.bytes(), command.start(1), command.end(1));
    }
  }

  private void auth(RespSession session, RespArguments command) throws BadRequest {
    count(command, 2, 3, "[<user>] <token>");
    if (!tokens.required()) {
      out.error(NO_PASSWORD_SET);
    } else if (authenticate(session, command, command.count() - 1)) {
      out.simple(OK);
    }
  }

  /** Authenticates the connection. The user name is ignored: a valid token is enough. */
  private boolean authenticate(RespSession session, RespArguments command, int token) {
    byte[] digest = Tokens.digest(command.bytes(), command.start(token), command.end(token));
    boolean good = !tokens.required() || tokens.accepts(digest);
    if (good) {
      session.authenticated = true;
      session.token = digest;
    } else {
      out.error("WRONGPASS invalid username-password pair or user is disabled.");
    }
    return good;
  }

  private void hello(RespSession session, RespArguments command) throws BadRequest {
    int version = session.version;
    String name = session.name;
    if (command.count() > 1) {
      if (!command.is(1, "2") && !command.is(1, "3")) {
        out.error("NOPROTO unsupported protocol version");
        return;
      }
      version = command.is(1, "3") ? 3 : 2;
    }
    for (int i = 2; i < command.count(); ) {
      if (command.is(i, "AUTH") && i + 2 < command.count()) {
        if (!authenticate(session, command, i + 2)) {
          return;
        }
        i += 3;
      } else if (command.is(i, "SETNAME") && i + 1 < command.count()) {
        name = clientName(command, i + 1);
        i += 2;
      } else {
        throw new BadRequest("HELLO: " + command.shown(i) + " (expected: AUTH, SETNAME)");
      }
    }
    if (!session.authenticated) {
      out.error(
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the"
              + " HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client");
      return;
    }
    session.version = version;
    session.name = name;
    out.map(7, version).bulk("server").bulk("weir").bulk("version").bulk(REDIS_VERSION);
    out.bulk("proto").integer(version).bulk("id").integer(session.id);
    out.bulk("mode").bulk("standalone").bulk("role").bulk("master");
    out.bulk("modules").array(0);
  }

  private static String clientName(RespArguments command, int i) throws BadRequest {
    String name = command.text(i);
    if (name.length() > 200 || name.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new BadRequest(
          "client name: "
              + command.shown(i)
              + " (expected: at most 200 printable characters, no blanks)");
    }
    return name;
  }

  private void client(RespSession session, RespArguments command) throws BadRequest {
    count(command, 2, Integer.MAX_VALUE, "<subcommand>");
    if (command.is(1, "SETNAME") && command.count() == 3) {
      session.name = clientName(command, 2);
      out.simple(OK);
    } else if (command.is(1, "GETNAME") && command.count() == 2) {
      if (session.name.isEmpty()) {
        out.nil(session.version);
      } else {
        out.bulk(session.name);
      }
    } else if ((command.is(1, "SETINFO") && command.count() == 4)
        || CLIENT_MEMORY.contains(command.text(1).toUpperCase(Locale.ROOT))) {
      out.simple(OK);
    } else if (command.is(1, "ID") && command.count() == 2) {
      out.integer(session.id);
    } else {
      out.error(
          "ERR CLIENT: "
              + command.shown(1)
              + " (expected: SETNAME <name>, GETNAME, SETINFO <what> <value>, ID, TRACKING,"
              + " CACHING, NO-EVICT, NO-TOUCH, CAPA)");
    }
  }

  private void command(RespArguments command) {
    if (command.count() == 1) {
      out.array(KNOWN.size());
      for (KnownCommand known : KNOWN) {
        int key = known.firstKey;
        out.array(6).bulk(known.name).integer(known.arity).array(1).simple(known.flag);
        out.integer(key).integer(key).integer(key);
      }
    } else if (command.is(1, "COUNT")) {
      out.integer(KNOWN.size());
    } else {
      out.array(0); // Clients do not need DOCS and INFO.
    }
  }

  /** Returns the sections that are named, or all of them. */
  private String info(RespArguments command) {
    Set<String> wanted = new HashSet<>();
    for (int i = 1; i < command.count(); i++) {
      wanted.add(command.text(i).toLowerCase(Locale.ROOT));
    }
    boolean all =
        wanted.isEmpty()
            || wanted.stream().anyMatch(Set.of("all", "default", "everything")::contains);
    StringJoiner sections = new StringJoiner("\r\n");
    if (all || wanted.contains("server")) {
      sections.add(
          "# Server\r\nredis_version:"
              + REDIS_VERSION
              + "\r\nredis_mode:standalone\r\nserver_name:weir\r\nrule_revision:"
              + decider.engine().revision()
              + "\r\n");
    }
    if (all || wanted.contains("replication")) {
      sections.add("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
    }
    if (all || wanted.contains("keyspace")) {
      sections.add("# Keyspace\r\nthrottle_keys:" + buckets.store().keys() + "\r\n");
    }
    return sections.toString();
  }

  static void count(RespArguments command, int min, int max, String expected) throws BadRequest {
    if (command.count() < min || command.count() > max) {
      throw wrongCount(command, expected);
    }
  }

  static BadRequest wrongCount(RespArguments command, @Nullable String expected) {
    String name = command.shown(0).toLowerCase(Locale.ROOT);
    return new BadRequest(
        "wrong number of arguments for '" + name + "' command (expected: " + expected + ")");
  }
}
