/**
 * `npm run check:aws`: Plimsoll on AWS, against stands that play it. Each part runs one service; the last line sums up
 * their figures. What a part needs is installed into a cache outside the repository.
 */

import { cpuFromCloudWatch } from './aws/cloudwatch.ts'
import { dynamoTables } from './aws/dynamodb.ts'
import { ec2Fleet } from './aws/ec2-fleet.ts'
import { lambdaFunctions } from './aws/lambda.ts'
import { addFigures, noFigures, type Part, problemOf } from './aws/part.ts'
import { deployment } from './aws/templates.ts'

const parts: readonly Part[] = [ec2Fleet, cpuFromCloudWatch, lambdaFunctions, dynamoTables, deployment]

const total = noFigures()
let failed = 0
for (const { name, run } of parts) {
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
  try {
    const figures = await run((line) => console.log(`${name}: ${seconds()} s: ${line}`))
    addFigures(total, figures)
    const problem = problemOf(figures)
    if (problem !== undefined) failed++
    console.log(`${name}: ${problem ?? 'passed'} after ${seconds()} s`)
  } catch (error) {
    failed++
    console.error(`${name}: failed after ${seconds()} s: ${(error as Error).stack}`)
  }
}
console.log(`${parts.length - failed} passed, ${failed} failed`)
console.log(JSON.stringify(total))
process.exitCode = failed > 0 ? 1 : 0
