package dev.weir.load;

/** One connection to a port. It is used only on its lane's loop. */
interface DoorClient {
  /** Sends a request for a key; its answer goes to the lane, under the same slot. */
  void send(int slot, long key);

  /** Passes the requests sent so far to the network. */
  void flush();

  /** Abandons a request that was sent; the lane gets it back as lost, now or soon. */
  void expire(int slot);

  void close();
}
