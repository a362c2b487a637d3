import { z } from 'zod';
import { arrivalStatuses, evidences } from '../../schema/evidence.ts';
import { Atomic, JsonMembers } from '../answer-shapes.ts';

const Replay = z.object({
  at: z.string(),
  first_at: z.string().optional().describe('With `count`: of the first of them; `at` is the last.'),
  count: z.int().optional().describe('Of an event that stands for several: beyond 20 in an hour, one a minute.'),
  settlement_status: z.literal('idempotent_replay'),
  replay_of: z.string(),
});

const Entry = z.object({
  task_id: z.string(),
  evidence: z.enum(evidences),
  payment: z.object({ ref: z.string().nullable(), rail: z.string().nullable(), amount: Atomic.nullable() }).optional(),
  collected_at: z.string(),
  collected: z.boolean(),
  route: z.object({ model: z.string().nullable(), hub: z.string().nullable() }).optional(),
  intent_id: z.string().optional(),
  attempt_index: z.int().optional(),
  payer_wallet: z.string().nullable(),
  replay_count: z.int(),
  replay_events: z.array(Replay).optional(),
  parent_ref: z.string().optional(),
  event: z.literal('policy_blocked').optional(),
  refusal_id: z.string().optional().describe('Of the signed refusal: GET /refusal/{refusal_id}.'),
  policy_code: z.string().optional(),
  reason: z.string().optional(),
  policy_key: z.string().optional(),
  spent_atomic: Atomic.optional(),
  cap_atomic: Atomic.optional(),
  period_start: z.string().optional(),
  recorded_by: z.string().optional(),
  arrival_status: z.enum(arrivalStatuses).optional(),
  omission_rule: z.string().optional(),
  ingress_receipt: JsonMembers.optional(),
  bucket: z.string().optional(),
  inflow_claim: JsonMembers.optional(),
  inflow_corrections: z.array(JsonMembers).optional(),
  fulfillment: JsonMembers.optional(),
});

export const BookAnswer = z.object({
  agent_id: z.int(),
  limit: z.int(),
  entries: z.array(Entry),
  intents: z.record(
    z.string(),
    z.object({
      intent_id: z.string(),
      attempts: z.array(z.unknown()),
      collected_count: z.int(),
      blocked_count: z.int(),
    }),
  ),
  totals: z.object({ count: z.int(), usdc_sum: Atomic, by_rail: JsonMembers }),
  window: z.literal('prepaid_ceiling'),
  cap: Atomic.nullable().describe('Budget Y; null is unlimited.'),
  spent: Atomic,
  remaining: Atomic.nullable(),
  allowance: z.object({
    agent_id: z.int(),
    remaining: Atomic.nullable(),
    as_of: z.string(),
    signature: z.object({ alg: z.string(), value: z.string() }),
  }),
});

/** The eight names of the specification; null where unset. */
export const PolicyAnswer = z.object({
  agent_id: z.int(),
  daily_cap: Atomic.nullable(),
  hourly_cap: Atomic.nullable(),
  model_allowlist: z.array(z.string()).nullable(),
  kill_switch: z.boolean().nullable(),
  require_payment_ref: z.boolean().nullable(),
  tier2_above: Atomic.nullable(),
  approval_ttl: z.int().nullable().describe('Seconds.'),
  risk_tiers: JsonMembers.nullable(),
});
