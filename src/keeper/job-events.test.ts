import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { StoredJob } from '../store/store.ts'
import type { JobDocument } from './documents.ts'
import { followJob } from './job-events.ts'
import { settle } from './testing/keeper-stand.ts'

class Response extends EventEmitter {
  destroyed = false
  text = ''
  hasEnded = false
  writeHead(): this {
    return this
  }
  write(text: string): void {
    this.text += text
  }
  end(): void {
    this.hasEnded = true
  }
}

function start(job: StoredJob, ended: Promise<void>, closing?: AbortSignal, last?: string) {
  const response = new Response()
  const looks = { count: 0 }
  const parts = {
    ...{ ended: () => ended, closing },
    job: async () => {
      looks.count++
      return job
    },
    describe: async ({ state }: StoredJob) => ({ state }) as unknown as JobDocument,
  }
  const request = { headers: { 'last-event-id': last }, method: 'GET' } as unknown as IncomingMessage
  return {
    ...{ response, looks },
    done: followJob(parts, request, response as unknown as ServerResponse),
  }
}

const open = () => ({ id: 'one', state: 'open' }) as StoredJob

test('an open connection keeps the same listeners however long it is followed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const job = open()
  const { response, looks, done } = start(job, new Promise(() => {}))
  await settle()
  const listeners = response.listenerCount('close')
  for (let i = 0; i < 30; i++) {
    t.mock.timers.tick(1_000)
    await settle()
  }
  assert.deepEqual([looks.count, response.listenerCount('close')], [31, listeners])
  job.state = 'answered'
  t.mock.timers.tick(1_000)
  await done
  assert.match(response.text, /event: accepted\n[\s\S]*event: ended\n/)
})

test('a job that is open after its end was reported is checked once a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { looks, response, done } = start(open(), Promise.resolve())
  await settle()
  assert.equal(looks.count, 2)
  response.destroyed = true
  response.emit('close')
  await done
})

test('a keeper that ends closes the connections of followers', async () => {
  const closing = new AbortController()
  const { response, done } = start(open(), new Promise(() => {}), closing.signal)
  await settle()
  closing.abort()
  await done
  assert.deepEqual([response.hasEnded, /event: ended/.test(response.text)], [true, false])
})

test('a client that reconnects gets the state only if it has not seen it', async () => {
  const follow = async (job: StoredJob, last?: string) => {
    const closing = new AbortController()
    const { response, done } = start(job, new Promise(() => {}), closing.signal, last)
    await settle()
    closing.abort()
    await done
    return response.text
  }
  const first = await follow(open())
  const id = /^event: accepted\nid: (.*)$/m.exec(first)?.[1]
  assert.ok(id)
  assert.equal(await follow(open(), id), '')
  assert.match(await follow({ ...open(), state: 'answered' }, id), /^event: ended\nid: ended\n/)
  assert.match(await follow(open(), 'of another state'), /^event: progress\n/)
})
