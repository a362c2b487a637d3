import { getAddress } from 'viem';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { REGISTER_MODEL, STAMPED_BY } from '../../../schema/route-words.ts';
import type { Services } from '../../context.ts';
import type { Tx } from '../../database.ts';
import { type Stamp, type StampContext } from '../../sale.ts';
import { agentOfWallet } from '../agent/find.ts';
import type { SessionContext } from '../context.ts';
import { controlledWallet, requirePayer } from './admit.ts';
import { REGISTRATION_FIELD, type RegistrationAnswer } from './answer.ts';
import { controlText, requestHashOf, textHash } from './control.ts';
import { nextAgentId, openAgent, walletSlot } from './open-agent.ts';

/**
 * Sells registration as a stamp. The payment settles first. The transaction that records it, which any process can run, then creates the
 * agent, the book and the session.
 */
export function registrationPaid(
  services: Pick<Services, 'random' | 'vault'>,
): Stamp<RegistrationRequest, RegistrationAnswer> {
  return {
    order: 'stamp',
    field: REGISTRATION_FIELD,
    job_kind: 'other',
    price_atomic: limits.stamp_price_atomic,
    networks: ['base'],
    // A registration opens the book that records it, so there are no policies yet. An API key cannot register, because it proves no wallet.
    reserves: false,
    stand_ins: [],
    route: { model: REGISTER_MODEL, hub: STAMPED_BY },
    async admit(request, payer, context: SessionContext) {
      await controlledWallet(request, context, async wallet => {
        if (payer === null) throw new Error('no key registers anybody');
        requirePayer(wallet, payer);
        if ((await agentOfWallet(context.database, wallet)) !== null) throw new Refusal('wallet_registered');
      });
    },
    // The claim takes the slot when it begins and keeps it once it is recorded, so that the second of two payments by one wallet is
    // refused before any money moves.
    slots: request => [walletSlot(request.agentWallet)],
    slot_taken: 'wallet_registered',
    book: (_request, _payer, context) => nextAgentId(statement => context.database.query(statement)),
    commit: (tx, request, stamped) => register(tx, request, stamped, services),
  };
}

async function register(
  tx: Tx,
  request: RegistrationRequest,
  stamped: StampContext,
  services: Pick<Services, 'random' | 'vault'>,
): Promise<RegistrationAnswer> {
  const { agent_id, task_id } = stamped;
  if (agent_id === null || request.signature_timestamp === null)
    throw new Error(`${task_id} was claimed without proof`);
  const wallet = getAddress(request.agentWallet);
  const text_hash = textHash(controlText(wallet, request.signature_timestamp, null));
  const application = { wallet, task_id, request_hash: requestHashOf(request, text_hash) };
  return openAgent(tx, agent_id, application, services);
}
