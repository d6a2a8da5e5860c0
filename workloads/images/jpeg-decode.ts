/** Decodes JPEG, baseline and progressive: coefficients to samples, samples to pixels. */

import { paintPixels, type SamplePlane } from './jpeg-colours.ts'
import { inverseDct, inverseScales } from './jpeg-dct.ts'
import type { Frame, FrameComponent } from './jpeg-frame.ts'
import { BlockDecoder } from './jpeg-scan.ts'
import { type JpegFile, readJpegFile, type Scan } from './jpeg-segments.ts'
import { upright } from './orientation.ts'
import { damaged, type Picture, type Progress, unsupported } from './picture.ts'

/** A component during decoding. */
interface Component extends FrameComponent, SamplePlane {
  /** All blocks of a progressive file, which several scans refine; otherwise a single block. */
  coefficients: Int16Array
  scales: Float64Array
}

export function decodeJpeg(bytes: Uint8Array, progress: Progress): Picture {
  const file = readJpegFile(bytes)
  const { frame, scans } = file
  if (frame.components.length === 4 && file.adobeTransform === undefined) {
    throw unsupported('jpeg', 'four components of unknown colours', "they need Adobe's segment")
  }
  // Each block needs at least one bit: reject truncated data before allocating memory.
  const blocks = frame.components.reduce((sum, { columns, rows }) => sum + columns * rows, 0)
  const bits = scans.reduce((sum, { data }) => sum + data.length * 8, 0)
  if (bits < blocks) throw damaged('jpeg', 'the data of its scans ends too early')
  const components = frame.components.map((component, i) => prepare(component, file, i))
  scans.forEach((scan, i) => {
    decodeScan(scan, frame, components, (fraction) => progress(((i + fraction) / scans.length) * 0.7))
  })
  for (const component of components) {
    if (frame.progressive) {
      const { allColumns, allRows } = component
      for (let block = 0; block < allColumns * allRows; block++) transform(component, block * 64, block)
      component.coefficients = new Int16Array()
    }
  }
  progress(0.8)
  const data = paintPixels(frame, components, file.adobeTransform)
  return upright({ width: frame.width, height: frame.height, data }, file.orientation)
}

function prepare(component: FrameComponent, { frame, divisors }: JpegFile, index: number): Component {
  const table = divisors[index]
  if (!table) throw damaged('jpeg', `component ${component.id} has no scan, or no table of divisors`)
  const { across, down, allColumns, allRows } = component
  const samples = allColumns * allRows * 64
  return {
    ...component,
    samples: new Uint8Array(samples),
    width: allColumns * 8,
    scaleX: across / frame.across,
    scaleY: down / frame.down,
    coefficients: new Int16Array(frame.progressive ? samples : 64),
    scales: inverseScales(table),
  }
}

/** A scan of one component contains only its blocks; otherwise units with the blocks of each component in turn. */
function decodeScan(scan: Scan, frame: Frame, components: Component[], progress: Progress): void {
  const parts = scan.components.map(({ index }) => components[index]!)
  const blocks = new BlockDecoder(scan, frame.progressive)
  const alone = parts.length === 1 ? parts[0] : undefined
  const [columns, rows] = alone ? [alone.columns, alone.rows] : [frame.unitColumns, frame.unitRows]
  let untilRestart = scan.restartInterval
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      if (scan.restartInterval > 0 && untilRestart-- === 0) {
        blocks.restart()
        untilRestart = scan.restartInterval - 1
      }
      if (alone) decodeBlock(alone, 0, x, y)
      else for (let which = 0; which < parts.length; which++) decodeUnit(parts[which]!, which, x, y)
    }
    progress((y + 1) / rows)
  }

  function decodeUnit(component: Component, which: number, x: number, y: number): void {
    const { across, down } = component
    for (let row = 0; row < down; row++) {
      for (let column = 0; column < across; column++) {
        decodeBlock(component, which, x * across + column, y * down + row)
      }
    }
  }

  function decodeBlock(component: Component, which: number, x: number, y: number): void {
    const block = y * component.allColumns + x
    if (frame.progressive) return blocks.decode(which, component.coefficients, block * 64)
    component.coefficients.fill(0)
    blocks.decode(which, component.coefficients, 0)
    transform(component, 0, block)
  }
}

function transform(component: Component, from: number, block: number): void {
  const { coefficients, scales, samples, width, allColumns } = component
  const row = Math.floor(block / allColumns)
  inverseDct(coefficients, from, scales, samples, row * 8 * width + (block - row * allColumns) * 8, width)
}
