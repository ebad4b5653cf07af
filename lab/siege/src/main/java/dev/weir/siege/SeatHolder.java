package dev.weir.siege;

import dev.weir.client.ClientSeat;
import dev.weir.client.WeirClient;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A process that takes seats, has them renewed, and keeps them until it is killed. */
final class SeatHolder {
  static final String DOMAIN = "siege";
  static final String KEY = "seat";

  private SeatHolder() {}

  /** Runs the holder. Arguments: gRPC port, number of seats. */
  public static void main(String[] arguments) throws Exception {
    int seats = Integer.parseInt(arguments[1]);
    Request request = Request.of(DOMAIN, KEY, "one");
    try (WeirClient weir =
        WeirClient.builder("127.0.0.1:" + Integer.parseInt(arguments[0]))
            .deadline(Duration.ofSeconds(20))
            .build()) {
      boolean unused = weir.awaitAvailable(Duration.ofSeconds(20));
      List<ClientSeat> held = new ArrayList<>();
      for (int i = 0; i < seats; i++) {
        ClientSeat seat = weir.acquire(request).join();
        if (!seat.granted()) {
          throw new IllegalStateException("seat " + i + ": " + seat.answer().reason());
        }
        held.add(seat);
      }
      System.out.println("holding " + held.size());
      new CountDownLatch(1).await();
    }
  }
}
