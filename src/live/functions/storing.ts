/** Functions that store their measurement before they answer. Workers' measurements are stored later. */

import type { Functions } from '../../front/transports/function.ts'
import type { AttemptEnd } from '../../front/transports/transport.ts'

export function storing(
  functions: Functions,
  store: (cost: NonNullable<AttemptEnd['cost']>) => Promise<void>,
): Functions {
  return {
    ...{ id: functions.id, list: () => functions.list(), close: () => functions.close() },
    async invoke(workload, signal, use) {
      const end = await functions.invoke(workload, signal, use)
      if (end?.outcome === 'result' && end.cost) await store(end.cost)
      return end
    },
  }
}
