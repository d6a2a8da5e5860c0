/**
 * The state of a slot's process that jobs share: globals, built-in objects, environment, working directory, timers and
 * listeners. A job that changes it would disturb the jobs after it, so its slot is not reused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

// Kept, and called without methods of arrays, because a job may replace them.
const { getOwnPropertyDescriptor, isExtensible, ownKeys } = Reflect
const { getOwnPropertyNames, getPrototypeOf, is, keys } = Object

/** Changes named in a report. */
const mostNamed = 5
const longestName = 80
/** Turns of the event loop after which closed handles are gone. */
const settlingTurns = 3

const constructors = [
  ...[Object, Function, Array, String, Number, Boolean, Symbol, BigInt, Date, RegExp, Promise],
  ...[Map, Set, WeakMap, WeakSet, ArrayBuffer, DataView, Uint8Array, Buffer, Error, TypeError],
] as const

const namespaces = { Math, JSON, Reflect, Atomics, Intl } as const

/** Built-in objects without a name of their own. */
function unnamed(): [string, object][] {
  const typedArray = getPrototypeOf(Uint8Array) as { prototype: object }
  const generator = getPrototypeOf(function* () {}) as { prototype: object }
  const asyncGenerator = getPrototypeOf(async function* () {}) as { prototype: object }
  return [
    ['TypedArray', typedArray],
    ['TypedArray.prototype', typedArray.prototype],
    ['Generator.prototype', generator.prototype],
    ['Iterator.prototype', getPrototypeOf(generator.prototype) as object],
    ['ArrayIterator.prototype', getPrototypeOf([][Symbol.iterator]()) as object],
    ['AsyncGenerator.prototype', asyncGenerator.prototype],
    ['AsyncIterator.prototype', getPrototypeOf(asyncGenerator.prototype) as object],
  ]
}

/** Globals whose values count. The runtime loads others at their first use, which takes up to a tenth of a second. */
const globalValues = [
  ...constructors.map(({ name }) => name),
  ...keys(namespaces),
  ...[
    'RangeError',
    'SyntaxError',
    'WeakRef',
    'SharedArrayBuffer',
    'Float64Array',
    'Int32Array',
    'Uint32Array',
  ],
  ...['Proxy', 'process', 'console', 'fetch', 'queueMicrotask', 'structuredClone', 'URL', 'URLSearchParams'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ...['parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURIComponent', 'decodeURIComponent'],
]

/** Of objects that the runtime itself changes at times. */
const functionsOf: readonly [string, object, string[]][] = [
  [
    ...(['process', process] as const),
    ['exit', 'kill', 'abort', 'nextTick', 'emitWarning', 'hrtime', 'memoryUsage', 'cpuUsage', 'cwd'],
  ],
  [
    ...(['console', console] as const),
    ['log', 'info', 'debug', 'warn', 'error', 'dir', 'table', 'trace', 'assert', 'time', 'timeEnd'],
  ],
]

/** What a job may leave active, by the names of `process.getActiveResourcesInfo`. Connections are not among them. */
const resources: Readonly<Record<string, string>> = {
  Timeout: 'an active timer',
  Immediate: 'an active immediate',
  ProcessWrap: 'a child process',
  TCPServerWrap: 'a listening server',
  MessagePort: 'an active thread or port',
  FSEventWrap: 'a file watcher',
  StatWatcher: 'a file watcher',
}

type AnyObject = Record<PropertyKey, unknown>
type Listeners = readonly (readonly [event: string | symbol, each: readonly unknown[]])[]

/** An object that must get no further properties and keep its prototype. */
interface Closed {
  label: string
  object: object
  names: readonly PropertyKey[]
  known: ReadonlySet<PropertyKey>
  /** Those of them that are enumerable. */
  enumerable: readonly string[]
  prototype: object | null
  isExtensible: boolean
}

/** The state at the time of its creation. */
export class ProcessState {
  readonly #closed: Closed[] = []
  /** Properties that must keep their values. In arrays of their own, which makes the comparison fast. */
  readonly #objects: AnyObject[] = []
  readonly #names: PropertyKey[] = []
  readonly #values: unknown[] = []
  readonly #labels: string[] = []
  readonly #env: readonly (readonly [string, string | undefined])[]
  readonly #cwd: string
  readonly #active: ReadonlyMap<string, number>
  readonly #listeners: Listeners

  constructor() {
    for (const each of constructors) {
      this.#close(each.name, each)
      this.#close(`${each.name}.prototype`, each.prototype as object)
    }
    for (const [label, object] of [...Object.entries(namespaces), ...unnamed()]) this.#close(label, object)
    // Libraries and the runtime keep what they share under symbols.
    this.#closed.push(closed('globalThis', globalThis))
    for (const name of globalValues) this.#keep('globalThis', globalThis, name)
    for (const [label, object, functions] of functionsOf)
      for (const name of functions) this.#keep(label, object, name)
    this.#env = keys(process.env).map((name) => [name, process.env[name]])
    this.#cwd = process.cwd()
    this.#active = activeResources()
    this.#listeners = listeners()
  }

  /** What differs now, for example `Array.prototype.last`; empty: nothing. */
  changes(): string[] {
    const found: string[] = []
    try {
      this.#compareValues(found)
      for (let i = 0; i < this.#closed.length; i++) compareNames(this.#closed[i]!, found)
      this.#compareProcess(found)
    } catch {
      // What the comparison itself uses was replaced.
      if (found.length === 0) add(found, 'functions that this check needs')
    }
    const named: string[] = []
    for (let i = 0; i < found.length && i < mostNamed; i++) add(named, found[i]!)
    return named
  }

  #compareValues(found: string[]): void {
    const objects = this.#objects
    const values = this.#values
    for (let i = 0; i < objects.length; i++) {
      if (!is(objects[i]![this.#names[i]!], values[i])) add(found, this.#labels[i]!)
    }
  }

  /** Properties that must keep their values. */
  get watched(): [objects: readonly object[], names: readonly PropertyKey[], values: readonly unknown[]] {
    return [this.#objects, this.#names, this.#values]
  }

  /** As `changes`, but a handle that was closed counts only after a few turns of the event loop. */
  async settledChanges(): Promise<string[]> {
    for (let turns = 0; ; turns++) {
      const changes = this.changes()
      if (changes.length === 0 || turns === settlingTurns) return changes
      await nextTurn()
    }
  }

  /**
   * Whether all is as it was, except for what only `hasHiddenChanges` sees. Takes microseconds. `sameValues`: a fast
   * comparison of `watched`.
   */
  looksSame(sameValues: () => boolean): boolean {
    if (!sameValues() || process.cwd() !== this.#cwd) return false
    for (const before of this.#closed) if (!looksSame(before)) return false
    for (const [type, count] of activeResources()) if (count > (this.#active.get(type) ?? 0)) return false
    const found: string[] = []
    compareListeners(this.#listeners, listeners(), found)
    return found.length === 0
  }

  /** Whether the environment changed, or an object has other properties that are not enumerable. */
  hasHiddenChanges(): boolean {
    for (const { object, names } of this.#closed) if (!areEqual(namesOf(object), names)) return true
    for (const [name, value] of this.#env) if (process.env[name] !== value) return true
    return keys(process.env).length !== this.#env.length
  }

  #close(label: string, object: object): void {
    const entry = closed(label, object)
    this.#closed.push(entry)
    for (const name of entry.names) {
      // Accessors of prototypes have no value without an instance.
      if ('value' in getOwnPropertyDescriptor(object, name)!) this.#keep(label, object, name)
    }
  }

  #keep(label: string, object: object, name: PropertyKey): void {
    this.#objects.push(object as AnyObject)
    this.#names.push(name)
    this.#values.push((object as AnyObject)[name])
    this.#labels.push(`${label}.${String(name)}`)
  }

  #compareProcess(found: string[]): void {
    const env = this.#env
    for (const [name, value] of env) if (process.env[name] !== value) add(found, `process.env.${name}`)
    const names = keys(process.env)
    if (names.length > env.length) {
      const known = new Set(env.map(([name]) => name))
      for (const name of names) if (!known.has(name)) add(found, `process.env.${name}`)
    }
    if (process.cwd() !== this.#cwd) add(found, 'the working directory')
    for (const [type, count] of activeResources()) {
      if (count > (this.#active.get(type) ?? 0)) add(found, resources[type]!)
    }
    compareListeners(this.#listeners, listeners(), found)
  }
}

function add(found: string[], name: string): void {
  found[found.length] = name.length > longestName ? name.slice(0, longestName) : name
}

function closed(label: string, object: object): Closed {
  const names = namesOf(object)
  return {
    ...{ label, object, names, known: new Set(names), enumerable: keys(object) },
    ...{ prototype: getPrototypeOf(object), isExtensible: isExtensible(object) },
  }
}

/** Without properties that are not enumerable, which take long to list. */
function looksSame({ object, enumerable, prototype, isExtensible: before }: Closed): boolean {
  return (
    getPrototypeOf(object) === prototype &&
    isExtensible(object) === before &&
    areEqual(keys(object), enumerable)
  )
}

function compareNames(before: Closed, found: string[]): void {
  const { label, object, names, known } = before
  if (getPrototypeOf(object) !== before.prototype) add(found, `the prototype of ${label}`)
  if (isExtensible(object) !== before.isExtensible) add(found, `${label} (frozen)`)
  const now = namesOf(object)
  if (areEqual(now, names)) return
  let added = 0
  for (const name of now) {
    if (known.has(name)) continue
    added++
    add(found, `${label}.${String(name)}`)
  }
  if (now.length - added < names.length) add(found, `${label} (properties deleted)`)
}

/** A listener that takes the place of another is a change too. */
function compareListeners(before: Listeners, now: Listeners, found: string[]): void {
  for (const [event, each] of before) {
    const same = now.find(([other]) => other === event)
    if (!areEqual(each, same?.[1] ?? [])) add(found, `listeners of process for ${String(event)}`)
  }
  for (const [event] of now) {
    if (!before.some(([other]) => other === event)) add(found, `listeners of process for ${String(event)}`)
  }
}

function areEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

function namesOf(object: object): readonly PropertyKey[] {
  return object === globalThis ? getOwnPropertyNames(object) : ownKeys(object)
}

function activeResources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    if (type in resources) counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return counts
}

function listeners(): Listeners {
  return process.eventNames().map((event) => [event, process.rawListeners(event)])
}
