/** Reads a JPEG frame header: the size of the picture and of each component. */

import { checkSize, damaged, unsupported } from './picture.ts'

export interface FrameComponent {
  id: number
  /** Blocks across and down in each unit, from 1 to 4. */
  across: number
  down: number
  /** Number of its quantization table. */
  divisors: number
  /** Blocks of 8 × 8 samples that hold the picture. */
  columns: number
  rows: number
  /** The same, padded to whole units. */
  allColumns: number
  allRows: number
}

export interface Frame {
  progressive: boolean
  width: number
  height: number
  components: FrameComponent[]
  /** The largest of the components' `across` and `down`. */
  across: number
  down: number
  /** Units of all components' blocks. */
  unitColumns: number
  unitRows: number
}

export function readFrame(marker: number, data: Uint8Array): Frame {
  if (marker > 0xc2) throw unsupported('jpeg', `frames of kind ${marker - 0xc0}`, '0, 1 and 2 are supported')
  const [precision = 0, h1 = 0, h0 = 0, w1 = 0, w0 = 0, count = 0] = data
  if (data.length !== 6 + 3 * count) throw damaged('jpeg', 'its frame has a wrong length')
  if (precision !== 8) throw unsupported('jpeg', `${precision} bits per sample`, '8 are supported')
  if (![1, 3, 4].includes(count)) throw unsupported('jpeg', `${count} components`, '1, 3 and 4 are supported')
  const [width, height] = [(w1 << 8) | w0, (h1 << 8) | h0]
  checkSize('jpeg', width, height)
  const named = Array.from({ length: count }, (_, i) => {
    const [id = 0, sampling = 0, divisors = 0] = data.subarray(6 + 3 * i)
    return { id, across: sampling >> 4, down: sampling & 15, divisors }
  })
  if (new Set(named.map(({ id }) => id)).size !== count)
    throw damaged('jpeg', 'two components have the same ID')
  const wrong = named.find(({ across, down }) => across < 1 || across > 4 || down < 1 || down > 4)
  if (wrong) throw damaged('jpeg', `sampling of ${wrong.across} × ${wrong.down} does not exist`)
  // A single component is not padded to units of several blocks.
  if (count === 1) Object.assign(named[0]!, { across: 1, down: 1 })
  const across = Math.max(...named.map((component) => component.across))
  const down = Math.max(...named.map((component) => component.down))
  const unitColumns = Math.ceil(width / (8 * across))
  const unitRows = Math.ceil(height / (8 * down))
  const components = named.map((component) => ({
    ...component,
    columns: Math.ceil((width * component.across) / across / 8),
    rows: Math.ceil((height * component.down) / down / 8),
    allColumns: unitColumns * component.across,
    allRows: unitRows * component.down,
  }))
  return { progressive: marker === 0xc2, width, height, components, across, down, unitColumns, unitRows }
}
