import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { startCluster } from './cluster.ts'
import type { ClusterOptions } from './cluster-options.ts'

const workload = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'door.ts')

function optionsIn(dataDir: string): ClusterOptions {
  return {
    ...{ files: [workload], dataDir, host: '127.0.0.1', port: 0, adminPort: 0, min: 1, max: 1 },
    ...{ scheduler: 'srpt', discipline: 'srpt', jobMemoryMb: 256, slots: 4, queue: 10 },
    ...{ workerCommand: ['false'], log: () => {} },
    eventLog: join(dataDir, 'events.jsonl'),
    componentLog: 'cnv',
  }
}

function openServers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'TCPServerWrap').length
}

/** Files of the folder that this process has open. */
function openFiles(dir: string): string[] {
  const links = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
  return links.filter((file) => file.startsWith(dir))
}

const other = createServer().listen(0, '127.0.0.1')
before(() => once(other, 'listening'))
after(() => other.close())

for (const option of ['port', 'adminPort', 'scheduler'] as const) {
  test(`a cluster that cannot start because of ${option} leaves no port and no file open`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-start-'))
    t.after(() => rmSync(dataDir, { recursive: true, force: true }))
    const { port: taken } = other.address() as AddressInfo
    const wrong = option === 'scheduler' ? { scheduler: 'none' as 'srpt' } : { [option]: taken }
    await assert.rejects(startCluster({ ...optionsIn(dataDir), ...wrong }), {
      code: 'CONFIG',
    })
    assert.deepEqual(openFiles(dataDir), [])
    assert.equal(openServers(), 1, 'only that of the test')
  })
}
