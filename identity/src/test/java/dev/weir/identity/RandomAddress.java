package dev.weir.identity;

import java.util.Random;

/** Addresses, and texts of them, in all the ways in which they may be written. */
final class RandomAddress {
  private final Random random;

  RandomAddress(Random random) {
    this.random = random;
  }

  /** Returns sixteen bits for each group, often with runs of zeros. */
  int[] groups() {
    int[] groups = new int[8];
    for (int i = 0; i < 8; i++) {
      groups[i] =
          switch (random.nextInt(4)) {
            case 0, 1 -> 0;
            case 2 -> random.nextInt(16);
            default -> random.nextInt(1 << 16);
          };
    }
    switch (random.nextInt(10)) {
      case 0 -> carry(groups, 0, 0, 0, 0, 0, 0xffff);
      case 1 -> carry(groups, 0x64, 0xff9b, 0, 0, 0, 0);
      case 2 -> groups[0] = 0x2002;
      default -> groups[0] |= 0x2000;
    }
    return groups;
  }

  private static void carry(int[] groups, int... first) {
    System.arraycopy(first, 0, groups, 0, first.length);
    groups[7] |= 1; // Not 0.0.0.0.
  }

  String v4() {
    return (1 + random.nextInt(255)) + "." + octet() + "." + octet() + "." + octet();
  }

  private int octet() {
    return random.nextInt(256);
  }

  /** Returns the groups in one of the forms that RFC 4291 allows. */
  String written(int[] groups) {
    int from = random.nextInt(9);
    int zeros = 0;
    while (from + zeros < 8 && groups[from + zeros] == 0) {
      zeros++;
    }
    boolean dotted = random.nextInt(4) == 0 && from + zeros <= 6;
    int count = dotted ? 6 : 8;
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      if (zeros > 0 && i == from) {
        text.append("::");
        i += zeros - 1;
      } else {
        separate(text);
        String format = random.nextBoolean() ? "%x" : random.nextBoolean() ? "%04x" : "%X";
        text.append(String.format(format, groups[i]));
      }
    }
    if (dotted) {
      separate(text);
      text.append(groups[6] >> 8).append('.').append(groups[6] & 255).append('.');
      text.append(groups[7] >> 8).append('.').append(groups[7] & 255);
    }
    return text.toString();
  }

  private static void separate(StringBuilder text) {
    if (text.length() > 0 && text.charAt(text.length() - 1) != ':') {
      text.append(':');
    }
  }
}
