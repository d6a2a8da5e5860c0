/** Generates random programs that use all control flow of the language. They end when their fuel is used up. */
import fc from 'fast-check'
import { one, type Pick, tests, writeExpression } from './random-expressions.ts'

interface Context {
  readonly depth: number
  readonly labels: readonly { readonly name: string; readonly loop: boolean }[]
  readonly inLoop: boolean
  readonly inSwitch: boolean
  readonly kind: 'plain' | 'generator' | 'async'
  readonly variables: readonly string[]
}

const iterables = [
  '[3, 1, 2]',
  "'text'",
  'list',
  '[...list, x]',
  'new Set([1, 2, 1])',
  "'a-b'.split('-')",
  'list.slice(1)',
]
export const randomPrograms = fc
  .gen()
  .map((draw) => writeProgram((below) => draw(fc.nat, { max: below - 1 })))

export function writeProgram(pick: Pick): string {
  return new Writer(pick).program()
}

class Writer {
  readonly #pick: Pick
  #serial = 0

  constructor(pick: Pick) {
    this.#pick = pick
  }

  program(): string {
    const functions = [0, 1, 2].map((index) => this.#function(index))
    const main: Context = {
      depth: 4,
      labels: [],
      inLoop: false,
      inSwitch: false,
      kind: 'async',
      variables: ['x', 'y'],
    }
    return `${this.#chance(4) ? "'use strict'\n" : ''}let fuel = 120, a = 1, b = 2, log
const list = [5, 4], kept = []
${functions.join('\n')}
async function main(given) {
  log = given
  let x = 1
  var i = 0, y = 0
  try {
${this.#block(main, 3)}
  } catch (error) { log('caught', error instanceof Error ? error.message : error) }
  return [fuel, a, b, x, y, i, list, kept.map((it) => it())]
}`
  }

  #function(index: number): string {
    const kind = index === 2 ? 'generator' : 'plain'
    const context: Context = {
      depth: 3,
      labels: [],
      inLoop: false,
      inSwitch: false,
      kind,
      variables: ['x', 'y', 'p', 'q'],
    }
    return `function${kind === 'generator' ? '*' : ''} f${index}(p, q = ${this.#expression({ ...context, variables: ['p', 'p * 2'] }, 0)}) {
  if (--fuel < 0) return -1
  let x = ${this.#pick(5)}, i = 0
  var y = p
${this.#block(context, 3)}
  return ${this.#expression(context, 2)}
}`
  }

  #block(context: Context, most: number): string {
    const howMany = 1 + this.#pick(most)
    const statements = Array.from({ length: howMany }, () => this.#statement(context))
    return statements.join(this.#chance(3) ? '\n' : ';\n')
  }

  #statement(context: Context): string {
    const { depth } = context
    if (depth <= 0 || this.#chance(3)) return this.#simple(context)
    const inner = { ...context, depth: depth - 1 }
    switch (this.#pick(14)) {
      case 0:
        return `if (${this.#test()}) ${this.#body(inner)}\nelse ${this.#body(inner)}`
      case 1:
        return `if (${this.#expression(context, 2)}) ${this.#body(inner)}`
      case 2:
      case 3:
      case 4:
      case 5:
        return this.#labelled(inner, true, (at) => this.#counted(at))
      case 6:
        return this.#labelled(
          inner,
          true,
          (at) => `for (const it of ${this.#one(iterables)}) ${this.#body(at, 'it')}`,
        )
      case 7:
        return this.#labelled(inner, true, (at) => `for (var key in { k: 1, l: 2 }) ${this.#body(at, 'key')}`)
      case 8:
        return this.#labelled(inner, true, (at) => this.#uncounted(at))
      case 9:
        return this.#try(inner)
      case 10:
        return this.#labelled({ ...inner, inSwitch: true }, false, (at) => this.#switch(at))
      case 11:
        return this.#labelled(inner, false, (at) => `{\n${this.#block(at, 3)}\n}`)
      case 12:
        return `{ let x = ${this.#expression(context, 1)}; const held = () => ${this.#expression(context, 1)}\n${this.#block(inner, 2)}; log(held()) }`
      default:
        return `for (const it of f2(${this.#expression(context, 1)})) { if (--fuel < 0) break; ${this.#block({ ...inner, inLoop: true, inSwitch: false }, 2)}; log(it) }`
    }
  }

  /** Loops whose turns may be derived from a variable. */
  #counted(context: Context): string {
    const [name, from] = this.#one([
      [`n${++this.#serial}`, `let n${this.#serial} = ${this.#pick(4)}`],
      [`n${++this.#serial}`, `var n${this.#serial} = x`],
      ['x', `x = ${this.#pick(3)}`],
      ['i', `(i = 0)`],
      ['y', ''],
    ] as const)
    const end = this.#one(['4', 'b + 3', 'list.length', 'y', `${this.#pick(6)}`, 'p', 'x * 2'])
    const bound = context.variables.includes('p') || end !== 'p' ? end : '3'
    const guard = '--fuel > 0 && '
    const steps = [`${name}++`, `++${name}`, `${name} += 2`, `${name}++, a++`]
    const downs = [`${name}--`, `${name} -= 2`]
    const most = bound === 'y' || bound === 'p' ? `(${bound} > 3 ? 3 : 2)` : /^\d$/.test(bound) ? bound : '3'
    switch (this.#pick(5)) {
      case 0:
        return `for (${from}; ${guard}${name} > -3; ${this.#one(downs)}) ${this.#body(context, name)}`
      case 1:
        return this.#while(context, guard, bound)
      case 2:
        return `for (${from}; ${name} < 3; ${this.#one(steps)}) { if (--fuel < 0) throw 'fuel'\n${this.#block(context, 2)} }`
      default:
        return this.#chance(2)
          ? `for (let n = 0; n < ${most}; n++) ${this.#body(context, 'n')}`
          : `for (${from}; ${guard}${name} < ${bound}; ${this.#one(steps)}) ${this.#body(context, name)}`
    }
  }

  #while(context: Context, guard: string, bound: string): string {
    const name = this.#one(['x', 'y', 'i'])
    const step = this.#one([`${name}++`, `${name} += 3`])
    const before = this.#block(context, 2)
    return `while (${guard}${name} < ${bound}) {\n${before}\n${step}\n${this.#block(context, 1)} }`
  }

  #uncounted(context: Context): string {
    if (this.#chance(2)) return `do {\n${this.#block(context, 2)}\n} while (--fuel > 0 && ${this.#test()})`
    return `while (--fuel > 0 && ${this.#expression(context, 1)}) ${this.#body(context)}`
  }

  #labelled(context: Context, loop: boolean, write: (context: Context) => string): string {
    const inLoop = context.inLoop || loop
    const inSwitch = loop ? false : context.inSwitch
    if (!this.#chance(3)) return write({ ...context, inLoop, inSwitch })
    const name = `L${++this.#serial}`
    return `${name}: ${write({ ...context, inLoop, inSwitch, labels: [...context.labels, { name, loop }] })}`
  }

  #try(context: Context): string {
    const body = `try {\n${this.#block(context, 3)}\n}`
    const caught = ` catch (error) { log('caught', String(error)); ${this.#block(context, 2)} }`
    const last = ` finally { ${this.#block(context, 2)} }`
    return this.#one([body + caught, body + caught + last, body + last])
  }

  #switch(context: Context): string {
    const ways = Array.from({ length: 1 + this.#pick(3) }, (_, index) => {
      const test = this.#chance(4) ? `case ${this.#test()}` : `case ${index}`
      return `${test}: ${this.#chance(4) ? '' : this.#block(context, 2)}${this.#chance(2) ? '\nbreak' : ''}`
    })
    if (this.#chance(2)) ways.splice(this.#pick(ways.length), 0, `default: ${this.#block(context, 1)}`)
    return `switch (${this.#one(['x', 'y', 'fuel % 3', 'i'])}) {\n${ways.join('\n')}\n}`
  }

  #body(context: Context, variable?: string): string {
    const inside = variable ? { ...context, variables: [...context.variables, variable] } : context
    const simple = this.#simple(inside)
    if (this.#chance(3)) return simple.endsWith('}') ? simple : `${simple};`
    return `{\n${this.#block(inside, 3)}\n}`
  }

  #simple(context: Context): string {
    const { labels, inLoop, inSwitch, kind, variables } = context
    const jumps: string[] = ['return', `return ${this.#expression(context, 1)}`, `throw ${this.#pick(9)}`]
    if (inLoop) jumps.push('break', 'continue', 'continue')
    if (inSwitch) jumps.push('break')
    for (const { name, loop } of labels) jumps.push(`break ${name}`, ...(loop ? [`continue ${name}`] : []))
    switch (this.#pick(9)) {
      case 0:
      case 1:
        return `log(${this.#pick(100)}, ${this.#expression(context, 2)})`
      case 2:
        return `if (${this.#test()}) { ${this.#one(jumps)} }`
      case 3:
        return this.#chance(3) ? this.#one(jumps) : `a = ${this.#expression(context, 2)}`
      case 4:
        return `x = ${this.#expression(context, 2)}`
      case 5:
        return `kept.length < 9 && kept.push(() => ${this.#expression({ ...context, kind: 'plain' }, 1)})`
      case 6:
        return this.#one([
          'x++',
          'y += 1',
          'i++',
          'b--',
          'list.length < 9 && list.push(x)',
          'var y = 2',
          'void ([x, y] = [y, x])',
        ])
      case 7:
        if (kind === 'generator') return `x = yield ${this.#expression(context, 1)}`
        return kind === 'async'
          ? `y = await ${this.#expression(context, 1)}`
          : `{ function g() { return ${this.#pick(9)} } y = g() }`
      default:
        return `log(${this.#one(variables)})`
    }
  }

  #expression({ variables }: Context, depth: number): string {
    return writeExpression(this.#pick, variables, depth)
  }

  #test(): string {
    return this.#one(tests)
  }

  #chance(of: number): boolean {
    return this.#pick(of) === 0
  }

  #one<T>(choices: readonly T[]): T {
    return one(this.#pick, choices)
  }
}
