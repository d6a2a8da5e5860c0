import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { endOf, onOutputLine, startProcess } from './start-process.ts'

/** Longer than Linux allows one argument to be: `spawn` throws E2BIG. */
const tooLong = 'x'.repeat(200_000)

for (const [what, command, code] of [
  ['does not exist', ['/nowhere/at/all'], 'ENOENT'],
  ['is refused by the system', ['true', tooLong], 'E2BIG'],
] as const) {
  test(`a program that ${what} is an error event, and nothing is thrown`, async () => {
    const child = startProcess(command, { stdio: ['ignore', 'pipe', 'pipe'] })
    onOutputLine(child, () => assert.fail('it has no output'))
    const ended = endOf(child)
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, code)
    assert.equal(child.pid, undefined)
    assert.equal(child.kill(), false)
    await ended
  })
}

test('lines of both outputs are read until the process ends', async () => {
  const lines: string[] = []
  const child = startProcess(['sh', '-c', 'echo one; echo two >&2; printf three'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onOutputLine(child, (line) => lines.push(line))
  await endOf(child)
  assert.deepEqual(lines.toSorted(), ['one', 'three', 'two'])
})

test('a failed message to a process does not count as its end', async (t) => {
  const child = startProcess(['sleep', '6000'], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  let isOver = false
  const ended = endOf(child).then(() => {
    isOver = true
  })
  child.emit('error', new Error('the message was not sent'))
  await Promise.resolve()
  assert.equal(isOver, false)
  child.kill('SIGKILL')
  await ended
})
