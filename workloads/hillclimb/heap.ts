/** A heap of cells by key, smallest first; each cell is in it once. Keys are from 0 to 2 ** 31 - 2. */

const never = 2 ** 31 - 1

export class CellHeap {
  size = 0
  /** Beyond the end there is a key that never goes first, so that every cell has two children to choose from. */
  #keys: Int32Array
  #cells: Int32Array
  /** By cell: its place, of use only while it is in the heap. */
  readonly #places: Int32Array

  /** For cells from 0 to `cells` - 1. */
  constructor(cells: number) {
    this.#keys = new Int32Array(1024).fill(never)
    this.#cells = new Int32Array(1024)
    this.#places = new Int32Array(cells)
  }

  /** For a cell that is not in the heap. */
  push(key: number, cell: number): void {
    if (this.size === this.#keys.length - 1) this.#grow()
    this.#rise(this.size++, key, cell)
  }

  /** For a cell that is in the heap, with a larger key. */
  lower(key: number, cell: number): void {
    this.#rise(this.#places[cell]!, key, cell)
  }

  /** The cell with the smallest key, which is no longer in the heap; -1 if there is none. */
  pop(): number {
    if (this.size === 0) return -1
    const keys = this.#keys
    const cells = this.#cells
    const places = this.#places
    const top = cells[0]!
    const last = --this.size
    const key = keys[last]!
    keys[last] = never
    // The gap goes down to a leaf by the smaller child, chosen by a sign bit: a branch would be guessed wrong half
    // of the time. There it is filled with the last cell, which seldom has to rise.
    let gap = 0
    for (let child = 1; child < last; child = 2 * gap + 1) {
      child += (keys[child + 1]! - keys[child]!) >>> 31
      const cell = cells[child]!
      keys[gap] = keys[child]!
      cells[gap] = cell
      places[cell] = gap
      gap = child
    }
    if (last > 0) this.#rise(gap, key, cells[last]!)
    return top
  }

  /** Fills the gap at `place`, or one above it. */
  #rise(place: number, key: number, cell: number): void {
    const keys = this.#keys
    const cells = this.#cells
    const places = this.#places
    let at = place
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (keys[parent]! <= key) break
      const moved = cells[parent]!
      keys[at] = keys[parent]!
      cells[at] = moved
      places[moved] = at
      at = parent
    }
    keys[at] = key
    cells[at] = cell
    places[cell] = at
  }

  #grow(): void {
    const keys = new Int32Array(this.#keys.length * 2).fill(never)
    const cells = new Int32Array(keys.length)
    keys.set(this.#keys)
    cells.set(this.#cells)
    this.#keys = keys
    this.#cells = cells
  }
}
