import { z } from 'zod';

export const Registration = z.object({
  agent_id: z.int(),
  agentWallet: z.string(),
  session: z.string().describe('Possession secret for the book; neither an API key nor a wallet.'),
  task_id: z.string(),
  validate_score: z.int().nullable(),
  settlement_status: z.enum(['settled', 'idempotent_replay']),
  idempotent_replay: z.boolean(),
  replay_of: z.string().nullable(),
});
