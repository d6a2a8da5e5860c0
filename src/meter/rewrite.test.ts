/** Metering preserves the behaviour of each language construct, in every mode. */
import test from 'node:test'
import { bothWays } from './testing/both-ways.ts'

const programs: Record<string, string> = {
  'recursion and closures': `
    function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
    const even = (n) => n === 0 || odd(n - 1)
    const odd = (n) => n !== 0 && even(n - 1)
    function counter() { let n = 0; return { up: () => ++n, down() { return --n } } }
    function main(log) {
      const a = counter(), b = counter()
      for (let i = 0; i < 5; i++) { a.up(); if (i % 2) b.down() }
      return [fib(15), even(50), odd(7), a.up(), b.up()]
    }`,
  generators: `
    function* upTo(n) { for (let i = 0; i < n; i++) { const sent = yield i; if (sent === 'stop') return 'stopped' } return 'all' }
    function* nested(n) {
      try { for (let i = 0; i < n; i++) { let sum = 0; for (let j = 0; j < 100; j++) sum += i * j; yield* upTo(i); yield sum } }
      finally { yield 'closing' }
    }
    function* endless() { let i = 0; while (true) { i++; yield i } }
    function main(log) {
      for (const it of nested(4)) log(it)
      const some = upTo(9)
      log(some.next(), some.next(), some.next('stop'), some.next())
      for (const it of nested(9)) { log(it); if (it === 1) break }
      for (const it of endless()) if (it > 40) return it
    }`,
  'async functions': `
    const later = (value) => new Promise((done) => setImmediate(done, value))
    async function* stream(n) { for (let i = 0; i < n; i++) { await null; yield i } }
    async function sum(n) { let s = 0; for (let i = 0; i < n; i++) { s += await later(i); for (let j = 0; j < 9; j++) s += j } return s }
    async function fails() { try { for (let i = 0; ; i++) { await null; if (i === 3) throw new Error('three') } } finally { await null } }
    async function main(log) {
      for await (const it of stream(4)) { if (it === 2) continue; log(it) }
      log(await Promise.all([sum(3), sum(5), sum(2)]))
      await fails().catch((error) => log(error.message))
      const arrow = async (x = await1(), ...rest) => { for await (const y of rest) x += y; return x }
      const await1 = () => 5
      return [await arrow(1, 2, later(3)), await arrow()]
    }`,
  'jumps out of try, catch and finally': `
    function leave(how, log) {
      outer: for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 3; j++) {
          try {
            log(how, i, j)
            if (how === 'return') return 'value'
            if (how === 'throw') throw new Error('thrown')
            if (how === 'break') break outer
            if (how === 'continue') continue outer
            if (how === 'call') null.call()
            if (how === 'caught' && j === 1) throw j
          } catch (error) {
            log('caught', String(error.message ?? error))
            if (how === 'throw') throw error
          } finally {
            log('finally')
            if (how === 'return' && i === 0) continue outer
          }
        }
      }
      return 'end'
    }
    function main(log) {
      for (const how of ['return', 'throw', 'break', 'continue', 'call', 'caught', 'none']) {
        try { log(leave(how, log)) } catch (error) { log('out', error.message) }
      }
      try { throw 1 } catch { log('no name') }
      try { throw { a: 1 } } catch ({ a, b = a + 1 }) { log(a, b) }
    }`,
  'labels, break and continue': `
    function main(log) {
      block: { log(1); if (log) break block; log(2) }
      outer: for (let i = 0; i < 5; i++) {
        inner: for (const j of [1, 2, 3]) {
          let k = 0
          while (true) {
            k++
            if (k === 2) continue inner
            if (i === 3) break outer
            if (j === 3) continue outer
            switch (k) { case 1: if (i === 1) continue; break; case 9: break inner }
          }
        }
        log('never', i)
      }
      a: b: for (let i = 0; i < 9; i++) { if (i < 3) continue a; if (i < 5) continue b; for (;;) { break b } }
      unused: for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) { if (j === 1) continue; if (i === 1) break; log(i, j) }
      c: d: { log('c'); if (log) break c; log('d') }
      do { if (log) continue; log('no') } while (log(3))
      for (const key in { x: 1, y: 2 }) { if (key === 'x') continue; log(key) }
      e: if (log) { for (;;) { for (;;) { break e } } }
    }`,
  'switch with fall-through': `
    function name(n) {
      let out = ''
      switch (n) {
        case 0: out += 'zero '
        case 1: out += 'one '; break
        default: out += 'other '
        case 2: { out += 'two '; if (n === 2) break }
        case n > 5 ? n : -1: let big = 'big '; out += big; break
        case 9:
      }
      for (let i = 0; i < 4; i++) { switch (i) { case 1: continue; case 3: return out + i; default: out += i } }
    }
    function main(log) { for (let n = 0; n < 10; n++) log(name(n)); switch (log) {} }`,
  'optional chains, conditions and commas': `
    function main(log) {
      const seen = []
      const look = (name, value) => (seen.push(name), value)
      const o = { f() { return this === o }, g: null, list: [3, 1, 2], n: { m: { k: 1 } } }
      log(o?.f(), o.g?.(look('skipped')), o.x?.y.z[look('skipped')], o.list?.slice(1).sort(), (o?.n).m, delete o?.n?.m)
      log(o.list?.[look('index', 1)], o.nope?.[look('no')].slice(), (o.f)(), (0, o.f)(), o.f?.())
      log(look('a', 0) || look('b', 0) || look('c', 1), look('d', 1) && look('e', null) && look('f'), look('g') ?? look('h'))
      let a, b = 2, c = 0
      a ??= look('i', 1); b ||= look('j'); c &&= look('k')
      const d = a ? b ? look('l', 'x') : look('m') : (look('n'), look('o'))
      const f = a ? () => 1 : null, g = null ?? function () {}, h = a && class {}
      log(f.name, g.name, h.name, (a, b), [a, b, c, d])
      if (a) ; else log('never')
      if (a, !b) log('never'); else if (b) log('two')
      return seen
    }`,
  'parameters, patterns and arguments': `
    function defaults(a, b = a * 2, { c = b ? 1 : 2, ...rest } = {}, [d = c > 0 && 5, , e] = [], ...more) {
      return [a, b, c, rest, d, e, more, arguments.length]
    }
    function sloppy(a, b) { arguments[0] = 'x'; b = 'y'; let n = 0; for (const it of arguments) n += it.length; return [a, arguments[1], n] }
    function strict(a, b) { 'use strict'; arguments[0] = 'x'; b = 'y'; return [a, arguments[1]] }
    function callee() { return typeof arguments.callee }
    function swap([a, b], out = {}) { [a, b] = [b, a]; ({ a: out.x, b: out['y'] = 3 } = { a }); for (out.z of [1, 2]); for ([a.q] of []); return [a, b, out] }
    function main(log) {
      log(defaults(1), defaults(1, 0, { c: undefined, z: 9 }, [undefined, 2, 3], 4, 5))
      log(sloppy('aa', 'bb'), strict('aa', 'bb'), callee(), swap([1, 2]))
      log(defaults.length, ((a, b = 1, c) => a).length, (function named() {}).name)
      for (const [k, { v = k } = {}] of Object.entries({ a: { v: 1 }, b: undefined })) log(k, v)
    }`,
  'all parts of classes': `
    let order = []
    const note = (it) => (order.push(it), it)
    class Base {
      static made = 0
      static { for (let i = 0; i < 3; i++) Base.made += i }
      #secret = note('secret'); shown = this.#secret + (Base.made ? '!' : '?'); fn = () => this.shown
      constructor(n = 1) { this.n = n; this.target = new.target.name }
      get secret() { return this.#secret } set secret(v) { if (v) this.#secret = v; else throw new RangeError('no') }
      #hidden(k) { let s = 0; for (let i = 0; i < k; i++) s += i; return s }
      hidden(k) { return #secret in this && this.#hidden(k) }
      static of(...args) { return new this(...args) }
      *[Symbol.iterator]() { for (let i = 0; i < this.n; i++) yield i }
      async later() { return super.toString === Object.prototype.toString }
    }
    class Derived extends (order ? Base : Object) {
      constructor(n) { const before = note(n ? 'n' : 'none'); super(n ?? 4); this.before = before }
      hidden(k) { return super.hidden(k) + [...this].slice(1).length }
      get [note('computed') + 1]() { return 'c' }
      slice() { return 'own slice' }
    }
    async function main(log) {
      const it = Derived.of()
      it.secret = 'changed'
      try { it.secret = '' } catch (error) { log(error.name) }
      const plain = { __proto__: it, slice() { return super.slice() + '?' } }
      log(it.secret, it.shown, it.fn(), it.hidden(5), it.computed1, it.target, [...it], await it.later(), plain.slice())
      log(order, Base.made, Derived.name, class {}.name, (() => { try { Base() } catch (e) { return e.name } })())
    }`,
  'templates and tags': `
    const seen = new Set()
    function tag(strings, ...values) { seen.add(strings); return strings.raw.join('|') + values.map((v) => v ? String(v) : '-') }
    function main(log) {
      for (let i = 0; i < 3; i++) log(tag\`a\${i}\\n\${i > 1 ? [i].join() : ''}b\`, \`\${i}\${\`\${i && 'x'.repeat(i)}\`}\`)
      return [seen.size, \`multi
      line\`, String.raw\`\\u\${1}\`]
    }`,
}

for (const [what, program] of Object.entries(programs)) {
  test(`metering preserves code with ${what}`, async () => {
    await bothWays(program)
  })
}
