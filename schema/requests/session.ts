import { z } from 'zod';
import { sessionLimits } from '../limits.ts';
import { actActions } from '../session/act.ts';
import { Hash32, SignatureHex } from '../session/grant.ts';
import { storedText } from './text.ts';

/* The bodies of /v1/sessions/{delegation_hash}/… */

export const SessionChallengeRequest = z.strictObject({
  ttl_seconds: z
    .int()
    .min(sessionLimits.challenge_seconds_min)
    .max(sessionLimits.challenge_seconds_max)
    .default(sessionLimits.challenge_seconds_max)
    .describe('For how long the nonce serves.'),
});
export type SessionChallengeRequest = z.output<typeof SessionChallengeRequest>;

export const RevocationRequest = z.strictObject({
  at: z.int().min(0).describe('The Unix seconds that were signed: now.'),
  signature: SignatureHex.describe('Over RevokeSession(delegationHash, at), by its payer or one of a session over it.'),
});
export type RevocationRequest = z.output<typeof RevocationRequest>;

/** Which page of the sessions that were revoked: it begins below the number of the last of the page before. */
export const RevocationsPageMembers = {
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(
      `Of \`sessions\`: 1 to ${sessionLimits.page_revocations_max}, which it is where it is left out; more is clamped.`,
    ),
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, { error: 'is not a `next_cursor` of this endpoint' })
    .optional()
    .describe('`next_cursor` of the page before.'),
} as const;

export const RevocationsPage = z.object(RevocationsPageMembers);
export type RevocationsPage = z.infer<typeof RevocationsPage>;

/** Which page of a tree of sessions: by the depth and the name of the last of the page before. */
export const SessionTreePageMembers = z.object({
  limit: z.int().min(1).optional(),
  cursor: z
    .string()
    .regex(/^[1-8]\.0x[0-9a-f]{64}$/, { error: 'is no `nextCursor` of ours' })
    .optional(),
});
export type SessionTreePageMembers = z.infer<typeof SessionTreePageMembers>;

/** Which page of the sessions that a wallet has granted itself: by when the last of the page before was bound, and its name. */
const RootsCursor = z
  .string()
  .regex(/^[1-9]\d{0,17}\.0x[0-9a-f]{64}$/, { error: 'is not a `next_cursor` of this endpoint' });
const RootsLimit = z.int().min(1);
export const RootSessionsMembers = {
  limit: RootsLimit.optional().describe(
    `1 to ${sessionLimits.listed_sessions_max}; default ${sessionLimits.listed_sessions_default}; more is clamped.`,
  ),
  cursor: RootsCursor.optional().describe('`next_cursor` of the page before.'),
} as const;
export const RootSessionsPage = z.object(RootSessionsMembers);
export type RootSessionsMembers = z.infer<typeof RootSessionsPage>;

const Payload = z.strictObject({
  limit: z.int().min(1).max(sessionLimits.act_rows_max).optional().describe('Rows that are shown; 50 unless told.'),
  before: z
    .string()
    .regex(/^task_[0-9a-z]{26}$/)
    .optional()
    .describe('Only rows older than this task id: pass `next` of the previous response.'),
});

export const ActRequest = z
  .strictObject({
    action: z.enum(actActions),
    resource: storedText
      .min(1)
      .max(128)
      .describe(
        'What the act is about: `receipt/<task_id>`; for `read_private` also `book` or `book/export`, what was bought under this session, or `session`, ' +
          'its limits and what is spent under it. ' +
          'For `approve` `call/<request_hash>`: a refused call of a session below this one.',
      ),
    signature: SignatureHex.describe("Over SessionAct, by the session's key."),
    challenge_id: z.string().max(sessionLimits.challenge_id_chars_max).optional().describe('Or nonce and deadline.'),
    nonce: Hash32.optional().describe('Any 32 bytes, once.'),
    deadline: z.int().min(0).optional().describe('Unix seconds; now < deadline <= now + 300.'),
    target_agent: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .default(0)
      .describe('Of a handoff: which agent it is for.'),
    payload: Payload.nullable().default(null).describe('Of read_private.'),
    payload_hash: Hash32.optional().describe('keccak256 of the canonical JSON of `payload`, zeros without one.'),
  })
  .refine(
    ({ challenge_id, nonce, deadline }) =>
      challenge_id === undefined
        ? nonce !== undefined && deadline !== undefined
        : nonce === undefined && deadline === undefined,
    { error: 'wants challenge_id, or nonce and deadline', path: ['challenge_id'] },
  );
export type ActRequest = z.output<typeof ActRequest>;
