import { z } from 'zod';
import { JsonMembers } from '../receipt/answers.ts';
import { Atomic } from './answers.ts';

/** The eight names of the specification; null where unset. */
export const Policy = z.object({
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
