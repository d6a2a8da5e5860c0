/** A heap of cells by key, smallest first, in typed arrays that grow. */

export class CellHeap {
  size = 0
  #keys: Int32Array
  #cells: Int32Array

  constructor(room = 1024) {
    this.#keys = new Int32Array(room)
    this.#cells = new Int32Array(room)
  }

  push(key: number, cell: number): void {
    if (this.size === this.#keys.length) this.#grow()
    const keys = this.#keys
    const cells = this.#cells
    let at = this.size++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (keys[parent]! <= key) break
      keys[at] = keys[parent]!
      cells[at] = cells[parent]!
      at = parent
    }
    keys[at] = key
    cells[at] = cell
  }

  /** The cell with the smallest key; -1 if there is none. */
  pop(): number {
    if (this.size === 0) return -1
    const keys = this.#keys
    const cells = this.#cells
    const top = cells[0]!
    const last = --this.size
    const key = keys[last]!
    const cell = cells[last]!
    let at = 0
    for (let child = 1; child < last; child = 2 * at + 1) {
      if (child + 1 < last && keys[child + 1]! < keys[child]!) child++
      if (keys[child]! >= key) break
      keys[at] = keys[child]!
      cells[at] = cells[child]!
      at = child
    }
    keys[at] = key
    cells[at] = cell
    return top
  }

  #grow(): void {
    const keys = new Int32Array(this.#keys.length * 2)
    const cells = new Int32Array(keys.length)
    keys.set(this.#keys)
    cells.set(this.#cells)
    this.#keys = keys
    this.#cells = cells
  }
}
