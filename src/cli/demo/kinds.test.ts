import assert from 'node:assert/strict'
import { test } from 'node:test'
import compressWorkload from '../../../workloads/compress.ts'
import dnaWorkload from '../../../workloads/dna.ts'
import factorizeWorkload from '../../../workloads/factorize.ts'
import foxesWorkload from '../../../workloads/foxes-rabbits.ts'
import grayscottWorkload from '../../../workloads/grayscott.ts'
import hillclimbWorkload from '../../../workloads/hillclimb.ts'
import warWorkload from '../../../workloads/insect-war.ts'
import juliaWorkload from '../../../workloads/julia.ts'
import { fakeBody } from '../../../workloads/testing/body.ts'
import { stream } from '../../lib/random.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import type { Workload } from '../../workload/workload.ts'
import { checkClimb, checkFoxes, checkImage, checkMatches, checkWar } from './checks.ts'
import { compress, type Draw, dna, factorize, foxes, grayscott, hillclimb, julia, war } from './kinds.ts'
import { drawPhases } from './load.ts'

const served: [Draw, Workload<never>][] = [
  [factorize, factorizeWorkload as Workload<never>],
  [julia, juliaWorkload as Workload<never>],
  [dna, dnaWorkload as Workload<never>],
  [grayscott, grayscottWorkload as Workload<never>],
  [hillclimb, hillclimbWorkload as Workload<never>],
  [foxes, foxesWorkload as Workload<never>],
  [war, warWorkload as Workload<never>],
  [compress, compressWorkload as Workload<never>],
]

async function answerOf(workload: Workload<never>, { params, body }: ReturnType<Draw>): Promise<Buffer> {
  const valid = await workload.params!['~standard'].validate(params)
  assert.ok(!valid.issues, JSON.stringify(valid.issues))
  const answer = await workload.run(valid.value, fakeContext(body && { body: fakeBody(body) }))
  const plain = (answer as { body?: unknown }).body ?? answer
  return plain instanceof Uint8Array ? Buffer.from(plain) : Buffer.from(JSON.stringify(plain))
}

test('every workload answers the requests of the demo correctly', async () => {
  const random = stream(1, 'kinds')
  for (const [draw, workload] of served) {
    for (let i = 0; i < 4; i++) {
      const request = draw(random, i, 2 + i)
      const answer = await answerOf(workload, request)
      assert.equal(request.check(answer), undefined, `${request.kind} ${JSON.stringify(request.params)}`)
      assert.notEqual(request.check(Buffer.from('{"oops": 1}   ')), undefined, request.kind)
    }
  }
})

test('recognises wrong answers', () => {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const path = { start: { x: 0, y: 0, height: 1 }, peak: { x: 2, y: 0, height: 9 }, moves: 2 }
  const way = [
    [0, 0],
    [1, 1],
    [2, 0],
  ]
  assert.equal(checkClimb(json({ ...path, path: way })), undefined)
  assert.match(checkClimb(json({ ...path, path: way.slice(0, 2) }))!, /does not lead to the peak/)
  assert.match(checkClimb(json({ ...path, moves: 1, path: [way[0], way[2]] }))!, /leaps/)
  const army = { insects: 5, survivors: 4, fallen: 2, hatched: 1 }
  const asked = { army1: 5, army2: 5 }
  assert.equal(checkWar(json({ army1: army, army2: army }), asked), undefined)
  assert.match(checkWar(json({ army1: army, army2: { ...army, fallen: 0 } }), asked)!, /army2: 4 survivors/)
  const course = { generations: 2, samples: [{ generation: 0, rabbits: 1, foxes: 1 }] }
  assert.match(checkFoxes(json(course), { generations: 2 })!, /without its beginning or end/)
  const found = { genome: { bases: 9 }, pattern: 'ACG', total: 1, matches: [{ position: 3, differences: 2 }] }
  const wanted = { pattern: 'ACG', mismatches: 1, length: 9 }
  assert.match(checkMatches(json(found), wanted)!, /2 differences/)
  assert.match(checkImage(Buffer.from('BM but not a picture'), 'bmp', 3)!, /not a BMP/)
})

test('draws the same requests for the same seed, phase by phase', () => {
  const phases = [
    { seconds: 1, perSecond: 5, ms: [1, 2] },
    { seconds: 2, perSecond: 10, ms: [3, 4] },
  ] as const
  const times = drawPhases(7, phases, [factorize]).map(({ atMs }) => atMs)
  assert.equal(times.filter((at) => at < 1000).length, 5)
  assert.equal(times.filter((at) => at >= 1000 && at < 3000).length, 20)
  assert.deepEqual(
    times,
    drawPhases(7, phases, [factorize]).map(({ atMs }) => atMs),
  )
})
