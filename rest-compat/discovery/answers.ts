import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { limits } from '../../schema/limits.ts';
import { networkWords } from '../../schema/network.ts';
import { ServiceStatsNoun } from '../../schema/result-proof.ts';
import { wordList } from '../../schema/words.ts';
import { BrokenBookNames, JsonMembers, nameComponents } from '../answer-shapes.ts';

const HeadName = z.object({
  tree_size: z.int().describe('Number of leaves (receipts) that the log has at this tree head.'),
  root_hash: z.string().describe('Root hash of the log with these leaves: SHA-256, in hex.'),
});

export const HealthAnswer = z.object({
  status: z.enum(['ok', 'degraded']).describe('`ok`, or `degraded` if `away` is not empty.'),
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
      `Dependencies that are unavailable now. \`log\`: the receipt log is halted or damaged, or commits cannot be saved in DATA_DIR. \`…_subgraph\`: a subgraph in a process of its own does not answer, and its endpoints are closed. \`clock\`: the clock of this process is more than ${limits.clock_off_ms_max / 1_000} seconds off. \`…_settling\`: payments on that network are refused before they are sent; \`settling\` says why. \`hubs\`: every hub for text, for images, for audio or for embeddings has failed recently, and none has answered since. \`books\`: the audit has closed a book; only calls of that book are refused. Paid calls do not need these four: \`jobs\`, no process does periodic work, such as retries of webhooks and checks of final blocks; \`live\`, this process is not notified of what other processes write, so live rows arrive late; \`anchor\`, no newer tree head can be anchored on Base, and \`trouble\` of \`anchor\` says why; \`witness\`, a witness reports that the log has forked or gone back.`,
    ),
  profile: z
    .enum(['development', 'production'])
    .describe('`production`, or `development` if stand-ins replace real dependencies.'),
  stand_ins: z
    .array(z.string())
    .describe(
      'Names of the environment variables that are not set and that a stand-in or a generated secret replaces. Empty in production.',
    ),
  settling: z
    .array(
      z.object({
        network: z.enum(wordList(networkWords)).describe('Network of the payments.'),
        trouble: z
          .enum(['unfunded', 'fee_too_high', 'price_unknown', 'facilitator_unavailable'])
          .nullable()
          .describe(
            'Why payments on this network are not sent now, until one is sent again. Null if no such reason is known. `unfunded`: no settling key has gas; `fee_too_high`: network fees are above the configured bound; `price_unknown`: the price needed to judge the fee is not known; `facilitator_unavailable`: the facilitator does not accept payments.',
          ),
      }),
    )
    .describe('Networks on which payments are accepted, each with the reason if payments on it are not being sent.'),
  log: HeadName.nullable().describe('Tree head of the receipt log. Null while the database is unavailable.'),
  log_halt: z
    .object({
      known: HeadName.describe('Newest tree head that the service had signed.'),
      found: HeadName.describe('Tree head that the database has.'),
      books: BrokenBookNames.optional(),
      at: z.string().describe('Time the log was halted (RFC 3339, UTC).'),
    })
    .optional()
    .describe(
      'Present while the log is halted: nothing is appended, and no payment is accepted. Either `found` does not extend `known`, or both are the same and `books` lists books that have lost events.',
    ),
  last_anchored_root: z
    .string()
    .nullable()
    .describe(
      'Root hash, in hex, of the newest tree head that is anchored on Base, of those since the last declared break of the log. Null if there is none, if this process has not read Base yet, or if this service does not anchor the log.',
    ),
  last_anchored_tx: z
    .string()
    .nullable()
    .describe('Hash of the transaction that anchored `last_anchored_root`. Null if that is null.'),
  anchor: z
    .object({
      tree_size: z
        .int()
        .nullable()
        .describe('Number of leaves of the newest anchored tree head. Null if `last_anchored_root` is null.'),
      block_number: z
        .int()
        .nullable()
        .describe('Number of the block on Base that has the anchor. Null if `last_anchored_root` is null.'),
      at: z
        .string()
        .nullable()
        .describe(
          'Time of the block that has the anchor (RFC 3339, UTC). Null if `last_anchored_root` is null, or if the block could not be read.',
        ),
      contract: z
        .string()
        .describe('Address on Base of the contract that emits Anchored(sender, log_id, tree_size, root_hash).'),
      sender: z.string().describe('Address on Base that sends the anchors: the first indexed argument of the event.'),
      trouble: z
        .enum(['chain_unavailable', 'unfunded', 'fee_too_high', 'not_mined', 'void'])
        .nullable()
        .describe(
          'Why no newer tree head is anchored. `chain_unavailable`: Base cannot be read; `unfunded`: the address of the key has too little ether for gas; `fee_too_high`: the fee exceeds the rest of the daily limit; `not_mined`: the transaction is not included in a block; `void`: it had no effect. Null if no problem is known.',
        ),
    })
    .nullable()
    .describe(
      'Newest anchor on Base, where to find it, and in `trouble` why no newer tree head is anchored. Null if this service does not anchor the log.',
    ),
  witnesses: z
    .array(
      z.object({
        witness: z.string().describe('Name of the witness in its cosignatures.'),
        tree_size: z
          .int()
          .nullable()
          .describe(
            'Number of leaves of the newest tree head that the witness has cosigned. 0 if it has cosigned none; null while the database is unavailable.',
          ),
        at: z
          .string()
          .nullable()
          .describe(
            'Time of the newest cosignature (RFC 3339, UTC). Null if there is none, and while the database is unavailable.',
          ),
        trouble: z
          .enum(['refused', 'ahead', 'lied', 'unknown_log', 'away'])
          .nullable()
          .describe(
            'Why the witness cosigns no newer tree head. `refused`: it reports a fork; `ahead`: it has cosigned more leaves than the log has; `lied`: its signature is invalid; `unknown_log`: it does not know the log or its key; `away`: it does not answer as it should. Null if no problem is known, and while the database is unavailable.',
          ),
      }),
    )
    .describe(
      'Witnesses that cosign the checkpoints of the log (C2SP tlog-witness), each with its newest cosignature and its trouble, if any.',
    ),
  free_tier: z.boolean().describe('Whether the service has a free tier. Always false.'),
});

export const LivenessAnswer = z.object({ status: z.literal('ok') });

export const ReadyAnswer = LivenessAnswer.extend({
  without: z
    .array(z.string())
    .describe(
      'What is limited: networks on which payments are refused now, and subgraphs whose process does not answer, so that their endpoints are closed. `…_settling`, `hubs` and `live` are as in `/health`. Empty if nothing is limited.',
    ),
});

export const ManifestAnswer = z.object({
  x402Version: z.literal(2),
  resources: z
    .array(
      z.object({
        resource: z
          .string()
          .describe('URL to which requests are sent. A part in braces is a path parameter, to be replaced.'),
        type: z.literal('http'),
        method: z.string().describe('HTTP method of the endpoint.'),
        name: z
          .string()
          .describe(
            'Name of the endpoint: its operationId in OpenAPI. Its MCP tool, if any, has the same name, except `submit_inference` of `request_task`.',
          ),
        description: z.string().describe('What the endpoint does, in a sentence.'),
        price_atomic: z
          .string()
          .nullable()
          .describe(
            'Price in atomic USDC (6 decimals). Null if it depends on the request: the 402 response states it.',
          ),
        networks: z
          .array(z.string())
          .describe(
            'Names of the networks on which the price can be paid: `base` or `solana`. `accepts` names them by CAIP-2 id.',
          ),
        accepts: z.array(JsonMembers).describe('Payment requirements of x402, one for each network.'),
        input: JsonMembers.describe('JSON Schema of the request body.'),
        output: JsonMembers.describe('JSON Schema of the response body.'),
        extensions: z
          .object({
            bazaar: JsonMembers.describe(
              'How to call the endpoint: an example, and the schemas of request and response (`bazaar` extension).',
            ),
          })
          .describe('Extensions of x402 version 2, by name.'),
      }),
    )
    .describe('Paid endpoints, each with its price, networks and schemas.'),
});

const RevokedKey = z.object({
  kid: z.string().describe('Id of the key (`kid` of its signatures).'),
  alg: z.string().describe('Signature algorithm (JOSE), such as `ES256`.'),
  seq: z.int().describe('Number of the version of the issuer history that added the key, from 1.'),
  status: z
    .enum(['retired', 'revoked'])
    .describe(
      '`retired`: its earlier signatures stay valid. `revoked`: only receipts within the tree head in `log` stay valid.',
    ),
  activated_at: z.string().describe('Time from which the key signed (RFC 3339, UTC).'),
  retired_at: z
    .string()
    .describe('Time another key replaced this key (RFC 3339, UTC). This key may have signed for one hour more.'),
  revoked_at: z
    .string()
    .optional()
    .describe('Time the key was declared compromised (RFC 3339, UTC). Absent if the key is retired.'),
  since: z
    .string()
    .optional()
    .describe('Time from which others may have known the private key (RFC 3339, UTC). Absent if the key is retired.'),
  reason: z.string().optional().describe('Reason for the revocation, in a sentence. Absent if the key is retired.'),
  log: HeadName.optional().describe(
    'Tree head at `since`. Receipts of this key with a leaf index below `tree_size` stay valid; all others are invalid. Absent if the key is retired.',
  ),
  previous_hash: z
    .string()
    .optional()
    .describe(
      'SHA-256 of the previous revocation, in hex; the hash in `statement` covers it. Absent for the first revocation, and if the key is retired.',
    ),
  statement: z
    .string()
    .optional()
    .describe('JWS (ES256) of an active key over the hash of this revocation. Absent if the key is retired.'),
});

const RevokedSession = z.object({
  seq: z.int().describe('Number of the revocation, from 1 without gaps, in the order in which they took effect.'),
  delegation_hash: z.string().describe('Id of the session: the EIP-712 digest of its grant (0x and 64 hex digits).'),
  payer: z
    .string()
    .describe(
      'Wallet that signed the revocation: the payer of the session or of a session above it. Without a signature: the payer of the session.',
    ),
  at: z.int().describe('Time that was signed, in Unix seconds. Without a signature: time of the revocation.'),
  revoked_at: z.string().describe('Time the revocation took effect (RFC 3339, UTC).'),
  signature: z
    .string()
    .nullable()
    .describe(
      'Signature of `payer` over RevokeSession(delegationHash, at), 0x and hex digits. Null if the service ended the session with all others, because its operator accepted a break of the log (/.well-known/log-breaks.json).',
    ),
});

export const RevocationsAnswer = z.object({
  schema: z.literal(documents.revocations),
  issuer_history: z
    .object({
      hash: z.string().describe('SHA-256 of the newest snapshot of the issuer history, in hex.'),
      version: z.int().describe('Number of the newest snapshot of the issuer history, from 1.'),
      seq: z.int().describe('The same number as `version`.'),
    })
    .describe('Newest snapshot of the issuer history. `seq` of each key in `keys` is a version of that history.'),
  keys: z.array(RevokedKey).describe('Keys of the issuer that no longer sign, newest first.'),
  sessions: z
    .array(RevokedSession)
    .describe(
      'Revoked sessions, newest first. A revocation also ends all sessions below: GET /v1/sessions/{delegation_hash} shows it.',
    ),
  next_cursor: z.string().nullable().describe('`cursor` of the next page of `sessions`. Null on the last page.'),
});

nameComponents({
  Health: HealthAnswer,
  Liveness: LivenessAnswer,
  Readiness: ReadyAnswer,
  PaidRoutes: ManifestAnswer,
  Revocations: RevocationsAnswer,
  Stats: ServiceStatsNoun,
});
