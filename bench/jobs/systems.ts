/** Systems that store jobs, each behind one function: it resolves when the job is durable, as the system promises it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openJobStore } from '../../src/store/open-store.ts'
import { freePort, type Postgres } from '../../test/support/postgres.ts'
import { installed } from '../door/peer-packages.ts'
import { newData, newJob } from './payload.ts'

export const names = [
  'sqlite',
  'postgres',
  'pgboss',
  'bullmq',
  'bullmq-everysec',
  'sqlite-http',
  'postgres-http',
] as const
export type Name = (typeof names)[number]

export interface System {
  name: Name
  accept(): Promise<unknown>
  /** How many jobs the system itself says it has. */
  count(): Promise<number>
  stop(): Promise<void>
}

const packages = ['bullmq@6.7.0', 'ioredis@6.0.0', 'pg-boss@12.35.0'] as const

/** The folder with the queues written in JavaScript, or undefined with a line that says why. */
export function queuesFolder(): string | undefined {
  const name = `job-queues-${packages.map((each) => each.replace(/^.*@/, '')).join('-')}`
  return installed(name, (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
    return ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  })
}

export async function startStore(name: 'sqlite' | 'postgres', location: string): Promise<System> {
  const store = await openJobStore(location)
  const lease = await store.lead('bench', 3_600_000)
  const { epoch } = lease!
  return {
    name,
    accept: () => store.accept(epoch, newJob()),
    async count() {
      let count = 0
      for await (const _ of store.open()) count++
      return count
    },
    stop: () => store.close(),
  }
}

/** What is used of pg-boss. */
interface Boss {
  start(): Promise<unknown>
  createQueue(name: string): Promise<unknown>
  send(name: string, data: object): Promise<string | null>
  on(event: 'error', then: (error: Error) => void): unknown
  stop(options: { graceful: boolean }): Promise<void>
}

export async function startPgBoss(folder: string, server: Postgres): Promise<System> {
  const { PgBoss } = (await load(folder, 'pg-boss')) as { PgBoss: new (url: string) => Boss }
  const url = await server.createDatabase()
  const boss = new PgBoss(url)
  boss.on('error', (error) => console.error(`pg-boss: ${error.message}`))
  await boss.start()
  await boss.createQueue('jobs')
  return {
    name: 'pgboss',
    accept: () => boss.send('jobs', newData()),
    count: async () =>
      Number(
        (
          await server.query<{ count: string }>("SELECT count(*) FROM pgboss.job WHERE name = 'jobs'", url)
        )[0]!.count,
      ),
    stop: () => boss.stop({ graceful: false }),
  }
}

/** What is used of BullMQ. */
interface Queue {
  waitUntilReady(): Promise<unknown>
  add(name: string, data: object): Promise<unknown>
  getWaitingCount(): Promise<number>
  close(): Promise<void>
}

type NewQueue = new (name: string, options: { connection: { host: string; port: number } }) => Queue

/** `fsync`: when Redis writes to the disk. Only `always` promises what the others do. */
export async function startBullMq(
  folder: string,
  scratch: string,
  fsync: 'always' | 'everysec',
): Promise<System | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.error('redis-server is absent, and BullMQ is left out; on Debian: apt-get install redis-server')
    return undefined
  }
  const port = await freePort()
  const dir = join(scratch, `redis-${fsync}`)
  mkdirSync(dir)
  const options = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'yes',
  ]
  const redis = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'KILL',
      'redis-server',
      ...options,
      '--appendfsync',
      fsync,
      '--maxmemory-policy',
      'noeviction',
    ],
    {
      stdio: 'ignore',
    },
  )
  const { Queue: BullQueue } = (await load(folder, 'bullmq')) as { Queue: NewQueue }
  await delay(500)
  const queue = new BullQueue('jobs', { connection: { host: '127.0.0.1', port } })
  await queue.waitUntilReady()
  return {
    name: fsync === 'always' ? 'bullmq' : 'bullmq-everysec',
    accept: () => queue.add('job', newData()),
    count: () => queue.getWaitingCount(),
    async stop() {
      await queue.close()
      redis.kill('SIGKILL')
      if (redis.exitCode === null) await once(redis, 'exit')
    },
  }
}

async function load(folder: string, name: string): Promise<unknown> {
  const path = createRequire(join(folder, 'package.json')).resolve(name)
  return import(pathToFileURL(path).href)
}
