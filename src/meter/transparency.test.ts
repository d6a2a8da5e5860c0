/** A program cannot detect metering: the meter never calls, reads or looks up anything of the program. */
import test from 'node:test'
import { bothWays } from './testing/both-ways.ts'

const programs: Record<string, string> = {
  'proxies that record every trap': `
    function watched(target, notes) {
      const traps = {}
      for (const name of Object.getOwnPropertyNames(Reflect)) {
        traps[name] = (...args) => { notes.push(name + (typeof args[1] === 'string' ? ' ' + args[1] : '')); return Reflect[name](...args) }
      }
      return new Proxy(target, traps)
    }
    function main(log) {
      const notes = []
      const list = watched([3, 1, 2], notes), map = new Map(), text = watched({ toString: () => 'text' }, notes)
      list.sort().reverse().slice(1).concat(list).join('-')
      list.fill(0).indexOf(2)
      map.set(list, 1).set(text, 2)
      for (let i = 0; i < list.length; i++) list[i] = i
      for (const it of list) log(it)
      JSON.stringify(list); Array.from(list); Object.keys(list); Object.entries(list)
      if (list.x) log('x')
      const { a = 1, ...rest } = list
      log(\`\${text}\`, list?.[0], 'length' in list, rest)
      return notes
    }`,
  'getters that count their calls': `
    function main(log) {
      let calls = 0
      const o = { get n() { calls++; return 4 }, get list() { calls++; return [1, 2, 3] }, get text() { calls++; return 'abc' } }
      for (let i = 0; i < o.n; i++) o.list.slice(i).concat(o.list)
      for (let i = 0, n = o.n; i < n; i++) o.text.split('').reverse().join(o.text)
      o.list.includes(o.n); o.text.repeat(o.n)
      class Bytes extends Uint8Array { get byteLength() { calls++; return 0 } get length() { calls++; return 0 } }
      class List extends Array { get length2() { return calls++ } }
      new Bytes(4).fill(1); new Uint8Array(9).set(new Bytes(4)); List.of(1, 2).slice()
      const buffer = Object.defineProperty(new ArrayBuffer(8), 'byteLength', { get() { calls++ } })
      const map = new Map(); map.set(buffer, 1)
      return calls
    }`,
  'objects that can no longer be used': `
    function main(log) {
      const { proxy, revoke } = Proxy.revocable([], {})
      revoke()
      const buffer = new ArrayBuffer(8), view = new DataView(buffer), bytes = new Uint8Array(buffer)
      buffer.transfer()
      const map = new Map(), weak = new WeakMap()
      for (const it of [proxy, view, bytes, buffer, new SharedArrayBuffer(4), null, undefined, Symbol.iterator]) map.set(it, 1)
      weak.set(proxy, 2)
      return [map.size, weak.get(proxy)]
    }`,
  'a with statement over a proxy': `
    function main(log) {
      const asked = []
      const scope = new Proxy({ x: 1 }, { has: (target, key) => (asked.push(String(key)), key in target) })
      let r = 0
      with (scope) { r = (function (n) { let s = x; for (let i = 0; i < n; i++) s += i; return s })(4); for (let i = 0; i < 3; i++) r += x }
      for (let i = 0; i < 9; i++) r += i
      return [r, asked]
    }`,
  'eval and new Function, which are not metered': `
    function main(log) {
      let hidden = 3
      const changed = eval('hidden = hidden + 1; for (var fresh = 0; fresh < 5; fresh++) hidden += fresh; hidden')
      for (let i = 0; i < hidden; i++) eval('i += 2')
      const add = new Function('a', 'b', 'let s = 0; for (let i = a; i < b; i++) s += i; return s')
      return [changed, hidden, fresh, add(0, 9), (0, eval)('typeof hidden'), add.toString().includes('$')]
    }`,
  'names of functions and classes': `
    function main(log) {
      const a = () => 1, b = function () {}, c = class {}, d = { e() {}, f: () => 2, ['g' + 1]: function () {}, get h() { return 1 } }
      let i; i = () => {}; let j; j ??= () => {}; const [k = () => {}] = [], { l = class {} } = {}
      const m = log ? () => {} : 0, n = (0, () => {}), o = (() => {}), p = async function* () {}
      for (const q = () => {}; ; ) { log(q.name); break }
      class R { static s = () => {}; t = () => {}; static u() {} #v = () => {}; v = () => this.#v.name }
      log([a, b, c, d.e, d.f, d.g1, i, j, k, l, m, n, o, p, R.s, new R().t, R.u].map((it) => it.name))
      return [new R().v(), Object.getOwnPropertyDescriptor(d, 'h').get.name, main.name, main.length]
    }`,
  'globals and this': `
    function sloppy() { return this === globalThis }
    function strict() { 'use strict'; return this === undefined }
    const o = { arrow: () => this, method() { return [1].map(() => this === o)[0] } }
    function main(log) {
      log(sloppy(), strict(), o.arrow() === undefined, o.method(), sloppy.call(5), (log ? o.method : 0)(), (o.method || 0)())
      log(Object.getOwnPropertyNames(globalThis).filter((name) => name.includes('plim')))
      try { (function () { 'use strict'; undeclared = 1 })() } catch (error) { log(error.message) }
      undeclaredSloppy = 2
      log(delete globalThis.undeclaredSloppy, typeof missing, typeof (log && log))
    }`,
  'a replaced clock': `
    function main(log) {
      const { now } = performance
      let asked = 0
      performance.now = () => ++asked
      try { let s = 0; for (let i = 0; i < 3e6; i++) s += [i].indexOf(1); return [s, asked] } finally { performance.now = now }
    }`,
}

for (const [what, program] of Object.entries(programs)) {
  test(`metering is not detectable by ${what}`, async () => {
    await bothWays(program)
  })
}
