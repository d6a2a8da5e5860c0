import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rulesIn } from './rule-numbers.ts'

test('a name counts for each number in it', () => {
  const names = {
    'CP-1 one number': ['CP-1'],
    'TI-6 TI-7 with few requests': ['TI-6', 'TI-7'],
    'CP-9 to CP-11 in a whole run': ['CP-9', 'CP-10', 'CP-11'],
    'CN-16 CP-1 a form': ['CN-16', 'CP-1'],
    'CP-7 a minute; CP-10 it boots in 2.5 min': ['CP-7', 'CP-10'],
    'HC-8 its limit, and HC-8 again': ['HC-8'],
    'EW-7 to grow': ['EW-7'],
    'live: CP-1': ['CP-1'],
    'UTF-8 text': [],
  }
  for (const [name, rules] of Object.entries(names)) assert.deepEqual(rulesIn(name), rules, name)
})
