import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { limits } from '../../schema/limits.ts';
import { networkWords } from '../../schema/network.ts';
import { ServiceStatsNoun } from '../../schema/result-proof.ts';
import { wordList } from '../../schema/words.ts';
import { BrokenBookNames, JsonMembers, nameComponents } from '../answer-shapes.ts';

const HeadName = z.object({ tree_size: z.int(), root_hash: z.string() });

export const HealthAnswer = z.object({
  status: z.enum(['ok', 'degraded']),
  away: z
    .array(
      z.enum([
        'database',
        'base',
        'solana',
        'facilitator',
        'log',
        'clock',
        'books',
        'anchor',
        'witness',
        'receipt_subgraph',
        'book_subgraph',
        'session_subgraph',
        'board_subgraph',
        'base_settling',
        'solana_settling',
        'hubs',
        'live',
        'jobs',
      ]),
    )
    .describe(
      `What the service needs and does not have now. \`log\`: the receipt log is halted or damaged, or what is committed cannot be saved in DATA_DIR. \`…_subgraph\`: a subgraph that runs as a process of its own does not answer, and its endpoints are closed. \`clock\`: the clock of this process is more than ${limits.clock_off_ms_max / 1_000} seconds off. \`…_settling\`: payments on that network are refused before they are sent; \`settling\` says why. \`hubs\`: every hub for text, for images, for audio or for embeddings has failed recently, and none has answered since. Paid calls do not need these four: \`jobs\`, no process does the periodic work of the service, such as webhooks that are retried and checks of final blocks; \`live\`, this process does not hear what other processes write, so that live rows arrive late; \`anchor\`, the log is not anchored on Base; \`witness\`, a witness says that the log has forked or gone back.`,
    ),
  profile: z.enum(['development', 'production']),
  stand_ins: z.array(z.string()).describe('What is stood in for by something of the development profile.'),
  settling: z
    .array(
      z.object({
        network: z.enum(wordList(networkWords)),
        trouble: z
          .enum(['unfunded', 'fee_too_high', 'price_unknown', 'facilitator_unavailable'])
          .nullable()
          .describe(
            'Reason that payments on this network are not being sent. Null if the last attempt was sent, or failed for a reason of its own. `unfunded`: no settling key has gas; `fee_too_high`: network fees are above the configured bound; `price_unknown`: the price needed to judge the fee is not known; `facilitator_unavailable`: the facilitator does not accept payments.',
          ),
      }),
    )
    .describe('Networks on which payments are taken.'),
  log: z
    .object({ tree_size: z.int(), root_hash: z.string() })
    .nullable()
    .describe('Head of the receipt log; null while the database is away.'),
  log_halt: z
    .object({ known: HeadName, found: HeadName, books: BrokenBookNames.optional(), at: z.string() })
    .optional()
    .describe(
      'Present while the log is halted: nothing is appended, and no payment is taken. Either `found` does not extend `known`, or the two heads are the same and `books` lists books that have lost events.',
    ),
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
  without: z
    .array(z.string())
    .describe(
      'Networks on which payments are refused for now, and subgraphs whose endpoints are closed because their process does not answer. `…_settling`, `hubs` and `live` are as in `/health`. Empty when all is well.',
    ),
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
  previous_hash: z
    .string()
    .optional()
    .describe(
      'Hash of the revocation before this one, by which the hash in `statement` is made again. Left out in the first.',
    ),
  statement: z.string().optional().describe('ES256 JWS of a key in force over the hash of what is said here.'),
});

const RevokedSession = z.object({
  seq: z.int().describe('Its place among all of them: from 1, without a gap, in the order in which they came to hold.'),
  delegation_hash: z.string().describe('Of the AuthorizeSession grant, 0x.'),
  payer: z.string().describe('Who has signed it: the payer of the session, or of one over it.'),
  at: z.int().describe('Time that was signed, in Unix seconds. Without a signature: time of the revocation.'),
  revoked_at: z.string(),
  signature: z
    .string()
    .nullable()
    .describe(
      'Signature of the payer over RevokeSession(delegationHash, at). Null if the service ended the session with all others, because its operator accepted a break of the log (/.well-known/log-breaks.json).',
    ),
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

nameComponents({
  Health: HealthAnswer,
  Liveness: LivenessAnswer,
  Readiness: ReadyAnswer,
  PaidRoutes: ManifestAnswer,
  Revocations: RevocationsAnswer,
  Stats: ServiceStatsNoun,
});
