import { getAddress } from 'viem';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { openBook } from '../../book/index.ts';
import type { Services } from '../../context.ts';
import type { Database, Tx } from '../../database.ts';
import type { Stamp, Stamped } from '../../paid.ts';
import { agentOfWallet } from '../agent/find.ts';
import { issueSession } from '../possession/issue.ts';
import { controlledWallet, requirePayer } from './admit.ts';
import { controlText, requestHash } from './control.ts';

/** What registering answers, as it is kept for a replay: sealed by the charge, because the session is in it. */
export type RegistrationAnswer = {
  readonly agent_id: number;
  readonly agentWallet: string;
  readonly session: string;
  readonly task_id: string;
  readonly validate_score: number | null;
};

/**
 * Registration is sold as a stamp: the money settles first, and agent, book and session are written in the transaction
 * that records it, by whichever process gets there.
 */
export function registrationPaid(
  services: Pick<Services, 'random' | 'vault'>,
): Stamp<RegistrationRequest, RegistrationAnswer> {
  return {
    order: 'stamp',
    field: 'Mutation.registerAgent',
    job_kind: 'other',
    price_atomic: limits.stamp_price_atomic,
    networks: ['base'],
    route: { model: 'register', hub: 'svc' },
    async admit(request, payer, context) {
      const { wallet } = controlledWallet(request, context.clock.now_ms());
      requirePayer(wallet, payer);
      if ((await agentOfWallet(context.database, wallet)) !== null) throw new Refusal('wallet_registered');
    },
    // Held by the claim from its first moment and kept once recorded: of two payments by one wallet the second is
    // refused before any money moves.
    slots: request => [`wallet:${request.agentWallet.toLowerCase()}`],
    slot_taken: 'wallet_registered',
    book: (_request, _payer, context) => nextAgentId(context.database),
    commit: (tx, request, stamped) => register(tx, request, stamped, services),
  };
}

/** Numbers may be left out where a payment comes to nothing: an id is a name, not a count. */
async function nextAgentId(database: Database): Promise<AgentId> {
  const rows = await database.query<{ agent_id: AgentId }>({
    name: 'next agent id',
    text: `select nextval('agent_id_seq')::integer as agent_id`,
  });
  const agent_id = rows[0]?.agent_id;
  if (agent_id === undefined) throw new Error('agent_id_seq gave nothing');
  return agent_id;
}

async function register(
  tx: Tx,
  request: RegistrationRequest,
  stamped: Stamped,
  services: Pick<Services, 'random' | 'vault'>,
): Promise<RegistrationAnswer> {
  const { agent_id, task_id } = stamped;
  if (agent_id === null || request.signature_timestamp === null)
    throw new Error(`${task_id} was claimed without proof`);
  const wallet = getAddress(request.agentWallet);
  await tx.query({
    name: 'insert agent',
    text: `insert into agent (agent_id, wallet, task_id, request_hash, validate_score, registered_at)
      values ($1, $2, $3, $4, null, now())`,
    values: [agent_id, wallet, task_id, requestHash(controlText(wallet, request.signature_timestamp, null))],
  });
  await openBook(tx, agent_id);
  const session = await issueSession(tx, agent_id, services);
  return { agent_id, agentWallet: wallet, session, task_id, validate_score: null };
}
