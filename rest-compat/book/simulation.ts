import { z } from 'zod';
import { type JsonObject, present } from '../../schema/canonical-json.ts';
import { budgetRule, type PolicyKind, policyKinds } from '../../schema/policy-kinds.ts';
import { SimulationRequest } from '../../schema/requests/simulation.ts';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

/* What a policy would have refused, in REST answers, and the door that tries it. */

const codes = Object.values<PolicyKind>(policyKinds).flatMap(({ rule }) => (rule ? [rule.policy_code] : []));
const PolicyCode = z.enum([...codes, budgetRule.policy_code]);

const SimulatedRefusal = z.object({
  task_id: z.string(),
  seq: z.int(),
  collected_at: z.string().describe('When it was collected, or else recorded; it is judged as of then.'),
  amount: Atomic.nullable().describe('Null where a key stood in for the payment.'),
  policy_code: PolicyCode,
  policy_key: z.enum(['hourly_cap', 'daily_cap']).nullable().describe('Where a cap of a clock period would have.'),
  spent_atomic: Atomic.describe('Atomic USDC spent under that rule by then, without what was blocked before.'),
  cap_atomic: Atomic.nullable(),
  period_start: z.string().nullable(),
  reason: z.string(),
});

export const SimulationAnswer = z.object({
  agent_id: z.int(),
  rows: z.array(SimulatedRefusal).describe('Calls that would have been refused, oldest first.'),
  considered_count: z.int().describe('Calls that were judged, by this page and by those before it.'),
  considered_amount: Atomic,
  blocked_count: z.int().describe('Of those, calls that would have been refused.'),
  blocked_amount: Atomic,
  blocked_by: z.array(z.object({ policy_code: PolicyCode, count: z.int(), amount: Atomic })),
  unknown_operation_count: z
    .int()
    .describe('Calls whose row does not tell their operation: risk_tiers lets them pass.'),
  through_seq: z.int().describe('The last row that was looked at: sums are true up to it.'),
  complete: z.boolean().describe('Whether all of the time was looked at.'),
  cursor: z.string().nullable().describe('What goes on from here, with the same policy, from and to.'),
});
nameComponents({ PolicySimulation: SimulationAnswer });

export const simulationDoors = [
  documentDoor({
    name: 'simulate_book_policy',
    effect: 'reads',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/policy/simulate',
    summary: 'Which calls that passed a policy would have refused, one by one and in sums',
    tags: ['book'],
    possession: 'required',
    field: 'policySimulation',
    params: AgentPath,
    body: SimulationRequest,
    variables: ({ params, body: { policy, from, to, limit, cursor } }) => ({
      agentId: params.agent_id,
      policy: policy as JsonObject,
      ...present({ from, to, limit, after: cursor }),
    }),
    response: SimulationAnswer,
    errors: ['invalid_policy', 'book_damaged', 'rate_limited'],
  }),
] as const;
