package dev.weir.traffic.internal.generate;

import dev.weir.traffic.Generator;
import dev.weir.traffic.GeneratorOptions;
import dev.weir.traffic.GeneratorOptions.Kind;
import dev.weir.traffic.Zipf;
import java.util.SplittableRandom;

/** One kind of generated traffic: its requests, each with its time. */
public abstract class Visitors {
  static final double NANOS = 1e9;

  static final String[] BROWSERS = {
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) Safari/605.1.15"
  };

  private static final String[] PATHS = {
    "/", "/search?q=weir", "/products", "/cart", "/api/items", "/login", "/img/logo.svg", "/docs"
  };

  final SplittableRandom random;
  final GeneratorOptions options;
  final long startNanos;
  public final long endNanos;

  Visitors(GeneratorOptions options, SplittableRandom random) {
    this.options = options;
    this.random = random;
    startNanos = Generator.nanos(options.start());
    endNanos = startNanos + options.duration().toNanos();
  }

  public static Visitors of(Kind kind, GeneratorOptions options, SplittableRandom random) {
    return switch (kind) {
      case POISSON -> new Ordinary(options, random, false);
      case DAILY -> new Ordinary(options, random, true);
      case BURSTS -> new Bursts(options, random);
      case SCRAPER -> new Scraper(options, random);
      case STUFFER -> new Stuffer(options, random);
      case HERD -> new Herd(options, random);
    };
  }

  /** Returns the time of the next request; {@link Long#MAX_VALUE} if there are no more. */
  public abstract long nextNanos();

  /** Returns the next request and moves to the one after it. */
  public abstract Visit take();

  /** Returns the time between events that come at random, at a mean rate per second. */
  final long gapNanos(double perSecond) {
    return (long) (-StrictMath.log(1 - random.nextDouble()) * NANOS / perSecond);
  }

  final Visit page(long nanos, String ip) {
    String path = PATHS[random.nextInt(PATHS.length)];
    String agent = BROWSERS[random.nextInt(BROWSERS.length)];
    return new Visit(nanos, ip, "-", "GET", path, 200, 500 + random.nextInt(20_000), agent);
  }

  /** Returns an address of the block for private networks: nobody owns it on the Internet. */
  static String address(int block, int number) {
    int high = (number >>> 16) & 0xff;
    int middle = (number >>> 8) & 0xff;
    return block + "." + high + "." + middle + "." + (number & 0xff);
  }

  /**
   * A Poisson process, thinned out by the day's curve: candidates come at the highest rate, and
   * some are kept.
   */
  private static final class Ordinary extends Visitors {
    private static final double DAY_NANOS = 86_400 * NANOS;

    /** The amplitude of the day's rate around its mean, as a share of the mean. */
    private static final double SWING = 0.8;

    /** The time of day at which the rate crosses its mean on the way up. */
    private static final double RISE_NANOS = 10 * 3_600 * NANOS;

    private final boolean daily;
    private final Zipf clients;
    private long next;

    Ordinary(GeneratorOptions options, SplittableRandom random, boolean daily) {
      super(options, random);
      this.daily = daily;
      clients = new Zipf(options.clients(), options.skew());
      next = startNanos;
      advance();
    }

    private void advance() {
      double most = options.rate() * (daily ? 1 + SWING : 1);
      do {
        next += gapNanos(most);
      } while (daily && next < endNanos && random.nextDouble() * most >= rate(next));
    }

    private double rate(long nanos) {
      double turn = 2 * StrictMath.PI * (nanos % DAY_NANOS - RISE_NANOS) / DAY_NANOS;
      return options.rate() * (1 + SWING * StrictMath.sin(turn));
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public Visit take() {
      Visit visit = page(next, address(10, clients.draw(random)));
      advance();
      return visit;
    }
  }

  /**
   * Bursts: now and then one of several sources is on, for exponential times, with Poisson requests
   * while on.
   */
  private static final class Bursts extends Visitors {
    private static final int SOURCES = 20;
    private static final double OFF_SECONDS = 60;
    private static final double ON_SECONDS = 2;

    private long next;
    private long offNanos;
    private int source;

    Bursts(GeneratorOptions options, SplittableRandom random) {
      super(options, random);
      next = startNanos;
      rest();
    }

    private void rest() {
      next = Math.max(next, offNanos) + gapNanos(1 / OFF_SECONDS);
      offNanos = next + gapNanos(1 / ON_SECONDS);
      source = random.nextInt(SOURCES);
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public Visit take() {
      Visit visit = page(next, address(172, (16 << 16) + source));
      next += gapNanos(options.rate() * 5);
      if (next > offNanos) {
        rest();
      }
      return visit;
    }
  }

  /** A scraper that fetches one page after the other, at an even pace with some jitter. */
  private static final class Scraper extends Visitors {
    private static final double PER_SECOND = 2;

    private long next;
    private int page;

    Scraper(GeneratorOptions options, SplittableRandom random) {
      super(options, random);
      next = startNanos;
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public Visit take() {
      Visit visit =
          new Visit(
              next,
              "192.0.2.66",
              "-",
              "GET",
              "/products?page=" + ++page,
              200,
              20_000,
              "python-requests/2.32");
      next += (long) (NANOS / PER_SECOND * (0.9 + 0.2 * random.nextDouble()));
      return visit;
    }
  }

  /** A stuffer that tries passwords from many addresses, in the third quarter of the time. */
  private static final class Stuffer extends Visitors {
    private static final int ADDRESSES = 200;

    private final double perSecond;
    private final long untilNanos;
    private long next;

    Stuffer(GeneratorOptions options, SplittableRandom random) {
      super(options, random);
      perSecond = 2 * options.rate();
      next = startNanos + (endNanos - startNanos) / 2;
      untilNanos = next + (endNanos - startNanos) / 4;
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public Visit take() {
      int found = random.nextInt(1_000) == 0 ? 200 : 401;
      String ip = "198.51.100." + random.nextInt(ADDRESSES);
      String user = "user" + random.nextInt(1_000_000);
      Visit visit = new Visit(next, ip, user, "POST", "/login", found, 312, "Go-http-client/2.0");
      next += gapNanos(perSecond);
      if (next > untilNanos) {
        next = Long.MAX_VALUE;
      }
      return visit;
    }
  }

  /**
   * A herd of clients that come back at every multiple of the window, all within a few
   * milliseconds.
   */
  private static final class Herd extends Visitors {
    private static final int CLIENTS = 50;
    private static final long WITHIN_NANOS = 20_000_000L;

    private final long windowNanos;
    private long reset;
    private int member;
    private long next;

    Herd(GeneratorOptions options, SplittableRandom random) {
      super(options, random);
      windowNanos = options.window().toNanos();
      reset = startNanos + Math.floorMod(-startNanos, windowNanos);
      next = reset;
    }

    @Override
    public long nextNanos() {
      return next;
    }

    @Override
    public Visit take() {
      Visit visit =
          new Visit(
              next, "203.0.113." + member, "-", "GET", "/api/items", 200, 1_024, "okhttp/5.1");
      if (++member == CLIENTS) {
        member = 0;
        reset += windowNanos;
        next = Math.max(next, reset);
      } else {
        long spread = Math.min(WITHIN_NANOS, windowNanos / 2);
        next += random.nextLong(1 + 2 * spread / CLIENTS);
      }
      return visit;
    }
  }
}
