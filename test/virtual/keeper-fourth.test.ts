import { test } from 'node:test'
import { keepersKeepPromises } from './keeper/seeds.ts'

test('keepers keep their promises in the fourth part of the seeds', () => keepersKeepPromises(3))
