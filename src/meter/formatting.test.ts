/** Metering preserves the behaviour and the line numbers of programs in any formatting. */
import test from 'node:test'
import { bothWays } from './testing/both-ways.ts'

const programs: Record<string, string> = {
  'no semicolons': `
    function main(log) {
      'use strict'
      let f, g, i = 0
      const list = [3, 1, 2]
      if (log) f = (x) => x.slice(1)
      else f = (x) => y => x
      for (; i < 3; i++) if (i) g = () => [i].sort()
      for (const it of list) f = () => it
      while (i < 9) i++
      do i--
      while (i > 4) log(i)
      for (let k = 0; k < 3; k++) {
        log(k)
        if (k === 1) return () => list.map(it => it.toString())
      }
      throw f
      ++i
    }
    const call = () => main
    ;[1, 2].slice()
    function early(x) {
      if (!x) return
      ;(function () {})()
      return x
      ['slice']()
    }`,
  'directives without semicolons': `
    const log1 = (it) => it
    function a() { 'use strict'
      return this }
    function b() { "use strict" /* why */; 'other'
      if (/x/.test('x')) log1('x')
      return this }
    function c() { 'use strict' }
    function d() { 'not a directive'.slice(1); return typeof this }
    function main(log) { return [a(), b(), c(), d(), (() => { 'use strict'; return 1 })()] }`,
  'comments in all positions': `
    function main(/* a */ log /* b */) /* c */ { // d
      let s = 0, n = 3 /* e */
      for /* f */ ( // g
        let i /* h */ = /* i */ 0 // j
        ; i /* k */ < /* l */ n // m
        ; i++ /* n */ ) /* o */ s += i // p
      for (let i = 0 /* ; */; i < n + // q
        1; i++) { s += i }
      for (/* r */ (s /* s */ = 1) /* ) */; s < 9; s++ /* t */) /* u */;
      while /* v */ ( /* w */ s > 3 /* x */ ) /* y */ { s-- /* z */ }
      if /* a */ (s) /* b */ log /* c */ (s) /* d */
      else /* e */ log /* f */ ('no')
      return /* g */ s > 1 /* h */ ? /* i */ [s] /* j */ . /* k */ slice /* l */ ( /* m */ ) /* n */ : /* o */ 0 // p
    }`,
  'loop heads of every form': `
    function main(log) {
      let i, j, s = 0, n
      const end = 4, much = end * 3
      for (let k = 0; k <
        much
        ; k++) if (k > 8) break
      for ((i = 0), (j = 1); i < end; i++) s += j
      for ((i = s); i < 20; i++) s++
      for ({ length: n } = 'four', i = 0; i < n; i++) s++
      for (function ignored() {}; s < 30; s++) log(s)
      for (class {}; s < 33; s++) log(s)
      for ([i] = [0]; i < n; i++) log(i)
      for (let
        k
        =
        0;
        k
        <
        end;
        k++
      )
        log(k)
      for (var v = 0, w = (v, 2); v < w; v++);
      for (let x = 0; (x < end); (x++)) s += x
      for (let x = 0, y = 5; ((x) < (y)); x++, y--) s += x
      for (const limit = 3; v < limit; v++) log(v)
      for (; v < 9; v++) {}
      for (;;) { if (s++ > 50) break }
      return [s, v]
    }`,
  'all on one line, and without blanks': `function main(log){let s=0;for(let i=0;i<3;i++)for(let j=i;j--;)s+=j;if(s)for(const k in{a:1})s+=k;else s=1;do s+=1;while(s.length<9);a:for(;;){for(;;){if(s)break a}}return s?s:[s].slice()}`,
  'keywords without a following blank': `
    function f(x){for(const y of"a-b".split("-"))if(y in[1].concat(x))return[y].slice();else throw[x].concat(y)}
    function*g(x){const r=yield[x].slice();return typeof[r].join()}
    function main(log){try{f(1)}catch(e){log(e)}switch("1"){case"1,2".slice(0,1):log(2)}for(const x of g(1))log(x);do"a".repeat(2);while(!log)return"a".repeat(3)}`,
  'other line terminators':
    'function main(log) {\r\n  let s = 0\r  for (let i = 0\u2028; i < 3\u2029; i++)\r\n    s += i\r\n  if (s)\rreturn s\n}',
  'statements without braces': `
    function main(log) {
      let s = 0
      if (log) for (let i = 0; i < 3; i++) if (i) s++; else s--; else s = 9
      if (s) while (s < 5) s++
      else do s++; while (s < 5)
      if (s) a: for (;;) if (s++ > 9) break a; else continue a
      for (const x of [1]) switch (x) { case 1: if (s) var v = 1; else break }
      if (v) function hoisted() { return 1 }
      if (s) { } else ;
      if (s) try { s++ } finally { s++ }
      else throw s
      if (s) { function inner() { return 2 } }
      return [s, v, hoisted(), inner()]
    }`,
  'unusual names and literals': `
    function main(log) {
      let \\u0061b = 1, $ = 2, _ = 3, ünï = 4, let_ = 5, async = (x) => x, of = [1], get = 1, set = 2
      var yield_ = 1, static_ = 1, await = 2
      for ((async) of of) log(async)
      for (let of = 0; of < 3; of++) log(of)
      const o = { get, set, async, await, get get() { return 1 }, set set(v) {}, async async() {}, *gen() {}, 0x10: 1, 1_0: 2, 'a b': 3 }
      return [ab, $ / _ / ünï, /[/\\]]+/gu.test('/'), 0b11, 1_000, .5 + 5., 'a\\
b', Object.keys(o), 5..toString(), 1 .toFixed(1), a => a]
    }`,
}

for (const [what, program] of Object.entries(programs)) {
  test(`metering preserves code with ${what}`, async () => {
    await bothWays(program)
  })
}
