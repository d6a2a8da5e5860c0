/** Uploads of the bundled workloads: pictures, height maps and genomes. */

import type { Random } from '../../../src/lib/random.ts'
import { Refusal } from '../../../src/workload/workload.ts'
import compress from '../../../workloads/compress.ts'
import { readGenomes } from '../../../workloads/dna/upload.ts'
import { uploadedMap } from '../../../workloads/hillclimb/upload.ts'
import { decodeBmp } from '../../../workloads/images/bmp-decode.ts'
import { formatOf } from '../../../workloads/images/header.ts'
import { decodeJpeg } from '../../../workloads/images/jpeg-decode.ts'
import type { Picture } from '../../../workloads/images/picture.ts'
import { decodePng } from '../../../workloads/images/png-decode.ts'
import { jpegFile } from '../../../workloads/testing/jpeg-files.ts'
import { bodyOf } from '../../../workloads/testing/pictures.ts'
import { chunk, ihdr, pngFile, signature } from '../../../workloads/testing/png-files.ts'
import { bytesOf, chance, fewOf, listOf, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

/** Larger pictures are legal, and take seconds. */
const mostPixels = 2_000_000

type Decoder = (bytes: Uint8Array, progress: (fraction: number) => void) => Picture

const decoders: Record<string, Decoder> = { png: decodePng, jpeg: decodeJpeg, bmp: decodeBmp }

function decoded(decode: Decoder) {
  return (input: Buffer): string => {
    const format = formatOf(input)
    const features = compress.features!(
      { format: 'png', quality: 0.5, maxSide: 100 },
      { bytes: input.length, head: input },
    )
    for (const [name, value] of Object.entries(features))
      holds(typeof value !== 'number' || (Number.isFinite(value) && value >= 0), `feature ${name} = ${value}`)
    if (Number(features.pixels) > mostPixels) return 'large'
    const { width, height, data } = decode(input, () => {})
    holds(data.length === width * height * 4, `${width} × ${height} and ${data.length} bytes`)
    return `${format} ${width > 8 ? 'wide' : 'narrow'}`
  }
}

function target(name: string, words: readonly string[], generate: (random: Random) => Buffer): Target {
  return {
    name,
    about: `${name.toUpperCase()} pictures, and the features of their heads`,
    maxBytes: 16 * 1024,
    cpuMs: 4_000,
    ...{ words, generate },
    declared: errorsOf(Refusal),
    open: () => ({ run: decoded(decoders[name]!) }),
  }
}

const side = (random: Random) => pick(random, [1, 2, 7, 8, 9, 16, 17, 33])

/** Checksums are right, so that mutations of chunks reach the code behind them. */
function png(random: Random): Buffer {
  const [colourType, depths] = pick(random, [
    [0, [1, 2, 4, 8, 16]],
    [2, [8, 16]],
    [3, [1, 2, 4, 8]],
    [4, [8, 16]],
    [6, [8, 16]],
  ] as const)
  const depth = pick(random, depths)
  const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colourType]
  if (chance(random, 0.3)) {
    const fields = [depth, colourType, ...listOf(random, 3, () => random.below(3)), 0, 0, 0].slice(0, 5)
    const chunks = listOf(random, 8, () =>
      chunk(
        pick(random, ['IDAT', 'PLTE', 'tRNS', 'tEXt', 'IEND', 'ABCD', 'IHDR']),
        bytesOf(random, fewOf(random, 40)),
      ),
    )
    const size = () => pick(random, [0, 1, 8, 33, 5000, 32_767, 32_768, 2 ** 31, 2 ** 32 - 1])
    return Buffer.concat([
      signature,
      ihdr(size(), size(), ...fields),
      ...chunks,
      chunk('IEND', Buffer.alloc(0)),
    ])
  }
  const palette = colourType === 3 ? { palette: bytesOf(random, 3 * (1 + random.below(2 ** depth))) } : {}
  return pngFile({
    ...{
      width: side(random),
      height: side(random),
      depth,
      colourType,
      interlaced: chance(random, 0.3),
      ...palette,
    },
    pixel: () => Array.from({ length: channels }, () => random.below(2 ** depth)),
    filter: () => (chance(random, 0.95) ? random.below(5) : random.below(256)),
    ...(chance(random, 0.2) && { pieceBytes: 1 + random.below(9) }),
    ...(chance(random, 0.2) && { transparency: bytesOf(random, random.below(8)) }),
  })
}

function jpeg(random: Random): Buffer {
  const sampling = pick(random, [
    [[1, 1]],
    [
      [2, 2],
      [1, 1],
      [1, 1],
    ],
    [
      [1, 1],
      [2, 1],
      [1, 2],
    ],
    [
      [4, 4],
      [1, 3],
      [3, 1],
    ],
  ]) as [number, number][]
  return jpegFile({
    ...{ width: side(random), height: side(random), sampling, seed: random.below(1000) },
    ...{ progressive: chance(random, 0.4), separate: chance(random, 0.3) },
    restartInterval: chance(random, 0.3) ? 1 + random.below(4) : 0,
  })
}

function bmp(random: Random): Buffer {
  const bits = pick(random, [1, 4, 8, 16, 24, 32, 2, 0])
  const [width, height] = [side(random), side(random)]
  const info = pick(random, [12, 40, 56, 124, 13])
  const colours = bits <= 8 ? 2 ** bits : 0
  const start = 14 + info + colours * 4
  const file = Buffer.concat([
    Buffer.alloc(Math.max(start, 70)),
    bytesOf(random, Math.ceil((width * bits) / 32) * 4 * height),
  ])
  file.write('BM')
  file.writeUInt32LE(start, 10)
  file.writeUInt32LE(info, 14)
  if (info === 12) [width, height, 1, bits].forEach((value, i) => void file.writeUInt16LE(value, 18 + 2 * i))
  else {
    file.writeInt32LE(width, 18)
    file.writeInt32LE(chance(random, 0.3) ? -height : height, 22)
    file.writeUInt16LE(bits, 28)
    file.writeUInt32LE(pick(random, [0, 0, 0, 3, 6, 1]), 30)
    if (info >= 56)
      for (let i = 0; i < 4; i++)
        file.writeUInt32LE(pick(random, [0xff << (8 * i), 0, 5, 0x7c00]) >>> 0, 54 + 4 * i)
  }
  return file
}

export const pngTarget = target(
  'png',
  ['IHDR', 'IDAT', 'PLTE', 'tRNS', 'IEND', '\0\0\0\x0d', '\x78\x9c'],
  png,
)
export const jpegTarget = target(
  'jpeg',
  [
    '\xff\xd8',
    '\xff\xd9',
    '\xff\xda',
    '\xff\xc0',
    '\xff\xc2',
    '\xff\xc4',
    '\xff\xdb',
    '\xff\xdd',
    '\xff\xe1',
    '\xff\xd0',
    'Exif\0\0',
    'Adobe',
  ],
  jpeg,
)
export const bmpTarget = target(
  'bmp',
  ['BM', '\x28\0\0\0', '\x0c\0\0\0', '\x20\0', '\x18\0', '\x03\0\0\0'],
  bmp,
)

export const heightMap: Target = {
  name: 'height-map',
  about: 'PNG pictures that hillclimb reads as maps',
  maxBytes: 16 * 1024,
  cpuMs: 4_000,
  words: pngTarget.words!,
  generate: png,
  declared: errorsOf(Refusal),
  open: () => ({
    run(input) {
      uploadedMap(input)
      return 'map'
    },
  }),
}

export const genomes: Target = {
  name: 'genomes',
  about: 'genomes in FASTA or bare letters',
  maxBytes: 16 * 1024,
  cpuMs: 1_000,
  words: ['>', ';', '\n', '\r\n', 'ACGT', 'acgtn', '>name\n', '\x1f\x8b', '\0', ' ', '\t'],
  generate: (random) =>
    Buffer.from(
      listOf(random, 12, () =>
        pick(random, ['>seq', 'ACGTACGT', 'acgu', ';note', 'NNRY', '', textOf(random)]),
      ).join(pick(random, ['\n', '\r\n'])),
    ),
  declared: errorsOf(Refusal),
  open: () => ({
    async run(input) {
      const found = await readGenomes(bodyOf(input, 100))
      const bases = found.reduce((sum, { bases }) => sum + bases.length, 0)
      holds(bases <= input.length, 'more bases than letters')
      return `${Math.min(3, found.length)} genomes`
    },
  }),
}
