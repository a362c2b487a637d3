import { z } from 'zod';
import { JsonMember, SafeIntMember } from '../noun.ts';

/*
 * Members that every paid answer of a model has. By REST `svc` is described member by member and says which hub
 * answered; the graph also has the receipt as a type.
 */

export const UnixSeconds = SafeIntMember.describe('Time of the answer, in Unix seconds.');

export const answeredBy = {
  model: z
    .string()
    .describe(
      'Model that the hub was asked for. `answered_model` of the receipt is the model that the hub named in its answer.',
    ),
  hub: z.string().describe('Hub that answered.'),
} as const;

export const SIGNED_RECEIPT =
  'The signed receipt: the whole public document, with verify_url, payment_ref, task_id, proof_outcome and all proofs.';

export const svcMember = { svc: JsonMember.describe(SIGNED_RECEIPT) } as const;
