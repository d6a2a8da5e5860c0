import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { settings } from './testing/fake-ec2.ts'
import { userData } from './user-data.ts'

const launch = { launch: '5-1', token: "it's secret" }

test('a script is filled in with arguments that a shell reads unchanged', () => {
  const script = '#!/bin/sh\nprintf "%s\\n" {worker} {token} {launch} {cluster} {other}\n'
  const text = userData({ ...settings, script, workerArgs: ['--formula', 'a=1 $b'] }, launch)
  const { stdout } = spawnSync('sh', ['-c', text], { encoding: 'utf8' })
  const args = ['worker', '--join', 'tls://10.0.0.1:8082', '--launch', '5-1', '--formula', 'a=1 $b']
  assert.equal(stdout, `${[...args, "it's secret", '5-1', 'test', '{other}'].join('\n')}\n`)
})

test('without a script, an instance gives its worker all cores, and shuts down after it', () => {
  const text = userData(settings, launch)
  assert.match(text, /^#!\/bin\/sh\n/)
  assert.match(text, /\nplimsoll worker --join tls:\/\/10\.0\.0\.1:8082 --launch 5-1 --cores "\$\(nproc\)"/)
  assert.match(text, /shutdown -h now\n$/)
  assert.equal(spawnSync('sh', ['-n', '-c', text]).status, 0)
})
