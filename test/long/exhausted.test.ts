/** The main process survives a lack of descriptors and a full disk, keeps serving, and recovers. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cli, commandOf, descendants, fixtures, until } from '../support/live.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Up {
  process: ChildProcess
  adminPort: number
  url: string
  said(): string
  ask(): Promise<string>
}

/** `plimsoll up` with these shell commands before it and these words behind it. */
async function startUp(t: TestContext, { first = '', last = '' } = {}): Promise<Up> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-up-'))
  const [port, adminPort] = [await freePort(), await freePort()]
  const options = `--port ${port} --admin-port ${adminPort} --min 1 --max 1 --data '${dataDir}' --workloads '${fixtures}'`
  const command = `${first} exec '${process.execPath}' '${cli}' up ${options} --stop-after 0 ${last}`
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const url = `http://127.0.0.1:${port}`
  t.after(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(dataDir, { recursive: true, force: true })
  })
  const ask = async () => {
    try {
      return await (await fetch(`${url}/strict?n=21`, { headers: { connection: 'close' } })).text()
    } catch (error) {
      return String((error as Error).cause)
    }
  }
  const up = { process: child, adminPort, url, said: () => text, ask }
  await untilAnswered(up)
  return up
}

async function untilAnswered({ process: child, ask, said }: Up): Promise<void> {
  const limit = performance.now() + 60_000
  let answer = ''
  while (answer !== '42') {
    assert.ok(child.exitCode === null && child.signalCode === null, `the main process has ended: ${said()}`)
    assert.ok(performance.now() < limit, `no answer but ${answer}: ${said()}`)
    await delay(50)
    answer = await ask()
  }
}

test('a worker that is launched while the brain has no free descriptors joins as soon as it has some', async (t) => {
  const up = await startUp(t, { first: 'ulimit -n 100;' })
  const sockets: Socket[] = []
  const open = () => {
    // At the admin port: clients cannot take the descriptors of the brain's process.
    const socket = connect(up.adminPort, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
  }
  for (let i = 0; i < 300; i++) open()
  // The kernel accepts for the process; it closes what it has no descriptor for.
  await until(() => sockets.some(({ closed }) => closed), 'connections are refused')
  const workers = () => descendants(up.process.pid).filter((pid) => / worker --join /.test(commandOf(pid)))
  const [killed] = workers()
  process.kill(killed!, 'SIGKILL')
  const keep = setInterval(open, 5)
  t.after(() => clearInterval(keep))
  await until(() => workers().some((pid) => pid !== killed), 'another is launched')
  const [launched] = workers()
  await delay(2_000)
  clearInterval(keep)
  for (const socket of sockets) socket.destroy()
  await untilAnswered(up)
  assert.deepEqual(workers(), [launched])
  assert.doesNotMatch(up.said(), /did not start/)
})

test('an event log on a full disk is reported once, and requests are served', async (t) => {
  const up = await startUp(t, { last: '--event-log /dev/full' })
  for (let i = 0; i < 20; i++) assert.equal(await up.ask(), '42')
  await until(
    () => /event log: \/dev\/full cannot be written: ENOSPC/.test(up.said()),
    'the failure is logged',
  )
  assert.equal(await up.ask(), '42')
  assert.equal(up.said().match(/cannot be written/g)!.length, 1)
})

test('output that goes to a full disk, or to a reader that has gone, ends nothing', async (t) => {
  const full = await startUp(t, { last: '>/dev/full 2>/dev/full' })
  assert.equal(await full.ask(), '42')
  const piped = await startUp(t)
  piped.process.stdout!.destroy()
  piped.process.stderr!.destroy()
  const worker = descendants(piped.process.pid).find((pid) => / worker --join /.test(commandOf(pid)))!
  process.kill(worker, 'SIGKILL')
  // The loss of a worker is logged.
  await untilAnswered(piped)
  assert.equal(await piped.ask(), '42')
})

test('after an unexpected exception the process says so and ends with code 70', async () => {
  // Thrown as soon as the command line runs.
  const planted = `setInterval(() => { if (process.listenerCount('uncaughtException')) throw new Error('planted') }, 5)`
  const preload = `data:text/javascript,${encodeURIComponent(planted)}`
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-up-'))
  const options = ['up', '--port', '0', '--admin-port', '0', '--data', dataDir, '--workloads', fixtures]
  const child = spawn(process.execPath, ['--import', preload, cli, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const text: string[] = []
  child.stderr.setEncoding('utf8').on('data', (part: string) => text.push(part))
  const [code] = await once(child, 'close')
  rmSync(dataDir, { recursive: true, force: true })
  assert.equal(code, 70, text.join(''))
  assert.match(text.join(''), /^plimsoll: internal error: planted\nError: planted\n {4}at /m)
})
