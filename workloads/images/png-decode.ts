/**
 * Decodes PNG: all colour types and depths, interlaced or not, to 8 bits a sample. Inflates piece by piece and paints
 * row by row, so that a file that would inflate to more than its size says is not followed there.
 */

import { Unzlib } from 'fflate'
import { damaged, type Picture, type Progress } from './picture.ts'
import { channelsOf, type PngFile, readPngFile } from './png-chunks.ts'
import { rowPainter } from './png-paint.ts'
import { passesOf, unfilter } from './png-rows.ts'

/** No byte inflates to more. */
const mostInflation = 1032

/** Inflates to 32 MB at most. */
const pieceBytes = 32 * 1024

export function decodePng(bytes: Uint8Array, progress: Progress): Picture {
  const file = readPngFile(bytes)
  const { width, height, deflated } = file
  if (deflated.length * mostInflation < inflatedBytes(file)) throw damaged('png', 'its rows end too early')
  const data = new Uint8Array(width * height * 4)
  const rows = rowReader(file, data)
  const inflater = new Unzlib((inflated) => rows.take(inflated))
  for (let at = 0; at < deflated.length && !rows.complete(); at += pieceBytes) {
    inflate(inflater, deflated.subarray(at, at + pieceBytes))
    progress(Math.min(1, (at + pieceBytes) / deflated.length))
  }
  if (!rows.complete()) throw damaged('png', 'its rows end too early')
  return { width, height, data }
}

/** Without the bytes that name the filters. */
function inflatedBytes({ width, height, depth, colourType }: PngFile): number {
  return (width * height * depth * channelsOf(colourType)) / 8
}

/** The last piece is not announced as such: then the end of the stream would be asked for, which nobody needs. */
function inflate(inflater: Unzlib, piece: Uint8Array): void {
  try {
    inflater.push(piece)
  } catch (error) {
    // Only the inflater's own errors have a code.
    if (!(error instanceof Error && 'code' in error)) throw error
    throw damaged('png', `its rows cannot be inflated: ${error.message}`)
  }
}

/** Collects inflated bytes into rows and paints each when it is whole. */
function rowReader(file: PngFile, target: Uint8Array) {
  const bits = file.depth * channelsOf(file.colourType)
  const pixelBytes = Math.max(1, bits >> 3)
  const passes = passesOf(file.width, file.height, file.interlaced)
  const paint = rowPainter(file, target)
  let [passIndex, rowIndex, filled] = [0, 0, 0]
  let row = new Uint8Array(0)
  let above = row
  begin()

  function begin(): void {
    const pass = passes[passIndex]
    if (!pass) return
    // The first byte names the filter.
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
