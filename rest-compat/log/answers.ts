import { z } from 'zod';
import { InclusionProofNoun } from '../../schema/result-proof.ts';
import { nameComponents } from '../answer-shapes.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

export const ConsistencyAnswer = z.array(Hash).describe('As RFC 9162 §2.1.4 orders them.');

nameComponents({ InclusionProof: InclusionProofNoun, ConsistencyProof: ConsistencyAnswer });
