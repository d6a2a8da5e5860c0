/** Options of the configuration file; flags override them. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clusterOptions } from '../../config/cluster-options.ts'
import { newToken } from '../../wire/token.ts'
import { configOption } from './config-option.ts'
import { readConfigured } from './configuration.ts'

const main = fileURLToPath(new URL('../plimsoll.js', import.meta.url))
const specs = { ...configOption, ...clusterOptions } as const
const workers = { command: 'app {port}' }
let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-config-'))
})
after(() => rmSync(folder, { recursive: true }))

function write(config: unknown, name = 'given.json'): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(config))
  return file
}

const read = (config: unknown, ...args: string[]) =>
  readConfigured(['--config', write(config), ...args], specs, () => assert.fail('it was named'))

test('flags override the configuration file', async () => {
  const config = {
    workers,
    port: 0,
    adminPort: 1234,
    fair: true,
    rateLimit: 1e6,
    pricePerHour: 2.5,
    host: '::1',
  }
  const { values, config: found } = await read(config, '--admin-port', '4321', '--host=0.0.0.0')
  assert.deepEqual(
    [values.port, values.adminPort, values.fair, values.rateLimit, values.pricePerHour, values.host],
    [0, 4321, true, '1000000', 2.5, '0.0.0.0'],
  )
  assert.deepEqual([values.queue, values.preset], [10_000, 'plimsoll'])
  assert.deepEqual(found?.own?.workers?.command, ['app', '{port}'])
})

test('an invalid value is rejected with the file, the option and what is allowed', async () => {
  const refused: [config: object, message: RegExp][] = [
    [{ port: 70_000 }, /given\.json: port = 70000: must be a whole number from 0 to 65535$/],
    [{ adminPort: '81' }, /given\.json: adminPort = '81': must be a whole number from 0 to 65535$/],
    [{ fair: 'yes' }, /given\.json: fair = 'yes': must be true or false$/],
    [{ host: true }, /given\.json: host = true: must be a string$/],
    [{ prot: 1 }, /given\.json: the configuration: unknown option prot; did you mean port/],
  ]
  for (const [config, message] of refused) await assert.rejects(read(config), { code: 'CONFIG', message })
})

test('rejects workload flags with an existing server, and --min and --max with upstreams', async () => {
  await assert.rejects(
    read({ workers }, '--workloads', 'x.ts'),
    /--workloads: cannot be combined with workers in .*given\.json/,
  )
  await assert.rejects(read({ workers }, '--meter=off'), /--meter: cannot be combined with workers/)
  await assert.rejects(
    read({ upstreams: ['http://a:1'] }, '--max', '3'),
    /--max: cannot be combined with upstreams/,
  )
  assert.equal((await read({ min: 1 }, '--meter', 'off')).values.meter, 'off')
})

const runIn = (...args: string[]): Promise<{ code: unknown; said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: folder, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    )
  })

test('uses the configuration of the folder and prints its name', async () => {
  const file = write({ port: -1 }, 'plimsoll.config.json')
  const { code, said } = await runIn('up')
  assert.equal(code, 2)
  assert.match(said, /^Using plimsoll\.config\.json\.\nplimsoll: plimsoll\.config\.json: port = -1: must be/)
  rmSync(file)
})

test('a worker reports what is wrong with its configuration', async () => {
  const token = join(folder, 'token')
  writeFileSync(token, newToken())
  const joining = ['worker', '--join', 'http://127.0.0.1:1', '--token-file', token, '--config']
  const two = write({ upstreams: ['http://a:1', 'http://b:2'] })
  assert.match(
    (await runIn(...joining, two)).said,
    /--upstream = : must be one of http:\/\/a:1, http:\/\/b:2/,
  )
  assert.match(
    (await runIn(...joining, write({ min: 1 }))).said,
    /--config = .*: must have workers or upstreams/,
  )
  assert.match((await runIn(...joining, 'no.json')).said, /no\.json: no such file/)
  const both = await runIn(...joining, write({ workers }), '--workloads', 'x')
  assert.match(both.said, /--workloads = x: a worker has workloads or a --config, not both/)
})
