/**
 * Mutation tests of the fault suite: each mistake is planted in a copy of the source, and the suite must fail within
 * 2,000 seeds.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..', '..')

const mutations = [
  {
    name: 'a forgotten requeue',
    file: 'src/brain/jobs/retry.ts',
    from: '  else if (attempt.inFunction || !holdBack(core, record, losses.has(cause), doneMs)) place(core, record)\n}\n',
    to: "  else if (cause !== 'worker-lost' && !holdBack(core, record, losses.has(cause), doneMs)) place(core, record)\n}\n",
    seen: /without an answer|counts/,
  },
  {
    name: 'a double delivery',
    file: 'src/brain/jobs/deadlines.ts',
    from: '  withdraw(core, record, reason)\n}\n\n/** The job must begin now',
    to: '}\n\n/** The job must begin now',
    seen: /answered twice|counts/,
  },
  {
    name: 'a leaked counter',
    file: 'src/brain/jobs/attempts.ts',
    from: '  worker.usedMb -= attempt.job.memoryMb\n',
    to: '',
    seen: /MB/,
  },
  {
    name: 'an accepted answer of a superseded attempt',
    file: 'src/brain/jobs/jobs.ts',
    from: '  if (record?.attempt && matches(record.attempt, token)) return record.attempt\n',
    to: '  if (record?.attempt && epoch === record.attempt.epoch) return record.attempt\n',
    seen: /superseded/,
  },
  {
    name: 'a stray machine that is never ended',
    file: 'src/brain/workers/reconcile.ts',
    from: "    if (over) core.actions.push({ type: 'abandon', launch, reason: { code: 'stranger', listedMs } })\n",
    to: '',
    seen: /the provider has .* and bills them/,
  },
  {
    name: 'a function without a timeout',
    file: 'src/brain/functions/function-attempts.ts',
    from: '  jobTimers: { function: giveUp },\n',
    to: '  jobTimers: { function() {} },\n',
    seen: /without an answer/,
  },
  {
    name: 'a pause of the brain that counts as the silence of a worker',
    file: 'src/brain/own-pauses.ts',
    from: '  return now - at - pauses.since(at)\n',
    to: '  return now - at\n',
    seen: /was declared lost \(silent\), but its last message came/,
  },
  {
    name: 'a fleet that is lost at once for its silence',
    file: 'src/brain/workers/silent-losses.ts',
    from: '  if (silent <= most) return undefined\n',
    to: '  if (silent > 0) return undefined\n',
    seen: /was lost for its silence alone/,
  },
  {
    name: 'a job for an ejected worker',
    file: 'src/brain/state.ts',
    from: "  if (state !== 'ready' || suspect || ejected !== undefined) return false\n",
    to: "  if (state !== 'ready' || suspect) return false\n",
    seen: /which is ejected/,
  },
  {
    name: 'a worker that is drained although its jobs advance',
    file: 'src/brain/workers/stalls.ts',
    from: '  if (part * ms >= share * afterMs) {\n',
    to: '  if (part * ms >= afterMs * 2) {\n',
    seen: /always worked at its speed/,
  },
  {
    name: 'a retry that no timer ends',
    file: 'src/brain/jobs/retry-pauses.ts',
    from: '  if (waiting.size > 0) planRelease(core)\n}\n',
    to: '}\n',
    seen: /without an answer|counts/,
  },
]

for (const { name, file, from } of mutations) {
  test(`the source contains the lines that ${name} changes`, () => {
    assert.equal(readFileSync(join(root, file), 'utf8').split(from).length, 2, file)
  })
}

for (const { name, file, from, to, seen } of mutations) {
  test(`the fault suite detects ${name}`, () => {
    const copy = mkdtempSync(join(tmpdir(), 'plimsoll-mutation-'))
    try {
      for (const part of ['src', 'test', 'package.json'])
        cpSync(join(root, part), join(copy, part), { recursive: true })
      symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
      const source = readFileSync(join(copy, file), 'utf8')
      writeFileSync(join(copy, file), source.replace(from, to))
      const run = spawnSync(
        process.execPath,
        [join(copy, 'test/checks/faults.ts'), '--seeds', '2000', '--first'],
        {
          encoding: 'utf8',
          timeout: 120_000,
        },
      )
      assert.equal(run.status, 1, run.stdout + run.stderr)
      assert.match(run.stdout, seen)
      assert.match(run.stdout, /simulate --faults (--take-over )?--policy [a-z-]+ --seed \d+/)
      // The log of the shrunken run is printed.
      const [, shown] = /the last (\d+) of \d+ events/.exec(run.stdout) ?? []
      assert.ok(Number(shown) > 0, run.stdout)
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  })
}
