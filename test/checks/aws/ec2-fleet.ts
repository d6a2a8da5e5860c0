/**
 * A fleet of EC2 instances: it scales from 1 to 4 and back under load, and survives throttled launches, a lost answer,
 * missing capacity, a failed instance, the interruption of a spot instance, a brain that is killed in mid-launch, and the
 * failure of the balancer's machine.
 */

import { Load } from './load.ts'
import type { Figures, Part } from './part.ts'
import { type OpenStand, openStand } from './stand.ts'
import { UpProcess } from './up-process.ts'

const [preferred, other] = ['t3.small', 't3.micro']
/** AWS gives two minutes; a worker that takes no more than this is early enough. */
const noticeMs = 60_000
const most = 4
/** Pauses between two requests of 400 ms: more than three workers can serve, and less than one. */
const [highMs, lowMs] = [50, 2_000]

export const ec2Fleet: Part = {
  name: 'ec2 fleet',
  async run(say) {
    const open = await openStand(`${preferred},${other}`, { bootMs: 500, lagMs: 1_500 })
    const { stand, moto } = open
    const args = [...open.args, '--min', '1', '--max', `${most}`, '--ec2-spot', '--stop-after', '20']
    const up = new UpProcess({ stand, moto, args })
    try {
      const load = new Load(await up.url())
      try {
        await scenario(open, up, load, say)
      } finally {
        await load.end()
      }
      say(`${load.requests} requests, ${load.lost} lost, ${load.wrong} wrong`)
      for (const trouble of load.troubles.slice(0, 5)) say(trouble)
      const { requests, lost, wrong } = load
      return { requests, lost, wrong, ...(await stopped(open, up, say)) }
    } finally {
      await up.kill()
      await open.close()
    }
  },
}

async function scenario(
  { stand }: OpenStand,
  up: UpProcess,
  load: Load,
  say: (line: string) => void,
): Promise<void> {
  say('one worker is ready')
  const trouble = (code: string, times: number, when?: (form: URLSearchParams) => boolean) =>
    stand.faults.add({ action: 'RunInstances', times, code, ...(when && { when }) })
  trouble('RequestLimitExceeded', 2)
  stand.faults.add({ action: 'RunInstances', times: 1, losesAnswer: true })
  trouble('InsufficientInstanceCapacity', 1, (form) => form.get('InstanceType') === preferred)
  load.everyMs = highMs
  const full = () => up.isSteady(most)
  await up.until(`${most} workers are ready`, full)
  say(`${most} workers, after two throttled launches, a lost answer and missing capacity`)

  const [failing] = await up.alive()
  await stand.fail(failing!.id)
  await up.until('a failed instance is replaced', full)
  say(`instance ${failing!.id} failed and was replaced`)

  const [interrupted] = await up.alive()
  stand.interrupt(interrupted!.id, noticeMs)
  const isGone = async () => !(await up.alive()).some(({ id }) => id === interrupted!.id)
  await up.until('an interrupted spot instance has drained', isGone, noticeMs - 5_000)
  await up.until('the interrupted spot instance is replaced', full)
  say(`spot instance ${interrupted!.id} was to be interrupted, drained and was replaced`)

  const launching = Promise.withResolvers<void>()
  stand.faults.add({ action: 'RunInstances', times: 1, answerAfterMs: 5_000, seen: launching.resolve })
  const [dying] = await up.alive()
  await stand.fail(dying!.id)
  await launching.promise
  up.killBrain()
  await up.until('the fleet is complete after the brain was killed in mid-launch', full)
  say('the brain was killed in mid-launch, and the fleet is complete')

  load.everyMs = lowMs
  await up.until('one worker is left', () => up.isSteady(1))
  await load.settle()
  say('one worker is left')
  const [kept] = await up.alive()
  await up.crashAndStart()
  load.url = await up.url()
  load.everyMs = lowMs
  await up.until('the new balancer has the worker of the old one', () => up.isSteady(1))
  const [now] = await up.alive()
  if (now!.id !== kept!.id) throw new Error(`the new balancer replaced instance ${kept!.id} by ${now!.id}`)
  say('the balancer crashed, and the next one adopted its instance')
}

async function stopped(
  { count }: OpenStand,
  up: UpProcess,
  say: (line: string) => void,
): Promise<Partial<Figures>> {
  const code = await up.stop()
  if (code !== 0) throw new Error(`plimsoll up ended with code ${code}:\n${up.lines.slice(-25).join('\n')}`)
  const counts = await count()
  say(`stopped: ${counts.launched} instances launched, ${counts.terminated} terminated, ${counts.left} left`)
  return counts
}
