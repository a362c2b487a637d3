import { z } from 'zod';
import { INT_MAX, sessionLimits } from '../limits.ts';
import { actActions } from '../session/act.ts';
import { Hash32, SignatureHex } from '../session/grant.ts';
import { pageLimit } from './page-limit.ts';
import { storedText } from './text.ts';

/* Requests of /v1/sessions/{delegation_hash} and the endpoints below it. */

/** A session in a path. */
export const SessionPath = z.object({
  delegation_hash: Hash32.describe('Id of the session: the EIP-712 digest of its grant (0x and 64 hex digits).'),
});

export const SessionChallengeRequest = z.strictObject({
  ttl_seconds: z
    .int()
    .min(sessionLimits.challenge_seconds_min)
    .max(sessionLimits.challenge_seconds_max)
    .optional()
    .default(sessionLimits.challenge_seconds_max)
    .describe(
      `Seconds for which the nonce is valid: ${sessionLimits.challenge_seconds_min} to ${sessionLimits.challenge_seconds_max}. Default: ${sessionLimits.challenge_seconds_max}.`,
    ),
});
export type SessionChallengeRequest = z.output<typeof SessionChallengeRequest>;

export const RevocationRequest = z.strictObject({
  at: z
    .int()
    .min(0)
    .describe(
      `Time of the signature in Unix seconds, as it was signed: at most ${sessionLimits.revocation_age_seconds_max} seconds ago.`,
    ),
  signature: SignatureHex.describe(
    'EIP-712 signature (0x and hex digits) over RevokeSession(delegationHash, at) by the payer of the session or of a session above it.',
  ),
});
export type RevocationRequest = z.output<typeof RevocationRequest>;

/** Page of the revoked sessions. The cursor is the number of the last entry of the previous page. */
export const RevocationsPage = z.strictObject({
  limit: pageLimit({
    of: 'revoked sessions',
    default: sessionLimits.page_revocations_max,
    max: sessionLimits.page_revocations_max,
  }),
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, { error: 'is not a `next_cursor` of this endpoint' })
    .optional()
    .describe('`next_cursor` of the previous page. Default: starts at the newest.'),
});
export type RevocationsPage = z.infer<typeof RevocationsPage>;

/** Page of a tree of sessions. The cursor holds the depth and id of the last entry of the previous page. */
export const SessionTreePageRequest = z.object({
  limit: pageLimit({
    of: 'sessions',
    default: sessionLimits.tree_sessions_default,
    max: sessionLimits.tree_sessions_max,
  }),
  cursor: z
    .string()
    .regex(new RegExp(`^[1-${sessionLimits.depth_max}]\\.0x[0-9a-f]{64}$`), {
      error: 'is not a `nextCursor` of this list',
    })
    .optional()
    .describe('`nextCursor` of the previous page. Default: starts at the first page.'),
});
export type SessionTreePageRequest = z.output<typeof SessionTreePageRequest>;

/** Page of the root sessions of a wallet. The cursor holds the time at which the last entry of the previous page was bound, and its id. */
export const RootSessionsPage = z.strictObject({
  limit: pageLimit({
    of: 'sessions',
    default: sessionLimits.listed_sessions_default,
    max: sessionLimits.listed_sessions_max,
  }),
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,17}\.0x[0-9a-f]{64}$/, { error: 'is not a `next_cursor` of this endpoint' })
    .optional()
    .describe('`next_cursor` of the previous page. Default: starts at the first page.'),
});
export type RootSessionsPage = z.output<typeof RootSessionsPage>;

/** Filter of the rows that a `read_private` act reads. */
export const ActPayload = z.strictObject({
  limit: pageLimit({
    of: 'rows',
    default: sessionLimits.act_rows_default,
    max: sessionLimits.act_rows_max,
    beyond: 'refused',
  }),
  before: z
    .string()
    .regex(/^task_[0-9a-z]{26}$/)
    .optional()
    .describe(
      'Returns only rows older than the row with this task id: pass `next` of the previous response. Default: starts with the newest row.',
    ),
});

export const ActRequest = z
  .strictObject({
    action: z
      .enum(actActions)
      .describe(
        '`handoff`: makes a child receipt for another agent. `read_private`: reads what `resource` names. `redeem`: closes the claim of a receipt. `approve`: lets a refused call pass once.',
      ),
    resource: storedText
      .min(1)
      .max(sessionLimits.act_resource_chars_max)
      .describe(
        'What the act is about: `receipt/<task_id>`. `read_private` also takes `book` or `book/export` (purchases under this session) and `session` ' +
          '(its limits and spending). `approve` takes only `call/<request_hash>`: a refused call of a session below this one.',
      ),
    signature: SignatureHex.describe("EIP-712 signature over SessionAct by the session's key: 0x and 130 hex digits."),
    challenge_id: z
      .string()
      .max(sessionLimits.challenge_id_chars_max)
      .optional()
      .describe(
        'Id of a challenge of this session. Send either this, or `nonce` and `deadline`; an action that `risk_tiers` of the book has in `high` requires this.',
      ),
    nonce: Hash32.optional().describe(
      'Any 32 bytes (0x and 64 hex digits) that the session has not used. Required without `challenge_id`.',
    ),
    deadline: z
      .int()
      .min(0)
      .optional()
      .describe(
        `Time until which the act is valid, in Unix seconds: now < deadline <= now + ${sessionLimits.act_seconds_max}. Required without \`challenge_id\`.`,
      ),
    target_agent: z
      .int()
      .min(0)
      .max(INT_MAX)
      .optional()
      .default(0)
      .describe(
        'Id of the agent that receives the receipt: required for a `handoff`; other actions take none. The signature covers it. Default: 0.',
      ),
    payload: ActPayload.nullable()
      .default(null)
      .describe(
        `Rows that a \`read_private\` of \`book\` or \`book/export\` reads: \`{limit, before}\`, up to ${sessionLimits.act_rows_max} rows older than the row with task id \`before\`. Default: the newest ${sessionLimits.act_rows_default}.`,
      ),
    payload_hash: Hash32.optional().describe(
      'keccak256 of the canonical JSON (RFC 8785) of `payload`, 0x and 64 hex digits; all zeros without a payload. The signature covers it; a wrong one is refused. Default: computed from `payload`.',
    ),
  })
  .refine(
    ({ challenge_id, nonce, deadline }) =>
      challenge_id === undefined
        ? nonce !== undefined && deadline !== undefined
        : nonce === undefined && deadline === undefined,
    { error: 'is required unless nonce and deadline are sent; send one or the other', path: ['challenge_id'] },
  )
  .refine(({ action, target_agent }) => action === 'handoff' || target_agent === 0, {
    error: 'is for a handoff only; omit it or send 0',
    path: ['target_agent'],
  });
export type ActRequest = z.output<typeof ActRequest>;
