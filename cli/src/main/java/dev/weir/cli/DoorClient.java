package dev.weir.cli;

/** One connection to a door. Used only on its lane's loop. */
interface DoorClient {
  /** Sends a request for a key; its answer goes to the lane, under the same slot. */
  void send(int slot, long key);

  /** Hands over what was sent so far to the network. */
  void flush();

  /** Gives a request up that was sent; it goes to the lane as lost, now or soon. */
  void expire(int slot);

  void close();
}
