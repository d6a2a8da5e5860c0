import { test } from 'node:test'
import { keepersKeepPromises } from './keeper/seeds.ts'

test('keepers keep their promises in the second part of the seeds', () => keepersKeepPromises(1))
