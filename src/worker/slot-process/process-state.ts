/**
 * The state of a slot's process that jobs share: globals, built-in objects, environment, working directory, timers and
 * listeners. A job that changes it would disturb the jobs after it, so its slot is not reused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

const { getOwnPropertyDescriptor, ownKeys } = Reflect
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

interface ClosedObject {
  label: string
  object: object
  names: ReadonlySet<PropertyKey>
  /** The number of its enumerable names. */
  enumerable: number
}

/** The state at the time of its creation. */
export class ProcessState {
  /** Objects that must not get further properties, with their number of properties. */
  readonly #closed: ClosedObject[] = []
  /** Properties that must keep their values. In arrays of their own, which makes the comparison fast. */
  readonly #objects: AnyObject[] = []
  readonly #names: PropertyKey[] = []
  readonly #values: unknown[] = []
  readonly #labels: string[] = []
  readonly #env: readonly (readonly [string, string | undefined])[]
  readonly #cwd: string
  readonly #active: ReadonlyMap<string, number>
  readonly #listeners: ReadonlyMap<string | symbol, number>

  constructor() {
    for (const each of constructors) {
      this.#close(each.name, each)
      this.#close(`${each.name}.prototype`, each.prototype as object)
    }
    for (const [label, object] of [...Object.entries(namespaces), ...unnamed()]) this.#close(label, object)
    // Libraries and the runtime keep what they share under symbols.
    const names = new Set(getOwnPropertyNames(globalThis))
    this.#closed.push({
      ...{ label: 'globalThis', object: globalThis, names },
      enumerable: keys(globalThis).length,
    })
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
    for (const { label, object, names } of this.#closed) {
      const now = namesOf(object)
      if (now.length === names.size) continue
      for (const name of now) if (!names.has(name)) found.push(`${label}.${String(name)}`)
      if (now.length < names.size) found.push(`${label} (properties deleted)`)
    }
    const objects = this.#objects
    const values = this.#values
    for (let i = 0; i < objects.length; i++) {
      if (!is(objects[i]![this.#names[i]!], values[i])) found.push(this.#labels[i]!)
    }
    this.#compareProcess(found)
    return found.slice(0, mostNamed).map((name) => name.slice(0, longestName))
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
    for (const { object, enumerable } of this.#closed) if (keys(object).length !== enumerable) return false
    for (const [type, count] of activeResources()) if (count > (this.#active.get(type) ?? 0)) return false
    const events = process.eventNames()
    if (events.length !== this.#listeners.size) return false
    return events.every((event) => process.listenerCount(event) === this.#listeners.get(event))
  }

  /** Whether the environment changed, or an object has another number of properties that are not enumerable. */
  hasHiddenChanges(): boolean {
    for (const { object, names } of this.#closed) if (namesOf(object).length !== names.size) return true
    for (const [name, value] of this.#env) if (process.env[name] !== value) return true
    return keys(process.env).length !== this.#env.length
  }

  #close(label: string, object: object): void {
    const names = ownKeys(object)
    this.#closed.push({ label, object, names: new Set(names), enumerable: keys(object).length })
    for (const name of names) {
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
    for (const [name, value] of env) if (process.env[name] !== value) found.push(`process.env.${name}`)
    const names = keys(process.env)
    if (names.length > env.length) {
      const known = new Set(env.map(([name]) => name))
      for (const name of names) if (!known.has(name)) found.push(`process.env.${name}`)
    }
    if (process.cwd() !== this.#cwd) found.push('the working directory')
    for (const [type, count] of activeResources()) {
      if (count > (this.#active.get(type) ?? 0)) found.push(resources[type]!)
    }
    const before = this.#listeners
    const now = listeners()
    for (const event of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(event) !== now.get(event)) found.push(`listeners of process for ${String(event)}`)
    }
  }
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

function listeners(): Map<string | symbol, number> {
  const counts = new Map<string | symbol, number>()
  for (const event of process.eventNames()) counts.set(event, process.listenerCount(event))
  return counts
}
