import type pg from 'pg';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Services } from '../../context.ts';
import { endSession } from '../possession/end.ts';
import { issueSession } from '../possession/issue.ts';
import type { RegistrationAnswer } from './answer.ts';
import { type RegistrationText, takeSignature } from './take-signature.ts';

/** A registration found by wallet or by task id. */
export interface StoredRegistration {
  readonly agent_id: AgentId;
  readonly wallet: string;
  readonly task_id: string;
  readonly validate_score: number | null;
}

export type Recovery =
  | { readonly kind: 'same'; readonly registered: StoredRegistration }
  | { readonly kind: 'other_payer' }
  | { readonly kind: 'other_task' }
  | { readonly kind: 'unregistered' };

/**
 * Compares a wallet and a task with the registrations found for either. The receipt that registered an agent was paid by its wallet, so
 * the registration shows which wallet paid for the task.
 */
export function judgeRecovery(found: readonly StoredRegistration[], wallet: string, task_id: string): Recovery {
  const underTask = found.find(registered => registered.task_id === task_id);
  if (underTask && underTask.wallet !== wallet) return { kind: 'other_payer' };
  if (underTask) return { kind: 'same', registered: underTask };
  return found.some(registered => registered.wallet === wallet) ? { kind: 'other_task' } : { kind: 'unregistered' };
}

/** Registrations under a wallet or a task id. */
export function registrationsQuery(wallet: string, task_id: string): pg.QueryConfig {
  return {
    name: 'registered under',
    text: 'select agent_id, wallet, task_id, validate_score from agent where wallet = $1 or task_id = $2',
    values: [wallet, task_id],
  };
}

/** Registration of this wallet by this task. Null if neither has registered an agent. @throws payer_mismatch, wallet_registered */
export async function standingRegistration(
  { database }: Pick<Services, 'database'>,
  wallet: string,
  task_id: string,
): Promise<StoredRegistration | null> {
  const found = await database.query<StoredRegistration & pg.QueryResultRow>(registrationsQuery(wallet, task_id));
  const recovery = judgeRecovery(found, wallet, task_id);
  switch (recovery.kind) {
    case 'other_payer':
      throw new Refusal('payer_mismatch', { param: 'task_id' });
    case 'other_task':
      throw new Refusal('wallet_registered', { param: 'task_id' });
    case 'unregistered':
      return null;
    case 'same':
      return recovery.registered;
  }
}

/** Recovers a registration for free: uses up the signature, ends the current session and issues a new one. */
export async function recoverRegistration(
  registered: StoredRegistration,
  signed: RegistrationText,
  services: Pick<Services, 'database' | 'random' | 'vault'>,
): Promise<RegistrationAnswer> {
  const { agent_id, wallet, task_id, validate_score } = registered;
  const { session } = await services.database.transaction(async tx => {
    await takeSignature(tx, signed);
    await endSession(tx, registered);
    return issueSession(tx, agent_id, services);
  });
  return { agent_id, agentWallet: wallet, session, task_id, validate_score };
}
