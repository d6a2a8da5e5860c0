/** `node bench/estimate/dump.ts FOLDER [COUNT [NAME…]]`: writes measured requests of streams as JSON files. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureAll, type StreamName, streamNames } from './measure.ts'

const [folder, count = '800', ...wanted] = process.argv.slice(2)
const unknown = wanted.find((name) => !streamNames.includes(name as StreamName))
if (folder === undefined || !(Number(count) > 0) || unknown !== undefined) {
  console.error('usage: node bench/estimate/dump.ts FOLDER [COUNT [NAME…]]')
  console.error(`there are: ${streamNames.join(', ')}`)
  process.exit(2)
}
mkdirSync(folder, { recursive: true })
const names = wanted.length > 0 ? (wanted as StreamName[]) : streamNames
await measureAll(names, 1, Number(count), (name, rows) => {
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(rows))
})
