import assert from 'node:assert/strict'
import test from 'node:test'
import { hasEnded, npmParent, type ProcessFacts } from './npm-parent.ts'

const [me, shell, npm] = [30, 20, 10]

function processes(more: Record<number, Partial<ProcessFacts> | undefined> = {}) {
  const all: Record<number, ProcessFacts> = {
    [npm]: { parent: 5, command: 'npm exec plimsoll up' },
    [shell]: { parent: npm, command: "sh -c 'plimsoll' up" },
    [me]: { parent: shell, command: 'node plimsoll up' },
  }
  return (pid: number) => {
    if (pid in more && more[pid] === undefined) return undefined
    return all[pid] && { ...all[pid], ...more[pid] }
  }
}

test('npm is found above the shell that it started', () => {
  assert.deepEqual(npmParent(shell, 'plimsoll', processes()), { shell, npm })
  assert.deepEqual(npmParent(shell, 'build && plimsoll up 2>&1', processes()), { shell, npm })
  // Some shells replace themselves by the last command.
  assert.deepEqual(npmParent(npm, 'plimsoll', processes()), { npm })
  assert.equal(npmParent(shell, undefined, processes()), undefined)
  assert.equal(npmParent(shell, 'plimsoll', processes({ [npm]: { command: 'bash' } })), undefined)
  assert.equal(npmParent(shell, 'plimsoll', processes({ [shell]: undefined })), undefined)
})

test('a process that is meant to outlive npm is not watched', () => {
  for (const script of ['plimsoll up &', 'plimsoll up & sleep 1', 'nohup plimsoll up', 'setsid plimsoll up'])
    assert.equal(npmParent(shell, script, processes()), undefined, script)
})

test('the death of npm or of its shell is noticed', () => {
  const found = { shell, npm }
  assert.equal(hasEnded(found, shell, processes()), false)
  assert.equal(hasEnded(found, 1, processes()), true)
  assert.equal(hasEnded(found, shell, processes({ [shell]: { parent: 1 } })), true)
  assert.deepEqual(
    [npm, 1].map((parent) => hasEnded({ npm }, parent, processes())),
    [false, true],
  )
})
