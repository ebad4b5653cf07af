package dev.weir.traffic;

/**
 * The part of an input that was read.
 *
 * @param name the file's name, or {@link Traffic#STANDARD_INPUT}
 * @param bytes the number of bytes, before decompression
 * @param crc32c the CRC-32C of these bytes
 */
public record InputRead(String name, long bytes, long crc32c) {}
