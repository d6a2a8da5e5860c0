/** A ledger that is damaged, and a clock that jumps. */

import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { until } from '../../support/hostile/raw.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'

const ledgerFiles = ['ledger.db', 'ledger.db-wal']
const pageBytes = 4096

/** Inverts a byte of each 300 between these offsets. */
function flip(file: string, from: number, to = Infinity): void {
  const bytes = readFileSync(file)
  for (let at = from; at < Math.min(to, bytes.length); at += 300) bytes[at] = ~bytes[at]! & 0xff
  writeFileSync(file, bytes)
}

/** What is done to `ledger.db` or its log before the start. */
const damages: Record<string, (folder: string) => void> = {
  'flipped bytes in the schema': (folder) => flip(join(folder, 'ledger.db'), 100, pageBytes),
  'flipped bytes in all pages but the first': (folder) => flip(join(folder, 'ledger.db'), pageBytes),
  'flipped bytes in the log': (folder) => flip(join(folder, 'ledger.db-wal'), 32),
  'half of the file': (folder) => {
    const file = join(folder, 'ledger.db')
    truncateSync(file, readFileSync(file).length / 2)
  },
  'a hundred bytes': (folder) => truncateSync(join(folder, 'ledger.db'), 100),
  'other bytes': (folder) => writeFileSync(join(folder, 'ledger.db'), Buffer.alloc(50_000, 'other bytes')),
}

/** A folder with a ledger that a cluster has filled. */
async function filledLedger(trial: Trial): Promise<string> {
  const up = await trial.start()
  const innocents = trial.innocents(up)
  await innocents.more(100)
  await innocents.stop()
  // Rows are written after a short while.
  await delay(1_500)
  const copy = mkdtempSync(join(tmpdir(), 'plimsoll-hostile-ledger-'))
  trial.after(() => rmSync(copy, { recursive: true, force: true }))
  for (const name of ledgerFiles) copyFileSync(join(up.dataDir, name), join(copy, name))
  await up.stop()
  return copy
}

export const damagedLedger: Experiment = {
  name: 'damaged-ledger',
  about: 'a ledger with flipped bytes, cut off, of a newer version: at the start, and while it is used',
  async run(trial) {
    const source = await filledLedger(trial)
    const startWith = (damage: (folder: string) => void) =>
      trial.start({
        prepare(folder) {
          const dataDir = join(folder, '.plimsoll')
          mkdirSync(dataDir)
          for (const name of ledgerFiles) copyFileSync(join(source, name), join(dataDir, name))
          damage(dataDir)
        },
      })
    const damageAtStart = async (name: string, damage: (folder: string) => void) => {
      try {
        const up = await startWith(damage)
        const innocents = trial.innocents(up, { clients: 2 })
        await innocents.more(16)
        await innocents.stop()
        const isDamaged = readdirSync(up.dataDir).some((each) => each.includes('damaged'))
        const said = up.lines.some((line) => /ledger.*damaged/i.test(line))
        trial.check(isDamaged === said, `${name}: renamed: ${isDamaged}, said: ${said}`)
        const left = await up.stop()
        trial.check(left.length === 0, `${name}: ${left.length} processes are left`)
      } catch (error) {
        trial.check(false, `${name}: ${(error as Error).message}`)
      }
    }
    const all = Object.entries(damages)
    for (const half of [all.slice(0, 3), all.slice(3)])
      await Promise.all(half.map(([name, damage]) => damageAtStart(name, damage)))
    const newer = await startWith(makeNewer).then(
      () => 'it has started',
      (error: Error) => error.message,
    )
    trial.check(/ledger.*newer|version 99/s.test(newer), `a ledger of a newer version: ${newer.slice(-400)}`)
    await damageWhileUsed(trial)
  },
}

function makeNewer(folder: string): void {
  const db = new DatabaseSync(join(folder, 'ledger.db'))
  db.exec('PRAGMA user_version = 99')
  db.close()
}

async function damageWhileUsed(trial: Trial): Promise<void> {
  const up = await trial.start()
  const innocents = trial.innocents(up)
  await innocents.more(60)
  const file = join(up.dataDir, 'ledger.db')
  for (const damage of [
    () => flip(file, pageBytes),
    () => flip(`${file}-wal`, 32),
    () => truncateSync(file, pageBytes * 2),
    () => writeFileSync(file, 'other bytes'),
    () => rmSync(file),
  ]) {
    damage()
    await innocents.more(40)
    // It is read for reports, too.
    const { status } = await exchange(`${up.adminUrl}/api/rows`, 'GET', false)
    trial.check(status > 0, `rows got ${status}`)
    await delay(500)
  }
  await innocents.more(20)
  const lines = up.lines.filter((line) => /ledger/i.test(line))
  trial.check(lines.length > 0, 'the log does not mention the ledger')
  trial.check(lines.length <= 40, `the log mentions the ledger ${lines.length} times`)
}

const hourMs = 3_600_000

export const clockJumps: Experiment = {
  name: 'clock-jumps',
  about: 'the time of day jumps forwards and backwards in all processes, while jobs run and kept jobs wait',
  async run(trial) {
    const clock = (folder: string) => join(folder, 'clock')
    const preload = join(import.meta.dirname, '..', '..', 'support', 'hostile', 'jumping-clock.mjs')
    const up = await trial.start({
      prepare: (folder) => writeFileSync(clock(folder), '0'),
      env: (folder) => ({ NODE_OPTIONS: `--import=${preload}`, JUMPING_CLOCK: clock(folder) }),
      flags: ['--pass-env', 'NODE_OPTIONS,JUMPING_CLOCK', '--min', '2', '--max', '2'],
    })
    const innocents = trial.innocents(up)
    await innocents.more(40)
    const before = up.workers().map(({ pid }) => pid)
    const headers = { prefer: 'respond-async' }
    const kept = await Promise.all(
      Array.from({ length: 6 }, () => exchange(`${up.url}/nap?ms=8000`, 'POST', false, { headers })),
    )
    trial.check(
      kept.every(({ status }) => status === 202),
      `kept jobs got ${kept.map(({ status }) => status)}`,
    )
    const long = Array.from({ length: 6 }, () => exchange(`${up.url}/nap?ms=12000`, 'GET', false))
    await until('they run', async () => (await up.state()).placed >= 6)
    for (const offMs of [hourMs, -hourMs, 30 * hourMs, -1_000 * hourMs, 0]) {
      writeFileSync(clock(up.folder), `${offMs}`)
      await delay(1_000)
      await innocents.more(20)
    }
    const answers = await Promise.all(long)
    const bad = answers.filter(({ status }) => status !== 200)
    trial.check(bad.length === 0, `${bad.length} long requests failed: ${bad[0]?.status} ${bad[0]?.body}`)
    for (const { headers: fields } of kept) {
      const url = `${up.url}${String(fields.location)}`
      let state = ''
      await until('a kept job is answered', async () => {
        state = (JSON.parse((await exchange(url, 'GET', false)).body) as { state: string }).state
        return state === 'answered'
      }).catch((error: Error) => trial.check(false, `${error.message}: it is ${state}`))
    }
    const after = up.workers().map(({ pid }) => pid)
    trial.check(`${before}` === `${after}`, `workers were ${before} and are ${after}`)
    await innocents.more(20)
  },
}
