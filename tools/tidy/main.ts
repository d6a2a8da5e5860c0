/** `npm run -s tidy [-- --write] [-- --json]`: checks the order of the code in the current folder. */

import { parseArgs } from 'node:util'
import { exceptions } from './exceptions.ts'
import { type Figures, summary } from './figures.ts'
import { phrases } from './phrases.ts'
import { describe } from './problem.ts'
import { mermaidGraph, textGraph } from './room-graph.ts'
import { rooms } from './rooms.ts'
import { type Findings, tidy } from './tidy.ts'

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const found = tidy(process.cwd(), { rooms, exceptions, phrases }, { write: values.write })
for (const problem of found.problems) console.error(describe(problem))
if (values.json) console.log(JSON.stringify({ ...found.figures, problems: found.problems.length }, null, 2))
else if (found.problems.length === 0) console.log(report(found))
else console.error(`\n${summary(found.figures)}, ${found.problems.length} problems`)
process.exitCode = found.problems.length > 0 ? 1 : 0

function report({ rooms, figures }: Findings): string {
  return [textGraph(rooms), mermaidGraph(rooms), table(figures), summary(figures)].join('\n\n')
}

function table({ linesByRoom, longestFile, longestFunction, unreached }: Figures): string {
  const lines = Object.entries(linesByRoom).map(([room, count]) => `${room} ${count.toLocaleString('en-US')}`)
  return [
    `lines without tests: ${lines.join(', ')}`,
    longestFile && `longest file: ${longestFile.file} (${longestFile.lines} lines)`,
    longestFunction &&
      `longest function: ${longestFunction.file}:${longestFunction.line} ${longestFunction.name} (${longestFunction.lines} lines)`,
    unreached.length > 0 && `not reached from the package's exports and commands: ${unreached.join(', ')}`,
  ]
    .filter((line) => typeof line === 'string')
    .join('\n')
}
