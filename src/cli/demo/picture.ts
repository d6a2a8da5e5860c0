/** A picture to send: a gradient as 24-bit BMP, different for each number. */

const headBytes = 54

export function gradientBmp(side: number, number: number): Uint8Array {
  const rowBytes = (side * 3 + 3) & ~3
  const bytes = Buffer.alloc(headBytes + rowBytes * side)
  bytes.write('BM', 0, 'latin1')
  bytes.writeUInt32LE(bytes.length, 2)
  bytes.writeUInt32LE(headBytes, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(side, 18)
  bytes.writeInt32LE(side, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  bytes.writeUInt32LE(rowBytes * side, 34)
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const at = headBytes + y * rowBytes + x * 3
      bytes[at] = (x * 255) / side
      bytes[at + 1] = (y * 255) / side
      bytes[at + 2] = (x * y + number * 37) & 255
    }
  }
  return bytes
}
