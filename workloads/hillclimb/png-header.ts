/** What the first bytes of a PNG say of it: enough to refuse it, or to know its cost, before it is decoded. */

export interface PngHeader {
  width: number
  height: number
  /** Bits of a sample. */
  depth: 1 | 2 | 4 | 8 | 16
  colourType: ColourType
  interlaced: boolean
}

export type ColourType = 0 | 2 | 3 | 4 | 6

/** By colour type: grey; red, green, blue; palette; grey and alpha; red, green, blue and alpha. */
export const channelsOf: Readonly<Record<ColourType, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

const depthsOf: Readonly<Record<ColourType, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
export const signatureBytes = signature.length
/** Of the first chunk: its length, 13, and its name. */
const firstChunk = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
/** Signature and first chunk, its check sum included. */
const headerBytes = 33

/** Undefined if these are not the first bytes of a PNG, 'broken' if what they say cannot be. */
export function readHeader(bytes: Uint8Array): PngHeader | 'broken' | undefined {
  if (!signature.every((byte, i) => bytes[i] === byte)) return undefined
  if (bytes.length < headerBytes || !firstChunk.every((byte, i) => bytes[8 + i] === byte)) return 'broken'
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  const [depth, colourType, compression, filter, interlace] = bytes.subarray(24, 29)
  const known = Object.hasOwn(depthsOf, colourType!) && depthsOf[colourType as ColourType].includes(depth!)
  if (!known || compression !== 0 || filter !== 0 || interlace! > 1 || width === 0 || height === 0)
    return 'broken'
  return {
    width,
    height,
    depth: depth as PngHeader['depth'],
    colourType: colourType as ColourType,
    interlaced: interlace === 1,
  }
}
