import { styleText } from 'node:util'
import type { QuoteDocument } from '../estimate/quote.ts'
import type { Range } from '../estimate/range.ts'
import { UnreachableError } from '../lib/errors.ts'
import { type Command, readOptions } from './options.ts'
import { askingOptions, problemText, questionFor, quoteQuestion, readAsked } from './terminal/asking.ts'
import { client } from './terminal/client.ts'
import { clusterUrlFrom } from './terminal/cluster-url.ts'
import { interruptible } from './terminal/interrupt.ts'
import { duration, significant } from './terminal/table.ts'
import { fitted } from './terminal/width.ts'

const options = {
  ...askingOptions,
  json: { type: 'flag', help: 'print JSON instead of a table' },
} as const

/** A quote for one request. */
export const estimate: Command = {
  summary: 'Ask a cluster what a request would cost, without sending it.',
  usage: 'WORKLOAD [name=value…] [options]      for example: estimate factorize n=999985999949',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    const asked = readAsked('estimate', rest)
    const url = await clusterUrlFrom(values)
    const connection = client(url)
    try {
      const question = quoteQuestion(await questionFor('estimate', connection, asked, values.body))
      return await interruptible(async (signal) => {
        const { status, body } = await connection.send({ ...question, signal })
        const text = await body.text()
        if (status === 200) console.log(values.json ? text.trimEnd() : quoteText(read(text, url)))
        else if (values.json) console.log(text.trimEnd())
        else console.error(problemText(status, text))
        return status === 200 ? 0 : 1
      })
    } finally {
      await connection.close()
    }
  },
}

function read(text: string, url: URL): QuoteDocument {
  try {
    return JSON.parse(text) as QuoteDocument
  } catch {
    throw new UnreachableError(`${url.origin} is not the address of a cluster`)
  }
}

/** One line per figure, with its interval. */
export function quoteText(quote: QuoteDocument): string {
  const { workload, work, low, high, unproven, memoryMb, seconds, waitSeconds, price, source, why } = quote
  const ms = (time: number) => duration(time * 1000)
  const lines: [name: string, value: string, range?: string][] = [
    ['work', significant(work), between({ expected: work, low, high }, significant)],
    ['time', ms(seconds.expected), between(seconds, ms)],
    ['wait', waitText(waitSeconds)],
    ['memory', `${Math.round(memoryMb)} MB`],
  ]
  if (unproven) lines.push(['proven', 'not yet: such requests are not ranked, they share the cores'])
  if (price) lines.push(['price', money(price.expected), between(price, money)])
  const width = Math.max(...lines.map(([, value, range]) => (range ? value.length : 0)))
  const rows = lines.map(([name, value, range]) => {
    return `  ${name.padEnd(7)} ${range ? `${value.padEnd(width)}   ${dim(range)}` : value}`
  })
  const [first = '', ...more] = fitted(`${why} (${source})`, 10).split('\n')
  return [styleText('bold', workload), ...rows, `  ${'why'.padEnd(7)} ${first}`, ...more].join('\n')
}

function between({ low, high }: Range, show: (value: number) => string): string {
  return `90 % between ${show(low)} and ${show(high)}`
}

function waitText(waitSeconds: number | null): string {
  if (waitSeconds === null) return 'not known: no worker is ready'
  return waitSeconds === 0 ? 'none' : `at most ${duration(waitSeconds * 1000)}, if nothing shorter comes`
}

/** Prices may be far below one cent. */
function money(amount: number): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  return amount.toLocaleString('en-US', amount >= 1 ? digits : { maximumSignificantDigits: 3 })
}

function dim(text: string): string {
  return styleText('dim', text)
}
