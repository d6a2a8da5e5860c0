/** Runs cdk-nag over the stacks; copied beside the app. Prints its errors, and the number of suppressed ones, as JSON. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import cdk from 'aws-cdk-lib'
import nag from 'cdk-nag'
import { stacks } from './app.ts'
import { readSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-nag-'))
try {
  const errors = []
  let suppressed = 0
  const logger = {
    onCompliance() {},
    onNonCompliance({ ruleId, ruleLevel, findingId, ruleInfo, resource }) {
      if (ruleLevel === 'Error') errors.push(`${ruleId} ${resource.node.path} ${findingId}: ${ruleInfo}`)
    },
    onSuppressed() {
      suppressed++
    },
    onError({ ruleId, resource, errorMessage }) {
      errors.push(`${ruleId} ${resource.node.path}: ${errorMessage}`)
    },
    onSuppressedError() {},
    onNotApplicable() {},
  }
  const { app } = stacks(readSettings(process.argv[2]), folder)
  cdk.Aspects.of(app).add(new nag.AwsSolutionsChecks({ reports: false, additionalLoggers: [logger] }))
  app.synth()
  console.log(JSON.stringify({ errors, suppressed }))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
