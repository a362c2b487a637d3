import { z } from 'zod';
import { MomentMember, TimeMember } from '../noun.ts';
import { settlementStatuses } from '../settlement-status.ts';

/* A registration, and a rotated session of a book, as they are shown. */

const agent_id = z.int().describe('Id of the agent and of its book. The id never changes.');
const wallet = z.string().describe('Wallet of the agent, in EIP-55 spelling.');
const request_hash = z
  .string()
  .describe(
    'Hash that is stored with the agent (0x and 64 hex digits): `request_hash` of the registration or, without it, keccak256 of the text that the wallet signed.',
  );

/** Public members of an agent. */
export const AgentNoun = z.object({
  agent_id,
  wallet,
  request_hash,
  registered_at: TimeMember.describe('Time the wallet of the agent was registered (RFC 3339, UTC).'),
});

export const RegistrationNoun = z.object({
  agent_id,
  agentWallet: wallet,
  session: z
    .string()
    .describe(
      'Secret that proves possession of the book: send it as `X-SVC-Session`. It is neither an API key nor a wallet.',
    ),
  task_id: z.string().describe('Task id of the receipt by which the agent was registered.'),
  request_hash,
  validate_score: z.int().nullable().describe('Always null: no score is computed yet.'),
  settlement_status: z
    .enum(['settled', 'idempotent_replay'])
    .describe(
      '`settled` if this request made the registration, by its payment or, with `task_id`, by an earlier receipt and then free of charge. `idempotent_replay` if an earlier request made it.',
    )
    .meta({ words: settlementStatuses }),
  idempotent_replay: z.boolean().describe('True if an earlier request made this registration.'),
  replay_of: z
    .string()
    .nullable()
    .describe('Task id of the first response to this registration. Null if this is the first response.'),
});

export const SessionRotationNoun = z.object({
  agent_id: z.int().describe('Id of the agent whose book the session opens.'),
  session: z
    .string()
    .describe('Secret that opens the book from now on. It is shown once. The previous secret is revoked.'),
  rotated_at: MomentMember.describe('Time the previous session ended (RFC 3339, UTC).'),
});
