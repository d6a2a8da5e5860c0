/** Requests to a language model with their tokens, as in Azure's public dataset. Tokens become work by two factors. */

import { Numbers } from '../numbers.ts'
import { tableFormat } from './table.ts'

export const azureLlm = tableFormat(
  'azure-llm',
  ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'],
  ({ tokenMs: [contextMs, generatedMs] }) => {
    const atMs = new Numbers()
    const seconds = new Numbers()
    return {
      row(row) {
        const at = row.date(0)
        if (atMs.length > 0 && at < atMs.at(atMs.length - 1))
          throw row.wrong('no earlier than the line before')
        atMs.push(at)
        seconds.push((row.number(1, true) * contextMs + row.number(2, true) * generatedMs) / 1000)
      },
      end: () => ({
        dated: true,
        recorded: { kind: 'jobs', atMs: atMs.view(), seconds: seconds.view() },
        notes: [
          `Tokens were recorded, no durations: ${contextMs} ms of work for each token of context, ${generatedMs} ms for each generated one (--token-ms).`,
        ],
      }),
    }
  },
)
