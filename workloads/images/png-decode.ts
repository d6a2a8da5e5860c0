/**
 * Decodes PNG of all colour types and depths, interlaced or not. Inflates in pieces and processes row by row, so that a
 * decompression bomb is never inflated beyond the declared size. fast-png would inflate everything at once.
 */

import { Unzlib } from 'fflate'
import { damaged, type Picture, type Progress } from './picture.ts'
import { channelsOf, type PngFile, readPngFile } from './png-chunks.ts'
import { type RowPainter, rowPainter } from './png-paint.ts'
import { passesOf, unfilter } from './png-rows.ts'

/** Largest compression ratio of deflate. */
const mostInflation = 1032

/** Compressed bytes per piece, which inflate to at most 32 MB. */
const pieceBytes = 32 * 1024

export function decodePng(bytes: Uint8Array, progress: Progress): Picture {
  const file = readPngFile(bytes)
  const { width, height } = file
  checkDataLength(file)
  const data = new Uint8Array(width * height * 4)
  decodeRows(file, rowPainter(file, data), progress)
  return { width, height, data }
}

/** Call before allocating memory for the pixels: the data must be long enough to hold them. */
export function checkDataLength(file: PngFile): void {
  if (file.deflated.length * mostInflation < inflatedBytes(file))
    throw damaged('png', 'its rows end too early')
}

/** Passes each row to `paint`. Data after the last row is ignored. */
export function decodeRows(file: PngFile, paint: RowPainter, progress: Progress): void {
  const { deflated } = file
  const rows = rowReader(file, paint)
  const inflater = new Unzlib((inflated) => rows.take(inflated))
  for (let at = 0; at < deflated.length && !rows.complete(); at += pieceBytes) {
    inflate(inflater, deflated.subarray(at, at + pieceBytes))
    progress(Math.min(1, (at + pieceBytes) / deflated.length))
  }
  if (!rows.complete()) throw damaged('png', 'its rows end too early')
}

/** Without filter bytes. */
function inflatedBytes({ width, height, depth, colourType }: PngFile): number {
  return (width * height * depth * channelsOf(colourType)) / 8
}

/** Never marks a piece as the last: fflate would then insist on the end of the stream, which is not needed. */
function inflate(inflater: Unzlib, piece: Uint8Array): void {
  try {
    inflater.push(piece)
  } catch (error) {
    // Only fflate's errors have a code.
    if (!(error instanceof Error && 'code' in error)) throw error
    throw damaged('png', `its rows cannot be inflated: ${error.message}`)
  }
}

/** Collects inflated bytes into rows and paints each complete row. */
function rowReader(file: PngFile, paint: RowPainter) {
  const bits = file.depth * channelsOf(file.colourType)
  const pixelBytes = Math.max(1, bits >> 3)
  const passes = passesOf(file.width, file.height, file.interlaced)
  let [passIndex, rowIndex, filled] = [0, 0, 0]
  let row = new Uint8Array(0)
  let above = row
  begin()

  function begin(): void {
    const pass = passes[passIndex]
    if (!pass) return
    // The first byte is the filter.
    row = new Uint8Array(1 + Math.ceil((pass.columns * bits) / 8))
    above = new Uint8Array(row.length)
  }

  function finishRow(): void {
    const pass = passes[passIndex]!
    unfilter(row[0]!, row.subarray(1), above.subarray(1), pixelBytes)
    paint(row.subarray(1), pass, rowIndex)
    ;[row, above, filled] = [above, row, 0]
    if (++rowIndex < pass.rows) return
    ;[passIndex, rowIndex] = [passIndex + 1, 0]
    begin()
  }

  return {
    complete: () => passIndex === passes.length,
    take(inflated: Uint8Array): void {
      for (let at = 0; at < inflated.length && passIndex < passes.length; ) {
        const part = inflated.subarray(at, at + row.length - filled)
        row.set(part, filled)
        at += part.length
        filled += part.length
        if (filled === row.length) finishRow()
      }
    },
  }
}
