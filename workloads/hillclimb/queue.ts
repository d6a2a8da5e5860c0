/**
 * A monotone priority queue of cells (bucket queue): keys are never below the last one taken. Cells are kept in blocks
 * of keys, and only the first block is sorted, so a cell whose key falls usually stays in its block.
 */

const never = 2 ** 31 - 1
/** Number of blocks; the last one also holds all larger keys. */
const blocks = 1024

export class CellQueue {
  /** By cell; -1 after it was taken. */
  readonly #keys: Int32Array
  readonly #bits: number
  /** By block, modulo `blocks`: cells, and their number. */
  readonly #far: Int32Array[] = Array.from({ length: blocks }, () => none)
  readonly #counts = new Int32Array(blocks)
  /** Arrays of finished blocks, for reuse. */
  readonly #spare: Int32Array[] = []
  #block = 0
  /** By key of the first block: head of a linked list, or 0. */
  readonly #near: Int32Array
  /** Current key within the first block. */
  #at = 0
  /** Cell and next entry, alternating. */
  #entries: Int32Array = new Int32Array(1024)
  #free = 0
  #used = 2

  /** For cells from 0 to `cells` - 1, with blocks of 2 ** `bits` keys. */
  constructor(cells: number, bits: number) {
    this.#keys = new Int32Array(cells).fill(never)
    this.#bits = bits
    this.#near = new Int32Array(2 ** bits)
  }

  /** The cell must be new or have a larger key, and must not have been taken. */
  push(key: number, cell: number): void {
    const known = this.#keys[cell]!
    this.#keys[cell] = key
    const block = key >> this.#bits
    if (block === this.#block) this.#putNear(key, cell)
    else if (known >> this.#bits !== block) this.#putFar(block, cell)
  }

  /** A cell with the smallest key; -1 if the queue is empty. */
  pop(): number {
    const near = this.#near
    const keys = this.#keys
    for (;;) {
      while (this.#at < near.length && near[this.#at] === 0) this.#at++
      if (this.#at === near.length) {
        this.#at = 0
        if (!this.#open()) return -1
        continue
      }
      const entries = this.#entries
      const entry = near[this.#at]!
      const cell = entries[entry]!
      near[this.#at] = entries[entry + 1]!
      entries[entry + 1] = this.#free
      this.#free = entry
      // Otherwise it was taken, or pushed again with a smaller key.
      if (keys[cell] === this.#block * near.length + this.#at) {
        keys[cell] = -1
        return cell
      }
    }
  }

  /** By cell: 1 if it was taken. */
  taken(): Uint8Array {
    const keys = this.#keys
    const marks = new Uint8Array(keys.length)
    for (let cell = 0; cell < marks.length; cell++) marks[cell] = keys[cell]! >>> 31
    return marks
  }

  #putNear(key: number, cell: number): void {
    let entry = this.#free
    if (entry === 0) entry = this.#newEntry()
    else this.#free = this.#entries[entry + 1]!
    const place = key & (this.#near.length - 1)
    this.#entries[entry] = cell
    this.#entries[entry + 1] = this.#near[place]!
    this.#near[place] = entry
  }

  #putFar(block: number, cell: number): void {
    const index = Math.min(block, this.#block + blocks - 1) & (blocks - 1)
    const count = this.#counts[index]!
    if (count === this.#far[index]!.length) {
      this.#far[index] = count === 0 ? (this.#spare.pop() ?? new Int32Array(256)) : larger(this.#far[index]!)
    }
    this.#far[index]![count] = cell
    this.#counts[index] = count + 1
  }

  /** Sorts the cells of the next block. */
  #open(): boolean {
    let block = this.#block + 1
    while (this.#counts[block & (blocks - 1)] === 0 && block < this.#block + blocks) block++
    if (block === this.#block + blocks) return false
    this.#block = block
    const cells = this.#far[block & (blocks - 1)]!
    const count = this.#counts[block & (blocks - 1)]!
    this.#counts[block & (blocks - 1)] = 0
    for (let i = 0; i < count; i++) {
      const cell = cells[i]!
      const key = this.#keys[cell]!
      if (key >> this.#bits === block) this.#putNear(key, cell)
      else if (key >> this.#bits > block) this.#putFar(key >> this.#bits, cell)
    }
    this.#far[block & (blocks - 1)] = none
    this.#spare.push(cells)
    return true
  }

  #newEntry(): number {
    if (this.#used === this.#entries.length) this.#entries = larger(this.#entries)
    this.#used += 2
    return this.#used - 2
  }
}

const none = new Int32Array()

function larger(array: Int32Array): Int32Array {
  const copy = new Int32Array(2 * array.length)
  copy.set(array)
  return copy
}
