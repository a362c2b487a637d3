import { z } from 'zod';
import { nameComponents } from '../answer-shapes.ts';

export const RegisterAnswer = z.object({
  agent_id: z.int(),
  agentWallet: z.string(),
  session: z.string().describe('Possession secret for the book; neither an API key nor a wallet.'),
  task_id: z.string(),
  request_hash: z
    .string()
    .describe(
      'Hash that is stored with the agent (0x and 64 hex digits): `request_hash` of the request or, without it, keccak256 of the signed control text.',
    ),
  validate_score: z.int().nullable(),
  settlement_status: z.enum(['settled', 'idempotent_replay']),
  idempotent_replay: z.boolean(),
  replay_of: z.string().nullable(),
});

export const RotationAnswer = z.object({
  agent_id: z.int(),
  session: z.string().describe('Opens the book from now on; said once. The one before it is dead.'),
  rotated_at: z.iso.datetime(),
});

nameComponents({ Registration: RegisterAnswer, Rotation: RotationAnswer });
