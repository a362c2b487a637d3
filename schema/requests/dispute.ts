import { z } from 'zod';
import { disputeLimits } from '../dispute/limits.ts';
import { claimTypes } from '../dispute/reasons.ts';
import { limits } from '../limits.ts';
import { PageLimit } from './book.ts';
import { freeObject } from './free-object.ts';
import { storedText } from './parse.ts';
import { PossessionMembers } from './possession.ts';

/* What is asked of /v1/agents/{agent_id}/book/dispute. */

const { evidence_bytes_max: bytes, evidence_depth_max: depth, evidence_members_max: members } = disputeLimits;

/** What of a dispute is the same by REST and on the graph. */
export const DisputeMembers = z.strictObject({
  task_id: storedText.min(1).max(limits.row_name_chars_max).describe('Of the row that is disputed.'),
  claim_type: z.enum(claimTypes),
  evidence: freeObject({ bytes, depth, members })
    .optional()
    .meta({ type: 'object', additionalProperties: true })
    .describe(
      'Kept and signed as it stands; read of it are: for `wrong_model` `model` (as requested), and to prove it `request` ' +
        '{field, args}, and `delegation_hash` of a call under a session, with `salt`; for `double_charge` `task_id` (of the other row), `request`, `salt` and `other_salt`. ' +
        'The salts came in x-svc-request-salt. Of a chat `field` is Mutation.createChatCompletion (streamed ' +
        'Subscription.chatCompletionStream), and `args` what was sent, with `model` svc/auto, `stream` false, and `max_tokens`, ' +
        '`temperature`, `intent_id` and `attempt_index` null where they were left out.',
    ),
});
export type DisputeMembers = z.output<typeof DisputeMembers>;

/** Body of POST /v1/agents/{agent_id}/book/dispute; possession in it was looked at before. */
export const DisputeRequest = PossessionMembers.extend(DisputeMembers.shape).strict();

/** Which disputes of a book. */
export const DisputePageMembers = {
  limit: PageLimit.optional(),
  before: storedText
    .min(1)
    .max(limits.row_name_chars_max)
    .optional()
    .describe('Those that were filed before the one of this dispute_id: the next page has that of the last one.'),
} as const;
