import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinAddresses } from './join-addresses.ts'

const addresses = (...hosts: string[]) =>
  new JoinAddresses(
    hosts.map((host) => new URL(`tls://${host}:1`)),
    () => 1,
  )

test('addresses are tried in turn, after pauses that grow to a bound and start over with a leader', () => {
  const all = addresses('a', 'b', 'c')
  const hosts: string[] = []
  const waits: number[] = []
  for (let i = 0; i < 6; i++) {
    hosts.push(all.current.hostname)
    waits.push(all.next())
  }
  assert.deepEqual(hosts, ['a', 'b', 'c', 'a', 'b', 'c'])
  assert.deepEqual(waits, [50, 100, 200, 400, 500, 500])
  all.joined()
  assert.equal(all.next(), 50)
})

test('one address has the usual time for a connection, several have less', () => {
  assert.deepEqual([addresses('a').isFollower, addresses('a').limitMs], [false, undefined])
  assert.deepEqual([addresses('a', 'b').isFollower, addresses('a', 'b').limitMs! < 5_000], [true, true])
})
