import { z } from 'zod';
import { nameComponents } from '../answer-shapes.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

export const InclusionAnswer = z.object({
  task_id: z.string(),
  leaf_index: z.int(),
  leaf_hash: Hash.describe('SHA-256 of 0x00 and the canonical payload.'),
  tree_size: z.int(),
  root_hash: Hash,
  path: z.array(Hash).describe('From the leaf up.'),
});

export const ConsistencyAnswer = z.array(Hash).describe('As RFC 9162 §2.1.4 orders them.');

nameComponents({ InclusionProof: InclusionAnswer, ConsistencyProof: ConsistencyAnswer });
