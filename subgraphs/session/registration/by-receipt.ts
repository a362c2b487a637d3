import { Refusal } from '../../../schema/errors.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { adoptReceipt } from '../../book/ledger/adopt-receipt.ts';
import type { ChargedAnswer } from '../../charge-port.ts';
import type { Tx } from '../../database.ts';
import { takeFreeSlots } from '../../receipt/claim/slots.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import { collectedPayer } from '../../receipt/receipt/collected-payer.ts';
import { receiptsByTask } from '../../receipt/receipt/find.ts';
import type { Receipt } from '../../receipt/receipt/receipt.entity.ts';
import type { SessionContext } from '../context.ts';
import { controlledWallet } from './admit.ts';
import type { RegistrationAnswer } from './answer.ts';
import { requestHashOf } from './control.ts';
import { type Application, nextAgentId, openAgent, walletSlot } from './open-agent.ts';
import { recoverRegistration, registrationsQuery, type StoredRegistration, standingRegistration } from './recover.ts';
import { type RegistrationText, takeSignature } from './take-signature.ts';

export type RegisteredByReceipt = Pick<ChargedAnswer<RegistrationAnswer>, 'answer' | 'settlement_status'>;

/**
 * Registers a wallet by a receipt that it has already paid for. This is free, and the receipt becomes the first row of the book. The
 * first request creates the agent, the book and a session. A later request ends the session and issues another one. Of two concurrent
 * requests, one is the first. Each uses up its signature, so a client that lost the response signs again with a later time.
 */
export async function registerByReceipt(
  request: RegistrationRequest,
  task_id: string,
  context: SessionContext,
): Promise<RegisteredByReceipt> {
  requireNotHalted(context.database);
  const found: { standing: StoredRegistration | null; receipt: Receipt | null } = { standing: null, receipt: null };
  const { wallet, ...signed } = await controlledWallet(request, context, async named => {
    found.standing = await standingRegistration(context, named, task_id);
    if (found.standing === null) found.receipt = await requireCollectedFrom(named, task_id, context);
  });
  let { standing } = found;
  if (standing === null && found.receipt) {
    const { receipt } = found;
    const application = { wallet, task_id, request_hash: requestHashOf(request, signed.text_hash), ...signed };
    const opened = await context.database.transaction(tx => openUnlessOpen(tx, application, receipt, context));
    if (opened !== null) return { answer: opened, settlement_status: 'settled' };
    standing = await standingRegistration(context, wallet, task_id);
  }
  if (standing === null) throw new Error(`${task_id} registered its payer and then did not`);
  return { answer: await recoverRegistration(standing, signed, context), settlement_status: 'idempotent_replay' };
}

/** The receipt of a task, if its payment was collected from the wallet. @throws receipt_not_qualifying, payer_mismatch */
async function requireCollectedFrom(wallet: string, task_id: string, { database }: SessionContext): Promise<Receipt> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  const payer = collectedPayer(receipt ?? null);
  if (!receipt || payer === null) throw new Refusal('receipt_not_qualifying', { param: 'task_id' });
  if (payer.toLowerCase() !== wallet.toLowerCase()) throw new Refusal('payer_mismatch', { param: 'task_id' });
  return receipt;
}

/**
 * Creates the agent, unless another request has registered the wallet meanwhile. Then it returns null, and the signature stays valid for
 * a recovery. A receipt takes the slot of the wallet permanently, so that a stamp by the same wallet is refused before its money moves.
 * If a stamp is in progress, it has the slot, and this throws. @throws wallet_registered, control_proof_invalid
 */
async function openUnlessOpen(
  tx: Tx,
  application: Application & RegistrationText,
  receipt: Receipt,
  services: Pick<SessionContext, 'random' | 'vault'>,
): Promise<RegistrationAnswer | null> {
  const { wallet, task_id } = application;
  const missed = await takeFreeSlots(tx, [{ slot: walletSlot(wallet), claim_key: `receipt:${task_id}` }]);
  if (missed.length > 0) throw new Refusal('wallet_registered', { param: 'agentWallet' });
  if ((await tx.query(registrationsQuery(wallet, task_id))).rows.length > 0) return null;
  await takeSignature(tx, application);
  const agent_id = await nextAgentId(async statement => (await tx.query(statement)).rows);
  const answer = await openAgent(tx, agent_id, application, services);
  await adoptReceipt(tx, agent_id, receipt);
  return answer;
}
