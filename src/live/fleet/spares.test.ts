import assert from 'node:assert/strict'
import test from 'node:test'
import type { Listed, ProviderEvents } from '../../model/provider.ts'
import { spareFleet } from './spares.ts'

/** A provider whose machines are only names. */
function machines() {
  const names = new Set<string>()
  const told: string[] = []
  let real: ProviderEvents | undefined
  const fleet = spareFleet(
    (events) => {
      real = events
      return {
        launch: (name) => void names.add(name),
        joined: (name) => void told.push(`joined ${name}`),
        list: async (): Promise<Listed[]> => [...names].map((launch) => ({ launch, since: 0 })),
        terminate: (name) => void names.delete(name),
        close: async () => names.clear(),
      }
    },
    {
      launchFailed: (launch, message) => void told.push(`${launch} failed: ${message}`),
      gone: (launch, message) => void told.push(`${launch} gone: ${message}`),
    },
  )
  return { fleet, names, told, real: real! }
}

test('the next launch is given the spare worker, which then goes by the name of the launch', async () => {
  const { fleet, names, told, real } = machines()
  const admitted: string[] = []
  const up = fleet.prepare('spare', 10_000)
  assert.deepEqual([...names], ['spare'])
  assert.deepEqual(await fleet.list(), [])
  assert.equal(fleet.isSpare('another'), false)
  assert.equal(fleet.isSpare('spare'), true)
  fleet.hold((launch) => admitted.push(launch))
  await up
  fleet.launch('7')
  assert.deepEqual(admitted, ['7'])
  assert.deepEqual(await fleet.list(), [{ launch: '7', since: 0 }])
  fleet.joined('7')
  fleet.launch('8')
  assert.deepEqual([...names], ['spare', '8'])
  real.gone('spare', 'killed')
  assert.deepEqual(told, ['joined spare', '7 gone: killed'])
})

test('a spare worker that no launch asks for is ended, and one that does not start is reported', async () => {
  const { fleet, names, told, real } = machines()
  void fleet.prepare('one', 10_000).catch(() => {})
  assert.equal(fleet.drop(), true)
  assert.equal(fleet.drop(), false)
  assert.deepEqual([...names], [])
  const up = fleet.prepare('1-r2', 10_000)
  real.launchFailed('1-r2', 'exited with code 1')
  await assert.rejects(up, /worker wr2: exited with code 1/)
  assert.deepEqual(told, [])
})

test('workers that are not spare are passed through', async () => {
  const { fleet, names, told, real } = machines()
  fleet.launch('1')
  real.launchFailed('1', 'no')
  fleet.terminate('1')
  assert.deepEqual([...names], [])
  assert.deepEqual(told, ['1 failed: no'])
  assert.equal(fleet.isSpare(undefined), false)
})

test('a spare worker that is refused, or does not join in time, is ended and reported', async () => {
  const { fleet, names } = machines()
  const other = fleet.prepare('1-r3', 10_000)
  fleet.refuse('its code differs')
  await assert.rejects(other, /worker wr3: refused: its code differs/)
  assert.deepEqual([...names], [])
  await assert.rejects(fleet.prepare('1-r4', 20), /worker wr4: did not join within 0.02 s/)
  assert.deepEqual([...names], [])
  assert.equal(fleet.drop(), false)
  const late = fleet.prepare('late', 10_000)
  const closing = assert.rejects(late, /the fleet is closed/)
  await fleet.close()
  await closing
})
