import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { StoredJob, Webhook } from '../../store/store.ts'
import { Deliveries } from './deliveries.ts'
import { InnerAddress, type Message } from './post.ts'
import { sign } from './signature.ts'

const secret = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
const hour = 3_600_000

/** A job that has ended at 0, and a receiver that answers with these statuses, or fails with these texts. */
function delivering(...answers: (number | string | Error)[]) {
  const clock = { now: 0 }
  const posted: Message[] = []
  const lines: string[] = []
  const disabled = new Map<string, number>()
  const job: StoredJob = {
    ...{
      id: 'one',
      workload: 'w',
      client: 'c',
      acceptedAt: 0,
      quote: {},
      method: 'GET',
      target: '/w',
      fields: [],
    },
    ...{
      bodyBytes: 0,
      isRepeatable: true,
      state: 'answered',
      endedAt: 0,
      answer: { status: 200, bytes: 2, isKept: true },
    },
    webhook: { url: 'https://hooks.example/a', state: 'waiting', tries: 0, dueAt: 0 },
  }
  const deliveries = new Deliveries({
    store: {
      waitingWebhooks: async () => (job.webhook?.state === 'waiting' ? [job] : []),
      disabledWebhooks: async () => disabled,
      noteWebhook: async (_epoch, _id, webhook) => {
        job.webhook = webhook
      },
    },
    ...{ epoch: 1, hosts: ['hooks.example'], secret, now: () => clock.now, random: () => 0.5 },
    log: (line) => lines.push(line),
    async post(message) {
      posted.push(message)
      const answer = answers[Math.min(posted.length, answers.length) - 1]!
      if (typeof answer === 'string') throw new Error(answer)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  const look = async (now: number): Promise<Webhook> => {
    clock.now = now
    await deliveries.look()
    return job.webhook!
  }
  return { look, job, disabled, posted, lines }
}

test('a message is signed, and sent until the receiver confirms it', async () => {
  const { look, posted } = delivering('refused', 500, 204)
  assert.deepEqual(await look(0), {
    ...{ url: 'https://hooks.example/a', state: 'waiting', tries: 1, dueAt: 5_000, problem: 'refused' },
  })
  await look(4_999)
  assert.equal(posted.length, 1)
  assert.equal((await look(5_000)).problem, 'it answered 500')
  assert.equal((await look(15_000)).state, 'delivered')
  await look(10 * hour)
  assert.equal(posted.length, 3)
  const { fields, body } = posted[2]!
  const signature = createHmac('sha256', 'a secret of 24 bytes....')
    .update(`msg_one.15.${body}`)
    .digest('base64')
  assert.deepEqual(fields, {
    ...{ 'webhook-id': 'msg_one', 'webhook-timestamp': '15', 'webhook-signature': `v1,${signature}` },
  })
  const { type, data } = JSON.parse(body)
  assert.deepEqual([type, data.id, data.state], ['job.answered', 'one', 'answered'])
})

test('a URL that answers 410 gets no messages for a day, whatever the job and the keeper', async () => {
  const first = delivering(410, 204)
  assert.equal((await first.look(0)).state, 'disabled')
  assert.match(first.lines[0]!, /hooks.example gets no more webhooks/)
  const again = async ({ look, job }: Pick<typeof first, 'look' | 'job'>, at: number) => {
    job.webhook = { url: 'https://hooks.example/a', state: 'waiting', tries: 0, dueAt: at }
    return (await look(at)).state
  }
  assert.deepEqual([await again(first, hour), first.posted.length], ['disabled', 1])
  const next = delivering(204)
  next.disabled.set('https://hooks.example/a', 24 * hour)
  assert.deepEqual([await again(next, 2 * hour), next.posted.length], ['disabled', 0])
  next.job.webhook = { url: 'https://hooks.example/b', state: 'waiting', tries: 0, dueAt: 0 }
  assert.equal((await next.look(2 * hour)).state, 'delivered')
  assert.deepEqual([await again(next, 24 * hour), next.posted.length], ['delivered', 2])
})

test('redirects are failures, and a receiver that fails for a day is given up', async () => {
  const { look, posted } = delivering(302)
  let at = 0
  for (;;) {
    const { state, dueAt = 0 } = await look(at)
    if (state !== 'waiting') {
      assert.equal(state, 'given-up')
      break
    }
    assert.ok(dueAt > at && dueAt - at <= hour * 1.25, `${at} ${dueAt}`)
    at = dueAt
  }
  assert.ok(at > 24 * hour && posted.length < 50, `${at} ${posted.length}`)
})

test('a signature is that of the Standard Webhooks scheme', () => {
  const signed = sign(
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_1',
    1_614_265_330_000,
    '{"test": 2432232314}',
  )
  // As Python's hmac computes it.
  assert.equal(signed['webhook-signature'], 'v1,9o7UeFkn1GjVbcY4emAJruJCYqgH2EIf8u/slvVRBZI=')
})

test('a receiver that has only inner addresses is given up at once', async () => {
  const { look, lines } = delivering(new InnerAddress('hooks.example is on an inner network'))
  assert.deepEqual(await look(0), {
    ...{ url: 'https://hooks.example/a', state: 'given-up', tries: 1 },
    problem: 'hooks.example is on an inner network',
  })
  assert.match(lines.join(), /given up: hooks.example is on an inner network/)
})
