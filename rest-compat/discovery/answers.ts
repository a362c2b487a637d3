import { z } from 'zod';
import { COUNT_RANGE } from '../../schema/count-range.ts';
import { documents } from '../../schema/documents.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

const HeadName = z.object({ tree_size: z.int(), root_hash: z.string() });

export const HealthAnswer = z.object({
  status: z.enum(['ok', 'degraded']),
  away: z
    .array(z.enum(['database', 'base', 'solana', 'facilitator', 'log', 'books', 'anchor', 'witness']))
    .describe(
      'What a paid call needs and lacks; two none needs: `anchor`, the log is not anchored on Base, and `witness`, one says that it has forked or gone back.',
    ),
  profile: z.enum(['development', 'production']),
  stand_ins: z.array(z.string()).describe('What is stood in for by something of the development profile.'),
  log: z
    .object({ tree_size: z.int(), root_hash: z.string() })
    .nullable()
    .describe('Head of the receipt log; null while the database is away.'),
  log_halt: z
    .object({ known: HeadName, found: HeadName, at: z.string() })
    .optional()
    .describe('Where the log does not extend what was signed: nothing is appended, and no payment is taken.'),
  last_anchored_root: z.string().nullable().describe('Root of the newest head of the log that stands on Base.'),
  last_anchored_tx: z.string().nullable().describe('The transaction on Base that says so.'),
  anchor: z
    .object({
      tree_size: z.int().nullable().describe('Of the newest head that stands on Base.'),
      block_number: z.int().nullable(),
      at: z.string().nullable().describe('The time of its block, ISO 8601.'),
      contract: z.string().describe('It emits Anchored(sender, log_id, tree_size, root_hash).'),
      sender: z.string().describe('Whose events they are, by the first indexed topic.'),
      trouble: z
        .enum(['chain_unavailable', 'unfunded', 'fee_too_high', 'not_mined', 'void'])
        .nullable()
        .describe('Why nothing newer is anchored; null where all is well.'),
    })
    .nullable()
    .describe('Null where nothing is anchored.'),
  witnesses: z
    .array(
      z.object({
        witness: z.string().describe('By which name it signs.'),
        tree_size: z.int().nullable().describe('Of the newest head that it has cosigned.'),
        at: z.string().nullable().describe('When, ISO 8601.'),
        trouble: z
          .enum(['refused', 'ahead', 'lied', 'unknown_log', 'away'])
          .nullable()
          .describe('Why it cosigns nothing newer; null where all is well.'),
      }),
    )
    .describe('Who cosigns the checkpoints of the log (C2SP tlog-witness).'),
  free_tier: z.boolean(),
});

export const LivenessAnswer = z.object({ status: z.literal('ok') });

export const ReadyAnswer = LivenessAnswer.extend({
  without: z.array(z.string()).describe('Networks on which payments are refused for now; empty when all is well.'),
});

export const ManifestAnswer = z.object({
  x402Version: z.literal(2),
  resources: z.array(
    z.object({
      resource: z.string(),
      type: z.literal('http'),
      method: z.string(),
      name: z.string(),
      description: z.string(),
      price_atomic: z.string().nullable().describe('Null where it depends on what is asked for: the 402 says it.'),
      networks: z.array(z.string()),
      accepts: z.array(JsonMembers),
      input: JsonMembers.describe('JSON Schema of the body.'),
      output: JsonMembers.describe('JSON Schema of the answer.'),
      extensions: z
        .object({ bazaar: JsonMembers.describe('How it is called, with an example; `schema` has both schemas again.') })
        .describe('Of x402 v2.'),
    }),
  ),
});

const RevokedKey = z.object({
  kid: z.string(),
  alg: z.string(),
  seq: z.int().describe('The version of the issuer history that brought it.'),
  status: z
    .enum(['retired', 'revoked'])
    .describe('`retired`: what it signed until then goes on verifying. `revoked`: what `log` held, and nothing else.'),
  activated_at: z.string(),
  retired_at: z.string().describe('When another took its place; it may have signed for an hour more.'),
  revoked_at: z.string().optional().describe('When it was said that others may hold it.'),
  since: z.string().optional().describe('From when on they may.'),
  reason: z.string().optional(),
  log: z
    .object({ tree_size: z.int(), root_hash: z.string() })
    .optional()
    .describe('The log by `since`: receipts before leaf tree_size verify for ever, others of this key never.'),
  statement: z.string().optional().describe('ES256 JWS of a key in force over the hash of what is said here.'),
});

const RevokedSession = z.object({
  seq: z.int().describe('Its place among all of them: from 1, without a gap, in the order in which they came to hold.'),
  delegation_hash: z.string().describe('Of the AuthorizeSession grant, 0x.'),
  payer: z.string().describe('Who has signed it: the payer of the session, or of one over it.'),
  at: z.int().describe('The time that was signed, Unix seconds.'),
  revoked_at: z.string(),
  signature: z.string().describe('The payer’s, over RevokeSession(delegationHash, at).'),
});

export const RevocationsAnswer = z.object({
  schema: z.literal(documents.revocations),
  issuer_history: z.object({ hash: z.string(), version: z.int(), seq: z.int() }).describe('Of which this is said.'),
  keys: z.array(RevokedKey).describe('The newest first; the current keys are in none of them.'),
  sessions: z
    .array(RevokedSession)
    .describe('The newest first, page by page. Each ends all below it: GET /v1/sessions/{delegation_hash} says which.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page of `sessions`; null where this is the last.'),
});

export const StatsAnswer = z.object({
  receipts: z.string().regex(COUNT_RANGE).describe('The range in which their number lies: `0`, `1-9`, `10-99` …'),
});

nameComponents({
  Health: HealthAnswer,
  Liveness: LivenessAnswer,
  Readiness: ReadyAnswer,
  PaidRoutes: ManifestAnswer,
  Revocations: RevocationsAnswer,
  Stats: StatsAnswer,
});
