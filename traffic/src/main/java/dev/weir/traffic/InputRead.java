package dev.weir.traffic;

/**
 * What was read of an input.
 *
 * @param name the file's, or {@link Traffic#STANDARD_INPUT}
 * @param bytes how many, before decompression
 * @param crc32c the CRC-32C of these bytes
 */
public record InputRead(String name, long bytes, long crc32c) {}
