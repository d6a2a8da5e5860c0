/** Old behaviours towards long parameters, each with the test that must fail when it returns. */

import { type Planted, planted } from './plant.ts'

export const parameterBugs: Readonly<Record<string, readonly Planted[]>> = {
  'large JSON': [
    planted(
      'parameters that are limited only by the length of bodies',
      ['src/front/request/workloads.ts', 'mostParamsBytes(workload, limits)', 'maxBytes'],
      [
        'test/front-params.test.ts',
        'parameters above 64 KiB are a 413 that names the limit and how to raise it',
      ],
    ),
    planted(
      'an error that lists all problems',
      ['src/front/request/params.ts', 'issues.slice(0, mostErrors)', 'issues'],
      ['src/front/request/params.test.ts', 'an error lists the first ten problems and counts the rest'],
    ),
    planted(
      'long parameters that are checked on the event loop',
      ['src/front/request/params-reader.ts', 'bytes <= shortBytes', 'bytes < Infinity'],
      [
        'src/front/request/params-reader.test.ts',
        'short parameters are checked at once, long ones in a thread',
      ],
    ),
    planted(
      'long parameters of all clients in one line',
      [
        'src/front/request/params-reader.ts',
        'this.#waiting.add(asked.clientName, {',
        "this.#waiting.add('', {",
      ],
      [
        'src/front/request/params-reader.test.ts',
        'a client with many long parameters neither delays those of others nor takes all places',
      ],
    ),
    planted(
      'attempts that serialize parameters again',
      ['src/front/request/params.ts', 'if (json.length > shortBytes) return', 'if (json.length < 0) return'],
      ['src/front/request/params.test.ts', 'long JSON is not copied: its text continues in the body'],
    ),
  ],
}
