/**
 * The deployment in `deploy/aws/`, without an account: templates of all presets by the AWS CDK, cfn-lint and cdk-nag over
 * them, and `setup.sh` and `teardown.sh` twice each against moto. node test/checks/aws/templates.ts
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deathSignal } from '../../../src/worker/processes/death-signal.ts'
import { startImageBuilder } from '../../stands/image-builder.ts'
import { npmPackages, pythonPackages } from './installed.ts'
import type { Part } from './part.ts'

const deploy = join(import.meta.dirname, '..', '..', '..', 'deploy', 'aws')
const presets = ['plimsoll', 'cloudprime', 'cnv', 'hillclimbing', 'ecowork']
const versions = { nag: '2.38.2', lint: '1.58.0', cli: '1.46.2', moto: '5.2.5' }

interface TemplateFigures {
  presets: number
  resources: number
  lint_errors: number
  high_findings: number
  suppressed: number
  left: number
}

export const deployment: Part = {
  name: 'deployment',
  async run(say) {
    const { left, ...figures } = await checkTemplates()
    say(JSON.stringify(figures))
    return { left }
  },
}

async function checkTemplates(): Promise<TemplateFigures> {
  const { dependencies } = JSON.parse(readFileSync(join(deploy, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const modules = npmPackages(`cdk-${dependencies['aws-cdk-lib']}-nag-${versions.nag}`, {
    ...dependencies,
    'cdk-nag': versions.nag,
  })
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-deploy-'))
  try {
    // Only what is deployed: not what an operator's own runs have left there.
    const sources = run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], deploy).trim()
    for (const name of sources.split('\n')) cpSync(join(deploy, name), join(folder, name))
    cpSync(join(import.meta.dirname, 'nag.mjs'), join(folder, 'nag.mjs'))
    symlinkSync(modules, join(folder, 'node_modules'))
    const figures = checkPresets(folder)
    return { ...figures, left: await checkScripts(folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Template {
  Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }>
}

function checkPresets(folder: string): Omit<TemplateFigures, 'left'> {
  const lint = join(pythonPackages(`cfn-lint-${versions.lint}`, [`cfn-lint==${versions.lint}`]), 'cfn-lint')
  const sum = { presets: 0, resources: 0, lint_errors: 0, high_findings: 0, suppressed: 0 }
  for (const preset of presets) {
    const config = configure(folder, preset)
    run(process.execPath, ['app.ts', config, '.'], folder)
    for (const name of ['image', 'cluster']) {
      const file = join(folder, `${name}.template.json`)
      const template = JSON.parse(readFileSync(file, 'utf8')) as Template
      sum.resources += Object.keys(template.Resources).length
      for (const found of broadStatements(template)) assert.fail(`${preset}: ${name}: ${found}`)
      const stored = JSON.stringify(template).matchAll(/"(?:Ebs|SSESpecification)":\{([^}]*)\}/g)
      for (const [, terms] of stored)
        assert.match(terms!, /"(Encrypted|SSEEnabled)":true/, `${preset}: ${name}`)
      // Zones are chosen by the user; the code of functions is a folder until it is packaged.
      const args = ['--ignore-checks', 'W3010', 'W3002', 'E3003', '--regions', 'eu-central-1', '--', file]
      const { status, stdout } = spawnSync(lint, args, { encoding: 'utf8' })
      assert.equal(status, 0, `${preset}: ${name}: ${stdout}`)
    }
    const found = JSON.parse(
      run(process.execPath, ['nag.mjs', config], folder).trim().split('\n').at(-1)!,
    ) as {
      errors: string[]
      suppressed: number
    }
    assert.deepEqual(found.errors, [], preset)
    sum.suppressed += found.suppressed
    sum.presets++
  }
  return sum
}

/** Statements that allow all actions of a service, or of all, and actions with effects on all resources. */
function* broadStatements({ Resources }: Template): Generator<string> {
  for (const [id, { Type, Properties }] of Object.entries(Resources)) {
    if (Type !== 'AWS::IAM::Policy' && Type !== 'AWS::IAM::Role') continue
    const { PolicyDocument } = (Properties ?? {}) as { PolicyDocument?: { Statement: Statement[] } }
    for (const { Action, Resource } of PolicyDocument?.Statement ?? []) {
      const actions = [Action].flat()
      if (actions.some((action) => action.includes('*'))) yield `${id}: ${actions}: names no single action`
      const isAll = [Resource].flat().includes('*')
      const narrow = actions.filter((action) => isAll && !withoutResources.has(action))
      if (narrow.length > 0) yield `${id}: ${narrow}: could name its resources`
    }
  }
}

interface Statement {
  Action: string | string[]
  Resource: unknown
}

/** AWS checks no resources for these. */
const withoutResources: ReadonlySet<string> = new Set([
  ...['cloudwatch:GetMetricData', 'ec2:DescribeInstances', 'ssm:UpdateInstanceInformation'],
  ...['ssmmessages:CreateControlChannel', 'ssmmessages:CreateDataChannel'],
  ...['ssmmessages:OpenControlChannel', 'ssmmessages:OpenDataChannel'],
])

/** Both scripts, twice each: the second run of each finds everything as it must be. */
async function checkScripts(folder: string): Promise<number> {
  const cli = pythonPackages(`awscli-${versions.cli}`, [`awscli==${versions.cli}`])
  const moto = pythonPackages(`moto-${versions.moto}-server`, [`moto[server]==${versions.moto}`])
  const stand = [join(moto, 'python'), join(import.meta.dirname, '..', '..', 'stands', 'moto-server.py')]
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [command, ...args] = [...deathSignal(), ...stand, '-H', '127.0.0.1', '-p', `${port}`]
  const server = spawn(command!, args, {
    stdio: 'ignore',
    env: { ...process.env, MOTO_EC2_LOAD_DEFAULT_AMIS: 'true' },
  })
  try {
    await listening(url)
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${cli}:${process.env.PATH}`,
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: 'stand',
      AWS_SECRET_ACCESS_KEY: 'stand',
      AWS_DEFAULT_REGION: 'eu-central-1',
      AWS_REGION: 'eu-central-1',
      PLIMSOLL_POLL_SECONDS: '0',
    }
    return await setUpAndTearDown(folder, env)
  } finally {
    await ended(server)
  }
}

async function setUpAndTearDown(folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  const aws = (...args: string[]) => run('aws', [...args, '--output', 'text'], folder, env).trim()
  const image = aws('ec2', 'describe-images', '--owners', 'amazon', '--query', 'Images[0].ImageId')
  const builder = await startImageBuilder(image)
  const all = { ...env, AWS_ENDPOINT_URL_IMAGEBUILDER: builder.url }
  try {
    const config = configure(folder, 'cnv')
    const status = (stack: string) =>
      aws('cloudformation', 'describe-stacks', '--stack-name', stack, '--query', 'Stacks[0].StackStatus')
    for (let i = 0; i < 2; i++) {
      await runLong('./setup.sh', [config], folder, all)
      for (const stack of ['stand', 'stand-image']) assert.match(status(stack), /^(CREATE|UPDATE)_COMPLETE$/)
    }
    assert.equal(builder.builds.length, 1, 'the second setup builds no second image')
    launchWorker(aws, image)
    for (let i = 0; i < 2; i++) await runLong('./teardown.sh', [config], folder, all)
    assert.equal(builder.builds.length, 0)
    const deleted = aws('cloudformation', 'list-stacks', '--query', 'StackSummaries[].StackStatus')
    assert.deepEqual(new Set(deleted.split(/\s+/)), new Set(['DELETE_COMPLETE']))
    const running = ['Name=instance-state-name,Values=pending,running,stopping,stopped']
    const left = [
      aws(
        'ec2',
        'describe-instances',
        '--filters',
        ...running,
        '--query',
        'Reservations[].Instances[].InstanceId',
      ),
      aws('dynamodb', 'list-tables', '--query', 'TableNames'),
      aws('lambda', 'list-functions', '--query', 'Functions[].FunctionName'),
      aws('s3api', 'list-buckets', '--query', 'Buckets[].Name'),
    ].flatMap((text) => text.split(/\s+/).filter((word) => word !== '' && word !== 'None'))
    assert.deepEqual(left, [])
    for (const log of ['setup.log', 'teardown.log'])
      assert.ok(readFileSync(join(folder, 'logs', log), 'utf8').length > 0)
    return left.length
  } finally {
    await builder.close()
  }
}

/** As the balancer does; no stack knows of it. */
function launchWorker(aws: (...args: string[]) => string, image: string): void {
  const tags = 'ResourceType=instance,Tags=[{Key=plimsoll:cluster,Value=stand}]'
  aws(
    'ec2',
    'run-instances',
    '--image-id',
    image,
    '--instance-type',
    't3.micro',
    '--tag-specifications',
    tags,
  )
}

/** The package is one without code: no function runs here. */
function configure(folder: string, preset: string): string {
  const source = join(folder, 'package')
  mkdirSync(source, { recursive: true })
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'plimsoll', version: '0.0.0' }))
  const zones = ['eu-central-1a', 'eu-central-1b']
  const config = { name: 'stand', preset, region: 'eu-central-1', zones, package: source }
  writeFileSync(join(folder, 'cluster.json'), JSON.stringify(config))
  return 'cluster.json'
}

function run(command: string, args: string[], cwd: string, env = process.env): string {
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Without blocking this process, which serves what the script calls. */
function runLong(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => output.push(data))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${command}: exited with code ${code}:\n${Buffer.concat(output)}`))
    })
  })
}

/** Resolves when the server answers. */
async function listening(url: string): Promise<void> {
  const until = performance.now() + 120_000
  while (performance.now() < until) {
    if (await fetch(url).catch(() => undefined)) return
    await delay(200)
  }
  throw new Error(`${url}: nothing listens`)
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

if (import.meta.main) console.log(JSON.stringify(await checkTemplates()))
