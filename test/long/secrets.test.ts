/** Tokens are visible neither to other users nor to workloads, and the files of a cluster belong to its user alone. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { readToken, tokenFile } from '../../src/live/tokens.ts'
import { newTokens, roles } from '../../src/wire/token.ts'
import { cli, descendants, fixtures, until } from '../support/live.ts'

const timeout = 120_000

/** Starts `plimsoll up` with a second front and functions. Resolves when it is ready. */
async function startUp(t: TestContext, dataDir: string, env: Record<string, string> = {}) {
  const ports = [
    '--port',
    '0',
    '--admin-port',
    '0',
    '--join-address',
    '127.0.0.2:0',
    '--min',
    '1',
    '--max',
    '1',
  ]
  const files = ['--data', dataDir, '--event-log', join(dataDir, 'events.log'), '--workloads', fixtures]
  const args = [cli, 'up', ...ports, ...files, '--fronts', '2', '--functions', '1']
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  t.after(stop)
  await until(() => text.includes('Try:') || child.exitCode !== null, 'the cluster is ready')
  const url = /requests +(\S+)/.exec(text)?.[1]
  assert.ok(url, text)
  return { pid: child.pid!, url, said: () => text, stop }
}

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-secrets-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Without links. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path)
    return entry.isFile() ? [path] : []
  })
}

function readProc(pid: number, name: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

test('no token is in arguments, in environments, in the output or in logs', { timeout }, async (t) => {
  const given = newTokens()
  const env = { PLIMSOLL_WORKER_TOKEN: given.worker, PLIMSOLL_FRONT_TOKEN: given.front }
  const dataDir = join(scratch(t), 'data')
  const up = await startUp(t, dataDir, env)
  const secrets = [...Object.values(given).slice(0, 2), readToken(tokenFile(dataDir, 'operator'))]
  const answers = await Promise.all([1, 2, 3, 4].map((n) => fetch(`${up.url}/strict?n=${n}`)))
  for (const answer of answers) assert.equal(answer.status, 200, await answer.text())
  const below = descendants(up.pid)
  assert.ok(below.length >= 3, 'a worker, its slot and a front')
  for (const pid of below) {
    const environ = readProc(pid, 'environ')
    assert.doesNotMatch(environ, /PLIMSOLL_\w*TOKEN/, readProc(pid, 'cmdline'))
    for (const secret of secrets) assert.ok(!environ.includes(secret))
  }
  for (const pid of [up.pid, ...below])
    for (const secret of secrets) assert.ok(!readProc(pid, 'cmdline').includes(secret))
  await up.stop()
  const logs = [up.said(), readFileSync(join(dataDir, 'events.log'), 'utf8')].join('\n')
  for (const secret of secrets) assert.ok(!logs.includes(secret), 'a token was printed or logged')
  assert.match(up.said(), /join +npx plimsoll worker --join tls:\/\/127\.0\.0\.2:\d+ --workloads/)
})

test('the data folder and its files belong to the user of the cluster alone, whatever the umask', {
  timeout,
}, async (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const dataDir = join(scratch(t), 'data')
  const up = await startUp(t, dataDir)
  assert.equal((await fetch(`${up.url}/strict?n=1`)).status, 200)
  const modes = Object.fromEntries(
    readdirSync(dataDir)
      .filter((name) => name !== '.compile-cache')
      .map((name) => [name, statSync(join(dataDir, name)).mode & 0o077]),
  )
  for (const name of [
    'ledger.db',
    'ledger.db-wal',
    'ledger.db-shm',
    'ledger.db-lock',
    'events.log',
    'kept-code',
    'tokens',
  ])
    assert.equal(modes[name], 0, name)
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  for (const role of roles) assert.equal(statSync(tokenFile(dataDir, role)).mode & 0o777, 0o600)
  const kept = filesIn(join(dataDir, 'kept-code'))
  assert.ok(kept.some((file) => file.endsWith('/door.ts')))
  for (const file of kept) assert.equal(statSync(file).mode & 0o077, 0, file)
})

test('a data folder that others could read is closed to them, which is logged once', {
  timeout,
}, async (t) => {
  const dataDir = join(scratch(t), 'data')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'old.log'), '')
  chmodSync(join(dataDir, 'old.log'), 0o644)
  chmodSync(dataDir, 0o755)
  const first = await startUp(t, dataDir)
  await first.stop()
  const command = `plimsoll worker --join tls://127\\.0\\.0\\.2:\\d+ --token-file ${tokenFile(dataDir, 'worker')} --workloads`
  assert.match(first.said(), new RegExp(command))
  assert.match(
    first.said(),
    /folder .*data: others had access to it \(mode 0755\); now only its owner has, also to 1 of its files/,
  )
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  assert.equal(statSync(join(dataDir, 'old.log')).mode & 0o777, 0o600)
  const second = await startUp(t, dataDir)
  await second.stop()
  assert.doesNotMatch(second.said(), /others had access/)
})
