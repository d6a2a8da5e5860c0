import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clusterOptions } from '../../config/cluster-options.ts'
import { defaultsOf } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { ec2From } from './ec2.ts'

type Values = Parameters<typeof ec2From>[0]

const base: Values = {
  ...defaultsOf(clusterOptions),
  fleet: 'ec2',
  cluster: 'shop',
  joinAddress: '10.0.0.5:8082',
  ec2Image: 'ami-0123',
  ec2Types: 't3.small, t3.micro',
}

const refusal = (changes: { [K in keyof Values]?: Values[K] | undefined }) => {
  try {
    ec2From({ ...base, ...changes } as Values)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message
  }
  return assert.fail('it was accepted')
}

test('an image and types make a fleet', () => {
  assert.deepEqual(ec2From({ ...base, cpu: 'cloudwatch', ec2Subnets: 'subnet-1,subnet-2' }).ec2, {
    cluster: 'shop',
    image: 'ami-0123',
    types: ['t3.small', 't3.micro'],
    subnets: ['subnet-1', 'subnet-2'],
    securityGroups: [],
    spot: false,
    detailedMonitoring: true,
    join: '10.0.0.5:8082',
    code: [],
    cpu: true,
  })
})

test('a launch template needs neither image nor types', () => {
  const values = { ...base, ec2Image: undefined, ec2Types: '', ec2Template: 'workers:3' }
  const { template, types } = ec2From(values).ec2!
  assert.deepEqual([template, types], [{ name: 'workers', version: '3' }, []])
})

test('workers run on this machine by default, and then options of EC2 are refused by name', () => {
  assert.deepEqual(ec2From(defaultsOf(clusterOptions)), {})
  assert.equal(
    refusal({ fleet: 'local', cluster: undefined }),
    '--ec2-image = ami-0123: requires --fleet ec2',
  )
  assert.equal(
    refusal({ ...defaultsOf(clusterOptions), cpu: 'cloudwatch' }),
    '--cpu = cloudwatch: requires --fleet ec2',
  )
})

test('errors name the option, its value and what is allowed', () => {
  assert.match(refusal({ cluster: undefined }), /^--cluster: required with --fleet ec2/)
  assert.match(refusal({ cluster: 'a b' }), /^--cluster = a b: must be 1 to 64/)
  assert.match(refusal({ ec2Image: 'debian' }), /^--ec2-image = debian: must be the ID of an image/)
  assert.match(refusal({ ec2Image: undefined }), /^--ec2-image: required unless --ec2-template/)
  assert.match(refusal({ ec2Types: '' }), /^--ec2-types: required unless --ec2-template/)
  assert.match(refusal({ ec2Subnets: 'sg-1' }), /^--ec2-subnets = sg-1: sg-1: must begin with subnet-/)
  assert.match(refusal({ joinAddress: undefined }), /^--join-address: required with --fleet ec2/)
  assert.match(
    refusal({ joinAddress: '127.0.0.1:80' }),
    /^--join-address = 127\.0\.0\.1:80: instances cannot/,
  )
  assert.match(refusal({ ec2Join: 'here' }), /^--ec2-join = here: must be HOST:PORT/)
  assert.match(refusal({ ec2Template: 'a:b:c' }), /^--ec2-template = a:b:c: must be/)
})

test('a script must be readable, have its placeholders and name its interpreter', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-ec2-options-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'script')
  const withScript = (text: string) => {
    writeFileSync(file, text)
    return { ec2UserData: file }
  }
  assert.match(refusal({ ec2UserData: join(folder, 'none') }), /^--ec2-user-data = .*none: ENOENT/)
  assert.match(refusal(withScript('#!/bin/sh\n{worker}')), /must contain \{token\}/)
  assert.match(refusal(withScript('{worker} {token}')), /must begin with #!/)
  const script = '#!/bin/sh\n{worker} {token}'
  assert.equal(ec2From({ ...base, ...withScript(script) }).ec2!.script, script)
})

test('instances get the same files or the same configuration as the cluster', () => {
  assert.deepEqual(ec2From({ ...base, workloads: import.meta.filename }).ec2!.code, [
    '--workloads',
    import.meta.filename,
  ])
  assert.deepEqual(ec2From(base, '/etc/shop.yaml').ec2!.code, ['--config', '/etc/shop.yaml'])
})
