/**
 * A fixed load of the operations that a simulation consists of: a heap, a Map, small objects and exponentials. It shares
 * no code with `src`, so only the machine and the engine change its speed, and figures divided by it hold on any machine.
 */

interface Item {
  id: string
  key: number
  at: number
  done: number
  running: boolean
  next: Item | undefined
}

/** The number of items in the heap. */
const present = 32
/** For each request: items that leave the heap and come back, and exponentials. */
const [moves, exponentials] = [16, 32]

/** Returns a number that depends on all of the work, so that none of it can be left out. */
export function bareLoop(requests: number): number {
  const heap: Item[] = []
  const items = new Map<string, Item>()
  let seed = 1
  let sum = 0
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
    return (seed >>> 0) / 2 ** 32
  }
  for (let i = 0; i < present; i++) push(heap, newItem(`i${i}`, random()))
  for (let request = 0; request < requests; request++) {
    const id = `r${request}`
    items.set(id, newItem(id, random()))
    for (let move = 0; move < moves; move++) {
      const { id: first, key } = pop(heap)
      push(heap, newItem(first, key + random()))
      sum += items.get(id)!.key
    }
    for (let i = 0; i < exponentials; i++) sum += Math.exp(-random())
    items.delete(id)
  }
  return sum
}

function newItem(id: string, key: number): Item {
  return { id, key, at: 0, done: key, running: false, next: undefined }
}

function push(heap: Item[], item: Item): void {
  let at = heap.length
  heap.push(item)
  while (at > 0) {
    const up = (at - 1) >> 1
    if (heap[up]!.key <= item.key) break
    heap[at] = heap[up]!
    at = up
  }
  heap[at] = item
}

function pop(heap: Item[]): Item {
  const first = heap[0]!
  const last = heap.pop()!
  const { length } = heap
  let at = 0
  for (let child = 1; child < length; child = at * 2 + 1) {
    if (child + 1 < length && heap[child + 1]!.key < heap[child]!.key) child++
    if (heap[child]!.key >= last.key) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return first
}
