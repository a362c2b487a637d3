import { z } from 'zod';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

const HeadName = z.object({ tree_size: z.int(), root_hash: z.string() });

export const HealthAnswer = z.object({
  status: z.enum(['ok', 'degraded']),
  away: z
    .array(z.enum(['database', 'base', 'solana', 'facilitator', 'log', 'books', 'anchor']))
    .describe(
      'What a paid call needs and lacks; `anchor` none needs: the log is not anchored on Base, which is told here alone.',
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
      price_atomic: z.string(),
      networks: z.array(z.string()),
      accepts: z.array(JsonMembers),
      input: JsonMembers.describe('JSON Schema of the body.'),
      output: JsonMembers.describe('JSON Schema of the answer.'),
    }),
  ),
});

nameComponents({ Health: HealthAnswer, Liveness: LivenessAnswer, Readiness: ReadyAnswer, PaidRoutes: ManifestAnswer });
