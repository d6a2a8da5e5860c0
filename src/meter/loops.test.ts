/** Metering preserves loops, whatever the type of their variable. */
import test from 'node:test'
import { bothWays } from './testing/both-ways.ts'

const programs: Record<string, string> = {
  'a variable that is a BigInt': `
    function main(log) {
      let sum = 0n
      for (let i = 0n; i < 40n; i++) sum += i
      const end = 7n
      for (let i = 3n; i < end; i++) log(i)
      let j = 9n
      while (j > sum - 790n) { log(j); j-- }
      return sum
    }`,
  'a variable that is a string': `
    function main(log) {
      for (let i = '5'; i < 9; i++) log(i)
      for (let i = 'a', n = 'b'; i < n; i++) log(i)
      let digits = ''
      while (digits.length < 400) { digits += 1; if (digits.length > 500) break }
      let word = 'a'
      while (word.length < 5) { word += 7 }
      return [digits.length, word]
    }`,
  'a variable that is not a number': `
    function main(log) {
      let none, turns = 0
      while (turns < 3) { turns = turns + 1; none++ }
      let nothing = null
      while (nothing < 3) { nothing++ }
      for (let yes = true; yes < 4; yes++) log(yes)
      for (let bad = NaN; bad < 4; bad++) log(bad)
      for (let i = 0, bad = NaN; i < bad; i++) log(bad)
      return [none, nothing]
    }`,
  'a variable that is infinite, or too large to change': `
    function main(log) {
      let down = Infinity, k = 5
      while (k > 0) { k = k - 1; down-- }
      let turns = 0
      for (let i = -Infinity; i < 10; i++) if (++turns > 5) break
      for (let i = 2 ** 53; i < 2 ** 54; i++) if (++turns > 20) break
      for (let i = 0; i < Infinity; i++) if (++turns > 40) break
      let huge = 1e21
      while (turns < 50) { huge--; turns += 1; log(turns) }
      for (let i = -1e21; i < 5; i++) if (++turns > 60) break
      let product = 1
      for (let i = 0; i < 400; i++) product = product * 10
      while (turns < 70) { product--; turns += 1 }
      let wide = 0
      while (turns < 80) { wide++; turns += 1 }
      return [down, k, turns, huge, product, wide]
    }`,
  'a variable that is a symbol': `
    function main(log) {
      let it = Symbol('it')
      while (!log) { it++ }
      for (let i = Symbol('i'); i < 3; i++) log(i)
    }`,
  'a variable that is a fraction': `
    function main(log) {
      let sum = 0
      for (let i = 0.1; i < 200; i++) sum += i
      for (let i = 0.1; i < 1; i += 1) sum += i
      let x = 100.5
      while (x > 0.7) { sum += x; x -= 2 }
      return sum
    }`,
  'a variable with a valueOf, called equally often': `
    function counter(value) { return { calls: 0, valueOf() { this.calls++; return value } } }
    function upTo(n, log) {
      let turns = 0
      for (let i = 0; i < n; i++) turns++
      for (let i = 0; i < n * 2; i++) turns++
      for (let i = 0; i <= n + 1; i++) turns++
      return turns
    }
    function main(log) {
      const end = counter(30), start = counter(0), odd = counter(NaN)
      log(upTo(end), end.calls)
      for (let i = start; i < 3; i++) log(i)
      for (let i = counter(5); i < odd; i++) log(i)
      let o = counter(3)
      const held = o, list = [1, 2, 3]
      while (list.length) { list.pop(); o++ }
      return [start.calls, odd.calls, held.calls, o]
    }`,
  'a bound that changes': `
    function main(log) {
      let turns = 0
      const clock = { now: 5, valueOf() { return this.now } }
      for (let i = 0; i < clock + 1; i++) { turns++; if (turns < 20) clock.now++ }
      let n = 10
      for (let i = 0; i < n; i++) { turns++; n-- }
      const list = [1, 2, 3]
      for (let i = 0; i < list.length; i++) if (i < 5) list.push(i)
      class Shrinks { size = n-- }
      n = 9
      for (let i = 0; i < n; i++) { new Shrinks(); turns++ }
      const less = () => n--
      n = 9
      for (let i = 0; i < n; i++) { less(); turns++ }
      return [turns, list, n]
    }`,
  'steps other than one, and negative steps': `
    function main(log) {
      const n = 100
      let sum = 0
      for (let i = 0; i < n; i += 7) sum += i
      for (let i = 0; i <= n; i += 10) sum += i
      for (let i = n; i > 3; i -= 9) sum += i
      for (let i = n; i >= 0; --i) sum += i
      for (let i = 0, j = n; i < j; i++, j--) sum += i * j
      for (let i = n; i--; ) sum += i
      let k = n
      while (k --> 0) sum += k
      do { sum++ } while (k++ < 20)
      return [sum, k]
    }`,
  'a variable that the body also changes': `
    function main(log) {
      for (let i = 0; i < 20; i++) { log(i); if (i % 3 === 0) i += 2 }
      for (var j = 0; j < 10; j++) { log(j); for (var j of [j + 1, j + 2]) log(j) }
      for (var k = 0; k < 10; k++) { log(k); var { k } = { k: k + 2 } }
      for (var l = 0; l < 10; l++) { log(l); var [l] = [l + 1] }
      for (let i = 0, { n } = { n: (i = 3) }; i < n + 2; i++) log(i)
      for (var m = 0, m = 4; m < 6; m++) log(m)
      let o = 0
      const jump = () => { o += 3 }
      for (; o < 20; o++) jump()
      return [j, k, l, o]
    }`,
  'a variable that closures capture in each turn': `
    function main(log) {
      const kept = []
      for (let i = 0; i < 4; i++) kept.push(() => i++)
      for (let i = 0, next = () => i; i < 3; i++) log(i, next())
      for (let i = 0; i < 3; i++) kept.push(class { at = i })
      var shared = []
      for (var j = 0; j < 3; j++) shared.push(() => j)
      return [kept.map((it) => (it.prototype ? new it().at : it())), shared.map((it) => it())]
    }`,
  'a parameter that arguments aliases': `
    function down(i, n) { const less = () => { arguments[1]-- }; let t = 0; for (; i < n; i++) { t++; less() } return t }
    function jump(i, n) { let t = 0; for (; i < n; i++) { t++; arguments[0] += 2 } return t }
    const named = function i(i, n) { let t = 0; const a = arguments; for (; i < n; i++) { t++; a[0]++ } return t }
    function strict(i, n) { 'use strict'; let t = 0; for (; i < n; i++) { t++; arguments[0] += 2 } return t }
    function given(a) { a[0] = 2 }
    function away(i, n) { let t = 0; for (; i < n; i++) { t++; if (t < 5) given(arguments) } return t }
    function main(log) { return [down(0, 10), jump(0, 10), named(0, 10), strict(0, 10), away(0, 4)] }`,
  'a variable in its temporal dead zone': `
    function main(log) {
      while (!log) { i++ }
      for (; !log; j++) log(j)
      switch (2) {
        case 1: let k = 0
        case 2: while (!log) { k++ }
      }
      let i = 3, j = 4
      for (let n = 0; n < 2; n++) { log(n); while (!log) { m++ } let m = 1 }
      for (let a = a; a < 3; a++) log(a)
    }`,
  'sloppy functions in blocks that overwrite variables': `
    function main(log) {
      var t = 0, n = 5
      for (var i = 0; i < n; i++) { t++; if (i === 1) { function n() {} } }
      for (q = 0; q < 5; q++) { log(typeof q); { function q() {} } if (t++ > 9) break }
      var q
      if (t) { function late() { return 'late' } }
      return [t, late()]
    }`,
}

for (const [what, program] of Object.entries(programs)) {
  test(`metering preserves loops with ${what}`, async () => {
    await bothWays(program)
  })
}
