/** CRC-32, the checksum of PNG chunks. In JavaScript, so that the meter counts its work. */

const table = new Int32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  table[byte] = value
}

/** The checksum of the bytes from `start` up to, not including, `end`. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1
  for (let i = start; i < end; i++) crc = table[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}
